# SPDX-License-Identifier: GPL-2.0
# Helpers for tests of shared counting: count the same thing plainly and shared, and control when sessions
# count. Load it after helpers.

# -g, because load is a function
declare -gA ctl_fd ack_fd run_pid

T=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}

# polls PID : this session is in poll(), so it has set up everything
polls() {
	local where=
	read -r where <"/proc/$1/wchan" || :
	[[ $where = *poll* ]]
}

# clean FILE... : these messages report no failures, and no missed readings, switches or tasks
clean() {
	! grep -HE 'missed|failed|cannot|rror' "$@" >&2
}

# both OPTION... : count the same plainly and shared, to plain.out and shared.out
both() {
	perf stat -x, -o "$T/plain.out" "$@" >"$T/plain.err" 2>&1 3>&-
	shared -x, -o "$T/shared.out" "$@" >"$T/shared.err" 2>&1 3>&-
	clean "$T/shared.err"
}

# rows FILE : print "EVENT VALUE" for each row of CSV
rows() {
	awk -F, 'NF > 4 && !/^#/ { print $3, $1 }' "$1"
}

# agree PERCENT [EVENT...] : the rows of both outputs have the same events, and no value differs by more.
# With EVENT, compare only the values of these.
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

# gang THREADS ITER [CHILDREN] : start a gang; its pid is $gang, its further threads are ${tids[@]}. Each
# work() takes 2 * ITER * (1 + 2 + ... + (THREADS + 1) + CHILDREN) instructions and a few more.
gang() {
	rm -f "$T/gang"
	background "$T/gang" "$WORKLOADS/gang" "$@"
	gang=$!
	wait_for has_text ready "$T/gang"
	found_gang
}

# found_gang : set ${tids[@]} to the threads of the gang that wrote to $T/gang
found_gang() {
	read -r -a tids < <(sed -n 's/^ready *//p' "$T/gang")
}

# work : have the gang work once; wait until all its threads sleep again
work() {
	"$WORKLOADS/poke" "$gang" "$T/gang"
}

# is_state PID LETTER : a process is in that state
is_state() {
	local text=
	{ read -r text <"/proc/$1/stat"; } 2>/dev/null
	[[ $text = *") $2 "* ]]
}

# sleeps PID : all its threads sleep
sleeps() {
	local file text
	for file in /proc/"$1"/task/*/stat; do
		read -r text <"$file" && [[ $text = *') S '* ]] || return 1
	done
}

# window NAME OPTION... : start a session in the background that counts when told to. It shares events
# marked with b, or all events with --bpf-counters. ${run_as[@]} are words before the command.
window() {
	local name=$1
	shift
	open_control "$name" || return
	background "$T/$name.err" "${run_as[@]}" perf stat --bpf-attr-map "$ATTR_MAP" -x, \
		-o "$T/$name.out" -D -1 --control "fifo:$T/$name.ctl,$T/$name.ack" "$@"
	run_pid[$name]=$!
	tell "$name" ping
}

open_control() {
	local fd
	rm -f "$T/$1".{ctl,ack,out,err}
	mkfifo "$T/$1.ctl" "$T/$1.ack" || return
	exec {fd}<>"$T/$1.ctl"
	ctl_fd[$1]=$fd
	exec {fd}<>"$T/$1.ack"
	ack_fd[$1]=$fd
}

# tell NAME COMMAND : send a command of --control, and wait for the acknowledgement
tell() {
	local answer
	echo "$2" >&"${ctl_fd[$1]}"
	read -r -t 300 answer <&"${ack_fd[$1]}" || { echo "no answer from $1:" >&2; cat "$T/$1.err" >&2; return 1; }
	[ "$answer" = ack ]
}

# tell_all COMMAND NAME... : tell it to these sessions, one after the other
tell_all() {
	local command=$1 name
	shift
	for name; do
		tell "$name" "$command"
	done
}

# finish NAME... : end these sessions; their counts are in $T/NAME.out
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

# state [NAME] : print the numbers of the leader's tables, or one of them
state() {
	if [ $# = 0 ]; then
		"$WORKLOADS/leader_state" "$ATTR_MAP"
	else
		"$WORKLOADS/leader_state" "$ATTR_MAP" | awk -v name="$1" '$1 == name { print $2 }'
	fi
}

# nothing_left : end all jobs; nothing is left of what this test counted. If the file keeps a leader, its
# tables are as before. Otherwise no part of any leader is left, and after one more session the map is
# empty.
nothing_left() {
	end_jobs
	if [ -n "${KEPT_MAP:-}" ]; then
		# A host that hides tasks from BPF programs may also hide their ends, so there entries
		# of ended tasks may stay.
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
	is_silent "$T/last.err"
	[ "$(entries)" = 0 ]
	wait_for no_leader
	[ -d "${ATTR_MAP}_lock" ]
}

# no_leader : this test's map has no leader; in an emulated machine, no part of any leader is left
no_leader() {
	local status=0
	"$WORKLOADS/leader_state" "$ATTR_MAP" || status=$?
	[ $status = 3 ] && { [ -z "${PLACE:-}" ] || no_leader_objects; }
}

# state_is NAME NUMBER : this number of the leader's tables has this value
state_is() {
	[ "$(state "$1")" = "$2" ]
}

# tables : print the leader's tables without the entries of tasks: those of ended tasks stay for a while
tables() {
	state | grep -v -e '^entries' -e '^ended'
}

# same_tables FILE : wait until the tables are as in FILE
same_tables() {
	wait_for is_same "$1" tables || { tables | diff "$1" - >&2; return 1; }
}

# is_same FILE COMMAND : the command prints the contents of FILE
is_same() {
	"$2" | cmp -s "$1" -
}

# with_shared EVENT,... : set $events to each of these events, followed by the same marked as shared
with_shared() {
	local event
	events=
	for event in ${1//,/ }; do
		as_shared "$event"
		events+=,$event,$shared_event
	done
	events=${events#,}
}

# unseen_exits FILE : print the number of exits that the session with these messages did not see
unseen_exits() {
	local nr
	nr=$(sed -n 's/^perf stat: \([0-9]*\) exits went unseen: .*/\1/p' "$1")
	echo "${nr:-0}"
}

# as_shared EVENT : set $shared_event to its name as a shared event
as_shared() {
	case $1 in
	*:*) shared_event=${1}b ;;
	*) shared_event=$1:b ;;
	esac
}

# same NAME PERCENT EVENT [LEAST [MOST]] : the plain and shared counts of EVENT in that session differ by
# at most PERCENT, and are in that range. If the machine hid switches, $missing events can be missing, and
# $extra can be too many (missed and excess in helpers.bash). The session itself reports exits that the kernel
# hid from BPF programs. The switches that follow these are counted: begin_exits traces how many there are.
same() {
	local unseen=0
	as_shared "$3"
	case $3 in
	cs|cs:k|context-switches) unseen=$(switches_after "$(unseen_exits "$T/$1.err")") ;;
	esac
	awk -F, -v name="$1" -v p="$2" -v event="$3" -v shared="$shared_event" -v least="${4:-0}" \
		-v most="${5:-1e15}" -v missing="${missing:-0}" -v extra=$((${extra:-0} + unseen)) '
		NF > 4 { v[$3] = $1 }
		END {
			a = v[event]
			b = v[shared]
			print name ": " event ": plain " a " shared " b
			if (a !~ /^[0-9.]+$/ || b !~ /^[0-9.]+$/) {
				print "  not counted"
				exit 1
			}
			if (b < a * (1 - p / 100) - missing || b > a * (1 + p / 100) + extra) {
				print "  differs by more than " p " %, " missing " hidden, " extra " misplaced"
				exit 1
			}
			if (b + missing < least + 0 || b - extra > most + 0) {
				print "  not between " least " and " most
				exit 1
			}
		}' "$T/$1.out" >&2
}

# alike PERCENT EVENT,... [OPTION...] COMMAND... : count these events shared and plainly in one session, to
# $T/alike.out, and compare. Ends a trace of begin_exits: then 0 percent of switches are those but for the ones in exits.
alike() {
	local percent=$1 list=$2 events event
	shift 2
	[ -n "${exits:-}" ] || rm -f "$T/exits"	# of an earlier one
	with_shared "$list"
	perf stat --bpf-attr-map "$ATTR_MAP" -x, -o "$T/alike.out" -e "$events" "$@" \
		>"$T/alike.err" 2>&1 3>&-
	end_exits
	clean "$T/alike.err"
	echo "$*" >&2
	for event in ${list//,/ }; do
		# A percentage has them already.
		case $percent$event in
		0cs|0context-switches) missing=$((${missing:-0} + $(switches_in_exits))) same alike "$percent" "$event" ;;
		*) same alike "$percent" "$event" ;;
		esac
	done
}

# both_window NAME EVENT,... OPTION... : start a session that counts each event both ways when told to
both_window() {
	local name=$1 events
	with_shared "$2"
	shift 2
	window "$name" -e "$events" "$@"
}

# short_runs N EVENT,... : run N short sessions beside a long one that counts the gang, which works at each
# tenth. They leave nothing, and the counts of the long one are right, as it counts events both ways. After
# begin_witness, switches are exact except for hidden ones and those at exits (without it, see right() in
# shared_overlap.arm1.bats).
short_runs() {
	local i nr=$1
	[ -z "${witness:-}" ] || begin_exits gang
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
	if [ -n "${witness:-}" ]; then
		end_witness
		end_exits
		missing=$(($(missed hidden comm gang) + $(switches_in_exits))) extra=$(excess hidden comm gang) \
			same long 0 cs $((nr / 10))
	else
		same long 5 cs $((nr / 10))
	fi
	nothing_left
}
