#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counters on this machine: sessions that join, end or die, wrong maps, missing privileges. Counted
# are software events, and nothing but this test's own map and leader is looked at.

load helpers

requirements() {
	require_root
	require_commands bpftool jq setpriv
}

# nothing_made : there is neither map nor lock at this test's path
nothing_made() {
	[ ! -e "$ATTR_MAP" ]
	[ ! -e "${ATTR_MAP}_lock" ]
}

# start_waiter OUT OPTION... : a run in the background that counts until it is told to end
start_waiter() {
	local out=$1
	shift
	background "$out" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -x, "$@" -- \
		"$WORKLOADS/waiter"
	wait_for has_text ready "$out"
}

# end_waiter SIGNAL PID : and wait for its end; its status is $ended
end_waiter() {
	kill "-$1" "$2"
	ended=0
	wait "$2" || ended=$?
}

@test "two sessions share one event, and only the map stays" {
	local a=$BATS_TEST_TMPDIR/a b=$BATS_TEST_TMPDIR/b first second
	start_waiter "$a" -a -e context-switches
	first=$!
	start_waiter "$b" -a -e cs
	second=$!
	run perf bperf list --bpf-attr-map "$ATTR_MAP"
	echo "$output"
	[ "$status" = 0 ]
	[[ $output = *"2 sessions share $(nproc) perf event"*" for 1 event"* ]]
	[ "$(entries)" = 1 ]
	our_objects >"$BATS_TEST_TMPDIR/objects"
	grep -q '^link ' "$BATS_TEST_TMPDIR/objects"
	[ "$(grep -c '^prog ' "$BATS_TEST_TMPDIR/objects")" -ge 2 ]
	[ "$(grep -c '^map ' "$BATS_TEST_TMPDIR/objects")" -ge 3 ]
	end_waiter INT $first
	[ "$ended" = 130 ]
	has_sessions 1
	refute are_gone "$BATS_TEST_TMPDIR/objects"
	end_waiter TERM $second
	[ "$ended" = 143 ]
	at_least "$(field context-switches 1 "$a")" 1
	at_least "$(field cs 1 "$b")" 1
	wait_for are_gone "$BATS_TEST_TMPDIR/objects"
	[ "$(perf bperf list --bpf-attr-map "$ATTR_MAP")" = "no events are shared through $ATTR_MAP" ]
	[ "$(find /sys/fs/bpf -maxdepth 1 -path "$ATTR_MAP*" | sort | tr '\n' ' ')" = \
		"$ATTR_MAP ${ATTR_MAP}_lock " ]
}

@test "the end of the first session does not affect the next one" {
	local a=$BATS_TEST_TMPDIR/a b=$BATS_TEST_TMPDIR/b first second
	start_waiter "$a" -a -e cs,page-faults
	first=$!
	start_waiter "$b" -a -e cs,page-faults -I 100
	second=$!
	end_waiter KILL $first
	wait_for has_sessions 1
	"$WORKLOADS/faults" 3000
	end_waiter INT $second
	# 3000 page faults after the other's death are counted, all of them
	at_least "$(awk -F, '$4 == "page-faults" { sum += $2 } END { print sum }' "$b")" 3000
	refute grep -q 'not counted\|not supported' "$b"
}

@test "after SIGKILL of the only session, the next one starts afresh" {
	local out=$BATS_TEST_TMPDIR/out
	start_waiter "$out" -a -e cs
	our_objects >"$BATS_TEST_TMPDIR/objects"
	end_waiter KILL $!
	[ "$ended" = 137 ]
	wait_for are_gone "$BATS_TEST_TMPDIR/objects"
	# the entry is still there, but leads nowhere
	[ "$(entries)" = 1 ]
	shared -a -x, --log-fd 4 -e page-faults "$WORKLOADS/faults" 700 4>"$out"
	at_least "$(field page-faults 1 "$out")" 700
	[ "$(entries)" -le 1 ]
	[ "$(perf bperf list --bpf-attr-map "$ATTR_MAP")" = "no events are shared through $ATTR_MAP" ]
}

# nothing_of_series : its end, or that of a series in which something failed, left nothing
nothing_of_series() {
	[ "$(perf bperf prune --bpf-attr-map "$ATTR_MAP")" = "removed: 0 dead entries, 0 dead sessions" ]
	[ "$(perf bperf list --bpf-attr-map "$ATTR_MAP")" = "no events are shared through $ATTR_MAP" ]
	[ "$(entries)" = 0 ]
}

@test "the repeats of -r share one leader, each counts its own, and nothing stays" {
	local links=$BATS_TEST_TMPDIR/links out=$BATS_TEST_TMPDIR/out mode status=0
	local post="perf bperf list -j --bpf-attr-map '$ATTR_MAP' | jq -c '[(.runs | length), .events[].\"link-id\"]' >>'$links'"
	for mode in -a -i "-a --for-each-cgroup /"; do
		: >"$links"
		# shellcheck disable=SC2086 # words
		shared -r 3 $mode -x, -o "$out" --post "$post" -e page-faults,cs "$WORKLOADS/faults" 500
		cat "$links" "$out"
		[ "$(wc -l <"$links")" = 3 ]
		[ "$(sort -u "$links" | wc -l)" = 1 ]
		grep -qEx '\[1,([0-9]+),\1\]' "$links"
		nothing_of_series
	done
	# ended by its command, by a command that cannot be had, and by a signal
	shared -r 3 -a -x, -o "$out" -e cs sh -c 'kill -9 $$' || status=$?
	[ "$status" = 137 ]
	nothing_of_series
	cp "$WORKLOADS/faults" "$BATS_TEST_TMPDIR/gone"
	refute shared -r 3 -a -x, -o "$out" --post "rm '$BATS_TEST_TMPDIR/gone'" -e cs "$BATS_TEST_TMPDIR/gone" 1
	nothing_of_series
	: >"$links"
	background "$out" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -r 0 -a -e cs \
		--post "echo >>'$links'; exec sleep 1000" true
	wait_for grep -q '' "$links"
	has_sessions 1
	end_waiter INT $!
	[ "$ended" = 130 ]
	nothing_of_series
	# killed between two runs: who comes next cleans up
	: >"$links"
	background "$out" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -r 0 -a -e cs \
		--post "echo >>'$links'; exec sleep 1000" true
	wait_for grep -q '' "$links"
	end_waiter KILL $!
	shared -a -x, -o "$out" -e cs true
	nothing_of_series
}

@test "the command never runs if perf is killed before its start" {
	background "$BATS_TEST_TMPDIR/out" env PERF_TEST_STOP_AT=session-added perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -a -e cs touch "$BATS_TEST_TMPDIR/started"
	local perf=$! child
	wait_for grep -q "^stopped at session-added" "$BATS_TEST_TMPDIR/out"
	child=$(<"/proc/$perf/task/$perf/children")
	[ -n "$child" ]
	end_waiter KILL $perf
	gone() { [ ! -e "/proc/${child% }" ]; }
	wait_for gone
	[ ! -e "$BATS_TEST_TMPDIR/started" ]
}

@test "SIGINT while waiting for the lock ends perf" {
	mkdir "${ATTR_MAP}_lock"
	exec 9<"${ATTR_MAP}_lock"
	flock 9
	background "$BATS_TEST_TMPDIR/out" env PERF_TEST_LOCK_MS=300000 perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -a -e cs touch "$BATS_TEST_TMPDIR/started" 9<&-
	local perf=$!
	wait_for waits_for_lock $perf
	end_waiter INT $perf
	exec 9<&-
	[ "$ended" = 130 ]
	[ "$(<"$BATS_TEST_TMPDIR/out")" = "perf stat: ended by SIGINT before counting began" ]
	[ ! -e "$BATS_TEST_TMPDIR/started" ]
}

# waits_at DIR : strace reports that a session waits for the lock of that directory
waits_at() {
	grep -q "flock(.*<$1>, LOCK_EX) = ? ERESTARTSYS" "$BATS_TEST_TMPDIR/trace"
}

@test "a session that waits for its lock polls nothing: the end of the lock wakes it" {
	require_commands strace
	mkdir "${ATTR_MAP}_lock"
	exec 9<"${ATTR_MAP}_lock"
	flock 9
	background "$BATS_TEST_TMPDIR/err" strace -y -o "$BATS_TEST_TMPDIR/trace" \
		env PERF_TEST_LOCK_MS=300000 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a \
		-o "$BATS_TEST_TMPDIR/out" -e cs true 9<&-
	# It looks at the clock, and at signals.
	wait_for waits_at "${ATTR_MAP}_lock"
	exec 9<&-
	wait $!
	# From the first try, which does not wait, to the lock
	sed -n '/LOCK_EX|LOCK_NB) = -1 EAGAIN/,/LOCK_EX) *= 0/p' "$BATS_TEST_TMPDIR/trace" >"$BATS_TEST_TMPDIR/waits"
	cat "$BATS_TEST_TMPDIR/waits"
	grep -q 'LOCK_EX) *= 0' "$BATS_TEST_TMPDIR/waits"
	refute grep 'sleep\|poll\|select\|LOCK_NB) = 0' "$BATS_TEST_TMPDIR/waits"
}

# trace_locks OPTION... : count with strace; its locks and sleeps are in $BATS_TEST_TMPDIR/calls
trace_locks() {
	strace -y -o "$BATS_TEST_TMPDIR/trace" -e trace=flock,clock_nanosleep "$@" perf stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -a -o "$BATS_TEST_TMPDIR/out" -e cs true
	grep '(' "$BATS_TEST_TMPDIR/trace" >"$BATS_TEST_TMPDIR/calls"
}

@test "a session tries the protocol's lock after 100 us, and then after twice as long each time" {
	local calls=$BATS_TEST_TMPDIR/calls first
	require_commands strace
	# That lock is one for all BPF descriptors of the machine: nobody else has it in this run...
	trace_locks
	while grep EAGAIN "$calls"; do trace_locks; done
	first=$(grep flock "$calls" | grep -n -m 1 'bpf-map>, LOCK_EX|LOCK_NB) *= 0' | cut -d : -f 1)
	# ...and this session alone does not get it in the next.
	trace_locks -e "inject=flock:error=EAGAIN:when=$first..$((first + 3))"
	cat "$calls"
	sed -n 's/.*clock_nanosleep(.*tv_nsec=\([0-9]*\)}.*/\1/p' "$calls" | head -n 3 | diff - <(printf '%s\n' 100000 200000 400000)
}

# holds_nothing PID : neither locks nor what is shared
holds_nothing() {
	refute grep -q "bpf\|perf_event\|_lock" <(ls -l "/proc/$1/fd") "/proc/$1/maps"
}

@test "a command that waits for its start holds neither locks nor maps of its session" {
	local perf command out=$BATS_TEST_TMPDIR/out
	background "$out" env PERF_TEST_STOP_AT=scope-set-written perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" \
		-r 3 -x, -e page-faults --pre "echo begins" true
	perf=$!
	# In the second repeat it has all of them open.
	wait_for has_line "stopped at scope-set-written" "$out"
	kill -CONT $perf
	wait_for eval '[ "$(grep -cx "stopped at scope-set-written" "$out")" = 2 ]'
	[ "$(grep -cx begins "$out")" = 2 ]
	refute flock -n "${ATTR_MAP}_lock/tasks" true
	command=$(pgrep -P $perf)
	refute holds_nothing $perf
	wait_for holds_nothing "$command"
	# Whatever happens to it then: without the lock, the next session would not share, and print that.
	kill -STOP "$command"
	kill_all $perf
	flock -n "${ATTR_MAP}_lock/tasks" true
	begin_witness
	PERF_TEST_LOCK_MS=1 shared -x, -o "$out.csv" -e page-faults:u "$WORKLOADS/faults" 300 2>"$out.err"
	end_witness
	diff /dev/null "$out.err"
	# The start of the program has less than 100.
	explained 300 400 comm faults < <(field page-faults:u 1 "$out.csv")
	nothing_of_series
	kill -CONT "$command"
}

@test "each repeat of -r decides anew whether it can share" {
	local out=$BATS_TEST_TMPDIR/out
	shared -x, -o /dev/null -e dummy true
	background "$out" flock "${ATTR_MAP}_lock" "$WORKLOADS/waiter"
	wait_for has_text ready "$out"
	# The first repeat ends the holder.
	# shellcheck disable=SC2016 # the inner shell's
	PERF_TEST_LOCK_MS=100 shared -r 2 -a -x, -o "$out.csv" -e page-faults bash -c '
		perf bperf list --bpf-attr-map "$1" | tail -n 1 >>"$2.list"
		kill -KILL -- "-$3" 2>/dev/null
		exec flock "$1_lock" true' bash "$ATTR_MAP" "$out" $! 2>"$out.err"
	cat "$out.err"
	diff - "$out.list" <<-END
		no events are shared through $ATTR_MAP
		1 session shares $(nproc) perf events for 1 event
	END
	[ "$(grep -c "_lock is held by process .*: counting with events of this session's own" "$out.err")" = 1 ]
	[ "$(field page-faults 1 "$out.csv")" -gt 0 ]
}

@test "a session prints its counts before it waits for a lock to leave" {
	local target perf status out=$BATS_TEST_TMPDIR/out
	for target in -a "-p $$" "-a -j" "-a -r 2"; do
		# shellcheck disable=SC2086 # words
		background "$out" env PERF_TEST_LOCK_MS=300000 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" \
			$target -o "$out.counts" -e page-faults "$WORKLOADS/waiter" 5
		perf=$!
		wait_for has_text ready "$out"
		exec 9<"${ATTR_MAP}_lock"
		flock 9
		kill -INT "$perf"
		wait_for waits_for_lock $perf
		grep -q page-faults "$out.counts"
		exec 9<&-
		status=0
		wait "$perf" || status=$?
		[ "$status" = 130 ]
	done
}

@test "-C counts on that CPU, and :b mixes with plain events" {
	local out=$BATS_TEST_TMPDIR/out
	shared -C 0 -x, --log-fd 4 -e page-faults taskset -c 0 "$WORKLOADS/faults" 800 4>"$out"
	at_least "$(field page-faults 1 "$out")" 800
	perf stat --bpf-attr-map "$ATTR_MAP" -a -x, --log-fd 4 -e page-faults:b,page-faults \
		"$WORKLOADS/faults" 800 4>"$out"
	at_least "$(field page-faults:b 1 "$out")" 800
	at_least "$(field page-faults 1 "$out")" 800
}

@test "events that only this run causes are exact" {
	local out=$BATS_TEST_TMPDIR/out
	# nobody else on this machine has emulation faults
	shared -a -x, --log-fd 4 -e dummy,emulation-faults,'{dummy,alignment-faults}' true 4>"$out"
	[ "$(cut -d, -f1 "$out" | sort -u)" = 0 ]
	[ "$(wc -l <"$out")" = 4 ]
}

@test "the other members of a group count if one is refused" {
	local out=$BATS_TEST_TMPDIR/out
	[ ! -e /sys/bus/event_source/devices/cpu ] || skip "the machine has a PMU"
	shared -a -x, --log-fd 4 -e '{page-faults,cycles,dummy}' "$WORKLOADS/faults" 500 4>"$out" ||
		shared -a -e '{page-faults,cycles,dummy}' true
	[ "$(field cycles 1 "$out")" = "<not supported>" ]
	at_least "$(field page-faults 1 "$out")" 500
	[ "$(field dummy 1 "$out")" = 0 ]
}

@test "all members of a group of software events count all the time" {
	local out=$BATS_TEST_TMPDIR/out event
	shared -a -x, --log-fd 4 -e '{page-faults,cpu-clock,cs}' "$WORKLOADS/faults" 500 4>"$out"
	cat "$out"
	for event in page-faults cpu-clock cs; do
		[ "$(field $event 5 "$out")" = 100.00 ]
	done
	at_least "$(field cpu-clock 1 "$out")" 0.01
}

# controlled OPTION... : a run that counts nothing yet, into $out
controlled() {
	local ctl=$BATS_TEST_TMPDIR/ctl ack=$BATS_TEST_TMPDIR/ack
	out=$BATS_TEST_TMPDIR/out
	mkfifo "$ctl" "$ack"
	background "$out" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -D -1 -a -x, "$@" \
		--control "fifo:$ctl,$ack" -- "$WORKLOADS/waiter"
	controlled_pid=$!
	wait_for has_text ready "$out"
	exec 5<>"$ctl" 6<>"$ack"
}

# say COMMAND : it has been carried out
say() {
	local line
	echo "$1" >&5
	read -r -t 300 line <&6
	[ "$line" = ack ]
}

# many : faults that must not be counted
many() {
	for _ in 1 2 3 4; do "$WORKLOADS/faults" 50000; done
}

controlled_ends() {
	say stop
	exec 5>&- 6>&-
	wait $controlled_pid || :
}

@test "-D -1 and --control open windows of shared events" {
	controlled -e page-faults
	many
	say enable
	"$WORKLOADS/faults" 2000
	say disable
	many
	controlled_ends
	# The rest of the machine may fault in the window, but less than one many(), which must not be counted.
	in_range "$(field page-faults 1 "$out")" 2000 199999
}

@test "--control switches one shared event with its group, and others count on" {
	controlled -e '{page-faults,minor-faults},dummy' -e duration_time
	many
	say "enable page-faults"
	"$WORKLOADS/faults" 2000
	say "disable minor-faults"
	many
	say "enable dummy"
	say "enable page-faults"
	"$WORKLOADS/faults" 3000
	say disable
	many
	say "enable nosuch"
	controlled_ends
	cat "$out"
	# 2,000 and 3,000, and those of the rest of the machine. A many() would be more.
	in_range "$(field page-faults 1 "$out")" 5000 199999
	in_range "$(field minor-faults 1 "$out")" 5000 199999
	# The group was on in both windows, dummy in the second.
	[ "$(field dummy 4 "$out")" -lt "$(field page-faults 4 "$out")" ]
	[ "$(field dummy 4 "$out")" -gt 0 ]
	[ "$(field duration_time 1 "$out")" = "<not counted>" ]
	grep -q "'nosuch': no event of that name" "$out"
}

@test "objects that are not attr maps are refused and unchanged" {
	local bpftool=/usr/sbin/bpftool
	$bpftool map create "$ATTR_MAP" type array key 4 value 8 entries 4 name stranger
	refused 1 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: cannot share events: $ATTR_MAP is not an attr map: type 2, key 4, value 8 bytes (remove it, or name another path with --bpf-attr-map)"
	[ "$($bpftool -j map show pinned "$ATTR_MAP" | jq -r .name)" = stranger ]
	refused 1 perf bperf list --bpf-attr-map "$ATTR_MAP" \
		<<<"perf bperf: cannot share events: $ATTR_MAP is not an attr map: type 2, key 4, value 8 bytes (remove it, or name another path with --bpf-attr-map)"
	rm "$ATTR_MAP"
	$bpftool map create "$ATTR_MAP" type hash key 8 value 8 entries 4 name short
	refused 1 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: cannot share events: $ATTR_MAP is not an attr map: type 1, key 8, value 8 bytes (remove it, or name another path with --bpf-attr-map)"
	[ ! -e "${ATTR_MAP}_lock" ]
}

@test "a directory is not an attr map" {
	mkdir "$ATTR_MAP"
	refused 1 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: cannot share events: $ATTR_MAP is a directory, not an attr map"
	rmdir "$ATTR_MAP"
	nothing_made
}

@test "attr maps with keys of other lengths work" {
	local size out=$BATS_TEST_TMPDIR/out
	for size in 112 120 128 136 144 152; do
		/usr/sbin/bpftool map create "$ATTR_MAP" type hash key $size value 8 entries 4 name other
		shared -a -x, --log-fd 4 -e page-faults "$WORKLOADS/faults" 300 4>"$out"
		at_least "$(field page-faults 1 "$out")" 300
		rm "$ATTR_MAP"
	done
}

@test "two events that differ in a late field of the attr only are two" {
	local field out=$BATS_TEST_TMPDIR/out
	# as far as this kernel knows them
	for field in config1 config2 config3 config4; do
		perf stat -x, --log-fd 4 -e "dummy:u,dummy/$field=1/u" true 4>"$out"
		! grep -q '^<not supported>' "$out" || break
		shared -a -x, -o /dev/null -e "dummy/$field=1/,dummy/$field=2/" perf bperf list --bpf-attr-map "$ATTR_MAP" >"$out"
		tail -n 1 "$out"
		[ "$(tail -n 1 "$out")" = "1 session shares $((2 * $(nproc))) perf events for 2 events" ]
	done
}

# names_of EVENT... : print the names that perf bperf list has for these events while they are shared, each as
# often as it is there
names_of() {
	local event options=()
	for event; do options+=(-e "$event"); done
	shared -a -x, -o /dev/null "${options[@]}" perf bperf list -j --bpf-attr-map "$ATTR_MAP" |
		jq -r '.events[].event' | sort
}

@test "the name of a shared event opens the same event again" {
	local field out=$BATS_TEST_TMPDIR/out events=(1:0x9/config1=0x2/ dummy/config2=0x1/ mem:0x1000/4:rw:u mem:0x1000/4:w:u) names
	# as far as this kernel knows them
	for field in config3 config4; do
		perf stat -x, --log-fd 4 -e "dummy:u,dummy/$field=1/u" true 4>"$out"
		! grep -q '^<not supported>' "$out" || break
		events+=("dummy/$field=0x1/" "dummy/$field=0x2/u")
	done
	names_of dummy "${events[@]}" >"$out"
	# Numbers get the names of the events that they are.
	diff <(printf '%s\n' dummy "${events[@]/1:0x9/dummy}" | sort) "$out"
	mapfile -t names <"$out"
	diff <(names_of "${names[@]}") "$out"
}

@test "a map or lock of another user is not trusted" {
	/usr/sbin/bpftool map create "$ATTR_MAP" type hash key 144 value 8 entries 4 name foreign
	chown 65534 "$ATTR_MAP"
	refused 1 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: cannot share events: $ATTR_MAP belongs to user 65534, who is not trusted: only root's and one's own are (remove it, name another path with --bpf-attr-map, or trust the user: bperf.trusted-owners in /etc/perfconfig)"
	rm "$ATTR_MAP"
	chown 65534 "${ATTR_MAP}_lock" 2>/dev/null || { mkdir "${ATTR_MAP}_lock"; chown 65534 "${ATTR_MAP}_lock"; }
	refused 1 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: cannot share events: ${ATTR_MAP}_lock belongs to user 65534, who is not trusted: only root's and one's own are (remove it, name another path with --bpf-attr-map, or trust the user: bperf.trusted-owners in /etc/perfconfig)"
	[ ! -e "$ATTR_MAP" ]
}

# has_more FILE LINES : it has more than these
has_more() {
	[ "$(wc -l <"$1")" -gt "$2" ]
}

@test "a session warns that it does not share with others, since the lock of tasks was removed" {
	local T=$BATS_TEST_TMPDIR old lines
	background "$T/old" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -x, -I 100 -e cs
	old=$!
	wait_for has_text ',cs,' "$T/old"
	rm -r "${ATTR_MAP}_lock/tasks"
	shared -a -x, -o "$T/new" -e cs true 2>"$T/err"
	[ "$(<"$T/err")" = "perf stat: ${ATTR_MAP}_lock/tasks was removed while others count: this session does not share with them" ]
	[ "$(field cs 1 "$T/new")" -gt 0 ]
	# The older one counts on, and the next ones share with the newer.
	lines=$(wc -l <"$T/old")
	wait_for has_more "$T/old" "$lines"
	background "$T/next" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -x, -I 100 -e cs
	wait_for has_text ',cs,' "$T/next"
	shared -a -x, -e cs true >"$T/third" 2>&1
	[ "$(wc -l <"$T/third")" = 1 ]
	kill -INT "$!" "$old"
	wait "$old" || [ $? = 130 ]
	refute grep -v ',cs,' "$T/old"
}

# stops_in DIR : strace reports that perf stopped after it opened the directory
stops_in() {
	grep -q "openat(.*\"$1\"" "$BATS_TEST_TMPDIR/trace" && grep -q 'stopped by SIGSTOP' "$BATS_TEST_TMPDIR/trace"
}

@test "a session makes nothing where a link leads that replaces its directory" {
	local dir=${ATTR_MAP}_dir
	require_commands strace
	mkdir "$dir" "${dir}_victim"
	background "$BATS_TEST_TMPDIR/err" strace -f -o "$BATS_TEST_TMPDIR/trace" -P "$dir" -e trace=openat \
		-e inject=openat:signal=SIGSTOP:when=1 perf stat --bpf-counters --bpf-attr-map "$dir/map" -a -o "$BATS_TEST_TMPDIR/out" -e cs true
	wait_for stops_in "$dir"
	mv "$dir" "${dir}_moved"
	ln -s "${dir}_victim" "$dir"
	kill -CONT "$(sed -n 's/ *--- stopped by SIGSTOP.*//p' "$BATS_TEST_TMPDIR/trace")"
	wait "$!" || :
	cat "$BATS_TEST_TMPDIR/err"
	[ "$(ls "${dir}_moved")" = $'map\nmap_lock' ]
	[ -z "$(ls -A "${dir}_victim")" ]
	rm -r "$dir" "${dir}_moved" "${dir}_victim"
}

@test "paths that are not on a BPF file system" {
	refused 1 perf stat --bpf-counters --bpf-attr-map /tmp/no_map -a -e cs true \
		<<<"perf stat: cannot share events through '/tmp/no_map': not on a BPF file system (--bpf-attr-map takes a path on a BPF file system, e.g. /sys/fs/bpf/NAME)"
	refused 1 perf stat --bpf-counters --bpf-attr-map /sys/fs/bpf/no/such/map -a -e cs true \
		<<<"perf stat: cannot share events through '/sys/fs/bpf/no/such/map': No such file or directory (--bpf-attr-map takes a path on a BPF file system, e.g. /sys/fs/bpf/NAME)"
	refused 1 perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP.x" -a -e cs true \
		<<<"perf stat: cannot share events: cannot open the attr map $ATTR_MAP.x: Operation not permitted (the BPF file system takes no name with a dot in it)"
	[ ! -e /tmp/no_map_lock ]
	fails_with 1 "perf bperf: cannot share events through '': not on a BPF file system (--bpf-attr-map takes a path on a BPF file system, e.g. /sys/fs/bpf/NAME)" \
		perf bperf list --bpf-attr-map ""
}

@test "without privileges, perf names the missing ones and leaves nothing" {
	refused 1 as_nobody perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: --bpf-counters: not permitted: lacks CAP_BPF (to load BPF programs), CAP_PERFMON (to have them read the kernel, and to open events for everybody) and CAP_SYS_ADMIN (to find what others share by its ids) (run as root)"
	nothing_made
	refused 1 as_nobody perf stat --bpf-attr-map "$ATTR_MAP" -C 0 -e cs:b true \
		<<<"perf stat: the modifier b: not permitted: lacks CAP_BPF (to load BPF programs), CAP_PERFMON (to have them read the kernel, and to open events for everybody) and CAP_SYS_ADMIN (to find what others share by its ids) (run as root)"
	nothing_made
	refused 1 setpriv --bounding-set=-sys_admin --inh-caps=-all \
		perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: --bpf-counters: not permitted: lacks CAP_SYS_ADMIN (to find what others share by its ids) (run as root)"
	nothing_made
	shared -a -e cs true 2>/dev/null
	refused 1 as_nobody perf bperf list --bpf-attr-map "$ATTR_MAP" \
		<<<"perf bperf: not permitted: lacks CAP_BPF (to load BPF programs), CAP_PERFMON (to have them read the kernel, and to open events for everybody) and CAP_SYS_ADMIN (to find what others share by its ids) (run as root)"
}

@test "no event that can be shared is an error, and no leader is left" {
	[ ! -e /sys/bus/event_source/devices/cpu ] || skip "the machine has a PMU"
	fails_with 1 Error: perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cycles true
	grep -q "^The cycles event is not supported: no PMU" "$BATS_TEST_TMPDIR/fails.err"
	[ "$(perf bperf list --bpf-attr-map "$ATTR_MAP")" = "no events are shared through $ATTR_MAP" ]
}

@test "a session that dies making the first scope set of tasks, beside one of CPUs, bars no other" {
	local step out=$BATS_TEST_TMPDIR/out
	start_waiter "$BATS_TEST_TMPDIR/held" -a -e cs
	for step in scope-written scope-added; do
		killed_at $step shared -e cs true
		shared -x, -o "$out" -e cs true >"$out.err" 2>&1 || { cat "$out.err"; return 1; }
		diff /dev/null "$out.err"
		at_least "$(field cs 1 "$out")" 0	# a command may end without a switch
		has_sessions 1
	done
}
