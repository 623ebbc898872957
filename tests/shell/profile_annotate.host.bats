#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile --annotate: samples of each instruction of a function, with source lines.

load lines
load shared

requirements() {
	require_root
	require_commands jq objdump gcc
	begin_lines
	PATH=$WORKLOADS:$PATH
	PERF=$(type -P perf)
	# Root's perf prints sources that nobody may read; the clone may be below a closed directory.
	open=$(mktemp -d)
	chmod 755 "$open"
	install -m 644 -t "$open" "$SOURCES"/*
	SOURCES=$open
}

teardown() {
	end_jobs
	remove_map
	[ -z "${public-}" ] || rm -r "$public"
	[ -z "${open-}" ] || rm -r "$open"
}

# profile OPTION... : sample through this test's map
profile() {
	perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 4000 "$@"
}

# hot_program COMPILER NAME OPTION... : make the program of hot.c
hot_program() {
	compiled "$1" hot.c "$2" "$SOURCES/twin.c" "${@:3}"
}

# by_address START FILE : "offset samples" of the sampled instructions in the JSON of --annotate
by_address() {
	local address samples
	jq -r 'select(.samples) | "\(.address) \(.samples)"' "$2" | while read -r address samples; do
		printf '0x%x %d\n' $((0x$address - 0x$1)) "$samples"
	done | sort
}

# by_ip FILE FUNCTION : the same of --ip=address
by_ip() {
	jq -r --arg f "$2" 'select((.ip // "") | startswith($f + "+")) | "\(.ip | sub(".*\\+"; "")) \(.samples)"' "$1" |
		sort
}

# start_of PROGRAM FUNCTION : its address
start_of() {
	nm "$1" | sed -nE "s/^0*([0-9a-f]+) [tT] $2\$/\1/p" | head -n 1
}

# loop_samples FILE : "samples in loops, samples": an instruction is in one if a jump behind it leads before it
loop_samples() {
	jq -s -r 'def hex: ascii_downcase | explode | reduce .[] as $c (0; . * 16 + (if $c > 96 then $c - 87 else $c - 48 end));
		[.[] | select(.address) | .at = (.address | hex)] | .[0].at as $start | . as $all |
		[.[] | select(.instruction | test("<\\+0x")) | {end: .at, begin: ((.instruction | capture("<\\+0x(?<o>[0-9a-f]+)>").o | hex) + $start)} | select(.begin <= .end)] as $loops |
		"\([$all[] | . as $row | select(any($loops[]; .begin <= $row.at and $row.at <= .end)) | .samples] | add) \([$all[].samples] | add)"' "$1"
}

@test "instructions have the samples of --ip=address, and a hot loop has nearly all of them" {
	local compiler pie looped all
	require_commands nm clang
	for compiler in gcc clang; do
		for pie in -pie -no-pie; do
			hot_program $compiler program $pie
			begin_witness
			profile -o "$T/data" --annotate hot -j -- "$T/program" 60000000 >"$T/live" 2>/dev/null
			end_witness
			sed -i '/^[01]$/d' "$T/live"
			perf profile report --annotate hot -j "$T/data" >"$T/stored"
			diff -u "$T/live" "$T/stored" >&2
			perf profile report --ip=address -j "$T/data" >"$T/ip"
			# nearly all of some hundred milliseconds
			[ "$(jq -s 'map(.samples // 0) | add' "$T/live")" -ge $((200 - $(unsampled 4000 comm program))) ]
			diff -u <(by_ip "$T/ip" hot) <(by_address "$(start_of "$T/program" hot)" "$T/live" | grep -v ' 0$') >&2
			# four digits of each row
			jq -s -e '[.[] | .percent // empty] | (add - 100 | fabs) < 0.0001 * length' "$T/live"
			share=$(perf profile report -j "$T/data" | jq 'select(.sym == "hot") | .overhead')
			jq -s -e --argjson share "$share" '[.[] | .overhead // empty] | (add - $share | fabs) < 0.0001 * length' "$T/live"
			# the rest of the function runs once
			read -r looped all < <(loop_samples "$T/live")
			[ "$looped" -ge $((all * 99 / 100)) ]
			# all instructions of the function, with lines
			end=$(nm -S "$T/program" | sed -nE 's/^(\w+) (\w+) T hot$/0x\1 + 0x\2/p')
			end=$(printf %x $((end)))
			# both are in hexadecimal, and equally long
			objdump -d -z --no-show-raw-insn "$T/program" |
				sed -nE '/<hot>:$/,/^$/ s/^ +([0-9a-f]+):.*/\1/p' |
				awk -v end="$end" '($1 "") < (end "")' >"$T/theirs"
			diff -u "$T/theirs" <(jq -r 'select(.address) | .address' "$T/live") >&2
			jq -s -e 'any(.[]; .inlined == "only_inlined" and .source == "\treturn value ^ value >> 33;")' "$T/live"
		done
	done
}

@test "text and CSV have the instructions with source lines between them" {
	hot_program gcc program -no-pie
	profile -o "$T/data" --annotate hot -- "$T/program" 30000000 >"$T/text" 2>/dev/null
	line=$(grep -n 'i < nr' "$SOURCES/hot.c" | cut -d: -f1)
	grep -qE "^# hot of $T/program, $SOURCES/hot.c, at [0-9a-f]+: [0-9,]+ samples, [0-9.]+%$" "$T/text"
	grep -qE '^# Percent +Samples +Address +Instruction$' "$T/text"
	grep -qE "^ {20,}hot.c:$line  for \(uint64_t i = 0; i < nr; i\+\+\)$" "$T/text"
	grep -qE '^ {20,}hot.c:[0-9]+ \(inlined only_inlined\)  return value ' "$T/text"
	grep -qE '^ +[0-9]+\.[0-9]+% +[0-9]+ +[0-9a-f]+  [a-z]' "$T/text"
	grep -qE '^# [0-9,]+ samples stand for [0-9.]+ % of cpu-clock' "$T/text"
	perf profile report --annotate hot -x ';' "$T/data" >"$T/csv"
	perf profile report --annotate hot -j "$T/data" |
		jq -r 'select(.address) | [.event, .samples, .weight, .dso, .sym, .address, .file // "", .line // 0] | join(";")' >"$T/expected"
	cut -d';' -f1,3-7,9- "$T/csv" | diff -u "$T/expected" - >&2
	# a branch out of the function names its target
	perf profile report --annotate twin -j "$T/data" | jq -s -e 'any(.[]; .instruction | test(" <hot>$")?)' ||
		perf profile report --annotate twin "$T/data" | grep -q 'no samples'
}

@test "Debian's perf annotates the same file with the same percentages" {
	require_debian_perf
	hot_program gcc program
	profile -o "$T/data" --annotate hot -- "$T/program" 60000000 >"$T/text" 2>/dev/null
	"$DEBIAN_PERF" annotate --stdio -i "$T/data" hot 2>/dev/null >"$T/theirs"
	diff -u <(sed -nE 's/^ +([0-9.]+) +: +([0-9a-f]+): .*/\2 \1/p' "$T/theirs" | grep -v ' 0.00$') \
		<(sed -nE 's/^ +([0-9.]+)% +[0-9]+ +([0-9a-f]+)  .*/\2 \1/p' "$T/text" | grep -v ' 0.00$') >&2
}

@test "functions of one name in two files are both printed, with their files" {
	hot_program gcc program -fno-ipa-icf -fno-optimize-sibling-calls
	profile -o "$T/data" --annotate twin -- "$T/program" 60000000 two >"$T/text" 2>/dev/null
	grep -qE "^# twin of $T/program, $SOURCES/twin.c, at [0-9a-f]+: [0-9,]+ samples" "$T/text"
	[ "$(grep -c '^# twin of ' "$T/text")" = 2 ]
	[ "$(grep -cE '^# Percent' "$T/text")" = "$(grep -cE '^# twin of .* samples?, ' "$T/text")" ]
	# of a file alone
	perf profile report --annotate program:hot "$T/data" | grep -q '^# hot of '
	refused 22 perf profile report --annotate libc.so.6:hot "$T/data" \
		<<<"perf profile: --annotate libc.so.6:hot: no sampled file has such a function, nor has the kernel"
}

@test "a function that the compiler changed is found by its name in the source" {
	local name
	printf '#include <stdlib.h>\nnamespace ns { template <class T, int N> struct A { __attribute__((noinline)) T run(unsigned long n) { T x = 1; for (unsigned long i = 0; i < n; i++) x = x * N + i; return x; } }; }\nint main(int, char **v) { ns::A<unsigned, 9> a; return a.run(atol(v[1])) & 1; }\n' >"$T/a.cc"
	(cd "$T" && g++ -g -O2 -o program a.cc)
	nm -C "$T/program" | grep -qF 'A<unsigned int, 9>::run' || skip_or_fail "the compiler inlined it"
	profile -o "$T/data" --annotate 'ns::A<unsigned int, 9>::run' -- "$T/program" 60000000 >"$T/text" 2>/dev/null || [ $? = 1 ]
	grep -qE '^# ns::A<unsigned int, 9>::run(\.isra\.0)? of .* samples, [0-9.]+%$' "$T/text"
	name=$(nm "$T/program" | sed -nE 's/.* (_ZN2ns1A[^ ]*)/\1/p' | head -n 1)
	perf profile report --annotate "$name" "$T/data" | grep -qF "# $name of "
}

@test "functions without samples, without code, and that nobody has, are named" {
	local pid
	hot_program gcc program
	profile -o "$T/data" --annotate cold -- "$T/program" 30000000 >"$T/text" 2>"$T/errors"
	grep -qE "^# cold of $T/program, at [0-9a-f]+: no samples$" "$T/text"
	grep -q '^# .* samples stand for' "$T/text"
	refute grep -q Percent "$T/text"
	diff /dev/null "$T/errors"
	perf profile report --annotate cold -j "$T/data" | jq -s -e 'length == 1 and .[0].account'
	refused 22 perf profile report --annotate nowhere "$T/data" \
		<<<"perf profile: --annotate nowhere: no sampled file has such a function, nor has the kernel"
	refused 22 perf profile report --annotate only_inlined "$T/data" \
		<<<"perf profile: --annotate only_inlined: it is inlined in the sampled code: annotate 'hot'"
	jit 30000 &
	pid=$!
	jobs_started+=("$pid")
	wait_for test -s "/tmp/perf-$pid.map"
	profile -o "$T/data" -p $pid -- ran 0.1 $pid >"$T/text"
	kill $pid
	rm "/tmp/perf-$pid.map"
	refused 22 perf profile report --annotate 'jitted loop' "$T/data" \
		<<<"perf profile: --annotate jitted loop: its code is not there: JIT compilers write it into a jitdump only"
}

# jit_rows NAME LINE : the code of a function in a jitdump has samples, all in the loop, and lines of the compiler
jit_rows() {
	profile --annotate "$1" -p "$jit" -o "$T/data" -j -- ran 0.3 "$jit" >"$T/json"
	perf profile report --annotate "$1" -j "$T/data" | diff -u "$T/json" - >&2
	jq -s -e --arg sym "$1" --argjson line "$2" '[.[] | select(.address)] | length == 3
		and all(.dso == "[jit]" and .sym == $sym and .file == $sym + ".lang")
		and ([.[] | .line] == [$line, $line, $line + 1])
		and (.[2].instruction | test("^ret"))
		and ([.[] | .percent] | add - 100 | fabs < 0.001) and .[2].samples <= .[0].samples + .[1].samples' "$T/json"
}

@test "code of a JIT compiler is read from its jitdump, also where it was moved, and kept in a file" {
	jit 100000 "$T" &
	jit=$!
	jobs_started+=("$jit")
	wait_for grep -q 'jit-.*dump' "/proc/$jit/maps"
	jit_rows first 10
	jit_rows JS:second 20
	profile --annotate '[jit]:first' -p "$jit" -o "$T/data" -- ran 0.1 "$jit" >"$T/text"
	grep -qE '^# first of \[jit\], first.lang, at [0-9a-f]+: [0-9,]+ samples, [0-9.]+%$' "$T/text"
	grep -qE ' Instruction$' "$T/text"
	kill "$jit"
	perf profile report --annotate '[jit]:first' "$T/data" | diff -u "$T/text" - >&2
	refused 22 perf profile report --annotate nowhere "$T/data" \
		<<<"perf profile: --annotate nowhere: no sampled file has such a function, nor has the kernel"
}

@test "a deleted file is read, and one that another took the place of is refused" {
	hot_program gcc program
	cp "$T/program" "$T/gone"
	"$T/gone" 100000000000 &
	jobs_started+=($!)
	wait_for test "/proc/$!/exe" -ef "$T/gone"
	rm "$T/gone"
	profile -o "$T/data" --annotate hot -j -p $! -- ran 0.2 $! >"$T/json"
	kill $!
	jq -s -e 'any(.[]; .samples > 0 and .line > 0)' "$T/json"
	refused 1 perf profile report --annotate hot "$T/data" <<<"perf profile: --annotate hot: $T/gone: No such file or directory"
	hot_program gcc gone -O1
	refused 1 perf profile report --annotate hot "$T/data" <<<"perf profile: --annotate hot: $T/gone: not the file that was sampled"
	cp "$T/program" "$T/gone"
	perf profile report --annotate hot -j "$T/data" | diff -u "$T/json" - >&2
}

@test "a stripped file has the lines of its debug file" {
	require_commands objcopy strip
	hot_program gcc program
	mkdir "$T/bin" "$T/bin/.debug"
	objcopy --only-keep-debug "$T/program" "$T/bin/.debug/linked.debug"
	strip -o "$T/bin/linked" "$T/program"
	(cd "$T/bin/.debug" && objcopy --add-gnu-debuglink=linked.debug ../linked)
	profile --annotate hot -j -- "$T/bin/linked" 30000000 2>/dev/null >"$T/json"
	jq -R 'fromjson? | select(.address)' "$T/json" | jq -s -e 'any(.[]; .samples > 0) and all(.[]; .line != 0 or .samples == 0)'
	jq -R 'fromjson? | select(.file)' "$T/json" | jq -s -e --arg file "$SOURCES/hot.c" 'length > 3 and all(.[]; .file == $file)'
}

@test "the text of a source is printed only if everybody may read it, and come there" {
	local wanted='^ {20,}hot.c:[0-9]+  for '
	hot_program gcc program
	profile -o "$T/data" -- "$T/program" 10000000 >/dev/null 2>&1
	perf profile report --annotate hot "$T/data" | grep -qE "$wanted"
	chmod 640 "$open/hot.c"
	perf profile report --annotate hot "$T/data" >"$T/text"
	refute grep -E "$wanted" "$T/text"
	grep -qE '^ {20,}hot.c:[0-9]+' "$T/text"
	chmod 644 "$open/hot.c"
	chmod 700 "$open"
	perf profile report --annotate hot "$T/data" >"$T/text"
	refute grep -E "$wanted" "$T/text"
	chmod 755 "$open"
	rm "$open/hot.c"
	mkfifo "$open/hot.c"
	perf profile report --annotate hot "$T/data" >"$T/text"
	grep -qE '^ {20,}hot.c:[0-9]+' "$T/text"
}

@test "a disassembler that closes its output and stays is ended, and has neither terminal nor directory" {
	hot_program gcc program
	profile -o "$T/data" --annotate hot -- "$T/program" 10000000 >/dev/null 2>&1
	mkdir "$T/bin"
	cat >"$T/bin/objdump" <<-'EOF'
		#!/bin/sh
		at=$(/usr/bin/objdump "$@" | sed -nE 's/^ *([0-9a-f]+):.*/\1/p' | head -n 1)
		echo " $at: in $(pwd) session $(cut -d ' ' -f 6 /proc/$$/stat) $$"
		exec 1>&-
		sleep 98765
	EOF
	publish "$T/bin/objdump"
	background "$T/text" env PATH="$public:$PATH" "$PERF" profile report --annotate hot "$T/data"
	reporter=$!
	wait_for pgrep -u nobody -fx 'sleep 98765'
	kill -TERM "$reporter"
	wait "$reporter" || :
	wait_for refute pgrep -u nobody -fx 'sleep 98765'
	sed -i '/exec 1>&-/d; /sleep/d' "$public/objdump"
	PATH=$public:$PATH perf profile report --annotate hot -j "$T/data" | jq -r 'select(.instruction) | .instruction' >"$T/has"
	read -r _ dir _ session pid <"$T/has"
	[ "$dir" = / ]
	[ "$session" = "$pid" ]
}

@test "the disassembler has no rights, no files and no time to spare" {
	hot_program gcc program -no-pie
	profile -o "$T/data" --annotate hot -- "$T/program" 10000000 >/dev/null 2>&1
	# An objdump that puts all that it has in place of the first instruction.
	mkdir "$T/bin"
	cat >"$T/bin/objdump" <<-'EOF'
		#!/bin/sh
		PATH=/usr/bin:/bin
		has=$(grep -E '^(Uid|Gid|Groups|CapPrm|CapEff|CapInh|CapAmb|NoNewPrivs):' /proc/self/status | tr -s '\t\n' '  ')
		at=$(objdump "$@" | sed -nE 's/^ *([0-9a-f]+):.*/\1/p' | head -n 1)
		echo " $at: $has files $(ls /proc/self/fd | tr '\n' ' ') memory $(ulimit -v) env $(env | cut -d= -f1 | tr '\n' ' ')"
	EOF
	publish "$T/bin/objdump"
	PATH=$public "$PERF" profile report --annotate hot -j "$T/data" >"$T/json"
	jq -r 'select(.instruction) | .instruction' "$T/json" >"$T/has"
	[ "$(wc -l <"$T/has")" = 1 ]
	grep -qF 'Uid: 65534 65534 65534 65534 Gid: 65534 65534 65534 65534 Groups: CapInh: 0000000000000000 CapPrm: 0000000000000000 CapEff: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1' "$T/has"
	# the directory that ls reads is the fourth
	grep -qF 'files 0 1 2 3 memory 1048576 env ' "$T/has"
	refute grep -qE 'env .*(HOME|TMPDIR|USER)' "$T/has"
	# Only lines about the code count, in their order, and their texts cannot harm a terminal.
	cat >"$public/objdump" <<-'EOF'
		#!/bin/sh
		at=$(/usr/bin/objdump "$@" | sed -nE 's/^ *([0-9a-f]+):.*/\1/p' | head -n 1)
		printf ' ffffffffffffffff: far\n 0: before\n %s: red\033[31m <f+0x7>\n %s: again\nno: line\n' "$at" "$at"
	EOF
	PATH=$public:$PATH perf profile report --annotate hot "$T/data" >"$T/text"
	[ "$(sed -nE 's/^.* [0-9a-f]+  (red.*|far|before|again|line)$/\1/p' "$T/text")" = 'red\033[31m' ]
	# It may print anything.
	printf '#!/bin/sh\nexec cat /dev/urandom\n' >"$public/objdump"
	refused 1 env PATH="$public:$PATH" "$PERF" profile report --annotate hot -x, "$T/data" \
		<<<"perf profile: --annotate hot: $T/program: the disassembler prints more than can be about it"
}

@test "a disassembler that cannot be executed or confined is named as the reason" {
	hot_program gcc program -no-pie
	profile -o "$T/data" --annotate hot -- "$T/program" 10000000 >/dev/null 2>&1
	mkdir "$T/bin"
	printf '#!/nowhere/sh\n' >"$T/bin/objdump"
	publish "$T/bin/objdump"
	refused 1 env PATH="$public" "$PERF" profile report --annotate hot -x, "$T/data" \
		<<<"perf profile: --annotate hot: $T/program: the disassembler cannot be executed: see if everybody may, and if its interpreter is there"
	# There is no user to become.
	refused 1 unshare --user --map-root-user "$PERF" profile report --annotate hot -x, "$T/data" \
		<<<"perf profile: --annotate hot: $T/program: perf cannot take the rights of the disassembler, so it does not run"
}

@test "lower limits of the user than perf's own hinder neither the disassembler nor the reader of files" {
	hot_program gcc program -no-pie
	profile -o "$T/data" --annotate hot -- "$T/program" 10000000 >/dev/null 2>&1
	perf profile report --annotate hot -j "$T/data" >"$T/json"
	grep -q '"line"' "$T/json"
	(
		ulimit -v 1000000 -t 50
		exec "$PERF" profile report --annotate hot -j "$T/data"
	) | diff -u "$T/json" - >&2
}

@test "code for a machine that perf does not know is not disassembled" {
	require_commands llvm-objdump
	hot_program gcc program -no-pie
	profile -o "$T/data" -- "$T/program" 10000000 >/dev/null 2>&1
	publish
	ln -s "$(command -v llvm-objdump)" "$public/"
	PATH=$public "$PERF" profile report --annotate hot "$T/data" | grep -q ' Instruction$'
	# e_machine: MIPS
	printf '\x08' | dd of="$T/program" bs=1 seek=18 conv=notrunc status=none
	refused 1 env PATH="$public" "$PERF" profile report --annotate hot -x, "$T/data" \
		<<<"perf profile: --annotate hot: $T/program: objdump and llvm-objdump, if they are there, cannot disassemble it"
}

@test "a file without a build id is annotated with one warning" {
	printf 'unsigned long other(unsigned long x) { for (int i = 0; i < 20000000; i++) x = x * 9 + i; return x; }\n' >"$T/other.c"
	(cd "$T" && gcc -g -O2 -shared -fPIC -Wl,--build-id=none -o libother.so other.c)
	printf 'unsigned long other(unsigned long); __attribute__((noinline)) unsigned long hot(unsigned long x) { for (int i = 0; i < 20000000; i++) x = x * 7 + i; return x; }\nint main(void) { return !(hot(1) + other(2)); }\n' >"$T/main.c"
	(cd "$T" && gcc -g -O2 -Wl,--build-id=none "-Wl,-rpath,$T" -o main main.c libother.so)
	profile -o "$T/data" --annotate hot -- "$T/main" >"$T/text" 2>"$T/live"
	refute grep 'build id' "$T/live"
	# nobody has it, so all files are opened
	perf profile report --annotate nowhere "$T/data" 2>"$T/err" && return 1
	[ "$(grep -c 'the profile has no build id of it, so it may not be the file that was sampled' "$T/err")" = 1 ]
	perf profile report --annotate hot "$T/data" 2>"$T/err" >"$T/again"
	[ "$(<"$T/err")" = "perf profile: $T/main: the profile has no build id of it, so it may not be the file that was sampled" ]
	grep -q ' Instruction$' "$T/again"
}

@test "llvm-objdump serves where there is no objdump, and without either perf refuses" {
	require_commands llvm-objdump
	hot_program gcc program
	profile -o "$T/data" --annotate hot -j -- "$T/program" 10000000 2>/dev/null | sed '/^[01]$/d' >"$T/json"
	publish
	ln -s "$(command -v llvm-objdump)" "$public/"
	mkdir "$T/none"
	PATH=$public "$PERF" profile report --annotate hot -j "$T/data" >"$T/llvm"
	diff -u <(jq -c '[.address, .samples, .line]' "$T/json") <(jq -c '[.address, .samples, .line]' "$T/llvm") >&2
	refused 1 env PATH="$T/none" "$PERF" profile --annotate hot -e cpu-clock -- "$T/program" \
		<<<"perf profile: --annotate needs objdump or llvm-objdump, and neither is in PATH (binutils or llvm)"
}

@test "a function of 100,000 instructions is printed, and one of false length is refused" {
	printf '.globl long_one\n.type long_one,@function\nlong_one:\n.rept 99999\nnop\n.endr\nret\n.size long_one,.-long_one\n' >"$T/long.S"
	printf '.globl false_one\n.type false_one,@function\nfalse_one:\n.rept 99999\nnop\n.endr\nret\n.size false_one,0x7fffffff\n' >"$T/false.S"
	for name in long false; do
		printf 'void %s_one(void); int main(void) { for (int i = 0; i < 20000; i++) %s_one(); return 0; }\n' $name $name >"$T/$name.c"
		(cd "$T" && gcc -O2 -o $name $name.c $name.S)
	done
	profile --annotate long_one -j -- "$T/long" >"$T/json" 2>/dev/null
	[ "$(grep -c '"address"' "$T/json")" = 100000 ]
	[ "$(jq -s 'map(.samples // 0) | add' "$T/json")" -ge 100 ]
	profile --annotate false_one -o "$T/data" -- "$T/false" >"$T/text" 2>/dev/null || status=$?
	[ "$status" = 1 ]
	grep -qx '# no instructions: the function is longer than 4 MiB' "$T/text"
	perf profile report --annotate false_one "$T/data" 2>&1 >/dev/null |
		grep -qx "perf profile: --annotate false_one: $T/false: the function is longer than 4 MiB"
}

# plain_bpf FILE : the same text for the same BPF instruction of bpftool and LLVM
plain_bpf() {
	sed -E 's/pc([+-])/\1/; s/ \+0\)/ + 0)/; s/0xf9f/3999/; s/0x0/0/' "$1"
}

@test "BPF programs and their functions have machine code with the lines of BTF" {
	require_commands bpftool llvm-objdump
	pin=/sys/fs/bpf/perf_annotate_$$
	mkdir "$pin"
	progload "$WORKLOADS/targets.bpf.o" "$pin"
	profile -o "$T/data" --annotate target_loop -j -- progrun "$pin/target_loop" 20000 100000 >"$T/json" || { rm -r "$pin"; return 1; }
	profile --no-bpf --annotate work -j -- progrun "$pin/target_subprog" 20000 100000 >"$T/work" || { rm -r "$pin"; return 1; }
	perf profile report --annotate target_loop -j "$T/data" | diff -u "$T/json" - || { rm -r "$pin"; return 1; }
	perf profile report --annotate target_loop "$T/data" >"$T/text"
	bpftool prog dump xlated pinned "$pin/target_loop" >"$T/xlated" || { rm -r "$pin"; return 1; }
	rm -r "$pin"
	# BPF instructions, each once, with their numbers, as bpftool prints registers and distances
	sed -nE 's/^ *([0-9]+): \(..\) (.*)/\1 \2/p' "$T/xlated" >"$T/theirs"
	sed -nE 's/^ +bpf ([0-9]+)  (.*)/\1 \2/p' "$T/text" >"$T/ours"
	diff -u <(plain_bpf "$T/theirs") <(plain_bpf "$T/ours") >&2
	diff -u <(sed 's/^[0-9]* //' "$T/ours") <(jq -r '.bpf // empty | .[]' "$T/json") >&2
	perf profile report --ip=address -j "$T/data" >"$T/ip"
	sym=$(jq -r -s 'map(.sym // empty) | first' "$T/json")
	[[ $sym == bpf_prog_*_target_loop ]]
	start=$(jq -r -s 'map(.address // empty) | first' "$T/json")
	diff -u <(by_ip "$T/ip" "$sym") <(by_address "$start" "$T/json" | grep -v ' 0$') >&2
	line=$(grep -n 'i < MAX_LOOPS && i < n' "${WORKLOADS%/*}/../../tests/workloads/targets.bpf.c" 2>/dev/null | head -n 1 | cut -d: -f1)
	jq -s -e --argjson line "${line:-14}" '[.[] | select(.line == $line) | .percent] | add > 90' "$T/json"
	jq -s -e 'any(.[]; .source // "" | test("for \\(__u64 i = 0; i < MAX_LOOPS"))' "$T/json"
	jq -s -e 'any(.[]; (.sym // "" | test("_work$")) and .samples > 0)' "$T/work"
	refused 1 perf profile report --annotate target_loop "$T/data" \
		<<<"perf profile: --annotate target_loop: [kernel.kallsyms]: the code that was sampled is not loaded any more"
}

# fake_root DIR REAL : a copy of a file system, of symbolic links, whose entries can be replaced
fake_root() {
	mkdir "$1"
	ln -s "$2"/* "$1/"
}

# in_kernel : sample system calls, and set $sym, $start and $size to the function of the kernel with most samples of
# those whose name is unique
in_kernel() {
	profile --no-bpf -o "$T/data" -- kernelwork 300000 >"$T/text"
	perf profile report -j "$T/data" | jq -r 'select(.dso == "[kernel]") | .sym' >"$T/names"
	while read -r sym; do
		start=$(awk -v sym="$sym" '$3 == sym && $2 ~ /[tT]/ { print $1 }' /proc/kallsyms)
		[[ $start == *$'\n'* || -z $start ]] || break
	done <"$T/names"
	size=65536
}

@test "functions of the kernel are read from kcore, and without it from vmlinux, which has lines" {
	local sym start size text
	require_commands unshare objcopy
	in_kernel
	perf profile report --ip=address -j "$T/data" >"$T/ip"
	# Every byte is an instruction.
	printf '.globl _start\n_start:\n.rept %d\nnop\n.endr\n' "$size" >"$T/kcore.S"
	fake_root "$T/proc" /proc
	rm -f "$T/proc/kcore"
	gcc -nostdlib -static -Wl,--build-id=none "-Wl,-Ttext=0x$start" -o "$T/proc/kcore" "$T/kcore.S"
	PROCFS_PATH=$T/proc perf profile report --annotate "$sym" -j "$T/data" >"$T/json"
	diff -u <(by_ip "$T/ip" "$sym") <(by_address "$start" "$T/json" | grep -v ' 0$') >&2
	jq -s -e --arg sym "$sym" '[.[] | select(.address)] | all(.dso == "[kernel]" and .sym == $sym and .instruction == "nop" and .file == null)' "$T/json"
	PROCFS_PATH=$T/proc perf profile report --annotate "[kernel]:$sym" -j "$T/data" | diff -u "$T/json" - >&2
	# vmlinux of the same build id
	rm "$T/proc/kcore"
	text=$(awk '$3 == "_text" { print $1 }' /proc/kallsyms)
	printf '.globl _text\n_text:\n.space %d, 0x90\n.rept %d\nnop\n.endr\n' $((0x$start - 0x$text)) "$size" >"$open/vmlinux.S"
	mkdir -p "$T/boot"
	(cd "$T" && gcc -g -nostdlib -static -Wl,--build-id=sha1 -Wl,-Ttext=0x1000000 -o "boot/vmlinux-$(uname -r)" "$open/vmlinux.S")
	fake_root "$T/sys" /sys
	rm "$T/sys/kernel"
	mkdir "$T/sys/kernel"
	objcopy -O binary -j .note.gnu.build-id "$T/boot/vmlinux-$(uname -r)" "$T/sys/kernel/notes"
	in_debug() {
		# shellcheck disable=SC2016 # the inner shell's
		PROCFS_PATH=$T/proc SYSFS_PATH=$T/sys unshare -m sh -c \
			'mount -t tmpfs tmpfs /usr/lib/debug && mkdir /usr/lib/debug/boot && mount --bind "$0" /usr/lib/debug/boot && exec "$@"' "$T/boot" \
			perf profile report --annotate "$sym" -j "$T/data"
	}
	in_debug >"$T/lines"
	diff -u <(by_address "$start" "$T/json") <(by_address "$start" "$T/lines") >&2
	jq -s -e --arg file "$open/vmlinux.S" '[.[] | select(.address)] | length > 0 and all(.file == $file and .line == 5 and .source == "nop")' "$T/lines"
	# of another kernel, and of none
	head -c 16 /dev/zero >"$T/sys/kernel/notes"
	why="/proc/kcore is missing or not readable, and there is no vmlinux with the kernel's build id"
	run in_debug
	[ "$status" = 1 ]
	[ "${lines[0]}" = "perf profile: --annotate $sym: [kernel]: $why" ]
	PROCFS_PATH="$T/proc" perf profile report --annotate "$sym" "$T/data" 2>/dev/null >"$T/text" || status=$?
	[ "$status" = 1 ]
	grep -qxF "# no instructions: $why" "$T/text"
	# The kernel was started again: its functions are elsewhere.
	sed "s/ $sym\$/ moved/" /proc/kallsyms >"$T/kallsyms"
	rm "$T/proc/kallsyms"
	mv "$T/kallsyms" "$T/proc/"
	refused 1 env PROCFS_PATH="$T/proc" perf profile report --annotate "$sym" "$T/data" \
		<<<"perf profile: --annotate $sym: [kernel.kallsyms]: the code that was sampled is not loaded any more"
}
