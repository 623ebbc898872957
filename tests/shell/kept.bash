# SPDX-License-Identifier: GPL-2.0
# Helpers for files of tests of shared counting whose tests are fast except for making a leader. A
# session that lasts as long as the file keeps one leader, and each test must leave its tables as they
# were. Load it instead of shared.

load shared

# setup_file : start the session that keeps the leader. Without root, the file's tests are skipped, so it
# does nothing.
setup_file() {
	[ "$EUID" = 0 ] || return 0
	local jobs_started=()
	export KEPT_MAP=/sys/fs/bpf/perf_test_$$_kept
	ATTR_MAP=$KEPT_MAP
	background "$BATS_FILE_TMPDIR/kept.err" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, \
		-o "$BATS_FILE_TMPDIR/kept.out" -e cs sleep infinity
	export KEPT_RUN=$!
	wait_for has_sessions 1
	wait_for polls "$KEPT_RUN"
	state >"$BATS_FILE_TMPDIR/state"
}

teardown_file() {
	[ -n "${KEPT_MAP:-}" ] || return 0
	ATTR_MAP=$KEPT_MAP
	kill -INT "$KEPT_RUN"
	clean "$BATS_FILE_TMPDIR/kept.err"
	KEPT_MAP=
	nothing_left
	remove_map
}
