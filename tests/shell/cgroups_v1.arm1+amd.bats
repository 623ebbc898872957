#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Counting by cgroup where the perf_event controller has a hierarchy of cgroup v1, beside one of v2
# without it.

load helpers
load shared
load cgroups

T=$BATS_TEST_TMPDIR

# begin_v1 : the hierarchy is mounted at $mount, with $top in it
begin_v1() {
	mkdir "$T/v1"
	# The last cgroups of v2 may be just going.
	wait_for mount_v1 || skip_or_fail "no cgroup v1 here"
	make_top
	[ "$mount" = "$T/v1" ]
}

mount_v1() {
	mount -t cgroup -o perf_event cgroup "$T/v1" 2>/dev/null
}

# is_back : v2 has the controller again, which others need. A hierarchy that is unmounted while a cgroup
# of it is just going stays, until it is mounted and unmounted again.
is_back() {
	! grep -q $'^perf_event\t0\t' /proc/cgroups || return 0
	! mount_v1 || umount "$T/v1" || :
	return 1
}

teardown() {
	mountpoint -q "$T/v1" || mount_v1
	remove_top
	! mountpoint -q "$T/v1" || umount "$T/v1"
	wait_for is_back
	end_jobs
	remove_map
}

@test "the v1 hierarchy's cgroups are counted, shared and plainly" {
	begin_v1
	mkdir -p "$top"/{a/b,c}
	perf stat --bpf-attr-map "$ATTR_MAP" -a -x, -o "$T/both" -e page-faults:u,page-faults:ub \
		--for-each-cgroup "$name/a,$name/a/b,$name/c,glob:$name/*" -- \
		bash -c "echo \$\$ >$top/a/b/cgroup.procs && exec $WORKLOADS/faults 700" 2>"$T/err" || :
	cat "$T/err" >&2
	is_silent "$T/err"
	local cgroup
	for cgroup in "$name/a" "$name/a/b"; do
		# The start of the program, and the shell's last steps, have less than 100.
		in_range "$(value page-faults:u "$cgroup" "$T/both")" 700 800
		[ "$(value page-faults:ub "$cgroup" "$T/both")" = "$(value page-faults:u "$cgroup" "$T/both")" ]
	done
	[ "$(value page-faults:ub "$name/c" "$T/both")" = 0.00 ]
	nothing_left
}

@test "cgroups of v1 that come and go are counted from their first switch on" {
	begin_v1
	start_run churn -a -e page-faults:u -I 100 --for-each-cgroup "glob:$name/w*,$name"
	"$WORKLOADS/cgroup_churn" 20 100 "$top"
	end_run "$run_pid" INT 130
	[ "$(value page-faults:u "$name" "$T/churn.csv" | cut -d. -f1)" -ge 200 ]
	add_up "$T/churn.csv" 20 '/w[0-9]+$' "$(value page-faults:u "$name" "$T/churn.csv")"
	nothing_left
}

@test "a hierarchy that is not mounted gives one line" {
	begin_v1
	umount "$T/v1"
	refused 22 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e page-faults \
		--for-each-cgroup "$name" true <<-EOF
	perf stat: cannot count by cgroup: the perf_event controller has a v1 hierarchy, which is not mounted (mount -t cgroup -o perf_event cgroup DIRECTORY)
	EOF
	[ ! -e "$ATTR_MAP" ]
}

@test "counts of a session with a part of v1 mounted reach one above, or it reports why not" {
	begin_v1
	mkdir -p "$top/a" "$T/part"
	start_run above -a -e page-faults:u --for-each-cgroup "$name"
	local status=0
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m bash -ec 'mount --bind "$1/a" "$2/part"
		umount "$2/v1"
		exec perf stat --bpf-counters --bpf-attr-map "$3" -a -x, -o "$2/out" -e page-faults:u --for-each-cgroup / -- \
			bash -c "echo \$\$ >$2/part/cgroup.procs && exec $4 700"' \
		bash "$top" "$T" "$ATTR_MAP" "$WORKLOADS/faults" 2>"$T/err" || status=$?
	cat "$T/err" "$T/out" >&2
	end_run "$run_pid" INT 130
	if [ $status = 0 ]; then
		[ "$(value page-faults:u / "$T/out" | cut -d. -f1)" -ge 700 ]
		[ "$(value page-faults:u "$name" "$T/above.csv" | cut -d. -f1)" -ge \
			"$(value page-faults:u / "$T/out" | cut -d. -f1)" ]
	else
		# Kernels whose iterator takes no descriptor of v1.
		grep -q 'is a part of cgroup v1' "$T/err"
	fi
	nothing_left
}
