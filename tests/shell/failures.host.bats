#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# System calls that fail: each failure has a line that names it, nothing hangs, nothing stays behind.

load helpers

requirements() {
	require_root
}

teardown() {
	end_jobs
	remove_map
	[ -z "$(find /sys/fs/bpf -path "$ATTR_MAP*")" ]
}

# failing FAULT COMMAND... : with that fault by strace; stderr is in $err, the exit status in $status
failing() {
	local fault=$1
	shift
	err=$BATS_TEST_TMPDIR/err status=0
	timeout 300 strace -qq -o /dev/null -e "inject=$fault" "$@" >/dev/null 2>"$err" 3>&- || status=$?
	cat "$err"
}

# with_files N COMMAND... : the same with so many open files, which perf may not raise
with_files() {
	local nr=$1
	shift
	err=$BATS_TEST_TMPDIR/err status=0
	setpriv --bounding-set -sys_resource --inh-caps -sys_resource \
		bash -c 'ulimit -n "$0" && exec "$@"' "$nr" "$@" >/dev/null 2>"$err" 3>&- || status=$?
}

@test "with too few open files, a session works, or one line names the limit" {
	local nr form
	local -A forms=(
		[plain]='-e page-faults'
		[system]='-a -e page-faults'
		[shared]="--bpf-counters --bpf-attr-map $ATTR_MAP -e page-faults"
		[cgroup]="--bpf-counters --bpf-attr-map $ATTR_MAP -a -e page-faults --for-each-cgroup /"
	)
	for nr in $(seq 5 12) 16 20 32 64 100 128; do
		for form in "${!forms[@]}"; do
			with_files "$nr" perf stat -x, --log-fd 2 ${forms[$form]} true
			echo "$form with $nr: status $status"
			cat "$err"
			if [ "$status" = 0 ]; then
				grep -q '^[0-9]*,,page-faults,' "$err"
			else
				[ "$status" = 1 ]
				[ "$(grep -ci 'too many open files: raise the limit with ulimit -n\|too many open files: the limit is .*: raise the limit with ulimit -n' "$err")" = 1 ]
			fi
		done
	done
}

# loaded STATUS ERR : the loader could start perf with so few files
loaded() {
	[ "$1" != 127 ] || ! grep -q "error while loading shared libraries: " "$2"
}

@test "with too few open files, a profile works, or one line names the limit" {
	local T=$BATS_TEST_TMPDIR nr form limit='too many open files: .*raise the limit with ulimit -n$' target stays
	local -A works=() forms
	background "$T/spin" "$WORKLOADS/spin" 1000000000000
	target=$!
	forms=(
		[system]='-a --timeout 20'
		[own]='-a --no-bpf --timeout 20'
		[command]="-- $WORKLOADS/spin 30000000"
		[process]="-p $target --timeout 20"
		[range]="--range spin:main -p $target --timeout 20"
		[cgroup]='-a --for-each-cgroup / --timeout 20'
	)
	start_run stays -a -e page-faults
	stays=$run_pid
	for nr in $(seq 3 7) 10 17 18 111 512; do
		for form in "${!forms[@]}"; do
			# It runs only while it is the target.
			case $form in process | range) kill -CONT "$target" ;; *) kill -STOP "$target" ;; esac
			# shellcheck disable=SC2086 # words
			with_files "$nr" timeout 60 perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 999 \
				-o "$T/profile" ${forms[$form]}
			loaded "$status" "$err" || continue
			echo "$form with $nr: status $status"
			cat "$err"
			# These lines are about names; the others are the reason why there is no profile.
			grep -v '^perf profile: functions of programs have no names: .*raise the limit with ulimit -n$' "$err" >"$T/reasons" || :
			if [ "$status" = 0 ]; then
				refute grep -i "$limit" "$T/reasons"
				perf profile report "$T/profile" >"$T/report"
				grep -q '%' "$T/report"
				works[$form]=1
			else
				[ "$status" = 1 ] || [[ $status = 22 && ${forms[$form]} = *"-p "* ]]
				[ "$(grep -cix "perf profile: .*$limit" "$T/reasons")" = 1 ]
				[ "$(wc -l <"$T/reasons")" = 1 ]
				[ ! -e "$T/profile" ]
			fi
			rm -f "$T/profile"
		done
	done
	[ "${#works[@]}" = 6 ]
	# Nobody else noticed.
	has_sessions 1
	end_run "$stays" INT 130
	is_silent "$T/stays.err"
}

@test "perf names a lock that the kernel refuses" {
	failing flock:error=ENOLCK perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -e cs true
	[ "$status" = 1 ]
	grep -q '^perf stat: .*No locks available' "$err"
}

@test "an event that cannot be enabled is not counted, and a line gives the reason" {
	failing ioctl:error=EIO perf stat -v -x, -a -C 0 -e page-faults true
	[ "$status" = 0 ]
	grep -q '^<not counted>,,page-faults,' "$err"
	grep -q "^perf stat: 'page-faults': 2 times it could not be read or switched (Input/output error): its counts may be wrong$" "$err"
}

@test "an event that cannot be read ends neither the session nor the command" {
	local nr
	# reads of others come first: those of the event are the last two, one an interval
	nr=$(strace -qq -e trace=read perf stat -v -I 100000 -x, -e page-faults true 2>&1 >/dev/null 3>&- | grep -c '^read(')
	failing "read:error=EIO:when=$nr" perf stat -v -I 100000 -x, -e page-faults sh -c 'exit 3'
	[ "$status" = 3 ]
	grep -q "^perf stat: 'page-faults': 1 times it could not be read or switched (Input/output error): its counts may be wrong$" "$err"
}

@test "a command that another process has reaped ends the session with a line" {
	failing wait4:error=ECHILD perf stat -x, -e page-faults true
	[ "$status" = 1 ]
	grep -q '^[0-9]*,,page-faults,' "$err"
	grep -q "^perf stat: cannot tell how 'true' ended: another process has waited for it$" "$err"
}

@test "perf names the kernel's BTF if it is empty or truncated" {
	local size
	err=$BATS_TEST_TMPDIR/err
	for size in 0 10 5000; do
		head -c "$size" /sys/kernel/btf/vmlinux >"$BATS_TEST_TMPDIR/btf"
		refute unshare -m sh -c 'mount --bind "$0" /sys/kernel/btf/vmlinux && exec "$@"' \
			"$BATS_TEST_TMPDIR/btf" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -e cs true 2>"$err" 3>&-
		grep -q "(the kernel's BTF, kernel/btf/vmlinux below /sys, is empty or cut off: mount sysfs there again)$" "$err"
	done
}

@test "perf names the option of the kernel if it has no BTF" {
	err=$BATS_TEST_TMPDIR/err
	refute unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' - \
		perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -e cs true 2>"$err" 3>&-
	grep -q '(this kernel has no BTF: it needs CONFIG_DEBUG_INFO_BTF)$' "$err"
}

@test "perf reports a lack of memory as such" {
	err=$BATS_TEST_TMPDIR/err
	refute bash -c 'ulimit -v 12000 && exec "$@"' - \
		perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -e cs true 2>"$err" 3>&-
	cat "$err"
	grep -q '^perf stat: cannot share events: .*\(Cannot allocate memory\|too little memory\)' "$err"
}

# with_memory KB COMMAND... : the same with so much address space
with_memory() {
	local kb=$1
	shift
	err=$BATS_TEST_TMPDIR/err status=0
	prlimit --as=$((kb * 1024)) timeout 60 "$@" >/dev/null 2>"$err" 3>&- || status=$?
}

@test "with any address space, a command works, or one line has the reason" {
	local kb least=4000 command
	local share="--bpf-counters --bpf-attr-map $ATTR_MAP"
	local -a commands=("bperf list --bpf-attr-map $ATTR_MAP" "stat -e page-faults true"
		"stat $share -a -e page-faults true" "stat $share -a -e page-faults --for-each-cgroup / true"
		"profile --bpf-attr-map $ATTR_MAP -a -e cpu-clock --timeout 20")
	# with less, the loader cannot start perf
	while with_memory $least perf version && [ "$status" = 127 ]; do
		least=$((least + 16))
	done
	for kb in $(seq $least 16 $((least + 112))) $(seq 5600 400 8000) 10000 12000 15600 24000 32000 64000; do
		for command in "${commands[@]}"; do
			with_memory "$kb" perf $command
			[ "$status" != 0 ] || continue
			echo "$command with $kb KB: status $status"
			cat "$err"
			# the second one while perf reads its options
			[ "$status" = 1 ] || [ "$status" = 129 ]
			grep -q '^perf[a-z ]*: .*\(out of memory\|Cannot allocate memory\|too little memory\)' "$err"
			[ "$(wc -l <"$err")" -le 2 ]
		done
	done
}

@test "a session with too little memory for the sums leaves those of others alone" {
	local T=$BATS_TEST_TMPDIR counted sessions=0 kb
	mkfifo "$T/go"
	background "$T/counted" bash -c "read -r <'$T/go'; exec $WORKLOADS/faults 3000"
	counted=$!
	start_run stays -e page-faults:u -p "$counted"
	# Up to the first limit with which a session shares events of tasks: one before has too little for the sums.
	for ((kb = 5000; kb < 50000; kb += 100)); do
		prlimit --as=$((kb * 1024)) perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/joins.csv" \
			-e page-faults:u -p "$counted" -- true >"$T/joins" 2>&1 3>&- && [ ! -s "$T/joins" ] && break
		# the kernel would end it where its stack could not grow
		[ $? -lt 128 ]
		grep -q 'too little memory to share events of tasks' "$T/joins" && sessions=$((sessions + 1))
	done
	[ "$sessions" -gt 0 ]
	begin_witness
	echo >"$T/go"
	wait "$run_pid"
	end_witness
	explained 3000 3200 pid "$counted" < <(awk -F, '/page-faults/ { print $1 }' "$T/stays.csv")
}

@test "an event that a security module forbids is named" {
	failing perf_event_open:error=EPERM perf stat -e cs true
	[ "$status" = 1 ]
	diff - "$err" <<-'END'
		Error:
		No supported events found.
		No permission to enable cs event.
		'cs': not permitted, although CAP_PERFMON is there: the kernel, a security module or a container's seccomp filter forbids this event
	END
}

@test "a recording that shrinks while perf reads it is refused" {
	local nr file=$BATS_TEST_TMPDIR/x
	# The header has the command's words: so records and header do not fit into one read.
	perf stat record -o "$file" -e page-faults true "$(printf %05000d 0)" >/dev/null 2>&1
	# the last read is that of the records
	strace -qq -o "$file.reads" -e trace=read perf stat report -i "$file" >/dev/null 2>&1 3>&-
	nr=$(wc -l <"$file.reads")
	failing "read:retval=0:when=$nr+" perf stat report -i "$file"
	[ "$status" = 255 ]
	diff - "$err" <<<"perf stat report: $file: at byte 256: cut off: a record should follow"
}

# calls NAME COMMAND... : print which of the command's calls of bpf() has this command first
calls() {
	local name=$1
	shift
	strace -qq -e trace=bpf -e signal=none "$@" 2>&1 >/dev/null 3>&- | grep -n "^bpf($name," | head -n 1 | cut -d: -f1
}

# fails_at CALL[+] LINE COMMAND... : the command fails in one line if its first call of bpf(CALL) does; with +, and
# all its later calls of bpf()
fails_at() {
	local call=${1%+} plus='' line=$2
	[ "$call" = "$1" ] || plus=+
	shift 2
	failing "bpf:error=EIO:when=$(calls "$call" "$@")$plus" "$@"
	[ "$status" = 1 ]
	diff - "$err" <<<"$line: Input/output error"
}

@test "each failure of perf bperf has one line" {
	local list="perf bperf list --bpf-attr-map $ATTR_MAP" prune="perf bperf prune --bpf-attr-map $ATTR_MAP" call
	background "$BATS_TEST_TMPDIR/run" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs -- "$WORKLOADS/waiter"
	wait_for has_text ready "$BATS_TEST_TMPDIR/run"
	for call in BPF_LINK_GET_FD_BY_ID BPF_PROG_GET_FD_BY_ID BPF_MAP_GET_FD_BY_ID; do
		# Both look without the lock first, and again with it.
		# shellcheck disable=SC2086 # words
		fails_at $call+ "perf bperf: cannot look for the leader" $list
		# shellcheck disable=SC2086 # words
		fails_at $call+ "perf bperf: cannot look for the leader" $prune
	done
	# The list first removes dead entries, if it can.
	# shellcheck disable=SC2086 # words
	fails_at BPF_MAP_LOOKUP_ELEM+ "perf bperf: cannot list what is shared" $list
	# shellcheck disable=SC2086 # words
	fails_at BPF_MAP_LOOKUP_ELEM "perf bperf: cannot prune $ATTR_MAP" $prune
	# shellcheck disable=SC2086 # words
	fails_at BPF_PROG_TEST_RUN "perf bperf: cannot list what is shared" $list
	# shellcheck disable=SC2086 # words
	failing bpf:error=EIO:when=2 $list
	diff - "$err" <<<"perf bperf: cannot share events: $ATTR_MAP is not a map (Input/output error)"
	# shellcheck disable=SC2086 # words
	failing flock:error=EIO $list
	[ "$status" = 1 ]
	diff - "$err" <<<"perf bperf: cannot lock ${ATTR_MAP}_lock: Input/output error"
	failing epoll_ctl:error=EIO perf bperf verify -e cs --time 1 --bpf-attr-map "$ATTR_MAP"
	[ "$status" = 1 ]
	diff - "$err" <<<"perf bperf: nothing can be compared: Input/output error"
}

@test "an event that cannot join the shared ones is named in one line" {
	local -a faults=(perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e page-faults true)
	background "$BATS_TEST_TMPDIR/run" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs -- "$WORKLOADS/waiter"
	wait_for has_text ready "$BATS_TEST_TMPDIR/run"
	fails_at BPF_MAP_UPDATE_ELEM "perf stat: cannot share 'page-faults'" "${faults[@]}"
	# the third lock is that of the new event
	failing flock:error=EIO:when=3 "${faults[@]}"
	[ "$status" = 1 ]
	diff - "$err" <<<"perf stat: cannot lock ${ATTR_MAP}_lock: Input/output error"
}
