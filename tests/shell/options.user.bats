#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf stat refuses wrong command lines. None of these gets as far as counting.

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

@test "a shortened option must be unambiguous" {
	fails_with 129 "perf stat: ambiguous option \`interval-c': --interval-clear or --interval-count?" \
		perf stat --interval-c true
}

@test "wrong option values are refused: missing, superfluous, not a number, too large" {
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
	for level in L0 X1 L11; do
		fails_with 129 "perf stat: --per-cache=$level: not a cache level (L1, L2, L3, L4)" \
			perf stat --per-cache=$level -a true
	done
}

@test "an event that refers to itself is refused" {
	cp -r tests/data/sysfs-x86 "$BATS_TEST_TMPDIR/sys"
	chmod -R u+w "$BATS_TEST_TMPDIR/sys"
	echo loop >"$BATS_TEST_TMPDIR/sys/bus/event_source/devices/cpu/events/loop"
	SYSFS_PATH=$BATS_TEST_TMPDIR/sys fails_with 129 "event syntax error: 'cpu/loop/'" \
		perf stat -e cpu/loop/ true
	grep -q "cannot read event 'loop' of PMU 'cpu'$" "$BATS_TEST_TMPDIR/fails.err"
}

@test "contradictory options are refused, and both are named" {
	local case
	while IFS='|' read -r case message; do
		# shellcheck disable=SC2086 # words
		refused 22 perf stat $case <<<"perf stat: $message"
	done <<-EOF
	-x , -j true|-x and -j are mutually exclusive
	-x , -B true|-B and -x are mutually exclusive
	--control fifo:$BATS_TEST_TMPDIR/nothing -x , -j true|-x and -j are mutually exclusive
	-o f --log-fd 2 true|-o and --log-fd are mutually exclusive
	--log-fd -1 true|--log-fd: not a descriptor
	-r -1 true|-r: the number of repeats is negative
	-r 2 -a|-r requires a command, --timeout or --interval-count
	-r 2 --metric-only true|--metric-only and -r are mutually exclusive
	--metric-only --per-thread -a true|--metric-only and --per-thread are mutually exclusive
	--table true|--table needs -r N with N > 1
	-A true|a breakdown by CPU, core and the like needs -a or -C, or --bpf-counters
	--per-core true|a breakdown by CPU, core and the like needs -a or -C, or --bpf-counters
	--per-socket -p $$|a breakdown by CPU, core and the like needs -a or -C, or --bpf-counters
	--no-merge true|a breakdown by CPU, core and the like needs -a or -C, or --bpf-counters
	--timeout 100 -I 100 true|--timeout and -I are mutually exclusive
	--timeout 9 true|--timeout: at least 10 ms
	--interval-count 2 true|--interval-count needs -I
	--interval-clear true|--interval-clear needs -I
	-D -2 true|-D: a number of milliseconds, or -1
	-D -1 -a|-D -1 requires --control or a command
	--per-thread true|--per-thread needs threads to list: -p, -t or -a
	--per-thread -C 0|--per-thread needs threads to list: -p, -t or -a
	EOF
	[ ! -e f ]
	fails_with 129 "perf stat: --all-user and --all-kernel are mutually exclusive" \
		perf stat --all-user --all-kernel true
}

@test "options that act on later events must come before them" {
	fails_with 129 "perf stat: --cputype must come before the -e it applies to" \
		perf stat -e cs --cputype core true
	fails_with 129 "perf stat: --pmu-filter must come before the -e it applies to" \
		perf stat -e cs --pmu-filter cpu true
	fails_with 129 "perf stat: --hybrid-merge must come before the -e it applies to" \
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

@test "an unknown event is refused" {
	refused 129 perf stat -e cs,nosuch true <<-EOF
	event syntax error: 'cs,nosuch'
	                        \\___ Bad event name

	Unable to find event on a PMU of 'nosuch'
	Run 'perf list' for a list of valid events
	$(usage)

	    -e, --event <event>        events to count: perf list

	EOF
}

@test "invalid event lists are refused" {
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

@test "ten thousand events are parsed in a second of CPU time and 100 MB" {
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
		refute perf stat -x, --log-fd 4 --pre false "${args[@]}" true 4>"$BATS_TEST_TMPDIR/out" 2>/dev/null
	)
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" = 10000 ]
}

@test "invalid lists of processes, threads and CPUs are refused" {
	local list
	for list in '' 1x ,1 1,,2 -1 0 99999999999; do
		refused 22 perf stat -p "$list" true <<-EOF
		Problems finding threads of monitor
		perf stat: -p ${list:-''}: not a list of numbers such as 12,345
		EOF
	done
	for list in x 0- 1-0 ' 0' 0,; do
		refused 22 perf stat -e cs -C "$list" true <<<"perf stat: -C $list: not a list of CPUs such as 0-3,6"
	done
	refused 22 perf stat -C '' true <<<"perf stat: -C '': not a list of CPUs such as 0-3,6"
	refused 22 perf stat -C 0,0 true <<<"perf stat: -C 0,0: CPU 0 is there twice"
	refused 22 perf stat -C 0-70000 true <<<"perf stat: -C 0-70000: the number of a CPU is too large: 65535 at most"
	# the process that is missing, not those that are there
	refused 22 perf stat -e dummy:u -p $$,2147483647,2147483646 true <<-EOF
	Problems finding threads of monitor
	perf stat: -p $$,2147483647,2147483646: there is no process 2147483647
	EOF
}

@test "messages name what is wrong, and empty arguments" {
	fails_with 129 "perf stat: -I 4294967295: too large: 2147483647 ms at most" perf stat -I 4294967295 true
	fails_with 129 "perf stat: -I 99999999999999999999: too large: 2147483647 ms at most" \
		perf stat -I 99999999999999999999 true
	fails_with 129 "perf stat: -I '': not a number of milliseconds" perf stat -I '' true
	fails_with 129 "perf stat: --cputype '': there is no such core PMU" perf stat --cputype '' true
	fails_with 129 "perf stat: -G '' comes before any event: give it after -e" perf stat -G '' true
	fails_with 129 "perf stat: --control '': neither fd:CTL[,ACK] nor fifo:CTL[,ACK]" \
		perf stat -e dummy:u --control '' true
	fails_with 129 "perf script: '': no argument is expected (a file: -i)" alone perf script ''
	local tracing
	# as the machine has it, with tracepoints but not this one, and without tracefs
	mkdir -p "$BATS_TEST_TMPDIR/tracing/events"
	for tracing in '' "$BATS_TEST_TMPDIR/tracing" /nowhere; do
		TRACEFS_PATH=$tracing fails_with 129 "event syntax error: 'cs:z'" perf stat -e cs:z true
		grep -q "^ *\\\\___ Unknown modifier 'z'$" "$BATS_TEST_TMPDIR/fails.err"
		refute grep -i -e tracepoint -e tracefs "$BATS_TEST_TMPDIR/fails.err"
	done
}

@test "a process that does not exist is an error" {
	sleep 0 &
	local pid=$!
	wait $pid
	refused 22 perf stat -p "$pid" true <<-EOF
	Problems finding threads of monitor
	perf stat: -p $pid: there is no process $pid
	EOF
	refused 22 perf stat -p "$$,$pid" true <<-EOF
	Problems finding threads of monitor
	perf stat: -p $$,$pid: there is no process $pid
	EOF
}

@test "offline CPUs are reported" {
	# A sysfs where CPU 1 is offline, of a machine with no more than two.
	local sysfs=$BATS_TEST_TMPDIR/sys
	mkdir -p "$sysfs/devices/system/cpu"
	echo 0 >"$sysfs/devices/system/cpu/online"
	echo 0-2,7 >"$sysfs/devices/system/cpu/present"
	echo 0-15 >"$sysfs/devices/system/cpu/possible"
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
	SYSFS_PATH=$sysfs refused 1 perf stat -e cs -C 8-9 true <<-EOF
	Error:
	No supported events found.
	-C 8-9: there are no CPUs 8-9 (online: 0)
	EOF
}

@test "--control refuses arguments other than descriptors and fifos" {
	fails_with 129 "perf stat: --control x: neither fd:CTL[,ACK] nor fifo:CTL[,ACK]" \
		perf stat --control x true
	fails_with 129 "perf stat: --control fd:77: '77' is not an open descriptor" perf stat --control fd:77 true
	fails_with 129 "perf stat: --control fd:0,x: 'x' is not an open descriptor" perf stat --control fd:0,x true
	fails_with 129 "perf stat: --control fifo:/nonexistent/ctl: cannot open '/nonexistent/ctl': No such file or directory" \
		perf stat --control fifo:/nonexistent/ctl true
}

@test "output to impossible places is refused" {
	refused 1 perf stat -e cs -o /nonexistent/out true <<<"perf stat: cannot create the output file '/nonexistent/out': No such file or directory"
	refused 22 perf stat -e cs --log-fd 77 true <<<"perf stat: --log-fd 77: Bad file descriptor"
	refused 1 perf stat -e cs -I 10 --interval-clear true <<<"perf stat: --interval-clear: the output is no terminal"
}

@test "impossible recordings and reports are refused" {
	cd "$BATS_TEST_TMPDIR"
	refused 255 perf stat record -r 2 -o x true <<<"perf stat: record and -r are mutually exclusive"
	refused 255 perf stat record --null -o x true \
		<<<"perf stat: record and --null without -e: there is nothing to record"
	refused 255 perf stat record -e cs -o /nonexistent/x true \
		<<<"perf stat: cannot write /nonexistent/x: No such file or directory"
	refused 255 perf stat record -e cs -o . true <<<"perf stat: cannot write .: Is a directory"
	refused 255 perf stat record -e cs -o '' true <<<"perf stat: cannot write '': No such file or directory"
	refused 255 perf stat report -i '' <<<"perf stat report: cannot read '': No such file or directory"
	refused 255 perf stat report -i nothing <<<"perf stat report: cannot read nothing: No such file or directory"
	fails_with 255 "perf stat report: cannot read perf.data: No such file or directory" perf stat report </dev/null
	refused 129 perf stat report nothing \
		<<<"perf stat report: nothing: no argument is expected (a file: -i)"
	refused 22 perf stat report -x, -j <<<"perf stat report: -x and -j are mutually exclusive"
	[ -z "$(find . -mindepth 1 ! -name "*refused*" ! -name "*fails*")" ]
}

@test "-h goes to stderr with status 129, the list of options to stdout with 130" {
	local status
	for option in -h "-e cs --help"; do
		status=0
		# shellcheck disable=SC2086 # several words
		perf stat $option >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- || status=$?
		[ "$status" = 129 ]
		[ ! -s "$BATS_TEST_TMPDIR/out" ]
		grep -q -- '-e, --event <event>' "$BATS_TEST_TMPDIR/err"
	done
	status=0
	perf stat --list-opts >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- || status=$?
	[ "$status" = 130 ]
	is_silent "$BATS_TEST_TMPDIR/err"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" = 1 ]
	for option in --event --all-cpus --no-inherit --bpf-counters --bpf-attr-map --per-thread; do
		grep -qw -- "$option" "$BATS_TEST_TMPDIR/out"
	done
}

@test "perf knows its commands and refuses unknown ones" {
	[[ $(perf --version) = "perf version "* ]]
	[ "$(perf --version)" = "$(perf version)" ]
	perf version --build-options | grep -q 'libbpf: \[ on  \]  # HAVE_LIBBPF_SUPPORT'
	perf version --build-options | grep -q HAVE_LIBPFM
	perf --help | grep -q '^   stat '
	perf --list-cmds | grep -qw stat
	fails_with 129 "perf: unknown option '--frob': see 'perf --help'" perf --frob
	fails_with 1 "perf: 'stats' is not a perf command: did you mean 'stat'?" perf stats
	fails_with 129 "perf: version: unknown argument '--x' (--build-options)" perf version --x
	[ -z "$(perf version --x 2>/dev/null)" ]
	fails_with 129 "perf: version: unknown argument '' (--build-options)" perf version ''
	run perf
	[ "$status" = 1 ]
	run perf help stat
	[ "$status" = 0 ]
	[[ $output = *"--bpf-counters"* ]]
	fails_with 129 "perf bperf: unknown command 'lst': did you mean 'list'?" perf bperf lst
	fails_with 129 "perf bperf: unknown command 'frobnicate'" perf bperf frobnicate
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
	diff -u <(had profile) <(told perf-profile) >&2
	diff -u <(had top) <(told perf-top) >&2
	diff -u <(had script) <(told perf-script) >&2
	diff -u <(had config) <(told perf-config) >&2
	diff -u <(perf --list-opts | tr ' ' '\n' | grep . | grep -vxE -- '--(help|list-opts|html-path)' | sort) <(told perf) >&2
	diff -u <(had "bperf list" "bperf prune" "bperf verify") <(told perf-bperf) >&2
}

@test "the manual has all options of perf stat report, and no other" {
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

@test "perf reports what ties an event to other CPUs than those asked for" {
	refused 1 perf stat -C 0 -e page-faults/cpu=1/ true <<-'END'
	perf stat: -C 0: 'page-faults/cpu=1/' is counted on CPUs of its cpu= only: 1
	Error:
	No supported events found.
	'page-faults/cpu=1/': no CPU asked for is one of its cpu=
	END
}

@test "perf list -j has clocks' units, tracepoints' ids and events' required terms" {
	export SYSFS_PATH=$BATS_TEST_DIRNAME/../data/sysfs-x86 TRACEFS_PATH=$BATS_TEST_DIRNAME/../data/tracefs
	perf list -j sw | jq -e '.[] | select(.EventName == "task-clock") | .ScaleUnit == "1e-06msec"'
	perf list -j tracepoint | jq -e '.[] | select(.EventName == "sched:sched_switch") |
		.Encoding == "tracepoint/config=0x13c/"'
	perf list -j pmu | jq -e '.[] | select(.EventName == "needs-param") |
		.EventAlias == "cpu/needs-param,cmask=?/"'
	perf list --raw-dump pmu | tr ' ' '\n' | grep -qx 'cpu/needs-param,cmask=?/'
}

@test "every option that cancels another one brings back what was before it" {
	local option
	cd "$BATS_TEST_TMPDIR"
	perf stat -x, -n true >plain 2>&1
	for option in "-p 1 --no-pid" "-t 1 --no-tid" "-r 3 --no-repeat" "-C 0 --no-cpu" "-A --aggr" \
		"--no-merge --merge" "--hybrid-merge --no-hybrid-merge" "-x: --no-field-separator -x," \
		"--for-each-cgroup x --no-for-each-cgroup" "-o /nowhere/x --no-output" "--log-fd 99 --no-log-fd" \
		"--pre false --no-pre" "--post false --no-post" "-I 10 --no-interval-print" \
		"--interval-count 1 --no-interval-count" "--timeout 1 --no-timeout" \
		"--per-socket --no-per-socket" "--per-die --no-per-die" "--per-core --no-per-core" \
		"--per-thread --no-per-thread" "--per-node --no-per-node" "--per-cluster --no-per-cluster" \
		"--per-cache=L2 --no-per-cache" "-D 500 --no-delay" "--topdown --no-topdown" \
		"--td-level 9 --no-td-level" "--smi-cost --no-smi-cost" "--all-kernel --no-all-kernel" \
		"--all-user --no-all-user" "--all-user --no-all-user --all-kernel" "--control fd:99 --no-control" \
		"-b 1 --no-bpf-prog" "-a --no-all-cpus" "-j --no-json-output" "--no-iostat" \
		"--record-tpebs --no-record-tpebs" "--tpebs-mode max --no-tpebs-mode" "-v --no-verbose" \
		"-d --no-detailed" "-S --no-sync" "--append --no-append" "--quiet --no-quiet"; do
		# shellcheck disable=SC2086 # several words
		perf stat -x, $option -n true >out 2>&1 || { echo "$option: $?" && cat out; } >&2
		# shellcheck disable=SC2086
		diff plain out || { echo "$option" && return 1; }
	done
}

@test "options of platforms without them print one line" {
	fails_with 129 "perf stat: --tpebs-mode '': not one of mean, min, max, last" perf stat --tpebs-mode '' true
	refused 129 perf stat --tpebs-mode x true <<-EOF
	perf stat: --tpebs-mode x: not one of mean, min, max, last
	$(usage)

	    --tpebs-mode <mode>        mean, min, max or last retirement latency; accepted, no effect

	EOF
	for option in --record-tpebs --tpebs-mode=last; do
		perf stat $option -e duration_time true 2>&1 |
			grep -q 'have no effect: no event here has a retirement latency'
		refute grep -q latency <(perf stat $option -x, -e duration_time true 2>&1)
	done
}

@test "PERF_TEST_ATTR keeps how each event was opened, in the format of Linux's perf" {
	require_perf_events
	mkdir "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/linux"
	PERF_TEST_ATTR=$BATS_TEST_TMPDIR/ours perf stat -e page-faults:u true 2>/dev/null
	cd "$BATS_TEST_TMPDIR/ours"
	file=$(echo event-1-2-*)
	[ "$(head -n 2 "$file" | tr '\n' ' ')" = "[$file] fd=${file##*-} " ]
	grep -qx exclude_kernel=1 "$file"
	grep -qx enable_on_exec=1 "$file"
	PERF_TEST_ATTR=/nowhere perf stat -e page-faults:u true 2>&1 |
		grep -q 'PERF_TEST_ATTR: cannot write /nowhere/event-1-2-.*: No such file or directory'
	require_debian_perf
	PERF_TEST_ATTR=$BATS_TEST_TMPDIR/linux "$DEBIAN_PERF" stat -e page-faults:u true 2>/dev/null
	# Processes, descriptors and the sizes of other kernels' headers differ, and before 6.13, Linux's perf
	# left guests out.
	differs='^\[|^(fd|pid|size|exclude_guest)='
	diff <(sed -E "/$differs/d" "$file") <(sed -E "/$differs/d" ../linux/event-1-2-*)
}
