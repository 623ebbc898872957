#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The layout of perf list.

load helpers

T=$BATS_TEST_TMPDIR

setup() {
	data=$BATS_TEST_DIRNAME/../data
	[ -d "$data/sysfs-x86" ] || skip "no made-up machines here"
	export SYSFS_PATH=$data/sysfs-x86 TRACEFS_PATH=$data/tracefs COLUMNS=60
	unset PERF_METRICS_PATH
	cat >"$T/events.json" <<-'EOF'
	[{"EventName": "my.one", "EventCode": "0x3c", "BriefDescription":
	  "Counts one thing after the other, until the line is longer than the terminal is wide",
	  "PublicDescription": "At length."},
	 {"EventName": "my.read", "EventCode": "0x3", "Unit": "iMC", "BriefDescription": "Reads."}]
	EOF
}

@test "topics are headings, and descriptions are wrapped and name the PMU" {
	perf list --metrics-file "$T/events.json" my. sw >"$T/out"
	grep -A 4 '^events:$' "$T/out" | diff -u - <(cat <<-EOF
	events:
	  my.one
	       [Counts one thing after the other, until the line is
	        longer than the terminal is wide]
	  my.read
	EOF
	)
	grep -qx '       \[Reads. Unit: uncore_imc.*\]' "$T/out"
	[ "$(grep -c '^software:$' "$T/out")" = 1 ]
	grep -A 1 '^$' "$T/out" | grep -qx 'software:'
	perf list tool | grep -qF '. Unit: tool]'
	perf list -v --metrics-file "$T/events.json" my.one | grep -qxF '       [At length.]'
	refute grep -q '\[Reads' <(perf list --no-desc --metrics-file "$T/events.json" my.read)
}

@test "vendors' events are listed by topic, after those of the kernel" {
	local dir=$T/topics
	mkdir "$dir"
	echo '[{"EventName": "z.one", "EventCode": "1"},
	  {"EventName": "a.two", "EventCode": "2", "Topic": "memory"},
	  {"EventName": "uncore.three", "EventCode": "3", "Unit": "iMC"},
	  {"EventName": "a.four", "EventCode": "4"}]' >"$dir/floating-point.json"
	echo '[{"EventName": "b.five", "EventCode": "5"}]' >"$dir/memory.json"
	perf list --metrics-file "$dir" pmu | sed -n '/^uncore_imc:/,/^raw:/p' >"$T/out"
	grep . "$T/out" | sed -E 's/^(  [^ ]*).*/\1/' | grep -v cas_count >"$T/names"
	diff -u - "$T/names" >&2 <<-EOF
	uncore_imc:
	  uncore_imc/clockticks/
	floating point:
	  a.four
	  z.one
	  uncore.three
	memory:
	  a.two
	  b.five
	raw:
	EOF
	perf list -j --metrics-file "$dir" a.two | jq -e '.[0].Topic == "memory"'
	perf list --metrics-file "$dir" 'floating point' | grep -q a.four
}

@test "the forms of raw events have the terms of each PMU with their ranges" {
	perf list pmu >"$T/out"
	sed -n '/^raw:$/,$p' "$T/out" >"$T/raw"
	grep -q '^  rNNN  *\[Raw event descriptor\]$' "$T/raw"
	grep -q '^  cpu/any,cmask=0..255,edge,\.\.\./modifier  *\[Raw event descriptor\]$' "$T/raw"
	grep -q '^  msr/event=0..0xffffffffffffffff/modifier ' "$T/raw"
	# one form for all instances of a PMU, unless all are asked for; all terms with --details
	[ "$(grep -c '^  uncore_imc' "$T/raw")" -le 1 ]
	perf list --details pmu | tr -d '\n' | tr -s ' ' | grep -q 'cpu/any,cmask=0..255,edge,.*umask=0..255.*/modifier'
	# they are no names
	refute grep -q modifier <(perf list --raw-dump pmu)
	refute grep -q modifier <(perf list -j pmu)
	perf list | grep -q '^  mem:<addr>\[/len\]\[:access\]  *\[Hardware breakpoint\]$'
}

@test "tracepoints are listed by subsystem, with the fields for filters" {
	mkdir -p "$T/tracefs/events/made/up"
	echo 4711 >"$T/tracefs/events/made/up/id"
	printf '%s\n' 'format:' '	field:unsigned short common_type;	offset:0;' '' \
		'	field:char comm[16];	offset:8;' '	field:__data_loc char[] name;	offset:24;' \
		'	field:pid_t pid;	offset:28;' >"$T/tracefs/events/made/up/format"
	TRACEFS_PATH=$T/tracefs perf list tracepoint >"$T/out"
	grep -A 1 -x made: "$T/out" | grep -q '^  made:up  *\[Tracepoint event\]$'
	TRACEFS_PATH=$T/tracefs perf list --details made:up >"$T/out"
	grep -qxF '       [filter: comm, name, pid]' "$T/out"
	grep -qxF '        tracepoint/config=0x1267/' "$T/out"
	mkdir -p "$T/tracefs/events/sdt_libc/setjmp"
	echo 4712 >"$T/tracefs/events/sdt_libc/setjmp/id"
	[ "$(TRACEFS_PATH=$T/tracefs perf list --raw-dump sdt)" = "sdt_libc:setjmp " ]
}

# nothing REASON WORD... : the words list nothing, and a line says why
nothing() {
	perf list "${@:2}" >"$T/out" 2>"$T/err"
	[ ! -s "$T/out" ]
	[ "$(<"$T/err")" = "perf list: $1" ]
}

@test "a line says that nothing matches, and why" {
	nothing "'frob': nothing matches" frob
	SYSFS_PATH=$data/sysfs-none nothing "'hw': nothing matches (this machine has no hardware PMU)" hw
	TRACEFS_PATH=/nowhere nothing "'frob*': nothing matches (no tracepoints: tracefs is not mounted)" 'frob*'
	mkdir -m 0 "$T/closed"
	[ -r "$T/closed" ] || TRACEFS_PATH=$T/closed nothing "'frob*': nothing matches (tracepoints are not readable: run as root)" 'frob*'
	# a machine without a PMU has tracepoints all the same
	SYSFS_PATH=$data/sysfs-none nothing "'nosuch:*': nothing matches" 'nosuch:*'
	nothing "'--details': nothing matches (options come before the words)" -- --details
	nothing "'nosuch': the PMU 'msr' has nothing like it" --unit msr nosuch
	perf list sdt 2>&1 | grep -q "^perf list: 'sdt': .*perf buildid-cache --add"
	# programs that read the list get no line
	[ -z "$(perf list --raw-dump frob 2>&1)" ]
	[ "$(perf list -j frob 2>&1 | jq -c .)" = "[]" ]
}

@test "bare names of libpfm4 are those that open here" {
	unset SYSFS_PATH TRACEFS_PATH
	perf version --build-options | grep -q 'libpfm4: \[ on' || skip_or_fail "built without libpfm4"
	require_perf_events
	local name nr=0
	for name in $(perf list --raw-dump pfm); do
		perf stat -x, --pfm-events "$name:u" true >"$T/out" 2>&1 || perf stat -x, --pfm-events "$name" true >"$T/out" 2>&1
		refute grep -q 'not supported' "$T/out"
		((nr += 1))
	done
	[ "$nr" -ge 5 ]
}

@test "deprecated events are listed with --deprecated only" {
	cat >"$T/old.json" <<-'EOF'
	[{"EventName": "my.old", "EventCode": "0x3c", "Deprecated": "1", "BriefDescription": "Use my.new."},
	 {"EventName": "my.new", "EventCode": "0x3d", "BriefDescription": "Counts."}]
	EOF
	perf list --metrics-file "$T/old.json" my. >"$T/out"
	grep -q '^  my\.new$' "$T/out"
	refute grep -q 'my\.old' "$T/out"
	perf list --deprecated --metrics-file "$T/old.json" my. >"$T/out"
	grep -q '^  my\.new$' "$T/out"
	grep -q '^  my\.old$' "$T/out"
	[ "$(perf list -j --deprecated --metrics-file "$T/old.json" my. | jq -r '.[] | select(.Deprecated == "1") | .EventName')" = my.old ]
}
