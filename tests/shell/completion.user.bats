#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Completion in bash, zsh and fish: it knows every option of perf's own tables.

load helpers

setup() {
	completion=${BATS_TEST_DIRNAME}/../../completion
	[ -d "$completion" ] || skip "the completions are not here"
}

# complete_bash LINE : what bash completes it to, a line each
complete_bash() {
	bash --norc -c 'source "$0/perf.bash"; COMP_LINE=$1 COMP_POINT=${#1}
		COMP_WORDBREAKS=${2-$COMP_WORDBREAKS}; _perf; printf "%s\n" "${COMPREPLY[@]}"' "$completion" "$@"
}

complete_fish() {
	fish --no-config -c 'source $argv[1]/perf.fish; complete -C $argv[2]' -- "$completion" "$1" | cut -f1
}

# The words that _perf gives to _arguments or adds, a line each: the rest is zsh's own.
complete_zsh() {
	zsh -f -c 'completion=$1; words=(${(z)2}); CURRENT=$#words
		[[ $2 == *" " ]] && { words+=(""); CURRENT=$#words }
		_arguments() { print -rl -- "$@" }
		compadd() { print -rl -- "$@" }
		_call_program() { shift; "$@" }
		compset() { : }
		source $completion/_perf' zsh "$completion" "$1"
}

# every_option SHELL : each name that perf lists is completed, by itself
every_option() {
	local command
	for command in stat "stat report" profile "profile report" top script list config help "bperf list" "bperf prune" "bperf verify"; do
		# shellcheck disable=SC2086 # one word or two
		perf $command --list-opts >"$BATS_TEST_TMPDIR/opts" 2>/dev/null || :
		[ "$(wc -w <"$BATS_TEST_TMPDIR/opts")" -ge 2 ]
		"complete_$1" "perf $command --" | sed -E 's/^[*]?(--[a-z0-9-]+).*/\1/' >"$BATS_TEST_TMPDIR/completed"
		[ -s "$BATS_TEST_TMPDIR/completed" ]
		tr -s " \n" "\n" <"$BATS_TEST_TMPDIR/opts" | grep -vxF -f "$BATS_TEST_TMPDIR/completed" | sed "s/^/$1: /"
	done >"$BATS_TEST_TMPDIR/missing"
	# what has no line in the help is for scripts only
	grep -Ev -- ': --raw$' "$BATS_TEST_TMPDIR/missing" && return 1
	:
}

# completes SHELL LINE WORD : it is among the completions
completes() {
	"complete_$1" "$2" >"$BATS_TEST_TMPDIR/completed" || return
	grep -qxF -- "$3" "$BATS_TEST_TMPDIR/completed" || { cat "$BATS_TEST_TMPDIR/completed" >&2; return 1; }
}

@test "bash completes options and events" {
	every_option bash
	completes bash "perf st" stat
	completes bash "perf --no-p" --no-pager
	completes bash "perf --no-pager --debug verbose st" stat
	completes bash "perf --debug verb" verbose
	completes bash "perf --buildid-dir /et" /etc
	completes bash "perf -p stat --per-c" --per-core
	completes bash "perf stat -e cs,page-f" cs,page-faults
	completes bash "perf stat -ae {cs,page-f" "{cs,page-faults"
	completes bash "perf stat --event page-f" page-faults
	completes bash "perf stat -M branch_miss_rate,branch_f" branch_miss_rate,branch_frequency
	completes bash "perf stat -M Def" Default
	completes bash "perf stat --per-cache=" L3
	completes bash "perf stat -e cs -I 10 en" env
	completes bash "perf stat -e cs -- en" env
	completes bash "perf stat -a ls /et" /etc
	completes bash "perf stat --metrics-file /et" /etc
	completes bash "perf stat rec" record
	completes bash "perf stat record -e page-f" page-faults
	completes bash "perf stat record -e cs en" env
	completes bash "perf stat report --per-c" --per-core
	completes bash "perf stat report -i /et" /etc
	completes bash "perf profile -s comm,sy" comm,sym
	completes bash "perf profile --call-graph cal" callee
	completes bash "perf profile --ip=pa" page
	completes bash "perf profile -e page-f" page-faults
	completes bash "perf profile -g en" env
	completes bash "perf profile -o /et" /etc
	completes bash "perf profile rep" report
	completes bash "perf profile report /et" /etc
	completes bash "perf profile report -s comm,sy" comm,sym
	completes bash "perf top -s comm,sy" comm,sym
	completes bash "perf top --call-graph cal" callee
	completes bash "perf top -e page-f" page-faults
	[ -z "$(complete_bash "perf top en")" ]
	completes bash "perf list metricg" metricgroup
	completes bash "perf list b" bpf
	completes bash "perf list hw b" bpf
	completes bash "perf bperf li" list
	[ -z "$(complete_bash "perf bperf list ")" ]
	completes bash "perf help li" list
	# readline replaces what follows its last word break
	[ "$(COMP_WORDBREAKS=: complete_bash "perf stat --control fi")" = fifo: ]
	[ -z "$(complete_bash "perf stat -I ")" ]
}

@test "zsh completes options and events" {
	command -v zsh >/dev/null || skip_or_fail "no zsh"
	every_option zsh
	completes zsh "perf " stat
	completes zsh "perf " --no-pager
	completes zsh "perf help " list
	completes zsh "perf bperf " prune
	completes zsh "perf list -" '*:events:(hw sw cache tracepoint pmu sdt metric metricgroup tool pfm bpf)'
	completes zsh "perf stat -" '*-e[events to count: perf list]:event:_perf_events' ||
		completes zsh "perf stat -" '*-e[events to count\: perf list]:event:_perf_events'
	completes zsh "perf stat -" '*--per-cache=-[a row for each cache]::level:(L1 L2 L3 L4)'
	completes zsh "perf stat report -" '*-i[read this file; -\: standard input]:file:_files'
	completes zsh "perf profile report -" ':file:_files'
	completes zsh "perf stat record -" '*--metrics-file[a file or directory that defines metrics and events]:file:_files'
	completes zsh "perf stat -" '*--metrics-file[a file or directory that defines metrics and events]:file:_files'
}

@test "fish completes options and events" {
	command -v fish >/dev/null || skip_or_fail "no fish"
	every_option fish
	completes fish "perf st" stat
	completes fish "perf --no-p" --no-pager
	completes fish "perf stat -e cs,page-f" cs,page-faults
	completes fish "perf stat -M branch_miss_rate,branch_f" branch_miss_rate,branch_frequency
	completes fish "perf stat -e cs -I 10 en" env
	completes fish "perf stat -ae cs -- en" env
	completes fish "perf stat rec" record
	completes fish "perf stat record -e cs en" env
	completes fish "perf stat report --in" --input
	completes fish "perf profile rep" report
	completes fish "perf profile report --flamegr" --flamegraph
	completes fish "perf profile report /et" /etc/
	completes fish "perf list metricg" metricgroup
	completes fish "perf list b" bpf
	completes fish "perf bperf li" list
	refute grep -q -- --raw <(complete_fish "perf bperf list --")
}
