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
	# Debian's perf lists probes that this user has made in ~/.debug.
	export HOME=$T
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

# metric_values FORMAT FILE : print "NAME VALUE" of each metric, with NAME its last word, or its column's heading
metric_values() {
	case $1 in
	std) sed -nE 's/.* # +([0-9.]+) .* ([^ ]+) *$/\2 \1/p' "$2" ;;
	csv) awk -F, '$7 { n = split($7, word, " "); print word[n], $6 }' "$2" ;;
	json) jq -r 'select(.["metric-unit"]) | [(.["metric-unit"] | split(" ") | last), .["metric-value"]] | join(" ")' "$2" ;;
	std-only) awk '/^[ 0-9.]+$/ && NF == 4 { split("'"${names//,/ }"'", name, " "); for (i = 1; i <= 4; i++) print name[i], $i }' "$2" ;;
	csv-only) awk -F, 'NR == 1 { split($0, head) } NR == 2 { for (i = 1; i < NF; i++) { n = split(head[i], word, " "); print word[n], $i } }' "$2" ;;
	json-only) jq -r 'to_entries[] | [(.key | split(" ") | last), .value] | join(" ")' "$2" ;;
	esac
}

# metric_bounds : print "NAME LOW HIGH" of each metric of $names, from the counts of the Debian's sessions outer
# and inner. Their clocks and times are the bounds of those of any session between them.
metric_bounds() {
	jq -rs '
	def value(event): map(select(.event == event) | .["counter-value"] | tonumber)[0];
	.[0:5] as $outer | .[5:10] as $inner
	| [($outer, $inner) | value("task-clock") / 1000] as $clock
	| def rate(name; event): ($outer | value(event)) as $n
		| if $n != ($inner | value(event)) then error(event + ": different counts") else . end
		| "\(name) \($n / ($clock | max)) \($n / ($clock | min))";
	rate("cs_per_second"; "context-switches"), rate("page_faults_per_second"; "page-faults"),
	rate("migrations_per_second"; "cpu-migrations"),
	# 6.1 counts this time once for each thread
	def seconds: value("duration_time") / 1e9 / $threads;
	"CPUs_utilized \(($clock | min) / ($outer | seconds)) \(($clock | max) / ($inner | seconds))"
	' --argjson threads "$(ls "/proc/$roam/task" | wc -l)" "$T/outer" "$T/inner"
}

# end_sessions N GO PID... : release N sessions, and wait for them
end_sessions() {
	local i pid
	for ((i = 0; i < $1; i++)); do echo end; done >&"$2"
	for pid in "${@:3}"; do wait "$pid" || :; done
}

@test "-M and --metric-only have the values that the counts of Debian's perf give" {
	local events=task-clock,context-switches,page-faults,cpu-migrations,duration_time sessions=() format kind
	local names=CPUs_utilized,cs_per_second,page_faults_per_second,migrations_per_second
	begin_roam
	mkfifo "$T/inner.go" "$T/outer.go"
	exec {inner_go}<>"$T/inner.go" {outer_go}<>"$T/outer.go"
	arguments=(-p "$roam" -e "$events" -- bash -c "echo begun >&$begun && read -r -u $outer_go")
	start_session outer "$DEBIAN_PERF" -j
	have_begun 1
	arguments=(-p "$roam" -M "$names" -- bash -c "echo begun >&$begun && read -r -u $go")
	for format in std csv json; do
		# shellcheck disable=SC2086 # none or one word
		start_session "$format" perf ${formats[$format]}
		# shellcheck disable=SC2086
		start_session "$format-only" perf --metric-only ${formats[$format]}
	done
	have_begun 6
	arguments=(-p "$roam" -e "$events" -- bash -c "echo begun >&$begun && read -r -u $inner_go")
	start_session inner "$DEBIAN_PERF" -j
	have_begun 1
	echo work >&"$roam_in"
	wait_for roam_sleeps "done" $((++rounds))
	# The innermost session ends first. The others count nothing more, and their time goes on.
	end_sessions 1 "$inner_go" "${sessions[7]}"
	end_sessions 6 "$go" "${sessions[@]:1:6}"
	end_sessions 1 "$outer_go" "${sessions[0]}"
	metric_bounds | sort >"$T/bounds"
	cat "$T/bounds" >&2
	for kind in std csv json std-only csv-only json-only; do
		echo "$kind:" >&2
		metric_values $kind "$T/$kind" | sort | tee "$T/values" >&2
		# as exactly as they are printed: half of the last digit
		join "$T/bounds" "$T/values" | awk '
			{
				digits = length($4) - index($4, ".")
				half = 0.5 / 10 ^ digits
				if ($4 !~ /^[0-9]+\.[0-9]+$/ || $4 < $2 - half || $4 > $3 + half)
					exit 1
				nr++
			}
			END { exit nr != 4 }'
	done
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
	# Debian's loses the status of a command that ends before it waits for it.
	echo 'until grep -qE "do_wait|poll" "/proc/$PPID/wchan"; do :; done; exit 1' >"$T/fails"
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

@test "the comparison allows clocks as much as two of Debian's perf differ" {
	local line='{"counter-value" : "%s", "unit" : "msec", "event" : "cpu-clock", "event-runtime" : 1411547}\n' ours
	printf "$line" 1.350 | tee "$T/witness" >"$T/theirs.json"
	printf "$line" 1.352 >"$T/first"
	printf "$line" 1.351 >"$T/last"
	for ours in 1.350 1.352; do
		[ -z "$(differing json <(printf "$line" $ours) <(printf "$line" 1.351) process)" ]
		[ -z "$(differing json <(printf "$line" 1.352) <(printf "$line" 1.350) process)" ]
	done
	[ -n "$(differing json <(printf "$line" 1.3531) <(printf "$line" 1.351) process)" ]
	[ -n "$(differing json <(printf "$line" 1.3489) <(printf "$line" 1.351) process)" ]
	# rates: 0.15 % for the clocks, and 0.1 % for the digits
	line='{"counter-value" : "9.000", "unit" : "", "event" : "cs", "metric-value" : "%s", "metric-unit" : "/sec"}\n'
	[ -z "$(differing json <(printf "$line" 1002.4) <(printf "$line" 1000) process)" ]
	[ -n "$(differing json <(printf "$line" 1002.6) <(printf "$line" 1000) process)" ]
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
