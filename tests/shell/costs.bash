#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What counting costs, in instructions, on the emulated machine arm1: one CPU, where one instruction
# takes one nanosecond. Run as a program it prints Documentation/costs.md; the test costs.arm1.bats
# sources it, and measures the rows that are marked "test".
#
# Context switches: two tasks, ping and pong, play on the CPU while runs count; the rows are
#
#	WHEN|CEILING|RUNS|EVENTS|WHICH|HOW|WHAT
#
# WHEN		test: in both; bench: not in the test, which must not take for ever
# CEILING	instructions that may be added to a switch, - for events whose own cost it is
# RUNS		how many runs count at the same time
# EVENTS	how many each of them counts, from a list of events of its own: WHICH
# WHICH		same: all runs the same. overlapping: run n begins with the n-th of the list.
#		disjoint: no event twice. Else: this event.
# HOW		a function that starts a run: start_HOW NR EVENTS
# WHAT		the row's name in the table
#
# PERF EVENTS in the table are those the runs share, as "perf bperf list" has it.
#
# A new kind of target is a function start_X and rows that name it.

# shellcheck source=tests/shell/ceilings.bash
. "$(dirname "${BASH_SOURCE[0]}")/ceilings.bash"

cpu_rows=(
	"test|30|1|1|same|all|system-wide"
	"bench|30|1|4|same|all|system-wide"
	"test|30|1|16|same|all|system-wide"
	"test|30|1|4|same|cpu|one CPU (-C 0)"
	"bench|30|4|4|same|all|system-wide, the same events"
	"test|30|16|4|overlapping|all|system-wide, overlapping events"
	"bench|30|64|1|same|all|system-wide, the same events"
	"bench|30|64|16|same|all|system-wide, the same events"
	"bench|30|64|4|overlapping|all|system-wide, overlapping events"
	"bench|30|64|1|disjoint|all|system-wide, an event of its own each"
	"bench|-|1|1|context-switches|all|only \`context-switches\`"
)

command_rows=(
	"test|340|1|1|same|command|the command"
	"test|340|1|4|same|command|the command"
	"bench|340|1|6|same|command|the command"
	"test|340|1|16|same|command|the command"
	"bench|340|1|4|same|both|-p of both"
	"bench|340|1|4|same|threads|-t of both"
	"bench|340|16|1|same|command|the command, the others -p of both"
	"bench|340|16|4|overlapping|command|the same, overlapping events"
	"bench|340|64|1|same|command|the same, the same events"
	"test|340|64|16|same|command|the same, the same events"
	"bench|340|64|4|overlapping|command|the same, overlapping events"
	"bench|340|64|1|disjoint|command|the same, an event of its own each"
	"bench|340|16|4|same|both_and_more|-p of both and of a third task each"
	"test|340|64|4|overlapping|both_and_more|-p of both and of a third task each"
)

other_rows=(
	"test|270|1|1|same|other|-p of one"
	"bench|270|1|4|same|other|-p of one"
	"test|270|1|16|same|other|-p of one"
	"bench|270|1|4|same|other_thread|-t of one"
	"bench|270|16|4|same|other|-p of the same one"
	"bench|270|64|16|same|other|-p of the same one"
	"bench|270|16|4|same|other_each|-p of one each"
	"bench|270|64|1|same|other_each|-p of one each"
	"test|270|64|16|same|other_each|-p of one each"
	"bench|270|64|1|disjoint|other_each|-p of one each, an event of its own each"
	"bench|270|64|4|overlapping|other_pairs|-p of two each, each counted by two runs"
	"bench|270|64|4|overlapping|other_threads|--per-thread -t of two each, by two runs each"
)

# One event may cost 800, each further one 400.
alternate_rows=(
	"test|800|1|1|same|one|-p of one of the two"
	"bench|1200|1|2|same|one|-p of one of the two"
	"test|2000|1|4|same|one|-p of one of the two"
	"bench|2800|1|6|same|one|-p of one of the two"
	"test|6800|1|16|same|one|-p of one of the two"
	"bench|2000|1|4|same|one_thread|-t of one of the two"
	"test|2000|1|4|same|per_thread|--per-thread -t of both"
	"bench|2000|16|4|same|one|-p of the same one"
	"bench|800|64|1|same|one|-p of the same one"
	"bench|2000|64|4|same|one|-p of the same one"
	"test|6800|64|4|overlapping|one|-p of the same one, overlapping events"
	"bench|26000|64|1|disjoint|one|-p of the same one, an event of its own each"
	"bench|800|64|1|same|one_and_more|-p of one of the two and of a third task each"
	"bench|800|2|1|same|either|-p of one of the two each"
	"bench|1200|2|1|disjoint|either|-p of one of the two each, an event each"
	"test|2000|64|4|same|either|-p of one or the other"
	"bench|800|64|1|same|one_others|one run -p of one of the two, 63 of other tasks"
)

# Starting and ending: WHEN|CEILING (million instructions)|EVENTS|HOW|WHAT
start_rows=(
	"bench|130|1|all_first|-a, the first run"
	"bench|130|4|all_first|-a, the first run"
	"test|130|8|all_first|-a, the first run"
	"bench|10|1|all_join|-a, others count CPUs"
	"bench|10|4|all_join|-a, others count CPUs"
	"test|10|8|all_join|-a, others count CPUs"
	"bench|130|1|command_first|the command, the first run"
	"bench|130|4|command_first|the command, the first run"
	"test|130|8|command_first|the command, the first run"
	"bench|10|1|command_join|the command, others count tasks"
	"bench|10|4|command_join|the command, others count tasks"
	"test|10|8|command_join|the command, others count tasks"
	"bench|10|1|command_new|the command, others count CPUs"
	"bench|10|4|command_new|the command, others count CPUs"
	"test|10|8|command_new|the command, others count CPUs"
)

# At most six can be hardware events: more would take turns.
hardware=(cycles instructions cycles:u instructions:u cycles:k instructions:k)
software=(page-faults minor-faults major-faults cpu-migrations alignment-faults emulation-faults
	bpf-output dummy cpu-clock task-clock)

# Which rows, and who counts: shared, plain (perf events of one's own), peer (another perf).
costs_when=test
costs_by=(shared)

costs_map=/sys/fs/bpf/perf_costs_$$
costs_file=/tmp/costs.$$
costs_pids=()
third_pids=()
player_procs=()

# nth_events WHICH NR N : what the N-th run (from 0) counts, NR events
nth_events() {
	local all=("${hardware[@]}" "${software[@]}") out=() i modifiers=(u k h uk uh kh)
	case $1 in
	same) out=("${all[@]:0:$2}") ;;
	overlapping)
		for ((i = 0; i < $2; i++)); do out+=("${all[($3 + i) % ${#all[@]}]}"); done ;;
	disjoint)
		# 16, then those software events that may have a modifier with each of them.
		for ((i = $3 * $2; i < ($3 + 1) * $2; i++)); do
			if [ $i -lt ${#all[@]} ]; then
				out+=("${all[i]}")
			else
				out+=("${software[(i - 16) % 8]}:${modifiers[(i - 16) / 8]}")
			fi
		done ;;
	*) out=("$1") ;;
	esac
	(IFS=,; echo "${out[*]}")
}

# count_by WHO : the command that the next runs are; its libraries are its own
count_by() {
	who=$1
	unset LD_LIBRARY_PATH
	case $who in
	shared) perf_stat=(perf stat --bpf-counters --bpf-attr-map "$costs_map") ;;
	plain) perf_stat=(perf stat) ;;
	peer)
		export LD_LIBRARY_PATH=$peer_dir
		perf_stat=("${peer_stat[@]}") ;;
	esac
}

# find_peer DIRECTORY : another perf that is there is measured, too, if it runs
find_peer() {
	local map=/sys/fs/bpf/perf_costs_peer_$$ text
	[ -x "$1/perf" ] || return 0
	peer_dir=$1
	if ! text=$(LD_LIBRARY_PATH=$1 "$1/perf" --version 2>&1); then
		echo "bench: PEER does not run in the emulated machine: left out (${text%%$'\n'*})" >&2
		return 0
	fi
	costs_by+=(peer)
	peer_name=${text%%$'\n'*}
	peer_stat=("$1/perf" stat --bpf-counters --bpf-attr-map "$map")
	if LD_LIBRARY_PATH=$1 "${peer_stat[@]}" -e cpu-clock -o /dev/null true >/dev/null 2>&1; then
		peer_name+=', `--bpf-counters`'
	else
		peer_stat=("$1/perf" stat)
		peer_name+=', which has no `--bpf-counters`'
	fi
	rm -f "$map"
}

# counted OPTION... : a run in the background; what the first one counted is kept
counted() {
	local out=/dev/null
	[ ${#costs_pids[@]} -gt 0 ] || out=$costs_file.first
	env --default-signal=INT "${perf_stat[@]}" -o "$out" -x, "$@" >/dev/null 2>&1 3>&- &
	costs_pids+=($!)
}

# player [COMMAND...] : starts the two that play, as COMMAND's command, in the cgroups of
# $player_procs; their numbers are $ping and $pong. Real time, so that no other task comes between.
player() {
	coproc PLAYER {
		exec env --default-signal=INT "$@" chrt -r 1 "$WORKLOADS/pingpong" -t 1500 "${player_procs[@]}" \
			2>"$costs_file.err" 3>&-
	}
	player_pid=$PLAYER_PID
	read -r -t 600 _ ping pong <&"${PLAYER[0]}" && [ "$pong" ] || {
		cat "$costs_file.err"
		return 1
	}
}

stop_player() {
	local input=${PLAYER[1]:-}
	[ "${player_pid:-}" ] || return 0
	[ -z "$input" ] || exec {input}>&-
	wait "$player_pid" 2>/dev/null
	player_pid='' ping='' pong=''
	return 0
}

# third NR : sets $third to the NR-th of tasks that sleep all the time
third() {
	while [ ${#third_pids[@]} -le "$1" ]; do
		"$WORKLOADS/waiter" >/dev/null 2>&1 3>&- &
		third_pids+=($!)
	done
	third=${third_pids[$1]}
}

# All CPUs
start_all() { counted -a -e "$2"; }
start_cpu() { counted -C 0 -e "$2"; }

# Both that play
start_command() {
	if [ "$1" = 0 ]; then
		player "${perf_stat[@]}" -o "$costs_file.command" -x, -e "$2"
	else
		counted -p "$ping,$pong" -e "$2"
	fi
}
start_both() { counted -p "$ping,$pong" -e "$2"; }
start_threads() { counted -t "$ping,$pong" -e "$2"; }
start_both_and_more() { third "$1"; counted -p "$ping,$pong,$third" -e "$2"; }

# Others
start_other() { third 0; counted -p "$third" -e "$2"; }
start_other_thread() { third 0; counted -t "$third" -e "$2"; }
start_other_each() { third "$1"; counted -p "$third" -e "$2"; }
start_other_pairs() { third $(($1 + 1)); counted -p "${third_pids[$1]},$third" -e "$2"; }
start_other_threads() {
	third $(($1 + 1))
	counted --per-thread -t "${third_pids[$1]},$third" -e "$2"
}

# One of the two
start_one() { counted -p "$ping" -e "$2"; }
start_one_thread() { counted -t "$ping" -e "$2"; }
start_per_thread() { counted --per-thread -t "$ping,$pong" -e "$2"; }
start_one_and_more() { third "$1"; counted -p "$ping,$third" -e "$2"; }
start_either() {
	if [ $(($1 % 2)) = 0 ]; then counted -p "$ping" -e "$2"; else counted -p "$pong" -e "$2"; fi
}
start_one_others() { if [ "$1" = 0 ]; then start_one "$@"; else start_other_each "$@"; fi; }

# All of them sleep: they count. Ours in poll(); others may have other ways to wait.
all_wait() {
	local pid wchan
	for pid in "${costs_pids[@]}"; do
		# It has no newline.
		read -r wchan 2>/dev/null <"/proc/$pid/wchan" || :
		case $who,$wchan in
		*,*poll*|peer,*nanosleep*|peer,do_wait) ;;
		*) return 1 ;;
		esac
	done
}

until_all_wait() {
	local tries
	for ((tries = 0; tries < 500; tries++)); do
		! all_wait || return 0
		sleep 0.02
	done
	return 1
}

stop_all() {
	stop_player
	if [ ${#costs_pids[@]} -gt 0 ]; then
		kill -INT "${costs_pids[@]}" 2>/dev/null
		wait "${costs_pids[@]}" 2>/dev/null
		costs_pids=()
	fi
	sleep 2		# what is freed later is freed: perf's part of a switch after a second
	return 0
}

costs_end() {
	stop_all
	[ ${#third_pids[@]} = 0 ] || kill "${third_pids[@]}"
	third_pids=()
	rm -f "$costs_map" "$costs_file"*
	[ ! -d "${costs_map}_lock" ] || rmdir "${costs_map}_lock"
}

# Sets $one_switch: nanoseconds, thus instructions, of one switch: the least of three, because what
# else happens only ever adds.
one_switch() {
	local n ns
	one_switch=''
	for n in 1 2 3; do
		# Not in a subshell: that has no coprocess.
		echo >&"${PLAYER[1]}"
		read -r -t 600 ns <&"${PLAYER[0]}" || return 1
		one_switch=$(printf '%s\n' $one_switch "$ns" | sort -n | head -n 1)
	done
}

# A switch when nobody counts
base_switch() {
	[ -z "${base:-}" ] || return 0
	sleep 2		# what the machine still does after booting
	player || return 1
	one_switch || return 1
	base=$one_switch
	stop_player
}

# measure_switch RUNS EVENTS WHICH HOW : sets $added, and $events_shared if they share
measure_switch() {
	local runs=$1 events=$2 which=$3 how=$4 n
	if [ "$how" != command ]; then
		player || return 1
	fi
	for ((n = 0; n < runs; n++)); do
		"start_$how" $n "$(nth_events "$which" "$events" $n)" || return 1
	done
	until_all_wait || { echo "not all $runs runs count"; return 1; }
	if [ "$who" = shared ]; then
		events_shared=$(perf bperf list --bpf-attr-map "$costs_map" |
			sed -n "s/^$runs runs\? shares\? \([0-9]*\) perf events\?.*/\1/p")
		[ -n "$events_shared" ] || { echo "$runs runs do not share"; return 1; }
	fi
	sleep 1.5	# perf's part of a switch stays a second longer than it must
	one_switch || return 1
	added=$(awk -v with="$one_switch" -v base="$base" 'BEGIN { printf "%.1f", with - base }')
	stop_all
	[ "$who" != shared ] || has_counted "$how"
}

# has_counted HOW : the first run did what the row says, if it counted cycles: there were many where
# those that play are counted, none otherwise
has_counted() {
	local cycles file=$costs_file.first
	[ "$1" != command ] || file=$costs_file.command
	cycles=$(awk -F, '{ for (i = 3; i <= NF; i++) if ($i == "cycles") { print $(i - 2); exit } }' \
		"$file")
	case $1,$cycles in
	*,) ;;
	other*,*) [ "${cycles/<not counted>/0}" = 0 ] ;;
	*) [ "$cycles" -gt 10000000 ] 2>/dev/null ;;
	esac || { echo "the first run counted $cycles cycles"; return 1; }
}

# switch_row ROW : prints the row; fails when it is above its ceiling
switch_row() {
	local when ceiling runs events which how what by added events_shared=- cells='' failed=0
	IFS='|' read -r when ceiling runs events which how what <<<"$1"
	[ "$when" = test ] || [ "$costs_when" = bench ] || return 0
	for by in "${costs_by[@]}"; do
		# A program for each event: what is flat in runs and events is ours.
		if [ "$by" = peer ] && [ $((runs * events)) -gt 16 ]; then
			added=-
		else
			count_by "$by"
			if ! measure_switch "$runs" "$events" "$which" "$how"; then
				echo "$what: not measured ($by)"
				stop_all
				return 1
			fi
			[ "$by" != shared ] || is_at_most "$added" "$ceiling" "${dearer[@]}" || failed=1
		fi
		cells+=$(printf ' %8s |' "$added")
	done
	printf '| %-47s | %4d | %6d | %11s |%s %7s |\n' "$what" "$runs" "$events" "$events_shared" \
		"$cells" "$ceiling"
	return $failed
}

# table_head WIDTH WHAT COLUMN... : the head of a table
table_head() {
	local by column line rule='|---|'
	line=$(printf "| %-$1s |" "$2")
	for column in "${@:3}"; do
		line+=" $column |"
		rule+='---:|'
	done
	for by in "${costs_by[@]}"; do
		line+=$(printf ' %8s |' "$by")
		rule+='---:|'
	done
	printf '%s ceiling |\n%s---:|\n' "$line" "$rule"
}

# switch_table ROWS : the table of that name
switch_table() {
	local row failed=0
	local -n rows=$1
	base_switch || { echo "two tasks cannot play"; return 1; }
	table_head 47 counting runs events 'perf events'
	for row in "${rows[@]}"; do
		switch_row "$row" || failed=1
	done
	return $failed
}

# all_of COMMAND... : the instructions of the whole machine from its start to its end
all_of() {
	local n
	for n in 1 2; do
		"$WORKLOADS/pmucount" -a 0:1 -- "$@" >"$costs_file.all" 2>/dev/null </dev/null || exit 1
		sleep 0.3	# what the kernel frees later must not be in the next one
		cut -d ' ' -f 1 "$costs_file.all"
	done | sort -n | head -n 1
}

# measure_start EVENTS HOW : sets $cost, in millions
measure_start() {
	local list target=()
	# Half of them hardware events
	list=$(IFS=,; echo "${hardware[*]:0:$((($1 + 1) / 2))},${software[*]:0:$(($1 / 2))}")
	list=${list%,}
	case $2 in all_*) target=(-a) ;; esac
	case $2 in
	all_join|command_new) start_all 0 "$list" ;;
	command_join) start_other 0 "$list" ;;
	esac
	until_all_wait || { echo "the other run does not count"; return 1; }
	cost=$(all_of "${perf_stat[@]}" -o /dev/null "${target[@]}" -e "$list" true |
		awk '/^[0-9]+$/ { printf "%.1f", $1 / 1e6 }')
	[ "$cost" ]
}

# start_row ROW : prints the row; fails when it is above its ceiling
start_row() {
	local when ceiling events how what by cost cells='' failed=0
	IFS='|' read -r when ceiling events how what <<<"$1"
	[ "$when" = test ] || [ "$costs_when" = bench ] || return 0
	for by in "${costs_by[@]}"; do
		count_by "$by"
		if ! measure_start "$events" "$how"; then
			echo "$what: not measured ($by)"
			stop_all
			return 1
		fi
		stop_all
		[ "$by" != shared ] || is_at_most "$cost" "$ceiling" "${start_dearer[@]}" || failed=1
		cells+=$(printf ' %8s |' "$cost")
	done
	printf '| %-31s | %6d |%s %7s |\n' "$what" "$events" "$cells" "$ceiling"
	return $failed
}

start_table() {
	local row failed=0
	perf stat -o /dev/null true
	table_head 31 "perf stat ... true" events
	for row in "${start_rows[@]}"; do
		start_row "$row" || failed=1
	done
	return $failed
}

document() {
	local failed=0
	base_switch || { echo "two tasks cannot play"; return 1; }
	cat <<-EOT
	# What counting costs

	Instructions, on the emulated machine arm1 (arm64, Linux $(uname -r | cut -d . -f 1,2), one CPU, where one instruction
	takes one nanosecond and everything happens in the same way each time). This page is what
	\`make bench\` prints; \`make bench PEER=FILE\` measures another perf, built for arm64, beside ours.
	\`tests/shell/costs.arm1.bats\`, a part of \`make test\`, measures some of the rows and fails when
	one is above its ceiling. The rows are data in \`tests/shell/costs.bash\`.

	The ceilings are Linux 6.12's. On 6.1 counting costs the same within 5 %. On 7.3 the way to a
	program at a context switch takes 110 to 130 instructions more (\`tests/shell/ceilings.bash\`), and
	the first run 284 million: its verifier takes 0.2 seconds of the emulated CPU for the same programs.

	Columns: *runs* count at the same time, each of them that many *events*; *perf events* are what they
	share, on the one CPU. Up to six are hardware events, the others are software events. *shared* is
	\`--bpf-counters\`; *plain* are perf events of each run's own, for the same rows. Where those
	are more than the counters, they take turns. *ceiling* is for *shared*.$(peer_words)

	## Added to a context switch

	Two processes play ping-pong over two pipes: one writes a byte, which wakes the other, and reads,
	which puts it to sleep. Such a switch, with its write and its read, takes $base instructions when
	nobody counts. The tables have what runs that count add to it: the mean of 3,000 switches, the
	least of three such.

	### Runs that count CPUs

	They attach nothing to the context switch. What \`context-switches\` costs is the event's own work.

	EOT
	switch_table cpu_rows || failed=1
	cat <<-EOT

	### Both tasks are counted, by the same runs

	The two are a command that is counted, with the process that it forked; or both are named. They are
	in one class, so a switch between them reads no event: what remains is to find that out, whatever
	the number of runs and events.

	EOT
	switch_table command_rows || failed=1
	cat <<-EOT

	### Other tasks are counted

	Those that are counted sleep; the two that play are not counted. What remains is to find that out.

	EOT
	switch_table other_rows || failed=1
	cat <<-EOT

	### A counted task alternates with an uncounted one, or with one that other runs count

	At each switch the events of the class that ends and of the one that begins are read, each once: the
	cost rises with the number of different events (*perf events*), not with runs. With
	\`--per-thread\` each of the two is a row of its own, so a class of its own.

	EOT
	switch_table alternate_rows || failed=1
	cat <<-EOT

	### Where they go

	By hand, with programs that return early or read twice (one event, kernel 6.12): of 185 when others
	are counted, 113 are an empty program on \`sched_switch\`, 27 find the CPU's state, 17 the next task,
	28 its class. When the class changes, some 160 find both classes, their events and sums; each event
	costs the kernel 330 to read, and us 60 to add up.

	## Million instructions to start and end a run

	All that the machine executes from before the start of \`perf stat -e ... true\` to after its end, the
	lesser of two; half of the events are hardware events. \`true\` alone takes $(all_of true | awk '{ printf "%.1f", $1 / 1e6 }'). The first run loads
	the leader; those that find one load nothing.

	EOT
	start_table || failed=1
	return $failed
}

peer_words() {
	[ -n "${peer_name:-}" ] || return 0
	printf ' *peer* is %s; rows of more\nthan 16 events in all its runs are left out.' "$peer_name"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	trap costs_end EXIT
	costs_when=bench
	costs_by=(shared plain)
	find_peer /root/peer
	document
fi
