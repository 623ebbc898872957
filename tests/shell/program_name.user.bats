#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The program goes by the name that calls it: in usage, messages and hints.

load helpers
load record

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

# called_perf : print lines of stdin that call the program perf; "of Linux" calls another
called_perf() {
	local commands
	commands=$(bperf --list-cmds | xargs | tr ' ' '|')
	grep -E "(^|[^[:alnum:]_./-])perf ($commands)\\b" | grep -v 'of Linux'
}

@test "helps name the program as it was called" {
	local command
	for command in $(bperf --list-cmds) "stat report" "stat record" "profile report" "bperf list" "bperf prune" "bperf verify"; do
		# shellcheck disable=SC2086 # one word or two
		bperf $command -h >>"$T/helps" 2>&1 || :
	done
	[ "$(grep -c '^ Usage: bperf ' "$T/helps")" -ge 10 ]
	bperf help >>"$T/helps"
	grep -q 'events to count: bperf list$' "$T/helps"
	grep -q 'libpfm4: bperf list pfm$' "$T/helps"
	grep -q 'Print what bperf stat record wrote' "$T/helps"
	refute called_perf <"$T/helps"
	SYSFS_PATH=$BATS_TEST_DIRNAME/../data/sysfs-x86 bperf list | grep -q "see EVENT SYNTAX in 'bperf help list'"
}

# gets FIRST COMMAND... : it fails, and that is its first line
gets() {
	local text=$1
	shift
	refute "$@" >"$T/out" 2>&1
	diff <(echo "$text") <(head -n 1 "$T/out")
}

@test "reasons name the program as it was called" {
	local data=$BATS_TEST_DIRNAME/../data
	cd "$T"
	gets "bperf top: true: no argument is expected (bperf profile samples commands)" bperf top true
	SYSFS_PATH=$data/sysfs-x86 bperf stat -e cpu/event=1,freq=5/ true 2>&1 | grep -qF "'freq' is not usable in 'bperf stat'"
	bperf stat -e cs/freq=5/ true 2>&1 | grep -qF "'freq' is not usable in 'bperf stat'"
	SYSFS_PATH=$data/sysfs-x86 bperf stat -v -e cpu/event=1,@sink=2/ true 2>&1 | grep -qx "bperf stat: driver term '@sink' has no effect in bperf stat"
	PERF_METRICS_PATH=$data/metrics gets "bperf stat: -T: no metric for this CPU is in the group transaction (see bperf list metricgroups; --metrics-file takes a vendor's)" \
		bperf stat -T true
	bperf stat record -o counts -e duration_time true >"$T/out" 2>&1
	gets "bperf profile: counts: at byte $(($(u64 counts 40) + $(u64 counts 48))): no profile: not written by bperf profile -o" \
		bperf profile report counts
	[ "$(bperf stat -v -r 2 -e duration_time true 2>&1 | grep -c '\[ bperf stat: executing run #[12] ... \]')" = 2 ]
}

# literals TREE : print the texts of the sources that call the program perf. Its name gets into usage lines,
# which begin with it, and into helps.
literals() {
	(
		cd "$1"
		sources=$(find builtin-*.c perf.c util -name '*.c')
		# shellcheck disable=SC2086 # a list of files
		grep -vhE '^[[:blank:]]*(/?\*|\.help = )' $sources | grep -oE '"([^"\]|\\.)*"' |
			grep -vE '^"( +or: )?perf ' | called_perf | LC_ALL=C sort
	)
}

# These are given to program__rename() where they are printed.
@test "texts that call the program perf get its name before they are printed" {
	local top=$BATS_TEST_DIRNAME/../..
	[ -f "$top/perf.c" ] || skip "no source tree here"
	literals "$top" >"$T/literals"
	diff - "$T/literals" <<-'END'
		"Print what perf stat record wrote, count by count"
		"\npassed-on-by: perf stat with shared counters\n"
		"no profile: not written by perf profile -o"
		"the kernel cannot run our program at samples of probes (count them with perf stat)"
		"the kernel cannot run our program at samples of tracepoints (count them with perf stat)"
		"they are of all threads together (perf stat record --per-thread)"
	END
	# and a new one is found
	mkdir -p "$T/tree/util"
	printf '%s\n' 'pr_err("%s: see \"this\" (perf list)", a);' ' * see "perf list"' >"$T/tree/util/a.c"
	touch "$T/tree/perf.c" "$T/tree/builtin-a.c"
	[ "$(literals "$T/tree")" = '"%s: see \"this\" (perf list)"' ]
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
	[ "$EUID" = 0 ] || skip "only root may look for BPF programs"
	prints 1 "bperf stat: -b 4294967295: there is no BPF program with this id (bperf list bpf)" bperf stat -b 4294967295 true
	prints 1 "bperf stat: -b name:nosuch: no BPF program has this name (bperf list bpf)" bperf stat -b name:nosuch true
}
