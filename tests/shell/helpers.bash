# SPDX-License-Identifier: GPL-2.0
# Helpers of all test files. On this machine, the workloads and both programs are those of the build ($O).
# PERF_TEST_* can end and stop perf, the one of the tests; $PRODUCT has the one to install. In an emulated
# machine, tests/vm puts the first into PATH and sets WORKLOADS and PRODUCT.

#
# The start of a process takes five milliseconds on some machines, and a million instructions of an emulated one. So
# what each test does, or each try of wait_for, is done by the shell.

if [ -z "${WORKLOADS:-}" ]; then
	root=${BASH_SOURCE[0]%tests/shell/*}
	case $root in /*) ;; *) root=$PWD/$root ;; esac
	O=${O:-build/$HOSTTYPE}
	case $O in /*) ;; *) O=$root$O ;; esac
	WORKLOADS=$O/workloads PRODUCT=$O
	if [ ! -x "$O/tests/perf" ] || [ "$O/perf" -nt "$O/tests/perf" ]; then
		echo "$O/tests/perf, the perf of the tests, is missing or old: make workloads" >&2
		exit 1
	fi
	PATH=$O/tests:$PATH
fi
export LC_ALL=C PERF_CONFIG=/dev/null
# scripts/coverage counts executed lines for each test.
[ -z "${COVERAGE_COUNTS:-}" ] || export GCOV_PREFIX=$COVERAGE_COUNTS/${BATS_TEST_FILENAME##*/}:${BATS_TEST_NUMBER:-0}
# Other programs keep files there: perf record its build ids, which perf list reads.
export HOME=${BATS_FILE_TMPDIR:-$HOME}
# Other users must be able to read files of the tests.
umask 022

# Commands that fail also end a command substitution.
shopt -s inherit_errexit

# bats traces each command, to print the line of a failure: that takes a hundred times as long as a simple
# command. bash's ERR trap finds the line as well, except after exit.
bats_debug_trap() {
	trap - DEBUG
}

bats_error_trap() {
	bats_check_status_from_trap
	bats_capture_stack_trace
	# shellcheck disable=SC2034 # for bats
	BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
}

# bats asks twice for the time of a test, by two processes each.
get_mills_since_epoch() {
	local us=${EPOCHREALTIME/[.,]/}
	echo "${us%???}"
}

# A pipe that nobody writes to. Open it here and not later, because this changes $!. All tests of a file have the same.
[ -p "/dev/fd/${never:-}" ] || exec {never}<> <(:)
export never

# requirements : check the needs of each test of a file, with require_* and skip_or_fail, which do not
# work in setup_file. A file with needs defines its own, or calls these functions in its own setup.
requirements() {
	:
}

# Each test has a map of its own, so that it does not share with other tests and users. If kept.bash keeps
# a leader, each file has one.
setup() {
	ATTR_MAP=${KEPT_MAP:-/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER}
	jobs_started=()
	requirements
}

teardown() {
	end_jobs
	[ -n "${KEPT_MAP:-}" ] || remove_map
	[ -z "${public:-}" ] || rm -rf "$public"
}

# end_jobs : end all jobs of the test, and restore its settings
end_jobs() {
	local pid file
	for file in "${!settings_before[@]}"; do
		echo "${settings_before[$file]}" >"$file"
	done
	settings_before=()
	for pid in "${jobs_started[@]}"; do
		# Jobs of background() have a process group, with commands that outlived a killed perf.
		is_others "$pid" || kill -KILL -- "-$pid" "$pid" 2>/dev/null || :
	done
	wait 2>/dev/null || :
	jobs_started=()
	end_exits
	let_tasks_be
}

# is_others PID : this number is now that of a process which this shell has not started. A busy machine uses
# the number of an ended job again within seconds.
is_others() {
	local stat
	# A name may have line breaks: read until the end.
	{ read -r -d '' stat <"/proc/$1/stat"; } 2>/dev/null || [ "$stat" ] || return 1
	# state, parent ...
	read -r -a stat <<<"${stat##*) }"
	[ "${stat[1]}" != "$BASHPID" ]
}

# -g, because load is a function
declare -gA settings_before=()

# set_until_end FILE VALUE : write VALUE to a file of the kernel; end_jobs writes the old value back
set_until_end() {
	[ -n "${settings_before[$1]+set}" ] || settings_before[$1]=$(<"$1")
	echo "$2" >"$1"
}

# own_the_tasks : until end_jobs, no other test of this machine is between the two. It is for tests with
# thousands of tasks, and for tests that list all tasks (a recording has room for 2,729). Tests that make
# cgroups also need it: each takes one of the 1,024 places for new cgroups of every session that watches.
own_the_tasks() {
	[ -z "${tasks_lock:-}" ] || return 0
	exec {tasks_lock}>>/run/perf_test_tasks
	flock "$tasks_lock"
}

# let_tasks_be : let another test go on that waits in own_the_tasks. Not by a close alone: jobs, and bats
# itself, can have the descriptor, too.
let_tasks_be() {
	[ -n "${tasks_lock:-}" ] || return 0
	flock -u "$tasks_lock" || return
	exec {tasks_lock}>&-
	tasks_lock=
}

remove_map() {
	[ ! -d "$ATTR_MAP" ] || rmdir "$ATTR_MAP"
	if [ -e "$ATTR_MAP" ] || [ -L "$ATTR_MAP" ]; then
		rm -f "$ATTR_MAP"
	fi
	if [ -e "${ATTR_MAP}_lock" ] || [ -L "${ATTR_MAP}_lock" ]; then
		rm -rf "${ATTR_MAP}_lock"
	fi
}

# shared OPTION... : run perf stat with shared counters and this test's map
shared() {
	perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" "$@"
}

# use_product : from now on, perf is the one to install, without the points at which tests end it
use_product() {
	PATH=$PRODUCT:$PATH
}

# background OUT COMMAND... : start it; its pid is $!, its output goes to OUT. It does not ignore SIGINT,
# as background jobs of a script otherwise do.
background() {
	local out=$1
	shift
	# Empty it at once, lest wait_for find the messages of an earlier command.
	: >"$out"
	"$WORKLOADS/job" "$@" >"$out" 2>&1 3>&- &
	jobs_started+=($!)
}

# wait_for CONDITION... : wait until the command succeeds; fail after a minute of tries. After a
# second, tries are less frequent, because emulated machines wait in no time, and try slowly.
wait_for() {
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		! "$@" >/dev/null 2>&1 || return 0
		nap "$((tries < 50 ? 2 : 10))"
	done
	echo "never true: $*" >&2
	return 1
}

# has_text TEXT FILE... : TEXT is in one of the files
has_text() {
	local text file
	for file in "${@:2}"; do
		text=
		{ read -r -d '' text <"$file"; } 2>/dev/null || :
		[[ $text != *"$1"* ]] || return 0
	done
	return 1
}

# has_line LINE FILE : the file has that line
has_line() {
	local text=
	read -r -d '' text <"$2" || :
	[[ $'\n'$text$'\n' = *$'\n'"$1"$'\n'* ]]
}

# is_named PID NAME : the process is there and has this name. (bash 5.2 ends where $(<FILE) finds no file, also in a
# condition.)
is_named() {
	local name=
	{ read -r name <"/proc/$1/comm"; } 2>/dev/null && [ "$name" = "$2" ]
}

# has_state PID LETTER : the process is in that state of /proc (T: stopped)
has_state() {
	has_text $'\nState:\t'"$2" "/proc/$1/status"
}

# continued PID : it goes on, also where it comes by the step again at which it was stopped, and has ended
continued() {
	kill -CONT "$1" 2>/dev/null || :
	! [ -e "/proc/$1" ] || grep -q '^[0-9]* ([^)]*) Z' "/proc/$1/stat"
}

# nap [CENTISECONDS] : sleep for a moment (2), without a process that an emulated machine would have to execute
nap() {
	local time
	printf -v time '0.%02d' "${1:-2}"
	read -r -t "$time" -u "$never" || :
}

# waits_for_lock PID : it waits for a lock (flock) that another process holds
waits_for_lock() {
	grep -q -- "-> FLOCK  ADVISORY  WRITE $1 " /proc/locks
}

# field EVENT N FILE : print the N-th field of an event's row of CSV (1: value, 2: unit, 3: event, 4:
# running time, 5: share)
field() {
	local fields=()
	while IFS=, read -r -a fields; do
		[ "${fields[2]:-}" != "$1" ] || { echo "${fields[$2 - 1]:-}"; return; }
	done <"$3"
}

# within A B PERCENT [MORE] : A differs from B by at most PERCENT plus MORE, for hidden switches
within() {
	local d
	# As in in_range
	if [[ $1 && $2 && $1$2$3${4:-} != *[!0-9]* ]] && [ ${#1} -le 15 ] && [ ${#2} -le 15 ]; then
		d=$(($1 > $2 ? $1 - $2 : $2 - $1))
		[ $((d * 100)) -gt $(($2 * $3 + 100 * ${4:-0})) ] || return 0
	fi
	awk -v a="$1" -v b="$2" -v p="$3" -v more="${4:-0}" 'BEGIN {
		d = a > b ? a - b : b - a
		if (a == "" || b == "" || a !~ /^[0-9.]+$/ || b !~ /^[0-9.]+$/ || d > b * p / 100 + more) {
			print "not within " p " % and " more ": " a " and " b > "/dev/stderr"
			exit 1
		}
	}'
}

# in_range X LOW HIGH : X is a number from LOW to HIGH. A comment beside it, or above, gives the reason for the tolerance
in_range() {
	# Most are whole numbers, for which the shell needs no process. A regular expression here would change BASH_REMATCH
	# of the test.
	if [[ $1 && $2 && $3 && $1$2$3 != *[!0-9]* ]] && [ ${#1} -le 18 ] && [ ${#2} -le 18 ] && [ ${#3} -le 18 ] &&
		[ "$1" -ge "$2" ] &&
		[ "$1" -le "$3" ]; then
		return 0
	fi
	awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN {
		if (x !~ /^[0-9.]+$/ || x + 0 < low + 0 || x + 0 > high + 0) {
			print x " is not between " low " and " high > "/dev/stderr"
			exit 1
		}
	}'
}

# at_least X LOW : X is a number, LOW or more: something happened, and nothing says how often
at_least() {
	# 18 digits: the shell compares no more
	in_range "$1" "$2" 999999999999999999
}

# nr_cpus : print how many CPUs a new leader has room for
nr_cpus() {
	echo $(($(sed 's/.*[-,]//' /sys/devices/system/cpu/present) + 1))
}

# make_sysfs CPUS POSSIBLE : make $sysfs, for SYSFS_PATH: the machine's, but only these CPUs are there and could be
make_sysfs() {
	local entry
	sysfs=$BATS_TEST_TMPDIR/sys
	mkdir -p "$sysfs/devices/system/cpu"
	for entry in /sys/*; do
		[ "$entry" = /sys/devices ] || ln -sfn "$entry" "$sysfs/"
	done
	echo "$1" | tee "$sysfs/devices/system/cpu/online" >"$sysfs/devices/system/cpu/present"
	echo "$2" >"$sysfs/devices/system/cpu/possible"
}

# nr_sessions : print how many sessions share events through this test's map
nr_sessions() {
	perf bperf list --bpf-attr-map "$ATTR_MAP" | sed -n 's/^\([0-9]*\) sessions\{0,1\} shares\{0,1\} .*/\1/p'
}

has_sessions() {
	[ "$(nr_sessions)" = "$1" ]
}

# leader_objects : print the programs, maps and links of all leaders and sessions
leader_objects() {
	"$WORKLOADS/leader_objects"
}

no_leader_objects() {
	[ -z "$(leader_objects)" ]
}

# entries : print how many entries the attr map has
entries() {
	/usr/sbin/bpftool map dump pinned "$ATTR_MAP" | grep -c '^key' || :
}

# our_objects : print the programs, maps and link of the leader of this test's map, "KIND ID NAME" a line.
# Other tests and users can have leaders at the same time.
our_objects() {
	"$WORKLOADS/leader_objects" "$ATTR_MAP"
}

# are_gone FILE : none of the objects that our_objects wrote to FILE still exists
are_gone() {
	local kind id
	while read -r kind id _; do
		! /usr/sbin/bpftool "$kind" show id "$id" >/dev/null 2>&1 || return 1
	done <"$1"
}

# require_perf_events [cpu] : this user may open perf events of own tasks, or of CPUs
require_perf_events() {
	local status=0
	"$WORKLOADS/may_count" "$@" || status=$?
	[ $status != 77 ] || skip_or_fail "perf events${1:+ of CPUs} are not permitted here"
	return $status
}

# require_root : the user is root
require_root() {
	[ "$EUID" = 0 ] || skip_or_fail "needs root"
}

# require_users_count : ordinary users may count their own tasks in user mode, and nothing more
require_users_count() {
	[ "$(</proc/sys/kernel/perf_event_paranoid)" = 2 ] || skip_or_fail "kernel.perf_event_paranoid is not 2"
}

# require_commands NAME... : all of these commands are installed
require_commands() {
	local name
	for name; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$name" >/dev/null || skip_or_fail "needs $name"
	done
}

# require_tracepoints : this user can read tracefs
require_tracepoints() {
	[ -r /sys/kernel/tracing/events/sched/sched_switch/id ] || skip_or_fail "no tracepoints"
}

# require_debian_perf : set DEBIAN_PERF to the path of a perf 6.1 to compare with
require_debian_perf() {
	local path
	while read -r path; do
		case $("$path" --version 2>/dev/null) in
		"perf version 6.1."*) DEBIAN_PERF=$path ;;
		esac
	done < <(type -ap perf)
	[ "${DEBIAN_PERF:-}" ] || skip_or_fail "no perf 6.1 here (Debian 12: linux-perf)"
}

skip_or_fail() {
	[ "${STRICT:-0}" != 1 ] || { echo "$1" >&2; return 1; }
	skip "$1"
}

# refute COMMAND... : the command fails. A bare "!" would not end the test.
refute() {
	! "$@" || { echo "not expected to succeed: $*" >&2; return 1; }
}

# is_plain FILE : it is valid UTF-8 without control characters other than tabs and line feeds
is_plain() {
	refute grep -nP '[\x00-\x08\x0b-\x1f\x7f]' "$1"
	iconv -f UTF-8 -t UTF-16 "$1" >"$BATS_TEST_TMPDIR/utf16"
}

# alone COMMAND... : run it with no other perf in PATH than the one that is tested
alone() {
	env PATH="$(dirname "$(command -v perf)")" "$@"
}

# as_nobody COMMAND... : run it as a user without any rights
as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}

# publish NAME... : copy these programs to $public, where any user can execute them. The directories above
# the build, and the files in it, may be closed to others.
publish() {
	public=$(mktemp -d)
	chmod 755 "$public"
	[ $# = 0 ] || install -m 755 -t "$public" "$@"
}

# refusing NAME : make the library $BATS_TEST_TMPDIR/NAME.so for LD_PRELOAD. Standard input is the C function
# refused(nr, args), which returns the errno with which a system call of syscall() fails, 0: none
refusing() {
	local source=$BATS_TEST_TMPDIR/$1.c
	{
		printf '#include <%s>\n' dlfcn.h errno.h linux/bpf.h linux/perf_event.h stdarg.h stdio.h stdlib.h string.h sys/syscall.h
		cat
		cat <<-'EOF'
			long syscall(long nr, ...)
			{
				long args[6], number;
				va_list list;

				va_start(list, nr);
				for (int i = 0; i < 6; i++)
					args[i] = va_arg(list, long);
				va_end(list);
				number = refused(nr, args);
				if (!number)
					return ((long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"))(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
				errno = number;
				return -1;
			}
		EOF
	} >"$source"
	gcc -D_GNU_SOURCE -shared -fPIC -o "${source%c}so" "$source"
}

# grouping_locale : make a locale that groups digits, for LOCPATH=$locales LC_ALL=en_US.UTF-8
grouping_locale() {
	[ -f /usr/share/i18n/locales/en_US ] || skip_or_fail "no sources of locales here (Debian: locales)"
	locales=$BATS_TEST_TMPDIR/locales
	mkdir "$locales"
	localedef -i en_US -f UTF-8 "$locales/en_US.UTF-8"
}

# complaints FILE : the messages of perf in a file, without the one about a machine that runs more programs than perf
# can follow
complaints() {
	grep -v ' records of new mappings were lost: some functions have no names$' "$1" || :
}

# refused STATUS COMMAND... : the command fails with that status, and prints exactly the lines of standard
# input to stderr, and nothing to stdout
refused() {
	local status=$1 got=0
	shift
	"$@" >"$BATS_TEST_TMPDIR/refused.out" 2>"$BATS_TEST_TMPDIR/refused.err" 3>&- || got=$?
	diff -u - "$BATS_TEST_TMPDIR/refused.err" >&2 || return
	[ ! -s "$BATS_TEST_TMPDIR/refused.out" ] || return
	[ "$got" = "$status" ] || { echo "status $got, not $status" >&2; return 1; }
}

# fails_with STATUS LINE COMMAND... : the command fails with that status and this first line on stderr
fails_with() {
	local status=$1 line=$2 got=0 first
	shift 2
	"$@" >/dev/null 2>"$BATS_TEST_TMPDIR/fails.err" 3>&- || got=$?
	first=$(head -n 1 "$BATS_TEST_TMPDIR/fails.err")
	[ "$first" = "$line" ] || { printf 'said: %s\nnot:  %s\n' "$first" "$line" >&2; return 1; }
	[ "$got" = "$status" ] || { echo "status $got, not $status" >&2; return 1; }
}

# killed_at STEP COMMAND... : perf is killed at that step, a name in tests/data/steps, and not otherwise
killed_at() {
	local step=$1 status=0 err=$BATS_TEST_TMPDIR/killed.err
	shift
	PERF_TEST_KILL_AT=$step "$@" >/dev/null 2>"$err" 3>&- || status=$?
	was_killed "$step" "$status" "$err"
}

# was_killed STEP STATUS ERR : a session with this status and these messages was killed at that step
was_killed() {
	[ "$2" = 137 ] && grep -qx "killed at $1" "$3" && return
	echo "not killed at $1: status $2" >&2
	cat "$3" >&2
	return 1
}

# start_run NAME OPTION... : start a session with shared counters in the background, $run_pid, and wait
# until it counts. Its CSV goes to $BATS_TEST_TMPDIR/NAME.csv, its messages go to NAME.err.
start_run() {
	local name=$1
	shift
	start_mixed_run "$name" --bpf-counters "$@"
}

# start_mixed_run NAME OPTION... : the same for a session that shares only events marked with b
start_mixed_run() {
	local name=$1
	shift
	background "$BATS_TEST_TMPDIR/$name.err" perf stat --bpf-attr-map "$ATTR_MAP" -x, \
		-o "$BATS_TEST_TMPDIR/$name.csv" "$@"
	run_pid=$!
	wait_for is_listed "$run_pid"
	# A session in poll() has set up everything.
	wait_for has_text poll "/proc/$run_pid/wchan"
}

# is_listed PID : perf bperf list has this session
is_listed() {
	perf bperf list --bpf-attr-map "$ATTR_MAP" | awk -v pid="$1" '$1 == pid { found = 1 }
		END { exit !found }'
}

# end_run PID SIGNAL STATUS : send this signal to a session; it exits with this status
end_run() {
	local status=0
	kill "-$2" "$1"
	wait "$1" || status=$?
	[ "$status" = "$3" ] || { echo "status $status, not $3" >&2; return 1; }
}

# is_silent FILE : no message is in it
is_silent() {
	[ ! -s "$1" ] || { cat "$1" >&2; return 1; }
}

# json_value NAME : print the values of that name in standard input, one a line. In an emulated machine, the start of jq
# takes as long as that of thirty other programs.
json_value() {
	grep -oE "\"$1\": ?(\"[^\"]*\"|[^],}]*)" | sed -E 's/^[^:]*: ?"?([^"]*)"?$/\1/'
}

# token PID : the number of the map by which others see that the session lives
token() {
	local id
	for id in $(sed -n 's/^map_id:[[:space:]]*//p' "/proc/$1/fdinfo/"*); do
		/usr/sbin/bpftool map show id "$id" | sed -n 's/^\([0-9]*\): .* name perf_run .*/\1/p'
	done
}

# kill_all PID... : the kernel frees what they held a moment after they have ended
kill_all() {
	local pid tokens
	tokens=$(for pid; do token "$pid"; done)
	[ "$(wc -w <<<"$tokens")" = $# ]
	kill -KILL "$@"
	wait "$@" 2>/dev/null || :
	for pid in $tokens; do
		wait_for refute /usr/sbin/bpftool map show id "$pid"
	done
}

# nr_perf_events : print how many perf events the sessions of this test share
nr_perf_events() {
	perf bperf list --bpf-attr-map "$ATTR_MAP" |
		sed -n 's/^[0-9]* sessions\{0,1\} shares\{0,1\} \([0-9]*\) perf event.*/\1/p'
}

# undisturbed NAME EVENT : the session counted EVENT (nanoseconds, or cycles of the emulated PMU) all the
# time, in each of its intervals, and printed no message
undisturbed() {
	local file=$BATS_TEST_TMPDIR/$1
	if [ -s "$file.err" ]; then
		echo "$1 said: $(<"$file.err")" >&2
		return 1
	fi
	# If time is real, and not emulated, some of it may pass between readings of two clocks.
	awk -F, -v name="$1" -v event="$2" -v pause="$([ "${PLACE:-}" = amd ] && echo 2000000)" -v OFS=, '
	/^#/ || NF < 4 { next }
	{ i = $3 == event ? 1 : $4 == event ? 2 : 0 }
	!i { next }
	{
		value = $(i)
		time = $(i + 3)
		# The kernel stops all counters of a PMU while it adds or removes events there. The last interval may
		# be short, and have as many of these pauses as a long one: it is judged with the one before.
		if (time < 5e7) {
			value += value_before
			time += time_before
		}
		value_before = $(i)
		time_before = $(i + 3)
		slack = time * 0.001 + pause
		if ($(i + 1) == "msec") {	# printed with two digits after the point
			value *= 1e6
			slack += 10000
		}
		rows++
		if ($(i + 4) != "100.00") {
			print name ": share of " $(i + 4) ": " $0
			bad = 1
		} else if ($(i + 3) <= 0 || value < time - slack || value > time + slack) {
			print name ": counted " value " in " time " ns: " $0
			bad = 1
		}
	}
	END { if (!rows) print name ": no rows"; exit bad || !rows }' "$file.csv" >&2
}

# begin_witness [EVENT] : from now on, find the machine's hidden switches, at which it runs no BPF program.
# Readers at switches miss a part of the next task's work. EVENT: number of a software event (2,
# page-faults). A test that counts by task or cgroup does this:
#
#	begin_witness
#	... count ...
#	end_witness
#	explained 3000 3000 cgroup "$dir" <<<"$count"
begin_witness() {
	background "$BATS_TEST_TMPDIR/witness" "$WORKLOADS/witness" "$@"
	witness=$!
	wait_for has_text ready "$BATS_TEST_TMPDIR/witness"
}

# end_witness : end the witness, and print its report to the test's output (tests/workloads/witness.c)
end_witness() {
	kill "$witness"
	wait "$witness" || { cat "$BATS_TEST_TMPDIR/witness" >&2; return 1; }
	cat "$BATS_TEST_TMPDIR/witness" >&2
}

# missed hidden|ns|events [pid PID | comm NAME | cgroup DIR]... : print how many switches to any of these
# were hidden, or the most nanoseconds or events that their counts can lack because of that
missed() {
	witnessed lost "$@"
}

# excess hidden|ns|events [pid PID | comm NAME | cgroup DIR]... : the same for hidden switches away from
# these, and the most nanoseconds or events that their counts can have too many
excess() {
	witnessed gained "$@"
}

# explained LEAST MOST [pid PID | comm NAME | cgroup DIR]... : each count on standard input is from LEAST to MOST, but
# for hidden switches. All together lack at most the events that these tasks missed, and exceed by their excess at
# most. Needs the witness's report.
explained() {
	local least=$1 most=$2 missed excess
	shift 2
	missed=$(missed events "$@") || return
	excess=$(excess events "$@") || return
	awk -v least="$least" -v most="$most" -v missed="$missed" -v excess="$excess" '
		$1 !~ /^[0-9]+(\.[0-9]+)?$/ { print "not a count: " $0; bad = 1 }
		$1 < least + 0 { lack += least - $1 }
		$1 > most + 0 { more += $1 - most }
		END {
			print NR " counts lack " lack + 0 ", " missed " hidden, and have " more + 0 " too many, " excess " misplaced"
			exit bad || !NR || lack > missed + 0 || more > excess + 0
		}' >&2
}

# strangers HZ [pid PID | comm NAME | cgroup DIR]... : print how many samples of others these can have at most:
# after a hidden switch, the programs take the next task for the one before. Needs the witness's report.
strangers() {
	echo $(($(excess ns "${@:2}") / (1000000000 / $1) + $(excess hidden "${@:2}")))
}

# unsampled HZ [pid PID | comm NAME | cgroup DIR]... : print how many samples these can lack at most, as the next
# task that the programs take for another one
unsampled() {
	echo $(($(missed ns "${@:2}") / (1000000000 / $1) + $(missed hidden "${@:2}")))
}

# hidden_events : print how many events there were between the visible switches around hidden ones, of whatever task
hidden_events() {
	awk '$1 == "cpu" { sum += $6 } END { print sum + 0 }' "$BATS_TEST_TMPDIR/witness"
}

# is_since VERSION : the emulated machine's kernel is that, or later
is_since() {
	printf '%s\n' "$1" "$KERNEL" | sort -V -C
}

# begin_exits COMM... : until end_exits, the kernel traces the exits of tasks of these names, and their switches.
# Plain events of a task end in perf_event_exit_task(). Where probes are not allowed, the trace has the
# tracepoint before it, which is right before it since Linux 6.16.
begin_exits() {
	local tracing=/sys/kernel/tracing probe=perf_test_$$ event names
	[ -d $tracing/events ] || mount -t tracefs tracefs $tracing
	exits=$tracing/instances/$probe
	mkdir "$exits"
	exit_events=(sched/sched_process_exit)
	if { echo "p:$probe/perf_exit perf_event_exit_task" >>$tracing/kprobe_events; } 2>/dev/null; then
		echo "r:$probe/perf_exited perf_event_exit_task" >>$tracing/kprobe_events
		exit_events=("$probe/perf_exit" "$probe/perf_exited")
	fi
	names=$(printf ' || comm == "%s"' "$@")
	names=${names# || }
	echo "${names//comm ==/prev_comm ==}" >"$exits/events/sched/sched_switch/filter"
	for event in "${exit_events[@]}"; do
		echo "$names" >"$exits/events/$event/filter"
	done
	for event in "${exit_events[@]}" sched/sched_switch; do
		echo 1 >"$exits/events/$event/enable"
	done
}

# end_exits : end the trace, if there is one; it is in $BATS_TEST_TMPDIR/exits
end_exits() {
	local event
	[ -n "${exits:-}" ] || return 0
	echo 0 >"$exits/tracing_on"
	cat "$exits/trace" >"$BATS_TEST_TMPDIR/exits"
	rmdir "$exits"
	for event in "${exit_events[@]}"; do
		[[ $event = sched/* ]] || echo "-:$event" >>/sys/kernel/tracing/kprobe_events
	done
	exits=
}

# switches_at_exits : print "INSIDE AFTER" for each traced exit. INSIDE is the number of switches in
# perf_event_exit_task(), or up to the last one if its end is not known. AFTER is the number after its begin
switches_at_exits() {
	awk '
		match($0, /-[0-9]+ +\[/) { pid = substr($0, RSTART + 1) + 0 }
		/ (perf_exit|sched_process_exit): / { nr[pid] = ++exits; is_inside[pid] = 1 }
		/ perf_exited: / { delete is_inside[pid] }
		/ sched_switch: / && pid in nr {
			is_last = /prev_state=[XZ]/
			after[nr[pid]]++
			inside[nr[pid]] += pid in is_inside && !is_last
			# Another task may get this number.
			if (is_last) { delete nr[pid]; delete is_inside[pid] }
		}
		END { for (i = 1; i <= exits; i++) print inside[i] + 0, after[i] + 0 }' "$BATS_TEST_TMPDIR/exits"
}

# switches_in_exits : print how many switches plain events can have and shared ones not: those of an exit after
# the leader has seen it. 0 without a trace
switches_in_exits() {
	[ -e "$BATS_TEST_TMPDIR/exits" ] || { echo 0; return; }
	switches_at_exits | awk '{ sum += $1 } END { print sum + 0 }'
}

# switches_after NR : print how many switches can have followed NR exits that went unseen, at most; without a
# trace, the last switch of each
switches_after() {
	[ -e "$BATS_TEST_TMPDIR/exits" ] || { echo "$1"; return; }
	switches_at_exits | sort -k 2 -rn | head -n "$1" | awk '{ sum += $2 } END { print sum + 0 }'
}

# unreleased [pid PID | comm NAME | cgroup DIR]... : print how many of their threads have ended without a
# release: the machine has hidden the release, or it is still to come
unreleased() {
	witnessed unreleased hidden "$@"
}

# witnessed KIND COLUMN [pid PID | comm NAME | cgroup DIR]... : print the sum of this column
witnessed() {
	local kind=$1 column=$2 wanted=' '
	shift 2
	while [ $# -gt 0 ]; do
		case $1 in
		pid) wanted+="2:$2 " ;;
		cgroup) wanted+="3:$(stat -c %i "$2") " ;;
		comm) wanted+="4:${2// /_} " ;;
		*) echo "witnessed: neither pid, cgroup nor comm: $1" >&2; return 1 ;;
		esac
		shift 2
	done
	awk -v kind="$kind" -v column="$column" -v wanted="$wanted" '
		BEGIN { n = column == "hidden" ? 5 : column == "ns" ? 6 : column == "events" ? 7 : 0 }
		$1 == kind {
			for (i = 2; i <= 4; i++)
				if (index(wanted, " " i ":" $(i) " ")) {
					sum += $(n)
					break
				}
		}
		END { printf "%.0f\n", sum; exit !n }' "$BATS_TEST_TMPDIR/witness"
}
