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

# verified : print how many instructions the verifier looked at in the largest sampling program
verified() {
	leader_objects | awk '$3 == "on_sample" && $4 > max { max = $4 } END { print max + 0 }'
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

# adds_up FILE : samples of all kinds and losses are what the event counted, within half a percent: at each
# CPU's start and end a part of a period is in the one and not in the other
adds_up() {
	awk -F '\t' '$1 == "total" { t[$3] = $4 }
		END {
			sum = t["kept"] + t["idle"] + t["other"] + t["thinned"]
			sum += t["table full"] + t["late"] + t["dropped by the kernel"]
			if (!t["counted"] || sum < t["counted"] * 0.995 || sum > t["counted"] * 1.005) {
				print sum " of " t["counted"] > "/dev/stderr"
				exit 1
			}
		}' "$1"
}
