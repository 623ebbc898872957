#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What counting costs a BPF program, in instructions per execution, on the emulated machine arm1, where
# one instruction takes one nanosecond. Run as a program it prints the tables of Documentation/costs.md;
# the test costs_prog.arm1.bats sources it.
#
#	RUNS|EVENTS|CEILING|CEILING OF CYCLES	how many runs count how many events each; what they
#						may add, and how many cycles an empty program may show

# shellcheck source=tests/shell/ceilings.bash
. "$(dirname "${BASH_SOURCE[0]}")/ceilings.bash"

prog_rows=(
	"1|1|1150|520"
	"1|2|1890|-"
	"1|4|3370|1650"
	"1|8|6330|-"
	"10|1|1150|-"
	"10|4|3370|-"
	"64|1|1150|-"
)

# At most six can be hardware events: more would take turns.
prog_events=(cycles instructions cycles:u instructions:u page-faults minor-faults cycles:k instructions:k)

progs_map=/sys/fs/bpf/perf_costs_$$
progs_dir=/sys/fs/bpf/costs_progs_$$
progs_pids=()

progs_load() {
	mkdir "$progs_dir"
	/usr/sbin/bpftool prog loadall "$WORKLOADS/targets.bpf.o" "$progs_dir"
}

progs_stop() {
	[ ${#progs_pids[@]} -gt 0 ] || return 0
	kill -INT "${progs_pids[@]}" 2>/dev/null
	wait "${progs_pids[@]}" 2>/dev/null
	progs_pids=()
}

progs_unload() {
	progs_stop
	rm -rf "$progs_dir" "$progs_map"
	[ ! -d "${progs_map}_lock" ] || rmdir "${progs_map}_lock"
}

# What an execution of an empty program takes, with the system call that makes it; the least of three.
one_execution() {
	local n
	for n in 1 2 3; do
		chrt -r 1 "$WORKLOADS/progrun" -t "$progs_dir/target_empty" 2000
	done | sort -n | head -n 1
}

# start_counting FILE EVENTS : returns when it counts
start_counting() {
	local pid tries
	setsid env --default-signal=INT perf stat --bpf-attr-map "$progs_map" \
		-b "pinned:$progs_dir/target_empty" -x, -o "$1" -e "$2" 2>/dev/null 3>&- &
	pid=$!
	progs_pids+=($pid)
	for ((tries = 0; tries < 1000; tries++)); do
		! grep -q poll "/proc/$pid/wchan" 2>/dev/null || return 0
		sleep 0.02
	done
	return 1
}

# prog_row ROW BASE : prints the row; fails when it is above a ceiling
prog_row() {
	local runs events ceiling cycles_ceiling list n with cycles added out=/tmp/costs_prog.$$
	IFS='|' read -r runs events ceiling cycles_ceiling <<<"$1"
	list=$(IFS=,; echo "${prog_events[*]:0:events}")
	for ((n = 0; n < runs; n++)); do
		# The first one's numbers are looked at.
		start_counting "$([ $n = 0 ] && echo $out || echo /dev/null)" "$list" || {
			echo "run $n does not count"
			progs_stop
			return 1
		}
	done
	sleep 0.5
	with=$(one_execution)
	progs_stop
	cycles=$(awk -F, '$3 == "cycles" { printf "%.1f", $6 }' "$out")
	rm -f "$out"
	added=$(awk -v with="$with" -v base="$2" 'BEGIN { printf "%.1f", with - base }')
	printf '| %4d | %6d | %7.1f | %7d | %7.1f | %7s |\n' "$runs" "$events" "$added" "$ceiling" \
		"${cycles:-0}" "$cycles_ceiling"
	is_at_most "$added" "$ceiling" "${dearer[@]}" && is_at_most "$cycles" "$cycles_ceiling" "${dearer[@]}"
}

prog_table() {
	local row base failed=0
	progs_load || return 1
	sleep 1
	base=$(one_execution)
	echo "| runs | events |   added | ceiling |  cycles | ceiling |"
	echo "|---:|---:|---:|---:|---:|---:|"
	for row in "${prog_rows[@]}"; do
		prog_row "$row" "$base" || failed=1
	done
	echo
	echo "An execution without counting takes $base instructions, most of them the system call that makes it."
	progs_unload
	return $failed
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	trap progs_unload EXIT
	echo "## Instructions added to each execution of an empty BPF program, and the cycles it shows"
	echo
	prog_table
fi
