# SPDX-License-Identifier: GPL-2.0
# Helpers of tests that sample, by tests/drivers/sampler.

load helpers

SAMPLER=${WORKLOADS%/*}/drivers/sampler
T=$BATS_TEST_TMPDIR

# sampled OPTION... : sample through this test's map
sampled() {
	"$SAMPLER" -m "$ATTR_MAP" "$@"
}

# start_sampler NAME OPTION... : the same in the background, into $T/NAME; waits until it samples
start_sampler() {
	local name=$1
	shift
	background "$T/$name" "$SAMPLER" -m "$ATTR_MAP" "$@"
	sampler_pid=$!
	wait_for grep -q '^ready' "$T/$name"
}

# end_sampler : it prints its totals, and succeeds
end_sampler() {
	kill -INT "$1"
	wait "$1"
}

# slots : the slots that are taken, as tests/workloads/sample_slots prints them
slots() {
	"$WORKLOADS/sample_slots" "$ATTR_MAP"
}

# slots_are LINES
slots_are() {
	[ "$(slots)" = "$1" ]
}

# rate_is NS... : the slots that are taken have events of this period, 0 for none, on all CPUs
rate_is() {
	[ "$(slots | awk '{ for (i = 4; i <= NF; i++) print $i }' | sort -u)" = "$(printf '%s\n' "$@")" ]
}

# no_sessions : nobody shares any more
no_sessions() {
	[ "$(nr_sessions)" = 0 ] || [ -z "$(nr_sessions)" ]
}

# is_stopped PID
is_stopped() {
	grep -q '^[0-9]* ([^)]*) T' "/proc/$1/stat"
}

# verified_quickly : the verifier walks few instructions of a sampling program. Others wait for the session meanwhile:
# 60,000 instructions took more than a second on 7.3, emulated.
verified_quickly() {
	local loads verified
	background "$T/loads" env PERF_TEST_STOP_AT=sample-event-opened "$SAMPLER" -m "$ATTR_MAP" -q -a -F 99 cpu-clock
	loads=$!
	wait_for is_stopped "$loads"	# which has the program open
	verified=$(sed -n 's/^verified_insns:\t//p' /proc/$loads/fdinfo/* | sort -n | tail -n 1)
	kill -KILL "$loads"
	# A program was found, and has a third of that: measured 15,578.
	in_range "$verified" 2000 20000
}

# total NAME FILE [EVENT] : a number of the totals
total() {
	awk -F '\t' -v name="$1" -v event="${3:-0}" '$1 == "total" && $2 == event && $3 == name { print $4 }' "$2"
}

# samples_of PID FILE : print how many samples this process has
samples_of() {
	awk -F '\t' -v pid="$1" '$1 == "entry" && $4 == pid { nr += $8 } END { print nr + 0 }' "$2"
}

# samples_of_others FILE PID... : print how many samples all but these processes have
samples_of_others() {
	local file=$1
	shift
	awk -F '\t' -v pids=" $* " '$1 == "entry" && !index(pids, " " $4 " ") { nr += $8 }
		END { print nr + 0 }' "$file"
}

# adds_up FILE : samples of all kinds and losses are the event's count. At its start and end a part of a period of each CPU
# is in the one and not in the other. Where the kernel adapts the period, it is half a percent at most.
adds_up() {
	awk -F '\t' -v cpus="$(getconf _NPROCESSORS_ONLN)" '$1 == "total" { t[$3] = $4 }
		END {
			sum = t["kept"] + t["idle"] + t["mode"] + t["other"] + t["elsewhere"] + t["thinned"]
			sum += t["table full"] + t["late"] + t["dropped by the kernel"] + t["throttled"]
			slack = t["period"] ? t["period"] * cpus : t["counted"] * 0.005
			if (!t["counted"] || sum < t["counted"] - slack || sum > t["counted"] + slack) {
				print sum " of " t["counted"] ", which may differ by " slack > "/dev/stderr"
				exit 1
			}
		}' "$1"
}
