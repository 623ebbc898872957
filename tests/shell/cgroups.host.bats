#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Counting by cgroup on this machine, whatever its hierarchies: plain, and shared with software
# events.

load helpers
load shared
load cgroups

T=$BATS_TEST_TMPDIR
C=cpu-clock

teardown() {
	remove_top
	end_jobs
	remove_map
}

# says STATUS TEXT COMMAND... : prints nothing but that, to stderr
says() {
	local status=$1 text=$2
	shift 2
	refused "$status" "$@" <<<"$text"
}

# spin_in DIR : a process that does, there, until the end of the test; its pid is $!
spin_in() {
	background "$T/spins" bash -c "echo \$\$ >$1/cgroup.procs && exec $WORKLOADS/spinfor 1000"
	wait_for spins $!
}

spins() {
	grep -qx spinfor "/proc/$1/comm"
}

@test "LIST: names, patterns and prefixes name the rows, in this order" {
	make_top
	mkdir -p "$top"/{b/x,a,c.slice} "$top/docker-0123456789abcdef0123456789abcdef.scope"
	local list
	for how in "" "--bpf-counters --bpf-attr-map $ATTR_MAP"; do
		list() {
			# shellcheck disable=SC2086
			perf stat $how -a -x, -o "$T/list" -e $C --for-each-cgroup "$1" true 2>"$T/err"
			names "$T/list"
		}
		[ "$(list "$name/b,/$name/a,$name/b")" = "$name/b $name/a" ]
		[ "$(list "^$name/.*[ab]")" = "$name/a $name/b $name/b/x $name/docker-0123456789abcdef0123456789abcdef.scope" ]
		[ "$(list "glob:$name/*,$name")" = "$name/a $name/b $name/c.slice $name/docker-0123456789abcdef0123456789abcdef.scope $name" ]
		[ "$(list "ctr:0123456789abcd")" = "$name/docker-0123456789abcdef0123456789abcdef.scope" ]
		[ "$(list ",$name/a")" = "/ $name/a" ]
		[ ! -s "$T/err" ]
		[ "$(list "$name/a,$name/none")" = "$name/a" ]
		[ "$(cat "$T/err")" = "perf stat: no access to cgroup $top/none: No such file or directory: skipped" ]
	done
	wait_for no_leader
}

@test "what is wrong is said, and nothing is left behind" {
	make_top
	mkdir "$top/a"
	says 22 "perf stat: no access to cgroup $top/none: No such file or directory: skipped
perf stat: no cgroup matched: $name/none" \
		perf stat -a -e $C --for-each-cgroup "$name/none" true
	says 22 "perf stat: no cgroup matches '^$name/none\$'
perf stat: no cgroup matched: ^$name/none\$" \
		shared -a -e $C --for-each-cgroup "^$name/none\$" true
	says 22 "perf stat: a cgroup is counted on CPUs: -G and --for-each-cgroup need -a or -C" \
		perf stat -e $C --for-each-cgroup "$name/a" true
	says 22 "perf stat: -G and --for-each-cgroup: not together" \
		perf stat -a -e $C -G "$name/a" --for-each-cgroup "$name/a" true
	says 22 "perf stat: -b and -G or --for-each-cgroup: not together: BPF programs are counted whoever runs them" \
		perf stat -b 1 -e $C --for-each-cgroup "$name/a" true
	says 22 "perf stat: --sort needs --for-each-cgroup" perf stat -a -e $C --sort $C true
	says 22 "perf stat: --sort cycles: not one of the events that are counted" \
		perf stat -a -e $C --for-each-cgroup "$name/a" --sort cycles true
	fails_with 129 "perf stat: no access to cgroup $top/none: No such file or directory" \
		perf stat -a -e $C -G "$name/none" true
	fails_with 129 "perf stat: -G: more cgroups than events: there are 1 before it" \
		perf stat -a -e $C -G "$name/a,$name/a" true
	fails_with 129 "perf stat: -G $name/a comes before any event: give it after -e" \
		perf stat -a -G "$name/a" -e $C true
	[ ! -e "$ATTR_MAP" ]
}

@test "-G: the n-th name is the n-th event's, one alone is everybody's before it" {
	make_top
	mkdir "$top"/{a,b}
	local how
	for how in "" "--bpf-counters --bpf-attr-map $ATTR_MAP"; do
		# shellcheck disable=SC2086
		perf stat $how -a -x, -o "$T/G" -e $C,page-faults,context-switches -G "$name/a,,$name/b" true
		[ "$(awk -F, 'NF > 6 { print $3 "=" $4 }' "$T/G" | tr '\n' ' ')" = \
			"$C=$name/a page-faults= context-switches=$name/b " ]
		# shellcheck disable=SC2086
		perf stat $how -a -x, -o "$T/G" -e $C,page-faults -G "$name/a" -e context-switches true
		[ "$(awk -F, 'NF > 6 { print $3 "=" $4 }' "$T/G" | tr '\n' ' ')" = \
			"$C=$name/a page-faults=$name/a context-switches= " ]
		# Empty names may be too many.
		# shellcheck disable=SC2086
		perf stat $how -a -x, -o "$T/G" -e $C,page-faults -G "$name/a,$name/b,," true
		[ "$(awk -F, 'NF > 6 { print $3 "=" $4 }' "$T/G" | tr '\n' ' ')" = \
			"$C=$name/a page-faults=$name/b " ]
	done
	wait_for no_leader
}

@test "shared and plain agree, in one run; the top ones are printed, the most first" {
	make_top
	mkdir -p "$top"/{a/x,b,c}
	spin_in "$top/a/x"
	local pids=($!)
	spin_in "$top/b"
	pids+=($!)
	# as long as it takes each of them to run for 0.3 s
	# shellcheck disable=SC2016 # the inner shell's
	perf stat --bpf-attr-map "$ATTR_MAP" -a -x, -o "$T/both" -e "$C,$C:b" \
		--for-each-cgroup "$name/a,$name/b,$name/c,$name/a/x" --sort $C --top 3 -- bash -c '
			ran() { read -r -a stat <"/proc/$1/stat" && ran=${stat[13]}; }
			for pid; do
				ran "$pid" && least=$((ran + 30))
				while ran "$pid" && [ "$ran" -lt "$least" ]; do sleep 0.02; done
			done' bash "${pids[@]}" 2>"$T/err"
	[ ! -s "$T/err" ]
	[ "$(names "$T/both" | wc -w)" = 3 ]
	within "$(value $C:b "$name/a" "$T/both")" "$(value $C "$name/a" "$T/both")" 10
	within "$(value $C:b "$name/a/x" "$T/both")" "$(value $C "$name/a/x" "$T/both")" 10
	within "$(value $C:b "$name/b" "$T/both")" "$(value $C "$name/b" "$T/both")" 10
	[ "${C:+$(value $C:b "$name/b" "$T/both" | cut -d. -f1)}" -gt 50 ]
	awk -F, -v c=$C '$3 == c { if (n++ && $1 > last) exit 1; last = $1 }' "$T/both"
	wait_for no_leader
}

@test "cgroups that come are counted from the first, and what is made in them; those that go until the end" {
	make_top
	local all
	start_run come -a -e page-faults:u -I 200 --for-each-cgroup "glob:$name/w*,glob:$name/w*/x,$name"
	"$WORKLOADS/cgroup_churn" 100 100 "$top" x
	end_run "$run_pid" INT 130
	# Each once in its life, and all of them together are what their parent counted.
	all=$(value page-faults:u "$name" "$T/come.csv")
	in_range "$all" 500 2000
	add_up "$T/come.csv" 100 '/w[0-9]+$' "$all"
	add_up "$T/come.csv" 100 '/x$' "$all"
	# That moves were missed may be: programs can be preempted here, and this machine is busy. What
	# is missed so is missed in both.
	refute grep -v -e 'no cgroup matches' -e 'were missed' "$T/come.err"
	wait_for no_leader
}

@test "a run that is killed takes nothing from the others, the next one cleans up" {
	make_top
	mkdir "$top/a" "$top/b"
	start_run stays -a -e page-faults --for-each-cgroup "$name/a"
	local stays=$run_pid
	state >"$T/before"
	start_run dies -a -e page-faults,context-switches --for-each-cgroup "$name,$name/a,$name/b,glob:$name/*" -I 100
	kill -KILL "$run_pid"
	wait "$run_pid" || :
	shared -a -x, -o /dev/null -e page-faults true
	same_state "$T/before"
	end_run "$stays" INT 130
	[ ! -s "$T/stays.err" ]
	wait_for no_leader
}

@test "a run that dies at any step of counting cgroups is repaired by the next" {
	make_top
	mkdir "$top/a" "$top/b"
	local step stays dies status
	start_run stays -a -e page-faults --for-each-cgroup "$name,$name/b"
	stays=$run_pid
	state >"$T/before"
	for step in scope-written scope-added class-added cgroup-written cgroup-added cgroup-changed \
		epoch-begun newborn-written newborn-added newborn-offered cgroup-removed fold-begun \
		fold-decided fold-switched fold-freed scope-freed; do
		echo "$step" >&2
		rm -f "$T/dies.csv"
		# the command lasts until an interval is over; its perf may be dead before that
		# shellcheck disable=SC2016 # the inner shell's
		killed_at "$step" shared -a -x, -o "$T/dies.csv" -e page-faults,context-switches \
			--for-each-cgroup "$name,$name/a,glob:$name/*" -I 100 sh -c '
				until grep -q ,page-faults, "$0" || ! kill -0 $PPID; do sleep 0.02; done' \
			"$T/dies.csv"
		shared -a -x, -o "$T/next" -e page-faults,context-switches --for-each-cgroup "$name/a" true
		same_state "$T/before"
	done
	# and when one of its cgroups has gone
	mkdir "$top/w"
	status=0
	PERF_TEST_KILL_AT=scope-dropped background "$T/dies" perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -a -x, -o /dev/null -e page-faults \
		--for-each-cgroup "glob:$name/w" -I 50
	dies=$!
	wait_for polls "$dies"
	rmdir "$top/w"
	wait "$dies" || status=$?
	was_killed scope-dropped $status "$T/dies"
	shared -a -x, -o "$T/next" -e page-faults --for-each-cgroup "$name/a" true
	same_state "$T/before"
	end_run "$stays" INT 130
	[ ! -s "$T/stays.err" ]
	wait_for no_leader
}

@test "a run that dies between making its classes, of nested cgroups that others count, leaves none" {
	make_top
	mkdir "$top/a"
	local n status
	start_run stays -a -e page-faults --for-each-cgroup "$name"
	state >"$T/before"
	for list in "$name,$name/a" "$name/a,$name"; do
		for ((n = 10; n < 24; n++)); do
			status=0
			PERF_TEST_KILL_AT=$n shared -a -x, -o /dev/null -e page-faults,context-switches \
				--for-each-cgroup "$list" true >"$T/dies" 2>&1 || status=$?
			was_killed '[a-z-]*' $status "$T/dies"
			shared -a -x, -o "$T/next" -e page-faults true
			same_state "$T/before"
		done
		grep -q 'class\|cgroup\|epoch' "$T/dies"
	done
	end_run "$run_pid" INT 130
	wait_for no_leader
}

@test "metrics are those of each cgroup" {
	make_top
	mkdir -p "$top"/{busy,idle}
	local how
	for how in "" "--bpf-counters --bpf-attr-map $ATTR_MAP"; do
		# shellcheck disable=SC2086
		perf stat $how -a -j -o "$T/out" -M page_faults_per_second --for-each-cgroup "$name/busy,$name/idle" \
			bash -c "echo \$\$ >$top/busy/cgroup.procs && exec $WORKLOADS/faults 3000"
		# the rate is computed from the counts of the same cgroup; where none ran there is none
		jq -es --arg cgroup "$name/busy" '
			(map(select(.cgroup == $cgroup and .event == "page-faults"))[0]) as $faults |
			(map(select(.cgroup == $cgroup and .event == "cpu-clock"))[0]) as $clock |
			($faults."metric-value" | tonumber) as $rate |
			($faults."counter-value" | tonumber) / ($clock."counter-value" | tonumber) * 1000 |
			($faults."counter-value" | tonumber) > 3000 and . > $rate * 0.99 and . < $rate * 1.01' "$T/out"
		jq -es --arg cgroup "$name/idle" 'map(select(.cgroup == $cgroup and .event == "page-faults"))[0] |
			."metric-value" == "nan"' "$T/out"
	done
}
