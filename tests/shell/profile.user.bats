#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile refuses what it cannot do, with one line that names the reason.

load helpers
load record

T=$BATS_TEST_TMPDIR

# invalid LINE OPTION... : perf profile refuses these options with this line
invalid() {
	local line=$1
	shift
	refused 22 perf profile "$@" <<<"perf profile: $line"
}

# wrong LINE OPTION... : the value of an option is refused
wrong() {
	local line=$1
	shift
	fails_with 129 "perf profile: $line" perf profile "$@"
}

@test "rates that are none are refused" {
	wrong "-F 0: not a rate (a number of samples a second from 1 on, or max)" -F 0
	wrong "-F fast: not a rate (a number of samples a second from 1 on, or max)" -F fast
	wrong "-F -1: not a rate (a number of samples a second from 1 on, or max)" -F -1
	wrong "-c 0: not a period (a number of events from 1 on)" -c 0
	wrong "-c 1k: not a period (a number of events from 1 on)" -c 1k
	wrong "-F and -c are mutually exclusive" -F 99 -c 1000
	wrong "--each 0: not a number of samples from 1 to 1048576" --each=0 -o x
	wrong "--each 1048577: not a number of samples from 1 to 1048576" --each=1048577 -o x
	wrong "--each 7x: not a number of samples from 1 to 1048576" --each=7x -o x
}

@test "a rate above the kernel's limit names the sysctl" {
	mkdir -p "$T/proc/sys/kernel"
	ln -s /proc/self "$T/proc/self"
	echo 5000 >"$T/proc/sys/kernel/perf_event_max_sample_rate"
	PROCFS_PATH=$T/proc invalid "-F 5001: the kernel allows at most 5000 Hz (sysctl kernel.perf_event_max_sample_rate; -F max takes what there is)" \
		-e cpu-clock -F 5001 true
	PROCFS_PATH=$T/proc invalid "-c 100000: cpu-clock would be sampled at 10000 Hz, and the kernel allows at most 5000 (sysctl kernel.perf_event_max_sample_rate)" \
		-e cpu-clock -c 100000 true
}

@test "events that cannot be sampled are refused" {
	invalid "'duration_time' cannot be sampled: perf computes it, and it never interrupts" -e duration_time
	if [ -r /sys/kernel/tracing/events/sched/sched_switch/id ]; then
		invalid "'sched:sched_switch' cannot be sampled: the kernel cannot run our program at samples of tracepoints (count them with perf stat)" \
			-e sched:sched_switch
	fi
	invalid "'cpu-clock/period=5000/' cannot be sampled: 'period' has no effect here: give -c, which holds for all events" \
		-e cpu-clock/period=5000/
}

@test "an event that is listed twice is refused, by whatever name" {
	invalid "'faults' is listed twice" -e page-faults,cpu-clock,faults
	invalid "'cs:u' is listed twice" --no-bpf -e cs:u,cs,cs:u
}

@test "terms that perf does not have are refused in the name of the command" {
	perf profile -e cs/freq=5/ true 2>&1 | grep -qF "'freq' is not usable in 'perf profile'"
	perf top -e cs/freq=5/ 2>&1 | grep -qF "'freq' is not usable in 'perf top'"
}

@test "sort keys that do not exist are named" {
	invalid "-s comm,weight: 'weight' is not a sort key (comm, pid, tid, cpu, cgroup, prio, dso, sym, ip, page, daddr, srcline)" \
		-e cpu-clock -s comm,weight
}

@test "stacks are read by frame pointers only" {
	wrong "--call-graph dwarf: stacks are read in the kernel, by frame pointers (fp) only" --call-graph dwarf
	wrong "--call-graph lbr: stacks are read in the kernel, by frame pointers (fp) only" --call-graph=lbr
	wrong "--call-graph up: not one of fp, caller, callee" --call-graph=up
}

@test "options that contradict each other are refused" {
	invalid "-g and --stacks are mutually exclusive" -g --stacks
	invalid "-g and --folded are mutually exclusive" -g --folded
	invalid "--stacks and --folded are mutually exclusive" --folded --stacks
	invalid "-x and -j are mutually exclusive" -j -x,
	invalid "--annotate: the name of the function is empty" --annotate ''
	for option in -g --stacks --folded; do
		invalid "--annotate has no stacks: without -g, --stacks and --folded" --annotate f $option
	done
	for option in '-s sym' --ip=address -d --for-each-cgroup=a; do
		# shellcheck disable=SC2086 # an option and its value
		invalid "--annotate has columns of its own: without -s, --ip, -d and --for-each-cgroup" --annotate f $option
	done
	for option in --lines --inline; do
		invalid "--annotate always prints source lines and inlined functions: without --lines and --inline" --annotate f $option
	done
	invalid "--annotate needs the sampled instruction: without --kernel-callchains and --user-callchains" \
		--annotate f --user-callchains
	invalid "--annotate prints all instructions: without --percent-limit" --annotate f --percent-limit 1
	invalid "--annotate prints one function: without -K and -U" --annotate f -K
	invalid "--annotate and -I are mutually exclusive" --annotate f -I 100
	invalid "--annotate and --diff are mutually exclusive" --annotate f --diff a b
	invalid "--folded and -j are mutually exclusive" --folded -j
	invalid "-K and -U are mutually exclusive" -K -U
	invalid "--no-children requires -g" --no-children
	invalid "--each requires -o" --each
	invalid "--kernel-callchains and --user-callchains are mutually exclusive" -g --kernel-callchains --user-callchains
	invalid "--call-graph: caller and callee are mutually exclusive" --call-graph=caller,callee
	invalid "--kernel-callchains and --user-callchains require stacks: -g, --stacks, --folded, --flamegraph, --pprof or -o" --user-callchains
	invalid "-u and -p or -t are mutually exclusive" -u root -p 1
	invalid "-u samples processes that run already: give the command without it" -u root -- true
	! grep -q cgroup /proc/mounts ||
		invalid "cgroups are sampled in all tasks: without -p, -t and -u" -G / -p 1
	invalid "-D: less than -1" -D -2
	invalid "-G and --for-each-cgroup are mutually exclusive" -G / --for-each-cgroup /
	invalid "--interval-count requires -I" --interval-count 3
	invalid "-D -1 requires --control" -D -1
	invalid "--max-stack: at most 127 frames" -g --max-stack 128
}

@test "two outputs into one file are refused" {
	invalid "-o and --pprof need different files, not both x" -o x --pprof x -e cpu-clock
	invalid "-o and --pprof need different files, not both -" -o - --pprof - -e cpu-clock
	invalid "--flamegraph and --pprof need different files, not both x.svg" --flamegraph x.svg --pprof x.svg -e cpu-clock
	cd "$T"
	touch x.svg
	ln -s x.svg y
	invalid "-o and --flamegraph need different files, not both x.svg" -o ./x.svg --flamegraph x.svg -e cpu-clock
	invalid "--flamegraph and --pprof need different files, not both y" --flamegraph x.svg --pprof y -e cpu-clock
	for option in '-o -' '--pprof -'; do
		# shellcheck disable=SC2086 # an option and its value
		invalid "--dump-maps prints text: without -o - and --pprof -" --prog x.o --dump-maps $option
	done
}

@test "files that cannot be written are refused" {
	invalid "--flamegraph '': the name must end in .svg or .html" --flamegraph '' -e cpu-clock
	invalid "--flamegraph .svg: the name must end in .svg or .html" --flamegraph .svg -e cpu-clock
	invalid "--flamegraph draws one event, not 2" --flamegraph x.svg -e cpu-clock,page-faults
	invalid "--folded prints one event, not 2" --folded -e cpu-clock,page-faults
	invalid "--flamegraph and -I are mutually exclusive" --flamegraph x.svg -I 100
	invalid "--pprof and -I are mutually exclusive" --pprof x -I 100
	invalid "--pprof: the name of the file is empty" --pprof '' -e cpu-clock
	invalid "--icicle requires --flamegraph" --icicle -e cpu-clock
	refused 1 perf profile --pprof . -e cpu-clock true <<<'perf profile: cannot write .: Is a directory'
	refused 1 perf profile --flamegraph no/x.svg -e cpu-clock true <<<'perf profile: cannot write no/x.svg: No such file or directory'
}

@test "users that do not exist are refused" {
	invalid "-u nobody-of-this-name: there is no such user" -u nobody-of-this-name
	invalid "-u 4000000000: the user has no processes" -u 4000000000
}

@test "processes that do not exist are refused" {
	refused 22 perf profile -e cpu-clock -p 4194305 <<-'END'
		Problems finding threads of monitor
		perf profile: -p 4194305: there is no process 4194305
	END
}

@test "perf.data that cannot be written is refused" {
	invalid "-o and -I are mutually exclusive" -o x -I 100
	invalid "--ip has no stacks: without -g, --stacks and --folded" -o x --ip
	refused 1 perf profile -o . -e cpu-clock true <<<'perf profile: cannot write .: Is a directory'
	refused 1 perf profile -o no/x -e cpu-clock true <<<'perf profile: cannot write no/x: No such file or directory'
}

@test "perf profile report refuses options that sample" {
	local option cgroups=()
	! grep -q cgroup /proc/mounts || cgroups=("-G /" "--for-each-cgroup /")
	for option in -a "-C 0" "-p 1" "-t 1" "-u root" "-e cs" "-F 99" "-c 9" "${cgroups[@]}" "-D 1" "--timeout 1" \
		"-I 100" "--interval-count 1" "--range main" "--prog x" --dump-maps --idle --no-bpf -i "--control fifo:x"; do
		# shellcheck disable=SC2086 # an option and its value
		invalid "report reads a file, and samples nothing: without a target, event or time" report $option x
		# shellcheck disable=SC2086
		invalid "report reads a file, and samples nothing: without a target, event or time" $option report x
	done
	for option in --inline --lines; do
		invalid "report has the names of the file: without --inline, --lines and srcline" report $option x
	done
	for option in "--max-stack 3" --kernel-callchains --user-callchains; do
		# shellcheck disable=SC2086
		invalid "report prints the stacks of the file: without --max-stack, --kernel-callchains and --user-callchains" report $option x
	done
	for option in "-o y" "--diff y"; do
		# shellcheck disable=SC2086
		invalid "report prints a file: without -o and --diff" report $option x
	done
	invalid "-x and -j are mutually exclusive" report -x, -j x
	invalid "--diff and -o are mutually exclusive" -o x --diff y z
	invalid "report: one file at a time: 'y' is another one" report x y
	wrong "unknown switch \`w'" report -w
}

@test "perf profile report refuses files that are no profile" {
	cd "$BATS_TEST_TMPDIR"
	refused 1 perf profile report x <<<'perf profile: cannot read x: No such file or directory'
	echo a longer text >x
	refused 22 perf profile report x <<<'perf profile: x: at byte 0: not perf.data: it does not begin with PERFILE2'
	perf stat record -o counts -e duration_time true >/dev/null 2>&1
	refused 22 perf profile report counts <<<"perf profile: counts: at byte $(($(u64 counts 40) + $(u64 counts 48))): no profile: not written by perf profile -o"
	: >empty
	refused 22 perf profile report empty <<<'perf profile: empty: at byte 0: not perf.data: it does not begin with PERFILE2'
}
