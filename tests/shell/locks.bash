# SPDX-License-Identifier: GPL-2.0
# Which locks sessions hold, from a trace of the kernel with the system call flock().

# Rules of awk that come before a test's own. A lock is "perf-PID FD". A hold begins at the end of the
# call that got the lock, and ends at the beginning of the call that frees it. So it has no wait. The first directory
# that a session locks is that of its main lock. Each line sets:
#   session		"perf-PID"; "" if the line is of another process
#   taken, freed	the lock that the line takes or frees; otherwise ""
#   main[session]	its main lock, from the first lock on
#   under		whether the session holds its main lock
lock_rules='
	{
		session = $1 ~ /^perf-[0-9]+$/ ? $1 : ""
		taken = freed = ""
	}
	session && match($0, /sys_flock\(fd: [0-9a-fx]+, cmd: [0-9a-fx]+\)/) {
		split(substr($0, RSTART, RLENGTH), word, /[ ,)]+/)
		lock = session " " word[2]
		# LOCK_UN
		asked[session] = word[4] == 8 ? "" : lock
		if (!(session in main))
			main[session] = lock
		if (word[4] == 8 && lock in is_held) {
			freed = lock
			delete is_held[lock]
		}
	}
	session && /sys_flock -> 0x0/ && asked[session] {
		taken = asked[session]
		is_held[taken]
	}
	{ under = session in main && main[session] in is_held }
'

# follow_locks FILE PROGRAM [OPTION...] : run a program of awk with these rules on a trace
follow_locks() {
	local file=$1 program=$2
	shift 2
	awk "$@" "$lock_rules$program" "$file"
}
