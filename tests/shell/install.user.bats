#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# make install puts each file into its place, where it works, and takes nothing from a package.

load helpers

top=$BATS_TEST_DIRNAME/../..
T=$BATS_TEST_TMPDIR
root=$BATS_FILE_TMPDIR/root

requirements() {
	[ -f "$top/Makefile" ] || skip_or_fail "no source tree here"
	require_commands make
}

# make_here ARGUMENT... : run make in the source tree, with the tested build
make_here() {
	make -s -C "$top" O="$O" "$@" 3>&-
}

setup_file() {
	[ -f "$top/Makefile" ] && command -v make >/dev/null || return 0
	local name
	for name in perf bperf; do
		make_here DESTDIR="$root/$name" prefix=/usr NAME=$name install >"$BATS_FILE_TMPDIR/log" 2>&1 ||
			{ cat "$BATS_FILE_TMPDIR/log" >&2; return 1; }
	done
}

# fails TEXT COMMAND... : it fails, and TEXT is among the lines that it prints
fails() {
	local text=$1
	shift
	refute "$@" >"$T/out" 2>&1
	grep -qxF -- "$text" "$T/out" || { cat "$T/out"; return 1; }
}

# fake COMMAND STATUS [LINE] : a program of that name first in PATH, which notes its arguments in $T/ran
fake() {
	mkdir -p "$T/bin"
	printf '#!/bin/sh\necho "%s $*" >>"%s"\n%s\nexit %d\n' "$1" "$T/ran" "${3:-}" "$2" >"$T/bin/$1"
	chmod +x "$T/bin/$1"
	PATH=$T/bin:$PATH
}

@test "install puts every file in place" {
	local usr=$root/perf/usr file
	for file in bin/perf share/perf-stat/metrics/portable.json share/bash-completion/completions/perf \
		share/zsh/site-functions/_perf share/fish/vendor_completions.d/perf.fish share/doc/perf-stat/README.md; do
		[ -f "$usr/$file" ]
	done
	[ "$(stat -c %a "$usr/bin/perf")" = 755 ]
	[ "$(readlink "$usr/bin/bperf")" = perf ]
	[ "$("$usr/bin/bperf" version | head -n 1)" = "bperf version $(perf version | head -n 1 | cut -d' ' -f3)" ]
}

@test "install with NAME=bperf takes no file that another perf has" {
	local usr=$root/bperf/usr
	[ -z "$(find "$usr" -name '*perf*' ! -name '*bperf*' ! -path '*/bperf/*')" ]
	[ "$(readlink "$usr/lib/bperf/bin/perf")" = ../../../bin/bperf ]
	[ "$(PATH=$usr/lib/bperf/bin:$PATH; perf version | head -n 1)" = "$(perf version | head -n 1)" ]
	"$usr/lib/bperf/bin/perf" list --raw-dump metrics | grep -qw CPU_utilization
	mv "$usr/share/bperf/metrics" "$T"
	"$usr/bin/bperf" list --raw-dump metrics | refute grep -w CPU_utilization
	mv "$T/metrics" "$usr/share/bperf"
	grep -qF 'ExecStart=/usr/bin/bperf stat' "$usr/share/doc/bperf/bperf-stat.service"
}

@test "completion for bperf completes its own command line, beside another perf" {
	local share=$root/bperf/usr/share file
	PATH=$root/bperf/usr/bin:$PATH
	bash --norc -c '_perf() { :; }; before=$(declare -f _perf); source "$0/bash-completion/completions/bperf"
		COMP_LINE="bperf stat --per-c" COMP_POINT=${#COMP_LINE}; _bperf; printf "%s\n" "${COMPREPLY[@]}"
		complete -p bperf; [ "$(declare -f _perf)" = "$before" ]' "$share" >"$T/out"
	grep -qx -- --per-core "$T/out"
	grep -qx 'complete -F _bperf bperf' "$T/out"
	head -n 1 "$share/zsh/site-functions/_bperf" | grep -qx '#compdef bperf'
	for file in bash-completion/completions/bperf zsh/site-functions/_bperf fish/vendor_completions.d/bperf.fish; do
		refute grep -wE 'perf|_+perf[a-z_]*' "$share/$file"
	done
	require_commands fish
	fish --no-config -c 'source $argv[1]; complete -C "bperf stat --per-c"' -- \
		"$share/fish/vendor_completions.d/bperf.fish" | grep -q -- ^--per-core
}

@test "manuals of bperf name its commands and pages, and those of Linux's perf" {
	local file
	for file in "$top"/Documentation/perf*.txt; do
		"$top/scripts/rename" bperf manual <"$file" >"$T/${file##*/}"
	done
	[ "$(head -n 2 "$T/perf-stat.txt")" = $'bperf-stat(1)\n=============' ]
	[ "$(head -n 6 "$T/perf.txt" | tail -n 1)" = "bperf - $(sed -n '6s/perf - //p' "$top/Documentation/perf.txt")" ]
	grep -qF "Like Linux's perf, 'bperf script'" "$T/perf-script.txt"
	{ grep -hE "(^|[^a-z])perf (stat|list|bperf|script)|(^|[^b])perf-[a-z]+\(" "$T"/*.txt || :; } |
		refute grep -vE "(its|Linux's) 'perf stat|'perf script' of Linux"
	fails "NAME='a/b': a program's name has letters, digits and -._+, such as bperf" \
		make_here install DESTDIR="$T/no" NAME=a/b
	[ ! -e "$T/no" ]
}

@test "a moved installation finds its metrics" {
	local other=$T/other
	cp -r "$root/perf/usr" "$other"
	"$other/bin/perf" list --raw-dump metrics | grep -qw CPU_utilization
	rm -r "$other/share/perf-stat"
	# without these files there are those that are built in
	"$other/bin/perf" list --raw-dump metrics 2>&1 | tr ' ' '\n' >"$T/metrics"
	grep -qx insn_per_cycle "$T/metrics"
}

@test "install compiles nothing and needs no pkg-config, whatever the prefix" {
	local before tool
	before=$(stat -c '%Y %i' "$O/perf" "$O/flags")
	for tool in pkg-config clang bpftool llvm-strip cc ld; do
		fake $tool 1
	done
	# the compiler only names the directory of the build
	fake gcc 0 'case $1 in -dumpmachine) echo x86_64-linux-gnu ;; esac'
	make_here install DESTDIR="$T/a" prefix=/opt/x CFLAGS=-O0 PKG_CONFIG=pkg-config
	[ -x "$T/a/opt/x/bin/perf" ]
	refute grep -vE '^gcc -(dumpmachine|print-multiarch)$' "$T/ran"
	[ "$(stat -c '%Y %i' "$O/perf" "$O/flags")" = "$before" ]
}

@test "only another place of data is compiled in, no prefix" {
	make_here -n V=1 O="$T/o" prefix=/opt/x NAME=bperf "$T/o/util/defs/definitions.o" >"$T/log"
	grep -q -- -DPERF_VERSION "$T/log"
	refute grep -e /opt/x -e PERF_DATADIR "$T/log"
	make_here -n V=1 O="$T/o" pkgdatadir=/srv/data "$T/o/util/defs/definitions.o" >"$T/log"
	grep -qF -- "-DPERF_DATADIR='\"/srv/data\"'" "$T/log"
}

@test "install names a source that is newer than the program" {
	cp -r "$top"/{Makefile,README.md,NEWS.md,COPYING,perf.c,builtin*.[ch],util,bpf_skel,completion,metrics,Documentation,scripts} "$T"
	mkdir "$T/out"
	cp "$O/perf" "$T/out"
	find "$T" -name '*.[ch]' -exec touch -d 2020-01-01 {} +
	make -s -C "$T" O=out DESTDIR="$T/a" install >"$T/log" 2>&1
	refute grep warning "$T/log"
	touch -d '1 minute' "$T/util/lib/msg.c"
	make -s -C "$T" O=out DESTDIR="$T/a" install >"$T/log" 2>&1
	grep -qx "install: warning: util/lib/msg.c is newer than out/perf, which make would build anew" "$T/log"
}

@test "install refuses a place for data that the program does not know" {
	fails "install: $O/perf was not built for data in /srv/data: run make with the same variables first, and then make install" \
		make_here install DESTDIR="$T/a" pkgdatadir=/srv/data
	[ ! -e "$T/a" ]
}

@test "install and uninstall refuse a prefix where a package has one of the files" {
	local tool what
	mkdir -p "$T/usr/bin" "$T/usr/share/zsh/site-functions"
	echo theirs | tee "$T/usr/bin/perf" >"$T/usr/share/zsh/site-functions/_bperf"
	fake dpkg 1 "for file; do [ \"\$file\" != '$T/usr/bin/perf' ] || echo \"linux-perf:amd64: \$file\"; done"
	fake rpm 1
	fake pacman 1
	for what in install uninstall; do
		fails "install: $T/usr/bin/perf belongs to the package linux-perf:amd64: choose another name (NAME=bperf) or place (prefix=/usr/local)" \
			make_here $what prefix="$T/usr"
		[ "$(<"$T/usr/bin/perf")" = theirs ]
	done
	[ "$(find "$T/usr" -type f | wc -l)" = 2 ]
	# not only the program, and by other package managers
	fake dpkg 1
	fake rpm 1 'case $* in *"/site-functions/_bperf") echo bperf; exit 0 ;; esac'
	fails "install: $T/usr/share/zsh/site-functions/_bperf belongs to the package bperf: choose another name (NAME=bperf) or place (prefix=/usr/local)" \
		make_here install NAME=bperf prefix="$T/usr"
	fake rpm 1 'echo file is not owned by any package'
	fake pacman 1 'case $* in *"/bin/perf") echo perf; exit 0 ;; esac'
	ln -s usr/bin "$T/bin2"
	fails "install: $T/usr/bin/perf belongs to the package perf: choose another name (NAME=bperf) or place (prefix=/usr/local)" \
		make_here install prefix="$T/usr" bindir="$T/bin2" pkgdatadir="$T/usr/share/perf-stat"
	# elsewhere, and below DESTDIR, nothing is owned
	make_here install prefix="$T/usr" DESTDIR="$T/stage"
	make_here install NAME=bperf prefix="$T/usr2"
	[ -x "$T/usr2/bin/bperf" ]
}

@test "the package of a file of this machine is found" {
	require_commands dpkg
	local true
	true=$(dpkg -S /bin/true /usr/bin/true 2>/dev/null | sed -n '1s/.*: //p')
	[ "$true" ] || skip "dpkg knows no program here"
	ln -s "${true%/*}" "$T/links"
	(
		fake rm 1
		fails "install: ${true%/*}/true belongs to the package coreutils: choose another name (NAME=bperf) or place (prefix=/usr/local)" \
			make_here uninstall NAME=true prefix="$T" bindir="$T/links"
	)
	[ -x "$true" ]
}

@test "perf and bperf in one prefix leave each other alone" {
	make_here install prefix="$T/p" NAME=bperf
	make_here install prefix="$T/p"
	[ ! -L "$T/p/bin/bperf" ]
	make_here uninstall prefix="$T/p"
	[ ! -e "$T/p/bin/perf" ]
	[ -x "$T/p/lib/bperf/bin/perf" ]
	[ -f "$T/p/share/bash-completion/completions/bperf" ]
	make_here uninstall prefix="$T/p" NAME=bperf
	[ -z "$(find "$T/p" ! -type d)" ]
}

@test "the installed program has nothing that is there for tests" {
	refute grep -qa PERF_TEST_ "$BATS_FILE_TMPDIR/root/usr/bin/perf"
	grep -qa PERF_TEST_KILL_AT "$(command -v perf)"
}

@test "make uninstall leaves nothing" {
	local name
	for name in perf bperf; do
		make_here DESTDIR="$root/$name" prefix=/usr NAME=$name uninstall
	done
	[ -z "$(find "$root" ! -type d)" ]
	[ -z "$(find "$root" -name '*perf*' ! -name perf ! -path "$root/bperf")" ]
}
