#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The program goes by the name that calls it: in usage, messages and hints.

load helpers

T=$BATS_TEST_TMPDIR

setup() {
	ln -s "$(command -v perf)" "$T/bperf"
	PATH=$T:$PATH
}

# prints STATUS TEXT COMMAND... : it ends with that status, and its first line that is not empty is TEXT
prints() {
	local status=0 want=$1 text=$2
	shift 2
	"$@" >"$T/out" 2>&1 || status=$?
	[ "$status" = "$want" ] && [ "$(grep -m 1 . "$T/out")" = "$text" ] || { cat "$T/out"; return 1; }
}

@test "usage lines name the program as it was called" {
	local name
	for name in perf bperf; do
		prints 1 " usage: $name [--version] [--help] [OPTIONS] COMMAND [ARGS]" "$name"
		grep -qxF " See '$name help COMMAND' for a command's options." "$T/out"
		prints 129 " Usage: $name stat [<options>] [<command>]" "$name" stat -h
		[ "$(grep -c "^    or: $name stat " "$T/out")" = 3 ]
		prints 129 " Usage: $name stat report [<options>] [-i <file>]" "$name" stat report -h
		prints 129 " Usage: $name script [-i FILE]" "$name" script -h
		prints 129 " Usage: $name bperf list [--bpf-attr-map <path>] [-j]" "$name" bperf -h
		[ "$(grep -c "^ *$name bperf " "$T/out")" = 2 ]
		"$name" list -h 2>&1 | grep -q "^ Usage: $name list "
	done
}

@test "messages and hints name the program as it was called" {
	local name version
	version=$(perf version | head -n 1 | cut -d' ' -f3)
	for name in perf bperf; do
		prints 129 "$name stat: unknown option \`nosuch'" "$name" stat --nosuch
		grep -qxF " Usage: $name stat [<options>] [<command>]" "$T/out"
		prints 129 "$name: unknown option '-x9': see '$name --help'" "$name" -x9
		prints 0 "$name version $version" "$name" version
		"$name" stat -e nosuch true 2>&1 | grep -qxF "Run '$name list' for a list of valid events"
	done
	prints 1 "bperf: 'x9' is not a perf command: see 'bperf help'" bperf x9
}

@test "a name that no shell would take is not repeated" {
	local line version
	version=$(perf version | head -n 1)
	for line in $'x\e[2Jy' -perf "$(printf '%033d' 0)"; do
		prints 0 "$version" bash -c 'exec -a "$0" perf version' "$line"
	done
}

@test "a link to the program finds its metrics" {
	ln -s "$(command -v perf)" "$T/other"
	"$T/other" list --raw-dump metrics | grep -qw CPU_utilization
}

@test "the hint for BPF programs names the program as it was called" {
	[ "$(id -u)" = 0 ] || skip "only root may look for BPF programs"
	prints 1 "bperf stat: -b 4294967295: there is no BPF program with this id (bperf list bpf)" bperf stat -b 4294967295 true
	prints 1 "bperf stat: -b name:nosuch: no BPF program has this name (bperf list bpf)" bperf stat -b name:nosuch true
}
