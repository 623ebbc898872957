#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shares of modes and of cgroups in samples of cycles are those of exact counts within 2 points, as promised for
# 10,000 samples.

load sample
load cgroups

requirements() {
	require_root
	PATH=$WORKLOADS:$PATH
}

teardown() {
	end_jobs
	remove_top
	remove_map
}

# The period is prime, so that no phase of a turn is sampled more often than another.
period=20011

# user_part : of two numbers, the percent that the first has of both
user_part() {
	awk '{ printf "%.2f\n", $1 / ($1 + $2) * 100 }'
}

# counted TURNS ITER BYTES : print the percent of a command's cycles in user mode, as perf stat counts
counted() {
	perf stat -x, -o "$T/counts" -e cycles:u,cycles:k modes "$@"
	awk -F, '/cycles/ { print $1 }' "$T/counts" | paste -sd ' ' | user_part
}

# see TURNS ITER BYTES : set $seen to the percent of a command's samples in user mode
see() {
	sampled -k 0x100 -c $period cycles modes "$@" >"$T/out"
	adds_up "$T/out"
	[ "$(total kept.nr "$T/out")" -ge 10000 ]
	awk -F '\t' '$1 == "entry" { weight[$7] += $9 } END { print weight["u"], weight["k"] }' "$T/out" | user_part >"$T/seen"
	read -r seen <"$T/seen"
}

# is_near A B : both are numbers, and differ by 2 points at most
is_near() {
	# as promised for 10,000 samples
	in_range "$1" "$(awk -v b="$2" 'BEGIN { print (b > 2) ? b - 2 : 0 }')" "$(awk -v b="$2" 'BEGIN { print b + 2 }')"
}

@test "user and kernel mode have the shares that perf stat counts" {
	local mix user
	# Long work in the kernel, which interrupts may interrupt
	for mix in "4000 10000 65536" "1100 40000 262144"; do
		# shellcheck disable=SC2086 # words
		user=$(counted $mix)
		# shellcheck disable=SC2086 # words
		see $mix
		is_near "$seen" "$user"
	done
}

@test "short system calls have the share that the machine's interrupts give them" {
	# The kernel masks interrupts before it returns to user mode, and this machine has none that are not masked.
	# A sample that is due then comes in user mode. Here 22 percent of the cycles are of user mode, and 27 percent
	# of the samples, also of those that no program takes. These are the witness. The interrupts of both take
	# different times in the kernel, so only samples of user mode are compared.
	local _ user kernel all mine
	modes -c $period 250000 100 16 >"$T/witness"
	read -r _ user kernel <"$T/witness"
	all=$((user + kernel))
	[ "$all" -ge 10000 ]
	see 250000 100 16
	mine=$(awk -F '\t' '$1 == "entry" && $7 == "u" { nr += $8 } END { print nr + 0 }' "$T/out")
	is_near "$(user_part <<<"$mine $((all - mine))")" "$(user_part <<<"$user $kernel")"
}

# cgroup_shares FILE VALUE NAME : print the percent that cgroups a, b and c have of all three, from CSV with a value
# and a name in these columns
cgroup_shares() {
	awk -F, -v value="$2" -v column="$3" '
		{ sub(/.*\//, "", $column); part[$column] += $value }
		END {
			all = part["a"] + part["b"] + part["c"]
			for (i = 1; all && i <= 3; i++)
				printf "%.2f\n", part[substr("abc", i, 1)] / all * 100
		}' "$1"
}

@test "cgroups at 1:2:1 have shares of 25, 50 and 25 percent, as perf stat counts" {
	local way part list procs share count
	make_top
	mkdir "$top"/{a,b,c}
	list=$name/a,$name/b,$name/c procs=("$top"/{a,b,b,c}/cgroup.procs)
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/counts" -a -e cycles --for-each-cgroup "$list" -- \
		in_cgroups 25500000 "${procs[@]}"
	cgroup_shares "$T/counts" 1 4 >"$T/parts"
	for way in --bpf --no-bpf; do
		perf profile $way --bpf-attr-map "$ATTR_MAP" -e cycles -c $period -x, -s cgroup -a \
			--for-each-cgroup "$list" -- in_cgroups 25500000 "${procs[@]}" >"$T/csv"
		[ "$(awk -F, '/^cycles,/ { nr += $3 } END { print nr + 0 }' "$T/csv")" -ge 10000 ]
		cgroup_shares "$T/csv" 4 5 >"$T/shares"
		[ "$(wc -l <"$T/shares")" = 3 ]
		for part in 25 50 25; do
			read -r share && read -r count <&4
			is_near "$share" "$part"
			is_near "$share" "$count"
		done <"$T/shares" 4<"$T/parts"
	done
}
