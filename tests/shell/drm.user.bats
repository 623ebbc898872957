#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Values of GPU clients as events, on a made-up procfs: a driver's keys, clients with several descriptors.

load helpers

# client PID FD ID BUSY KIB : a descriptor of process PID for client ID, which used the engine for BUSY ns
# and has KIB of memory
client() {
	local proc=$PROCFS_PATH/$1
	mkdir -p "$proc/fd" "$proc/fdinfo" "$proc/task/$1"
	echo gpu >"$proc/comm"
	ln -sfn /dev/dri/renderD128 "$proc/fd/$2"
	printf 'pos:\t0\ndrm-driver:\tmade\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t%s\n' "$3" >"$proc/fdinfo/$2"
	printf 'drm-engine-render:\t%s ns\ndrm-engine-capacity-render:\t2\n' "$4" >>"$proc/fdinfo/$2"
	printf 'drm-resident-system:\t%s KiB\ndrm-maxfreq-render:\t2 MHz\n' "$5" >>"$proc/fdinfo/$2"
}

setup() {
	export PROCFS_PATH=$BATS_TEST_TMPDIR/proc
	mkdir -p "$PROCFS_PATH/sys/kernel"
	echo 2 >"$PROCFS_PATH/sys/kernel/perf_event_paranoid"
	# Process 11 has a client twice, and one that it shares with 12.
	client 11 3 1 1000 4
	client 11 4 1 1000 4
	client 11 5 2 200 1
	client 12 3 2 200 1
	client 12 4 7 30 2
	# These are no GPUs.
	mkdir -p "$PROCFS_PATH/13/fd" "$PROCFS_PATH/13/fdinfo"
	ln -s /dev/null "$PROCFS_PATH/13/fd/0"
	cp "$PROCFS_PATH/12/fdinfo/4" "$PROCFS_PATH/13/fdinfo/0"
	out=$BATS_TEST_TMPDIR/out
	jobs_started=()
}

# row EVENT : its value and unit
row() {
	awk -F, -v name="$1" '$3 == name { print $1, $2 }' "$out"
}

@test "GPU clients count once, by process and together" {
	perf stat -x, -o "$out" -p 11 --timeout 10 -e drm-resident-system,drm_made/drm-engine-capacity-render/,DRM-MAXFREQ-render
	[ "$(row drm-resident-system)" = "5120 bytes" ]
	[ "$(row drm_made/drm-engine-capacity-render/)" = "4 " ]
	[ "$(row DRM-MAXFREQ-render)" = "4000000 Hz" ]
	perf stat -x, -o "$out" -p 12 --timeout 10 -e drm-resident-system
	[ "$(row drm-resident-system)" = "3072 bytes" ]
	perf stat -x, -o "$out" -p 11,12 --timeout 10 -e drm-resident-system
	[ "$(row drm-resident-system)" = "7168 bytes" ]
}

@test "time of engines is what they used meanwhile" {
	client 12 4 7 30 2
	perf stat -x, -o "$out" -a -e drm-engine-render,drm-resident-system \
		sh -c "sed -i 's/render:.*30 ns/render: 530 ns/; s/2 KiB/1 MiB/' '$PROCFS_PATH/12/fdinfo/4'"
	[ "$(row drm-engine-render)" = "500 ns" ]
	[ "$(row drm-resident-system)" = "1053696 bytes" ]
}

@test "events of GPU drivers are listed; without one, they are unknown" {
	perf list >"$out"
	grep -q 'drm-engine-render .*\[DRM event\]' "$out"
	rm -r "$PROCFS_PATH"/1?
	fails_with 129 "event syntax error: 'drm-engine-render'" perf stat -e drm-engine-render true
	fails_with 129 "event syntax error: 'drm_made/drm-engine-render/'" perf stat -e drm_made/drm-engine-render/ true
}
