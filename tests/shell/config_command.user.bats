#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf config prints and changes variables, and keeps the rest of a file.

load helpers

T=$BATS_TEST_TMPDIR

setup() {
	cd "$T" || return 1
	export HOME=$T
	# The tests' own is /dev/null.
	unset PERF_CONFIG
	[ ! -e /etc/perfconfig ] || skip_or_fail "this machine has an /etc/perfconfig"
}

@test "variables are set, printed one by one, and listed in the order of the file" {
	[ -z "$(perf config)" ]
	perf config stat.big-num=false Bperf.Attr-Map=/sys/fs/bpf/x
	perf config stat.no-csv-summary=true
	diff -u .perfconfig - <<-EOF
	[stat]
	$(printf '\t')big-num = false
	$(printf '\t')no-csv-summary = true
	[bperf]
	$(printf '\t')attr-map = /sys/fs/bpf/x
	EOF
	perf config -l >out
	diff -u out - <<-EOF
	stat.big-num=false
	stat.no-csv-summary=true
	bperf.attr-map=/sys/fs/bpf/x
	EOF
	perf config | diff - out
	perf config --user --list | diff - out
	[ -z "$(perf config --system -l)" ]
	[ "$(perf config bperf.attr-map STAT.big-num)" = $'bperf.attr-map=/sys/fs/bpf/x\nstat.big-num=false' ]
	[ -z "$(perf config no.such)" ]
	# what was set holds
	perf config color.ui=always
	perf version --build-options | grep -q $'\e\\[32mon'
}

@test "keys behind a faulty section line are listed under no name" {
	printf '[stat]\nbig-num=false\n[bad section\nbig-num=true\nmore\n[]\nx=1\n[color]\nui=never\n' >.perfconfig
	perf config -l >out 2>err
	diff -u out - <<-EOF
	stat.big-num=false
	color.ui=never
	EOF
	diff -u err - <<-EOF
	perf config: $T/.perfconfig:3: not a section as in [stat]: the line is ignored
	perf config: $T/.perfconfig:6: not a section as in [stat]: the line is ignored
	EOF
	[ "$(perf config stat.big-num 2>/dev/null)" = stat.big-num=false ]
	# a variable that is set goes to a section of its own
	perf config stat.more=3 2>/dev/null
	[ "$(perf config -l 2>/dev/null | tr '\n' ' ')" = "stat.big-num=false stat.more=3 color.ui=never " ]
}

@test "a change keeps comments, other lines, links and the mode" {
	printf '; mine\n[Stat] # s\n  big-num = true # b\n\n[other "x"]\nfrob=1\n[stat]\n\tscale=1\\\n\t2\n[last]' >real
	chmod 640 real
	ln -s real .perfconfig
	perf config stat.big-num=false other.frob=2 stat.more=3 last.one=4
	diff -u real - <<-EOF
	; mine
	[Stat] # s
	  big-num = false

	[other "x"]
	frob=1
	[stat]
	$(printf '\t')scale=1\\
	$(printf '\t')2
	$(printf '\t')more = 3
	[last]
	$(printf '\t')one = 4
	[other]
	$(printf '\t')frob = 2
	EOF
	[ "$(stat -c %a real)" = 640 ]
	[ -L .perfconfig ]
	[ "$(echo real* .perfconfig*)" = "real .perfconfig" ]
}

@test "every value reads back as it was written" {
	local value
	for value in 'a b' ' a ' '#a' 'a;b' '"a"' 'a\b' $'a\tb' "a'b" 'a=b' '\' 'ä'; do
		perf config x.y="$value"
		[ "$(perf config x.y)" = "x.y=$value" ] || [ "$value" = $'a\tb' ]
	done
	# tabs are escaped on output
	perf config x.y=$'a\tb'
	grep -qF '"a\tb"' .perfconfig
}

@test "PERF_CONFIG is the file, and a key without a value is true" {
	printf '[a]\nb\nc = 1\nc = 2\n' >named
	[ "$(PERF_CONFIG=named perf config)" = $'a.b=true\na.c=2' ]
	PERF_CONFIG=named perf config a.c=3
	[ "$(PERF_CONFIG=named perf config a.c)" = a.c=3 ]
	[ ! -e .perfconfig ]
	PERF_CONFIG=named perf config --user a.c=4
	[ "$(perf config)" = a.c=4 ]
}

@test "wrong variables and files are refused, and nothing is written" {
	refused 255 perf config frob <<<"perf config: 'frob' has no section: SECTION.KEY or SECTION.KEY=VALUE is expected"
	refused 255 perf config frob=1 <<<"perf config: 'frob' has no section: SECTION.KEY or SECTION.KEY=VALUE is expected"
	refused 255 perf config a.b= <<<"perf config: 'a.b=' has no value: a.b=VALUE is expected"
	for name in a.b.c 'a b.c' '.b' 'a.' 'a.1' $'a.b\nc'; do
		refused 255 perf config "$name=1" < <(
			echo "perf config: '${name//$'\n'/\\n}' is not SECTION.KEY of letters, digits, - and _")
	done
	refused 255 perf config --user --system -l <<<"perf config: --user and --system are mutually exclusive"
	refused 129 perf config -l a.b <<<"perf config: a.b: -l takes no arguments"
	refused 255 env PERF_CONFIG=/nowhere/x perf config a.b=1 \
		<<<"perf config: cannot write /nowhere/x: No such file or directory"
	refused 255 env -u HOME perf config a.b=1 \
		<<<"perf config: there is no file of the user: HOME is not set (or name a file in PERF_CONFIG)"
	[ ! -e .perfconfig ]
}

@test "Debian's perf reads what ours wrote" {
	require_debian_perf
	for value in plain 'a b' '#a' 'a;b' 'a"b' 'a\b'; do
		perf config x.y="$value"
		[ "$("$DEBIAN_PERF" config x.y)" = "x.y=$value" ]
	done
}
