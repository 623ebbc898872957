#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile -o writes perf.data, which Linux's perf and perf profile report read. cpu-clock needs no PMU.

load browser
load profile_files

# weights FILE : print the weight of each function in JSON, as "sym weight"
weights() {
	jq -r 'select(.sym) | "\(.sym) \(.weight)"' "$1" | sort
}

# their_weights FILE : the same by Debian's perf script. Its first line of a sample has the period, the next one
# the function that was sampled.
their_weights() {
	theirs script -i "$1" -F comm,tid,ip,sym,period |
		awk '/^[^\t ]/ { period = $NF; first = 1; next } NF && first { $1 = ""; sub(/^ /, ""); sum[$0] += period; first = 0 }
		END { for (sym in sum) print sym, sum[sym] }' | sort
}

# weight FILE : print the weight of the account in JSON
weight() {
	jq -s '[.[] | .account // empty] | last | .weight' "$1"
}

@test "Debian's perf reads the samples of a profile, with the same weights" {
	require_debian_perf
	local way
	for way in --bpf --no-bpf; do
		profile $way -F 2000 -j -o "$T/x" -- blend 50000 >"$T/json"
		# of functions of the program; Debian's perf may prefer other names of the kernel's functions
		diff -u <(weights "$T/json" | grep blend) <(their_weights "$T/x" | grep blend) >&2
		[ "$(their_weights "$T/x" | awk '{ sum += $NF } END { printf "%d", sum }')" = "$(weight "$T/json")" ]
		theirs report -i "$T/x" --stdio >"$T/report"
		grep -qx "# Event count (approx.): $(weight "$T/json")" "$T/report"
		grep -qE '^ +[0-9.]+% +[0-9.]+% +blend +blend +\[\.\] blend_b' "$T/report"
		theirs report -g --stdio -i "$T/x" >"$T/report"
		grep -qE -- '--blend_main$' "$T/report"
		theirs evlist -i "$T/x" | grep -qx cpu-clock
		theirs buildid-list -i "$T/x" | grep -qE "^[0-9a-f]{40} $WORKLOADS/blend$"
	done
}

@test "Debian's perf annotates functions of a profile" {
	require_debian_perf
	require_commands objdump
	profile -F 2000 -o "$T/x" -- blend 50000 >"$T/report"
	theirs annotate --stdio -i "$T/x" blend_b >"$T/annotated"
	# the loop has nearly all of the function's samples
	awk '$1 ~ /^[0-9]+\.[0-9]+$/ && $2 == ":" { sum += $1 } END { exit sum < 99 || sum > 101 }' "$T/annotated"
}

@test "a profile is printed again from its file as the live one, in all views" {
	local view file
	for view in "" "-g -s comm,sym" --folded "-x ; -s cpu,prio,cgroup" "-j -g"; do
		# shellcheck disable=SC2086 # several words or none
		profile -F 1000 $view -o "$T/x" -- blend 5000 >"$T/live"
		# shellcheck disable=SC2086
		perf profile report "$T/x" $view >"$T/again"
		diff -u "$T/live" "$T/again" >&2
		[ -s "$T/live" ]
	done
	require_commands protoc
	profile -F 1000 --pprof "$T/live.gz" --flamegraph "$T/live.svg" -o "$T/x" -- blend 5000 >"$T/live"
	perf profile report --pprof "$T/again.gz" --flamegraph "$T/again.svg" "$T/x" >"$T/again"
	diff -u "$T/live" "$T/again" >&2
	cmp "$T/live.svg" "$T/again.svg"
	# the cgroup is a label of pprof; the time is that of writing
	for file in live again; do
		gzip -dc "$T/$file.gz" | protoc --decode=Profile -I "$BATS_TEST_DIRNAME/../data" pprof.proto |
			grep -v '^time_nanos' >"$T/$file.text"
	done
	diff -u "$T/live.text" "$T/again.text" >&2
}

@test "a browser finds as much in a graph as the stacks have" {
	require_browser
	local graph share
	profile -F 2000 --folded --flamegraph "$T/live.svg" -o "$T/x" -- blend 50000 >"$T/folded"
	perf profile report --flamegraph "$T/again.html" "$T/x" >"$T/report"
	share=$(awk '/;blend_deep(;| )/ { part += $NF } { all += $NF } END { printf "%.2f %%", part * 100 / all }' "$T/folded")
	for graph in live.svg again.html; do
		# Each level of the recursion is a frame, and the innermost has all samples of the others.
		act "$T/$graph" '
			search("^blend_deep$");
			click(frame("blend_b").querySelector("rect"));
			say(shape("blend_b"));
			say(frame("blend_deep").style.display);' >"$T/said"
		diff -u - "$T/said" <<<"8 matches, $share;0% 100% ;none;"
	done
}

@test "each format has the total of JSON" {
	require_commands protoc
	local way weight samples
	for way in --bpf --no-bpf "--bpf --each" "--no-bpf --each"; do
		# shellcheck disable=SC2086 # several words
		profile $way -F 2000 --folded -o "$T/x" -- sh -c 'blend 20000; faults 10000' >"$T/folded" 2>"$T/told"
		perf profile report -j --flamegraph "$T/x.svg" --pprof "$T/x.gz" "$T/x" >"$T/json"
		weight=$(weight "$T/json")
		samples=$(jq -s '[.[] | .account // empty] | last | .samples' "$T/json")
		[ "$samples" -ge 50 ]
		jq -s -e '[.[] | select(.sym)] | [map(.samples), map(.weight)] | map(add) == '"[$samples, $weight]" "$T/json"
		awk '{ sum += $NF } END { printf "%d\n", sum }' "$T/folded" | diff - <(echo "$weight") >&2
		perf profile report --folded "$T/x" | sort | diff <(sort "$T/folded") - >&2
		perf profile report -x ';' -s comm "$T/x" >"$T/csv"
		awk -F ';' '/^cpu-clock;/ { samples += $3; sum += $4 } END { printf "%d %d\n", samples, sum }' "$T/csv" |
			diff - <(echo "$samples $weight") >&2
		gzip -dc "$T/x.gz" | protoc --decode=Profile -I "$BATS_TEST_DIRNAME/../data" pprof.proto |
			awk '/^sample {/ { i = 0 } $1 == "value:" { sum[i++] += $2 } END { printf "%d %d\n", sum[0], sum[1] }' |
			diff - <(echo "$samples $weight") >&2
		grep -qF "<title>all: 100.00 % of cpu-clock, $samples samples, " "$T/x.svg"
	done
}

@test "programs that perf never sees on disk have a build id, and the names of their debug file" {
	require_debian_perf
	require_commands objcopy unshare
	local way id file
	id=$(theirs buildid-list -i "$WORKLOADS/blend")
	objcopy --only-keep-debug "$WORKLOADS/blend" "$T/debug"
	# perf is stopped while the program runs, and while its file is there
	cat >"$T/once" <<-'EOF'
	cp "$2" "$1/gone"
	cp "$2" "$1/again"
	kill -STOP "$PPID"
	"$1/gone" 20000
	rm "$1/gone"
	"$1/again" 20000
	cp "$3" "$1/again"
	cp "$2" "$1/text"
	"$1/text" 20000
	echo "no ELF file" >"$1/text"
	kill -CONT "$PPID"
	EOF
	for way in --bpf --no-bpf "--no-bpf -a"; do
		# shellcheck disable=SC2086 # two options
		profile $way -F 500 -o "$T/x" -- sh "$T/once" "$T" "$WORKLOADS/"{blend,flat} >"$T/report"
		theirs buildid-list -i "$T/x" | grep -qx "$id $T/gone"
		theirs buildid-list -i "$T/x" | grep -qx "$id $T/again"
		theirs buildid-list -i "$T/x" | grep -qx "$id $T/text"
	done
	# A whole copy of the program can be there as well as its debug file.
	for file in "$T/debug" "$WORKLOADS/blend"; do
		# shellcheck disable=SC2016 # the inner shell's
		unshare -m sh -c 'mount -t tmpfs none /usr/lib/debug && mkdir -p "/usr/lib/debug/.build-id/$2" &&
			cp "$1" "/usr/lib/debug/.build-id/$2/$3.debug" && shift 3 && exec "$@"' \
			sh "$file" "${id:0:2}" "${id:2}" \
			perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock --no-bpf -F 500 -- \
			sh "$T/once" "$T" "$WORKLOADS/"{blend,flat} >"$T/report"
		grep -qE ' gone +\[\.\] blend_b$' "$T/report"
		grep -qE ' again +\[\.\] blend_b$' "$T/report"
		grep -qE ' text +\[\.\] blend_b$' "$T/report"
	done
}

# The rights of root to read any file are dropped.
@test "a program or debug file that cannot be read is named with -v, once" {
	require_commands objcopy strip unshare setpriv readelf
	local id way file path
	id=$(readelf -n "$WORKLOADS/blend" | sed -nE 's/.*Build ID: ([0-9a-f]+)/\1/p')
	path=usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
	objcopy --only-keep-debug "$WORKLOADS/blend" "$T/debug"
	cp "$WORKLOADS/blend" "$T/stripped"
	strip "$T/stripped"
	cp "$WORKLOADS/blend" "$T/hidden"
	chmod 111 "$T/hidden"
	cat >"$T/once" <<-'EOF'
	cp "$2" "$1/gone"
	kill -STOP "$PPID"
	"$1/gone" 20000
	rm "$1/gone"
	kill -CONT "$PPID"
	"$1/stripped" 50000
	"$1/hidden" 100000
	EOF
	for way in 0 400; do
		# shellcheck disable=SC2016 # the inner shell's
		unshare -m sh -c 'mount -t tmpfs none /usr/lib/debug && mkdir -p "${2%/*}" && cp "$1" "$2" &&
			chmod "$3" "$2" && shift 3 && exec "$@"' \
			sh "$T/debug" "/$path" "$way" \
			setpriv --bounding-set -dac_override,-dac_read_search \
			perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -v -F 1000 -I 100 -- \
			sh "$T/once" "$T" "$WORKLOADS/blend" >"$T/report.$way" 2>"$T/err.$way"
		for file in gone hidden stripped; do
			echo "perf profile: $T/$file: cannot read its debug file /$path: Permission denied"
		done >"$T/expected.0"
		diff -u <(sort "$T/expected.$way" 2>/dev/null) <(grep -F 'cannot read its debug file' "$T/err.$way" | grep -F "$T" | sort) >&2
	done
	refute grep -qE ' (gone|hidden|stripped) +\[\.\] blend_b$' "$T/report.0"
	for file in gone hidden stripped; do
		grep -qE " $file +\\[\\.\\] blend_b\$" "$T/report.400"
	done
}

@test "a file has other columns, too, but none that were not recorded" {
	profile -F 1000 -j -s sym -o "$T/x" -- blend 5000 >"$T/live"
	perf profile report -j -s comm,pid,tid,dso,ip "$T/x" >"$T/again"
	[ "$(weight "$T/again")" = "$(weight "$T/live")" ]
	jq -s -e 'map(select(.comm) | .weight) | add == '"$(weight "$T/live")" "$T/again"
	local column
	for column in cpu cgroup prio daddr; do
		refused 22 perf profile report -s comm,$column "$T/x" \
			<<<"perf profile: -s $column: the file has no such column (record it with -s $column, too)"
	done
	refused 22 perf profile report -s srcline "$T/x" \
		<<<"perf profile: report has the names of the file: without --inline, --lines and srcline"
	# the data address is that of the option -d
	perf profile --bpf-attr-map "$ATTR_MAP" -e page-faults -c 1 -d -o "$T/x" -- faults 10 >"$T/live"
	perf profile report -d "$T/x" >"$T/again"
	diff -u "$T/live" "$T/again" >&2
}

@test "names of deleted programs, JIT code and BPF programs stay in the file" {
	require_debian_perf
	local way pid pin=/sys/fs/bpf/perf_profile_$$
	cp "$WORKLOADS/blend" "$T/gone"
	"$T/gone" 100000000 &
	jobs_started+=($!)
	wait_for has_line gone /proc/$!/comm
	rm "$T/gone"
	profile -F 1000 -p $! -o "$T/x" -- ran 0.2 $! >"$T/report"
	kill $!
	perf profile report "$T/x" | grep -qE ' gone +\[\.\] blend_b$'
	theirs report --stdio -i "$T/x" >"$T/report"
	# it knows the file by its build id only
	theirs buildid-list -i "$T/x" | grep -qE "^[0-9a-f]{40} $T/gone$"
	# Debian's perf needs the perf map, ours does not
	jit 100000 &
	pid=$!
	jobs_started+=("$pid")
	wait_for test -s "/tmp/perf-$pid.map"
	profile -F 1000 -p $pid -o "$T/x" -- ran 0.2 $pid >"$T/report"
	theirs report --stdio --no-children -g none -i "$T/x" | grep -qE '\[\.\] jitted loop$'
	kill $pid
	rm "/tmp/perf-$pid.map"
	perf profile report "$T/x" | grep -qE '\[jit\] +\[\.\] jitted loop$'
	# the program is unloaded before the file is read
	mkdir "$pin"
	"$WORKLOADS/progload" "$WORKLOADS/targets.bpf.o" "$pin"
	for way in --bpf --no-bpf; do
		profile $way -F 2000 -o "$T/$way" -- progrun "$pin/target_loop" 20000 100000 >"$T/report" || { rm -r "$pin"; return 1; }
	done
	rm -r "$pin"
	for way in --bpf --no-bpf; do
		perf profile report "$T/$way" | grep -qE '\[bpf\] +\[k\] bpf_prog_[0-9a-f]+_target_loop$'
		theirs report --stdio --no-children -g none -i "$T/$way" | grep -qE '\[k\] bpf_prog_[0-9a-f]+_target_loop$'
	done
}

@test "programs that one process executed have their own code in Debian's perf" {
	require_debian_perf
	# shellcheck disable=SC2016 # the inner shell's
	profile -F 2000 -j -s comm,dso -o "$T/x" -- sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; exec blend 20000' >"$T/json"
	# of files: no other name is in brackets
	theirs report --stdio --no-children -g none -F comm,dso,period -t , -i "$T/x" |
		sed -nE '/^$|[[#]|bpf_prog_/! s/ *(,|$) */\1/gp' | sort >"$T/theirs"
	jq -r 'select(.dso // "[" | contains("[") | not) | "\(.comm),\(.dso),\(.weight)"' "$T/json" | sort >"$T/ours"
	diff -u "$T/ours" "$T/theirs" >&2
	grep -q ^blend,blend, "$T/ours"
	grep -q ^sh, "$T/ours"
}

@test "all CPUs have functions of the kernel in Debian's perf, and cgroups have names" {
	require_debian_perf
	faults 1000000 >/dev/null &
	jobs_started+=($!)
	# garbage in stacks of user space looks like addresses of the kernel
	profile -a -F 1000 --timeout 300 --kernel-callchains -s cpu,cgroup,sym -j -o "$T/x" >"$T/json"
	theirs script -i "$T/x" -F comm,tid,cpu,ip,sym,period >"$T/script"
	# an address of the kernel without a name has none in our report either
	grep -qE '^[[:space:]]+ffff[0-9a-f]{12} [a-z_]' "$T/script"
	grep -E '^[[:space:]]+ffff[0-9a-f]{12} \[unknown\]' "$T/script" | sort -u | wc -l >"$T/unknown"
	perf profile report --stacks "$T/x" | grep -oE '^    \[kernel\]\+0x[0-9a-f]+' | sort -u | wc -l >"$T/ours"
	[ "$(<"$T/unknown")" -le "$(<"$T/ours")" ]
	theirs report --stdio --no-children -g none -s cgroup -i "$T/x" >"$T/report"
	grep -qE '% +/' "$T/report"
	perf profile report -j -s cpu,cgroup,sym "$T/x" | diff -u "$T/json" - >&2
}

# without_tmpfile : make a library for LD_PRELOAD with which no file system has files without a name
without_tmpfile() {
	require_commands gcc
	cat >"$T/named.c" <<-'EOF'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <errno.h>
		#include <fcntl.h>
		#include <stdarg.h>
		int open64(const char *path, int flags, ...)
		{
			va_list list;
			int mode;

			va_start(list, flags);
			mode = va_arg(list, int);
			va_end(list);
			if ((flags & O_TMPFILE) != O_TMPFILE)
				return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64"))(path, flags, mode);
			errno = EOPNOTSUPP;
			return -1;
		}
	EOF
	gcc -shared -fPIC -o "$T/named.so" "$T/named.c"
}

@test "a signal completes the files, also on a file system where they have temporary names" {
	local signal
	without_tmpfile
	mkdir "$T/files"
	cd "$T/files"
	for signal in HUP TERM INT; do
		LD_PRELOAD=$T/named.so perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -o x --pprof y.gz --flamegraph z.svg -- \
			sh -c ': >started; exec sleep 1000' >"$T/out" 2>&1 3>&- &
		wait_for [ -e started ]
		ls x.*-0 y.gz.*-0 z.svg.*-0
		kill -$signal $!
		wait $! || :
		rm started
		[ "$(echo *)" = "x y.gz z.svg" ]
		rm x y.gz z.svg
	done
}

@test "a profile goes on after a hangup that nohup ignores" {
	(trap '' HUP && exec perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -- sh -c ": >$T/started; exec sleep 1000") \
		>"$T/out" 2>&1 3>&- &
	wait_for [ -e "$T/started" ]
	grep -q '^SigIgn:.*[13579bdf]$' "/proc/$!/status"
	kill -TERM $!
	wait $! || :
}

@test "--pprof - is standard output, which then has no report" {
	profile -F 1000 --pprof - -- sh -c 'echo told; blend 5000' 2>"$T/told" >"$T/gz"
	grep -qx told "$T/told"
	gzip -t "$T/gz"
	profile -F 1000 -o "$T/x" -- blend 5000 >"$T/report"
	perf profile report --pprof - "$T/x" >"$T/gz"
	gzip -t "$T/gz"
}

@test "-o - is a stream, which has no report, and a previous file is kept" {
	require_debian_perf
	profile -F 1000 -o - -- sh -c 'echo told; blend 10000' 2>"$T/told" >"$T/stream"
	grep -qx told "$T/told"
	perf profile report -j - <"$T/stream" >"$T/json"
	perf profile report -j <"$T/stream" >"$T/piped" || :
	# shellcheck disable=SC2002 # a pipe is meant
	cat "$T/stream" | perf profile report -j | diff -u "$T/json" - >&2
	# shellcheck disable=SC2002
	cat "$T/stream" | theirs report --stdio -i - >"$T/report"
	grep -qx "# Event count (approx.): $(weight "$T/json")" "$T/report"
	cd "$T"
	profile -F 1000 -j -o perf.data -- blend 5000 >first
	profile -F 1000 -j -o perf.data -- blend 5000 >second
	perf profile report -j </dev/null | diff -u second - >&2
	perf profile report -j perf.data.old | diff -u first - >&2
	[ "$(stat -c %a perf.data)" = 600 ]
	# a command may have that name
	printf '#!/bin/sh\necho I am a command\n' >report
	chmod +x report
	PATH=$T:$PATH profile --folded -- report 2>&1 | grep -qx 'I am a command'
}

@test "several events are read with their own samples and accounts" {
	require_debian_perf
	perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock,page-faults -c 1000000 -j -o "$T/x" -- blend 20000 >"$T/json"
	perf profile report -j "$T/x" | diff -u "$T/json" - >&2
	[ "$(theirs evlist -i "$T/x" | grep -c .)" = 2 ]
	refused 22 perf profile report --flamegraph "$T/x.svg" "$T/x" <<<"perf profile: --flamegraph draws one event, not 2"
	[ ! -e "$T/x.svg" ]
}

@test "a profile that is killed leaves no file, and a file without samples has a report" {
	cd "$T"
	background log perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -a -o x
	wait_for has_text poll "/proc/$!/wchan"
	kill -9 $!
	wait $! || :
	[ ! -e x ]
	profile -j -o x -- true >live
	perf profile report -j x | diff -u live - >&2
}

@test "ordinary users write and read files of user mode" {
	require_debian_perf
	require_users_count
	publish "$(command -v perf)" "$WORKLOADS/blend"
	mkdir -m 777 "$public/dir"
	cd "$public/dir"
	as_nobody "$public/perf" profile -e cpu-clock:u -F 2000 -j -o x -- "$public/blend" 20000 >live
	as_nobody "$public/perf" profile report -j x | diff -u live - >&2
	theirs report --stdio -f -i x >report
	grep -qx "# Event count (approx.): $(weight live)" report
	cd "$T"
	rm -r "$public"
}
