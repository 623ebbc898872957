#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sampled events that the kernel refuses while a session samples.

load sample

requirements() {
	require_root
	require_commands gcc jq
	PATH=$WORKLOADS:$PATH
}

# refusing_clocks : make a library that gets no clock to sample on CPU 0 while $T/refused has an errno, and then makes
# $T/refused.seen
refusing_clocks() {
	refusing refusing <<-'EOF'
		static long refused(long nr, const long *args)
		{
			const struct perf_event_attr *attr = (void *)args[0];
			int number = 0;
			char seen[300];
			FILE *file;

			if (nr != SYS_perf_event_open || args[2] || !attr->sample_period ||
			    attr->type != PERF_TYPE_SOFTWARE || attr->config != PERF_COUNT_SW_CPU_CLOCK)
				return 0;
			file = fopen(getenv("REFUSED"), "r");
			if (file && fscanf(file, "%d", &number) != 1)
				number = 0;
			if (file)
				fclose(file);
			snprintf(seen, sizeof(seen), "%s.seen", getenv("REFUSED"));
			file = number ? fopen(seen, "w") : NULL;
			if (file)
				fclose(file);
			return number;
		}
	EOF
}

# later CONDITION : the condition of jq holds for a line of an interval that ends from now on
later() {
	local lines
	lines=$(wc -l <"$T/json")
	# The last line may be half of one.
	wait_for jq -n -R -e --argjson from "$lines" \
		"[inputs | select(input_line_number > \$from) | fromjson? // {}] | any($1)" "$T/json" && return
	cat "$T/err" "$T/json" >&2
	return 1
}

# sampled_again : so is CPU 0, and nothing is missing any more
sampled_again() {
	later '.cpu == 0'
	later '.account.absent_ns == 0'
}

# lose ERRNO CONDITION : a faster session ends, and the event of CPU 0 cannot be opened at the rate of the slower one.
# From then on, the condition holds for an interval.
lose() {
	start_sampler fast -q -a -F 1999 cpu-clock
	rm -f "$T/refused.seen"
	echo "$1" >"$T/refused"
	kill -KILL "$sampler_pid"
	# Before, the time in which one event takes the place of another may be reported.
	wait_for test -e "$T/refused.seen"
	later "$2"
}

@test "an event that cannot be opened again is reported, and opened as soon as possible" {
	# CPU 1 is sampled as before.
	local session number lost='.account.absent_ns > 0 and .account.samples > 0'
	[ "$(nproc)" -gt 1 ] || skip_or_fail "needs two CPUs"
	refusing_clocks
	background /dev/null nice -n 19 taskset -c 0 spin 1000000000000
	background /dev/null nice -n 19 taskset -c 1 spin 1000000000000
	: >"$T/json"
	LD_PRELOAD=$T/refusing.so REFUSED=$T/refused perf profile --bpf-attr-map "$ATTR_MAP" -a -e cpu-clock -F 100 -I 200 -j -s cpu \
		>"$T/json" 2>"$T/err" 3>&- &
	session=$!
	jobs_started+=("$session")
	sampled_again
	lose 28 "$lost" # ENOSPC
	rm "$T/refused"
	sampled_again
	# No error is for good.
	for number in 12 24; do # ENOMEM, EMFILE
		lose $number "$lost"
		rm "$T/refused"
		sampled_again
	done
	# Another session that may open it does so for both.
	lose 24 "$lost"
	start_sampler other -q -a -F 50 cpu-clock
	sampled_again
	end_sampler "$sampler_pid"
	kill -INT "$session"
	wait "$session"
	diff -u - "$T/err" >&2 <<<"perf profile: cpu-clock is not sampled on CPU 0: No space left on device (perf tries again each second)"
}

@test "a report has the time in which an event takes the place of another" {
	local session fast
	background /dev/null nice -n 19 taskset -c 0 spin 1000000000000
	: >"$T/json"
	perf profile --bpf-attr-map "$ATTR_MAP" -a -e cpu-clock -F 100 -I 200 -j -s cpu >"$T/json" 2>"$T/err" 3>&- &
	session=$!
	jobs_started+=("$session")
	sampled_again
	# The event of the first CPU is closed, and the next one is not open yet.
	background "$T/fast" env PERF_TEST_STOP_AT=sample-event-read "$SAMPLER" -m "$ATTR_MAP" -q -a -F 1999 cpu-clock
	fast=$!
	wait_for is_stopped "$fast"
	later '.account.absent_ns > 100000000'
	# Each step stops it.
	kill -KILL "$fast"
	sampled_again
	kill -INT "$session"
	wait "$session"
	is_silent "$T/err"
}

@test "a report has the time that was not sampled" {
	local session
	refusing_clocks
	background /dev/null nice -n 19 taskset -c 0 spin 1000000000000
	background "$T/out" env LD_PRELOAD="$T/refusing.so" REFUSED="$T/refused" perf profile --bpf-attr-map "$ATTR_MAP" \
		-C 0 -e cpu-clock -F 100
	session=$!
	wait_for has_sessions 1
	wait_for has_text poll "/proc/$session/wchan"
	start_sampler fast -q -a -F 1999 cpu-clock
	echo 28 >"$T/refused"
	kill -KILL "$sampler_pid"
	wait_for has_text 'is not sampled on CPU 0' "$T/out"
	# Up to 10 ms are differences of the kernel's clocks.
	sleep 0.1
	kill -INT "$session"
	wait "$session"
	grep -qE '^# lost: the event was not open, [0-9,]+ msec of CPU time$' "$T/out"
}

# refusing_programs : make a library with which programs of samples cannot be loaded while $T/refused is there
refusing_programs() {
	refusing refusing <<-'EOF'
		#include <unistd.h>
		static long refused(long nr, const long *args)
		{
			const union bpf_attr *attr = (void *)args[1];
			char seen[300];
			FILE *file;

			if (nr != SYS_bpf || args[0] != BPF_PROG_LOAD || attr->prog_type != BPF_PROG_TYPE_PERF_EVENT ||
			    access(getenv("REFUSED"), F_OK))
				return 0;
			snprintf(seen, sizeof(seen), "%s.seen", getenv("REFUSED"));
			file = fopen(seen, "w");
			if (file)
				fclose(file);
			return 12; /* ENOMEM */
		}
	EOF
}

@test "an event whose next program cannot be loaded stays, and is replaced as soon as possible" {
	local session
	refusing_programs
	background /dev/null nice -n 19 taskset -c 0 spin 1000000000000
	: >"$T/json"
	LD_PRELOAD=$T/refusing.so REFUSED=$T/refused perf profile --bpf-attr-map "$ATTR_MAP" -C 0 -e cpu-clock -F 100 -I 200 -j -s cpu \
		>"$T/json" 2>"$T/err" 3>&- &
	session=$!
	jobs_started+=("$session")
	sampled_again
	rate_is 0 10000000
	start_sampler fast -q -a -F 1999 cpu-clock
	rate_is 500250
	echo >"$T/refused"
	kill -KILL "$sampler_pid"
	wait_for test -e "$T/refused.seen"
	# It goes on at the higher rate, and nothing is missing.
	sampled_again
	rate_is 0 500250
	rm "$T/refused"
	wait_for rate_is 0 10000000
	kill -INT "$session"
	wait "$session"
	is_silent "$T/err"
}
