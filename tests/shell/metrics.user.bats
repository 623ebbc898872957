#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# -M, and the files that define metrics and events.

load helpers

# A file with metrics of software events; what they are made of is exact or can be compared.
setup() {
	require_perf_events
	metrics=$BATS_TEST_TMPDIR/metrics.json
	cat >"$metrics" <<-'EOF'
	[
		{ "MetricName": "answer", "MetricExpr": "42 + 0 * page\\-faults", "MetricGroup": "Test" },
		{ "MetricName": "half", "MetricExpr": "page\\-faults / (2 * page\\-faults)",
		  "ScaleUnit": "100%", "MetricGroup": "Test", "MetricThreshold": "half > 0.4" },
		{ "MetricName": "sum", "MetricExpr": "answer + half", "BriefDescription": "of two" },
		{ "MetricName": "none", "MetricExpr": "page\\-faults / dummy" },
		{ "MetricName": "nowhere", "MetricExpr": "no_such_event / 2" }
	]
	EOF
	export PERF_METRICS_PATH=$metrics
}

@test "metrics of the shipped files are listed and counted" {
	unset PERF_METRICS_PATH
	local name
	for name in IPC CPI branch_miss_rate cache_miss_rate dtlb_miss_rate l1d_misses_per_kilo_instructions \
		frontend_bound cycles_frequency CPU_utilization cs_per_second page_faults_per_second; do
		perf list --raw-dump metrics | tr ' ' '\n' | grep -qx "$name"
	done
	perf stat -M cs_per_second,page_faults_per_second --all-user -x, --log-fd 4 true 4>"$BATS_TEST_TMPDIR/out"
	grep -Eq '^[0-9]+,,page-faults,[0-9]+,100.00,[0-9.]+,faults/sec  page_faults_per_second$' "$BATS_TEST_TMPDIR/out"
	grep -Eq ',context-switches,.*,cs/sec  cs_per_second$' "$BATS_TEST_TMPDIR/out"
}

@test "-M works in every output format" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -M answer:u,half:u --log-fd 4 true 4>"$out"
	grep -Eq '^ +[0-9]+      page-faults                      #    42.00 answer:u {18}$' "$out"
	grep -Eq '^ {57}#     50.0 %  half:u {17}$' "$out"
	perf stat -M answer:u,half:u -x, --log-fd 4 true 4>"$out"
	grep -Eq '^[0-9]+,,page-faults,[0-9]+,100.00,42.00,answer:u$' "$out"
	grep -qx ',,,,,50.0,%  half:u' "$out"
	perf stat -M answer:u,half:u,none:u -j --log-fd 4 true 4>"$out"
	jq -es '.[0]."metric-value" == "42.000000" and .[0]."metric-unit" == "answer:u" and
		(map(select(."metric-unit" == "%  half:u")) | .[0]."metric-threshold" == "bad") and
		(map(select(."metric-unit" == "none:u")) | .[0]."metric-value" == "nan")' "$out"
	perf stat -M answer:u,half:u,none:u --metric-only -x, --log-fd 4 true 4>"$out"
	diff -u - "$out" <<-EOF
	answer:u,%  half:u,none:u,
	42.00,50.0,,
	EOF
	perf stat -M answer:u,none:u --metric-only -j --log-fd 4 true 4>"$out"
	[ "$(<"$out")" = '{"answer:u" : "42.00", "none:u" : "none"}' ]
	perf stat -M answer:u --metric-only --log-fd 4 true 4>"$out"
	sed -n '4,5p' "$out" | diff -u - <(printf '%20s \n%20s\n' answer:u 42.00)
}

@test "-e comes first, and -M repeats nothing that was named twice" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -M answer:u,ANSWER:u -M half:u -e dummy:u,page-faults:u -x, --log-fd 4 true 4>"$out"
	[ "$(cut -d, -f3,7 "$out" | tr '\n' ' ')" = "dummy:u, page-faults:u, page-faults,answer:u ,%  half:u " ]
}

@test "-M counts groups and metrics of metrics; a group leaves out unknown ones" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -M Test:u -x, --log-fd 4 true 4>"$out"
	[ "$(cut -d, -f7 "$out" | tr '\n' ' ')" = "answer:u %  half:u " ]
	perf stat -M sum:u -x, --log-fd 4 true 4>"$out"
	grep -q ',42.50,sum:u$' "$out"
	perf stat -M No_group:u -x, --log-fd 4 true 4>"$out"
	grep -q ',42.50,sum:u$' "$out"
	refute grep -q nowhere "$out"
}

@test "literals, has_event and strcmp_cpuid_str evaluate properties of this machine" {
	local out=$BATS_TEST_TMPDIR/out
	cat >"$metrics" <<-'EOF'
	[
		{ "MetricName": "cpus", "MetricExpr": "#num_cpus_online + 0 * dummy" },
		{ "MetricName": "tasks", "MetricExpr": "(3 if #target_cpu else 4) + 0 * dummy" },
		{ "MetricName": "known", "MetricExpr": "has_event(page\\-faults) + 2 * has_event(no_such_event) + 0 * dummy" },
		{ "MetricName": "cpu", "MetricExpr": "strcmp_cpuid_str(made\\-up) + 2 * strcmp_cpuid_str(other) + 0 * dummy" },
		{ "MetricName": "nothing", "MetricExpr": "#no_such_literal + 0 * dummy" }
	]
	EOF
	PERF_CPUID=made-up perf stat -M cpus:u,tasks:u,known:u,cpu:u,nothing:u --metric-only -x, --log-fd 4 true 4>"$out"
	[ "$(tail -n 1 "$out")" = "$(getconf _NPROCESSORS_ONLN).00,4.00,1.00,1.00,," ]
}

@test "a metric without events of tasks has the same #target_cpu for its events and its value" {
	require_perf_events cpu
	echo '[ { "MetricName": "wide", "MetricExpr": "(0 * context\\-switches + 3 if #target_cpu else 4) + 0 * duration_time" } ]' \
		>"$metrics"
	perf stat -M wide -x, --log-fd 4 true 4>"$BATS_TEST_TMPDIR/out"
	grep -q ',3.00,wide$' "$BATS_TEST_TMPDIR/out"
}

@test "metrics made of metrics made of metrics are computed once" {
	local i
	# 40 levels, each referring to the three above: 10^10 paths
	{
		echo '[ { "MetricName": "m0", "MetricExpr": "1 + 0 * dummy" }, { "MetricName": "m1", "MetricExpr": "m0" },
			{ "MetricName": "m2", "MetricExpr": "m1 + m0" }'
		for ((i = 3; i < 40; i++)); do
			echo ", { \"MetricName\": \"m$i\", \"MetricExpr\": \"m$((i - 1)) + m$((i - 2)) + m$((i - 3))\",
				\"MetricThreshold\": \"m$i > m$((i - 1))\" }"
		done
		echo ']'
	} >"$metrics"
	(
		ulimit -t 5
		perf stat -M m39:u -j --log-fd 4 true 4>"$BATS_TEST_TMPDIR/out"
	)
	jq -e 'select(."metric-unit" == "m39:u") | ."metric-value" == "12960201916.000000" and ."metric-threshold" == "bad"' \
		"$BATS_TEST_TMPDIR/out"
}

@test "chains of metrics that are too long are refused" {
	local i
	{
		echo '[ { "MetricName": "m0", "MetricExpr": "dummy" }'
		for ((i = 1; i < 3000; i++)); do
			echo ", { \"MetricName\": \"m$i\", \"MetricExpr\": \"m$((i - 1)) + 1\" }"
		done
		echo ']'
	} >"$metrics"
	perf stat -M m255:u -x, --log-fd 4 true 4>"$BATS_TEST_TMPDIR/out"
	grep -q ',255.00,m255:u$' "$BATS_TEST_TMPDIR/out"
	refused 1 perf stat -M m2999 true \
		<<<"perf stat: metric 'm2999' is made of metrics made of metrics: 256 levels at most"
}

@test "-I computes metrics for each interval" {
	perf stat -I 100000 -M answer:u -x, --log-fd 4 true 4>"$BATS_TEST_TMPDIR/out"
	[[ $(<"$BATS_TEST_TMPDIR/out") =~ ^[0-9]+\.[0-9]{9},[0-9]+,,page-faults,[0-9]+,100\.00,42\.00,answer:u$ ]]
}

@test "a file without an end is left out, and takes a bounded part of the memory" {
	(ulimit -v 2000000; perf stat --metrics-file /dev/zero -x, --log-fd 4 -e page-faults:u true) \
		2>"$BATS_TEST_TMPDIR/err" 4>"$BATS_TEST_TMPDIR/out"
	diff - "$BATS_TEST_TMPDIR/err" <<<"perf stat: /dev/zero: File too large: the file is left out"
	grep -qE '^[0-9]+,,page-faults:u,' "$BATS_TEST_TMPDIR/out"
}

@test "--metrics-file wins over PERF_METRICS_PATH, and that over shipped files" {
	local file=$BATS_TEST_TMPDIR/other.json
	echo '[ { "MetricName": "answer", "MetricExpr": "43 + 0 * page\\-faults" },
		{ "MetricName": "IPC", "MetricExpr": "44 + 0 * page\\-faults" } ]' >"$file"
	perf stat --metrics-file "$file" -M answer:u,IPC:u,half:u -x, --log-fd 4 true 4>"$BATS_TEST_TMPDIR/out"
	[ "$(cut -d, -f6 "$BATS_TEST_TMPDIR/out" | tr '\n' ' ')" = "43.00 44.00 50.0 " ]
	perf list --metrics-file "$file" metric | grep -qx '  half'
}

@test "-e counts events that a file defines" {
	local dir=$BATS_TEST_TMPDIR/vendor
	mkdir -p "$dir/this" "$dir/that"
	# whatever the CPU: a name from sysfs or mapfile does not matter to the software PMU
	printf 'Family-model,Version,Filename,EventType\nthis-1,v1,this,core\nthat-1,v1,that,core\n' >"$dir/mapfile.csv"
	echo '[ { "EventName": "MY.FAULTS", "ConfigCode": "2", "Unit": "software", "BriefDescription": "of this" } ]' \
		>"$dir/this/events.json"
	echo '[ { "EventName": "MY.OTHERS", "ConfigCode": "2", "Unit": "software" } ]' >"$dir/that/events.json"
	PERF_CPUID=this-1 perf stat --metrics-file "$dir" -e my.faults:u,page-faults:u -x, --log-fd 4 true 4>"$BATS_TEST_TMPDIR/out"
	[ "$(cut -d, -f1 "$BATS_TEST_TMPDIR/out" | sort -u | wc -l)" = 1 ]
	PERF_CPUID=that-1 fails_with 129 "event syntax error: 'my.faults'" \
		perf stat --metrics-file "$dir" -e my.faults true
}

@test "--topdown and related options count the CPU's own groups, as does the default set" {
	local out=$BATS_TEST_TMPDIR/out option
	cat >"$metrics" <<-'EOF'
	[
		{ "MetricName": "tma_a", "MetricExpr": "page\\-faults / (2 * page\\-faults)", "ScaleUnit": "100%",
		  "MetricGroup": "Default;TopdownL1", "DefaultMetricgroupName": "TopdownL1" },
		{ "MetricName": "tma_b", "MetricExpr": "tma_a / 2", "MetricGroup": "TopdownL2" },
		{ "MetricName": "of_two", "MetricExpr": "2 + 0 * page\\-faults", "MetricGroup": "Default2" }
	]
	EOF
	perf stat --all-user --topdown -x, --log-fd 4 true 4>"$out"
	[ "$(head -n 1 "$out")" = "%  tma_a," ]
	perf stat --all-user --topdown --td-level 0 -x, --log-fd 4 true 4>"$out"
	[ "$(tail -n 1 "$out")" = "0.25," ]
	perf stat --all-user --topdown --no-metric-only -x, --log-fd 4 true 4>"$out"
	grep -Eq '^[0-9]+,,page-faults,[0-9]+,100.00,50.0,%  tma_a$' "$out"
	perf stat --all-user -d -x, --log-fd 4 true 4>"$out"
	grep -Eq '^,[0-9]+,100.00,,,,TopdownL1$' "$out"
	grep -qx ',,,,,50.0,%  tma_a' "$out"
	grep -Eq ',page-faults,[0-9]+,100.00,2.00,of_two$' "$out"
	perf stat --all-user -x, --log-fd 4 true 4>"$out"
	refute grep -q of_two "$out"
	export PERF_METRICS_PATH=
	export PERF_CPUID=none
	for option in "--topdown:TopdownL1" "--smi-cost:smi" "-T:transaction"; do
		refused 22 perf stat "${option%:*}" true <<-EOF
		perf stat: ${option%:*}: no metric for this CPU is in the group ${option#*:} (see perf list metricgroups; --metrics-file takes a vendor's)
		EOF
	done
	refused 22 perf stat --td-level 7 true <<<"perf stat: --td-level: at most 6"
	refused 22 perf stat --td-level 12 --topdown true <<<"perf stat: --td-level: at most 6"
}

@test "rows that a default metric gets leave the list of events as it was" {
	local out=$BATS_TEST_TMPDIR/out line
	cat >"$metrics" <<-'EOF'
	[ { "MetricName": "of_two", "MetricExpr": "2 + 0 * page\\-faults", "MetricGroup": "Default2" } ]
	EOF
	mkfifo "$BATS_TEST_TMPDIR/ctl" "$BATS_TEST_TMPDIR/ack"
	exec 5<>"$BATS_TEST_TMPDIR/ctl" 6<>"$BATS_TEST_TMPDIR/ack"
	# a command with faults in each interval
	background "$out" perf stat --all-user -d -I 1000 -D -1 -x, --control fd:5,6 -- \
		sh -c 'echo ready; while :; do "$0"; done' "$(command -v true)"
	local perf=$!
	wait_for has_text ready "$out"
	for word in evlist enable; do
		echo "$word" >&5
		read -r -t 20 line <&6
		[ "$line" = ack ]
	done
	wait_for grep -q ',of_two$' "$out"
	for word in disable evlist stop; do
		echo "$word" >&5
		read -r -t 20 line <&6
		[ "$line" = ack ]
	done
	exec 5>&- 6>&-
	wait $perf || :
	# the two answers to evlist, one behind the other
	grep -v -e , -e '^ready' -e Terminated "$out" >"$BATS_TEST_TMPDIR/names"
	grep -q '^page-faults$' "$BATS_TEST_TMPDIR/names"
	local half=$(($(wc -l <"$BATS_TEST_TMPDIR/names") / 2))
	tail -n +$((half + 1)) "$BATS_TEST_TMPDIR/names" | diff -u <(head -n $half "$BATS_TEST_TMPDIR/names") -
}

@test "a bad metric costs itself, not the others of -M" {
	cat >"$metrics" <<-'EOF'
	[
		{ "MetricName": "answer", "MetricExpr": "42 + 0 * page\\-faults" },
		{ "MetricName": "broken", "MetricExpr": "page\\-faults = 3" },
		{ "MetricName": "nowhere", "MetricExpr": "no_such_event / 2", "MetricGroup": "Lost" },
		{ "MetricName": "escaped", "MetricExpr": "software@page\\-faults\\,name=mine@ / 1e99" }
	]
	EOF
	perf stat -M broken,answer:u,nowhere,escaped:u -x, --log-fd 4 true 4>"$BATS_TEST_TMPDIR/out" \
		2>"$BATS_TEST_TMPDIR/err" 3>&-
	diff -u - "$BATS_TEST_TMPDIR/err" <<-'EOF'
	perf stat: metric 'broken': expected an operator at column 14 of 'page\-faults = 3'
	perf stat: Cannot resolve IDs for nowhere: no_such_event / 2 (event 'no_such_event' is not known here)
	EOF
	[ "$(cut -d, -f6,7 "$BATS_TEST_TMPDIR/out" | tr '\n' ' ')" = "42.00,answer:u 0.00,escaped:u " ]
	refused 1 perf stat -M Lost true <<<"perf stat: -M Lost: no metric of it can be counted here (-v: why)"
}

@test "impossible metrics are refused" {
	refused 2 perf stat -M nosuch true <<-EOF
	Cannot find metric or group \`nosuch'
	Run 'perf list metrics' for a list of them
	EOF
	refused 2 perf stat -M anser true <<-EOF
	Cannot find metric or group \`anser'
	Did you mean 'answer'?
	Run 'perf list metrics' for a list of them
	EOF
	refused 1 perf stat -M nowhere true <<-EOF
	perf stat: Cannot resolve IDs for nowhere: no_such_event / 2 (event 'no_such_event' is not known here)
	EOF
	refused 22 perf stat -M answer --no-metrics true <<<"perf stat: -M and --no-metrics are mutually exclusive"
	fails_with 129 "perf stat: --metrics-file must come before the -e it applies to" \
		perf stat -e cs --metrics-file "$metrics" true
	fails_with 129 "perf stat: cannot read definitions from '/nonexistent': No such file or directory" \
		perf stat --metrics-file /nonexistent true
	echo '{' >"$metrics"
	perf stat -M page_faults_per_second --all-user -x, --log-fd 4 true 4>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&-
	cat "$BATS_TEST_TMPDIR/err"
	[[ $(<"$BATS_TEST_TMPDIR/err") = "perf stat: $metrics:2:1: invalid JSON: "*": the file is left out" ]]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" = 1 ]
	grep -q faults/sec "$BATS_TEST_TMPDIR/out"
	# what nobody asks a file for is no reason not to look
	unset PERF_METRICS_PATH
	refused 0 perf stat --metrics-file "$metrics" -e dummy:u -o "$BATS_TEST_TMPDIR/out" true \
		<"$BATS_TEST_TMPDIR/err"
	echo '[] ]' >"$metrics"
	refused 0 perf stat --metrics-file "$metrics" -e dummy:u -o "$BATS_TEST_TMPDIR/out" true <<-EOF
	perf stat: $metrics:1:4: invalid JSON: more behind its end: the file is left out
	EOF
	echo '{ "Things": [] }' >"$metrics"
	refused 0 perf stat --metrics-file "$metrics" --all-user -M page_faults_per_second -e page-faults -o "$BATS_TEST_TMPDIR/out" true <<-EOF
	perf stat: $metrics: neither an array nor "Events" or "Metrics": the file is left out
	EOF
}

@test "a metric that is constant here is printed in a row with the time" {
	printf '[{"MetricName":"answer","MetricExpr":"2 * 21 if 1 else page\\\\-faults","MetricGroup":"Known"}]' \
		>"$BATS_TEST_TMPDIR/constant.json"
	export PERF_METRICS_PATH=$BATS_TEST_TMPDIR/constant.json
	perf stat -x, -M answer -o "$BATS_TEST_TMPDIR/out" true
	cat "$BATS_TEST_TMPDIR/out"
	[ "$(field duration_time 6 "$BATS_TEST_TMPDIR/out"),$(field duration_time 7 "$BATS_TEST_TMPDIR/out")" = 42.00,answer ]
	perf stat -j -M Known,page_faults_per_second -o "$BATS_TEST_TMPDIR/out" true
	grep -q '"metric-value" : "42.000000", "metric-unit" : "answer"' "$BATS_TEST_TMPDIR/out"
}
