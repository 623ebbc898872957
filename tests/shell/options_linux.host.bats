#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Each option beside the same option of Debian's perf 6.1, by the table in tests/data/options.

load helpers
load cgroups
load options_linux

requirements() {
	require_root
	require_debian_perf
	require_tracepoints
	T=$BATS_TEST_TMPDIR arguments=()
	table=$BATS_TEST_DIRNAME/../data/options
}

teardown() {
	end_jobs
	remove_top
	remove_map
}

@test "a program in a cgroup: all formats have the numbers of Debian's perf" {
	begin_roam
	compare_rows cgroup
}

@test "a cgroup on one CPU of two: counts differ as the manual has it" {
	[ "$(nproc)" -gt 1 ] || skip_or_fail "needs two CPUs"
	begin_roam taskset -c 0
	compare_rows one-cpu
}

@test "a process and its threads: all formats have the numbers of Debian's perf" {
	begin_roam
	compare_rows process
}

@test "the whole machine: all formats have the columns of Debian's perf" {
	begin_roam
	compare_rows cpus
}

@test "commands: all formats have the numbers of Debian's perf" {
	compare_rows command
}

@test "Debian's perf and ours list the same names, and print the same paths and options" {
	compare_rows list
	compare_rows stdout
}

@test "files have the same lines as those of Debian's perf" {
	local perf format
	for perf in perf "$DEBIAN_PERF"; do
		for format in '' '-x,'; do
			# shellcheck disable=SC2086 # none or one word
			"$perf" stat $format -e dummy -o "$T/out$format" true
			# shellcheck disable=SC2086
			"$perf" stat $format --append -e dummy -o "$T/out$format" true
		done
		sed -E 's/started on .*/started/; s/[0-9]+\.[0-9]+ sec/N sec/; s/[0-9]+,100/N,100/; s/ +/ /g; s/ $//' \
			"$T/out" "$T/out-x," >"$T/${perf##*/}.$([ "$perf" = perf ] && echo ours || echo theirs)"
	done
	diff -u "$T"/*.theirs "$T"/*.ours >&2
}

@test "statuses are those of Debian's perf, or differ for a reason" {
	local line verdict reason ours theirs failed=0
	echo 'kill -TERM $$' >"$T/killed"
	while IFS='|' read -r _ line verdict reason; do
		eval "arguments=($line)"
		ours=$(status_of perf "${arguments[@]}")
		theirs=$(status_of "$DEBIAN_PERF" "${arguments[@]}")
		[ "$reason" != "new option" ] || grep -qE 'unknown (option|switch)' "$T/said" || theirs="known, $theirs"
		[ "$ours $theirs" != "$verdict" ] || continue
		echo "perf $line: $ours $theirs, not $verdict" >&2
		failed=1
	done < <(rows_of status)
	return $failed
}

# options_of COMMAND : print the long options that ours or Debian's has, and the letters in both helps
options_of() {
	local perf
	for perf in perf "$DEBIAN_PERF"; do
		"$perf" ${1:+"$1"} --list-opts 2>/dev/null || :
		[ -z "$1" ] || "$perf" "$1" -h 2>&1 | sed -nE 's/^    (-.), .*/\1/p'
	done | tr ' ' '\n' | grep . | sort -u
}

# rows_about COMMAND : print the options that rows of the table are about
rows_about() {
	awk -F '|' -v command="$1" '
	/^#/ || NF < 4 { next }
	{
		is = $2 == "list" ? "list" : "stat"
		if ($2 ~ /^(status|stdout)/) {
			is = $3
			sub(/ .*/, "", is)
			if (is != "stat" && is != "list")
				is = ""
		}
		if (is == command)
			print $1
	}' "$table" | tr ' ' '\n' | sort -u
}

@test "the table has each option of perf stat, perf list and perf, and no other" {
	diff -u <(options_of stat) <(rows_about stat) >&2
	diff -u <(options_of list) <(rows_about list) >&2
	diff -u <(options_of "") <(rows_about "") >&2
}

@test "each difference in the table has a reason, and the manual has it" {
	local options line verdict reason manual
	manual=$(sed -n '/^DIFFERENCES$/,/^EXAMPLES$/p' "$BATS_TEST_DIRNAME/../../Documentation/perf-stat.txt" | tr '\n' ' ')
	while IFS='|' read -r options _ line verdict reason; do
		case $verdict in
		same | "0 0" | "1 1" | "255 255" | "129 129") continue ;;
		esac
		case $reason in
		"new option" | "6.1: "?*) continue ;;
		esac
		[ -n "$reason" ] && [[ $manual = *"$reason"* ]] || { echo "$options $line: $reason" >&2; return 1; }
	done < <(grep -v '^#' "$table" | grep .)
}

# notices FORMAT LINE OLD/NEW... : a line is as itself, and differs with each of these changes
notices() {
	local format=$1 line=$2 change changed
	echo "$line" >"$T/line"
	[ -z "$(differing "$format" "$T/line" "$T/line" cgroup)" ]
	for change in "${@:3}"; do
		changed=${line/"${change%%/*}"/"${change#*/}"}
		[ -n "$(differing "$format" "$T/line" <(echo "$changed") cgroup)" ] ||
			{ echo "not noticed: $changed" >&2; return 1; }
	done
}

@test "the comparison notices each changed field" {
	notices csv 'CPU0,150,,page-faults,a,454475,100.00,322.153,K/sec' CPU0/CPU1 150/151 '150/<not counted>' ,,/,x, \
		page-faults/cs ,a,/,b, 454475/454476 100.00/99.00 322.153/422.153 322.153/ sec/s K/M 'CPU0,/'
	notices std 'CPU0      150 msec page-faults    a     #  322.153 K/sec  (90.00%)' CPU0/CPU1 150/151 \
		'150/<not counted>' msec/ page-faults/cs ' a/ b' 322.153/422.153 sec/s K/M 90/91
	notices json '{"cpu" : "0", "counter-value" : "150.000000", "unit" : "", "event" : "page-faults",
		"event-runtime" : 454475, "pcnt-running" : 100.00, "metric-value" : "322.153", "metric-unit" : "K/sec"}' \
		'"0"/"1"' 150./151. '150.000000/<not counted>' '""/"x"' page-faults/cs 454475/454476 100.00/99.00 \
		322.153/422.153 K/M cpu/core event-runtime/x
}
