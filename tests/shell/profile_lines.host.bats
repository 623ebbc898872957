#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile --inline and --lines: inlined functions and source lines of samples.

load lines

requirements() {
	require_root
	require_commands jq addr2line
	begin_lines
}

# profile OPTION... : sample through this test's map
profile() {
	perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock "$@"
}

# agrees_with_addr2line PROGRAM ROWS : the lines "sum+0x1f<TAB>FUNCTION<TAB>LINE" are those of addr2line
agrees_with_addr2line() {
	local start ip sym srcline name line
	start=$(nm -C "$1" | sed -nE 's/^(\w+) T (mix::)?sum(\(.*)?$/0x\1/p')
	while IFS=$'\t' read -r ip sym srcline; do
		{
			read -r name
			read -r line
		} < <(addr2line -f -i -C -e "$1" "$(printf %x $((start + ${ip##*+})))" | plain_lines)
		[ "$sym" = "$name (inlined)" ] || [ "$sym" = "$name" ]
		if [ "$line" = unknown ]; then
			[ "$srcline" = "[unknown]" ]
		else
			[ "$srcline" = "${line##*/}" ]
		fi
	done <"$2"
}

@test "each sampled instruction has the innermost function and line of addr2line" {
	local compiler
	for compiler in g++ clang++; do
		compiled $compiler mix.cc program
		profile --inline -F 5000 -s ip,sym,srcline -j -- "$T/program" 3000000 >"$T/json"
		jq -r 'select(.ip // "" | startswith("mix::sum+")) | [.ip, .sym, .srcline] | @tsv' "$T/json" >"$T/rows"
		[ "$(wc -l <"$T/rows")" -ge 5 ]
		agrees_with_addr2line "$T/program" "$T/rows"
		grep -q 'mix::state<unsigned long>::turn (inlined)' "$T/rows"
	done
}

@test "stacks have a frame for each inlined function, and the line of each call" {
	compiled g++ mix.cc program
	profile --inline --lines -F 5000 --folded -- "$T/program" 3000000 >"$T/folded"
	call=$(grep -n 'mix::sum(nr)' "$SOURCES/mix.cc" | cut -d: -f1)
	inner=$(grep -n 'turn(with + i)' "$SOURCES/mix.cc" | cut -d: -f1)
	middle=$(grep -n 'turns<16>(seed)' "$SOURCES/mix.cc" | cut -d: -f1)
	outer=$(grep -n 'mixed(i ^ all)' "$SOURCES/mix.cc" | cut -d: -f1)
	grep -qE "^program;.*main mix.cc:$call;mix::sum mix.cc:$outer;unsigned long mix::mixed<unsigned long> \(inlined\) mix.cc:$middle;void mix::state<unsigned long>::turns<16> \(inlined\) mix.cc:$inner;mix::state<unsigned long>::turn \(inlined\) mix.cc:[0-9]+ [0-9]+$" \
		"$T/folded"
	profile --inline -F 5000 --folded -- "$T/program" 3000000 >"$T/folded"
	grep -qE "main;mix::sum;unsigned long mix::mixed<unsigned long> \(inlined\);" "$T/folded"
	refute grep -q 'mix.cc' "$T/folded"
}

# line_of TEXT : print the number of its only line in mix.rs
line_of() {
	grep -nF "$1" "$SOURCES/mix.rs" | cut -d: -f1
}

@test "functions of rustc have their names in both manglings, with inlined functions and lines" {
	local mangling type closure
	# That of rustup needs its files, and HOME is the test's.
	export RUSTUP_HOME=${RUSTUP_HOME:-$(command -v rustc | sed 's,/.cargo/bin/rustc$,/.rustup,')}
	rustc --version >/dev/null 2>&1 || [ "${FULL:-}" ] || skip "needs rustc, which only make test-all installs"
	require_commands rustc
	perf version --build-options | grep -q 'libiberty: \[ on' || skip_or_fail "there is no libiberty in this build"
	# Names of the older form have no types of generic functions.
	while read -r mangling type closure; do
		(cd "$T" && RUSTC_BOOTSTRAP=1 rustc -g -O -C force-frame-pointers=yes -Z unstable-options \
			-C symbol-mangling-version="$mangling" "$SOURCES/mix.rs")
		profile --inline --lines -F 5000 --folded -- "$T/mix" 100000000 >"$T/folded"
		type=${type#-}
		grep -qF ";mix::sum$type::$closure (inlined) mix.rs:$(line_of 'turns(seed))');mix::turns$type (inlined) mix.rs:$(line_of 'turn(seed.into())');mix::turn (inlined) mix.rs:$(line_of 'black_box(all)');" "$T/folded"
		grep -qE ";<mix::Square<u32> as mix::Shape>::area mix.rs:$(line_of 'black_box(i)')[; ]" "$T/folded"
		grep -qE ";mix::apply mix.rs:$(line_of 'all ^ f(i)')[; ]" "$T/folded"
	done <<-EOF
	v0 ::<u32> {closure#0}
	legacy - {{closure}}
	EOF
}

@test "the weight of all frames is that of the samples, with inlined functions or without" {
	compiled gcc mix.c program
	for way in --bpf --no-bpf; do
		profile $way --inline --lines -F 5000 -j -- "$T/program" 3000000 >"$T/json"
		jq -s -e '([.[] | .samples // 0] | add) == ([.[] | .account // empty] | last | .samples)' "$T/json"
		profile $way --inline -g -F 5000 -j -- "$T/program" 3000000 >"$T/json"
		jq -s -e '([.[] | .samples // 0] | add) == ([.[] | .account // empty] | last | .samples)' "$T/json"
		jq -s -e 'all(.[]; (.children // 0) <= 100)' "$T/json"
	done
}

@test "-s srcline and --ip=line have a row for each line, and --pprof has lines" {
	compiled gcc mix.c program
	profile -F 5000 --ip=line -j -- "$T/program" 3000000 >"$T/json"
	jq -s -e 'any(.[]; .dso == "program" and (.srcline | test("^mix.c:[0-9]+$")))' "$T/json"
	profile --inline -F 5000 --pprof "$T/pb.gz" -- "$T/program" 3000000 >/dev/null
	require_commands protoc
	gzip -dc "$T/pb.gz" | protoc --decode=Profile -I "$BATS_TEST_DIRNAME/../data" pprof.proto >"$T/pprof"
	grep -q '"turn (inlined)"' "$T/pprof"
	grep -q '"'"$SOURCES/mix.c"'"' "$T/pprof"
	grep -A 3 '^  line {' "$T/pprof" | grep -q '    line: [1-9]'
}

@test "a function with lines of two files is a function of pprof for each of them" {
	require_commands protoc
	cat >"$T/main.c" <<-'END'
		int main(void)
		{
			volatile unsigned long all = 1;
			for (int i = 0; i < 50000000; i++) {
		#line 100 "first.h"
				all /= 3;
		#line 200 "second.h"
				all /= 5;
			}
			return 0;
		}
	END
	(cd "$T" && gcc -g -O2 -o program main.c)
	profile -F 5000 --lines --pprof "$T/pb.gz" -- "$T/program" >/dev/null
	gzip -dc "$T/pb.gz" | protoc --decode=Profile -I "$BATS_TEST_DIRNAME/../data" pprof.proto |
		awk '$1 == "string_table:" { text[nr++] = $2 }
			/^function/ { names++ } names && $1 == "name:" { name[names] = $2 } names && $1 == "filename:" { file[names] = $2 }
			END { for (i = 1; i <= names; i++) print text[name[i]], text[file[i]] }' >"$T/functions"
	grep -qE '^"main" "(.*/)?first.h"$' "$T/functions"
	grep -qE '^"main" "(.*/)?second.h"$' "$T/functions"
}

@test "a program with spoiled debug information keeps its names" {
	local section
	require_commands objcopy
	compiled gcc mix.c program
	for section in info line abbrev rnglists; do
		head -c 5000 /dev/urandom >"$T/random"
		objcopy --update-section ".debug_$section=$T/random" "$T/program" "$T/spoiled"
		profile --inline --lines -F 5000 -j -- "$T/spoiled" 1000000 >"$T/json"
		jq -s -e 'any(.[]; .dso == "spoiled" and (.sym | test("^(sum|turn|mixed)")))' "$T/json"
	done
}

@test "a program without debug information, and a machine without libdw, are named" {
	require_commands unshare strip
	compiled gcc mix.c program -s
	profile -v --inline -F 2000 -j -- "$T/program" 1000000 >"$T/json" 2>"$T/stderr"
	grep -qx "perf profile: $T/program: no source lines: no debug information" "$T/stderr"
	library=$(ldconfig -p | sed -nE 's/.*libdw\.so\.1 .*=> (.*)/\1/p' | head -n 1)
	: >"$T/empty"
	unshare -m sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$T/empty" "$(realpath "$library")" \
		perf profile --no-bpf --lines -F 2000 -e cpu-clock -j -- "$T/program" 1000000 >"$T/json" 2>"$T/stderr"
	grep -qx "perf profile: there are no source lines and no inlined functions: libdw.so.1 cannot be loaded (elfutils), or this build lacks it" \
		"$T/stderr"
	[ "$(grep -c 'no source lines' "$T/stderr")" = 1 ]
	jq -s -e 'any(.[]; .dso == "program" and .srcline == "[unknown]")' "$T/json"
}

# stripped_with_link NAME OPTION... : make $T/bin/NAME without symbols, and $T/NAME.debug, which it names
stripped_with_link() {
	require_commands objcopy strip
	compiled gcc mix.c "$1" "${@:2}"
	mkdir -p "$T/bin/.debug"
	objcopy --only-keep-debug "$T/$1" "$T/$1.debug"
	strip -o "$T/bin/$1" "$T/$1"
	(cd "$T" && objcopy --add-gnu-debuglink="$1.debug" "bin/$1")
}

# innermost NAME : the functions of a sampled run of $T/bin/NAME, and their lines
innermost() {
	profile --inline -F 2000 -s dso,sym,srcline -j -- "$T/bin/$1" 1000000 |
		jq -r 'select(.dso == "'"$1"'") | .sym + " " + .srcline'
}

@test "a stripped program has the names and lines of its debug file, found by the debug link" {
	local kind place
	for kind in sha1 none; do
		stripped_with_link $kind -Wl,--build-id=$kind
		innermost $kind >"$T/rows"
		grep -q "^$kind+0x" "$T/rows"
		for place in bin bin/.debug; do
			cp "$T/$kind.debug" "$T/$place"
			innermost $kind >"$T/rows"
			grep -q '^turn (inlined) mix.c:[0-9]*$' "$T/rows"
			refute grep -q "^$kind+0x" "$T/rows"
			rm "$T/$place/$kind.debug"
		done
	done
}

@test "a debug file of another build is not used, by its build id or its checksum" {
	local kind
	for kind in sha1 none; do
		stripped_with_link $kind -Wl,--build-id=$kind
		compiled gcc mix.c other -Wl,--build-id=$kind -fno-tree-vectorize -O1
		objcopy --only-keep-debug "$T/other" "$T/bin/$kind.debug"
		innermost $kind >"$T/rows"
		grep -q "^$kind+0x" "$T/rows"
		refute grep -q turn "$T/rows"
	done
}

# called_elsewhere : in $T/calls.c a program that calls functions of other files, one that is chosen at run time, and one
# of its own. The program also has a variable of each thread
called_elsewhere() {
	cat >"$T/calls.c" <<-'EOS'
		static int add(int x) { return x + 1; }
		static int (*choose(void))(int) { return add; }
		int chosen(int) __attribute__((ifunc("choose")));
		int one(int), two(int), three(int);
		__thread int of_thread = 3;
		int *get(void) { return &of_thread; }
		int main(int argc, char **argv)
		{
			int x = *get() + argc;

			for (long i = 0; i < 5000000; i++)
				x = three(two(chosen(one(x))));
			return !x;
		}
	EOS
	printf 'int %s(int x) { return x + 1; }\n' one two three >"$T/lib.c"
}

# entries_of OBJDUMP FILE : "address name" of the entries through which a file calls functions of others
entries_of() {
	"$1" -d "$2" | sed -nE '/^Disassembly of section \.plt(\.sec)?:$/,/^Disassembly of section \.[^p]/ {
		/\.plt\.got:$/,/^Disassembly/d
		/\*ABS\*|<of_thread@/d
		s/^0*([0-9a-f]+) <(\w+@plt)>:$/0x\1 \2/p
	}'
}

# has_entries_of_objdump TARGET OPTION... : the names are those of objdump if the program is linked so
has_entries_of_objdump() {
	local target=$1 function
	shift
	(cd "$T" && "${target}gcc" -g -O2 "$@" "-Wl,-rpath,$T" -o calls calls.c "${target}lib.so")
	entries_of "${target}objdump" "$T/calls" >"$T/theirs"
	for function in one two three; do
		grep -q " $function@plt$" "$T/theirs"
	done
	"$LINES_DRIVER" "$T/calls" < <(cut -d ' ' -f 1 "$T/theirs") |
		paste - - - | awk '{ sub("0x0*", "0x", $1); print $1, $2 }' | diff -u "$T/theirs" - >&2
}

@test "calls of another file have the names of what they call, at the addresses of objdump" {
	require_commands objdump strip aarch64-linux-gnu-gcc
	local target order at function
	called_elsewhere
	for target in "" aarch64-linux-gnu-; do
		(cd "$T" && "${target}gcc" -O2 -shared -fPIC -o "${target}lib.so" lib.c)
		for order in lazy now; do
			has_entries_of_objdump "$target" -Wl,-z,$order
			has_entries_of_objdump "$target" -Wl,-z,$order -no-pie
			has_entries_of_objdump "$target" -Wl,-z,$order -shared -fPIC
		done
	done
	has_entries_of_objdump aarch64-linux-gnu- -Wl,-z,lazy,-z,pac-plt -shared -fPIC
	has_entries_of_objdump aarch64-linux-gnu- -Wl,-z,now,-z,pac-plt
	has_entries_of_objdump "" -Wl,-z,lazy,-z,ibtplt
	has_entries_of_objdump "" -Wl,-z,lazy -mtls-dialect=gnu2 -shared -fPIC
	has_entries_of_objdump "" -Wl,-z,ibtplt -mtls-dialect=gnu2 -shared -fPIC
	# also where they are sampled
	has_entries_of_objdump "" -Wl,-z,lazy
	strip "$T/calls"
	profile --no-bpf -F 4000 -o "$T/data" -- "$T/calls" >/dev/null
	read -r at function < <(grep ' two@plt$' "$T/theirs")
	perf profile report --annotate "$function" "$T/data" | grep -qF "# $function of $T/calls, at ${at#0x}: "
}

@test "a stripped program has the names of its compressed symbols" {
	require_commands objcopy strip xz
	compiled gcc mix.c program
	strip -o "$T/packed" "$T/program"
	innermost_of() { profile -F 2000 -s sym -j -- "$1" 1000000 | jq -r '.sym // empty'; }
	refute grep -qx sum < <(innermost_of "$T/packed")
	objcopy -S --keep-symbol=sum --keep-symbol=main "$T/program" "$T/symbols"
	xz -9 "$T/symbols"
	objcopy --add-section ".gnu_debugdata=$T/symbols.xz" "$T/packed"
	grep -qx sum < <(innermost_of "$T/packed")
	# Spoiled ones are as none.
	head -c 300 "$T/symbols.xz" >"$T/short"
	objcopy --update-section ".gnu_debugdata=$T/short" "$T/packed"
	innermost_of "$T/packed" | grep -q '^packed+0x'
}

# own_rows : the functions of $T/program with their lines, of the samples in $T/json
own_rows() {
	jq -r 'select(.dso == "program") | "\(.sym) \(.srcline)"' "$T/json"
}

@test "programs with their functions in files of their own (.dwo) have the same lines and inlined functions" {
	local compiler version
	for compiler in gcc clang; do
		for version in 4 5; do
			compiled $compiler mix.c whole -gdwarf-$version
			compiled $compiler mix.c program -gdwarf-$version -gsplit-dwarf
			addresses_of "$T/program" >"$T/addresses"
			"$LINES_DRIVER" "$T/whole" <"$T/addresses" >"$T/whole.lines"
			grep -qx mixed "$T/whole.lines"
			"$LINES_DRIVER" "$T/program" <"$T/addresses" | diff -u "$T/whole.lines" - >&2
		done
	done
	compiled gcc mix.c program -gsplit-dwarf
	profile --inline -F 4000 -s dso,sym,srcline -j -- "$T/program" 1000000 >"$T/json"
	own_rows | grep -q '^turn (inlined) mix.c:[0-9]*$'
	profile -F 4000 -o "$T/data" -- "$T/program" 1000000 >/dev/null
	perf profile report --annotate sum -j "$T/data" | jq -s -e 'any(.[]; .inlined == "turn")'
	# A file of another build is not used, and one that is not there is named.
	compiled gcc mix.c other -gsplit-dwarf -O1
	mv "$T/other-mix.dwo" "$T/program-mix.dwo"
	profile --inline -F 4000 -s dso,sym,srcline -j -- "$T/program" 1000000 >"$T/json"
	own_rows >"$T/rows"
	grep -q '^sum mix.c:[0-9]*$' "$T/rows"
	refute grep inlined "$T/rows"
	rm "$T/program-mix.dwo"
	profile -v --inline -F 4000 -s dso,sym,srcline -j -- "$T/program" 1000000 2>"$T/err" >"$T/json"
	grep -q "$T/program: some lines and inlined functions are unknown: $T/program-mix.dwo: No such file or directory" "$T/err"
	own_rows | grep -q '^sum mix.c:[0-9]*$'
}

@test "programs with their functions in a package of such files (.dwp) have the same lines and inlined functions" {
	require_commands llvm-dwp
	local compiler version
	printf 'static inline __attribute__((always_inline)) int twice(int x) { volatile int y = x; return y * 2; }\nint other(int x) { return twice(x) + twice(x * 3); }\n' >"$T/other.c"
	for compiler in gcc clang; do
		for version in 4 5; do
			compiled $compiler mix.c whole -gdwarf-$version "$T/other.c"
			compiled $compiler mix.c program -gdwarf-$version -gsplit-dwarf "$T/other.c"
			llvm-dwp -e "$T/program" -o "$T/program.dwp"
			rm "$T/"*.dwo
			addresses_of "$T/program" >"$T/addresses"
			"$LINES_DRIVER" "$T/whole" <"$T/addresses" >"$T/whole.lines"
			grep -qx twice "$T/whole.lines"
			grep -qx mixed "$T/whole.lines"
			"$LINES_DRIVER" "$T/program" <"$T/addresses" | diff -u "$T/whole.lines" - >&2
		done
	done
	profile -v --inline -F 4000 -s dso,sym,srcline -j -- "$T/program" 1000000 2>"$T/err" >"$T/json"
	own_rows | grep -q '^turn (inlined) mix.c:[0-9]*$'
	refute grep 'are unknown: ' "$T/err"
	# A package of another program, and a damaged one, are as none.
	compiled clang mix.c another -gsplit-dwarf -O1
	llvm-dwp -e "$T/another" -o "$T/program.dwp"
	"$LINES_DRIVER" "$T/program" <"$T/addresses" >"$T/lines"
	refute grep -x mixed "$T/lines"
	head -c 1000 "$T/program.dwp" >"$T/short"
	mv "$T/short" "$T/program.dwp"
	"$LINES_DRIVER" "$T/program" <"$T/addresses" | diff -u "$T/lines" - >&2
}

# has_package_at PLACE : the inlined functions of $T/bin/program come from its package if it lies there. $T/debug is
# then /usr/lib/debug.
has_package_at() {
	mkdir -p "${1%/*}"
	cp "$T/package" "$1"
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m sh -c 'mount --bind "$0" /usr/lib/debug && exec "$@"' "$T/debug" \
		perf profile --no-bpf -e cpu-clock --inline -F 4000 -s dso,sym,srcline -j -- "$T/bin/program" 1000000 >"$T/json"
	rm "$1"
	own_rows | grep -q '^turn (inlined) mix.c:[0-9]*$'
}

@test "a package (.dwp) beside a separate debug file is found, where gdb, lldb and libdw look for it" {
	require_commands llvm-dwp readelf unshare
	[ -d /usr/lib/debug ] || skip_or_fail "no /usr/lib/debug"
	local place id
	stripped_with_link program -gsplit-dwarf
	llvm-dwp -e "$T/program" -o "$T/package"
	rm "$T/"*.dwo
	mkdir "$T/debug" "$T/store"
	cp "$T/program.debug" "$T/bin/.debug"
	innermost program >"$T/rows"
	grep -q '^sum mix.c:[0-9]*$' "$T/rows"
	refute grep inlined "$T/rows"
	for place in bin bin/.debug "debug$T/bin"; do
		has_package_at "$T/$place/program.dwp"
	done
	has_package_at "$T/bin/.debug/program.debug.dwp"
	# beside the file that a link leads to, behind a package that is none
	mv "$T/bin/.debug/program.debug" "$T/store/real.debug"
	ln -s ../../store/real.debug "$T/bin/.debug/program.debug"
	echo spoiled >"$T/bin/program.dwp"
	for place in store/program.dwp store/real.debug.dwp bin/.debug/program.dwp; do
		has_package_at "$T/$place"
	done
	# by build id
	rm -r "$T/bin/.debug"
	id=$(readelf -n "$T/program" | sed -nE 's/.*Build ID: //p')
	place=$T/debug/.build-id/${id:0:2}/${id:2}
	mkdir -p "${place%/*}"
	cp "$T/program.debug" "$place.debug"
	has_package_at "$place.dwp"
	has_package_at "$place.debug.dwp"
}

# lines_with_unreadable FILE SECTION NEXT : the lines of $T/program at $T/addresses when a section of FILE kills whoever
# reads it through a mapping. It is a hole on a file system without room for a page. NEXT is the section behind it.
lines_with_unreadable() {
	local at
	objcopy --set-section-alignment ".debug_$2.dwo=4096" --set-section-alignment ".debug_$3.dwo=4096" "$1" "$T/aligned"
	at=$(readelf -SW "$T/aligned" | sed -nE 's/.* \.debug_'"$2"'\.dwo +PROGBITS +0+ 0*([0-9a-f]+) .*/\1/p')
	mkdir -p "$T/full"
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m sh -ec 'mount -t tmpfs -o size=512k tmpfs "$3/full"
		cp "$3/aligned" "$3/full/file"
		fallocate -p -o "$((0x$2))" -l 4096 "$3/full/file"
		dd if=/dev/zero of="$3/full/rest" bs=4096 2>/dev/null || [ "$(stat -f -c %a "$3/full")" = 0 ]
		mount --bind "$3/full/file" "$1"
		exec "$4" "$3/program" <"$3/addresses"' sh "$1" "$at" "$T" "$LINES_DRIVER"
}

# without_inlined PATTERN : the lines of standard input, with the innermost line alone where the outermost function is
# such
without_inlined() {
	awk -v of="^($1)\$" 'function put(  i) {
			if (n && lines[n - 1] ~ of)
				print lines[1] "\n" lines[n - 1] "\n" lines[3]
			for (i = 1; n && lines[n - 1] !~ of && i <= n; i++)
				print lines[i]
			n = 0
		}
		/^0x/ { put() }
		{ lines[++n] = $0 }
		END { put() }'
}

@test "a file with functions (.dwo, .dwp) that kills its readers costs its own inlined functions alone" {
	require_commands llvm-dwp objcopy readelf unshare fallocate
	local nr units=()
	for nr in 1 2 3 4; do
		printf 'static inline __attribute__((always_inline)) int twice(int x) { volatile int y = x; return y * 2; }\nint other%d(int x) { return twice(x) + twice(x * 3); }\n' $nr >"$T/other$nr.c"
		units+=("$T/other$nr.c")
	done
	compiled gcc mix.c program -gsplit-dwarf "${units[@]}"
	addresses_of "$T/program" >"$T/addresses"
	"$LINES_DRIVER" "$T/program" <"$T/addresses" >"$T/whole"
	without_inlined other2 <"$T/whole" >"$T/expected"
	refute diff -q "$T/whole" "$T/expected"
	# the first one when it is added, the second one when it is read
	lines_with_unreadable "$T/program-other2.dwo" abbrev line | diff -u "$T/expected" - >&2
	lines_with_unreadable "$T/program-other2.dwo" str_offsets str | diff -u "$T/expected" - >&2
	# a package, with each of its units
	without_inlined ".*" <"$T/whole" >"$T/expected"
	llvm-dwp -e "$T/program" -o "$T/program.dwp"
	rm "$T/"*.dwo
	"$LINES_DRIVER" "$T/program" <"$T/addresses" | diff -u "$T/whole" - >&2
	lines_with_unreadable "$T/program.dwp" str_offsets str | diff -u "$T/expected" - >&2
}

@test "inlined functions have the names of a file that dwz made" {
	require_commands dwz
	mkdir "$T/bin"
	compiled g++ mix.cc bin/a
	compiled g++ mix.cc bin/b -DOTHER
	dwz -m "$T/shared" "$T/bin/a" "$T/bin/b"
	innermost a >"$T/rows"
	grep -q '^mix::state<unsigned long>::turn (inlined) mix.cc:[0-9]*$' "$T/rows"
	# Another file in its place is not used.
	cp "$T/bin/b" "$T/shared"
	innermost a >"$T/rows"
	refute grep -q 'turn (inlined)' "$T/rows"
	grep -q ' mix.cc:[0-9]*$' "$T/rows"
}

@test "a flame graph has a colour for inlined functions" {
	compiled gcc mix.c program
	profile -F 2000 --flamegraph "$T/plain.svg" -- "$T/program" 1000000 >/dev/null
	profile --inline -F 2000 --flamegraph "$T/inlined.svg" -- "$T/program" 1000000 >/dev/null
	grep -qE '>inlined [0-9.]+ %<' "$T/inlined.svg"
	grep -q 'turn (inlined)' "$T/inlined.svg"
	refute grep -q 'inlined' "$T/plain.svg"
}
