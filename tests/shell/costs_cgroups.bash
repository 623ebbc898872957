#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What counting by cgroup costs at a context switch, in instructions, on the emulated machine arm1:
# as costs.bash, which this uses. The rows are
#
#	WHEN|CEILING|CGROUPS|EVENTS|HOW|WHERE|DEPTH
#
# WHEN		test: in both; bench: not in the test, which must not take for ever
# CEILING	instructions that may be added to a switch, - for what is only compared with
# CGROUPS	how many are counted: those of the two tasks first, of 24 and more with all above
#		them, but the root
# EVENTS	how many
# HOW		shared or plain
# WHERE		within: both tasks are in one counted cgroup. between: in two counted ones. beside: in
#		two cgroups that nobody counts. out: one in a counted one, the other not.
# DEPTH		how deep these are
#
# Rows in sequence with the same cgroups, events and HOW are measured while one run counts.

# shellcheck source=tests/shell/costs.bash
. "$(dirname "${BASH_SOURCE[0]}")/costs.bash"

cgroup_rows=(
	"test|200|1|1|shared|within|1"
	"test|800|1|1|shared|out|1"
	"bench|800|2|1|shared|between|1"
	"bench|200|10|1|shared|within|1"
	"bench|800|10|1|shared|between|1"
	"bench|200|100|1|shared|within|1"
	"bench|800|100|1|shared|between|1"
	"test|200|500|1|shared|within|1"
	"test|200|500|1|shared|within|12"
	"test|800|500|1|shared|between|1"
	"test|800|500|1|shared|between|12"
	"test|270|500|1|shared|beside|1"
	"bench|800|500|1|shared|out|1"
	"bench|1200|500|2|shared|between|1"
	"test|2000|2|4|shared|between|1"
	"bench|2000|500|4|shared|between|12"
	"test|200|500|6|shared|within|12"
	"test|2800|500|6|shared|between|12"
	"bench|2800|500|6|shared|between|1"
	"bench|-|2|1|plain|within|1"
	"bench|-|2|1|plain|between|1"
	"bench|-|10|1|plain|between|1"
	"bench|-|100|1|plain|between|1"
	"bench|-|2|4|plain|between|1"
	"bench|-|100|4|plain|between|1"
)

cgroup_top=/sys/fs/cgroup/costs_$$

# cgroup_of N DEPTH : the directory of the N-th, so deep below the top
cgroup_of() {
	local path=$cgroup_top/w$1 i
	for ((i = 1; i < $2; i++)); do path+=/d$i; done
	echo "$path"
}

# cgroup_list NR : what --for-each-cgroup takes
cgroup_list() {
	local n path list=() i depth=1
	[ "$1" -lt 24 ] || depth=12
	for ((n = 0; n < 2 && n < $1; n++)); do
		path=$cgroup_top/w$n
		list+=("$path")
		for ((i = 1; i < depth; i++)); do path+=/d$i; list+=("$path"); done
	done
	for ((n = 2; ${#list[@]} < $1; n++)); do list+=("$cgroup_top/w$n"); done
	list=("${list[@]#/sys/fs/cgroup/}")
	(IFS=,; echo "${list[*]}")
}

make_cgroups() {
	mkdir -p "$(cgroup_of 0 12)" "$(cgroup_of 1 12)" "$cgroup_top"/u{0,1} "$cgroup_top"/w{2..499}
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

# pair_switch WHERE DEPTH : sets $one_switch, with nothing counted but what is by now
pair_switch() {
	read -r -a player_procs <<<"$(cgroup_pair "$1" "$2")"
	player_procs=("${player_procs[@]/%//cgroup.procs}")
	player && one_switch && stop_player
}

# cgroup_run CGROUPS EVENTS HOW : the run that counts is this one
cgroup_run() {
	[ "${cgroup_running:-}" != "$*" ] || return 0
	end_cgroup_run || return 1
	count_by "$3"
	counted -a -e "$(nth_events same "$2" 0)" --for-each-cgroup "$(cgroup_list "$1")"
	cgroup_running=$*
	# Also the kernel follows switches for perf events a second longer than it must.
	until_all_wait && sleep 1.5
}

# end_cgroup_run : the first of the two tasks' cgroups was counted
end_cgroup_run() {
	local cycles
	[ "${cgroup_running:-}" ] || return 0
	stop_all
	cycles=$(awk -F, '$3 == "cycles" { print $1; exit }' "$costs_file.first")
	[ "$cycles" -gt 1000000 ] || { echo "$cgroup_running: counted $cycles cycles"; return 1; }
	cgroup_running=''
}

# cgroup_row ROW : prints the row; fails when it is above its ceiling
cgroup_row() {
	local when ceiling nr events how where depth added
	IFS='|' read -r when ceiling nr events how where depth <<<"$1"
	if ! cgroup_run "$nr" "$events" "$how" || ! pair_switch "$where" "$depth"; then
		echo "$nr cgroups: not measured"
		return 1
	fi
	added=$(awk -v with="$one_switch" -v base="${base[$where $depth]}" \
		'BEGIN { printf "%.1f", with - base }')
	printf '| %-7s | %-6s | %7d | %5d | %6d | %7.1f | %7s |\n' \
		"$where" "$how" "$nr" "$depth" "$events" "$added" "$ceiling"
	is_at_most "$added" "$ceiling" "${dearer[@]}"
}

cgroup_table() {
	local row rows=() where depth failed=0
	local -A base=()
	for row in "${cgroup_rows[@]}"; do
		[ "${row%%|*}" = bench ] && [ "$costs_when" = test ] || rows+=("$row")
	done
	sleep 2		# what the machine still does after booting
	make_cgroups
	for row in "${rows[@]}"; do
		IFS='|' read -r _ _ _ _ _ where depth <<<"$row"
		[ -z "${base[$where $depth]:-}" ] || continue
		pair_switch "$where" "$depth" || { echo "two tasks cannot play"; return 1; }
		base[$where $depth]=$one_switch
	done
	echo "| tasks   | how    | cgroups | depth | events |   added | ceiling |"
	echo "|---|---|---:|---:|---:|---:|---:|"
	for row in "${rows[@]}"; do
		cgroup_row "$row" || failed=1
	done
	end_cgroup_run || failed=1
	remove_cgroups
	return $failed
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	trap 'costs_end; remove_cgroups' EXIT
	costs_when=${1:-bench}
	echo "## Instructions added to a context switch, counting by cgroup"
	echo
	cgroup_table
fi
