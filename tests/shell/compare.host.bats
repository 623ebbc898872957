#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What we print beside what Debian's perf 6.1 prints, field by field, for software events. Where 6.1
# is known to be no reference (padding, names of two JSON members, headings), both are levelled.

load helpers

requirements() {
	require_root
	require_debian_perf
}

# Numbers that depend on the moment become N, rates of any size N of /sec; 'values' and identities
# such as CPU0 or S0-D0-C1 stay.
level_csv() {
	awk -F, -v OFS=, '
	/^#/ || !NF { next }
	{
		for (i = 1; i <= NF; i++) {
			gsub(/^ +/, "", $i)
			if ($i ~ /^[0-9]+\.?[0-9]*%?$/ && $i != "0" && $i != "100.00")
				$i = $i ~ /%$/ ? "N%" : "N"
			if ($i ~ /^[KMG]?\/sec$/)
				$i = "/sec"
		}
		# counts of a moment may be 0 as well; that of dummy is
		for (i = 1; i <= NF && $0 !~ /dummy/; i++)
			if ($i == "0" || $i == "0.000" || $i == "<not counted>")
				$i = "N"
		print
	}' "$1"
}

level_json() {
	jq -c 'with_entries(
		if .key == "aggregate-number" then .key = "counters" else . end |
		if .key == "metric-value" or .key == "event-runtime" or .key == "interval" or .key == "variance" then
			.value = "N" else . end) |
		if .["metric-unit"] | IN(null, "", "(null)") then del(.["metric-unit"], .["metric-value"]) else
			.["metric-unit"] |= sub("^[KMG]/"; "/") end |
		if .event == "dummy" then . else .["counter-value"] = "N" end' "$1"
}

level_std() {
	sed -E -e 's/ \( \+- *[0-9.]+% \)//' -e 's/<not counted>/0/' -e "s/'[^']*'/TARGET/" \
		-e 's/(^| )[0-9]+(\.[0-9]+)?/\1N/g' -e 's,[KMG]/sec,/sec,' -e 's/ +/ /g' -e 's/ $//' \
		-e '/^# time/s/ cpus/ ctrs/; /^# time/s/ CPU/ cpu/' "$1" |
		case " ${options[*]} " in
		*" --summary "*) sed '/^$/d; /^ Performance counter stats/d' ;;	# 6.1 heads the totals
		*) cat ;;
		esac
}

# compare OPTION... -- COMMAND... : both print the same in all formats
compare() {
	local format tries options=() ours=$BATS_TEST_TMPDIR/ours theirs=$BATS_TEST_TMPDIR/theirs
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	for format in csv json std; do
		local with=()
		case $format in csv) with=(-x,) ;; json) with=(-j) ;; esac
		perf stat "${options[@]}" "${with[@]}" --log-fd 4 "$@" 4>"$ours"
		# it may miss the end of what is short, and then has nothing to say
		for tries in {1..50}; do
			"$DEBIAN_PERF" stat "${options[@]}" "${with[@]}" --log-fd 4 "$@" 4>"$theirs"
			[ ! -s "$theirs" ] || grep -q '<not counted>' "$theirs" || break
		done
		diff -u <(level_$format "$theirs") <(level_$format "$ours") >&2 ||
			{ echo "$format of ${options[*]}" >&2; return 1; }
		[ -s "$ours" ]
	done
}

tasks=task-clock,context-switches,page-faults,cpu-migrations,dummy
cpus=cpu-clock,context-switches,page-faults,cpu-migrations,dummy

@test "Debian's perf and ours print the same for a command" {
	compare -e "$tasks" -- "$WORKLOADS/faults" 100
	compare -e cs,dummy:u,page-faults:k -- true
	# a clock may stand behind the events whose rates it gives
	compare -e page-faults,task-clock,dummy -- "$WORKLOADS/faults" 100
	compare -e '{page-faults,dummy},cs:u' -- true
	compare --no-big-num -e "$tasks" -- "$WORKLOADS/faults" 2000
	compare --all-user -e page-faults,dummy -- true
	compare -i -e "$tasks" -- sh -c 'true; true'
}

@test "Debian's perf and ours count the same faults" {
	local perf=perf ours theirs
	for perf in perf "$DEBIAN_PERF"; do
		"$perf" stat -x, -e minor-faults:u,dummy --log-fd 4 "$WORKLOADS/faults" 3000 4>"$BATS_TEST_TMPDIR/out"
		ours=${theirs:-}
		theirs=$(field minor-faults:u 1 "$BATS_TEST_TMPDIR/out")
	done
	in_range "$ours" 3000 3400
	# where a program and its stack begin is up to chance
	within "$ours" "$theirs" 1
}

@test "Debian's perf and ours print the same for CPUs, in every aggregation" {
	local mode
	for mode in -a '-C 0' '-a -A' '-a --per-core' '-a --per-die' '-a --per-socket' '-a --per-node' '-C 0 -A'; do
		# shellcheck disable=SC2086 # words
		compare $mode -e "$cpus" -- true
	done
}

@test "Debian's perf and ours print the same intervals, in every aggregation" {
	local mode
	for mode in -a '-a -A' '-a --per-core' '-a --per-die' '-a --per-socket' '-a --per-node'; do
		# shellcheck disable=SC2086 # words
		compare $mode -I 100000 -e "$cpus" -- true
	done
	compare -I 100000 -e "$tasks" -- true
	compare -I 100000 --summary -a -e "$cpus" -- true
}

@test "Debian's perf and ours print the same for a process and its threads" {
	"$WORKLOADS/spinfor" 1000 3>&- &
	local pid=$!
	jobs_started+=("$pid")
	compare -e "$tasks" -p $pid -- sleep 0.1
	compare --per-thread -e context-switches,page-faults,dummy -p $pid -- sleep 0.1
	compare --per-thread -I 100000 -e context-switches,page-faults,dummy -p $pid -- sleep 0.1
	compare -e "$tasks" -t $pid -- sleep 0.1
}

@test "Debian's perf and ours print the same for repeats" {
	compare -r 2 -e page-faults,dummy -- true
	perf stat -r 2 --table -e dummy --log-fd 4 true 4>"$BATS_TEST_TMPDIR/ours"
	"$DEBIAN_PERF" stat -r 2 --table -e dummy --log-fd 4 true 4>"$BATS_TEST_TMPDIR/theirs"
	# times have other digits there
	local level='s/[+-]?[0-9.]*[0-9]/N/g; s/ #+$//; s/ +/ /g; s/  *\( \+- *N%.*//; s/ $//'
	diff -u <(sed -E "$level" "$BATS_TEST_TMPDIR/theirs") <(sed -E "$level" "$BATS_TEST_TMPDIR/ours") >&2
}

@test "Debian's perf and ours print the same names, units and separators" {
	require_tracepoints
	local sep
	for sep in ';' '\t' '<->' ' '; do
		perf stat -x "$sep" -e task-clock,dummy --log-fd 4 true 4>"$BATS_TEST_TMPDIR/ours"
		"$DEBIAN_PERF" stat -x "$sep" -e task-clock,dummy --log-fd 4 true 4>"$BATS_TEST_TMPDIR/theirs"
		diff -u <(tr 0-9 N <"$BATS_TEST_TMPDIR/theirs" | tr -s N) <(tr 0-9 N <"$BATS_TEST_TMPDIR/ours" | tr -s N) >&2
	done
	compare -e 'faults:u,page-faults:k,1:9,cs/name=mine/,sched:sched_switch' -- true
	compare -e 'sched:sched_w*,sched:sched_process_?ork' -- true
}

@test "Debian's perf and ours write the same files" {
	local perf
	for perf in perf "$DEBIAN_PERF"; do
		for format in '' -x,; do
			rm -f "$BATS_TEST_TMPDIR/out"
			# shellcheck disable=SC2086 # none or one word
			"$perf" stat $format -e dummy -o "$BATS_TEST_TMPDIR/out" true
			# shellcheck disable=SC2086
			"$perf" stat $format --append -e dummy -o "$BATS_TEST_TMPDIR/out" true
			grep -c '^# started on' "$BATS_TEST_TMPDIR/out" || :
			level_std "$BATS_TEST_TMPDIR/out" | grep -v started | tr -d N0-9. | sed 's/,*$//'
		done >"$BATS_TEST_TMPDIR/${perf##*/}.$([ "$perf" = perf ] && echo ours || echo theirs)"
	done
	diff -u "$BATS_TEST_TMPDIR"/*.theirs "$BATS_TEST_TMPDIR"/*.ours >&2
}

@test "statuses differ from Debian's where the manual says, and nowhere else" {
	local ours theirs command got
	printf 'kill -TERM $$\n' >"$BATS_TEST_TMPDIR/killed"
	# ours, Debian's, command line: see DIFFERENCES in perf-stat(1)
	while read -r ours theirs command; do
		for perf in perf "$DEBIAN_PERF"; do
			got=0
			# shellcheck disable=SC2086 # words
			timeout 300 "$perf" $command >/dev/null 2>&1 3>&- </dev/null || got=$?
			[ "$got" = "$([ "$perf" = perf ] && echo "$ours" || echo "$theirs")" ] || {
				echo "$perf $command: status $got" >&2
				return 1
			}
		done
	done <<-EOF
	0 0 stat -e cs true
	1 1 stat -e cs false
	22 234 stat -I 1000 --timeout 100 -e cs true
	22 234 stat -r -1 true
	22 234 stat -p 1,999999999 -e cs true
	22 234 stat -e cs --metric-only -r 2 true
	22 234 stat --per-core -e cs true
	22 234 stat --log-fd 99 -e cs true
	22 0 stat -x, -j -e cs true
	1 255 stat -e cs $BATS_TEST_TMPDIR/nosuch
	1 255 stat -e cs -o $BATS_TEST_TMPDIR/no/such true
	143 0 stat -e cs sh $BATS_TEST_TMPDIR/killed
	1 0 stat --pre false -e cs true
	2 0 stat -M nosuch true
	255 255 stat record -o $BATS_TEST_TMPDIR/no/such -e cs true
	255 255 stat report -i $BATS_TEST_TMPDIR/nosuch
	129 129 stat --nosuch
	129 129 stat -h
	129 129 stat -e nosuch_event true
	EOF
}
