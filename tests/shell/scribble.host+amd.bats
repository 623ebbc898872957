#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A process with the same rights writes wrong numbers into all memory that sessions share, while they
# read and write it. Their counts may be wrong then, but no session crashes, and each one ends.
#
# SCRIBBLE_SECONDS=600 makes a long test of it, SCRIBBLE_SEED another one.

load helpers
load cgroups

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	T=$BATS_TEST_TMPDIR
	# On emulated machines there is no such build: there only crashes are seen.
	checked=$(command -v perf)
	[ -n "${PLACE:-}" ] || checked=$O-sanitize/perf
	jobs_started=()
	require_root
	[ -x "$checked" ] || skip_or_fail "no build with SANITIZE=1 beside $O"
	make_top
	mkdir "$top/a" "$top/b"
}

teardown() {
	end_jobs
	remove_top
	remove_map
}

# sessions : one command line of perf each
sessions() {
	local e=page-faults,cs,task-clock
	cat <<-END
		stat -a -e $e $WORKLOADS/faults 50
		stat -a -I 20 -e $e sleep 0.2
		stat -a -e {cs,page-faults} -e dummy $WORKLOADS/faults 50
		stat -e $e -- $WORKLOADS/forks 20 1000
		stat -e $e -I 20 -- sleep 0.2
		stat --per-thread -p $$ -e $e sleep 0.1
		stat -p $$ -e $e sleep 0.1
		stat -a -e $e --for-each-cgroup $name,$name/a,$name/b sleep 0.2
		stat -a -I 30 -e $e --for-each-cgroup '$name.*' sleep 0.5
		stat -a -e $e -G $name,$name,$name sleep 0.1
		stat -b all -e $e sleep 0.1
		bperf list
		bperf list -j --details
		bperf prune
	END
	# They take long on an emulated machine, which has no build with SANITIZE=1 either.
	[ -z "${PLACE:-}" ] || return 0
	cat <<-END
		profile -a -F 499 -e cpu-clock --timeout 200
		profile -c 1 -e page-faults -s comm,pid,tid,prio -I 30 -- $WORKLOADS/forks 20 1000
		profile -p $$ -F 1999 -e task-clock,page-faults --stacks sleep 0.1
		profile -a -F 999 -e cpu-clock -g --for-each-cgroup $name/a,$name/b --timeout 200
		profile -a -F 999 -e cpu-clock --range 1000-7fffffffffff --ip -j --timeout 100
		profile -a -F 999 -e cpu-clock -o - --each=64 --timeout 100
	END
}

# run_one LINE : it ends by itself, within five minutes, and not by an error of memory or a signal
run_one() {
	local status=0 options='--bpf-counters --bpf-attr-map' line=$1
	case $line in
	'stat -b '*) options='--bpf-attr-map' ;;
	bperf* | profile*) options='--bpf-attr-map' ;;
	esac
	# The options go behind the subcommand.
	case $line in
	bperf*) line="$line $options $ATTR_MAP" ;;
	profile*) line="profile $options $ATTR_MAP ${line#profile }" ;;
	*) line="stat $options $ATTR_MAP ${line#stat }" ;;
	esac
	eval "timeout -k 5 300 $checked $line" >"$2" 2>&1 </dev/null 3>&- || status=$?
	case $status in
	0 | 1 | 129) return 0 ;;
	esac
	cat "$2" >&2
	echo "$line: status $status" >&2
	return 1
}

# stream NR : sessions one after the other, in a random order, until $T/over is there
stream() {
	local lines line nr=0
	RANDOM=$((${SCRIBBLE_SEED:-1} * 10 + $1))
	mapfile -t lines < <(sessions)
	while [ ! -e "$T/over" ]; do
		line=${lines[RANDOM % ${#lines[@]}]}
		run_one "$line" "$T/out.$1" || return 1
		echo "$line" >>"$T/done"
		mkdir "$top/a/new$1.$((nr++ % 20))" 2>/dev/null || rmdir "$top"/a/new"$1".* 2>/dev/null || :
	done
}

@test "wrong numbers in shared memory neither crash nor block sessions" {
	local seconds=${SCRIBBLE_SECONDS:-20} seed=${SCRIBBLE_SEED:-1} n pids=() failed=0
	export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1
	for n in 1 2 3; do
		stream "$n" 2>"$T/err.$n" 3>&- &
		pids+=($!)
		jobs_started+=($!)
	done
	# once, but a machine that is busy otherwise needs it more often
	touch "$T/done"
	for n in 1 2 3 4 5; do
		"$WORKLOADS/scribble" "$ATTR_MAP" "$seconds" "$((seed + n - 1))" >>"$T/words" 3>&-
		[ "$(wc -l <"$T/done")" -lt 10 ] || break
	done
	touch "$T/over"
	for n in "${!pids[@]}"; do
		wait "${pids[n]}" || { cat "$T/err.$((n + 1))" >&2; failed=1; }
	done
	cat "$T/words" >&2
	sort "$T/done" | uniq -c >&2
	[ $failed = 0 ]
	[ "$(wc -l <"$T/done")" -ge 10 ]
	[ "$(awk '{ sum += $1 } END { print sum }' "$T/words")" -gt 10000 ]
}
