#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A kernel that is too old for sharing, in an emulated machine of its own. make test-all runs this.

# The helpers change HOME, below which the kernels are kept.
export VM_CACHE=${VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/perf-vm}

load helpers

T=$BATS_TEST_TMPDIR
top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

requirements() {
	[ "${FULL:-}" ] || skip "only make test-all runs Linux 5.10"
	[ -f "$top/Makefile" ] || skip "no source tree here"
}

# in_old_machine COMMAND : run it on Linux 5.10, output to $T/out and $T/err
in_old_machine() {
	local status=0
	"$top/tests/vm/run" amd --kernel 5.10 --cmd "$1" >"$T/out" 2>"$T/err" 3>&- || status=$?
	[ $status != 75 ] || skip_or_fail "$(tail -n 1 "$T/err")"
	[ $status = 0 ] || { cat "$T/out" "$T/err" >&2; return 1; }
}

@test "on Linux 5.10, plain counting works, and sharing is refused in one line that names 6.1" {
	in_old_machine '
		uname -r
		perf stat -x, -o /tmp/plain -e task-clock true && cut -s -d , -f 3 /tmp/plain | grep .
		for options in "stat --bpf-counters -a -e cpu-clock" "stat --bpf-counters -e task-clock" \
			"stat --bpf-counters -a -e cpu-clock --for-each-cgroup /" "profile -a -e cpu-clock"; do
			perf $options -- echo started 2>&1
			echo "status $?"
		done
		/perf/workloads/leader_objects'
	[[ $(head -n 1 "$T/out") = 5.10.* ]]
	[ "$(sed -n 2p "$T/out")" = task-clock ]
	why="cannot share events: loading the BPF programs failed: Invalid argument (kernel too old, or without a BPF JIT: needs Linux 6.1 and net.core.bpf_jit_enable=1; -vv has the verifier's words)"
	diff -u - <(sed 1,2d "$T/out") <<-END
		perf stat: $why
		status 1
		perf stat: $why
		status 1
		perf stat: $why
		status 1
		perf profile: $why
		status 1
	END
}
