#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The systemd unit among the documents: it is read without complaint, and what it permits is enough.

load helpers

unit=$BATS_TEST_DIRNAME/../../Documentation/perf-stat.service

setup() {
	jobs_started=()
	T=$BATS_TEST_TMPDIR
	require_root
	# bats' own directories, and perhaps perf's, are root's alone
	mine=$(mktemp -d)
	chmod 755 "$mine"
	install -m 755 -t "$mine" "$(command -v perf)"
	# as systemd mounts it
	mkdir "$mine/bpf"
	mount -t bpf -o mode=0700 bpf "$mine/bpf"
	ATTR_MAP=$mine/bpf/map
}

teardown() {
	end_jobs
	[ -n "${mine:-}" ] || return 0
	! mountpoint -q "$mine/bpf" || umount "$mine/bpf"
	rm -rf --one-file-system "$mine"
}

# setting NAME : what the unit says
setting() {
	sed -n "s/^$1=//p" "$unit"
}

# start_service COMMAND... : as nobody with the unit's capabilities, and its command line but for the
# places of files; ends with the words given
start_service() {
	local caps words word
	caps=$(setting AmbientCapabilities | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
	[ "$(setting CapabilityBoundingSet)" = "$(setting AmbientCapabilities)" ]
	read -r -a words < <(setting ExecStart | sed "s:^/usr/bin/perf stat:$mine/perf stat --bpf-attr-map $ATTR_MAP:
		s:\${LOGS_DIRECTORY}:$mine/logs:; s/-I 10000/-I 100/; s/cycles,instructions,//")
	mkdir "$mine/logs"
	chown nobody "$mine/logs"
	background "$T/err" "$@" setpriv --reuid nobody --regid nogroup --clear-groups --no-new-privs \
		--bounding-set="-all,$caps" --inh-caps="-all,$caps" --ambient-caps="-all,$caps" "${words[@]}"
	service=$!
}

has_rows() {
	[ "$(grep -c . "$mine/logs/counts.json")" -gt 3 ] || { cat "$T/err"; return 1; }
}

@test "systemd accepts the unit without warnings" {
	require_commands systemd-analyze
	# the program need not be installed
	sed "s:^ExecStart=/usr/bin/perf:ExecStart=$mine/perf:" "$unit" >"$mine/perf-stat.service"
	systemd-analyze verify "$mine/perf-stat.service" >"$T/out" 2>&1
	cat "$T/out" >&2
	[ ! -s "$T/out" ]
}

@test "the unit's capabilities suffice on root's BPF file system, and it leaves in order" {
	local status=0
	start_service
	wait_for has_rows
	# root counts with it
	[ "$(PERF_CONFIG=<(printf '[bperf]\n\ttrusted-owners = nobody\n') nr_sessions)" = 1 ]
	kill "-$(setting KillSignal)" "$service"
	wait "$service" || status=$?
	[ "$status" = "$(setting SuccessExitStatus)" ]
	# the protocol's lock can be held by anybody on the machine
	refute grep -v 'going on without the lock of the attr map' "$T/err"
	jq -e . "$mine/logs/counts.json" >/dev/null
}

@test "the service makes no forbidden system call and no writable executable memory" {
	require_commands systemd-analyze strace
	local sets
	read -r -a sets < <(setting SystemCallFilter)
	# sets have sets in them
	allowed() {
		local one
		for one; do
			case $one in
			@*)	# shellcheck disable=SC2046 # words
				allowed $(systemd-analyze syscall-filter "$one" | sed -n 's/^ *\([@a-z][a-z0-9_-]*\)$/\1/p' |
					grep -vx "$one") ;;
			*) echo "$one" ;;
			esac
		done
	}
	allowed "${sets[@]}" | sort -u >"$T/allowed"
	grep -qx perf_event_open "$T/allowed"
	grep -qx openat "$T/allowed"
	strace -f -o "$T/trace" -- "$mine/perf" stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a \
		-I 50 --interval-count 3 -j --append -o "$mine/counts.json" -e cpu-clock,context-switches
	sed -nE 's/^[0-9]+ +([a-z0-9_]+)\(.*/\1/p' "$T/trace" | sort -u >"$T/made"
	grep -qx bpf "$T/made"
	comm -13 "$T/allowed" "$T/made" >"$T/more"
	cat "$T/more" >&2
	[ ! -s "$T/more" ]
	refute grep -E 'PROT_WRITE\|PROT_EXEC' "$T/trace"
}
