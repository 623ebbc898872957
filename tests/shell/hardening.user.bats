#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# How perf is compiled and linked, so that a mistake in it is hard to use; and how to do without.

load helpers

top=$BATS_TEST_DIRNAME/../..
T=$BATS_TEST_TMPDIR

requirements() {
	require_commands readelf
}

# has_default_flags : the build is not for sanitizers, and no CFLAGS or LDFLAGS are against it
has_default_flags() {
	[ -f "$O/flags" ] || skip_or_fail "no build here"
	! grep -qE -- '-fsanitize|-fno-stack-protector|-O0|-no-pie|-static' "$O/flags" ||
		skip_or_fail "built with flags of somebody's own"
}

# commands VARIABLE... : what make would do for perf
commands() {
	make -n -C "$top" O="$T/o" "$@" all >"$T/commands" 2>"$T/err" || { cat "$T/err"; return 1; }
	grep -e ' -c -o .*/util/lib/util\.o ' "$T/commands" >"$T/cc"
	grep -e ' -o .*/perf .*/perf\.o ' "$T/commands" >"$T/ld"
	grep -e ' -target bpf ' "$T/commands" >"$T/bpf"
}

has() {
	grep -q -e " $2" "$T/$1"
}

@test "the program is position-independent" {
	has_default_flags
	readelf -hW "$O/perf" | grep -q 'Type: *DYN '
	readelf -dW "$O/perf" | grep -q 'FLAGS_1.* PIE'
}

@test "relocations are resolved at the start, and read-only afterwards" {
	has_default_flags
	readelf -lW "$O/perf" | grep -q '^ *GNU_RELRO '
	readelf -dW "$O/perf" | grep -q 'FLAGS_1.* NOW'
	# .got.plt would stay writable
	refute grep -q '\.got\.plt' <(readelf -SW "$O/perf")
}

@test "functions with buffers have stack protectors" {
	has_default_flags
	readelf -W --dyn-syms "$O/perf" | grep -q ' __stack_chk_fail@'
	# the weaker forms of the option call the same function
	commands
	has cc -fstack-protector-strong
}

@test "calls with buffers of known size check the size" {
	has_default_flags
	readelf -W --dyn-syms "$O/perf" | grep -q ' __snprintf_chk@'
	readelf -W --dyn-syms "$O/perf" | grep -q ' __vasprintf_chk@'
}

@test "perf contains its libraries, except with SHARED_LIBS=1, -static or sanitizers" {
	has_default_flags
	commands
	has ld -Wl,-Bstatic || skip_or_fail "no archives of the libraries here"
	refute grep -qE 'NEEDED.*lib(bpf|elf|z|json-c|cap)\.so' <(readelf -dW "$O/perf")
	for flags in SHARED_LIBS=1 LDFLAGS=-static SANITIZE=1; do
		commands "$flags"
		has ld -lbpf
		refute has ld -Wl,-Bstatic
	done
}

@test "BPF programs have no hardening" {
	commands
	for flag in -fstack-protector -D_FORTIFY_SOURCE -fPIE -pie; do
		refute has bpf "$flag"
	done
}

@test "CFLAGS and LDFLAGS of the user override the hardening" {
	commands CFLAGS=-O0
	has cc -fPIE
	refute has cc -D_FORTIFY_SOURCE
	commands CFLAGS=-g
	refute has cc -D_FORTIFY_SOURCE
	commands CFLAGS='-O3 -Wp,-D_FORTIFY_SOURCE=3'
	refute has cc -D_FORTIFY_SOURCE=2
	commands CFLAGS='-O2 -fno-stack-protector' LDFLAGS=-Wl,-z,lazy
	has cc '-fstack-protector-strong .* -fno-stack-protector'
	has ld '-Wl,-z,relro,-z,now.* -Wl,-z,lazy'
	for flags in CFLAGS=-fno-pie LDFLAGS=-no-pie LDFLAGS=-static; do
		commands "$flags"
		refute has cc -fPIE
		refute has ld -pie
	done
	commands SANITIZE=1
	has cc -fPIE
	refute has cc -D_FORTIFY_SOURCE
}

# build DIR : compile, in a copy of the sources there, what has a BPF program, a text of another file, and assertions
build() {
	mkdir -p "$T/$1"
	cp -r "$top"/{Makefile,builtin.h,bpf_skel,scripts,util} "$T/$1"
	make -C "$T/$1" O=o o/bpf_skel/leader_tasks.skel.h o/util/bperf/leader_progs.o o/util/profile/flame_svg.o >"$T/out" 2>&1 ||
		{ cat "$T/out"; return 1; }
}

@test "the same sources give the same bits in any directory" {
	local file
	build a
	(umask 077; build longer/name)
	for file in bpf_skel/leader_tasks.bpf.o bpf_skel/leader_tasks.skel.h util/bperf/leader_progs.o util/profile/flame_svg.o; do
		cmp "$T/a/o/$file" "$T/longer/name/o/$file"
	done
}
