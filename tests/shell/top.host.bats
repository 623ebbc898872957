#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf top on a terminal of script(1): what it draws, its keys, and the terminal afterwards. Without a
# terminal it prints tables.

load helpers

T=$BATS_TEST_TMPDIR

requirements() {
	require_root
	require_commands jq script
	PATH=$WORKLOADS:$PATH
}

# held_objects : print the BPF objects that perf top has open, as our_objects does. The pinned map stays.
held_objects() {
	local pinned
	pinned=$(/usr/sbin/bpftool -j map show pinned "$ATTR_MAP" | jq .id)
	sed -nE 's/^(prog|map|link)_id:[[:blank:]]*([0-9]+)$/\1 \2/p' "/proc/$pid/fdinfo/"* | sort -u |
		grep -vx "map $pinned"
}

# top OPTION... : sample cpu-clock through this test's map
top() {
	perf top --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 500 "$@"
}

# begin_screen OPTION... : run perf top on a terminal of 12 lines and 60 columns. Its pid is in $pid, what it
# writes in $T/screen, and the modes of the terminal before and after it in $T/before and $T/after.
begin_screen() {
	local command
	printf -v command '%q ' perf top --bpf-attr-map "$ATTR_MAP" -F 500 -d 0.2 "$@"
	mkfifo "$T/keys"
	exec {keys}<>"$T/keys"
	cat >"$T/session" <<-EOF
	set -m
	stty rows 12 cols 60
	tty >"$T/tty"
	stty -g >"$T/before"
	sh -c 'echo \$\$ >"$T/pid"; exec $command'
	status=\$?
	stty -g >"$T/after"
	# Stopped by SIGTSTP: the test sends SIGCONT in its own time.
	[ \$status != 148 ] || { mv "$T/after" "$T/stopped"; fg >/dev/null; status=\$?; stty -g >"$T/after"; }
	echo \$status >"$T/status"
	EOF
	# shellcheck disable=SC2016 # the inner shell expands them
	background "$T/screen" env TERM=xterm SHELL=/bin/bash bash -c \
		'exec script -qfc "$1" /dev/null <"$0"' "$T/keys" "bash $T/session"
	wait_for shows '^# .* stands? for '
	pid=$(<"$T/pid")
}

# ends_with STATUS : perf top has ended with this status, and left the terminal as it was, with its cursor
ends_with() {
	wait_for test -s "$T/status"
	[ "$(<"$T/status")" = "$1" ]
	diff "$T/before" "$T/after"
	[ "$(grep -aoE $'\e\\[\\?25[lh]' "$T/screen" | tail -n 1)" = $'\e[?25h' ]
}

# page : print the last page that is complete
page() {
	tr -d '\r' <"$T/screen" | awk -v RS='\033\\[\\?7l\033\\[H' 'index($0, "\033[?7h") { last = $0 } END { print last }' |
		sed -e $'s/\e\\[?7h.*//' -e $'s/\e\\[?*[0-9;]*[A-Za-z]//g'
}

# shows PATTERN : a line of the page matches
shows() {
	page | grep -qE "$1"
}

# shows_not PATTERN : the page is there, and no line matches
shows_not() {
	page >"$T/page"
	grep -q '^# Overhead' "$T/page"
	refute grep -qE "$1" "$T/page"
}

# press TEXT : type it
press() {
	# shellcheck disable=SC2059 # escapes are keys
	printf "$1" >&"$keys"
}

# fits LINES COLUMNS : the page is not larger
fits() {
	page | awk -v lines="$1" -v columns="$2" 'length($0) > columns { bad = 1 }
		END { exit bad || NR > lines || NR < lines - 1 }'
}

@test "the functions are redrawn on a terminal, and q restores it" {
	background "$T/out" blend 100000000
	begin_screen -e cpu-clock
	wait_for shows '^ +[0-9.]+%  +[0-9]+  blend +\[\.\] blend_b$'
	shows '^# [0-9,]+ samples of cpu-clock, 500 Hz, system wide, [0-9.]+ s$'
	shows '^# [0-9,]+ samples stand for [0-9.]+ % of cpu-clock'
	shows '^h: help, q: quit$'
	fits 12 60
	stty -F "$(<"$T/tty")" -a >"$T/modes"
	grep -q -- '-icanon' "$T/modes"
	grep -q -- '-echo ' "$T/modes"
	press q
	ends_with 0
	# The last page stays.
	shows blend_b
	refute grep -qF $'\e[?1049' "$T/screen"
}

@test "keys hide rows, and bring them back" {
	background "$T/out" sh -c 'blend 100000000 & exec dd if=/dev/zero of=/dev/null bs=1'
	begin_screen -e cpu-clock
	wait_for shows '\[k\]'
	press K
	wait_for shows ', without the kernel$'
	shows_not '\[k\]'
	press U
	wait_for shows ', without user space$'
	shows_not '\[\.\]'
	press U
	wait_for shows '^h: help, q: quit$'
	press '/lend_\177_b\n'
	wait_for shows ', only lend_b$'
	# Other users of the machine may run a program of that name.
	page | grep '%  ' >"$T/rows"
	refute grep -v blend_b "$T/rows"
	press '/\n'
	wait_for shows '^h: help, q: quit$'
	press 'e2\n'
	wait_for shows '^# [0-9]+ more rows?$'
	[ "$(page | grep -c '%  ')" = 2 ]
	press 'e0\n'
	press 'F100\n'
	wait_for shows ', from 100 %$'
	shows_not '%  +[0-9]+  '
	press 'F0\nf1000000\n'
	wait_for shows ', more than 1000000 samples$'
	shows_not '%  +[0-9]+  '
	press 'f0\n'
	wait_for shows 'blend_b'
	press q
	ends_with 0
}

@test "keys change columns, intervals and events, and wrong values are refused" {
	background "$T/out" blend 100000000
	begin_screen -e cpu-clock,task-clock
	press 's\025comm,cpu\n'
	wait_for shows '^# Overhead +Samples +Command +CPU$'
	shows '  blend  '
	press 's\025colour\n'
	wait_for shows '^colour: not a list of columns$'
	press 's\025cgroup\n'
	wait_for shows '^these columns need another start: perf top -s cgroup$'
	press 's\025srcline\n'
	wait_for shows '^these columns need another start: perf top -s srcline$'
	press 'd0\n'
	wait_for shows '^0: not a number of seconds from 0.1 to 3600$'
	# Esc cancels, and sequences are no keys.
	press 'd7'
	wait_for shows '^seconds between two tables: 7$'
	press '\033'
	wait_for shows '^h: help, q: quit$'
	press '\033[D\033OP'
	press E
	wait_for shows '^# [0-9,]+ samples of task-clock, '
	press E
	wait_for shows '^# [0-9,]+ samples of cpu-clock, '
	press z
	wait_for shows ', last interval only$'
	wait_for shows '^# .* samples of cpu-clock, .*, 0\.[23][0-9]* s$'
	press 'd3600\n'
	press h
	wait_for shows '^  d  3600      seconds between two tables$'
	shows '^  s  comm,cpu  columns \('
	shows '^  z  yes       show the last interval only$'
	press x
	wait_for shows '^# Overhead'
	press Q
	ends_with 0
}

@test "functions can be asked for after a start without them" {
	background "$T/out" blend 100000000
	begin_screen -e cpu-clock -s comm
	press 's\025sym\n'
	wait_for shows '^# Overhead +Samples +Symbol$'
	wait_for shows '  \[\.] blend_[a-z]$'
	press q
	ends_with 0
}

@test "a page follows the size of the terminal" {
	local size
	background "$T/out" blend 100000000
	begin_screen -e cpu-clock -g
	wait_for fits 12 60
	# No interval ends meanwhile.
	press 'd3600\n'
	wait_for shows '^h: help'
	for size in "8 40" "30 100" "3 20" "1 1" "12 60"; do
		# shellcheck disable=SC2086 # two words
		set -- $size
		stty -F "$(<"$T/tty")" rows "$1" cols "$2"
		wait_for fits "$1" "$2"
	done
	press q
	ends_with 0
}

@test "signals that end perf top leave the terminal as it was" {
	local signal status
	for signal in INT HUP SEGV; do
		status=0
		[ $signal != SEGV ] || status=139
		begin_screen -e cpu-clock
		kill -$signal "$pid"
		ends_with $status
		rm -r "$T/keys" "$T/status" "$T/after" "$T/screen"
	done
}

@test "a terminal that nobody reads does not hold up the end of perf top" {
	local reader
	begin_screen -e cpu-clock
	reader=$(ps -o ppid= -p "$(ps -o ppid= -p "$pid" | tr -d ' ')" | tr -d ' ')
	kill -STOP "$reader"
	# Until the terminal takes no more.
	refute dd if=/dev/zero of="$(<"$T/tty")" oflag=nonblock,noctty bs=512 status=none
	kill -TERM "$pid"
	wait_for test ! -e "/proc/$pid"
	kill -CONT "$reader"
}

@test "perf top ends although the process that reads symbols hangs" {
	local keeper blend
	begin_screen -e cpu-clock
	keeper=$(pgrep -P "$pid" -x perf-symbols)
	kill -STOP "$(pgrep -P "$keeper")"
	# A program whose functions have no names yet.
	background "$T/out" blend 100000000
	blend=$!
	wait_for awk '$14 < 20 { exit 1 }' "/proc/$blend/stat"
	kill -TERM "$pid"
	ends_with 0
	wait_for test ! -e "/proc/$keeper"
}

@test "names that take long have their progress on the screen, until the next table" {
	local worker
	begin_screen -e cpu-clock
	worker=$(pgrep -P "$(pgrep -P "$pid" -x perf-symbols)")
	kill -STOP "$worker"
	# A program whose functions have no names yet.
	cp "$WORKLOADS/blend" "$T/late"
	background "$T/out" "$T/late" 100000000
	wait_for shows '^# reading symbols: [0-9]+ % \(\S'
	kill -CONT "$worker"
	wait_for shows '  late +\[\.\] blend_b$'
	press q
	ends_with 0
}

@test "perf top restores the terminal when it is stopped, and goes on" {
	begin_screen -e cpu-clock
	press '\032'
	wait_for test -s "$T/status" -o -s "$T/stopped"
	diff "$T/before" "$T/stopped"
	# The session's shell has continued it.
	: >"$T/screen"
	wait_for shows '^# .* stands? for '
	stty -F "$(<"$T/tty")" -a | grep -q -- '-icanon'
	press q
	ends_with 0
}

@test "perf top ends when its terminal is closed, and leaves nothing behind" {
	begin_screen -e cpu-clock
	held_objects >"$T/objects"
	grep -q ^prog "$T/objects"
	kill -KILL "$(ps -o ppid= -p "$(ps -o ppid= -p "$pid" | tr -d ' ')" | tr -d ' ')"
	wait_for test ! -e "/proc/$pid"
	wait_for are_gone "$T/objects"
	[ "$(perf bperf list --bpf-attr-map "$ATTR_MAP")" = "no events are shared through $ATTR_MAP" ]
}

@test "perf top that is killed leaves no BPF objects behind" {
	begin_screen -e cpu-clock
	held_objects >"$T/objects"
	grep -q ^prog "$T/objects"
	kill -KILL "$pid"
	wait_for test -s "$T/status"
	wait_for are_gone "$T/objects"
}

@test "names with control characters cannot harm the screen" {
	background "$T/out" bash -c 'printf "\033[2J\033]0;x\007" >/proc/self/comm; while :; do :; done'
	begin_screen -e cpu-clock -p $! -s comm
	wait_for shows '  \\033\[2J\\033\]0;x'
	refute grep -qF $'\e]0;x' "$T/screen"
	press q
	ends_with 0
}

@test "without a terminal, each interval prints a table" {
	background "$T/out" blend 100000000
	top -d 0.2 --interval-count 3 -E 2 >"$T/text" 2>"$T/err"
	is_silent "$T/err"
	is_plain "$T/text"
	[ "$(grep -cE '^# [0-9.]+ s: [0-9,]+ samples? of cpu-clock, 500 Hz, system wide, [0-9.]+ s$' "$T/text")" = 3 ]
	[ "$(grep -cE '^# [0-9,]+ samples stand for ' "$T/text")" = 3 ]
	[ "$(grep -cE '^ +[0-9.]+% ' "$T/text")" = 6 ]
	grep -qE '^# [0-9]+ more rows?$' "$T/text"
	# Later tables have what the earlier ones have, which counts 7/8 as much after each interval, however long
	# that is. The times are printed with three digits.
	awk '/^# [0-9.]+ s: .* of cpu-clock, / {
			expected = expected * 7 / 8 + $2 - before
			before = $2
			d = $(NF - 1) - expected
			if (d > 0.0006 || d < -0.0006) { print "not " expected ": " $0; bad = 1 }
			nr++
		}
		END { exit bad || nr != 3 }' "$T/text" >&2
	top -z -d 0.2 --interval-count 3 -s comm >"$T/text"
	# Tables with the last interval only have all of its samples in their rows.
	awk '/^# .* samples? of / { title = $4; gsub(",", "", title) }
		/^ +[0-9.]+% / { sum += $2 }
		/^# .* stands? for / { if (sum != title) { print sum, title; bad = 1 } sum = 0; nr++ }
		END { exit bad || nr != 3 }' "$T/text" >&2
}

@test "without -d, a table comes after two seconds" {
	top --interval-count 1 >"$T/text"
	at_least "$(sed -nE 's/^# ([0-9.]+) s: .*/\1/p' "$T/text")" 2
}

@test "a terminal without ANSI sequences gets tables" {
	TERM=dumb script -qfec "perf top --bpf-attr-map $ATTR_MAP -e cpu-clock -d 0.2 --interval-count 1" /dev/null \
		</dev/null >"$T/text"
	refute grep -q $'\e' "$T/text"
	grep -qE '^# [0-9.]+ s: ' "$T/text"
}

@test "a reader that goes away ends perf top with SIGPIPE" {
	local status
	set +o pipefail
	top -d 0.1 | head -n 1 >"$T/text"
	status=${PIPESTATUS[0]}
	[ "$status" = 141 ]
	[ "$(perf bperf list --bpf-attr-map "$ATTR_MAP")" = "no events are shared through $ATTR_MAP" ]
}

@test "call trees are drawn, with rows of both levels hidden on demand" {
	background "$T/out" blend 100000000
	top -g -d 0.3 --interval-count 1 -p $! >"$T/text"
	grep -q '^# Children      Self  Samples' "$T/text"
	grep -qE '^ +[ |]*--[0-9.]+%--blend_b$' "$T/text"
	top --call-graph callee -K -d 0.3 --interval-count 1 -p $! >"$T/text"
	refute grep -qF '[k]' "$T/text"
}
