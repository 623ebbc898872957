#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile --ip and --data: rows of instructions, of pages of code, and of addresses of data.

load profile

# profile OPTION... : sample through this test's map
profile() {
	perf profile --bpf-attr-map "$ATTR_MAP" "$@"
}

# rows FILE FILTER : the rows of a report in JSON that a filter of jq leaves, without the account
rows() {
	jq -c "select(.account == null) | select($2)" "$1"
}

# percent FILE FILTER : the part of these rows
percent() {
	rows "$1" "$2" | jq -s 'map(.overhead) | add // 0'
}

@test "instructions of a function add up to it" {
	local way
	for way in --bpf --no-bpf; do
		profile $way -e cpu-clock -F 5000 --ip=address -j -- blend 200000 >"$T/json"
		# With 2,500 samples a share of 40 percent has a standard deviation of 1 point.
		in_range "$(percent "$T/json" '.ip | startswith("blend_b+0x")')" 33 47
		[ -n "$(rows "$T/json" '.dso == "blend" and (.ip | test("^blend_a\\+0x[0-9a-f]+$"))')" ]
	done
}

@test "--ip alone has a row for each function" {
	profile -e cpu-clock -F 2000 --ip -j -- blend 100000 >"$T/json"
	# With 250 samples a share of 40 percent has a standard deviation of 3.1 points.
	in_range "$(percent "$T/json" '.sym == "blend_b"')" 30 50
}

@test "pages of code are those of the file" {
	local way page address
	# All functions of blend that compute are within one page or two.
	address=$(nm "$WORKLOADS/blend" | awk '$3 == "blend_b" { print $1 }')
	page=$(printf 'blend+0x%x' $((0x$address & -$(getconf PAGESIZE))))
	for way in --bpf --no-bpf; do
		profile $way -e cpu-clock -F 2000 --ip=page -j -- blend 100000 >"$T/json"
		# that of blend_b alone, as above; measured 98 and more, with all functions in one page
		at_least "$(percent "$T/json" ".page == \"$page\"")" 30
		[ -z "$(rows "$T/json" '.page | test("000$") | not')" ]
	done
}

# pairs FILE : the processes of the rows with their priorities
pairs() {
	rows "$1" '.comm == "spin"' | jq -r '"\(.pid) \(.prio)"' | sort
}

# samples_both : both processes have samples; the machine may be too busy for one of them
samples_both() {
	profile "$@" -e cpu-clock -F 2000 -s comm,pid,prio -j -p "$(IFS=,; echo "${pids[*]}")" --timeout 300 >"$T/json" &&
		[ "$(pairs "$T/json" | cut -d ' ' -f 1 | uniq | wc -l)" = 2 ]
}

@test "the column prio has the priorities of tasks, with BPF, without, and for --prog" {
	local way nice pids=() want=()
	# The tests may themselves run with a nice value.
	for nice in 0 10; do
		background /dev/null nice -n $nice spin 1000000000000
		pids+=($!)
		want+=("$! $((120 + $(nice -n $nice nice)))")
		wait_for has_line spin "/proc/$!/comm"
	done
	for way in --bpf --no-bpf "--prog=$WORKLOADS/samples.bpf.o"; do
		wait_for samples_both "$way"
		# Each process has one priority, its own.
		diff -u <(printf '%s\n' "${want[@]}" | sort) <(pairs "$T/json") >&2
	done
}

# untaken FILE : print how many events had no sample, on all CPUs. The kernel runs no sampling program while another
# task, in a call of bpf(), waits for this CPU. All samples that it took are in the tables.
untaken() {
	jq -e '.account // empty | if .lost.table.samples + .lost.late.samples > 0 then error("lost") else
		.counted - .samples - .other.samples - .idle.samples end' "$1"
}

@test "each fault has the address of its page" {
	local way size nr missed
	size=$(getconf PAGESIZE)
	for way in --bpf --no-bpf; do
		begin_witness
		profile $way -e page-faults -c 1 -d -j -- faults 500 >"$T/json"
		end_witness
		missed=0
		[ $way = --no-bpf ] || missed=$(($(missed events comm faults) + $(untaken "$T/json")))
		rows "$T/json" '.sym == "main" and .dso == "faults" and .samples == 1' |
			jq -r .daddr >"$T/addresses"
		nr=$(wc -l <"$T/addresses")
		# Events at hidden switches have no sample, and others that the kernel does not sample (untaken).
		in_range "$nr" $((500 - missed)) 500
		[ "$(sort -u "$T/addresses" | wc -l)" = "$nr" ]
		# The pages follow each other.
		while read -r address; do echo $((address / size)); done <"$T/addresses" | sort -n >"$T/pages"
		# The first or the last pages can be among these.
		in_range "$(awk 'NR == 1 { first = $1 } END { print $1 - first }' "$T/pages")" $((499 - missed)) 499
	done
}

@test "--data=page sums up the addresses of a page" {
	local way nr
	for way in --bpf --no-bpf; do
		begin_witness
		profile $way -e page-faults -c 1 --data=page -s comm -j -- faults 100 >"$T/json"
		end_witness
		[ -z "$(rows "$T/json" '.daddr | test("000$") | not')" ]
		nr=$(rows "$T/json" '.comm == "faults"' | wc -l)
		if [ $way = --bpf ]; then
			explained 100 400 comm faults <<<"$nr"
		else
			# The start of the program has less than 300. No program hides samples of a ring buffer.
			in_range "$nr" 100 400
		fi
	done
}

@test "events without a data address are refused" {
	refused 22 perf profile -d -e page-faults,cpu-clock true <<<"perf profile: 'cpu-clock' has no data address: only faults, breakpoints and precise events (:p) have one"
	refused 22 perf profile -s daddr -e context-switches true <<<"perf profile: 'context-switches' has no data address: only faults, breakpoints and precise events (:p) have one"
}

@test "values and combinations that make no sense are refused" {
	fails_with 129 "perf profile: --ip up: not one of symbol, address, page, line" perf profile --ip=up
	fails_with 129 "perf profile: --data up: not one of address, page" perf profile --data=up
	refused 22 perf profile --ip -g true <<<"perf profile: --ip has no stacks: without -g, --stacks and --folded"
	refused 22 perf profile --ip -s sym true <<<"perf profile: --ip and -s are mutually exclusive"
	refused 22 perf profile -d --folded true <<<"perf profile: -d adds a column: without --stacks and --folded"
}
