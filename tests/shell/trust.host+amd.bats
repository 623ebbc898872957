#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sessions believe only files of root, their own user, or trusted users. A leader is found by its record in the
# lock directory, and a path leads to an attr map or is refused.

load helpers

nobody=65534
bpftool=/usr/sbin/bpftool

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	LOCK=${ATTR_MAP}_lock
	T=$BATS_TEST_TMPDIR
	jobs_started=()
	require_root
	require_commands bpftool jq setpriv
}

teardown() {
	end_jobs
	rm -rf "$ATTR_MAP" "$LOCK" "${ATTR_MAP}b" "${ATTR_MAP}b_lock" "${mine:-}"
}

# record : the path of the leader's record
record() {
	echo "$LOCK"/leader_*
}

# count OPTION... : a shared run says nothing. Not beside sessions that tests stop with the protocol's lock: it
# would name them.
count() {
	own_the_tasks
	timeout 300 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out" -e page-faults "$@" \
		"$WORKLOADS/faults" 700 2>"$T/err"
	diff /dev/null "$T/err"
}

# counts : one of all CPUs, which counts right
counts() {
	count -a
	at_least "$(field page-faults 1 "$T/out")" 700
}

# list : what perf bperf says at the end
list() {
	timeout 300 perf bperf list --bpf-attr-map "$ATTR_MAP" | tail -n 1
}

# begin OUT [MAP] : a run in the background, which counts context switches; its pid is $begun
begin() {
	background "$1" perf stat --bpf-counters --bpf-attr-map "${2:-$ATTR_MAP}" -a -x, -e cs -- \
		"$WORKLOADS/waiter"
	begun=$!
	wait_for has_text ready "$1"
}

# shares N : so many sessions share the one event of begin
shares() {
	local text="$1 sessions share"
	[ "$1" != 1 ] || text="1 session shares"
	[ "$(list)" = "$text $(nproc) perf events for 1 event" ]
}

# refuses LINE : both commands do, with that message
refuses() {
	refused 1 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: cannot share events: $1"
	refused 1 perf bperf list --bpf-attr-map "$ATTR_MAP" <<<"perf bperf: cannot share events: $1"
}

# numbers COUNT VALUE : bytes, as bpftool takes them
numbers() {
	printf "$2 %.0s" $(seq "$1")
}

# forge : a leader for this test's attr map, made with CAP_BPF and CAP_PERFMON; its link is $forged
forge() {
	# bats' own directories are root's alone
	mine=$(mktemp -d)
	chmod 755 "$mine"
	cp "$WORKLOADS/forge_leader" "$mine"
	background "$T/forged" setpriv --reuid $nobody --regid $nobody --clear-groups \
		--inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon "$mine/forge_leader" \
		"$($bpftool -j map show pinned "$ATTR_MAP" | jq .id)"
	wait_for has_text ready "$T/forged"
	forged=$(sed -n 's/^ready //p' "$T/forged")
}

@test "a leader forged with CAP_BPF and CAP_PERFMON is ignored" {
	counts
	forge
	[ "$(list)" = "no events are shared through $ATTR_MAP" ]
	[ "$(timeout 300 perf bperf prune --bpf-attr-map "$ATTR_MAP")" = "removed: 0 dead entries, 0 dead sessions" ]
	counts
	begin_witness
	count -i
	end_witness
	explained 700 100000000 comm faults < <(field page-faults 1 "$T/out")
	begin "$T/run"
	counts
	shares 1
}

@test "an entry of a forged leader with another layout does no harm" {
	counts
	forge
	# of context-switches; a map of differences is not needed
	# shellcheck disable=SC2046 # words
	$bpftool map update pinned "$ATTR_MAP" key 1 0 0 0 144 0 0 0 3 $(numbers 135 0) \
		value $((forged & 255)) $((forged >> 8 & 255)) $((forged >> 16 & 255)) $((forged >> 24)) 0 0 0 0
	timeout 300 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out" -a -e cs \
		"$WORKLOADS/faults" 700 2>"$T/err"
	at_least "$(field cs 1 "$T/out")" 1
	diff /dev/null "$T/err"
	list
}

@test "sessions find the leader through its record, and no leader without one" {
	begin "$T/a"
	begin "$T/b"
	shares 2
	[[ $(readlink "$(record)") = "attr-map="*" link="*" program="*" loaded="*" registry="* ]]
	[ "$(stat -c %a "$LOCK")" = 700 ]
	rm "$(record)"
	[ "$(list)" != "2 sessions share $(nproc) perf events for 1 event" ]
	counts
	end_run "$begun" INT 130
}

@test "a record with dead, foreign or invalid ids is replaced" {
	local good text
	begin "$T/a"
	good=$(readlink "$(record)")
	for text in "attr-map=1 link=2 program=3 loaded=4 registry=5" \
		"${good/loaded=/loaded=1}" "${good/link=/link=1}" "${good/registry=/registry=1}" \
		"${good/attr-map=/attr-map=1}" "$good " nonsense "$good$(numbers 900 1)"; do
		ln -sfn "$text" "$(record)"
		counts
		[ "$(readlink "$(record)")" != "$text" ]
	done
	# of the leader that still runs: this one is good
	ln -sfn "$good" "$(record)"
	shares 1
	counts
	[ "$(readlink "$(record)")" = "$good" ]
}

@test "a record of a leader whose registry is another of its maps is not joined, with a line" {
	local good other
	begin "$T/a"
	good=$(readlink "$(record)")
	other=$($bpftool -j prog show id "$(sed 's/.* program=\([0-9]*\) .*/\1/' <<<"$good")" |
		jq --argjson registry "${good##*=}" '[.map_ids[] | select(. != $registry)][0]')
	ln -sfn "${good%=*}=$other" "$(record)"
	perf bperf list --bpf-attr-map "$ATTR_MAP" >"$T/out" 2>"$T/err"
	diff - "$T/err" <<<"perf bperf: the leader that $LOCK names is not as this perf makes it: not joined"
	ln -sfn "$good" "$(record)"
	shares 1
}

@test "a record of another user is not believed, unless the user is trusted" {
	local good
	begin "$T/a"
	good=$(readlink "$(record)")
	chown -h $nobody "$(record)"
	shared -a -x, -o "$T/out" -e cs true 2>"$T/err"
	diff - "$T/err" <<-EOF
	perf stat: the leader that $LOCK names is another user's, who is not trusted: not joined (bperf.trusted-owners in /etc/perfconfig)
	EOF
	[ "$(readlink "$(record)")" != "$good" ]
	[ "$(stat -c %u "$(record)")" = 0 ]
	ln -sfn "$good" "$(record)"
	chown -h $nobody "$(record)"
	printf '[bperf]\n\ttrusted-owners = %s\n' $nobody >"$T/config"
	PERF_CONFIG=$T/config shares 1
}

@test "a leader that cannot be recorded is not used" {
	counts
	local name
	name=$(record)
	rm "$name"
	mkdir "$name"
	refused 1 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: cannot share events: cannot record the leader in $LOCK: Is a directory"
	rmdir "$name"
	[ ! -L "$LOCK"/leader_new ]
	counts
}

@test "a session that dies before recording its leader leaves nothing" {
	local step
	counts
	for step in leader-written leader-complete; do
		killed_at $step shared -a -e cs true
		counts
	done
}

@test "two pins of one attr map have two locks and two leaders, and both count" {
	local first second
	begin "$T/a"
	first=$begun
	$bpftool map pin pinned "$ATTR_MAP" "${ATTR_MAP}b"
	begin "$T/b" "${ATTR_MAP}b"
	second=$begun
	shares 1
	[ "$(perf bperf list -j --bpf-attr-map "${ATTR_MAP}b" | jq -c '[.runs[].pid]')" = "[$second]" ]
	# a record in the wrong directory is of no use
	rm "${ATTR_MAP}b_lock"/leader_*
	cp -P "$(record)" "${ATTR_MAP}b_lock"
	ATTR_MAP=${ATTR_MAP}b counts
	[ "$(perf bperf list -j --bpf-attr-map "$ATTR_MAP" | jq -c '[.runs[].pid]')" = "[$first]" ]
	end_run "$first" INT 130
	end_run "$second" INT 130
	at_least "$(field cs 1 "$T/a")" 1
	at_least "$(field cs 1 "$T/b")" 1
}

@test "another program's map keeps all its entries" {
	local i before
	$bpftool map create "$ATTR_MAP" type hash key 64 value 8 entries 2000 name stranger
	for i in 1 2 3; do
		# shellcheck disable=SC2046 # words
		$bpftool map update pinned "$ATTR_MAP" key $(numbers 64 $i) value $(numbers 8 $i)
	done
	before=$($bpftool -j map dump pinned "$ATTR_MAP" | jq -cS 'sort')
	refuses "$ATTR_MAP is not an attr map: its keys are not events (name another path with --bpf-attr-map)"
	refused 1 perf bperf prune --bpf-attr-map "$ATTR_MAP" \
		<<<"perf bperf: cannot share events: $ATTR_MAP is not an attr map: its keys are not events (name another path with --bpf-attr-map)"
	[ "$($bpftool -j map dump pinned "$ATTR_MAP" | jq -cS 'sort')" = "$before" ]
	[ ! -e "$LOCK" ]
}

@test "entries that are not events stay in the map" {
	begin "$T/a"
	# shellcheck disable=SC2046 # words
	$bpftool map update pinned "$ATTR_MAP" key $(numbers 144 7) value $(numbers 8 7)
	# an event's, of a link that is gone
	# shellcheck disable=SC2046 # words
	$bpftool map update pinned "$ATTR_MAP" key 1 0 0 0 144 0 0 0 4 $(numbers 135 0) value \
		255 255 255 119 1 0 0 0
	[ "$(entries)" = 3 ]
	[ "$(perf bperf prune --bpf-attr-map "$ATTR_MAP")" = "removed: 1 dead entries, 0 dead sessions" ]
	counts
	shares 1
	[ "$(entries)" = 2 ]
	end_run "$begun" INT 130
	[ "$(entries)" = 1 ]
	refuses "$ATTR_MAP is not an attr map: its keys are not events (name another path with --bpf-attr-map)"
}

@test "a symbolic link is not followed, to a map or to a lock" {
	$bpftool map create "${ATTR_MAP}b" type hash key 144 value 8 entries 4 name other
	ln -s "${ATTR_MAP}b" "$ATTR_MAP"
	refuses "$ATTR_MAP is a symbolic link, which perf does not follow, not an attr map"
	rm "$ATTR_MAP"
	[ ! -e "$LOCK" ]
	mkdir "${ATTR_MAP}b_lock"
	ln -s "${ATTR_MAP}b_lock" "$LOCK"
	refused 1 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: cannot share events: cannot open $LOCK: Not a directory"
	[ ! -e "$ATTR_MAP" ]
}

@test "a map or lock that others can write is refused" {
	local mode
	counts
	for mode in 720 702; do
		chmod $mode "$LOCK"
		refuses "$LOCK may be written by others than its owner (mode 0$mode): not trusted (chmod go-w $LOCK)"
	done
	chmod 700 "$LOCK"
	for mode in 620 602; do
		chmod $mode "$ATTR_MAP"
		refuses "$ATTR_MAP may be written by others than its owner (mode 0$mode): not trusted (chmod go-w $ATTR_MAP)"
	done
	chmod 644 "$ATTR_MAP"
	counts
}

# has_open PID PATH : it has that very directory open
has_open() {
	local fd inode
	inode=$(stat -c %d:%i "$2")
	for fd in /proc/"$1"/fd/*; do
		[ "$(stat -L -c %d:%i "$fd" 2>/dev/null)" != "$inode" ] || return 0
	done
	return 1
}

@test "removing a held lock directory does not allow a second holder" {
	local run
	mkdir "$LOCK"
	exec 8<"$LOCK"
	flock 8
	# A second is not enough for all below, on a busy machine.
	background "$T/run" env PERF_TEST_LOCK_MS=300000 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a \
		-e cs -- "$WORKLOADS/waiter" 8<&-
	run=$!
	wait_for has_open $run "$LOCK"
	rmdir "$LOCK"
	mkdir "$LOCK"
	exec 9<"$LOCK"
	flock 9
	exec 8<&-
	# It gets the first lock, and sees that this is not the lock any more.
	wait_for has_open $run "$LOCK"
	[ ! -e "$ATTR_MAP" ]
	exec 9<&-
	wait_for has_text ready "$T/run"
	[ -e "$ATTR_MAP" ]
	end_run $run INT 130
}

@test "a session goes on after its lock directory was replaced, and others get a new leader" {
	local run
	begin "$T/a"
	run=$begun
	rm -r "$LOCK"
	counts
	[ "$(list)" = "0 sessions share 0 perf events for 0 events" ]
	end_run "$run" INT 130
	at_least "$(field cs 1 "$T/a")" 1
	refute grep -q 'perf stat:' "$T/a"
	[ "$(entries)" = 0 ]
}

# begin_in_tasks OUT EVENT : a session that is stopped while it holds the lock of tasks; its pid is $begun
begin_in_tasks() {
	background "$1" env PERF_TEST_STOP_AT=scope-set-written perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" \
		-x, -e "$2" -- "$WORKLOADS/faults" 700
	begun=$!
	wait_for has_line "stopped at scope-set-written" "$1"
}

@test "removing a held lock of tasks does not allow a second holder, and both sessions count" {
	local first second
	begin_witness
	begin_in_tasks "$T/a" page-faults
	first=$begun
	# A script that removes empty directories leaves this one.
	refute rmdir "$LOCK/tasks"
	rm -r "$LOCK/tasks"
	begin_in_tasks "$T/b" minor-faults
	second=$begun
	[ "$(grep -c " WRITE \($first\|$second\) " /proc/locks)" = 2 ]
	# Each has a lock, and tables, of its own.
	wait_for continued "$first"
	wait_for continued "$second"
	cat "$T/a" "$T/b"
	end_witness
	# The start of the program has less than 100.
	explained 700 800 comm faults < <(field page-faults 1 "$T/a"; field minor-faults 1 "$T/b")
}

@test "a user with capabilities who is not root mounts no file system" {
	mine=$(mktemp -d)
	chmod 755 "$mine"
	cp "$(command -v perf)" "$mine"
	# shellcheck disable=SC2016 # the inner shell's
	refused 1 unshare -m --propagation private sh -ec '
		while mountpoint -q /sys/fs/bpf; do umount -l /sys/fs/bpf; done
		exec setpriv --reuid "$1" --regid "$1" --clear-groups --inh-caps=-all,+bpf,+perfmon,+sys_admin \
			--ambient-caps=-all,+bpf,+perfmon,+sys_admin "$2/perf" stat --bpf-counters -a -e cs true' \
		sh $nobody "$mine" <<-EOF
	perf stat: cannot share events: no BPF file system at /sys/fs/bpf, and perf mounts one as root only (as root: mount -t bpf bpf /sys/fs/bpf)
	EOF
}
