#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Large files are read in time that grows with their size, not with its square. The limits below are of CPU
# time. A square exceeds them more than ten times over.

load helpers

@test "a configuration file of five million lines is read in linear time" {
	PERF_CONFIG=$BATS_TEST_TMPDIR/config
	{
		echo '[stat]'
		yes 'big-num = 1' | head -n 5000000
		echo 'no-csv-summary = true'
	} >"$PERF_CONFIG"
	(ulimit -t 10 && perf stat -x, --log-fd 4 -e duration_time true 4>"$BATS_TEST_TMPDIR/out")
	grep -q duration_time "$BATS_TEST_TMPDIR/out"
}

# objects TEXT COUNT : a JSON array of objects, each the text with a number from 1 to COUNT for each &
objects() {
	echo '['
	seq "$2" | sed "s/.*/$1,/; \$s/,\$//"
	echo ']'
}

@test "200,000 metrics of a file are read in linear time" {
	objects '{"MetricName":"m&","MetricExpr":"duration_time * &"}' 200000 >"$BATS_TEST_TMPDIR/metrics.json"
	(ulimit -t 10 && perf list --metrics-file "$BATS_TEST_TMPDIR/metrics.json" metric >"$BATS_TEST_TMPDIR/list")
	grep -q '^  m200000$' "$BATS_TEST_TMPDIR/list"
}

@test "30,000 events that refer to 30,000 standard events are read in linear time" {
	local dir=$BATS_TEST_TMPDIR/tree
	mkdir -p "$dir/mine"
	echo 'mine,v1,mine,core' >"$dir/mapfile.csv"
	objects '{"EventName":"std&","EventCode":"0x1"}' 30000 >"$dir/standard.json"
	objects '{"ArchStdEvent":"STD&"}' 30000 >"$dir/mine/core.json"
	(export PERF_CPUID=mine SYSFS_PATH=$PWD/tests/data/sysfs-x86
	ulimit -t 10 && perf list --metrics-file "$dir" >"$BATS_TEST_TMPDIR/list")
	grep -q '^  std30000$' "$BATS_TEST_TMPDIR/list"
}

@test "200,000 functions below one frame are compared in linear time" {
	seq 200000 | sed 's/.*/main;f& 1/' >"$BATS_TEST_TMPDIR/before"
	(ulimit -t 10 && perf profile --diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/before" >"$BATS_TEST_TMPDIR/diff")
	grep -q ' f200000$' "$BATS_TEST_TMPDIR/diff"
}
