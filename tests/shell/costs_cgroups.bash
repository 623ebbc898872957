#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What counting by cgroup costs at a context switch, in instructions, on the emulated machine arm1:
# as costs.bash, which this uses. The rows are
#
#	CEILING|CGROUPS|DEPTH|EVENTS|HOW|WHERE
#
# CEILING	instructions that may be added to a switch, - for what is only compared with
# CGROUPS	how many are counted
# DEPTH		how deep the two tasks' cgroups are, with all above them, but the root, counted, too
# EVENTS	how many
# HOW		shared or plain
# WHERE		within: both tasks are in one counted cgroup. between: in two counted ones. beside: in
#		two cgroups that nobody counts. out: one in a counted one, the other not.

# shellcheck source=tests/shell/costs.bash
. "$(dirname "${BASH_SOURCE[0]}")/costs.bash"

cgroup_rows=(
	"200|1|1|1|shared|within"
	"200|10|1|1|shared|within"
	"200|100|1|1|shared|within"
	"200|500|1|1|shared|within"
	"200|500|12|1|shared|within"
	"200|500|12|6|shared|within"
	"270|500|1|1|shared|beside"
	"800|1|1|1|shared|out"
	"800|2|1|1|shared|between"
	"800|10|1|1|shared|between"
	"800|100|1|1|shared|between"
	"800|500|1|1|shared|between"
	"800|500|12|1|shared|between"
	"1200|500|1|2|shared|between"
	"2000|2|1|4|shared|between"
	"2000|500|12|4|shared|between"
	"2800|500|1|6|shared|between"
	"-|2|1|1|plain|within"
	"-|2|1|1|plain|between"
	"-|10|1|1|plain|between"
	"-|100|1|1|plain|between"
	"-|2|1|4|plain|between"
	"-|100|1|4|plain|between"
)

cgroup_top=/sys/fs/cgroup/costs_$$

# cgroup_of N DEPTH : the directory of the N-th, so deep below the top
cgroup_of() {
	local path=$cgroup_top/w$1 i
	for ((i = 1; i < $2; i++)); do path+=/d$i; done
	echo "$path"
}

# cgroup_list NR DEPTH : what --for-each-cgroup takes: all of the first two paths, then others
cgroup_list() {
	local n path list=() i
	for n in 0 1; do
		[ "$n" -lt "$1" ] || break
		path=$cgroup_top/w$n
		list+=("$path")
		for ((i = 1; i < $2; i++)); do path+=/d$i; list+=("$path"); done
	done
	for ((n = 2; ${#list[@]} < $1; n++)); do list+=("$cgroup_top/w$n"); done
	list=("${list[@]#/sys/fs/cgroup/}")
	(IFS=,; echo "${list[*]}")
}

make_cgroups() {
	local n
	mkdir -p "$(cgroup_of 0 12)" "$(cgroup_of 1 12)" "$cgroup_top"/u{0,1}
	for ((n = 2; n < 500; n++)); do mkdir -p "$cgroup_top/w$n"; done
}

remove_cgroups() {
	[ ! -d "$cgroup_top" ] || find "$cgroup_top" -depth -type d -exec rmdir {} +
}

# cgroup_pair WHERE DEPTH : where the two tasks are
cgroup_pair() {
	case $1 in
	within) echo "$(cgroup_of 0 "$2") $(cgroup_of 0 "$2")" ;;
	between) echo "$(cgroup_of 0 "$2") $(cgroup_of 1 "$2")" ;;
	out) echo "$(cgroup_of 0 "$2") $cgroup_top/u0" ;;
	beside) echo "$cgroup_top/u0 $cgroup_top/u1" ;;
	esac
}

# pair_switch : sets $one_switch, with nothing counted but what is by now
pair_switch() {
	player && one_switch && stop_player
}

# cgroup_row ROW : prints the row; fails when it is above its ceiling
cgroup_row() {
	local ceiling nr depth events how where base
	IFS='|' read -r ceiling nr depth events how where <<<"$1"
	read -r -a player_procs <<<"$(cgroup_pair "$where" "$depth")"
	player_procs=("${player_procs[@]/%//cgroup.procs}")
	count_by "$how"
	pair_switch || return 1
	base=$one_switch
	counted -a -e "$(nth_events same "$events" 0)" --for-each-cgroup "$(cgroup_list "$nr" "$depth")"
	# Also the kernel follows switches for perf events a second longer than it must.
	if ! until_all_wait || ! sleep 1.5 || ! pair_switch; then
		echo "$nr cgroups: not measured"
		stop_all
		return 1
	fi
	stop_all
	awk -v nr="$nr" -v depth="$depth" -v events="$events" -v how="$how" -v where="$where" \
		-v with="$one_switch" -v base="$base" -v ceiling="$ceiling" 'BEGIN {
		printf "| %-7s | %-6s | %7d | %5d | %6d | %7.1f | %7s |\n", where, how, nr, depth, events,
			with - base, ceiling
		exit with !~ /^[0-9.]+$/ || base !~ /^[0-9.]+$/ ||
			(ceiling != "-" && with - base > ceiling) }'
}

cgroup_table() {
	local row failed=0
	sleep 2		# what the machine still does after booting
	make_cgroups
	echo "| tasks   | how    | cgroups | depth | events |   added | ceiling |"
	echo "|---|---|---:|---:|---:|---:|---:|"
	for row in "${cgroup_rows[@]}"; do
		cgroup_row "$row" || failed=1
	done
	remove_cgroups
	return $failed
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	trap 'costs_end; remove_cgroups' EXIT
	echo "## Instructions added to a context switch, counting by cgroup"
	echo
	cgroup_table
fi
