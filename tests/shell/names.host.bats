#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Names of cgroups and of runs that share, as names.user.bats has those of threads and events.

load helpers
load shared
load cgroups

T=$BATS_TEST_TMPDIR
hostile=$'a,\e"\r\xff'		# the kernel takes anything but line breaks in a cgroup's name
plain='a,\033"\r\377'		# the same as it is printed

teardown() {
	remove_top
	end_jobs
	remove_map
}

@test "names of cgroups are escaped in table, CSV, JSON, --metric-only and perf.data" {
	make_top
	mkdir "$top/$hostile"
	local stat=(perf stat -a -e dummy,task-clock --for-each-cgroup "glob:$name/*")
	"${stat[@]}" sleep 0 2>"$T/out"
	is_plain "$T/out"
	grep -qF "$(printf '      %-32s %-16s%38s' dummy "$name/$plain" "")" "$T/out"
	"${stat[@]}" -x, sleep 0 2>"$T/out"
	is_plain "$T/out"
	[ "$(wc -l <"$T/out")" = 2 ]
	grep -qF ",,dummy,\"$name/a,\\033\"\"\\r\\377\"," "$T/out"
	"${stat[@]}" -j sleep 0 2>"$T/out"
	is_plain "$T/out"
	[ "$(jq -j 'select(.event == "dummy").cgroup' "$T/out")" = "$name/"$'a,\e"\r\xef\xbf\xbd' ]
	"${stat[@]}" --metric-only sleep 0 2>"$T/out"
	is_plain "$T/out"
	grep -qF " $name/$plain" "$T/out"
	"${stat[@]}" --metric-only -x, sleep 0 2>"$T/out"
	is_plain "$T/out"
	grep -q "^\"$name/a," "$T/out"
	perf stat record -o "$T/data" -a -e dummy --for-each-cgroup "glob:$name/*" sleep 0 2>/dev/null >&2
	perf stat report -i "$T/data" 2>"$T/out"
	is_plain "$T/out"
	grep -qF " $name/$plain" "$T/out"
}

@test "a missing cgroup gives one line" {
	perf stat -a -e dummy -G $'no\nperf stat: \e' true 2>"$T/out" || :
	is_plain "$T/out"
	grep -qF 'no\nperf stat: \033' "$T/out"
	refute grep -q '^perf stat: $' "$T/out"
}

@test "perf bperf escapes paths and the commands of sessions" {
	local perf=$T/$'p\n9 \e"'
	ln -s "$(command -v perf)" "$perf"
	background "$T/run" "$perf" stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cpu-clock sleep 100
	wait_for has_sessions 1
	perf bperf list --bpf-attr-map "$ATTR_MAP" >"$T/out"
	is_plain "$T/out"
	grep -qE "^$! +"'p\\n9 \\033" {8} +[0-9]' "$T/out"
	perf bperf list -j --bpf-attr-map "$ATTR_MAP" >"$T/out"
	is_plain "$T/out"
	[ "$(jq -j '.runs[0].command' "$T/out")" = $'p\n9 \e"' ]
	perf bperf list --bpf-attr-map $'/no\e\n' >"$T/out"
	[ "$(<"$T/out")" = 'no events are shared: there is no /no\033\n' ]
	perf bperf prune --bpf-attr-map $'/no\e\n' >"$T/out"
	[ "$(<"$T/out")" = 'nothing to remove: there is no /no\033\n' ]
}
