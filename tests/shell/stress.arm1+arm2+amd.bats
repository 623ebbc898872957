#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Many runs of random targets and events at the same time, a third of which is killed anywhere. What
# lives counts each event of its own both ways, plainly and shared, so that nothing differs but the
# way of counting; where there is a PMU, four events of it are shared, and few runs count one plainly
# (there are six counters, and one for cycles).
#
# SEED=N (tests/vm/run hands it on) repeats what a run with that seed did, on arm1 exactly.

load helpers
load shared
load cgroups

T=$BATS_TEST_TMPDIR
U=instructions:u

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	jobs_started=() gangs=()
	SEED=${SEED:-1}
	RANDOM=$SEED
}

teardown() {
	remove_top
	end_jobs
	remove_map
}

# one_of WORD... : one by chance, to $chosen
one_of() {
	local i=$((RANDOM % $# + 1))
	chosen=${!i}
}

# start_gang NR : it writes to $T/gang.NR
start_gang() {
	chrt -o 0 "$WORKLOADS/gang" 2 20000 1 >"$T/gang.$1" 3>&- &
	gangs+=($!)
	jobs_started+=($!)
	wait_for grep -q ready "$T/gang.$1"
}

# is_quiet PID : that gang has done all its work, and sleeps
is_quiet() {
	local where
	read -r where <"/proc/$1/wchan"
	[[ $where = *sigtimedwait* ]] && sleeps "$1"
}

# all_work : each gang does, once, and all sleep again
all_work() {
	local gang
	for gang in "${gangs[@]}"; do
		wait_for is_quiet "$gang"
		kill -USR1 "$gang"
	done
	for gang in "${gangs[@]}"; do wait_for is_quiet "$gang"; done
}

# plan I : what run I counts, by chance: ${words[@]}. Those that die may count anything.
plan() {
	local events tids gang=${gangs[RANDOM % 5]}
	one_of cs,cs:b page-faults,page-faults:b cs,cs:b,page-faults,page-faults:b
	events=$chosen
	one_of "" "" ",cycles:ub" ",cycles:b,instructions:b" ",cycles:ub,instructions:ub"
	[ "$PLACE" = amd ] || events+=$chosen
	words=()
	one_of process thread threads processes system cpu command children cgroups
	kinds[$1]=$chosen
	case $chosen in
	process)
		if [ "$PLACE" = arm1 ] && [ -z "${plain_of[$gang]:-}" ]; then
			plain_of[$gang]=1
			events=$U,${U}b,$events
		fi
		words=(-p "$gang") ;;
	thread)
		tids=(/proc/"$gang"/task/*)
		words=(-t "${tids[RANDOM % ${#tids[@]}]##*/}") ;;
	threads) words=(--per-thread -p "$gang") ;;
	processes) words=(-p "$gang,${gangs[0]},${gangs[1]}") ;;
	system) words=(-a) ;;
	cpu) words=(-C 0) ;;
	cgroups) words=(-a --for-each-cgroup "$name/x,$name/y") ;;
	command) words=("$WORKLOADS/waiter" 10000) ;;
	children)
		[ "$PLACE" != arm1 ] || events=$U,${U}b,$events
		words=("$WORKLOADS/forks" $((RANDOM % 20)) $((RANDOM))) ;;
	esac
	words=(-e "$events" "${words[@]}")
}

# is_doomed I : run I is one of those that are killed
is_doomed() {
	[ $((doom[$1] % 3)) = 0 ]
}

# begin I : run I in the background, as planned
begin() {
	local as=(chrt -f 20)
	plan "$1"
	! is_doomed "$1" || as=(chrt -o 0)
	# some die by themselves, at some step, if they come so far
	[ $((doom[$1] % 6)) != 0 ] || as+=(env PERF_TEST_KILL_AT=$((RANDOM % 70 + 1)))
	background "$T/err.$1" "${as[@]}" perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out.$1.${kinds[$1]}" "${words[@]}"
	pids[$1]=$!
	echo "$1 ${as[*]} ${kinds[$1]}: ${words[*]}" >>"$T/log"
}

# counts_right FILE... : in each row, and each pair of rows, of these. What happens on another CPU
# between the beginnings, or the ends, of both ways to count is in one of them only; commands begin
# with their exec.
counts_right() {
	awk -F, -v place="$PLACE" '
	function wrong(why) { print FILENAME ": " why ": " $0; bad = 1 }
	FNR == 1 { split("", plain) }
	/^#/ || NF < 5 { next }
	{
		for (e = 3; e <= NF && $(e) !~ /^(cs|page-faults|instructions|cycles)(:[ub]+)?$/; e++);
		for (t = e + 1; t <= NF && $(t) !~ /^[0-9]+$/; t++);
		who = (e > 3 ? $1 : "") "," (t > e + 1 ? $(e + 1) : "")
		value = $(e - 2)
		rows++
		if (value !~ /^[0-9]+$/ || $(t + 1) != "100.00")
			wrong("not counted all the time")
		if ($(e) !~ /b$/) {
			plain[who, $(e)] = value
			next
		}
		name = $(e)
		sub(/:?b$/, "", name)
		if (!((who, name) in plain))
			next
		pairs++
		d = value - plain[who, name]
		if (d < 0) d = -d
		if (d > (place != "arm1" && FILENAME !~ /(command|children)$/ ? plain[who, name] * 0.05 + 5 : 0))
			wrong("plainly " plain[who, name])
	}
	END { print "# " rows " rows, " pairs " pairs"; exit bad || !pairs }' "$@" >&3
}

# many NR : so many runs at the same time
many() {
	local nr=${1:-32} i j gang status lives=() files=() died=0
	local -A plain_of=()
	doom=() pids=() kinds=()
	chrt -f -p 30 $BASHPID
	for ((i = 0; i < nr; i++)); do doom[i]=$RANDOM; done
	make_top
	mkdir "$top/x" "$top/y"
	for i in 0 1 2 3 4; do start_gang $i; done
	echo "${gangs[2]}" >"$top/x/cgroup.procs"
	echo "${gangs[3]}" >"$top/y/cgroup.procs"

	for ((i = 0; i < nr; i++)); do
		begin $i
		read -r -t "0.$(printf %03d $((RANDOM % 40)))" -u "$never" || :
		# somebody works, somebody dies
		[ $((RANDOM % 4)) != 0 ] || kill -USR1 "${gangs[RANDOM % 5]}"
		for ((j = i - RANDOM % 8; j <= i; j++)); do
			[ $j -ge 0 ] && is_doomed $j && [ $((RANDOM % 3)) = 0 ] || continue
			kill -KILL "${pids[j]}" 2>/dev/null || :
		done
	done
	for ((i = 0; i < nr; i++)); do
		if ! is_doomed $i; then
			[ "${kinds[i]}" != children ] || continue
			wait_for polls "${pids[i]}"
			lives+=($i)
			continue
		fi
		one_of KILL INT
		kill -$chosen "${pids[i]}" 2>/dev/null || :
		status=0
		wait "${pids[i]}" || status=$?
		[ $status != 137 ] || died=$((died + 1))
	done
	echo "# seed $SEED: of $nr runs $died were killed, ${#lives[@]} go on" >&3
	wait_for has_runs ${#lives[@]}
	all_work
	all_work

	for i in "${lives[@]}"; do
		one_of INT TERM
		kill -$chosen "${pids[i]}"
		[ $((RANDOM % 4)) != 0 ] || kill -USR1 "${gangs[RANDOM % 5]}"
	done
	for ((i = 0; i < nr; i++)); do
		is_doomed $i && continue
		status=0
		wait "${pids[i]}" || status=$?
		[[ $status = 0 || $status = 130 || $status = 143 ]] || { cat "$T/err.$i"; echo "status $status"; return 1; }
		clean "$T/err.$i"
		files+=("$T/out.$i.${kinds[i]}")
	done
	counts_right "${files[@]}"
}

@test "many runs, a third killed: the others are right, and nothing is left" {
	many "${FULL:+100}" || { cat "$T/log" >&2; false; }
	nothing_left
	# not even an event: all counters there are can be used
	[ "$PLACE" != arm1 ] || perf stat -a -x, -o "$T/all" -e cycles,r8,r1,r3,r4,r10,r12 true
	[ "$PLACE" != arm1 ] || [ "$(cut -d, -f5 "$T/all" | grep -c '^100.00$')" = 7 ] || { cat "$T/all"; false; }
	diff <(printf '%s\n' "${ATTR_MAP##*/}" "${ATTR_MAP##*/}_lock") <(ls /sys/fs/bpf) >&2
}
