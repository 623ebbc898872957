#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Tests of the tests: restoring settings, and finding leftovers.

load helpers
load cgroups

T=$BATS_TEST_TMPDIR

requirements() {
	require_root
}

teardown() {
	remove_top
	end_jobs
}

# inner FILE : write the test file on standard input to FILE, with the helpers loaded. Its tests begin with TEST,
# because bats takes any line with @test for one of this file
inner() {
	{ echo "load $BATS_TEST_DIRNAME/helpers"; sed 's/^TEST/@test/'; } >"$1"
}

# fails COMMAND... : the command fails; its output is in $T/out
fails() {
	local status=0
	env -u TAP_DIR "$@" >"$T/out" 2>&1 3>&- || status=$?
	cat "$T/out" >&2
	[ $status = 1 ]
}

@test "a leftover pin fails its test file, and stays in its own BPF file system" {
	inner "$T/pins.host.bats" <<-'END'
		TEST "leaves a directory" {
			mkdir /sys/fs/bpf/perf_left_behind
		}
	END
	fails "$BATS_TEST_DIRNAME/../tap" "$T/pins.host.bats"
	grep -qx 'ok 1 leaves a directory' "$T/out"
	grep -qx '# left behind in /sys/fs/bpf: perf_left_behind ' "$T/out"
	[ ! -e /sys/fs/bpf/perf_left_behind ]
}

@test "a failed test restores its settings" {
	inner "$T/setting.host.bats" <<-END
		TEST "fails" {
			set_until_end $T/setting 2
			set_until_end $T/setting 3
			[ "\$(<$T/setting)" = 4 ]
		}
	END
	echo 1 >"$T/setting"
	fails bats --tap "$T/setting.host.bats"
	grep -qx 'not ok 1 fails' "$T/out"
	[ "$(<"$T/setting")" = 1 ]
}

@test "a process with the number of an ended job goes on" {
	unshare -p true || skip_or_fail "no pid namespaces here"
	[ -e /proc/sys/kernel/ns_last_pid ] || skip_or_fail "this kernel does not let us choose numbers"
	# Nobody else takes numbers there. The subshell is not their process 1, which gets all orphans.
	# shellcheck disable=SC2016 # the inner shell's
	unshare --fork --pid --mount-proc bash -ec '(
		. "$0/helpers.bash"
		background /dev/null true
		job=$!
		wait $job
		background /dev/null sleep 1000
		child=$!
		sh -c "echo $((job - 1)) >/proc/sys/kernel/ns_last_pid; setsid sleep 1000 & echo \$!" >"$1"
		[ "$(<"$1")" = $job ]
		end_jobs
		[ -d /proc/$job ]
		[ ! -d /proc/$child ])
		exit $?' "$BATS_TEST_DIRNAME" "$T/number"
}

@test "the tests take the same of several cgroup mounts as perf" {
	unshare -m true || skip_or_fail "no mount namespaces here"
	mkdir "$T/second"
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m --propagation private bash -ec '
		load() { . "$1.bash"; }
		. "$0/cgroups.bash"
		cgroup_mount
		mount -t cgroup2 cgroup2 "$1"
		cgroup_mount' "$BATS_TEST_DIRNAME" "$T/second" >"$T/mounts"
	cat "$T/mounts" >&2
	[ "$(sort -u "$T/mounts" | wc -l)" = 1 ]
	unshare -m --propagation private sh -c 'mount -t cgroup2 cgroup2 "$0" &&
		perf stat -a -e cs --for-each-cgroup none true' "$T/second" 2>"$T/err" || :
	grep -F "no access to cgroup $(head -n 1 "$T/mounts")/none" "$T/err"
}
