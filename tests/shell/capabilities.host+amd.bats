#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counters for users who are not root: the capabilities that each step needs, and that no others are
# in effect then.

load helpers

nobody=65534

setup() {
	jobs_started=()
	T=$BATS_TEST_TMPDIR
	require_root
	require_commands bpftool jq setpriv setcap
	# bats' own directories, and perhaps perf's, are root's alone
	mine=$(mktemp -d)
	chmod 755 "$mine"
	install -m 755 -t "$mine" "$(command -v perf)" "$WORKLOADS/faults" "$WORKLOADS/waiter"
	# root looks at what is nobody's
	printf '[bperf]\n\ttrusted-owners = %s\n' $nobody >"$mine/config"
	export PERF_CONFIG=$mine/config
	# where everybody may pin; the machine's own may be root's alone
	mkdir "$mine/bpf"
	mount -t bpf -o mode=1777 bpf "$mine/bpf"
	ATTR_MAP=$mine/bpf/map
}

teardown() {
	end_jobs
	rm -f "$ATTR_MAP"
	rm -rf "${ATTR_MAP}_lock"
	[ -n "${mine:-}" ] || return 0
	! mountpoint -q "$mine/bpf" || umount "$mine/bpf"
	rm -rf --one-file-system "$mine"
}

# with CAPS COMMAND... : as nobody with just these capabilities (+bpf,+perfmon), given as systemd's
# AmbientCapabilities= does
with() {
	local caps=$1
	shift
	setpriv --reuid $nobody --regid $nobody --clear-groups --inh-caps="-all${caps:+,$caps}" \
		--ambient-caps="-all${caps:+,$caps}" "$@"
}

# counts CAPS : a shared run with them counts
counts() {
	with "$1" "$mine/perf" stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -x, --log-fd 4 \
		-e page-faults "$mine/faults" 400 4>"$T/out"
	at_least "$(field page-faults 1 "$T/out")" 400
}

# lacks CAPS TEXT : it is refused, since it lacks those
lacks() {
	refused 1 with "$1" "$mine/perf" stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: --bpf-counters: not permitted: lacks $2 (run as root)"
	[ ! -e "$ATTR_MAP" ]
}

bpf="CAP_BPF (to load BPF programs)"
perfmon="CAP_PERFMON (to have them read the kernel, and to open events for everybody)"
admin="CAP_SYS_ADMIN (to find what others share by its ids)"

@test "perf names each missing capability with its purpose" {
	lacks "" "$bpf, $perfmon and $admin"
	lacks +bpf "$perfmon and $admin"
	lacks +perfmon "$bpf and $admin"
	lacks +bpf,+perfmon "$admin"
	lacks +bpf,+perfmon,+dac_override,+net_admin,+sys_ptrace,+kill "$admin"
}

@test "the kernel requires either all three capabilities or CAP_SYS_ADMIN alone" {
	counts +bpf,+perfmon,+sys_admin
	counts +sys_admin
	[ "$(stat -c %u "$ATTR_MAP" "${ATTR_MAP}_lock" | sort -u)" = $nobody ]
}

@test "the kernel requires CAP_SYS_ADMIN to turn ids into descriptors" {
	local id
	/usr/sbin/bpftool map create "$ATTR_MAP" type array key 4 value 8 entries 4 name some
	id=$(/usr/sbin/bpftool -j map show pinned "$ATTR_MAP" | jq .id)
	/usr/sbin/bpftool map show id "$id"
	refute with +bpf,+perfmon,+dac_override,+sys_ptrace /usr/sbin/bpftool map show id "$id"
	with +bpf,+perfmon,+sys_admin /usr/sbin/bpftool map show id "$id"
}

@test "another user's map requires CAP_DAC_OVERRIDE" {
	shared -a -x, -o "$T/out" -e cs true
	refused 1 with +bpf,+perfmon,+sys_admin,+dac_read_search "$mine/perf" stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: cannot share events: cannot open the attr map $ATTR_MAP: Permission denied (it, or the way to it, belongs to another user: needs CAP_DAC_OVERRIDE, or another path with --bpf-attr-map)"
	counts +bpf,+perfmon,+sys_admin,+dac_override
	# the lock alone, which is opened for reading
	chown $nobody "$ATTR_MAP"
	refused 1 with +bpf,+perfmon,+sys_admin "$mine/perf" stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -a -e cs true \
		<<<"perf stat: cannot share events: cannot open ${ATTR_MAP}_lock: Permission denied (it, or the way to it, belongs to another user: needs CAP_DAC_OVERRIDE, or another path with --bpf-attr-map)"
	counts +bpf,+perfmon,+sys_admin,+dac_override
}

# effective PID : its effective capabilities
effective() {
	sed -n 's/^CapEff:[[:space:]]*//p' "/proc/$1/status"
}

# start OUT CAPS OPTION... : a run in the background; its pid is $run
start() {
	local out=$1 caps=$2
	shift 2
	background "$out" setpriv --reuid $nobody --regid $nobody --clear-groups \
		--inh-caps="-all,$caps" --ambient-caps="-all,$caps" "$mine/perf" stat --bpf-counters \
		--bpf-attr-map "$ATTR_MAP" -x, "$@"
	run=$!
	wait_for is_waiting
}

is_waiting() {
	is_named "$run" perf && grep -q poll "/proc/$run/wchan"
}

@test "no capability is in effect while a session counts, and it leaves in order" {
	start "$T/out" +bpf,+perfmon,+sys_admin,+dac_override -a -I 50 -e page-faults
	[ "$(effective "$run")" = 0000000000000000 ]
	"$WORKLOADS/faults" 3000
	local lines
	lines=$(wc -l <"$T/out")
	grown() { [ "$(wc -l <"$T/out")" -gt $((lines + 2)) ]; }
	wait_for grown
	[ "$(effective "$run")" = 0000000000000000 ]
	kill -INT "$run"
	wait "$run" || :
	at_least "$(awk -F, '{ sum += $2 } END { print sum }' "$T/out")" 3000
	refute grep -q 'not counted\|perf stat' "$T/out"
	[ "$(perf bperf prune --bpf-attr-map "$ATTR_MAP")" = "removed: 0 dead entries, 0 dead sessions" ]
	[ "$(entries)" = 0 ]
}

@test "root also counts without capabilities in effect" {
	background "$T/out" perf stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -e cs
	run=$!
	wait_for is_waiting
	# CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF
	[ $((0x$(effective "$run") & (1 << 21 | 1 << 38 | 1 << 39))) = 0 ]
	kill -INT "$run"
	wait "$run" || :
	[ "$(perf bperf prune --bpf-attr-map "$ATTR_MAP")" = "removed: 0 dead entries, 0 dead sessions" ]
}

@test "a session of plain events drops its capabilities for good" {
	background "$T/out" setpriv --reuid $nobody --regid $nobody --clear-groups \
		--inh-caps=-all,+perfmon --ambient-caps=-all,+perfmon "$mine/perf" stat -a -e cs
	run=$!
	wait_for is_waiting
	[ "$(sed -n 's/^CapPrm:[[:space:]]*//p' "/proc/$run/status")" = 0000000000000000 ]
	kill -INT "$run"
	wait "$run" || :
	grep -q ' cs ' "$T/out"
}

@test "one of two users' sessions leaves without privileges in effect, and the other counts on" {
	local caps=+bpf,+perfmon,+sys_admin waiter first
	background "$T/waiter" setpriv --reuid $nobody --regid $nobody --clear-groups "$mine/waiter"
	waiter=$!
	wait_for has_text ready "$T/waiter"
	start "$T/a" $caps -p $waiter -e page-faults
	first=$run
	start "$T/b" $caps -p $waiter -e page-faults,cs
	kill -INT "$first"
	wait "$first" || :
	[ "$(perf bperf list -j --bpf-attr-map "$ATTR_MAP" | jq -c '[.events[].pids]')" = "[[$run],[$run]]" ]
	kill -INT "$run"
	wait "$run" || :
	refute grep -q 'perf stat:' "$T/a" "$T/b"
	[ "$(perf bperf prune --bpf-attr-map "$ATTR_MAP")" = "removed: 0 dead entries, 0 dead sessions" ]
}

@test "a CPU that comes back gets its events, which needs CAP_PERFMON again" {
	[ "${PLACE:-}" = amd ] || skip "CPUs go offline in the emulated machine only"
	start "$T/out" +bpf,+perfmon,+sys_admin -a -v -e cs,page-faults
	echo 0 >/sys/devices/system/cpu/cpu1/online
	echo 1 >/sys/devices/system/cpu/cpu1/online
	wait_for grep -q '^perf stat: CPU 1 came online: 2 shared events opened there' "$T/out"
	[ "$(effective "$run")" = 0000000000000000 ]
	taskset 2 "$WORKLOADS/faults" 2000
	kill -INT "$run"
	wait "$run" || :
	at_least "$(field page-faults 1 "$T/out")" 2000
}

@test "file capabilities suffice to share, but do not reach the command or other files" {
	PATH=$PATH:/usr/sbin setcap cap_bpf,cap_perfmon,cap_sys_admin,cap_dac_override=ep "$mine/perf" ||
		skip "no capabilities of files here"
	as_nobody grep -q . "$mine/perf"
	shared -a -x, -o "$T/first" -e cs true
	as_nobody "$mine/perf" stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a -x, --log-fd 4 \
		-e page-faults "$mine/faults" 400 4>"$T/out"
	at_least "$(field page-faults 1 "$T/out")" 400
	as_nobody "$mine/perf" stat --bpf-counters --bpf-attr-map "$ATTR_MAP" -a --log-fd 4 -e cs \
		grep CapPrm /proc/self/status 4>/dev/null >"$T/inner"
	[ "$(awk '{ print $2 }' "$T/inner")" = 0000000000000000 ]
	# CAP_DAC_OVERRIDE opens the map, and no file that the user names
	echo secret >"$mine/roots"
	chmod 600 "$mine/roots"
	fails_with 1 "perf stat: cannot create the output file '$mine/roots': Permission denied" \
		as_nobody "$mine/perf" stat -o "$mine/roots" -e dummy true
	[ "$(<"$mine/roots")" = secret ]
	# what the environment says about where things are is the user's, who has no such privileges
	fails_with 1 "perf stat: cannot share events through '/tmp/none': not on a BPF file system (--bpf-attr-map takes a path on a BPF file system, e.g. /sys/fs/bpf/NAME)" \
		as_nobody env BPF_PATH="$mine" "$mine/perf" stat --bpf-counters --bpf-attr-map /tmp/none -a true
	mkdir -p "$mine/defs/core"
	printf 'OURS,v1,core,core\n' >"$mine/defs/mapfile.csv"
	printf '[{"MetricName": "ours", "MetricExpr": "dummy"}]\n' >"$mine/defs/core/ours.json"
	local -a from_environment=(env PERF_METRICS_PATH="$mine/defs" PERF_CPUID=OURS
		NOTIFY_SOCKET=/nonexistent "$mine/perf" stat)
	refute as_nobody "${from_environment[@]}" -M ours true 2>"$T/said"
	head -n 1 "$T/said" | grep -qxF "Cannot find metric or group \`ours'"
	refute as_nobody "${from_environment[@]}" --metrics-file "$mine/defs" -M ours true 2>"$T/said"
	as_nobody "${from_environment[@]}" -v -a -e dummy --timeout 100 2>"$T/said"
	refute grep NOTIFY_SOCKET "$T/said"
	# whom this user trusts, and whose programs run with perf's rights, is root's to say
	printf '[bperf]\n\ttrusted-owners = 0\n' >"$mine/.perfconfig"
	as_nobody env -u PERF_CONFIG HOME="$mine" "$mine/perf" stat -e dummy true 2>"$T/said"
	[ "$(head -n 1 "$T/said")" = \
		"perf stat: $mine/.perfconfig:2: 'bperf.trusted-owners' is ignored because perf runs with file capabilities" ]
	refused 22 as_nobody "$mine/perf" profile --prog "$mine/none" true \
		<<<"perf profile: --prog: refused because perf runs with file capabilities"
	# of a program without privileges they are heeded
	setcap -r "$mine/perf"
	as_nobody "${from_environment[@]}" -x, -M ours true 2>"$T/said"
	grep -q ours "$T/said"
}
