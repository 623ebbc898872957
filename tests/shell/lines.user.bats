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
