#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What perf stat says to wrong command lines. None of these gets as far as counting.

load helpers

usage() {
	cat <<-EOF

	 Usage: perf stat [<options>] [<command>]
	    or: perf stat record [<options>] [-o <file>] [<command>]
	    or: perf stat report [<options>] [-i <file>]
	    or: perf stat [<options>] -a | -C <cpus> | -p <pids> | -t <tids> | -b <programs> [-- <command>]

	EOF
}

@test "an unknown option is named, with the nearest one" {
	refused 129 perf stat --bpf-counter5 true <<-EOF
	perf stat: unknown option \`bpf-counter5': did you mean --bpf-counters?
	$(usage)

	EOF
	fails_with 129 "perf stat: unknown option \`frobnicate'" perf stat --frobnicate=3 true
	fails_with 129 "perf stat: unknown switch \`Z'" perf stat -aZ true
}

@test "a shortened option must be the start of one only" {
	fails_with 129 "perf stat: ambiguous option \`interval-c': --interval-clear or --interval-count?" \
		perf stat --interval-c true
}

@test "values of options: missing, superfluous, no number, too large" {
	refused 129 perf stat -I <<-EOF
	perf stat: switch \`I' requires a value
	$(usage)

	    -I, --interval-print <ms>  print the counts of each interval

	EOF
	fails_with 129 "perf stat: option \`repeat' requires a value" perf stat --repeat
	fails_with 129 "perf stat: option \`bpf-counters' takes no value" perf stat --bpf-counters=1 true
	fails_with 129 "perf stat: switch \`r' expects a numerical value, not 'x'" perf stat -r x true
	fails_with 129 "perf stat: option \`delay' expects a numerical value, not '1s'" \
		perf stat --delay 1s true
	fails_with 129 "perf stat: option \`timeout': '-1' is out of range" perf stat --timeout -1 true
	fails_with 129 "perf stat: switch \`r': '99999999999' is out of range" perf stat -r 99999999999 true
	fails_with 129 "perf stat: -I -5: not a number of milliseconds" perf stat -I -5 true
	fails_with 129 "perf stat: --per-cache=L9: not a cache level (L1, L2, L3, L4)" \
		perf stat --per-cache=L9 -a true
}

@test "options that contradict each other are refused with both names" {
	local case
	while IFS='|' read -r case message; do
		# shellcheck disable=SC2086 # words
		refused 22 perf stat $case <<<"perf stat: $message"
	done <<-EOF
	-x , -j true|-x and -j: one output format at a time
	-x , -B true|-B and -x: fields are never grouped
	--append true|--append needs a file to append to: -o or --log-fd
	--control fifo:$BATS_TEST_TMPDIR/nothing -x , -j true|-x and -j: one output format at a time
	-o f --log-fd 2 true|-o and --log-fd: one place to print to
	--log-fd -1 true|--log-fd: not a descriptor
	-r -1 true|-r: the number of runs is negative
	-r 2 -a|-r needs what ends: a command to repeat, or --timeout
	-r 2 --metric-only true|--metric-only and -r: not together
	--metric-only --per-thread -a true|--metric-only and --per-thread: not together
	--table true|--table needs -r N with N > 1
	-A true|a breakdown by CPU, core and the like needs -a or -C, or --bpf-counters
	--per-core true|a breakdown by CPU, core and the like needs -a or -C, or --bpf-counters
	--per-socket -p $$|a breakdown by CPU, core and the like needs -a or -C, or --bpf-counters
	--no-merge true|a breakdown by CPU, core and the like needs -a or -C, or --bpf-counters
	--timeout 100 -I 100 true|--timeout and -I: not together
	--timeout 9 true|--timeout: at least 10 ms
	--interval-count 2 true|--interval-count needs -I
	--interval-clear true|--interval-clear needs -I
	-D -2 true|-D: a number of milliseconds, or -1
	-D -1 -a|-D -1: nothing would ever be counted without --control
	--per-thread true|--per-thread needs threads to list: -p, -t or -a
	--per-thread -C 0|--per-thread needs threads to list: -p, -t or -a
	EOF
	[ ! -e f ]
	fails_with 129 "perf stat: --all-user and --all-kernel: only one of them" \
		perf stat --all-user --all-kernel true
}

@test "options that act on later events come before them" {
	fails_with 129 "perf stat: --cputype comes after -e: it only acts on the events behind it" \
		perf stat -e cs --cputype core true
	fails_with 129 "perf stat: --pmu-filter comes after -e: it only acts on the events behind it" \
		perf stat -e cs --pmu-filter cpu true
	fails_with 129 "perf stat: --hybrid-merge comes after -e: it only acts on the events behind it" \
		perf stat -e cs --hybrid-merge true
	fails_with 129 "perf stat: --filter 'x' comes before any event: it belongs to the last -e" \
		perf stat --filter x -e cs true
	fails_with 129 "perf stat: --cputype none: there is no such core PMU" \
		perf stat --cputype none -e cs true
	fails_with 129 "perf stat: --pmu-filter none: there is no such PMU (see /sys/bus/event_source/devices)" \
		perf stat --pmu-filter none -e cs true
	fails_with 129 "perf stat: --filter 'x': 'cs' is not a tracepoint: give it an -e of its own" \
		perf stat -e cs --filter x true
}

@test "an unknown event" {
	refused 129 perf stat -e cs,nosuch true <<-EOF
	event syntax error: 'cs,nosuch'
	                        \\___ Bad event name

	Unable to find event on a PMU of 'nosuch'
	Run 'perf list' for a list of valid events
	$(usage)

	    -e, --event <event>        events to count: perf list

	EOF
}

@test "event lists that are none" {
	local list
	for list in '' , cs, '{}' '{cs' 'cs}' '{{cs}}' 'cs:uu' 'cs:W' 'cs/' 'r' 'mem:0x1000:q' 'software/nosuch/' \
		'software/cs,bogus=1/' 'nopmu/x/' '1:' 'cs software'; do
		run perf stat -e "$list" true
		echo "$list: $output"
		[ "$status" = 129 ]
		[[ $output = "event syntax error: '$list'"* ]]
		[[ $output = *"Run 'perf list' for a list of valid events"* ]]
	done
}

@test "ten thousand events: parsed in a second of CPU time and 100 MB" {
	local group list args=() i
	group='cs:u,faults/name=f/,cycles:k,{L1-dcache-load-misses,software/dummy/}'
	list=$(for ((i = 0; i < 400; i++)); do echo "$group"; done | paste -sd,)
	for ((i = 0; i < 5; i++)); do args+=(-e "$list"); done
	# the last one ends it when all others have been read
	(
		ulimit -t 1
		ulimit -v 100000
		fails_with 129 "event syntax error: 'nosuch'" perf stat "${args[@]}" -e nosuch true
	)
	# and they are printed, too
	(
		ulimit -v 200000
		perf stat -x, --log-fd 4 --pre false "${args[@]}" true 4>"$BATS_TEST_TMPDIR/out" 2>/dev/null
	)
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" = 10000 ]
}

@test "lists of processes, threads and CPUs that are none" {
	local list
	for list in '' 1x ,1 1,,2 -1 0 99999999999; do
		refused 22 perf stat -p "$list" true <<-EOF
		Problems finding threads of monitor
		perf stat: -p $list: not a list of numbers such as 12,345
		EOF
	done
	for list in '' x 0- 1-0 0,0 ' 0' 0,; do
		refused 22 perf stat -e cs -C "$list" true <<<"perf stat: -C $list: not a list of CPUs such as 0-3,6"
	done
}

@test "a process that does not exist" {
	sleep 0 &
	local pid=$!
	wait $pid
	refused 22 perf stat -p "$pid" true <<-EOF
	Problems finding threads of monitor
	perf stat: -p $pid: No such process
	EOF
	refused 22 perf stat -p "$$,$pid" true <<-EOF
	Problems finding threads of monitor
	perf stat: -p $$,$pid: No such process
	EOF
}

@test "CPUs that are offline" {
	# A sysfs where CPU 1 is offline, of a machine with no more than two.
	local sysfs=$BATS_TEST_TMPDIR/sys
	mkdir -p "$sysfs/devices/system/cpu"
	echo 0 >"$sysfs/devices/system/cpu/online"
	SYSFS_PATH=$sysfs refused 1 perf stat -e cs -C 1 true <<-EOF
	Error:
	No supported events found.
	-C 1: CPU 1 is offline (online: 0)
	EOF
	SYSFS_PATH=$sysfs refused 1 perf stat -e cs -C 1-2,7 true <<-EOF
	Error:
	No supported events found.
	-C 1-2,7: CPUs 1-2,7 are offline (online: 0)
	EOF
}

@test "--control: neither descriptors nor fifos" {
	fails_with 129 "perf stat: --control x: neither fd:CTL[,ACK] nor fifo:CTL[,ACK]" \
		perf stat --control x true
	fails_with 129 "perf stat: --control fd:77: '77' is no open descriptor" perf stat --control fd:77 true
	fails_with 129 "perf stat: --control fd:0,x: 'x' is no open descriptor" perf stat --control fd:0,x true
	fails_with 129 "perf stat: --control fifo:/nonexistent/ctl: cannot open '/nonexistent/ctl': No such file or directory" \
		perf stat --control fifo:/nonexistent/ctl true
}

@test "places to print to that cannot be" {
	refused 1 perf stat -e cs -o /nonexistent/out true <<<"perf stat: cannot create the output file '/nonexistent/out': No such file or directory"
	refused 22 perf stat -e cs --log-fd 77 true <<<"perf stat: --log-fd 77: Bad file descriptor"
	refused 1 perf stat -e cs -I 10 --interval-clear true <<<"perf stat: --interval-clear: the output is no terminal"
}

@test "what cannot be recorded, or reported" {
	cd "$BATS_TEST_TMPDIR"
	refused 255 perf stat record -r 2 -o x true <<<"perf stat: record and -r: one run at a time is recorded"
	refused 255 perf stat record --null -o x true \
		<<<"perf stat: record and --null without -e: there is nothing to record"
	refused 255 perf stat record -e cs -o /nonexistent/x true \
		<<<"perf stat: cannot write /nonexistent/x: No such file or directory"
	refused 255 perf stat record -e cs -o . true <<<"perf stat: cannot write .: Is a directory"
	refused 255 perf stat report -i nothing <<<"perf stat report: cannot read nothing: No such file or directory"
	fails_with 255 "perf stat report: cannot read perf.data: No such file or directory" perf stat report </dev/null
	refused 129 perf stat report nothing \
		<<<"perf stat report: nothing: no argument is expected (a file: -i)"
	refused 22 perf stat report -x, -j <<<"perf stat report: -x and -j: one output format at a time"
	[ -z "$(ls | grep -v -e refused -e fails)" ]
}

@test "help goes to stderr with status 129, the list of options to stdout with 130" {
	local status=0
	for option in -h --help; do
		perf stat $option >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- || status=$?
		[ "$status" = 129 ]
		[ ! -s "$BATS_TEST_TMPDIR/out" ]
		grep -q -- '-e, --event <event>' "$BATS_TEST_TMPDIR/err"
	done
	perf stat --list-opts >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- || status=$?
	[ "$status" = 130 ]
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" = 1 ]
	for option in --event --all-cpus --no-inherit --bpf-counters --bpf-attr-map --per-thread; do
		grep -qw -- "$option" "$BATS_TEST_TMPDIR/out"
	done
}

@test "the commands of perf" {
	[[ $(perf --version) = "perf version "* ]]
	[ "$(perf --version)" = "$(perf version)" ]
	perf version --build-options | grep -q 'libbpf: \[ on  \]  # HAVE_LIBBPF_SUPPORT'
	perf version --build-options | grep -q HAVE_LIBPFM
	perf --help | grep -q '^   stat '
	perf --list-cmds | grep -qw stat
	fails_with 129 "perf: unknown option '--frob': see 'perf --help'" perf --frob
	fails_with 1 "perf: 'stats' is not a perf command: did you mean 'stat'?" perf stats
	fails_with 129 "perf: version: unknown argument '--x' (--build-options)" perf version --x
	run perf
	[ "$status" = 1 ]
	run perf help stat
	[ "$status" = 0 ]
	[[ $output = *"--bpf-counters"* ]]
	fails_with 129 "perf bperf: unknown command 'lst'" perf bperf lst
	fails_with 129 "perf bperf: list takes no argument 'x'" perf bperf list x
	run perf bperf list -h
	[ "$status" = 129 ]
}

# told FILE : the long options that have an entry in a manual
told() {
	sed -nE 's/^(--[a-z0-9-]+).*::$/\1/p' "$docs/$1.txt" | grep -vxE -- '--(help|list-opts)' | sort -u
}

# had COMMAND... : the long options of these commands of perf together
had() {
	local command
	for command in "$@"; do
		# shellcheck disable=SC2086 # one word or two
		perf $command --list-opts || :
	done 2>/dev/null | tr ' ' '\n' | grep . | sort -u
}

@test "the manuals have every option, and no other" {
	docs=$BATS_TEST_DIRNAME/../../Documentation
	[ -d "$docs" ] || skip "no manuals here"
	diff -u <(had stat "stat record" "stat report") <(told perf-stat) >&2
	# --raw is an abbreviation of --raw-dump that scripts use
	diff -u <(had list | grep -vx -- --raw) <(told perf-list) >&2
	diff -u <(had script) <(told perf-script) >&2
	diff -u <(had "bperf list" "bperf prune" "bperf verify") <(told perf-bperf) >&2
}

@test "the manual has what perf stat report takes, and no more" {
	local docs=$BATS_TEST_DIRNAME/../../Documentation options
	[ -d "$docs" ] || skip "no manuals here"
	# letters and names, as its help pairs them
	options=$(perf stat report -h 2>&1 | sed -nE 's/^    (-(.), )?--(no-|)([a-z0-9-]+).*/--\3\4 -\2/p')
	[ "$(wc -l <<<"$options")" -ge 20 ]
	sed -n '/^RECORDING$/,/^EXIT STATUS$/s/::$//p' "$docs/perf-stat.txt" | sed -E 's/[=<].*//; s/, /\n/g' |
		sort -u >"$BATS_TEST_TMPDIR/told"
	while read -r name letter; do
		grep -qxE -- "$name|$letter" "$BATS_TEST_TMPDIR/told" || echo "not told: $name"
	done <<<"$options" >"$BATS_TEST_TMPDIR/wrong"
	while read -r name; do
		grep -qE -- "(^| )$name( |\$)" <<<"$options" || echo "not had: $name"
	done <"$BATS_TEST_TMPDIR/told" >>"$BATS_TEST_TMPDIR/wrong"
	diff /dev/null "$BATS_TEST_TMPDIR/wrong" >&2
}

@test "CPUs that an event is not counted on: says what ties it to others" {
	refused 1 perf stat -C 0 -e page-faults/cpu=1/ true <<-'END'
	perf stat: -C 0: 'page-faults/cpu=1/' is counted on CPUs of its cpu= only: 1
	Error:
	No supported events found.
	'page-faults/cpu=1/': no CPU asked for is one of its cpu=
	END
}

@test "perf list -j: units of clocks, numbers of tracepoints, what an event must be given" {
	export SYSFS_PATH=$BATS_TEST_DIRNAME/../data/sysfs-x86 TRACEFS_PATH=$BATS_TEST_DIRNAME/../data/tracefs
	perf list -j sw | jq -e '.[] | select(.EventName == "task-clock") | .ScaleUnit == "1e-06msec"'
	perf list -j tracepoint | jq -e '.[] | select(.EventName == "sched:sched_switch") |
		.Encoding == "tracepoint/config=0x13c/"'
	perf list -j pmu | jq -e '.[] | select(.EventName == "needs-param") |
		.EventAlias == "cpu/needs-param,cmask=?/"'
	perf list --raw-dump pmu | tr ' ' '\n' | grep -qx 'cpu/needs-param,cmask=?/'
}
