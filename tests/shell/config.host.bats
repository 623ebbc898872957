#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Configuration files: defaults of options, what is shared, whose maps are trusted.

load helpers

setup() {
	ATTR_MAP=/sys/fs/bpf/perf_test_$$_$BATS_TEST_NUMBER
	jobs_started=()
	T=$BATS_TEST_TMPDIR
	export PERF_CONFIG=$T/config
	: >"$PERF_CONFIG"
	require_root
}

@test "digits are grouped unless the configuration says otherwise; -B wins" {
	grouping_locale
	export LOCPATH=$locales LC_ALL=en_US.UTF-8
	perf stat -o "$T/out" -e page-faults "$WORKLOADS/faults" 3000
	grep -Eq ' [0-9],[0-9]{3} +page-faults' "$T/out"
	echo '[stat] big-num = false' >"$PERF_CONFIG"
	perf stat -o "$T/out" -e page-faults "$WORKLOADS/faults" 3000
	grep -Eq ' [0-9]{4} +page-faults' "$T/out"
	perf stat -B -o "$T/out" -e page-faults "$WORKLOADS/faults" 3000
	grep -Eq ' [0-9],[0-9]{3} +page-faults' "$T/out"
}

@test "stat.no-csv-summary leaves out the word before the rows of the summary" {
	perf_rows() { perf stat -x, -o "$T/out" "$@" -I 100000 --summary -e page-faults true; }
	perf_rows
	[ "$(grep -c '^ *summary,' "$T/out")" = 1 ]
	printf '[stat]\n\tno-csv-summary\n' >"$PERF_CONFIG"
	perf_rows
	[ "$(grep -c summary "$T/out")" = 0 ]
	perf_rows --csv-summary
	[ "$(grep -c '^ *summary,' "$T/out")" = 1 ]
}

@test "an empty PERF_CONFIG means no file" {
	HOME=$BATS_TEST_TMPDIR
	printf '[stat]\n\tno-csv-summary\n' >"$HOME/.perfconfig"
	PERF_CONFIG='' perf stat -x, -o "$T/out" -I 100000 --summary -e page-faults true
	[ "$(grep -c '^ *summary,' "$T/out")" = 1 ]
}

@test "perf names the file and number of a faulty line, and counts" {
	printf '[stat]\n\n\tbig-num = perhaps\n' >"$PERF_CONFIG"
	perf stat -o "$T/out" -e dummy touch "$T/made" 2>"$T/err"
	diff -u - "$T/err" \
		<<<"perf stat: $PERF_CONFIG:3: 'stat.big-num' is true or false, not 'perhaps': the line is ignored"
	[ -e "$T/made" ]
	printf '[bperf]\n\tattrmap = /x\n' >"$PERF_CONFIG"
	perf bperf list --bpf-attr-map "$ATTR_MAP" 2>"$T/err"
	diff -u - "$T/err" \
		<<<"perf bperf: $PERF_CONFIG:2: there is no key 'bperf.attrmap': the line is ignored"
}

@test "the configuration chooses shared events and their map" {
	printf '[bperf]\n\tattr-map = %s\n[stat]\n\tbpf-counter-events = cs,page-faults:u\n' \
		"$ATTR_MAP" >"$PERF_CONFIG"
	background "$T/out" perf stat -a -x, -e 'cs,page-faults,page-faults:u,{dummy,cs}' -- \
		"$WORKLOADS/waiter"
	wait_for has_text ready "$T/out"
	perf bperf list >"$T/list"
	cat "$T/list"
	grep -q '^context-switches  ' "$T/list"
	grep -q '^page-faults:u  ' "$T/list"
	# one member shares its group
	grep -q '^{dummy  ' "$T/list"
	grep -q '^ context-switches  ' "$T/list"
	grep -q '^1 session shares .* for 4 events$' "$T/list"
	kill -INT $!
	wait $! || :
	[ "$(grep -c ',100.00,' "$T/out")" = 5 ]
}

@test "an option wins over the configured map" {
	printf '[bperf]\n\tattr-map = /tmp/nowhere\n' >"$PERF_CONFIG"
	perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true 2>"$T/err"
	[ -e "$ATTR_MAP" ]
	fails_with 1 "perf stat: cannot share events through '/tmp/nowhere': not on a BPF file system (--bpf-attr-map takes a path on a BPF file system, e.g. /sys/fs/bpf/NAME)" \
		perf stat --bpf-counters -a -e cs true
}

@test "configured events count plainly for users who may not share" {
	require_perf_events
	require_users_count
	# bats' own directories are root's alone
	publish "$(command -v perf)" "$WORKLOADS/faults"
	PERF_CONFIG=$public/config
	printf '[stat]\n\tbpf-counter-events = page-faults:u\n' >"$PERF_CONFIG"
	as_nobody "$public/perf" stat -v -x, --log-fd 4 -e page-faults:u "$public/faults" 500 \
		4>"$T/out" 2>"$T/err"
	cat "$T/err"
	# The start of the program has less than 100.
	in_range "$(field page-faults:u 1 "$T/out")" 500 600
	grep -q "^perf stat: 'page-faults:u' is not shared, as the configuration says: lacks CAP_BPF (to load BPF programs), CAP_PERFMON (to have them read the kernel, and to open events for everybody) and CAP_SYS_ADMIN (to find what others share by its ids)$" "$T/err"
}

@test "maps and locks of trusted users are used, those of others are not" {
	printf '[bperf]\n\ttrusted-owners = 7, nobody\n' >"$PERF_CONFIG"
	shared -a -x, -o "$T/out" -e cs true
	chown 65534 "$ATTR_MAP" "${ATTR_MAP}_lock"
	shared -a -x, -o "$T/out" -e cs true
	at_least "$(field cs 1 "$T/out")" 0	# the command may end without a switch
	perf bperf list --bpf-attr-map "$ATTR_MAP"
	chown 8 "${ATTR_MAP}_lock"
	fails_with 1 "perf stat: cannot share events: ${ATTR_MAP}_lock belongs to user 8, who is not trusted: only root's and one's own are (remove it, name another path with --bpf-attr-map, or trust the user: bperf.trusted-owners in /etc/perfconfig)" \
		perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true
	chown 7 "${ATTR_MAP}_lock"
	shared -a -x, -o "$T/out" -e cs true
}

@test "a file of another user is ignored" {
	printf '[stat]\n\tnonsense nonsense\n' >"$PERF_CONFIG"
	chown 65534 "$PERF_CONFIG"
	perf stat -x, -o "$T/out" -e dummy true 2>"$T/err"
	diff -u - "$T/err" \
		<<<"perf stat: $PERF_CONFIG is ignored: it belongs to user 65534, neither root nor you"
	grep -q ',dummy,' "$T/out"
}
