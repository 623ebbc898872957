#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Many sessions with random targets and events at the same time. A third of them is killed anywhere. The
# others count each event plainly and shared, so that only the way of counting differs. On a PMU, four
# events are shared, and few sessions count one plainly (there are six counters, and one for cycles).
#
# SEED=N (tests/vm/run passes it on) repeats the test with that seed, on arm1 exactly.

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
	[ "${BATS_TEST_COMPLETED:-}" ] || cat "$T/log" >&2
	remove_top
	end_jobs
	remove_map
}

# one_of WORD... : set $chosen to a random word
one_of() {
	local i=$((RANDOM % $# + 1))
	chosen=${!i}
}

# start_gang NR : start a gang that writes to $T/gang.NR
start_gang() {
	chrt -o 0 "$WORKLOADS/gang" 2 20000 1 >"$T/gang.$1" 3>&- &
	gangs+=($!)
	jobs_started+=($!)
	wait_for has_text ready "$T/gang.$1"
}

# is_quiet PID : that gang has done all its work, and sleeps
is_quiet() {
	local where
	read -r where <"/proc/$1/wchan"
	[[ $where = *sigtimedwait* ]] && sleeps "$1"
}

# all_work : let each gang work once; wait until all sleep again
all_work() {
	local gang
	for gang in "${gangs[@]}"; do
		wait_for is_quiet "$gang"
		kill -USR1 "$gang"
	done
	for gang in "${gangs[@]}"; do wait_for is_quiet "$gang"; done
}

# plan I : set ${words[@]} to random options of session I. Sessions that die may count anything.
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

# is_doomed I : session I is to be killed
is_doomed() {
	[ $((doom[$1] % 3)) = 0 ]
}

# begin I : start session I in the background, as planned
begin() {
	local as=(chrt -f 20)
	plan "$1"
	! is_doomed "$1" || as=(chrt -o 0)
	# some kill themselves at a step, if they reach it
	[ $((doom[$1] % 6)) != 0 ] || as+=(env PERF_TEST_KILL_AT=$((RANDOM % 70 + 1)))
	background "$T/err.$1" "${as[@]}" perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/out.$1.${kinds[$1]}" "${words[@]}"
	pids[$1]=$!
	echo "$1 ${as[*]} ${kinds[$1]}: ${words[*]}" >>"$T/log"
}

# has_begun PID : this session has set up everything, or has ended
has_begun() {
	local stat=
	! polls "$1" || return 0
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || :
	[[ -z $stat || $stat = *') Z '* ]]
}

# few_begin : fewer than eight sessions are beginning
few_begin() {
	local i
	for i in "${!beginning[@]}"; do
		! has_begun "${beginning[i]}" || unset "beginning[i]"
	done
	[ ${#beginning[@]} -lt 8 ]
}

# counts_right FILE... : each row, and each pair of rows, is right. Events on another CPU between the
# beginnings, or the ends, of both ways to count are in one count only. Their times tell how long that was.
# Commands begin with their exec. A child that is preempted while its events end has one more plain switch.
counts_right() {
	awk -F, -v place="$PLACE" -v missing="$(switches_in_exits)" '
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
			plain_ns[who, $(e)] = $(t)
			next
		}
		name = $(e)
		sub(/:?b$/, "", name)
		if (!((who, name) in plain))
			next
		pairs++
		d = value - plain[who, name]
		if (d < 0) d = -d
		more = 0
		if (place != "arm1" && FILENAME !~ /(command|children)$/) {
			# Others fork most while sessions begin: up to 2.1 times the average was seen in this time.
			gap = plain_ns[who, name] - $(t)
			if (gap < 0) gap = -gap
			more = plain[who, name] * (0.05 + 4 * gap / (plain_ns[who, name] + 1)) + 5
		}
		if (FILENAME ~ /children$/ && name == "cs" && d == plain[who, name] - value)
			lacks += d
		else if (d > more)
			wrong("plainly " plain[who, name] " in " plain_ns[who, name] " ns")
	}
	END {
		print "# " rows " rows, " pairs " pairs, " lacks + 0 " of " missing " switches in exits"
		exit bad || !pairs || lacks > missing
	}' "$@" >&3
}

# is_alone I : session I got no lock within a second on the busy machine, and shares nothing
is_alone() {
	grep -q "counting with events of this session's own" "$T/err.$1"
}

# many NR : run NR sessions at the same time
many() {
	local nr=${1:-32} i j gang status lives=() files=() beginning=() died=0 alone=0
	local -A plain_of=()
	doom=() pids=() kinds=()
	chrt -f -p 30 $BASHPID
	for ((i = 0; i < nr; i++)); do doom[i]=$RANDOM; done
	make_top
	mkdir "$top/x" "$top/y"
	for i in 0 1 2 3 4; do start_gang $i; done
	begin_exits forks
	echo "${gangs[2]}" >"$top/x/cgroup.procs"
	echo "${gangs[3]}" >"$top/y/cgroup.procs"

	for ((i = 0; i < nr; i++)); do
		# A lock is waited for for a second, which is less than 32 sessions take to begin on a slow machine.
		wait_for few_begin
		begin $i
		beginning+=("${pids[i]}")
		read -r -t "0.$(printf %03d $((RANDOM % 40)))" -u "$never" || :
		# let a gang work, or a session die
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
			if is_alone $i; then
				# Its own events would take counters from those that are compared.
				kill -INT "${pids[i]}"
				alone=$((alone + 1))
			else
				lives+=("$i")
			fi
			continue
		fi
		one_of KILL INT
		kill -$chosen "${pids[i]}" 2>/dev/null || :
		status=0
		wait "${pids[i]}" || status=$?
		[ $status != 137 ] || died=$((died + 1))
	done
	echo "# seed $SEED: of $nr runs $died were killed, $alone share nothing, ${#lives[@]} go on" >&3
	[ $alone -le $((nr / 4)) ]
	wait_for has_sessions ${#lives[@]}
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
		! is_alone $i || continue
		clean "$T/err.$i"
		files+=("$T/out.$i.${kinds[i]}")
	done
	end_exits
	counts_right "${files[@]}"
}

@test "many sessions are right while a third is killed, and nothing is left" {
	many "${FULL:+100}"
	nothing_left
	# no event is left: all counters are free
	[ "$PLACE" != arm1 ] || perf stat -a -x, -o "$T/all" -e cycles,r8,r1,r3,r4,r10,r12 true
	[ "$PLACE" != arm1 ] || [ "$(cut -d, -f5 "$T/all" | grep -c '^100.00$')" = 7 ] || { cat "$T/all"; false; }
	diff <(printf '%s\n' "${ATTR_MAP##*/}" "${ATTR_MAP##*/}_lock") <(ls /sys/fs/bpf) >&2
}
