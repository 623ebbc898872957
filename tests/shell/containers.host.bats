#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counters where the machine looks different: no BPF file system, another one, namespaces of
# mounts, processes and users.

load helpers

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	T=$BATS_TEST_TMPDIR
	jobs_started=()
	mkdir "$T/bpf"
	require_root
	unshare -m -p -f true || skip_or_fail "no namespaces here"
}

teardown() {
	end_jobs
	! mountpoint -q "$T/bpf" || umount "$T/bpf"
	rm -f "$ATTR_MAP"
	rm -rf "${ATTR_MAP}_lock"
}

# elsewhere COMMAND... : in a mount namespace without a BPF file system at /sys/fs/bpf
elsewhere() {
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m --propagation private sh -ec 'while mountpoint -q /sys/fs/bpf; do umount -l /sys/fs/bpf; done
		exec "$@"' sh "$@"
}

@test "perf mounts a missing BPF file system" {
	# shellcheck disable=SC2016 # the inner shell's
	elsewhere sh -ec 'perf stat --bpf-counters -a -x, --log-fd 4 -e page-faults "$1" 600
		mountpoint -q /sys/fs/bpf
		[ "$(find /sys/fs/bpf -mindepth 1 ! -name "*.debug" | wc -l)" = 5 ]
		perf bperf list' sh "$WORKLOADS/faults" 4>"$T/out" >"$T/list"
	at_least "$(field page-faults 1 "$T/out")" 600
	grep -q '^no events are shared through /sys/fs/bpf/' "$T/list"
}

@test "a BPF file system that cannot be mounted gives one line" {
	refused 1 elsewhere setpriv --bounding-set=-sys_admin --inh-caps=-all perf bperf verify <<-EOF
	perf bperf: not permitted: lacks CAP_SYS_ADMIN (to find what others share by its ids) (run as root)
	EOF
	# a user namespace has CAP_SYS_ADMIN, which is worth nothing outside of it
	unshare -Ur true || skip "no user namespaces here"
	local status=0
	elsewhere unshare -Urm perf stat --bpf-counters -a -e cs touch "$T/made" 2>"$T/err" || status=$?
	cat "$T/err"
	[ "$status" = 1 ]
	[ "$(wc -l <"$T/err")" = 1 ]
	grep -q '^perf stat: cannot share events: no BPF file system at /sys/fs/bpf, and mounting one failed: ' "$T/err"
	[ ! -e "$T/made" ]
}

@test "privileges in a user namespace are not enough" {
	unshare -Ur true || skip "no user namespaces here"
	local status=0
	chmod 755 "$T"
	unshare -Ur perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs touch "$T/made" \
		2>"$T/err" || status=$?
	cat "$T/err"
	[ "$status" = 1 ]
	[ "$(wc -l <"$T/err")" = 1 ]
	[ ! -e "$T/made" ]
}

@test "--bpf-attr-map may name any BPF file system" {
	mount -t bpf bpf "$T/bpf"
	background "$T/out" perf stat --bpf-counters --bpf-attr-map "$T/bpf/map" -a -x, -e page-faults -- \
		"$WORKLOADS/waiter"
	local run=$!
	wait_for has_text ready "$T/out"
	perf stat --bpf-counters --bpf-attr-map "$T/bpf/map" -a -x, --log-fd 4 -e page-faults \
		sh -c "perf bperf list --bpf-attr-map $T/bpf/map >$T/list; $WORKLOADS/faults 500" 4>"$T/second"
	at_least "$(field page-faults 1 "$T/second")" 500
	[ "$(tail -n 1 "$T/list")" = "2 sessions share $(nproc) perf events for 1 event" ]
	kill -INT $run
	wait $run || :
	# besides what some kernels put into every BPF file system
	[ "$(find "$T/bpf" -mindepth 1 ! -name '*.debug' -printf '%f\n' | sed 's/^leader_[0-9]*$/leader/' |
		sort | xargs)" = "in_use leader map map_lock tasks" ]
}

@test "sessions in two mount namespaces share through one BPF file system" {
	mount -t bpf bpf "$T/bpf"
	background "$T/out" unshare -m perf stat --bpf-counters --bpf-attr-map "$T/bpf/map" -a -x, \
		-e page-faults -- "$WORKLOADS/waiter"
	wait_for has_text ready "$T/out"
	unshare -m perf bperf list --bpf-attr-map "$T/bpf/map" >"$T/list"
	[ "$(tail -n 1 "$T/list")" = "1 session shares $(nproc) perf events for 1 event" ]
}

@test "commands and CPUs count in a pid namespace, with the pid there" {
	begin_witness
	# shellcheck disable=SC2016 # the inner shell's
	unshare -p -f --mount-proc sh -ec 'perf stat --bpf-counters --bpf-attr-map "$1" -x, --log-fd 4 \
			-e page-faults:u "$2" 700
		perf stat --bpf-counters --bpf-attr-map "$1" -a -x, --log-fd 5 -e page-faults \
			sh -c "perf bperf list -j --bpf-attr-map $1; $2 700"' sh "$ATTR_MAP" "$WORKLOADS/faults" \
		4>"$T/command" 5>"$T/cpus" >"$T/json"
	end_witness
	explained 700 1000 comm faults < <(field page-faults:u 1 "$T/command")
	at_least "$(field page-faults 1 "$T/cpus")" 700
	[ "$(jq '.runs[0].pid < 100' "$T/json")" = true ]
}

@test "in a pid namespace, a message about the lock gives no pid of another namespace" {
	# makes the lock
	shared -x, -o /dev/null -e dummy true
	background "$T/holder" sh -c 'exec 9<"$1"; flock 9; echo ready; exec sleep 1000' sh "${ATTR_MAP}_lock"
	wait_for has_text ready "$T/holder"
	unshare -p -f --mount-proc perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out" \
		-e page-faults:u "$WORKLOADS/faults" 700 2>"$T/err"
	diff - "$T/err" <<<"perf stat: ${ATTR_MAP}_lock is held by a process that cannot be seen from here: counting with events of this session's own"
	# The start of the program has less than 100.
	in_range "$(field page-faults:u 1 "$T/out")" 700 800
}

@test "-p in a pid namespace takes a pid of that namespace" {
	mkfifo "$T/in"
	begin_witness
	# The shell is number 1, the counted process 2, perf 3 and so on; the machine's 2 is another.
	# shellcheck disable=SC2016 # the inner shell's
	unshare -p -f --mount-proc bash -ec '
		mkfifo "$3/ctl" "$3/ack"
		exec 7<>"$3/ctl" 8<>"$3/ack"
		bash -c "while read -r line; do [ \$line = go ] && $2 5000 && echo done; done" <"$3/in" >"$3/did" &
		exec 9>"$3/in"
		worker=$!
		perf stat --bpf-counters --bpf-attr-map "$1" -x, -o "$3/out" -D -1 \
			--control "fifo:$3/ctl,$3/ack" -e page-faults:u -p $worker &
		echo enable >&7
		read -r -t 300 answer <&8
		echo go >&9
		while ! grep -q done "$3/did"; do sleep 0.02; done
		echo stop >&7
		read -r -t 300 answer <&8
		exec 9>&-
		wait' bash "$ATTR_MAP" "$WORKLOADS/faults" "$T" 2>"$T/err"
	cat "$T/err" "$T/out"
	end_witness
	explained 5000 20000 comm faults < <(field page-faults:u 1 "$T/out")
}

# inside COMMAND : a shell's command in a mount and pid namespace with its own /proc; the shell is number 1. $1: this
# test's map, $2: the workloads, $3: a directory
inside() {
	unshare -m -p -f --mount-proc bash -ec "$1" bash "$ATTR_MAP" "$WORKLOADS" "$T"
}

OWN="sampling with events of this session's own"
PRIVATE="perf runs in a pid namespace, and shared samples have the machine's pids: $OWN"
OTHER_PROC="/proc is not that of perf's pid namespace, so its numbers are those of other tasks (mount -t proc proc /proc)"

@test "a profile of a command in a pid namespace has its functions, and its pid there" {
	# shellcheck disable=SC2016 # the inner shell's
	inside 'perf profile --bpf-attr-map "$1" -e cpu-clock -F 2000 -j -s pid,comm,sym -- "$2/blend" 50000' \
		>"$T/json" 2>"$T/err"
	diff - "$T/err" <<<"perf profile: $PRIVATE"
	jq -s -e 'map(select(.sym == "blend_b").samples) | add > 10' "$T/json"
	jq -s -e 'map(select(.pid)) | all(.pid < 100 and .comm != "swapper")' "$T/json"
}

@test "perf profile and perf top sample the process that has the pid of -p in their namespace" {
	# The machine's process 2 is another one.
	# shellcheck disable=SC2016 # the inner shell's
	inside '"$2/spin" 1000000000000 &
		perf profile --bpf-attr-map "$1" -e cpu-clock -F 2000 -j -s pid,tid,comm,sym -p $! \
			-- "$2/ran" 0.1 $! >"$3/json"
		perf top --bpf-attr-map "$1" -e cpu-clock -F 2000 -p $! -d 1 --timeout 300 >"$3/top"
		kill -KILL $!' 2>"$T/err"
	diff - "$T/err" <<-END
		perf profile: $PRIVATE
		perf top: $PRIVATE
	END
	jq -s -e 'map(select(.sym == "main" and .comm == "spin" and .pid == 2 and .tid == 2).samples) | add > 10' "$T/json"
	jq -s -e 'map(select(.pid)) | all(.pid == 2)' "$T/json"
	grep -E '% +[0-9,]+ +spin +\[\.\] main$' "$T/top"
}

@test "a profile of all CPUs in a pid namespace leaves out tasks outside of it" {
	background /dev/null "$WORKLOADS/spin" 1000000000000
	# shellcheck disable=SC2016 # the inner shell's
	inside '"$2/spin" 1000000000000 &
		perf profile --bpf-attr-map "$1" -a -e cpu-clock -F 2000 -j -s pid,comm -- "$2/ran" 0.1 $! >"$3/json"
		perf profile --no-bpf -a -e page-faults -c 1 -j -s pid,comm --timeout 100 >"$3/faults"
		kill -KILL $!' 2>"$T/err"
	diff - "$T/err" <<-END
		perf profile: $PRIVATE
		perf profile: perf runs in a pid namespace: samples of tasks outside of it are left out
		perf profile: perf runs in a pid namespace: samples of tasks outside of it are left out
	END
	jq -s -e 'map(select(.comm == "spin")) | length == 1 and .[0].pid == 2 and .[0].samples > 10' "$T/json"
	jq -s -e 'map(select(.pid == 0 or .comm == "swapper")) == []' "$T/json" "$T/faults"
	jq -s -e 'last.account | .other.samples > 10 and .idle.samples == 0' "$T/json"
}

@test "where /proc cannot be read, the message says so" {
	# A directory is there instead.
	# shellcheck disable=SC2016 # the inner shell's
	refused 1 unshare -m bash -c 'mount -t tmpfs none /proc && mkdir -p /proc/self/status && exec perf profile -a -- true' \
		<<<"perf profile: cannot sample: cannot read /proc/self/status: Is a directory"
}

@test "with the /proc of another pid namespace nothing is sampled, and no process is looked for" {
	local option
	refused 1 unshare -p -f perf profile --bpf-attr-map "$ATTR_MAP" -- touch "$T/made" \
		<<<"perf profile: cannot sample: $OTHER_PROC"
	for option in "-p 1" "--per-thread -a"; do
		# shellcheck disable=SC2086 # words
		refused 22 unshare -p -f perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" $option -e cs touch "$T/made" \
			<<<"perf stat: cannot find the tasks: $OTHER_PROC"
	done
	[ ! -e "$T/made" ]
	# no process is looked for
	unshare -p -f perf stat -x, -o "$T/out" -e page-faults:u "$WORKLOADS/faults" 700
	# The start of the program has less than 100.
	in_range "$(field page-faults:u 1 "$T/out")" 700 800
}

@test "a running process has the names of its functions in a time namespace" {
	unshare -T --boottime 1000 -f true || skip_or_fail "no namespaces of time here"
	background /dev/null "$WORKLOADS/spin" 1000000000000
	unshare -T --boottime 1000 -f perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 2000 -j -p $! \
		-- "$WORKLOADS/ran" 0.1 $! >"$T/json" 2>"$T/err"
	diff - "$T/err" <<<"perf profile: perf runs in a time namespace, and shared samples have the machine's times: $OWN"
	jq -s -e 'map(select(.sym == "main").samples) | add > 10' "$T/json"
}
