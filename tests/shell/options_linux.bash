# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2034,SC2154 # variables of tests, and those for eval
# Helpers that compare our output with that of Debian's perf 6.1, number by number. Load it after helpers and
# cgroups.
#
# All outputs become records "ROW KEY EVENT VALUE", tab-separated. The keys are those of JSON, so the same
# rules hold for text, CSV and JSON. They are value, unit, event, runtime, share, metric, metric-unit,
# variance, elapsed, and p1, p2... for all columns before the value.

# The fields of known columns count from the end of a row, because -I and aggregation add columns in front.
# 6.1 pads the first column.
records_csv() {
	awk -F, -v names="$EVENTS" '
	function is_event(name) { sub(/[:\/].*/, "", name); return name in known }
	function put(key, value) { printf "%d\t%s\t%s\t%s\n", NR, key, event, value }
	/^# started/ || !NF { next }
	{
		for (e = NF; e && !is_event($(e)); e--)
			;
		event = e ? $(e) : ""
		if (!e) {	# a heading, or columns of metrics only
			for (i = 1; i <= NF; i++)
				put("p" i, $(i))
			next
		}
		for (i = 1; i < e - 2; i++) {
			sub(/^ +/, "", $(i))
			put("p" i, $(i))
		}
		put("value", $(e - 2))
		put("unit", $(e - 1))
		put("event", event)
		for (i = e + 1; i < NF - 3; i++)
			put($(i) ~ /%$/ ? "variance" : "extra", $(i))
		put("runtime", $(NF - 3))
		put("share", $(NF - 2))
		put("metric", $(NF - 1))
		put("metric-unit", $(NF))
	}
	BEGIN { n = split(names, list, " "); for (i = 1; i <= n; i++) known[list[i]] = 1 }' "$1" |
		level_units
}

# 6.1 names counters otherwise, prints metrics as numbers, and those that do not exist as empty ones.
records_json() {
	jq -r 'input_line_number as $n | to_entries |
		map(if .key == "aggregate-number" then .key = "counters" else . end) | from_entries |
		if .["metric-unit"] | IN(null, "", "(null)") then del(.["metric-unit"], .["metric-value"]) else . end |
		.event as $event | to_entries[] | [$n, .key, $event // "", .value] | @tsv' "$1" |
		sed -E 's/\tcounter-value\t/\tvalue\t/; s/\tmetric-value\t/\tmetric\t/; s/\tevent-runtime\t/\truntime\t/' |
		sed -E 's/\tpcnt-running\t/\tshare\t/; s/\tinterval\t/\tp1\t/' | level_units
}

# 6.1 has other headings for intervals, and one before the totals of --summary.
records_std() {
	awk -v names="$EVENTS" '
	function is_event(name) { sub(/[:\/].*/, "", name); return name in known }
	function put(key, value) { printf "%d\t%s\t%s\t%s\n", NR, key, event, value }
	BEGIN { n = split(names, list, " "); for (i = 1; i <= n; i++) known[list[i]] = 1 }
	!NF || in_intervals && /^ Performance counter stats/ { next }
	/^# +time/ {
		in_intervals = 1
		sub(/ cpus /, " ctrs ")
		sub(/ CPU /, " cpu ")
	}
	/seconds (time elapsed|user|sys)/ {
		event = $NF
		put("elapsed", "seconds")
		next
	}
	{
		line = $0
		event = variance = metric = share = ""
		if (match(line, / \( \+-.*\)/)) { variance = substr(line, RSTART); line = substr(line, 1, RSTART - 1) }
		if (match(line, / \([0-9.]+%\)/)) { share = substr(line, RSTART); line = substr(line, 1, RSTART - 1) }
		if (match(line, / # /)) { metric = substr(line, RSTART + 3); line = substr(line, 1, RSTART - 1) }
		gsub(/<not counted>/, "<not-counted>", line)
		gsub(/<not supported>/, "<not-supported>", line)
		n = split(line, word, " ")
		for (e = n; e && !is_event(word[e]); e--)
			;
		event = e ? word[e] : ""
		v = e && word[e - 1] ~ /^[a-z]+$/ ? e - 2 : e - 1
		for (i = 1; i <= n; i++) {
			key = !e || i < v ? "p" i : i == v ? "value" : i < e ? "unit" : i == e ? "event" : "extra"
			put(key, word[i])
		}
		if (share) put("share", share)
		n = split(metric, word, " ")
		if (n) put("metric", word[1])
		for (i = 2; i <= n; i++)
			put("metric-unit", word[i])
	}' "$1" | level_units
}

# Rates as numbers per second: one around 1,000 can be K/sec in one program and /sec in the other.
level_units() {
	awk -F '\t' -v OFS='\t' '
	BEGIN { factor["/sec"] = 1; factor["K/sec"] = 1e3; factor["M/sec"] = 1e6; factor["G/sec"] = 1e9 }
	$2 == "metric" { row = $1; event = $3; metric = $4; next }
	metric != "" && $2 == "metric-unit" && $4 in factor { metric = sprintf("%.3f", metric * factor[$4]); $4 = "/sec" }
	metric != "" { print row, "metric", event, metric; metric = "" }
	{ print }
	END { if (metric != "") print row, "metric", event, metric }'
}

# differing FORMAT OURS THEIRS WINDOW : print the records that differ by more than counting in this window
# allows. Windows are those of tests/data/options. No output means the two programs print the same.
#
# Equal to the last digit: columns in front, units, names, shares, "<not counted>". In the windows cgroup, one-cpu
# and process, both programs count the same work, so counts and run times are also equal. Tolerances above 0:
#	clocks			as measured: see clock_slack
#	rates			counts by clocks: as much as the clocks, and 0.1 % for the last of three digits
#	CPUs utilized, interval, elapsed, variance
#	the times of --table	any number: each program has a start and an end of its own
#	page-faults of a command	20: programs and libraries begin at random addresses
#	all counts of "cpus"	any number: each program counts the other one, too
differing() {
	local format=$1 slack percent
	read -r slack percent < <(clock_slack "$4")
	join -t $'\t' -a 1 -a 2 -e '(none)' -o 0,1.2,1.3,2.3 \
		<("records_$format" "$2" | keyed) <("records_$format" "$3" | keyed) |
		awk -F '\t' -v format="$format" -v window="$4" -v slack="$slack" -v percent="$percent" '
		function is_number(x) { return x ~ /^ *-?[0-9]+(\.[0-9]+)?(e-[0-9]+)?%?$/ }
		function is_time(x) { return x ~ /^ *[0-9]+\.[0-9]+$/ }
		function is_time_of_run(a, b) { return a ~ /^\([+-][0-9.]+\)$/ && b ~ /^\([+-][0-9.]+\)$/ || a b ~ /^#+$/ }
		function near(most, most_percent) {
			d = ours > theirs ? ours - theirs : theirs - ours
			return d <= most + theirs * most_percent / 100
		}
		function same() {
			if ($3 == $4)
				return 1
			if (window == "command" && is_time_of_run($3, $4))
				return 1
			if (!is_number($3) || !is_number($4))
				return 0
			ours = $3 + 0
			theirs = $4 + 0
			if (key == "variance" || key == "p1" && is_time($3) && is_time($4))
				return 1
			if (key == "metric" && (utilized || window == "cpus" || window == "command"))
				return 1
			if (key == "metric")
				return near(0.001, percent + 0.1)
			if (key == "runtime")
				return window == "cpus" || window == "command"
			if (key != "value" || event ~ /^dummy/)
				return 0
			if (window == "cpus" || window == "command" && event !~ /faults/)
				return 1
			# and the last digit of either, of two behind the point, or of six in JSON
			if (event ~ /clock/)
				return near(slack + (format == "json" ? 0.000001 : 0.01), 0)
			return window == "command" && near(20, 0)
		}
		{
			split($1, part, "/")
			key = part[2]
			event = $2
			utilized = event ~ /clock/
			if (!same())
				print format, $1, event ": ours " $3 ", theirs " $4
		}'
}

# clocks FILE : print the clocks in the JSON of Debian's perf, in milliseconds, by their other columns
clocks() {
	jq -r 'select((.event // "" | test("clock")) and (.["counter-value"] | test("^[0-9.]+$"))) |
		[(del(.["counter-value", "event-runtime", "metric-value", "metric-unit", "interval"]) | tostring | gsub("\\s"; "_")),
		.["counter-value"]] | @tsv' "$1" | awk '{ print $1 "/" ++seen[$1] "\t" $2 }' | sort
}

# clock_slack WINDOW : print by how much clocks may differ: in milliseconds, and in percent of the clock. Each event
# starts and stops at its own moment of a switch, in passes over all events in the order in which they were opened. An
# interrupt can be in the middle of any pass. The sessions first and last were opened before and after all others.
# The witness surrounds both passes or is surrounded by them: a process's clock starts after those of its cgroup, and
# stops before them. Its clock differs from that of first or last by at least all starting passes, and from the
# other by at least all stopping ones. Two events of any place differ by at most the longer.
clock_slack() {
	case $1 in
	cgroup | one-cpu | process) ;;
	*) echo "0 0"; return ;;
	esac
	{ for name in witness first last; do clocks "$BATS_TEST_TMPDIR/$name"; done
	clocks "$BATS_TEST_TMPDIR/theirs.json"; } | awk -F '\t' '
		NR == 1 { witness = $2 }
		NR == 2 || NR == 3 { d = $2 > witness ? $2 - witness : witness - $2; most = d > most ? d : most }
		NR > 3 && $2 + 0 && (!low || $2 < low) { low = $2 }
		END { print most + 0, low ? 100 * most / low : 0 }'
}

# keyed : make a unique key ROW/KEY/N of each record, and sort by it. Rows of threads are known by the thread,
# because 6.1 sorts them by their counts.
keyed() {
	awk -F '\t' -v OFS='\t' '
	$1 != row { row = $1; nr++; id = sprintf("%04d", nr); split("", seen) }
	($2 == "thread" || $2 ~ /^p[12]$/) && $4 ~ /-[0-9]+$/ && $4 !~ /^S[0-9]/ { id = $4 " " $3 }
	{ print id "/" $2 "/" ++seen[id, $2], $3 == "" ? "-" : $3, $4 == "" ? "-" : $4 }' | sort -t $'\t' -k 1,1
}

declare -gA formats=([std]='' [csv]='-x,' [json]='-j')

# begin_roam [COMMAND...] : start the program whose work both programs count, in the cgroup $top, by a command
# that executes it. Its pid is $roam.
begin_roam() {
	make_top
	mkfifo "$BATS_TEST_TMPDIR"/{roam.in,begun,go}
	exec {roam_in}<>"$BATS_TEST_TMPDIR/roam.in" {begun}<>"$BATS_TEST_TMPDIR/begun" {go}<>"$BATS_TEST_TMPDIR/go"
	background "$BATS_TEST_TMPDIR/roam" bash -c "echo \$\$ >$top/cgroup.procs && exec $* $WORKLOADS/roam 500 <&$roam_in"
	roam=$!
	mkdir "$top/empty"
	rounds=0
	wait_for roam_sleeps ready 1
}

# roam_sleeps WORD N : it has printed the word N times, and none of its threads is on a CPU
roam_sleeps() {
	[ "$(grep -c "$1" "$BATS_TEST_TMPDIR/roam")" = "$2" ] || return 1
	local wchan
	for wchan in /proc/"$roam"/task/*/wchan; do
		[ "$(<"$wchan")" != 0 ] || return 1
	done
}

# both COMMAND... : run it at once for ours and Debian's perf, in each format of $chosen. The command
# gets the name of a session (ours.csv), the path of perf, and the option of the format.
both() {
	local format
	# shellcheck disable=SC2086 # none or one word
	for format in $chosen; do
		# clock_slack needs it
		[ "$format" != slack ] || { "$@" theirs.json "$DEBIAN_PERF" -j || return; continue; }
		"$@" "ours.$format" perf ${formats[$format]} || return
		"$@" "theirs.$format" "$DEBIAN_PERF" ${formats[$format]} || return
	done
}

# start_session NAME PERF [FORMAT] : start a session with $arguments. Its output goes to the file NAME.
start_session() {
	local name=$1 perf=$2 log
	shift 2
	exec {log}>"$BATS_TEST_TMPDIR/$name"
	background "$BATS_TEST_TMPDIR/$name.err" "$perf" stat --log-fd "$log" "$@" "${arguments[@]}"
	sessions+=($!)
	exec {log}>&-
}

# have_begun N : wait for as many sessions
have_begun() {
	local i
	for ((i = 0; i < $1; i++)); do
		read -r -t 20 -u "$begun" || { cat "$BATS_TEST_TMPDIR"/*.err >&2; return 1; }
	done
}

# witness NAME ARGUMENT... : start a session of Debian's perf that counts cpu-clock for what these arguments name
witness() {
	local name=$1
	shift
	local arguments=(-e cpu-clock "$@" "${waiting[@]}")
	start_session "$name" "$DEBIAN_PERF" -j && have_begun 1
}

of_process() { witness "$1" -p "$roam"; }
of_cgroup() { witness "$1" -a -G "$name"; }

# count_roam KIND OTHER : run sessions with $arguments, those of clock_slack of the same kind, and the witness of the
# other kind. roam works once while all of them count, and sleeps at their ends.
count_roam() {
	local sessions=() pid
	# Each session has a command that reports when counting has begun, and waits.
	local waiting=(-- bash -c "echo begun >&$begun && read -r -u $go")
	"of_$2" witness || return
	"of_$1" first || return
	arguments+=("${waiting[@]}")
	both start_session || return
	have_begun $((${#sessions[@]} - 2)) || return
	"of_$1" last || return
	echo work >&"$roam_in"
	wait_for roam_sleeps "done" $((++rounds)) || return
	for pid in "${sessions[@]}"; do echo end; done >&"$go"
	for pid in "${sessions[@]}"; do wait "$pid" || :; done
}

# count_command : run sessions with $arguments to their ends
count_command() {
	local sessions=() pid
	both start_session || return
	for pid in "${sessions[@]}"; do wait "$pid" || :; done
}

# all_differing WINDOW : print the records that differ, of all formats
all_differing() {
	local format
	for format in ${chosen% slack}; do
		[ -s "$BATS_TEST_TMPDIR/ours.$format" ] || [ -n "${may_be_empty:-}" ] || echo "$format: ours is empty"
		differing "$format" "$BATS_TEST_TMPDIR"/{ours,theirs}."$format" "$1"
	done
}

# rows_of WINDOW : print the rows of $table for this window: formats|arguments|verdict|reason. Without FULL=1, rows
# without differences have one format each, in turn.
rows_of() {
	awk -F '|' -v OFS='|' -v window="$1" -v full="${FULL:-}" '
	function chosen() {
		if (full || $4 != "same")
			return "std csv json"
		n++
		return (n % 3 == 0 ? "json" : (n % 3 == 1 ? "std" : "csv") (window ~ /^(cgroup|one-cpu|process)$/ ? " slack" : ""))
	}
	/^#/ || NF < 4 { next }
	split($2, w, ":") && w[1] == window { print w[2] ? w[2] : chosen(), $3, $4, $5 }' "$table"
}

# compare_rows WINDOW : run all rows of this window. Fail after the last one if any was not as the table has it.
compare_rows() {
	local chosen line verdict reason failed=0 differences=$BATS_TEST_TMPDIR/differences
	local counts=page-faults,context-switches,cpu-clock,dummy many="$WORKLOADS/faults 3000"
	local in_cgroup="--for-each-cgroup ${name:-}"
	while IFS='|' read -r chosen line verdict reason; do
		eval "arguments=($line)"
		"find_in_$1" "$1" >"$differences"
		! is_as "$verdict" "$differences" || continue
		failed=1
		echo "perf ... $line: not '$verdict':"
		head -n 40 "$differences"
	done < <(rows_of "$1") >&2
	return $failed
}

find_in_cgroup() { count_roam cgroup process && all_differing "$1"; }
find_in_one-cpu() { find_in_cgroup "$1"; }
find_in_process() { count_roam process cgroup && all_differing "$1"; }
find_in_cpus() { find_in_process "$1"; }
find_in_command() { count_command && all_differing "$1"; }

find_in_stdout() {
	# 6.1 does not end each line.
	diff <(echo "$(perf "${arguments[@]}" 2>/dev/null)") <(echo "$("$DEBIAN_PERF" "${arguments[@]}" 2>/dev/null)") || :
}

find_in_list() {
	diff <(perf list "${arguments[@]}" 2>/dev/null | names_and_kinds) \
		<("$DEBIAN_PERF" list "${arguments[@]}" 2>/dev/null | names_and_kinds) || :
}

# names_and_kinds : print the events of perf list, and the kind of each. 6.1 sorts them otherwise.
names_and_kinds() {
	sed -nE 's/^  ([^ ].*[^ ]) +(\[[^]]* event\])$/\1 \2/p' | sort
}

# is_as VERDICT FILE : the differences in the file are those that the verdict allows, and not none
is_as() {
	local keys=${1#differs }
	case $1 in
	same) [ ! -s "$2" ] ;;
	differs) [ -s "$2" ] ;;
	*) [ -s "$2" ] && ! grep -qvE "/(${keys//,/|})/" "$2" ;;
	esac
}

# status_of COMMAND... : print its exit status; what it prints goes to $BATS_TEST_TMPDIR/said
status_of() {
	local status=0
	timeout 20 "$@" >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- </dev/null || status=$?
	echo $status
}
EVENTS="page-faults context-switches cpu-clock task-clock cpu-migrations cs faults dummy sched mine software"
