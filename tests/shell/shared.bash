# SPDX-License-Identifier: GPL-2.0
# For tests of shared counting: the same thing counted plainly and shared, and runs that are told
# when to count. Loaded after helpers.

# -g: load is a function
declare -gA ctl_fd ack_fd run_pid

T=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}

# polls PID : it waits for its end: all is set up
polls() {
	local where=
	read -r where <"/proc/$1/wchan" || :
	[[ $where = *poll* ]]
}

# clean FILE... : what runs said there is nothing about missed readings, switches or tasks, or of
# failures
clean() {
	! grep -HE 'missed|failed|cannot|rror' "$@" >&2
}

# both OPTION... : the same counted plainly and shared, to plain.out and shared.out
both() {
	perf stat -x, -o "$T/plain.out" "$@" >"$T/plain.err" 2>&1 3>&-
	shared -x, -o "$T/shared.out" "$@" >"$T/shared.err" 2>&1 3>&-
	clean "$T/shared.err"
}

# rows FILE : "EVENT VALUE", a line for each row of CSV
rows() {
	awk -F, 'NF > 4 && !/^#/ { print $3, $1 }' "$1"
}

# agree PERCENT [EVENT...] : the rows of both outputs are of the same events, and no value differs
# by more; only the events named, if any are
agree() {
	local percent=$1
	shift
	paste -d ' ' <(rows "$T/shared.out") <(rows "$T/plain.out") >"$T/pairs"
	[ -s "$T/pairs" ]
	awk -v p="$percent" -v wanted=" $* " '
		$1 != $3 { print "other events: " $0; bad = 1 }
		wanted != "  " && !index(wanted, " " $1 " ") { next }
		{
			nr++
			d = $2 > $4 ? $2 - $4 : $4 - $2
			printf "%s: shared %s plain %s\n", $1, $2, $4
			if ($2 !~ /^[0-9.]+$/ || $4 !~ /^[0-9.]+$/ || d > $4 * p / 100) {
				print "  not within " p " %"
				bad = 1
			}
		}
		END { exit bad || !nr }' "$T/pairs" >&2
}

# gang THREADS ITER [CHILDREN] : starts one; its pid is $gang, its further threads are ${tids[@]}. Each
# work() of it takes 2 * ITER * (1 + 2 + ... + (THREADS + 1) + CHILDREN) instructions and few more.
gang() {
	rm -f "$T/gang"
	background "$T/gang" "$WORKLOADS/gang" "$@"
	gang=$!
	wait_for grep -q ready "$T/gang"
	found_gang
}

# found_gang : one that wrote to $T/gang is there, as $gang's threads
found_gang() {
	read -r -a tids < <(sed -n 's/^ready *//p' "$T/gang")
}

# work : have the gang work once, until all of it sleeps again
work() {
	"$WORKLOADS/poke" "$gang" "$T/gang"
}

# sleeps PID : all its threads do
sleeps() {
	local file text
	for file in /proc/"$1"/task/*/stat; do
		read -r text <"$file" && [[ $text = *') S '* ]] || return 1
	done
}

# window NAME OPTION... : a run in the background that shares what is marked with b, or everything
# with --bpf-counters, and counts when told to. ${run_as[@]}, if set, are words before the command.
window() {
	local name=$1
	shift
	open_control "$name"
	background "$T/$name.err" "${run_as[@]}" perf stat --bpf-attr-map "$ATTR_MAP" -x, \
		-o "$T/$name.out" -D -1 --control "fifo:$T/$name.ctl,$T/$name.ack" "$@"
	run_pid[$name]=$!
	tell "$name" ping
}

open_control() {
	local fd
	rm -f "$T/$1".{ctl,ack,out,err}
	mkfifo "$T/$1.ctl" "$T/$1.ack"
	exec {fd}<>"$T/$1.ctl"
	ctl_fd[$1]=$fd
	exec {fd}<>"$T/$1.ack"
	ack_fd[$1]=$fd
}

# tell NAME COMMAND : what --control takes, done when this returns
tell() {
	local answer
	echo "$2" >&"${ctl_fd[$1]}"
	read -r -t 300 answer <&"${ack_fd[$1]}" || { echo "no answer from $1:" >&2; cat "$T/$1.err" >&2; return 1; }
	[ "$answer" = ack ]
}

# tell_all COMMAND NAME... : one after the other
tell_all() {
	local command=$1 name
	shift
	for name; do
		tell "$name" "$command"
	done
}

# finish NAME... : end those runs; their counts are in $T/NAME.out
finish() {
	local name fd
	for name; do
		kill -INT "${run_pid[$name]}"
		wait "${run_pid[$name]}" || :
		fd=${ctl_fd[$name]}
		exec {fd}>&-
		fd=${ack_fd[$name]}
		exec {fd}>&-
		clean "$T/$name.err"
		[ -s "$T/$name.out" ] || { cat "$T/$name.err" >&2; return 1; }
	done
}

# state [NAME] : the leader's tables, or one number of them
state() {
	if [ $# = 0 ]; then
		"$WORKLOADS/leader_state" "$ATTR_MAP"
	else
		"$WORKLOADS/leader_state" "$ATTR_MAP" | awk -v name="$1" '$1 == name { print $2 }'
	fi
}

# nothing_left : of what this test counted and of whom it counted. Beside a kept leader: its tables
# are as they were. Else no part of any leader is left, and after one more run the map is empty.
nothing_left() {
	end_jobs
	if [ -n "${KEPT_MAP:-}" ]; then
		# A machine that hides tasks from BPF programs may hide ends, too.
		if [ -n "${PLACE:-}" ]; then
			wait_for is_same "$BATS_FILE_TMPDIR/state" state ||
				{ state | diff "$BATS_FILE_TMPDIR/state" - >&2; return 1; }
		else
			grep -v -e '^entries' -e '^ended' "$BATS_FILE_TMPDIR/state" >"$T/tables"
			same_tables "$T/tables"
		fi
		return
	fi
	wait_for no_leader || { leader_objects >&2; return 1; }
	shared -x, -o "$T/last.out" -e page-faults:u true 2>"$T/last.err"
	[ ! -s "$T/last.err" ]
	[ "$(entries)" = 0 ]
	wait_for no_leader
	[ -d "${ATTR_MAP}_lock" ]
}

# no_leader : nor any part of one; where others may have theirs at the same time, none for this map
no_leader() {
	local status=0
	"$WORKLOADS/leader_state" "$ATTR_MAP" || status=$?
	[ $status = 3 ] && { [ -z "${PLACE:-}" ] || no_leader_objects; }
}

# state_is NAME NUMBER
state_is() {
	[ "$(state "$1")" = "$2" ]
}

# tables : the leader's, but for the entries of tasks: those of ended ones stay for a while
tables() {
	state | grep -v -e '^entries' -e '^ended'
}

# same_tables FILE : the tables are as they were, once the dead are forgotten
same_tables() {
	wait_for is_same "$1" tables || { tables | diff "$1" - >&2; return 1; }
}

# is_same FILE COMMAND : prints what is in the file
is_same() {
	"$2" | cmp -s "$1" -
}

# with_shared EVENT,... : to $events, each of them and, next, the same marked as shared
with_shared() {
	local event
	events=
	for event in ${1//,/ }; do
		as_shared "$event"
		events+=,$event,$shared_event
	done
	events=${events#,}
}

# as_shared EVENT : its name when it is shared, to $shared_event
as_shared() {
	case $1 in
	*:*) shared_event=${1}b ;;
	*) shared_event=$1:b ;;
	esac
}

# same NAME PERCENT EVENT [LEAST [MOST]] : what that run counted of the event plainly and shared
# differs at most so much, and is in that range
same() {
	as_shared "$3"
	awk -F, -v name="$1" -v p="$2" -v event="$3" -v shared="$shared_event" -v least="${4:-0}" \
		-v most="${5:-1e15}" '
		NF > 4 { v[$3] = $1 }
		END {
			a = v[event]
			b = v[shared]
			print name ": " event ": plain " a " shared " b
			if (a !~ /^[0-9.]+$/ || b !~ /^[0-9.]+$/) {
				print "  not counted"
				exit 1
			}
			if ((a > b ? a - b : b - a) > a * p / 100) {
				print "  differs by more than " p " %"
				exit 1
			}
			if (b + 0 < least + 0 || b + 0 > most + 0) {
				print "  not between " least " and " most
				exit 1
			}
		}' "$T/$1.out" >&2
}

# alike PERCENT EVENT,... [OPTION...] COMMAND... : counted in one run, to $T/alike.out, shared and
# plainly at the same time
alike() {
	local percent=$1 list=$2 events event
	shift 2
	with_shared "$list"
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/alike.out" -e "$events" "$@" \
		>"$T/alike.err" 2>&1 3>&-
	clean "$T/alike.err"
	echo "$*" >&2
	for event in ${list//,/ }; do
		same alike "$percent" "$event"
	done
}

# both_window NAME EVENT,... OPTION... : a run that counts each both ways when told to
both_window() {
	local name=$1 events
	with_shared "$2"
	shift 2
	window "$name" -e "$events" "$@"
}

# short_runs N EVENT,... : so many beside a long one that counts the gang, which works at each tenth.
# They leave nothing, and the long one is right: events are counted both ways in it. (Switches can
# be short on machines that hide some, and see right() in shared_overlap.arm1.bats.)
short_runs() {
	local i nr=$1
	both_window long "$2,cs" -p "$gang"
	tell long enable
	work
	tables >"$T/before"
	for ((i = 0; i < nr; i++)); do
		case $((i % 5)) in
		0) shared -x, -o "$T/s.out" -e "$2,cs:u" -p "$gang" -- true ;;
		1) shared -x, -o "$T/s.out" -e cpu-clock -t "${tids[0]}" -- true ;;
		2) shared -x, -o "$T/s.out" -e "$2" "$WORKLOADS/spin" 1000 ;;
		3) shared -x, -o "$T/s.out" --per-thread -e cs,faults -p "$gang" -- true ;;
		4) shared -x, -o "$T/s.out" -i -e "cs,$2" -p "$gang" -- true ;;
		esac 2>>"$T/s.err"
		[ $((i % 10)) != 0 ] || work
	done
	[ ! -s "$T/s.err" ] || { cat "$T/s.err" >&2; return 1; }
	same_tables "$T/before"
	tell long disable
	finish long
	same long 5 cs $((nr / 10))
	nothing_left
}
