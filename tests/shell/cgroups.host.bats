#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Counting by cgroup on this machine, whatever its hierarchies: plain, and shared with software
# events.

load helpers
load shared
load cgroups

T=$BATS_TEST_TMPDIR
C='cpu-clock'

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

@test "names, patterns and prefixes in LIST give the rows in this order" {
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
		is_silent "$T/err"
		[ "$(list "$name/a,$name/none")" = "$name/a" ]
		[ "$(<"$T/err")" = "perf stat: no access to cgroup $top/none: No such file or directory: skipped" ]
	done
	wait_for no_leader
}

@test "wrong LISTs are reported, and nothing is left" {
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
	says 22 "perf stat: -G and --for-each-cgroup are mutually exclusive" \
		perf stat -a -e $C -G "$name/a" --for-each-cgroup "$name/a" true
	says 22 "perf stat: -b and -G or --for-each-cgroup are mutually exclusive" \
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

@test "the n-th name of -G applies to the n-th event, a single name to all before it" {
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

@test "shared and plain counts agree in one session, and the busiest are printed first" {
	make_top
	mkdir -p "$top"/{a/x,b,c}
	local dir below cgroups off
	spin_in "$top/a/x"
	local pids=($!)
	spin_in "$top/b"
	pids+=($!)
	begin_witness
	perf stat --bpf-attr-map "$ATTR_MAP" -a -x, -o "$T/both" -e "$C,$C:b" \
		--for-each-cgroup "$name/a,$name/b,$name/c,$name/a/x" --sort $C --top 3 -- \
		"$WORKLOADS/ran" 0.3 "${pids[@]}" 2>"$T/err"
	end_witness
	is_silent "$T/err"
	[ "$(names "$T/both" | wc -w)" = 3 ]
	for dir in a a/x b; do
		cgroups=()
		for below in "$top/$dir" "$top/$dir"/*/; do
			[ ! -d "$below" ] || cgroups+=(cgroup "$below")
		done
		# in ms, as the counts are
		off=$(awk -v ns="$(missed ns "${cgroups[@]}")" -v more="$(excess ns "${cgroups[@]}")" \
			'BEGIN { print (ns + more) / 1e6 }')
		# The kernel starts and reads the two one after the other.
		within "$(value $C:b "$name/$dir" "$T/both")" "$(value $C "$name/$dir" "$T/both")" 0.5 "$off"
	done
	[ "$(value $C:b "$name/b" "$T/both" | cut -d. -f1)" -gt $((50 - $(missed ns cgroup "$top/b") / 1000000)) ]
	awk -F, -v c=$C '$3 == c { if (n++ && $1 > last) exit 1; last = $1 }' "$T/both"
	wait_for no_leader
}

@test "cgroups are counted from their creation to their removal, with those made in them" {
	make_top
	local all
	start_run come -a -e page-faults:u -I 200 --for-each-cgroup "glob:$name/w*,glob:$name/w*/x,$name"
	begin_witness
	"$WORKLOADS/cgroup_churn" 100 100 "$top" x
	end_witness
	end_run "$run_pid" INT 130
	# Each cgroup is counted once in its life, and together they have their parent's count. A task in one touches
	# ten pages, so it has nine or ten faults; some are those that it forks with.
	all=$(value page-faults:u "$name" "$T/come.csv")
	explained 800 1200 comm cgroup_churn <<<"$all"
	cat "$T/come.err" >&2
	add_up "$T/come.csv" 100 '/w[0-9]+$' "$all"
	add_up "$T/come.csv" 100 '/x$' "$all"
	# Moves may be missed: programs can be preempted here, and this machine is busy. Both counts then lack
	# the same.
	refute grep -v -e 'no cgroup matches' -e 'were missed' "$T/come.err"
	wait_for no_leader
}

@test "a killed session does not affect others, and the next one cleans up" {
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
	is_silent "$T/stays.err"
	wait_for no_leader
}

@test "the next session repairs one that died at any step of counting cgroups" {
	make_top
	mkdir "$top/a" "$top/b"
	local step stays dies status
	start_run stays -a -e page-faults --for-each-cgroup "$name,$name/b"
	stays=$run_pid
	state >"$T/before"
	for step in carry-made scope-written scope-added scope-set-added cgroup-written cgroup-added cgroup-changed \
		epoch-begun pool-entry-written pool-entry-added pool-entry-ready pool-half-retracted cgroup-removed \
		merge-begun merge-decided merge-switched merge-freed scope-freed; do
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
	is_silent "$T/stays.err"
	wait_for no_leader
}

# sums FILE : what a session's intervals have counted in all, by event and cgroup
sums() {
	awk -F, 'NF > 6 { sum[$4 " " $5] += $2 } END { for (name in sum) print name, sum[name] }' "$1" | sort
}

@test "very many counts are kept for all CPUs together, and are the same as those by CPU" {
	make_top
	mkdir "$top"/{a,b}
	local how
	for how in -a "-C 0"; do
		# shellcheck disable=SC2086 # words
		start_run by_cpu $how -e page-faults,cs --for-each-cgroup "glob:$name/*" -I 50
		# The cgroup c is made meanwhile.
		# shellcheck disable=SC2016,SC2086 # the inner shell's; words
		PERF_TEST_MAX_VALUES=1 shared $how -x, -o "$T/sums" -I 50 -e page-faults,cs \
			--for-each-cgroup "glob:$name/*" bash -c '
			mkdir "$0/c"
			until grep -q "/c," "$1" && grep -q "/c," "$2"; do sleep 0.02; done
			for cgroup in a b c; do
				for cpu in 0 1; do
					(echo $BASHPID >"$0/$cgroup/cgroup.procs" && exec taskset -c $cpu "$3" 1000)
				done
			done' "$top" "$T/sums" "$T/by_cpu.csv" "$WORKLOADS/faults"
		end_run "$run_pid" INT 130
		sums "$T/sums" >"$T/summed"
		grep -q '^page-faults .*[1-9]' "$T/summed"
		sums "$T/by_cpu.csv" | diff - "$T/summed" >&2
		rmdir "$top/c"
	done
	wait_for no_leader
}

@test "plain counts of a cgroup have right times on a CPU that does not switch between cgroups" {
	local pid cpu name began_us window_us count enabled
	make_top
	spin_in "$top"
	pid=$!
	# Other events count on the CPUs meanwhile.
	background "$T/other" perf stat -a -e cs
	for cpu in 0 1; do
		taskset -pc $cpu "$pid" >"$T/affinity"
		for name in "${top##*/}" /; do
			# perf and its command are elsewhere.
			began_us=${EPOCHREALTIME/.}
			taskset -c $((1 - cpu)) perf stat -a -A --for-each-cgroup "$name" -x, -e $C -o "$T/csv" \
				"$WORKLOADS/ran" 0.05 "$pid"
			window_us=$((${EPOCHREALTIME/.} - began_us))
			cat "$T/csv"
			IFS=, read -r _ count _ _ _ enabled _ < <(grep "^CPU$cpu," "$T/csv")
			# A clock's count is the time for which it counted: here in units of 10 us.
			in_range "$((10#${count/.} * 10))" 1 "$window_us"
			in_range "$enabled" 1 $((window_us * 1000))
		done
	done
}

@test "no CPU is interrupted to count an idle cgroup, and one is for a cgroup that runs" {
	make_top
	mkdir "$top/idle" "$top/busy" "$top/other"
	local beside joined
	for beside in '' "$name/other"; do
		[ -z "$beside" ] || start_run joined -a -e page-faults --for-each-cgroup "$beside"
		PERF_TEST_KILL_AT=cgroup-synced shared -a -e page-faults --for-each-cgroup "$name/idle" true 2>"$T/idle.err"
	done
	joined=$run_pid
	spin_in "$top/busy"
	spin_in "$top/busy"
	# Other processes may have the CPUs at that moment.
	wait_for killed_at cgroup-synced shared -a -e page-faults --for-each-cgroup "$name/busy" true
	# The next session does what that one left, on the CPUs that run it. Then nobody counts it.
	shared -a -e page-faults --for-each-cgroup "$name/idle" true 2>"$T/idle.err"
	PERF_TEST_KILL_AT=cgroup-synced shared -a -e page-faults --for-each-cgroup "$name/idle" true 2>"$T/idle.err"
	end_run "$joined" INT 130
	wait_for no_leader
}

@test "the next session repairs one that died while widening another's new cgroups" {
	make_top
	mkdir "$top/p"
	local step watches
	start_run watches -a -e cpu-clock -I 100 --for-each-cgroup "glob:$name/p/n*,$name"
	watches=$run_pid
	wait_for has_text cpu-clock "$T/watches.csv"
	# It looks at no new cgroup while others come.
	kill -STOP "$watches"
	for step in pool-entry-widened epoch-begun pool-entry-replaced merge-begun merge-decided; do
		echo "$step" >&2
		mkdir "$top/p/n$step"
		# One of 20 switches is seen, also where some are hidden.
		bash -c "echo \$\$ >$top/p/n$step/cgroup.procs && exec $WORKLOADS/switches 20"
		killed_at "$step" shared -a -x, -o /dev/null -e page-faults --for-each-cgroup "$name/p" true
		begin_witness
		shared -a -x, -o "$T/next" -e page-faults --for-each-cgroup "$name/p" -- \
			bash -c "echo \$\$ >$top/p/n$step/cgroup.procs && exec $WORKLOADS/faults 3000"
		end_witness
		# and some 50 of its start
		explained 3000 3100 cgroup "$top/p/n$step" < <(value page-faults "$name/p" "$T/next")
	done
	kill -CONT "$watches"
	wait_for grep -q "$name/p/nmerge-decided" "$T/watches.csv"
	end_run "$watches" INT 130
	# Each has all that it did, and their parent has what they have.
	[ "$(awk -F, '$4 == "cpu-clock" && $2 > 0 { sum[index($5, "/p/n") > 0] += $2; if (index($5, "/p/n")) n[$5] }
		END { printf "%d %d", length(n), (sum[0] - sum[1]) ^ 2 < 0.01 }' "$T/watches.csv")" = "5 1" ]
	[ "$(grep -v 'no cgroup matches' "$T/watches.err")" = "" ]
	wait_for no_leader
}

# gives_up_until STEP CGROUP : a session that watches dies at that step while it gives up this new cgroup. It does
# not count the cgroup, and the stopped session has not looked at it
gives_up_until() {
	local gives_up status=0
	background "$T/gives_up" env PERF_TEST_KILL_AT="$1" perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -a -x, -o /dev/null -e page-faults:u \
		--for-each-cgroup "glob:$name/none*,$name" -I 100000
	gives_up=$!
	wait_for polls "$gives_up"
	mkdir "$2"
	wait "$gives_up" || status=$?
	was_killed "$1" "$status" "$T/gives_up"
}

# counts_in CGROUP : a session that watches counts the faults there
counts_in() {
	begin_witness
	shared -a -x, -o "$T/next" -e page-faults:u -I 100000 --for-each-cgroup "glob:$1*" -- \
		bash -c "echo \$\$ >$mount/$1/cgroup.procs && exec $WORKLOADS/faults 3000"
	end_witness
	# and some 50 of its start
	explained 3000 3100 cgroup "$mount/$1" < <(value page-faults:u "$1" "$T/next")
}

@test "the next session counts right after one that died while giving up a new cgroup" {
	make_top
	mkdir "$top/x"
	local step cgroup watches
	start_run watches -a -e page-faults:u -I 100000 --for-each-cgroup "glob:$name/w*,$name"
	watches=$run_pid
	kill -STOP "$watches"
	# The next session counts another cgroup, or that one.
	while read -r step cgroup; do
		echo "$step $cgroup" >&2
		gives_up_until "$step" "$top/n"
		counts_in "$name/$cgroup"
		rmdir "$top/n"
	done <<-END
		cgroup-removed n
		pool-entry-handed x
		pool-entry-handed n
		pool-entry-released x
		merge-begun x
	END
	kill -CONT "$watches"
	end_run "$watches" INT 130
	wait_for no_leader
}

@test "a watcher reports a new cgroup that another session died giving up, once" {
	make_top
	local step watches
	for step in pool-entry-passed cgroup-removed pool-entry-handed; do
		echo "$step" >&2
		start_run watches -a -e page-faults:u -I 100 --for-each-cgroup "glob:$name/n*,$name"
		watches=$run_pid
		wait_for has_interval watches
		kill -STOP "$watches"
		gives_up_until "$step" "$top/n"
		# No session has repaired that yet: unless it died at the first step, its parent alone has these.
		bash -c "echo \$\$ >$top/n/cgroup.procs && exec $WORKLOADS/faults 3000"
		shared -a -x, -o /dev/null -e page-faults --for-each-cgroup "$name" true
		kill -CONT "$watches"
		wait_for grep -q "$name/n" "$T/watches.csv"
		begin_witness
		bash -c "echo \$\$ >$top/n/cgroup.procs && exec $WORKLOADS/faults 1000"
		end_witness
		end_run "$watches" INT 130
		explained 1000 4300 cgroup "$top/n" < <(value page-faults:u "$name/n" "$T/watches.csv")
		grep -v 'no cgroup matches' "$T/watches.err" |
			diff - <(echo "perf stat: 1 new cgroups were found late: their first activity is counted for their parents only")
		rmdir "$top/n"
	done
	wait_for no_leader
}

@test "a watcher reports a new cgroup once that two sessions gave up, one of which died at it" {
	make_top
	local watches
	start_run watches -a -e page-faults:u -I 100 --for-each-cgroup "glob:$name/n*,$name"
	watches=$run_pid
	wait_for has_interval watches
	kill -STOP "$watches"
	gives_up_until pool-session-passed "$top/n"
	start_run next -a -e page-faults:u -I 100 --for-each-cgroup "glob:$name/none*,$name"
	wait_for state_is pending 0
	end_run "$run_pid" INT 130
	kill -CONT "$watches"
	wait_for grep -q "$name/n" "$T/watches.csv"
	end_run "$watches" INT 130
	grep -v 'no cgroup matches' "$T/watches.err" |
		diff - <(echo "perf stat: 1 new cgroups were found late: their first activity is counted for their parents only")
	wait_for no_leader
}

@test "a new cgroup is counted right after another session failed to give it up" {
	make_top
	local watches fails fd i least=1024
	start_run watches -a -e page-faults:u -I 100000 --for-each-cgroup "glob:$name/w*,$name"
	watches=$run_pid
	kill -STOP "$watches"
	start_run fails -v -a -e page-faults:u -I 100000 --for-each-cgroup "glob:$name/none*,$name"
	fails=$run_pid
	# To look at a cgroup takes one descriptor, to wait for a grace period takes two.
	# While it looks around it has more: the lowest number of ten looks counts.
	for ((i = 0; i < 10; i++)); do
		for ((fd = 0; fd < least; fd++)); do
			[ -e "/proc/$fails/fd/$fd" ] || least=$fd
		done
		nap
	done
	prlimit --pid "$fails" --nofile=$((least + 1)):
	mkdir "$top/n"
	wait_for has_text 'places for new cgroups are missing: Too many open files' "$T/fails.err"
	counts_in "$name/n"
	prlimit --pid "$fails" --nofile=1024:
	end_run "$fails" INT 130
	kill -CONT "$watches"
	end_run "$watches" INT 130
	wait_for no_leader
}

@test "a session that dies making scope sets of nested cgroups leaves none" {
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
		grep -q 'cgroup\|epoch' "$T/dies"
	done
	end_run "$run_pid" INT 130
	wait_for no_leader
}

@test "metrics are computed for each cgroup" {
	make_top
	mkdir -p "$top"/{busy,idle}
	local how
	for how in "" "--bpf-counters --bpf-attr-map $ATTR_MAP"; do
		begin_witness
		# shellcheck disable=SC2086
		perf stat $how -a -j -o "$T/out" -M page_faults_per_second --for-each-cgroup "$name/busy,$name/idle" \
			bash -c "echo \$\$ >$top/busy/cgroup.procs && exec $WORKLOADS/faults 3000"
		end_witness
		# the rate is computed from the counts of the same cgroup; where none ran there is none
		jq -es --arg cgroup "$name/busy" --argjson missed "$(missed events cgroup "$top/busy")" '
			(map(select(.cgroup == $cgroup and .event == "page-faults"))[0]) as $faults |
			(map(select(.cgroup == $cgroup and .event == "cpu-clock"))[0]) as $clock |
			def count: ."counter-value" | tonumber? // 0;
			($faults | count) > 3000 - $missed and if ($clock | count) == 0 then true else
				($faults."metric-value" | tonumber) as $rate |
				($faults | count) / ($clock | count) * 1000 | . > $rate * 0.99 and . < $rate * 1.01 end' "$T/out"
		jq -es --arg cgroup "$name/idle" 'map(select(.cgroup == $cgroup and .event == "page-faults"))[0] |
			."metric-value" | . == null or . == "nan"' "$T/out"
	done
}
