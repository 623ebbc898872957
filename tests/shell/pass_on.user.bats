#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Commands that ours lacks are run by the next perf in PATH, as if ours were not there.

load helpers

T=$BATS_TEST_TMPDIR

setup() {
	mkdir "$T/ours" "$T/linux" "$T/here"
	ln -s "$(command -v perf)" "$T/ours/perf"
	# In place of Linux's perf: a shell with the texts by which that one is known. Commands are its scripts.
	{
		cat "$BASH"
		echo PERF_EXEC_PATH perf.data buildid-cache
	} >"$T/linux/perf"
	chmod +x "$T/linux/perf"
	cd "$T/here" || return 1
	cat >record <<-'EOF'
	printf '<%s>' "$@"
	echo
	tr '\0' '\n' </proc/$$/environ
	EOF
	all=$PATH
	through=$T/ours:$T/linux:$PATH
}

# in_path DIRECTORIES COMMAND... : run it with only these directories in PATH
in_path() {
	local path=$1
	shift
	env PATH="$path" "$@"
}

# wrapper DIRECTORY LINE... : make a script DIRECTORY/perf
wrapper() {
	mkdir -p "$1"
	printf '%s\n' "#!/bin/sh" "${@:2}" >"$1/perf"
	chmod +x "$1/perf"
}

no_other() {
	echo "perf: 'record' is a command of Linux's perf, and $1 ($(package))"
}

# package : how perf says Linux's perf is installed here
package() {
	in_path "$T/ours" perf record 2>&1 | sed -nE 's/.* than this one \((.*)\)$/\1/p'
}

@test "arguments and environment reach the next perf untouched" {
	env -i A=1 PATH="$through" Z="x y" perf record -F 99 "a  b" "" -- $'x\ny' >out
	diff -u - out <<-EOF
	<-F><99><a  b><><--><x
	y>
	A=1
	PATH=$through
	Z=x y
	EOF
}

@test "descriptors, ignored signals and the status are those of the next perf" {
	cat >record <<-'EOF'
	(cd /proc/$$/fd && echo [0-9]*)
	grep SigIgn /proc/$$/status
	exit 7
	EOF
	# bash reads a script at 255
	for closed in "" "<&-" "2>&-" "<&- 2>&-"; do
		eval "\"$T/linux/perf\" record $closed 3>&- 7</dev/null" >expected || [ $? = 7 ]
		eval "in_path \"$through\" perf record $closed 3>&- 7</dev/null" >got || [ $? = 7 ]
		diff -u expected got
	done
	(trap '' CHLD && "$T/linux/perf" record 3>&-) >expected || [ $? = 7 ]
	(trap '' CHLD && in_path "$through" perf record 3>&-) >got || [ $? = 7 ]
	diff -u expected got
}

@test "all of ours in PATH are skipped: links, copies, and what no one can execute" {
	mkdir link copy plain directory directory/perf
	ln -s "$T/ours/perf" link/perf
	cp -L "$T/ours/perf" copy/perf
	ln "$(readlink -f "$T/ours/perf")" "$(dirname "$(readlink -f "$T/ours/perf")")/hard$$" && mkdir hard &&
		mv "$(dirname "$(readlink -f "$T/ours/perf")")/hard$$" hard/perf || mkdir -p hard
	echo text >plain/perf
	strip -o copy/stripped copy/perf && mkdir stripped && mv copy/stripped stripped/perf || mkdir -p stripped
	echo 'echo linux' >record
	for first in link copy hard stripped; do
		[ "$(in_path "$T/ours:link:copy:hard:stripped:plain:directory:$T/linux" "$first/perf" record)" = linux ] ||
			[ ! -e "$first/perf" ]
	done
	# ours may also stand behind, and the current directory in PATH
	[ "$(in_path "$T/linux:$T/ours" "$T/ours/perf" record)" = linux ]
	[ "$(cd "$T/linux" && cp "$T/here/record" . && in_path "$T/ours:" perf record)" = linux ]
	[ "$(cd "$T/linux" && in_path ":$T/ours" "$T/ours/perf" record)" = linux ]
}

@test "without another perf, a line names its package" {
	local status=0
	in_path "$T/ours" perf record >out 2>&1 || status=$?
	[ "$status" = 1 ]
	grep -qxE "perf: 'record' is a command of Linux's perf, and PATH has no other perf than this one \(.+\)" out
	[ "$(wc -l <out)" = 1 ]
	! grep -qE '^(ID|ID_LIKE)=.*debian' /etc/os-release || grep -q '(apt install linux-' out
	in_path "$T/ours" perf frob >out 2>&1 || status=$?
	[ "$(<out)" = "perf: 'frob' is not a perf command: see 'perf help'" ]
	# what there is cannot be executed
	mkdir broken
	printf '#!/nowhere/sh\n' >broken/perf
	chmod +x broken/perf
	status=0
	in_path "$T/ours:broken" perf record >out 2>&1 || status=$?
	[ "$status" = 1 ]
	[ "$(<out)" = "perf: cannot execute broken/perf for 'record': No such file or directory" ]
}

@test "a wrapper that leads back to ours is passed, and cannot make a loop" {
	local how status
	# PATH has none of these programs there
	echo "echo linux \"\$@\"; $(command -v env) | $(command -v grep) PERF_PASSED_ON || :" >record
	for how in 'exec perf "$@"' 'perf "$@"' "exec $T/ours/perf \"\$@\""; do
		wrapper "$T/back" "$how"
		status=0
		in_path "$T/ours:$T/back:/usr/bin/nowhere" "$T/ours/perf" record >out 2>&1 || status=$?
		[ "$status" = 1 ]
		[ "$(<out)" = "$(no_other "each other perf in PATH leads back to this one")" ]
		[ "$how" = 'perf "$@"' ] || {
			in_path "$T/ours:$T/back:$T/linux" perf record a >out
			[ "$(<out)" = "linux a" ]
		}
	done
	# it may stand before ours
	in_path "$T/back:$T/ours:$T/linux" perf record a >out
	[ "$(<out)" = "linux a" ]
	# two of them
	wrapper "$T/one" "exec $T/ours/perf \"\$@\""
	wrapper "$T/two" "exec $T/ours/perf \"\$@\""
	in_path "$T/ours:$T/one:$T/two:$T/linux" perf record a >out
	[ "$(<out)" = "linux a" ]
	refute in_path "$T/ours:$T/one:$T/two" perf record a
}

@test "a wrapper that finds another perf itself works, also below what it started" {
	wrapper "$T/finds" "exec $T/linux/perf \"\$@\""
	cat >record <<-'EOF'
	echo record
	[ "$1" != again ] || perf record
	EOF
	[ "$(in_path "$T/ours:$T/finds" perf record again | tr '\n' ' ')" = "record record " ]
	# a script without the name of its interpreter is the shell's
	mkdir "$T/bare"
	echo "exec $T/linux/perf \"\$@\"" >"$T/bare/perf"
	chmod +x "$T/bare/perf"
	[ "$(in_path "$T/ours:$T/bare" perf record again | tr '\n' ' ')" = "record record " ]
	# our own commands do not show the variable to what they count
	wrapper "$T/back" "exec $T/ours/perf \"\$@\""
	refute env PERF_PASSED_ON="1 1" perf stat -n -o stat env grep PERF_PASSED_ON
	perf stat -n -o stat env >out
	refute grep PERF_PASSED_ON out
}

@test "version, help and the list of commands name both" {
	echo 'case $1 in esac' >--version
	wrapper "$T/old" 'case $1 in --version) echo "perf version 4.19"; echo more;; --list-cmds) echo "record stat frob ";; esac'
	in_path "$T/ours:$T/old:$all" perf --version >out
	[ "$(sed -n 2p out)" = "other commands: $T/old/perf (perf version 4.19)" ]
	[ "$(wc -l <out)" = 2 ]
	in_path "$T/ours:$T/old:$all" perf help | grep -qxF " $T/old/perf (perf version 4.19)."
	in_path "$T/ours:$T/old:$all" perf --list-cmds >out
	[ "$(tr ' ' '\n' <out | grep -cxE 'stat|record|frob')" = 3 ]
	in_path "$T/ours:$T/old:$all" perf help -a >out
	[ "$(grep -cxE '   (stat  .*|record|frob)' out)" = 3 ]
	# without another: ours alone, and its package
	[ "$(in_path "$T/ours" perf --version | wc -l)" = 1 ]
	in_path "$T/ours" perf help | grep -A 1 "need Linux's perf, which is not in PATH:" | grep -qF "$(package)"
	refute grep -qw record <(in_path "$T/ours" perf --list-cmds)
	# a wrapper back to ours is asked once, and answers for ours
	wrapper "$T/back" "exec $T/ours/perf \"\$@\""
	[ "$(in_path "$T/ours:$T/back" perf --version | wc -l)" = 2 ]
}

@test "a typo of our commands is not passed on, other unknown words are" {
	wrapper "$T/old" 'case $1 in --list-cmds) echo "record stad ";; *) echo old "$@";; esac'
	[ "$(in_path "$T/ours:$T/old" perf stad x)" = "old stad x" ]
	[ "$(in_path "$T/ours:$T/old" perf frob x)" = "old frob x" ]
	[ "$(in_path "$T/ours:$T/old" perf help frob)" = "old help frob" ]
	for option in "help --man record" "help -i frob" "--help record" "-h frob" "record --help"; do
		# shellcheck disable=SC2086 # several words
		[ "$(in_path "$T/ours:$T/old" perf $option)" = "old $option" ]
	done
	in_path "$T/ours:$T/old" perf stats >out 2>&1 || [ $? = 1 ]
	[ "$(<out)" = "perf: 'stats' is not a perf command: did you mean 'stat'?" ]
}

@test "as bperf, the program passes nothing on" {
	mkdir other
	ln -s "$T/ours/perf" other/bperf
	in_path "other:$T/linux" bperf record >out 2>&1 || [ $? = 1 ]
	[ "$(cat out)" = "bperf: 'record' is a command of Linux's perf: run 'perf record'" ]
	[ "$(in_path "other:$T/linux" bperf version | wc -l)" = 1 ]
	refute grep -qw "Other commands" <(in_path "other:$T/linux" bperf help)
}

# word VALUE BYTES : print a number in this machine's byte order (little endian)
word() {
	local i
	for ((i = 0; i < $2; i++)); do
		# shellcheck disable=SC2059 # the format is made here
		printf "\\x$(printf %02x $(($1 >> 8 * i & 255)))"
	done
}

# samples : print the begin of a recording of samples, as a stream
samples() {
	printf PERFILE2
	word 16 8
	word 64 4 # HEADER_ATTR
	word 0 2
	word 72 2
	word 1 4   # software
	word 64 4  # bytes of the attr
	word 0 8   # cpu-clock
	word "${1:-4000}" 8 # period
	word "${2:-7}" 8 # IP, TID, TIME
	word 0 32
}

@test "perf script reads counts itself, and passes on samples, from files and pipes" {
	echo 'echo linux "$@"; cat' >script
	perf stat record -e duration_time -o counts true 2>/dev/null
	perf stat record -e duration_time -o - true >stream 2>/dev/null
	in_path "$through" perf script -i counts | grep -q '^CPU  *THREAD'
	in_path "$through" perf script -icounts -v | grep -q '^CPU  *THREAD'
	in_path "$through" perf script --input=counts | grep -q '^CPU  *THREAD'
	cat stream | in_path "$through" perf script | grep -q '^CPU  *THREAD'
	in_path "$through" perf script -i - <stream | grep -q '^CPU  *THREAD'
	# samples: nothing is taken out of the file or pipe
	samples >recorded
	{
		echo linux -i -
		cat recorded
	} >expected
	in_path "$through" perf script -i - <recorded | cmp - expected
	{ head -c 20 recorded; sleep 0.1; tail -c +21 recorded; } |
		in_path "$through" perf script -i - | cmp - expected
	cat recorded | in_path "$through" perf script | tail -n +2 | cmp - recorded
	samples 0 | in_path "$through" perf script | head -n 1 | grep -qx linux
	[ "$(in_path "$through" perf script -i recorded </dev/null)" = "linux -i recorded" ]
	# options of Linux's perf script
	[ "$(in_path "$through" perf script -F comm -i counts </dev/null)" = "linux -F comm -i counts" ]
	# without another perf, ours prints its error
	cat recorded | in_path "$T/ours" perf script >out 2>&1 || [ $? = 255 ]
	grep -q '^perf script: ' out
	in_path "$T/ours" perf script -F comm >out 2>&1 || [ $? = 129 ]
	grep -qx "perf script: unknown switch \`F'" out
	# the help is ours
	refute grep -q linux <(in_path "$through" perf script -h 2>&1)
}

@test "perf script leaves broken recordings of counts to ours, other byte orders to Linux's" {
	echo 'echo linux "$@"' >script
	printf 2ELIFREP0123456789 >swapped
	[ "$(in_path "$through" perf script -i swapped)" = "linux -i swapped" ]
	mkdir directory
	[ "$(in_path "$through" perf script -i directory)" = "linux -i directory" ]
	: >empty
	echo text >text
	printf PERFILE2 >short
	for file in empty text short nosuch; do
		in_path "$through" perf script -i $file >out 2>&1 || [ $? = 255 ]
		grep -q '^perf script: ' out
	done
	in_path "$through" perf script -i >out 2>&1 || [ $? = 129 ]
	grep -qx "perf script: switch \`i' requires a value" out
	head -c 20 /dev/zero | in_path "$through" perf script >out 2>&1 || [ $? = 255 ]
	grep -q '^perf script: ' out
}

@test "perf record, report and script of Debian's perf work through ours" {
	require_debian_perf
	require_perf_events
	# Where timers are slow, a period of 10 us leaves a CPU no time for the program: that took 230 seconds.
	in_path "$T/ours:$(dirname "$DEBIAN_PERF"):/bin" perf record -e cpu-clock:u -c 1000000 -o recorded -- \
		"$WORKLOADS/spin" 100000000 >/dev/null 2>&1
	in_path "$T/ours:$(dirname "$DEBIAN_PERF"):/bin" perf script -i recorded >out 2>/dev/null
	"$DEBIAN_PERF" script -i recorded 2>/dev/null | cmp - out
	grep -q cpu-clock out
	in_path "$T/ours:$(dirname "$DEBIAN_PERF"):/bin" perf report -i recorded --stdio 2>/dev/null | grep -q cpu-clock
	[ "$(in_path "$T/ours:$(dirname "$DEBIAN_PERF")" perf --version | sed -n 2p)" = \
		"other commands: $DEBIAN_PERF ($("$DEBIAN_PERF" --version))" ]
}
