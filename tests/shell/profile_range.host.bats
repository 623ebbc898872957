#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile --range: samples of functions, modules, files and addresses only.

load profile

# profile OPTION... : sample cpu-clock through this test's map
profile() {
	perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 2000 -j "$@"
}

# functions FILE : the sampled functions, sorted
functions() {
	jq -r '.sym // empty' "$1" | sort -u | xargs
}

# blend_forever : a running process with functions to sample; its number is in $blend_pid
blend_forever() {
	blend 100000000 &
	blend_pid=$!
	jobs_started+=("$blend_pid")
	wait_for grep -q "^blend$" "/proc/$blend_pid/comm"
}

@test "a command is sampled in the functions of its ranges only" {
	local way
	for way in --bpf --no-bpf; do
		profile $way --range blend_b --range blend::c -- blend 100000 >"$T/json"
		[ "$(functions "$T/json")" = "blend::c blend_b" ]
		jq -s -e 'map(select(.account)) | .[0].account.other.samples > 10' "$T/json"
		jq -s -e '.[] | select(.sym == "blend_b") | .overhead > 50' "$T/json"
	done
}

@test "names of C++ need no C++ library if perf was built with libiberty" {
	perf version --build-options | grep -q 'libiberty: \[ on' || skip_or_fail "built without libiberty"
	# shellcheck disable=SC2016	# the inner shell's
	unshare -m sh -c 'for library in $(ldconfig -p | sed -nE "s/.*(libstdc\+\+\.so\.6|libc\+\+abi\.so\.1) .*=> //p"); do
			mount --bind /dev/null "$library" || exit
		done
		exec "$@"' sh perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 2000 -j --range blend::c -- blend 100000 >"$T/json"
	[ "$(functions "$T/json")" = blend::c ]
}

@test "running processes have ranges by file, function and address" {
	local range start
	blend_forever
	start=$(awk '/r-xp.*\/blend$/ { print $1 }' "/proc/$blend_pid/maps")
	for range in blend "$WORKLOADS/blend" "$start"; do
		profile --range "$range" -s dso -p "$blend_pid" --timeout 300 >"$T/json"
		[ "$(jq -r '.dso // empty' "$T/json")" = blend ]
	done
	for range in blend_a blend:blend_a "$WORKLOADS/blend:blend_a"; do
		profile --range "$range" -p "$blend_pid" --timeout 300 >"$T/json"
		[ "$(functions "$T/json")" = blend_a ]
	done
	# All CPUs: the file is looked for in all processes.
	profile --range blend:blend_a -a --timeout 400 >"$T/json"
	[ "$(functions "$T/json")" = blend_a ]
	profile --no-bpf --range blend:blend_a -p "$blend_pid" --timeout 300 >"$T/json"
	[ "$(functions "$T/json")" = blend_a ]
}

@test "names of functions and files can have colons" {
	local range way
	gcc -O1 -o "$T/a:b" -x c - <<-EOF
	static volatile unsigned long sink;
	__attribute__((noinline)) void odd(void) __asm__("\"odd:name\"");
	__attribute__((noinline)) void odd(void) { for (int i = 0; i < 20000; i++) sink++; }
	__attribute__((noinline)) void even(void) { for (int i = 0; i < 20000; i++) sink++; }
	int main(void) { for (int i = 0; i < 10000; i++) { odd(); even(); } }
	EOF
	for range in odd:name a:b:odd:name; do
		for way in --bpf --no-bpf; do
			profile $way --range $range -- "$T/a:b" >"$T/json"
			[ "$(functions "$T/json")" = odd:name ]
		done
	done
	for range in a:b "$T/a:b"; do
		profile --range "$range" -- "$T/a:b" >"$T/json"
		[ "$(jq -r '.sym // empty' "$T/json" | grep -cxE 'even|odd:name')" = 2 ]
	done
	refused 22 profile --range odd:none -- "$T/a:b" <<<"\
perf profile: --range odd:none: nothing of this name in the kernel and in the program of the command (libraries are not mapped yet: use -p)"
}

@test "a range of the kernel has its functions" {
	# Reading zeros spends its time here.
	grep -q ' [tT] read_zero$' /proc/kallsyms || skip_or_fail "no function read_zero"
	profile --range read_zero -s dso,sym -g -- dd if=/dev/zero of=/dev/null bs=1M count=2000 >"$T/json"
	jq -s -e '[.[] | select(.overhead > 0)] | all(.sym == "read_zero")' "$T/json"
	profile --range 1000-2000 -- blend 20000 >"$T/json"
	[ -z "$(functions "$T/json")" ]
}

@test "sessions have ranges of their own, and a killed one leaves none" {
	local killed
	blend_forever
	background "$T/a" perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 2000 -j -I 200 --range blend_a -p "$blend_pid"
	killed=$!
	wait_for has_text '"sym": "blend_a"' "$T/a"
	profile --range blend_b -p "$blend_pid" --timeout 500 >"$T/json"
	[ "$(functions "$T/json")" = blend_b ]
	# Its samples go on while the other session comes and goes.
	lines=$(wc -l <"$T/a")
	wait_for eval '[ "$(wc -l <"$T/a")" -gt $((lines + 4)) ]'
	refute grep -q '"sym": "blend_[b-z]' "$T/a"
	kill -KILL $killed
	profile -p "$blend_pid" --timeout 500 >"$T/json"
	[[ $(functions "$T/json") == *blend_a*blend_b* ]]
}

@test "names that nothing has are refused before anything is sampled" {
	blend_forever
	refused 22 perf profile -e cpu-clock --range no_such -p "$blend_pid" <<<"perf profile: --range no_such: nothing of this name in the kernel and in the files of the target"
	refused 22 perf profile -e cpu-clock --range no_such -a <<<"perf profile: --range no_such: nothing of this name in the kernel, and no process has such a file (FILE:FUNCTION is a function of a program)"
	refused 22 perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock --range no_such -- touch "$T/run" <<<"perf profile: --range no_such: nothing of this name in the kernel and in the program of the command (libraries are not mapped yet: use -p)"
	refute test -e "$T/run"
	fails_with 129 "perf profile: --range: an empty name" perf profile --range=
	fails_with 129 "perf profile: --range 20-20: the end, which is not part of it, is not after the start" perf profile --range 20-20
}

@test "the status of a command with ranges is passed on" {
	local expected=0 status=0
	blend wrong 2>"$T/err" || expected=$?
	profile --range main -- blend wrong >"$T/json" 2>"$T/err" || status=$?
	[ $status = $expected ]
	refute test $status = 0
}

@test "a command with ranges gets the signals that come before its exec" {
	local status session child
	cp "$(command -v blend)" "$T/program"
	background "$T/lease" leased "$T/program"
	wait_for has_line ready "$T/lease"
	perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock --range main -- "$T/program" >"$T/out" 2>&1 3>&- &
	session=$!
	jobs_started+=("$session")
	wait_for has_line wanted "$T/lease"
	# The process that reads symbols is another child.
	child=$(grep -l "^TracerPid:[[:blank:]]*$session$" /proc/[0-9]*/status | grep -o '[0-9]*')
	# It stops and goes on, as without ranges.
	kill -STOP "$child"
	wait_for grep -q '^State:.*stop' "/proc/$child/status"
	kill -CONT "$child"
	wait_for grep -q '^State:.*sleep' "/proc/$child/status"
	kill -USR1 "$child"
	status=0
	wait "$session" || status=$?
	[ $status = 138 ]
}

@test "a command that a debugger traces cannot have ranges of its program" {
	refused 1 traced perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock --range main -- touch "$T/run" \
		<<<"perf profile: --range: cannot hold the command at its start: Operation not permitted (if a debugger traces perf, use -p)"
	refute test -e "$T/run"
	traced perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -- touch "$T/run" >/dev/null
	test -e "$T/run"
}
