#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile --each -o writes every single sample with its time, beside the sums. cpu-clock needs no PMU.

load profile_files

LOST='records of single samples without room (--each)'

# start_profile NAME OPTION... : start one in the background, into $T/NAME and $T/NAME.json; it samples already
start_profile() {
	local name=$1
	shift
	open_control "$name"
	background "$T/$name.json" perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock \
		--control "fifo:$T/$name.ctl,$T/$name.ack" -o "$T/$name" "$@"
	tell "$name" ping
}

# now : CLOCK_MONOTONIC in nanoseconds
now() {
	awk '/^now at/ { print $3; exit }' /proc/timer_list
}

# singles FILE : print what Debian's perf script finds, as "NANOSECONDS PERIOD" of each sample. Its complaints are
# in $T/complaints.
singles() {
	"$DEBIAN_PERF" script --ns -F comm,pid,tid,time,ip,sym,period -i "$1" 2>"$T/complaints" |
		sed -nE 's/^[^\t ].* ([0-9]+)\.([0-9]{9}): +([0-9]+) *$/\1\2 \3/p'
}

# executed_ms PID : for how long this process has executed
executed_ms() {
	awk '{ printf "%d", $1 / 1e6 }' "/proc/$1/schedstat"
}

# account FIELD FILE : a number of the account in JSON, which may have messages between
account() {
	jq -nR "[inputs | fromjson? | .account // empty] | last | $1" "$2"
}

# adds_up JSON DATA : the single samples and those that are lost as such are all that the account has, with
# their weights; times ascend
adds_up() {
	singles "$2" >"$T/singles"
	sort -n -c "$T/singles"
	awk -v nr="$(account '.samples - .unrecorded.samples' "$1")" -v weight="$(account '.weight - .unrecorded.weight' "$1")" \
		'{ sum += $2 } END { if (NR != nr || sum != weight) { print NR, sum " not " nr, weight; exit 1 } }' "$T/singles" >&2
}

@test "Debian's perf script reads every sample with its time" {
	require_debian_perf
	local way begin end
	for way in --bpf --no-bpf; do
		begin=$(now)
		profile $way -F 2000 -j --each -o "$T/x" -- blend 50000 >"$T/json"
		end=$(now)
		adds_up "$T/json" "$T/x"
		diff /dev/null "$T/complaints" >&2
		[ "$(account .unrecorded.samples "$T/json")" = 0 ]
		[ "$(account .samples "$T/json")" -ge 100 ]
		awk -v begin="$begin" -v end="$end" '$1 < begin || $1 > end { print; bad = 1 } END { exit bad }' "$T/singles" >&2
		# a sample of the right function follows each time
		"$DEBIAN_PERF" script -F comm,time,ip,sym -i "$T/x" >"$T/script"
		grep -A1 '^blend' "$T/script" | grep -qE '^[[:space:]]+[0-9a-f]+ blend_b$'
	done
}

@test "a file of single samples prints the same as the live profile" {
	local each view
	for each in --each --each=1; do
		for view in "-g -s comm,sym" "-j -s cpu,prio,cgroup,sym"; do
			# shellcheck disable=SC2086 # several words
			profile -F 1000 $view $each -o "$T/x" -- blend 10000 >"$T/live"
			# shellcheck disable=SC2086
			perf profile report "$T/x" $view >"$T/again"
			diff -u "$T/live" "$T/again" >&2
			[ -s "$T/live" ]
		done
	done
	# through a pipe
	profile -F 1000 --each -o - -- blend 10000 | perf profile report - >"$T/again"
	grep -qE 'blend_b$' "$T/again"
}

@test "samples without room are counted as lost, and stay in the sums" {
	require_debian_perf
	profile -F 2000 -j --each=1 -o "$T/x" -- blend 50000 >"$T/json"
	adds_up "$T/json" "$T/x"
	[ "$(account .unrecorded.samples "$T/json")" -ge 10 ]
	[ "$(account .lost.table.samples "$T/json")" = 0 ]
	# Debian's perf has the number from the file.
	awk -v lost="$(account .unrecorded.samples "$T/json")" -v all="$(account .samples "$T/json")" \
		'BEGIN { printf "Processed %d samples and lost %.2f%%!\n", all, 100 * lost / all }' >"$T/warning"
	grep -qxFf "$T/warning" "$T/complaints"
	perf profile report "$T/x" >"$T/text"
	grep -qF "# lost: $LOST, " "$T/text"
}

@test "a session that is stopped loses only records of its own" {
	require_debian_perf
	local stopped pid
	background /dev/null spin 1000000000000
	pid=$!
	start_profile stopped -F 1000 -p $pid -j --each=20
	stopped=$!
	kill -STOP "$stopped"
	profile -F 1000 -p $pid -j --each -o "$T/beside" -- "$WORKLOADS/ran" 0.5 $pid >"$T/beside.json"
	kill -CONT "$stopped"
	kill -INT "$stopped"
	wait "$stopped"
	adds_up "$T/beside.json" "$T/beside"
	diff /dev/null "$T/complaints" >&2
	[ "$(account .unrecorded.samples "$T/beside.json")" = 0 ]
	adds_up "$T/stopped.json" "$T/stopped"
	[ "$(account .samples "$T/beside.json")" -gt 50 ]
	# It has all samples that the other one took beside it; of these, 20 at most had room.
	[ "$(account .samples "$T/stopped.json")" -ge "$(account .samples "$T/beside.json")" ]
	[ "$(account .unrecorded.samples "$T/stopped.json")" -ge "$(($(account .samples "$T/beside.json") - 20))" ]
}

@test "sessions with and without single samples share an event" {
	require_debian_perf
	local pid each ms
	background /dev/null spin 1000000000000
	pid=$!
	start_profile each -F 500 -p $pid -j --each
	each=$!
	begin_witness
	ms=$(executed_ms $pid)
	profile -F 1000 -p $pid -j -s comm,sym -- "$WORKLOADS/ran" 0.3 $pid >"$T/plain.json"
	ms=$(($(executed_ms $pid) - ms))
	end_witness
	kill -INT "$each"
	wait "$each"
	adds_up "$T/each.json" "$T/each"
	[ "$(account .unrecorded.samples "$T/each.json")" = 0 ]
	[ "$(jq -s 'map(.samples // 0 | numbers) | add' "$T/plain.json")" = "$(account .samples "$T/plain.json")" ]
	# A busy machine's clock is late, and drops samples. With those of both sessions there would be half as many more.
	in_range "$(account .samples "$T/plain.json")" $((100 - $(unsampled 1000 pid $pid))) \
		$((ms * 12 / 10 + $(strangers 1000 pid $pid)))
	# The slower one keeps samples of its own period, also while the event has a shorter one.
	refute awk '$2 % 2000000 { bad = 1 } END { exit !bad }' "$T/singles"
	grep -q ' 2000000$' "$T/singles"
}

# reported FILE : the report is complete
reported() {
	grep -qE '^ +[0-9]+\.[0-9]+% ' "$1"
	grep -qE '^# [0-9,]+ samples stand for ' "$1"
}

@test "a full disk and a limit of the file are a line, keep the report and the file before, and leave nothing" {
	local status=0
	profile -F 1000 --each -o /dev/full -- blend 20000 >"$T/out" 2>"$T/err" || status=$?
	[ "$status" = 1 ]
	[ "$(complaints "$T/err")" = "perf profile: writing /dev/full failed: No space left on device" ]
	reported "$T/out"
	mkdir "$T/small"
	mount -t tmpfs -o size=8k none "$T/small"	# of two pages one is taken
	echo before >"$T/small/x"
	profile -F 1000 --each -o "$T/small/x" -- blend 20000 >"$T/out" 2>"$T/err" || status=$?
	ls -A "$T/small" >"$T/left"
	cat "$T/small/x" >>"$T/left"
	umount "$T/small"
	diff -u <(printf '%s\n' x before) "$T/left" >&2
	[ "$(complaints "$T/err")" = "perf profile: writing $T/small/x failed: No space left on device" ]
	reported "$T/out"
	# SIGXFSZ would end perf without a word; the command has it as ever
	status=0
	(
		ulimit -f 1	# less than a file without samples
		profile -F 1000 --each -o "$T/limited" -- sh -c 'blend 20000; grep SigIgn: /proc/self/status >&2' 2>"$T/err"
	) | cat >"$T/out" || status=$?
	grep -v SigIgn "$T/err" >"$T/lines"
	[ "$(complaints "$T/lines")" = "perf profile: writing $T/limited failed: File too large" ]
	[ "$((0x$(sed -n 's/^SigIgn:\t//p' "$T/err") >> 24 & 1))" = 0 ]	# SIGXFSZ is 25
	[ ! -e "$T/limited" ]
	reported "$T/out"
}

@test "a message names --each where the kernel gives no room for its samples" {
	require_commands gcc
	refusing refusing <<-'EOF'
		static long refused(long nr, const long *args)
		{
			return nr == SYS_bpf && args[0] == BPF_MAP_CREATE && !strcmp(((union bpf_attr *)args[1])->map_name, "perf_records") ? atoi(getenv("REFUSED")) : 0;
		}
	EOF
	local number cpus
	cpus=$(nr_cpus)
	for number in 7 12; do # E2BIG, ENOMEM
		refused 1 env REFUSED=$number LD_PRELOAD="$T/refusing.so" perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock --each=1000000 -o "$T/x" -- true \
			<<<"perf profile: cannot sample: --each=1000000 takes $((2 * cpus * 1000000 * 24 >> 20)) MB for $cpus CPUs, which the kernel does not give: give a smaller number"
	done
	refused 1 env REFUSED=1 LD_PRELOAD="$T/refusing.so" perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock --each -o "$T/x" -- true \
		<<<"perf profile: cannot sample: Operation not permitted"
}

# hindered : make a library that counts writes at a place, and lets no file be mapped that can be written to
hindered() {
	cat >"$T/hindered.c" <<-'EOF'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <errno.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/mman.h>
		#include <sys/stat.h>
		#include <unistd.h>

		static int nr_writes;

		ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
		{
			nr_writes++;
			return ((ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64"))(fd, bytes, len, at);
		}

		ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
		{
			return pwrite64(fd, bytes, len, at);
		}

		void *mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t from)
		{
			struct stat st;

			if (flags & MAP_SHARED && !fstat(fd, &st) && S_ISREG(st.st_mode) && !st.st_nlink) {
				errno = ENOMEM;
				return MAP_FAILED;
			}
			return ((void *(*)(void *, size_t, int, int, int, off64_t))dlsym(RTLD_NEXT, "mmap64"))(at, len, prot, flags, fd, from);
		}

		void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t from)
		{
			return mmap64(at, len, prot, flags, fd, from);
		}

		__attribute__((destructor)) static void report(void)
		{
			FILE *out = nr_writes ? fopen(getenv("WRITES"), "w") : NULL;

			if (out) {
				fprintf(out, "%d\n", nr_writes);
				fclose(out);
			}
		}
	EOF
	gcc -shared -fPIC -o "$T/hindered.so" "$T/hindered.c"
}

@test "single samples that cannot be sorted leave a file of sums, and few system calls write them" {
	require_debian_perf
	require_commands gcc
	hindered
	WRITES=$T/writes LD_PRELOAD=$T/hindered.so profile -F 5000 -j --each -o "$T/x" -- blend 50000 2>"$T/err" >"$T/json"
	[ "$(complaints "$T/err")" = "perf profile: --each: single samples cannot be sorted: Cannot allocate memory: the file has one for all equal ones, without times" ]
	perf profile report -j "$T/x" | diff -u "$T/json" - >&2
	theirs script -F comm,ip,sym,period -i "$T/x" >"$T/script"
	[ "$(sed -nE 's/^[^\t ].* ([0-9]+) *$/\1/p' "$T/script" | awk '{ sum += $1 } END { print sum }')" = "$(account .weight "$T/json")" ]
	[ "$(account .samples "$T/json")" -gt 200 ]
	# a second or less, and at least one call each second; one for each sample would be 200 and more
	in_range "$(<"$T/writes")" 1 20
}

@test "single samples that the directory for temporary files has no room for are lost, with their number" {
	require_debian_perf
	mkdir "$T/small"
	mount -t tmpfs -o size=4k none "$T/small"
	TMPDIR=$T/small profile -F 5000 -j --each -o "$T/x" -- blend 100000 >"$T/json"
	umount "$T/small"
	adds_up "$T/json" "$T/x"
	[ "$(wc -l <"$T/singles")" = 170 ]	# 4,096 bytes, 24 each
	[ "$(account .unrecorded.samples "$T/json")" -gt 0 ]
	refused 1 env TMPDIR="$T/none" perf profile --each -o "$T/y" -- true \
		<<<"perf profile: --each: keeping single samples in a temporary file failed: No such file or directory"
	[ ! -e "$T/y" ]
}
