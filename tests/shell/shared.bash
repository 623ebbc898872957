# SPDX-License-Identifier: GPL-2.0
# For tests of shared counting: the same thing counted plainly and shared, and runs that are told
# when to count. Loaded after helpers.

# -g: load is a function
declare -gA ctl_fd ack_fd run_pid

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

# gang THREADS ITER [CHILDREN] : starts one; its pid is $gang, its further threads are ${tids[@]}
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

# work [PID] : have the gang work once, until it sleeps again
work() {
	local pid=${1:-$gang} file=$T/gang before
	before=$(grep -c done "$file" || :)
	kill -USR1 "$pid"
	wait_for is_done "$file" $((before + 1))
	# and that it sleeps
	wait_for grep -q '^State:.S' "/proc/$pid/status"
}

is_done() {
	[ "$(grep -c done "$1")" -ge "$2" ]
}

# window NAME OPTION... : a shared run in the background that counts when told to
window() {
	local name=$1
	shift
	open_control "$name"
	background "$T/$name.err" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, \
		-o "$T/$name.out" -D -1 --control "fifo:$T/$name.ctl,$T/$name.ack" "$@"
	run_pid[$name]=$!
	tell "$name" ping
}

# plain_window NAME OPTION... : the same, counting plainly
plain_window() {
	local name=$1
	shift
	open_control "$name"
	background "$T/$name.err" perf stat -x, \
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

# counted NAME EVENT TIMES : that run counted TIMES times what the plain one counted of that event
# (in $one, by counts_of), within 0.01 %
counted() {
	local value
	value=$(field "$2" 1 "$T/$1.out")
	echo "$1: $value, expected $3 * $one" >&2
	within "$value" $((one * $3)) 0.01
}

# state [NAME] : the leader's tables, or one number of them
state() {
	if [ $# = 0 ]; then
		"$WORKLOADS/leader_state" "$ATTR_MAP"
	else
		"$WORKLOADS/leader_state" "$ATTR_MAP" | awk -v name="$1" '$1 == name { print $2 }'
	fi
}

# nothing_left : after the last run: no part of any leader, and after one more run an empty map
nothing_left() {
	wait_for no_leader_objects || { leader_objects >&2; return 1; }
	shared -x, -o "$T/last.out" -e page-faults:u true 2>"$T/last.err"
	[ ! -s "$T/last.err" ]
	[ "$(entries)" = 0 ]
	wait_for no_leader_objects
	[ -d "${ATTR_MAP}_lock" ]
}

# state_is NAME NUMBER
state_is() {
	[ "$(state "$1")" = "$2" ]
}

# same_state FILE : the tables are as they were, once the dead are forgotten
same_state() {
	wait_for is_same_state "$1" || { state | diff "$1" - >&2; return 1; }
}

is_same_state() {
	state | cmp -s "$1" -
}
