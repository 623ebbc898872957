# SPDX-License-Identifier: GPL-2.0
# Helpers for tests with tests/foreign, another implementation of sharing. Load it after helpers.

FOREIGN=${WORKLOADS%/*}/foreign/foreign
FAULTS="1 2"		# type and config of page-faults

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	T=$BATS_TEST_TMPDIR
	jobs_started=()
}

# foreign NAME lead|follow ... : start it, $foreign_pid, and wait until it is ready
foreign() {
	local name=$1
	shift
	background "$T/$name" "$FOREIGN" "$1" "$ATTR_MAP" "${@:2}"
	foreign_pid=$!
	wait_for has_text ready "$T/$name"
}

# sums NAME : print a follower's last line: COUNTER ENABLED RUNNING
sums() {
	tail -n 1 "$T/$1"
}

# end PID... : end these processes by SIGTERM
end() {
	kill -TERM "$@"
	wait "$@" || :
}

# faults N : print the exact page faults of the workload
faults() {
	perf stat -x, -o "$T/faults.csv" -e page-faults "$WORKLOADS/faults" "$1"
	field page-faults 1 "$T/faults.csv"
}

# is_on_switch : any programs are attached to switches
is_on_switch() {
	/usr/sbin/bpftool -j link show | jq -e '.[] | select(.tp_name == "sched_switch")' >/dev/null
}

# no_registry : nothing is left of our leaders
no_registry() {
	refute /usr/sbin/bpftool map show name registry
}
