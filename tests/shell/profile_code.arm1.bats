#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile --annotate on arm64: entries through which a file calls others, and code of a JIT compiler.

load helpers

T=$BATS_TEST_TMPDIR
TRACEFS=/sys/kernel/tracing
PROBE=perf_code/probe

requirements() {
	require_root
	PATH=$WORKLOADS:$PATH
	publish
	imitate_objdump
}

teardown() {
	end_jobs
	remove_map
	[ ! -e /sys/module/brd ] || rmmod brd
	[ ! -e "$TRACEFS/events/$PROBE" ] || { echo 0 >"$TRACEFS/events/$PROBE/enable"; echo "-:$PROBE" >>"$TRACEFS/kprobe_events"; }
	[ -z "${public-}" ] || rm -r "$public"
}

# imitate_objdump : an objdump that prints the words of the code in place of instructions: this machine has none
imitate_objdump() {
	cat >"$public/objdump" <<-'EOF'
		#!/bin/bash
		file=${!#}
		number() { printf %u "$(od -An -v -t u8 -j "$1" -N 8 "$file")"; }
		section=$(($(number 40) + 64))
		address=$(number $((section + 16)))
		od -An -v -t x4 -w4 -j "$(number $((section + 24)))" -N "$(number $((section + 32)))" "$file" |
			while read -r word; do
				printf ' %x:\t%s\n' "$address" "$word"
				((address += 4))
			done
	EOF
	chmod 755 "$public/objdump"
	PATH=$public:$PATH
}

# profile OPTION... : sample through this test's map. The period is prime, so all instructions of a loop are sampled.
profile() {
	perf profile --bpf-attr-map "$ATTR_MAP" -e cycles:u -c 20011 "$@"
}

@test "calls of another file have the names of what they call" {
	local address function n=0
	profile -o "$T/data" -- calls 200000 >"$T/out"
	sed -nE 's/^([0-9a-f]+) (lrand48|mrand48|random)$/\1 \2/p' "$T/out" >"$T/entries"
	while read -r address function; do
		perf profile report --annotate "$function@plt" -j "$T/data" >"$T/json"
		# br x17 ends an entry
		jq -s -e --arg at "$address" --arg sym "$function@plt" '[.[] | select(.address)] | length == 4
			and .[0].address == $at and all(.sym == $sym) and .[3].instruction == "d61f0220"
			and ([.[] | .samples] | add) > 0' "$T/json"
		n=$((n + 1))
	done <"$T/entries"
	[ $n = 3 ]
}

# jit_rows NAME LINE : the code of a function in a jitdump has samples, all in the loop, and lines of the compiler
jit_rows() {
	jq -s -e --arg sym "$1" --argjson line "$2" '[.[] | select(.address)]
		| map(.instruction) == ["f1000400", "54ffffe1", "d65f03c0"]
		and map(.line) == [$line, $line, $line + 1]
		and all(.dso == "[jit]" and .sym == $sym and .file == $sym + ".lang")
		and .[0].samples + .[1].samples > 100 and .[2].samples < 2' "$T/json"
}

@test "code of a JIT compiler is read from its jitdump, also where it was moved, and kept in a file" {
	jit 100000 "$T" &
	jit=$!
	jobs_started+=("$jit")
	wait_for grep -q 'jit-.*dump' "/proc/$jit/maps"
	profile --annotate first -p "$jit" -j -- ran 0.1 "$jit" >"$T/json"
	jit_rows first 10
	profile --annotate JS:second -p "$jit" -o "$T/data" -j -- ran 0.1 "$jit" >"$T/json"
	jit_rows JS:second 20
	kill "$jit"
	perf profile report --annotate JS:second -j "$T/data" | diff -u "$T/json" - >&2
	perf profile report --annotate first -j "$T/data" >"$T/json"
	jit_rows first 10
}

# kcore ADDRESS BYTES : print bytes of the kernel's memory, by the segments that /proc/kcore lists
kcore() {
	local headers type offset start size
	dd if=/proc/kcore of="$T/head" bs=1M count=1 status=none
	headers=$(od -An -v -t u8 -j 32 -N 8 "$T/head")
	# Numbers are signed, like those of the shell: the kernel's addresses are negative.
	od -An -v -t d8 -w56 -j "$headers" -N $((56 * $(od -An -t u2 -j 56 -N 2 "$T/head"))) "$T/head" >"$T/segments"
	while read -r type offset start _ _ size _; do
		if [ $((type & 0xffffffff)) = 1 ] && (($1 >= start && $1 - start < size)); then
			dd if=/proc/kcore iflag=skip_bytes,count_bytes skip=$((offset + $1 - start)) count="$2" status=none
			return
		fi
	done <"$T/segments"
	return 1
}

# is_as_in_memory SYMBOL START : the rows of a function, "ADDRESS INSTRUCTION SAMPLES" in $T/code, are its addresses
# in ascending order, with the words that are there now. They are in $T/words. The start of jq takes 170 million
# instructions.
is_as_in_memory() {
	local i nr
	perf profile report --annotate "$1" -j "$T/data" >"$T/json"
	jq -r 'select(.address) | "\(.address) \(.instruction) \(.samples // 0)"' "$T/json" >"$T/code"
	nr=$(wc -l <"$T/code")
	[ "$nr" -ge 2 ]
	cut -d ' ' -f 1 "$T/code" | diff <(for ((i = 0; i < nr; i++)); do printf '%x\n' $((0x$2 + 4 * i)); done) - >&2
	kcore $((0x$2)) $((4 * nr)) | od -An -v -t x4 -w4 | tr -d ' ' >"$T/words"
	cut -d ' ' -f 2 "$T/code" | diff "$T/words" - >&2
}

# has_its_samples SYMBOL : the rows in $T/code have the samples of the function's addresses in $T/ip
has_its_samples() {
	awk -v f="$1+" 'index($1, f) == 1 { print $2 }' "$T/ip" | sort >"$T/samples"
	[ -s "$T/samples" ]
	awk '$3 > 0 { print $3 }' "$T/code" | sort | diff "$T/samples" - >&2
}

# sampled DSO : print those functions with more than 100 samples that are the only ones of their names, with their
# addresses. Samples of all addresses are in $T/ip.
sampled() {
	perf profile report --ip=address -j "$T/data" | jq -r 'select(.ip) | "\(.ip) \(.samples)"' >"$T/ip"
	perf profile report -s dso,sym -j "$T/data" |
		jq -r --arg dso "$1" 'select(.dso == $dso and .samples > 100) | .sym' >"$T/names"
	awk 'FNR == NR { sampled[$1] = FNR; next }
		$3 in sampled { nr[$3]++; at[$3] = $1 }
		END { for (sym in nr) if (nr[sym] == 1) print sampled[sym], sym, at[sym] }' "$T/names" /proc/kallsyms |
		sort -n | cut -d ' ' -f 2-
}

# set_probe : put a breakpoint into the third instruction of the first sampled function that allows it, $sym at $start
set_probe() {
	while read -r sym start; do
		echo "p:$PROBE $sym+8" >>"$TRACEFS/kprobe_events" || continue
		! echo 1 >"$TRACEFS/events/$PROBE/enable" || return 0
		echo "-:$PROBE" >>"$TRACEFS/kprobe_events"
	done <"$T/functions"
	return 1
}

@test "functions of the kernel are read from /proc/kcore, as they are in memory" {
	local sym start
	[ -r /proc/kcore ] || skip_or_fail "no /proc/kcore"
	# Beyond its limit, which the kernel lowers by itself, it throttles the event.
	perf profile --bpf-attr-map "$ATTR_MAP" -e cycles:k -c 20011 -o "$T/data" -- kernelwork 200000 >"$T/out"
	sampled "[kernel]" >"$T/functions"
	[ "$(wc -l <"$T/functions")" -ge 2 ]
	while read -r sym start; do
		is_as_in_memory "$sym" "$start"
		has_its_samples "$sym"
	done < <(head -n 2 "$T/functions")
	# The kernel changes its own code.
	set_probe
	is_as_in_memory "$sym" "$start"
	[ "$(sed -n 3p "$T/words")" = d4200080 ]
	mv "$T/words" "$T/changed"
	echo 0 >"$TRACEFS/events/$PROBE/enable"
	is_as_in_memory "$sym" "$start"
	refute grep -qx d4200080 "$T/words"
	sed '3d' "$T/words" | diff - <(sed '3d' "$T/changed") >&2
}

@test "functions of a module are read from /proc/kcore while it is loaded" {
	local sym start module=${WORKLOADS%/*}/modules/brd.ko
	[ -r /proc/kcore ] || skip_or_fail "no /proc/kcore"
	[ -e "$module" ] || skip_or_fail "the package of this kernel has no module brd"
	insmod "$module" rd_nr=1 rd_size=65536
	perf profile --bpf-attr-map "$ATTR_MAP" -e cycles:k -c 2003 -o "$T/data" -- \
		dd if=/dev/ram0 of=/dev/null bs=1M iflag=direct status=none
	sampled "[brd]" >"$T/functions"
	read -r sym start <"$T/functions"
	is_as_in_memory "$sym" "$start"
	has_its_samples "$sym"
	jq -s -e --arg sym "$sym" 'map(select(.address)) | length > 0 and all(.dso == "[brd]" and .sym == $sym and .file == null)' \
		"$T/json"
	perf profile report --annotate "brd:$sym" -j "$T/data" | diff "$T/json" - >&2
	rmmod brd
	refused 1 perf profile report --annotate "$sym" "$T/data" \
		<<<"perf profile: --annotate $sym: [kernel.kallsyms]: the code that was sampled is not loaded any more"
}
