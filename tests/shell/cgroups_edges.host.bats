#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Edges of counting by cgroup on this machine: the end of one, thousands of them, a namespace.

load helpers
load shared
load cgroups

T=$BATS_TEST_TMPDIR

teardown() {
	remove_top
	end_jobs
	remove_map
}

# faulted COUNT CGROUP : this is the number of page faults of one `faults 3000` in CGROUP, whose directory
# exists. It is 3,000 and some 50 of the start, but for those after hidden switches
faulted() {
	explained 3000 3100 cgroup "$2" <<<"$1"
}

# has_rows CGROUP NR : so many intervals have been printed, by the run "keeps"
has_rows() {
	[ "$(awk -F, -v cgroup="$1" '$5 == cgroup' "$T/keeps.csv" | wc -l)" -ge "$2" ]
}

@test "a cgroup removed between two intervals keeps the counts of the last one" {
	make_top
	local nr least most
	mkdir "$top/w"
	start_run keeps -a -e page-faults -I 500 --for-each-cgroup "glob:$name/w,$name"
	wait_for has_rows "$name/w" 1
	begin_witness
	bash -c "echo \$\$ >$top/w/cgroup.procs && exec $WORKLOADS/faults 3000"
	end_witness
	least=$((3000 - $(missed events cgroup "$top/w"))) most=$((3100 + $(excess events cgroup "$top/w")))
	rmdir "$top/w"
	nr=$(awk -F, -v cgroup="$name" '$5 == cgroup' "$T/keeps.csv" | wc -l)
	wait_for has_rows "$name" $((nr + 1))
	end_run "$run_pid" INT 130
	[ "$(value page-faults "$name/w" "$T/keeps.csv")" = "$(value page-faults "$name" "$T/keeps.csv")" ]
	in_range "$(value page-faults "$name/w" "$T/keeps.csv")" $least $most	# as faulted() allows
	wait_for no_leader
}

# has_intervals MORE : the session "keeps" has printed more intervals than that
has_intervals() {
	[ "$(awk -F, -v cgroup="$name" '$5 == cgroup' "$T/keeps.csv" | wc -l)" -gt "$1" ]
}

# intervals : how many it has printed
intervals() {
	awk -F, -v cgroup="$name" '$5 == cgroup' "$T/keeps.csv" | wc -l
}

# seize : from now on, no CPU's counts can be read. A process in $top runs, so they are asked for.
seize() {
	background "$T/spins" bash -c "echo \$\$ >$top/cgroup.procs && exec $WORKLOADS/spinfor 1000"
	background "$T/busy" "$WORKLOADS/leader_busy" "$ATTR_MAP"
	busy=$!
	wait_for has_line busy "$T/busy"
}

# read_later : the run, which is stopped, goes on for two intervals in which no CPU answers, for another one,
# and ends
read_later() {
	local busy nr
	seize
	kill -CONT "$run_pid"
	nr=$(intervals)
	wait_for has_intervals $((nr + 2))
	kill $busy
	wait $busy
	nr=$(intervals)
	wait_for has_intervals $((nr + 1))
	end_run "$run_pid" INT 130
}

@test "new cgroups that came and went while no CPU answered are counted at the next interval" {
	make_top
	start_run keeps -a -e page-faults:u -I 200 --for-each-cgroup "glob:$name/w*,$name"
	wait_for has_intervals 0
	# It has not looked at the cgroups yet: no scope of theirs can be made.
	kill -STOP "$run_pid"
	begin_witness
	"$WORKLOADS/cgroup_churn" 40 100 "$top"
	end_witness
	read_later
	cat "$T/keeps.err" >&2
	# After a hidden switch, one of them may count nothing.
	[ "$(awk -F, -v name="$name/w" 'index($5, name) == 1 && $2 > 0' "$T/keeps.csv" | wc -l)" -ge \
		$((40 - $(missed hidden comm cgroup_churn))) ]
	grep -q ' readings failed (Device or resource busy): counts may be short' "$T/keeps.err"
	refute grep -e 'not counted' -e 'for now' "$T/keeps.err"
	wait_for no_leader
}

@test "the last counts of a removed cgroup wait until they can be read" {
	make_top
	local least most
	mkdir "$top/w"
	start_run keeps -a -e page-faults:u -I 200 --for-each-cgroup "glob:$name/w*,$name"
	wait_for has_rows "$name/w" 1
	kill -STOP "$run_pid"
	begin_witness
	bash -c "echo \$\$ >$top/w/cgroup.procs && exec $WORKLOADS/faults 3000"
	end_witness
	least=$((3000 - $(missed events cgroup "$top/w"))) most=$((3100 + $(excess events cgroup "$top/w")))
	rmdir "$top/w"
	read_later
	grep ' readings failed (Device or resource busy): counts may be short' "$T/keeps.err"
	in_range "$(value page-faults:u "$name/w" "$T/keeps.csv")" $least $most	# as faulted() allows
	wait_for no_leader
}

@test "ten thousand cgroups are counted in less than 100 MB" {
	make_top
	seq -f "$top/w%.0f" 10000 | xargs mkdir
	start_run many -a -e page-faults --for-each-cgroup "glob:$name/w*"
	local kb
	# The memory of the process, and its maps
	kb=$(awk '/^VmHWM:/ { sum += $2 } /^memlock:/ { sum += $2 / 1024 } END { printf "%.0f", sum }' \
		"/proc/$run_pid/status" "/proc/$run_pid/fdinfo"/*)
	# 100 MB were ordered. Less than 5 would be a mistake here.
	in_range "$kb" 5000 100000
	begin_witness
	bash -c "echo \$\$ >$top/w7777/cgroup.procs && exec $WORKLOADS/faults 3000"
	end_witness
	end_run "$run_pid" INT 130
	[ "$(awk -F, 'NF > 6' "$T/many.csv" | wc -l)" = 10000 ]
	faulted "$(value page-faults "$name/w7777" "$T/many.csv")" "$top/w7777"
	wait_for no_leader
}

@test "names in a cgroup namespace begin at its root" {
	unshare -C true 2>/dev/null || skip_or_fail "no cgroup namespaces here"
	make_top
	mkdir -p "$top"/a/b
	[ -e "$mount/cgroup.procs" ] && ! [ -e "$mount/tasks" ] || skip_or_fail "perf_event is in v1 here"
	begin_witness
	# shellcheck disable=SC2016 # the inner shell's
	bash -c 'echo $$ >"$1/a/cgroup.procs" && exec unshare -C -m bash -ec '\''
		while umount "$2" 2>/dev/null; do :; done
		mount -t cgroup2 cgroup2 "$2"
		perf stat --bpf-counters --bpf-attr-map "$3" -a -x, -o "$4" -e page-faults \
			--for-each-cgroup b,@self,/,.. -- "$5" 3000'\'' bash "$@"' \
		bash "$top" "$mount" "$ATTR_MAP" "$T/out" "$WORKLOADS/faults" 2>"$T/err"
	end_witness
	[ "$(names "$T/out")" = "b /" ]
	[ "$(<"$T/err")" = "perf stat: no access to cgroup $mount/..: No such file or directory: skipped" ]
	# The faults of perf itself, which is also there, come on top.
	explained 3000 4000 cgroup "$top/a" < <(value page-faults / "$T/out")
	wait_for no_leader
}

@test "counts of a session in a cgroup namespace also reach one above it" {
	unshare -C true 2>/dev/null || skip_or_fail "no cgroup namespaces here"
	make_top
	mkdir -p "$top"/a/b
	[ -e "$mount/cgroup.procs" ] && ! [ -e "$mount/tasks" ] || skip_or_fail "perf_event is in v1 here"
	start_run above -a -e page-faults:u --for-each-cgroup "$name"
	begin_witness
	# shellcheck disable=SC2016 # the inner shell's
	bash -c 'echo $$ >"$1/a/cgroup.procs" && exec unshare -C -m bash -ec '\''
		while umount "$2" 2>/dev/null; do :; done
		mount -t cgroup2 cgroup2 "$2"
		perf stat --bpf-counters --bpf-attr-map "$3" -a -x, -o "$4" -e page-faults:u \
			--for-each-cgroup /,b -- "$5" 3000'\'' bash "$@"' \
		bash "$top" "$mount" "$ATTR_MAP" "$T/out" "$WORKLOADS/faults" 2>"$T/err"
	end_witness
	end_run "$run_pid" INT 130
	# The faults of perf itself, which is also there, come on top.
	explained 3000 4000 cgroup "$top/a" < <(value page-faults:u / "$T/out")
	[ "$(value page-faults:u "$name" "$T/above.csv" | cut -d. -f1)" -ge \
		"$(value page-faults:u / "$T/out" | cut -d. -f1)" ]
	is_silent "$T/err"
	is_silent "$T/above.err"
	wait_for no_leader
}

@test "a session that cannot find out who counts above its part of the tree uses events of its own" {
	require_commands gcc jq
	unshare -C true 2>/dev/null || skip_or_fail "no cgroup namespaces here"
	local text="is a part of cgroup v1, and this kernel does not say who counts what is above it: using events of this session's own"
	make_top
	mkdir -p "$top"/a/b
	[ -e "$mount/cgroup.procs" ] && ! [ -e "$mount/tasks" ] || skip_or_fail "perf_event is in v1 here"
	# The kernel takes no cgroup for an iterator, as kernels before 6.1 do for v1.
	refusing hiding <<-'EOF'
		static long refused(long nr, const long *args)
		{
			return nr == SYS_bpf && args[0] == BPF_LINK_CREATE &&
			       ((union bpf_attr *)args[1])->link_create.attach_type == BPF_TRACE_ITER ? EBADF : 0;
		}
	EOF
	# shellcheck disable=SC2016 # the inner shell's
	bash -c 'echo $$ >"$1/a/cgroup.procs" && exec unshare -C -m bash -ec '\''
		while umount "$2" 2>/dev/null; do :; done
		mount -t cgroup2 cgroup2 "$2"
		export LD_PRELOAD=$5
		perf stat --bpf-counters --bpf-attr-map "$3" -a -x, -o "$4.out" -e page-faults \
			--for-each-cgroup / -- "$6/faults" 3000 2>"$4.err"
		perf profile --bpf-attr-map "$3" -a -e page-faults -c 1 -j --for-each-cgroup / -- "$6/faults" 3000 \
			>"$4.json" 2>"$4.profile"'\'' bash "$@"' \
		bash "$top" "$mount" "$ATTR_MAP" "$T/inside" "$T/hiding.so" "$WORKLOADS"
	diff -u - "$T/inside.err" <<<"perf stat: $mount $text" >&2
	diff -u - "$T/inside.profile" <<<"perf profile: $mount $text" >&2
	# The faults of perf itself, which is also there, come on top.
	in_range "$(value page-faults / "$T/inside.out")" 3000 5000
	[ "$(jq -s '[.[] | .account // empty] | last | .samples' "$T/inside.json")" -gt 1000 ]
	wait_for no_leader
}

@test "perf reports how many descriptors plain events need" {
	make_top
	mkdir "$top"/w{1..20}
	ulimit -n 40
	refused 1 setpriv --bounding-set=-sys_resource perf stat -a -e cs,page-faults \
		--for-each-cgroup "glob:$name/w*" true <<-EOF
	perf stat: counting by cgroup needs $(((20 * 2 + 1) * $(nproc))) descriptors (cgroups: 20, events of each on each CPU, and one more on each CPU), but the limit is 40 (raise it with ulimit -n, or count with --bpf-counters)
	EOF
}

@test "a further metric has the same place with and without cgroups" {
	cat >"$T/two.json" <<-EOF
	[ { "MetricName": "one", "MetricExpr": "cs", "ScaleUnit": "1x" },
	  { "MetricName": "two", "MetricExpr": "cs * 2", "ScaleUnit": "1x" } ]
	EOF
	perf stat --metrics-file "$T/two.json" -M one,two -o "$T/out" -a --for-each-cgroup / true
	grep -Eq '^ {57}# +[0-9.]+ x  two' "$T/out"
}

@test "every format prints the busiest cgroups first and omits idle ones" {
	make_top
	mkdir "$top"/{a,b}
	local format option how rows
	for how in "" "--bpf-counters --bpf-attr-map $ATTR_MAP"; do
		for option in "--top 1" --hide-zero-events "--hide-zero-events -I 10000"; do
			for format in "" -x, -j; do
				# One of 20 switches is seen, also where some are hidden.
				# shellcheck disable=SC2086 # words
				perf stat $how $format -o "$T/out" -a -e cpu-clock --sort cpu-clock $option \
					--for-each-cgroup "$name/a,$name/b" -- bash -c \
					"echo \$\$ >$top/b/cgroup.procs && exec $WORKLOADS/switches 20"
				rows=$(grep -o "$name/[ab]" "$T/out")
				[ "$rows" = "$name/b" ] || { echo "$how $format $option"; cat "$T/out"; return 1; }
			done
		done
	done >&2
	script -qec "perf stat -a -e cpu-clock -I 50 --interval-clear --sort cpu-clock --top 1 \
		--for-each-cgroup $name/a,$name/b -- bash -c 'echo \$\$ >$top/b/cgroup.procs &&
		exec $WORKLOADS/spinfor 0.3'" /dev/null >"$T/screen" </dev/null
	# Each screen begins anew and has one row.
	[ "$(grep -c $'\e\[H\e\[2J' "$T/screen")" -ge 1 ]
	grep -q "$name/b" "$T/screen"
	[ "$(grep -c cpu-clock "$T/screen")" = "$(grep -c $'\e\[H\e\[2J' "$T/screen")" ]
	[ -z "$how" ] || wait_for no_leader
}

@test "new cgroups without an entry are reported, and their places are reused" {
	make_top
	# Room for $name and three more. The run that watches is stopped: nothing is given up meanwhile.
	PERF_TEST_MAX_CGROUP_IDS=4 start_run short -a -e page-faults:u -I 100 \
		--for-each-cgroup "glob:$name/w*,$name"
	wait_for has_interval short
	kill -STOP "$run_pid"
	"$WORKLOADS/cgroup_churn" 10 100 "$top"
	kill -CONT "$run_pid"
	end_run "$run_pid" INT 130
	# and those that others make meanwhile
	[ "$(sed -n 's/^perf stat: \([0-9]*\) new cgroups were found late.*/\1/p' "$T/short.err")" -ge 7 ]
	[ "$(awk -F, -v name="$name/w" 'index($5, name) == 1 && $2 ~ /^[0-9]+$/' "$T/short.csv" | wc -l)" = 3 ]
	wait_for no_leader
}

# attrs LEVEL... : all software events with each of these modifiers
attrs() {
	local level event list=()
	for level; do
		for event in alignment-faults cgroup-switches context-switches cpu-clock cpu-migrations dummy \
			emulation-faults major-faults minor-faults page-faults task-clock bpf-output; do
			list+=("$event$level")
		done
	done
	(IFS=,; echo "${list[*]}")
}

@test "cgroups that others count in many events do not limit a session that watches" {
	make_top
	mkdir "$top"/{one,two,three}
	local many one two watches
	many=$(attrs :u :k :h)
	# 36 events watch; with 24 of another run 60, with 24 of a third, apart, 84.
	start_run watches -a -e "$many" -I 100 --for-each-cgroup "glob:$name/w*"
	watches=$run_pid
	start_run one -a -e "$(attrs :uk :uh)" --for-each-cgroup "$name/one"
	one=$run_pid
	start_run two -a -e "$(attrs :kh "")" --for-each-cgroup "$name/two"
	two=$run_pid
	# 36 and 48: this one counts with events of its own.
	shared -a -x, -o "$T/own.csv" -e "$(attrs :uk :uh :kh "")" --for-each-cgroup "$name/three" true 2>"$T/own.err"
	[ "$(grep -c "$name/three" "$T/own.csv")" = 48 ]
	diff "$T/own.err" - <<<"perf stat: all sessions together would count more than 64 different events in one cgroup: counting with events of this session's own"
	mkdir "$top/w"
	wait_for grep -q "$name/w,.*" "$T/watches.csv"
	begin_witness
	bash -c "echo \$\$ >$top/w/cgroup.procs && exec $WORKLOADS/faults 3000"
	end_witness
	end_run "$two" INT 130
	end_run "$one" INT 130
	end_run "$watches" INT 130
	faulted "$(value page-faults:u "$name/w" "$T/watches.csv")" "$top/w"
	head "$T"/{watches,one,two}.err >&2
	[ "$(cat "$T"/{watches,one,two}.err)" = "perf stat: no cgroup matches 'glob:$name/w*' yet: waiting for one" ]
	wait_for no_leader
}

@test "a joining session with other events counts a cgroup from its creation" {
	make_top
	local hidden
	mkdir "$top/p"
	start_run watches -a -e cpu-clock -I 100 --for-each-cgroup "glob:$name/p/n,$name"
	wait_for has_interval watches
	# Nobody has looked at it when the other run comes.
	kill -STOP "$run_pid"
	mkdir "$top/p/n"
	begin_witness
	bash -c "echo \$\$ >$top/p/n/cgroup.procs && exec $WORKLOADS/spin 100000000"
	end_witness
	hidden=$(missed ns cgroup "$top/p/n")
	begin_witness
	shared -a -x, -o "$T/joins" -e page-faults --for-each-cgroup "$name/p" -- \
		bash -c "echo \$\$ >$top/p/n/cgroup.procs && exec $WORKLOADS/faults 3000"
	end_witness
	kill -CONT "$run_pid"
	wait_for grep -q "$name/p/n" "$T/watches.csv"
	end_run "$run_pid" INT 130
	faulted "$(value page-faults "$name/p" "$T/joins")" "$top/p/n"
	# Its earlier count is still its own: no CPU executes 200,000,000 instructions in less than 10 ms.
	awk -v ms="$(value cpu-clock "$name/p/n" "$T/watches.csv")" -v hidden="$hidden" \
		'BEGIN { exit ms + hidden / 1e6 < 10 }'
	[ "$(value cpu-clock "$name/p/n" "$T/watches.csv")" = "$(value cpu-clock "$name" "$T/watches.csv")" ]
	wait_for no_leader
}

@test "new cgroups are printed as not counted if a table is full, and the session goes on" {
	make_top
	local cgroup
	# Room for $name and two more.
	PERF_TEST_MAX_CGROUP_IDS=3 start_run full -a -e page-faults -I 100 --for-each-cgroup "glob:$name/w*,$name"
	wait_for has_interval full
	for cgroup in w1 w2 w3 w4; do
		mkdir "$top/$cgroup"
		wait_for grep -q "$name/$cgroup" "$T/full.csv"
	done
	bash -c "echo \$\$ >$top/w3/cgroup.procs && exec $WORKLOADS/faults 3000"
	begin_witness
	bash -c "echo \$\$ >$top/w2/cgroup.procs && exec $WORKLOADS/faults 3000"
	end_witness
	end_run "$run_pid" INT 130
	faulted "$(value page-faults "$name/w2" "$T/full.csv")" "$top/w2"
	[ "$(value page-faults "$name/w3" "$T/full.csv")" = 0.00 ]
	[ "$(grep -v 'no cgroup matches\|were found late' "$T/full.err")" = \
		"perf stat: new cgroups are printed as <not counted>: all sessions together count too many (count fewer, or end other sessions)" ]
	wait_for no_leader
}

@test "a session counts and samples privately when others have all places for cgroups" {
	make_top
	local most full="all sessions together would count more than 16384 cgroups" faults
	mkdir "$top"/{one,two,three}
	faults="echo \$\$ >$top/three/cgroup.procs && exec $WORKLOADS/faults 3000"
	PERF_TEST_MAX_CGROUP_IDS=2 start_run most -a -e page-faults:u --for-each-cgroup "$name/one,$name/two"
	most=$run_pid
	# The second one has a place, the third has none: both are counted privately.
	shared -a -x, -o "$T/own.csv" -e page-faults:u --for-each-cgroup "$name/two,$name/three" -- bash -c "$faults" 2>"$T/own.err"
	diff -u - "$T/own.err" <<<"perf stat: $full: counting with events of this session's own" >&2
	# Events of its own miss nothing. The start of the program, and the shell's last steps, have less than 100.
	in_range "$(value page-faults:u "$name/three" "$T/own.csv")" 3000 3100
	[ "$(value page-faults:u "$name/two" "$T/own.csv")" = 0.00 ]
	perf profile --bpf-attr-map "$ATTR_MAP" -j -s pid -c 1 -e page-faults:u --for-each-cgroup "$name/three" -- bash -c "$faults" \
		>"$T/own.json" 2>"$T/own.err"
	[ "$(complaints "$T/own.err")" = "perf profile: $full: sampling with events of this session's own" ]
	in_range "$(jq -s 'map(.samples // 0) | add' "$T/own.json")" 3000 3100	# for the same reason
	begin_witness
	bash -c "echo \$\$ >$top/two/cgroup.procs && exec $WORKLOADS/faults 3000"
	end_run "$most" INT 130
	end_witness
	is_silent "$T/most.err"
	explained 3000 3100 cgroup "$top/two" < <(value page-faults:u "$name/two" "$T/most.csv")
	wait_for no_leader
}

@test "new cgroups without a free descriptor are not counted, and the session goes on" {
	make_top
	mkdir "$top/w1"
	local command
	command='while [ ! -e "$0" ]; do sleep 0.05; done; exit 7'
	background "$T/run" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -x, -o "$T/run.csv" \
		-e page-faults -I 100 --for-each-cgroup "glob:$name/w*" -- bash -c "$command" "$T/go"
	wait_for has_interval run
	prlimit --pid $! --nofile=3:
	mkdir "$top/w2"
	wait_for grep -q '^perf stat: new cgroups' "$T/run"
	mkdir "$top/w3"
	local rows
	rows=$(grep -c w1 "$T/run.csv")
	wait_for has_more_rows "$rows"
	[ "$(<"$T/run")" = "perf stat: new cgroups cannot be counted for now: Too many open files: raise the limit with ulimit -n" ]
	prlimit --pid $! --nofile=1024:
	: >"$T/go"
	local status=0
	wait $! || status=$?
	[ $status = 7 ]
	wait_for no_leader
}

# has_more_rows NR : of the cgroup that was there before
has_more_rows() {
	[ "$(grep -c w1 "$T/run.csv")" -gt "$1" ]
}

@test "a stopped session does not lose another's new cgroups, and reports its own losses" {
	make_top
	local stopped nr all
	start_run stopped -a -e page-faults:u -I 100 --for-each-cgroup "glob:$name/w*,$name"
	stopped=$run_pid
	start_run goes -a -e page-faults:u -I 100 --for-each-cgroup "glob:$name/w*,$name"
	wait_for has_interval goes
	kill -STOP "$stopped"
	# More than there are places.
	begin_witness
	"$WORKLOADS/cgroup_churn" 1500 100 "$top"
	end_witness
	end_run "$run_pid" INT 130
	kill -CONT "$stopped"
	end_run "$stopped" INT 130
	all=$(value page-faults:u "$name" "$T/goes.csv")
	# Nine or ten of each, which touches ten pages; some are those that it forks with.
	explained $((1500 * 8)) $((1500 * 12)) comm cgroup_churn <<<"$all"
	add_up "$T/goes.csv" 1500 '/w[0-9]+$' "$all"
	refute grep 'new cgroups' "$T/goes.err"
	# Each is in its table, or was missed.
	nr=$(sed -n 's/^perf stat: \([0-9]*\) new cgroups were found late.*/\1/p' "$T/stopped.err")
	# (There is room for 1,024.)
	in_range "$nr" 476 1500
	[ $((nr + $(awk -F, -v name="$name/w" 'index($5, name) == 1 && $2 ~ /^[0-9]+$/' "$T/stopped.csv" | wc -l))) = 1500 ]
	wait_for no_leader
}

# has_stopped NR : the session $more has stopped so often at its step
has_stopped() {
	[ "$(grep -c '^stopped at' "$T/more")" = "$1" ] && has_state "$more" T
}

@test "a session reports as many late cgroups as others gave up, though their numbers skip" {
	make_top
	local stopped watches more
	start_run stopped -a -e page-faults:u -I 100 --for-each-cgroup "glob:$name/w*,$name"
	stopped=$run_pid
	start_run watches -a -e page-faults:u -I 100 --for-each-cgroup "glob:$name/w*,$name"
	watches=$run_pid
	wait_for has_interval stopped
	kill -STOP "$stopped"
	# A session with more events renews both halves of the pool. Stopped between, it has no place at the
	# next number. So the first new cgroup takes a place of the other half, and a number that is higher by 512.
	background "$T/more" env PERF_TEST_STOP_AT=pool-half-retracted perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -a -x, -o "$T/more.csv" -e page-faults:u,page-faults:k -I 100 \
		--for-each-cgroup "$name"
	more=$!
	wait_for has_stopped 1
	kill -CONT "$more"
	wait_for has_stopped 2
	mkdir "$top"/w{1,2,3}
	# Three, and the 512 that the number skips. Others may make cgroups meanwhile.
	in_range "$(state pending)" 515 1000
	kill -CONT "$more"
	wait_for has_pending 0
	kill -CONT "$stopped"
	wait_for grep -q "$name/w3" "$T/stopped.csv"
	end_run "$stopped" INT 130
	end_run "$watches" INT 130
	# It would stop there once more at its end.
	end_run "$more" KILL 137
	refute grep 'found late' "$T/watches.err"
	cat "$T/stopped.err" >&2
	# and those that others make meanwhile
	in_range "$(sed -n 's/^perf stat: \([0-9]*\) new cgroups were found late.*/\1/p' "$T/stopped.err")" 3 500
	wait_for no_leader
}

# next_stop NR : the session $more goes on until it stops for the NR-th time
next_stop() {
	[ "$1" = 1 ] || kill -CONT "$more"
	wait_for has_stopped "$1"
}

@test "a session finds what each new cgroup did, though their numbers skip more than there are places" {
	make_top
	local watches more
	start_run watches -a -e page-faults:u -I 100000 --for-each-cgroup "glob:$name/w*,$name"
	watches=$run_pid
	kill -STOP "$watches"
	mkdir "$top/w1"
	begin_witness
	bash -c "echo \$\$ >$top/w1/cgroup.procs && exec $WORKLOADS/faults 3000"
	end_witness
	# Another session renews the pool when it comes and when it goes. Each time a new cgroup finds half of the
	# places empty, and its number is higher by 512.
	background "$T/more" env PERF_TEST_STOP_AT=pool-half-retracted perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -a -x, -o "$T/more.csv" -e page-faults:u,page-faults:k \
		--for-each-cgroup "$name"
	more=$!
	next_stop 1
	next_stop 2
	mkdir "$top/w2"
	kill -CONT "$more"
	wait_for polls "$more"
	kill -INT "$more"
	wait_for has_stopped 3
	next_stop 4
	mkdir "$top/w3"
	# Three, and the 1,024 that the numbers skip. Others may make cgroups meanwhile.
	in_range "$(state pending)" 1027 2000
	end_run "$more" CONT 130
	kill -CONT "$watches"
	wait_for has_pending 0
	end_run "$watches" INT 130
	faulted "$(value page-faults:u "$name/w1" "$T/watches.csv")" "$top/w1"
	refute grep 'found late' "$T/watches.err"
	wait_for no_leader
}

# has_pending NR : new cgroups that were counted by themselves and not given up yet
has_pending() {
	[ "$(state pending)" = "$1" ]
}

@test "a new cgroup that no session counts soon costs nothing, even beside a stopped session" {
	make_top
	local stopped
	start_run goes -a -e page-faults -I 100000 --for-each-cgroup "glob:$name/w*,$name"
	# From the cgroups on its own, without any call, it would look in 100 seconds.
	mkdir "$top/u1"
	wait_for has_pending 0
	start_run stopped -a -e page-faults -I 100000 --for-each-cgroup "glob:$name/w*,$name"
	stopped=$run_pid
	kill -STOP "$stopped"
	mkdir "$top/u2"
	has_pending 1
	wait_for has_pending 0
	kill -CONT "$stopped"
	end_run "$stopped" INT 130
	wait_for no_more_runs_than 1
}

no_more_runs_than() {
	[ "$(state sessions)" = "$1" ]
}
