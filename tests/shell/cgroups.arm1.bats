#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Counting by cgroup, shared against plain, on the machine where both are exact. Both count in one
# run: EVENT plainly, EVENTb shared.

load helpers
load shared
load cgroups

T=$BATS_TEST_TMPDIR
U=instructions:u

teardown() {
	remove_top
	end_jobs
	remove_map
}

# both_kinds LIST ITER DIR... : a process in each of DIR... is counted plainly and shared
both_kinds() {
	local list=$1 iter=$2
	shift 2
	perf stat --bpf-attr-map "$ATTR_MAP" -a -x, -o "$T/both.csv" -e "$U,${U}b" \
		--for-each-cgroup "$list" -- "$WORKLOADS/in_cgroups" "$iter" \
		"${@/%//cgroup.procs}" >"$T/both.err" 2>&1 3>&-
	clean "$T/both.err"
}

# equal NR : there are NR cgroups in the output, in each both counted the same
equal() {
	awk -F, -v nr="$1" -v plain="$U" -v shared="${U}b" '
		$3 == plain { one[$4] = $1 }
		$3 == shared { two[$4] = $1 }
		END {
			for (c in two) {
				n++
				if (two[c] !~ /^[0-9]+$/ || one[c] "" != two[c] "") {
					print c ": plain " one[c] " shared " two[c]
					bad = 1
				}
			}
			if (n != nr) { print n " cgroups, not " nr; bad = 1 }
			exit bad
		}' "$T/both.csv" >&2
}

# shares_one : all runs together have one perf event
shares_one() {
	[ "$(nr_perf_events)" = 1 ] || { perf bperf list --bpf-attr-map "$ATTR_MAP" >&2; return 1; }
}

# cgroups_apart NR : so many beside each other, each with a process
cgroups_apart() {
	local dirs
	make_top
	mapfile -t dirs < <(seq -f "$top/w%.0f" 0 $(($1 - 1)))
	mkdir "${dirs[@]}"
	both_kinds "^$name/w" 100000 "${dirs[@]}"
	equal "$1"
	# The end of its process has less than 1,000 (measured: 646).
	in_range "$(value ${U}b "$name/w0" "$T/both.csv")" 200000 201000
}

@test "the counts of one cgroup equal plain ones" {
	cgroups_apart 1
	nothing_left
}

@test "the counts of ten cgroups equal plain ones" {
	cgroups_apart 10
}

@test "the counts of a hundred cgroups equal plain ones" {
	cgroups_apart 100
}

@test "the counts of five hundred cgroups equal plain ones" {
	cgroups_apart 500
	nothing_left
}

@test "each of twelve nested cgroups counts all below it" {
	local i path level=() own=() sum
	make_top
	chain 12 >/dev/null
	path=$top
	for ((i = 1; i <= 12; i++)); do path+=/c$i; level+=("$path"); mkdir "$path/own"; own+=("$path/own"); done
	# Plain events of one hierarchy all count at once, and there are counters for a few.
	both_kinds "${level[0]#"$mount/"},${level[5]#"$mount/"},${level[11]#"$mount/"}" 100000 "${own[@]}"
	equal 3
	shared -a -x, -o "$T/all.csv" -e $U --for-each-cgroup "^$name" -- \
		"$WORKLOADS/in_cgroups" 100000 "${own[@]/%//cgroup.procs}" 2>"$T/all.err" 3>&-
	clean "$T/all.err"
	# From the innermost outwards: one's own process, and all of the next.
	sum=0
	for ((i = 11; i >= 0; i--)); do
		# The end of a process has less than 1,000 (measured: 646).
		in_range "$(value $U "${own[i]#"$mount/"}" "$T/all.csv")" 200000 201000
		sum=$(awk -v s="$sum" -v o="$(value $U "${own[i]#"$mount/"}" "$T/all.csv")" \
			'BEGIN { printf "%.0f", s + o }')
		[ "$(value $U "${level[i]#"$mount/"}" "$T/all.csv")" = "$sum.00" ]
	done
	[ "$(value $U "$name" "$T/all.csv")" = "$sum.00" ]
	nothing_left
}

@test "a parent's count is the sum of its children's and of its own tasks'" {
	local sum
	make_top
	mkdir "$top"/{a,b}
	both_kinds "^$name" 500000 "$top/a" "$top/b" "$top"
	equal 3
	sum=$(awk -v a="$(value ${U}b "$name/a" "$T/both.csv")" \
		-v b="$(value ${U}b "$name/b" "$T/both.csv")" 'BEGIN { printf "%.0f", a + b + 1000000 }')
	# The end of its own process has less than 1,000 (measured: 646).
	in_range "$(value ${U}b "$name" "$T/both.csv")" "$sum" $((sum + 1000))
}

@test "two sessions share events, and each counts its own cgroups" {
	make_top
	mkdir -p "$top"/{a,b/c}
	window one --bpf-counters -a -e $U --for-each-cgroup "$name/a,$name/b"
	shares_one
	window two --bpf-counters -a -e $U --for-each-cgroup "$name,$name/b/c,$name/a"
	shares_one
	tell_all enable one two
	work_in 500000 "$top/a" "$top/b" "$top/b/c"
	tell two disable
	work_in 500000 "$top/b/c"
	tell one disable
	finish two
	work_in 500000 "$top/a"
	finish one
	# The end of each process has less than 1,000 (measured: 646).
	in_range "$(value $U "$name/a" "$T/one.out")" 1000000 1001000
	in_range "$(value $U "$name/b" "$T/one.out")" 3000000 3003000
	in_range "$(value $U "$name/a" "$T/two.out")" 1000000 1001000
	in_range "$(value $U "$name/b/c" "$T/two.out")" 1000000 1001000
	in_range "$(value $U "$name" "$T/two.out")" 3000000 3003000
	nothing_left
}

@test "tasks and cgroups are counted at the same time" {
	make_top
	mkdir "$top/a"
	perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, -o "$T/task.csv" \
		-e $U,context-switches -- perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -x, \
		-o "$T/cgroup.csv" -e $U,context-switches --for-each-cgroup "$name/a" -- \
		"$WORKLOADS/in_cgroups" 500000 "$top/a/cgroup.procs" 2>"$T/err" 3>&-
	clean "$T/err"
	# The end of the process has less than 1,000 (measured: 646).
	in_range "$(value $U "$name/a" "$T/cgroup.csv")" 1000000 1001000
	# The task run also has counted the inner perf.
	[ "$(field $U 1 "$T/task.csv")" -gt 1000000 ]
	# Its end is one. Each of its ten yields can be one, and others may preempt it (measured: 2).
	in_range "$(value context-switches "$name/a" "$T/cgroup.csv")" 1 20
}

@test "a session with other events counts cgroups made while another one watched" {
	local watches
	make_top
	mkdir "$top/p"
	start_run watches -a -e $U -I 100 --for-each-cgroup "glob:$name/p/n*,$name"
	watches=$run_pid
	# It looks at nothing until the other has gone.
	kill -STOP "$watches"
	mkdir "$top/p/n"
	work_in 500000 "$top/p/n"
	perf stat --bpf-attr-map "$ATTR_MAP" -a -x, -o "$T/both.csv" -e "page-faults:u,page-faults:ub" \
		--for-each-cgroup "$name/p" -- \
		bash -c "echo \$\$ >$top/p/n/cgroup.procs && exec $WORKLOADS/faults 3000" >"$T/both.err" 2>&1 3>&-
	clean "$T/both.err"
	kill -CONT "$watches"
	wait_for grep -q "$name/p/n" "$T/watches.csv"
	end_run "$watches" INT 130
	cat "$T/both.csv" >&2
	[ "$(value page-faults:u "$name/p" "$T/both.csv" | cut -d. -f1)" -ge 3000 ]
	[ "$(value page-faults:u "$name/p" "$T/both.csv")" = "$(value page-faults:ub "$name/p" "$T/both.csv")" ]
	# Nothing ran beside it: what it did before is there, and what it did while the other counted.
	[ "$(value $U "$name/p/n" "$T/watches.csv" | cut -d. -f1)" -gt 1000000 ]
	[ "$(value $U "$name/p/n" "$T/watches.csv")" = "$(value $U "$name" "$T/watches.csv")" ]
	refute grep -v 'no cgroup matches' "$T/watches.err"
	nothing_left
}

@test "counts are right for cgroups made and removed a thousand times" {
	local run all
	make_top
	background "$T/err" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -x, -o "$T/i" -I 100 \
		-e $U --for-each-cgroup "glob:$name/w*,$name"
	run=$!
	wait_for polls "$run"
	perf stat --bpf-attr-map "$ATTR_MAP" -a -x, -o "$T/both.csv" -e "$U,${U}b" \
		--for-each-cgroup "$name" -- "$WORKLOADS/cgroup_churn" 1000 2000 "$top" \
		>"$T/both.err" 2>&1 3>&-
	clean "$T/both.err"
	mkdir "$top/wlast"
	wait_for grep -q "$name/wlast" "$T/i"
	end_run $run INT 130
	equal 1
	all=$(value ${U}b "$name" "$T/both.csv")
	[ "${all%.*}" -ge 4000000 ]
	add_up "$T/i" 1000 '/w[0-9]+$' "$all"
	add_up "$T/i" 1 "^$name\$" "$all"
	refute grep -v 'no cgroup matches' "$T/err"
	nothing_left
}

# has_ready NR MORE : no new cgroup waits to be given up, so many places are to be ready, and the table of
# cgroups has these and more
has_ready() {
	state >&2 || return
	[ "$(state pending)" = 0 ] && [ "$(state window)" = "$1" ] && [ "$(state cgroups)" = $(($1 + $2)) ]
}

@test "as many new cgroups as came are ready again, and twice as many after a burst" {
	make_top
	local i
	# Sixteen, the least there are
	PERF_TEST_READY_BYTES=1 start_run follows -a -e page-faults:u -I 100 \
		--for-each-cgroup "glob:$name/w*,$name"
	# and $name
	wait_for has_ready 16 1
	for ((i = 0; i < 20; i++)); do
		"$WORKLOADS/cgroup_churn" 4 100 "$top"
		wait_for has_ready 16 1
	done
	clean "$T/follows.err"
	kill -STOP "$run_pid"
	# Eight of the one half of the places, eight of the other
	mkdir "$top"/w{101..120}
	bash -c "echo \$\$ >$top/w101/cgroup.procs && exec $WORKLOADS/faults 3000"
	kill -CONT "$run_pid"
	# Cgroups that found no entry are counted, and have one now.
	wait_for has_ready 32 21
	kill -STOP "$run_pid"
	mkdir "$top"/w{121..140}
	kill -CONT "$run_pid"
	wait_for has_ready 64 41
	end_run "$run_pid" INT 130
	# The start of the program, and the shell's last steps, have less than 100 (measured: 19).
	in_range "$(awk -F, -v name="$name/w101" '$5 == name { sum += $2 } END { print sum }' "$T/follows.csv")" 3000 3100
	grep -qx 'perf stat: 4 new cgroups were found late: their first activity is counted for their parents only' \
		"$T/follows.err"
	nothing_left
}
