#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# "make bench" without its measurements: a PEER that it refuses, and the page that it prints.

load helpers

bench=$BATS_TEST_DIRNAME/../../scripts/bench

@test "bench fails if the peer does not exist" {
	refused 2 env PEER=/nowhere/perf "$bench" <<-EOT
		bench: PEER=/nowhere/perf: no such file
	EOT
}

# without_machine FILE : leave out the line of the commit and the machine, if a whole run printed it
without_machine() {
	sed -E '/^Measured at commit `[0-9a-f]{12}` of [0-9-]{10}, on Linux 6\.12\.[^ ]+, in QEMU [0-9.]+[0-9]\.$/{N;d}' "$1"
}

# Measured numbers of a table become N. They have one decimal or two, except the number of perf events.
without_numbers() {
	awk -F '|' -v OFS='|' '
		/^\|/ {
			for (i = 2; i < NF; i++) {
				gsub(/^ +| +$/, "", $i)
				if ($i ~ /^-?[0-9]+\.[0-9][0-9]?$/ || (NF == 9 && i == 5 && $i ~ /^[0-9]+$/)) $i = "N"
			}
		}
		{ print }' "$@"
}

# page : print what "make bench" prints, with a fixed number for each measurement
page() {
	# shellcheck source=scripts/costs
	. "$BATS_TEST_DIRNAME/../../scripts/costs"
	uname() { echo 6.12.0; }
	# shellcheck disable=SC2034
	COSTS_COMMIT="\`0123456789ab\` of 2026-11-23" COSTS_QEMU=1.2.3
	base_switch() { base=6196.3; }
	measure_switch() { added=0.0 events_shared=1; }
	measure_empty() { added=0.0; }
	measure_start() { cost=0.0 cost_ms=0.0; }
	measure_many() { cost=1.0 cost_ms=1.0; }
	all_of() { echo 800000; }
	pair_switch() { one_switch=0; }
	one_execution() { echo 1781.6; }
	start_counting() { [ "$1" = /dev/null ] || echo 1,,cycles,,,0 >"$1"; }
	sleep() { :; }
	perf() { :; }
	stop_all() { :; }
	cgroup_run() { :; }
	end_cgroup_run() { :; }
	make_cgroups() { :; }
	remove_cgroups() { :; }
	progs_load() { :; }
	measure_samples() { cost=1000.0; }
	measure_profiled_switch() { cost=0.0; }
	measure_profile() { cost=0.0 cost_ms=0.0; }
	measure_mapping() { cost=1000.0; }
	progs_stop() { :; }
	progs_unload() { :; }
	# shellcheck disable=SC2034
	costs_when=bench costs_by=(shared plain)
	print_parts tasks many cgroups progs samples memory
}

@test "Documentation/costs.md has the text and the rows that make bench prints" {
	(page) >"$BATS_TEST_TMPDIR/page"
	diff -u <(without_machine "$BATS_TEST_DIRNAME/../../Documentation/costs.md" | without_numbers) \
		<(without_machine "$BATS_TEST_TMPDIR/page" | without_numbers)
}
