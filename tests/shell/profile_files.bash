# SPDX-License-Identifier: GPL-2.0
# Files of perf profile -o, for tests of cpu-clock, which needs no PMU.

load helpers
load shared

T=$BATS_TEST_TMPDIR

requirements() {
	require_root
	require_commands jq
	PATH=$WORKLOADS:$PATH
}

teardown() {
	end_jobs
	remove_map
}

# profile OPTION... : sample cpu-clock through this test's map
profile() {
	perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock "$@"
}

# theirs OPTION... : run Debian's perf, which has nothing to complain about
theirs() {
	"$DEBIAN_PERF" "$@" 2>"$T/complaints" || { cat "$T/complaints" >&2; return 1; }
	diff /dev/null "$T/complaints" >&2
}
