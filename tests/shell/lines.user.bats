#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The confined process reads source lines and inlined functions as addr2line of binutils does.

load lines

setup_file() {
	bats_require_minimum_version 1.5.0
}

# same_as_addr2line PROGRAM [FILE [DEBUG-FILE]] : compare all frames of all addresses; the file has the lines
same_as_addr2line() {
	addresses_of "$1" >"$T/addresses"
	[ "$(wc -l <"$T/addresses")" -gt 50 ]
	addr2line -a -f -i -C -e "$1" <"$T/addresses" | plain_lines >"$T/expected"
	"$LINES_DRIVER" "${@:2}" <"$T/addresses" | sed -E 's/^.*:[?0]$/unknown/' >"$T/lines"
	diff "$T/expected" "$T/lines"
}

@test "inlined functions of C have the names and lines of addr2line" {
	begin_lines
	require_commands addr2line objdump
	for compiler in gcc clang; do
		for version in 4 5; do
			compiled $compiler mix.c "$compiler$version" -gdwarf-$version
			same_as_addr2line "$T/$compiler$version" "$T/$compiler$version"
			grep -qx turn "$T/lines"
			grep -qx mixed "$T/lines"
		done
	done
}

@test "inlined functions of C++ with templates have the names and lines of addr2line" {
	begin_lines
	require_commands addr2line objdump
	for compiler in g++ clang++; do
		compiled $compiler mix.cc "$compiler"
		same_as_addr2line "$T/$compiler" "$T/$compiler"
		grep -qx 'void mix::state<unsigned long>::turns<16>' "$T/lines"
		grep -qx 'mix::state<unsigned long>::turn' "$T/lines"
	done
}

@test "compressed debug sections are read" {
	begin_lines
	require_commands addr2line objdump objcopy readelf
	compiled gcc mix.c plain
	for kind in zlib zlib-gnu; do
		objcopy --compress-debug-sections=$kind "$T/plain" "$T/$kind"
		readelf -WS "$T/$kind" | grep -qE '\.zdebug_info|\.debug_info .* C '
		same_as_addr2line "$T/plain" "$T/$kind"
	done
}

@test "debug information that files share is read from the file that has it" {
	begin_lines
	require_commands addr2line objdump dwz readelf
	compiled g++ mix.cc a
	compiled g++ mix.cc b -DOTHER
	cp "$T/a" "$T/whole"
	dwz -m "$T/shared" "$T/a" "$T/b"
	readelf -WS "$T/a" | grep -q gnu_debugaltlink
	same_as_addr2line "$T/whole" "$T/a" "$T/a" "$T/shared"
	# Without it, only names are missing.
	"$LINES_DRIVER" "$T/a" <"$T/addresses" >"$T/without"
	refute diff -q "$T/without" "$T/lines"
	grep -q '/mix.cc:[1-9]' "$T/without"
}

@test "a program without debug information has no lines" {
	begin_lines
	compiled gcc mix.c plain
	strip -o "$T/stripped" "$T/plain"
	run -1 "$LINES_DRIVER" "$T/stripped" <<<1000
	[ "$output" = "lines: No data available" ]
}

# large_library NR : link so many copies of a file with 250 functions of templates, each under other names
large_library() {
	local i
	compiled g++ big.cc big.o -c -std=c++17 -fPIC
	for ((i = 0; i < $1; i++)); do
		objcopy --prefix-symbols="u${i}_" "$T/big.o" "$T/big$i.o"
	done
	(cd "$T" && g++ -shared -nostdlib -o large big[0-9]*.o)
}

# Reading all of it takes a second, and each address again would take hours.
@test "100,000 addresses of a large C++ library are read within 10 seconds of each process and 400 MB" {
	begin_lines
	require_commands addr2line objcopy readelf
	local start size
	large_library 60
	read -r start size < <(readelf -WS "$T/large" | sed -nE 's/^.* \.text +PROGBITS +(\w+) +\w+ +(\w+) .*/\1 \2/p')
	seq $((0x$start)) $((0x$size / 100000)) $((0x$start + 0x$size - 1)) | head -n 100000 | xargs printf '%x\n' >"$T/addresses"
	[ "$(wc -l <"$T/addresses")" = 100000 ]
	(ulimit -t 10 -v 400000 && "$LINES_DRIVER" "$T/large" <"$T/addresses" >"$T/lines")
	sed "s/^0x0*//; t; d" "$T/lines" | diff "$T/addresses" - >&2
	# some of all units
	sed -n '7~250p' "$T/addresses" | addr2line -a -f -i -C -e "$T/large" | plain_lines | grep '^0x\|^/\|^unknown' >"$T/expected"
	[ "$(grep -c '/big.cc:' "$T/expected")" -ge 400 ]
	[ "$(grep -c '^0x' "$T/expected")" = 400 ]
	sed 's/^.*:[?0]$/unknown/' "$T/lines" | awk '/^0x/ { wanted = ++nr % 250 == 7 } wanted && /^(0x|\/|unknown)/' |
		diff "$T/expected" - >&2
}
