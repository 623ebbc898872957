# SPDX-License-Identifier: GPL-2.0
# For tests of perf profile on this machine: cpu-clock needs no PMU.

load helpers

T=$BATS_TEST_TMPDIR

requirements() {
	require_root
	require_commands jq
	PATH=$WORKLOADS:$PATH
}

# profile OPTION... : sample cpu-clock through this test's map
profile() {
	perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock "$@"
}

# samples_or_ends PID : this session samples, or has ended
samples_or_ends() {
	grep -q poll "/proc/$1/wchan" || ! kill -0 "$1" || [ ! -e "/proc/$1/exe" ]
}
