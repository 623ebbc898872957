#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The options before the command, the pager, colours, and perf help.

load helpers

T=$BATS_TEST_TMPDIR

setup() {
	cd "$T" || return 1
	unset PAGER PERF_PAGER NO_COLOR LESS
	ours=$(dirname "$(command -v perf)")
	# A pager that shows its input in brackets.
	mkdir bin
	printf '%s\n' '#!/bin/sh' 'echo "LESS=$LESS"; sed "s/.*/[&]/"' >bin/show
	chmod +x bin/show
	PATH=$PATH:$T/bin
}

# on_terminal COMMAND : run it with a terminal, and print what it shows there, without carriage returns
on_terminal() {
	TERM=xterm script -qec "$1" /dev/null </dev/null | tr -d '\r'
}

@test "global options stand before the command and are checked" {
	local option
	for option in --no-pager -p --paginate "--buildid-dir /x" --buildid-dir=/x "--exec-path=/x" \
		"--debugfs-dir /x" "--debug verbose" "--debug verbose=0" "--debug perf-event-open" \
		"--debug=stderr" "--no-pager --debugfs-dir=/x -p"; do
		# shellcheck disable=SC2086 # several words
		[ "$(perf $option version | head -n 1)" = "$(perf version | head -n 1)" ]
	done
	refused 129 perf --frob stat <<<"perf: unknown option '--frob': see 'perf --help'"
	refused 129 perf --buildid-dir <<<"perf: --buildid-dir needs a value"
	refused 129 perf --debugfs-dir= stat <<<"perf: --debugfs-dir needs a value"
	refused 129 perf --no-pager=1 stat <<<"perf: --no-pager takes no value"
	refused 129 perf --debug frob stat \
		<<<"perf: --debug frob: there is no such variable (verbose, perf-event-open)"
	refused 129 perf --debug verbose=x stat <<<"perf: --debug verbose=x: not a number after '='"
	refused 129 perf --debug verbose= stat <<<"perf: --debug verbose=: not a number after '='"
	perf --no-pager >out 2>&1 || [ $? = 1 ]
	grep -q '^ usage: perf' out
	[ "$(perf -vv)" = "$(perf version --build-options)" ]
	[ "$(perf --no-pager --version)" = "$(perf version)" ]
}

@test "--list-opts lists every global option, --exec-path prints a directory" {
	local option
	for option in $(perf --list-opts); do
		[[ $option = --* ]]
		for other in --help --version --exec-path --html-path --paginate --no-pager --debugfs-dir \
			--buildid-dir --list-cmds --list-opts --debug; do
			[ "$option" != $other ] || echo found
		done
	done >found
	[ "$(wc -l <found)" = 11 ]
	[[ $(alone perf --exec-path) = /* ]]
}

@test "--debug verbose=2 prints what -vv does, --debugfs-dir moves the tracepoints" {
	perf --debug verbose=2 stat -e page-faults:u true >debug 2>&1 || :
	perf stat -vv -e page-faults:u true >vv 2>&1 || :
	grep -q perf_event_attr: vv
	[ "$(grep -c perf_event_attr: debug)" = "$(grep -c perf_event_attr: vv)" ]
	perf --debug perf-event-open stat -e page-faults:u true >debug 2>&1 || :
	[ "$(grep -c perf_event_attr: debug)" = "$(grep -c perf_event_attr: vv)" ]
	mkdir -p d/tracing/events/made/up
	echo 4711 >d/tracing/events/made/up/id
	perf --debugfs-dir d list --raw-dump tracepoint >out
	[ "$(tr -d ' \n' <out)" = made:up ]
	perf --debugfs-dir="$T/d" list --details made:up | grep -q 'config=0x1267'
}

@test "help and list go through a pager on a terminal only" {
	PERF_PAGER=show perf list sw >out
	refute grep -q '\[  ' out
	on_terminal "PERF_PAGER=show perf list sw" >out
	grep -q '^\[  cpu-clock ' out
	grep -qx LESS=FRSX out
	on_terminal "LESS=x PERF_PAGER=show perf help" >out
	grep -qE '^\[   stat ' out
	grep -qx LESS=x out
	on_terminal "PERF_PAGER=show perf help bperf" >out
	grep -qE '^\[.*perf bperf list' out
	# not for programs, and not on request
	for without in "perf list --raw-dump sw" "perf --no-pager list sw" "perf list -o /dev/stdout sw" \
		"perf version" "PERF_PAGER=cat perf list sw" "PERF_PAGER= perf list sw" \
		"PAGER=show PERF_PAGER=cat perf list sw"; do
		on_terminal "PERF_PAGER=\${PERF_PAGER-show}; export PERF_PAGER; $without" >out
		[ -s out ]
		refute grep -q '^\[' out
	done
	on_terminal "PAGER=show perf list sw" | grep -q '^\['
	# other commands on request
	on_terminal "PERF_PAGER=show perf -p version" | grep -q '^\[perf version'
	on_terminal "PERF_PAGER=show perf --paginate stat -e duration_time true" | grep -q '^\[.*duration_time'
	PERF_PAGER=show perf -p version | grep -q '^perf version'
}

@test "the configuration names the pager, or switches it off" {
	printf '[pager]\nlist = show\n' >config
	on_terminal "PERF_CONFIG=config perf list sw" | grep -q '^\['
	on_terminal "PERF_CONFIG=config PAGER=cat perf list sw" | grep -q '^\['
	refute grep -q '^\[' <(on_terminal "PERF_CONFIG=config PERF_PAGER=cat perf list sw")
	printf '[pager]\nlist = false\n' >config
	refute grep -q '^\[' <(on_terminal "PERF_CONFIG=config PAGER=show perf list sw")
	on_terminal "PERF_CONFIG=config PAGER=show perf -p list sw" | grep -q '^\['
	printf '[pager]\nlist = true\n' >config
	on_terminal "PERF_CONFIG=config PAGER=show perf list sw" | grep -q '^\['
}

@test "a pager that ends early, or fails, leaves nothing behind" {
	printf '%s\n' '#!/bin/sh' 'head -n 1' >bin/first
	chmod +x bin/first
	on_terminal "PERF_PAGER=first perf list" >out
	[ "$(wc -l <out)" -le 2 ]
	on_terminal "PERF_PAGER=nosuchpager perf list sw" >out
	grep -q 'nosuchpager: .*not found' out
}

# colors COMMAND : how many lines of its output on a terminal have colours
colors() {
	on_terminal "$1" | grep -c $'\e\\[3[0-9]m' || :
}

@test "colours are for terminals, and for nobody with NO_COLOR" {
	printf '[color]\nui = never\n' >never
	printf '[color]\nui = always\n' >always
	cat >metric.json <<-'EOF'
	[{"MetricName": "twice", "MetricExpr": "duration_time * 2", "MetricThreshold": "twice > 0"}]
	EOF
	stat="perf stat --metrics-file $T/metric.json -M twice true"
	for command in "perf version --build-options" "$stat"; do
		[ "$(colors "$command")" != 0 ]
		[ "$(colors "NO_COLOR= $command")" != 0 ]
		[ "$(colors "NO_COLOR=1 $command")" = 0 ]
		[ "$(colors "TERM=dumb $command")" = 0 ]
		[ "$(colors "PERF_CONFIG=never $command")" = 0 ]
		[ "$(colors "PERF_CONFIG=always NO_COLOR=1 $command")" = 0 ]
		refute grep -q $'\e' <($command 2>&1)
		PERF_CONFIG=always $command 2>&1 | grep -q $'\e\\[3'
	done
}

@test "perf help COMMAND opens the manual page of this perf, otherwise prints options on stdout" {
	# the file of the program decides, not the page that man would find
	mkdir -p at/bin at/share/man/man1 with
	cp -L "$ours/perf" at/bin/perf
	ln -s ../at/bin/perf with/perf
	printf '%s\n' '#!/bin/sh' 'echo "man: $*"' >bin/man
	chmod +x bin/man
	PATH=$T/bin:$PATH
	for perf in at/bin/perf with/perf; do
		"$perf" help stat >out 2>err
		[ ! -s err ]
		grep -q -- '--bpf-counters' out
	done
	: >at/share/man/man1/perf-stat.1.gz
	for perf in at/bin/perf with/perf; do
		[ "$("$perf" help stat)" = "man: $T/at/bin/../share/man/man1/perf-stat.1.gz" ]
		"$perf" help list | grep -q -- '--raw-dump'
	done
	# without man
	PATH=$T/at/bin at/bin/perf help stat | grep -q -- '--bpf-counters'
}

# on_stdout COMMAND... : it ends with status 0, and writes to stdout only
on_stdout() {
	"$@" >out 2>err 3>&- && [ ! -s err ]
}

@test "perf COMMAND --help and perf --help COMMAND do what perf help COMMAND does" {
	local command option
	mkdir -p at/bin at/share/man/man1
	cp -L "$ours/perf" at/bin/perf
	printf '%s\n' '#!/bin/sh' 'echo "man: $*"' >bin/man
	chmod +x bin/man
	PATH=$T/bin:$PATH
	# without pages: the options
	for command in stat config list profile script bperf top version help; do
		at/bin/perf help $command >expected
		grep -qi "^ usage: perf " expected
		for option in "$command --help" "$command --help x" "--help $command" "-h $command" "help -m $command" \
			"help --man $command" "help $command x"; do
			# shellcheck disable=SC2086 # several words
			on_stdout at/bin/perf $option
			diff -u expected out
		done
	done
	for command in stat config list profile script bperf top; do
		: >at/share/man/man1/perf-$command.1
		for option in "$command --help" "--help $command" "help --man $command"; do
			# shellcheck disable=SC2086 # several words
			on_stdout at/bin/perf $option
			[ "$(<out)" = "man: $T/at/bin/../share/man/man1/perf-$command.1" ]
		done
	done
	# -h stays short
	at/bin/perf stat -h >out 2>err || [ $? = 129 ]
	[ ! -s out ]
	grep -q -- '--bpf-counters' err
}

@test "perf help takes the options of Linux's perf help" {
	local option
	perf help >expected
	for option in -a --all "-a stat"; do
		# shellcheck disable=SC2086 # several words
		on_stdout alone perf help $option
		diff -u <(alone perf help) out
	done
	refused 255 perf help -i stat <<<"perf: -i: there are no info pages: see 'perf help stat'"
	refused 255 perf help --web stat <<<"perf: -w: there are no HTML pages: see 'perf help stat'"
	for option in -m --man -i -w; do
		on_stdout perf help $option
		diff -u expected out
	done
	fails_with 129 "perf help: unknown switch \`x'" perf help -x stat
	fails_with 129 "" perf help -h
	grep -qxF " Usage: perf help [-a] [-m|-i|-w] [<command>]" fails.err
}
