#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Recordings that a broken disk, another program or an attacker made: each is refused with the place and the
# reason. tests/fuzz/perf_data.c has all others; this file has one of each reason.

load helpers
load record

setup() {
	require_perf_events
	cd "$BATS_TEST_TMPDIR"
	jobs_started=()
	perf stat record -o x -e page-faults:u true >out 2>&1
	perf stat record -o - -e page-faults:u true >y 2>out
}

# put FILE BYTES VALUE OFFSET : write a number of so many bytes
put() {
	local i text=
	for ((i = 0; i < $2; i++)); do
		text+=$(printf '\\x%02x' $(($3 >> 8 * i & 255)))
	done
	printf "$text" | dd of="$1" bs=1 seek="$4" conv=notrunc status=none
}

# record_of FILE TYPE : print where the first record of this type begins
record_of() {
	local at words
	mapfile -t words < <(od -An -v -tu2 -w2 "$1" | tr -d ' ')
	at=16
	[ "$(u64 "$1" 8)" = 16 ] || at=$(u64 "$1" 40)
	while [ "${words[at / 2]}" != "$2" ]; do
		((at += words[at / 2 + 3]))
	done
	echo "$at"
}

# broken FILE BYTES VALUE OFFSET LINE : FILE is refused with this text after its name, if the number is there
broken() {
	cp "$1" b
	put b "$2" "$3" "$4"
	refused 255 perf stat report -i b <<<"perf stat report: b: $5"
}

# bad FILE TEXT OPTION... : FILE is refused with this text after the place
bad() {
	local file=$1 text=$2
	shift 2
	fails_with 255 "perf stat report: $file: at byte $(sed -n 's/.*: at byte \([0-9]*\): .*/\1/p' \
		<(perf stat report -i "$file" "$@" 2>&1)): $text" perf stat report -i "$file" "$@"
}

# doubled FILE N : print it 2^N times
doubled() {
	local i
	cp "$1" twice
	for ((i = 0; i < $2; i++)); do
		cat twice twice >more
		mv more twice
	done
	cat twice
}

@test "a report refuses headers that lead out of the file" {
	local attrs ids end version
	attrs=$(u64 x 24)
	ids=$((attrs + $(u64 x 16) - 16))
	end=$(($(u64 x 40) + $(u64 x 48)))
	broken x 8 5 8 "at byte 8: a header of neither a file nor a stream"
	broken x 8 8 16 "at byte 16: attrs of 8 bytes"
	broken x 8 4097 16 "at byte 16: attrs of 4097 bytes"
	broken x 8 99999999 24 "at byte 24: the attrs are not in the file"
	broken x 8 $(($(u64 x 32) + 1)) 32 "at byte 24: the attrs are not in the file"
	broken x 8 99999999 "$ids" "at byte $attrs: the ids of an event are not in the file"
	broken x 8 7 $((ids + 8)) "at byte $attrs: the ids of an event are not in the file"
	# the first feature is the host's name, the third is perf's version: their places, then the text
	broken x 8 99999999 "$end" "at byte $end: feature 3 is not in the file"
	version=$(u64 x $((end + 32)))
	broken x 4 99999999 "$version" "at byte $version: feature 5 of the header is not as it should be"
	head -c "$end" x >b
	refused 255 perf stat report -i b <<<"perf stat report: b: at byte $end: cut off: 16 bytes should follow"
	# 64 MB of ids
	cp x b
	truncate -s 65M b
	put b 8 $((64 * 1024 * 1024 + 8)) $((ids + 8))
	refused 255 perf stat report -i b <<<"perf stat report: b: at byte $attrs: more ids than can be"
	refused 255 sh -c 'cat x | perf stat report -i -' \
		<<<"perf stat report: stdin: at byte 0: this layout needs a file, not a pipe"
}

@test "a report refuses records that end too early" {
	local last
	last=$(record_of x 77)
	# The data end in a record's header. The only feature left is that of counts, without a section.
	cp x b
	put b 8 $((1 << 19)) 72
	put b 8 $((last + 4 - $(u64 x 40))) 48
	put b 8 0 $((last + 4))
	put b 8 0 $((last + 12))
	refused 255 perf stat report -i b <<<"perf stat report: b: at byte $last: cut off: 4 bytes of a record"
	head -c 24 y >b
	refused 255 perf stat report -i b <<<"perf stat report: b: at byte 16: cut off: 144 bytes should follow"
}

@test "a report refuses events that do not fit their records, and too many of them" {
	# the size in an attr, which follows its record's header
	broken y 4 63 28 "at byte 16: an attr that does not fit its record"
	broken y 4 200 28 "at byte 16: an attr that does not fit its record"
	broken y 4 127 28 "at byte 16: an attr that does not fit its record"
	# 65,536 attrs of 64 bytes, and one more
	head -c 88 y | tail -c 72 >attr
	put attr 2 72 6
	put attr 4 64 12
	{
		head -c 16 y
		doubled attr 16
		cat attr
	} >b
	refused 255 perf stat report -i b <<<"perf stat report: b: at byte $((16 + 72 * 65536)): more events than can be"
}

@test "a report refuses counts of CPUs and threads that were not counted" {
	local stat
	stat=$(record_of x 76)
	broken x 4 12345 "$(record_of x 75)" "at byte $(record_of x 77): nothing says yet how was counted (STAT_CONFIG)"
	broken x 4 9 $((stat + 20)) "at byte $stat: counts of 'page-faults:u' of thread 9 of 1"
	# the map of CPUs is a list of CPU 0, no longer of "any"
	put x 2 0 $(($(record_of x 74) + 12))
	broken x 4 77 $((stat + 16)) "at byte $stat: counts of 'page-faults:u' on CPU 77, where it was not counted"
}

@test "a report refuses tables that no memory should hold" {
	local map cpus
	map=$(record_of y 73)
	# 2,500 threads without names
	{
		printf 'I\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
		head -c 60000 /dev/zero
	} >threads
	put threads 2 60016 6
	put threads 8 2500 8
	{
		head -c "$map" y
		cat threads
		tail -c +$((map + 41)) y
	} >b
	# on CPUs 0 to 4,095
	cpus=$(record_of b 74)
	cp b c
	put c 4 2 $((cpus + 8))
	put c 2 0 $((cpus + 12))
	put c 2 4095 $((cpus + 14))
	bad c "more counters than can be: 10240000 of 1 events"
	# 1,024 more events, which the kernel refused
	head -c 152 y | tail -c 136 >attr
	put attr 2 136 6
	{
		head -c 160 b
		doubled attr 10
		tail -c +161 b
	} >c
	bad c "more rows than can be: 1025 events, 2500 threads" --per-thread
}

@test "a recording refuses what its format cannot hold, before the command runs" {
	local long
	long=$(printf 'x%.0s' {1..66000})
	fails_with 255 "perf stat: a name or the metrics asked for are too long to be recorded" \
		perf stat record -o z -e "page-faults/name=$long/u" touch ran
	[ ! -e z ]
	[ ! -e ran ]
}

@test "a report skips metrics that it does not know" {
	echo '[{"MetricName": "ours", "MetricExpr": "page\\-faults + 1"}]' >ours.json
	perf stat record -o z --metrics-file ours.json -M ours true >out 2>&1
	perf stat report -i z --metrics-file ours.json >out 2>&1
	grep -Eq '^ +[0-9]+ +page-faults.* # +[0-9.]+ +ours' out
	perf stat report -i z >out 2>&1
	grep -qxF "perf stat report: some recorded metrics are not available here: skipped" out
	grep -Eq '^ +[0-9]+ +page-faults' out
	refute grep -q 'ours$' out
}
