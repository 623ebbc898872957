#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# --iostat on a made-up server with two dies and two PMUs of I/O ports. Their type is that of software
# events: umask 1 is task-clock there, which counts nanoseconds on each CPU, and 4 is cpu-migrations. The
# PMUs of a second server (make_hisi) count cpu-clock.

load helpers

requirements() {
	require_root
	T=$BATS_TEST_TMPDIR
	[ "$(nproc)" -gt 1 ] || skip_or_fail "needs two CPUs"
	make_server
}

# make_server : make its sysfs in $SYSFS_PATH
make_server() {
	local devices=$T/sys/bus/event_source/devices number dir
	for number in 0 1; do
		dir=$devices/uncore_iio_$number
		mkdir -p "$dir/format"
		echo 1 >"$dir/type"
		echo 0-1 >"$dir/cpumask"
		echo config:0-7 >"$dir/format/umask"
		echo config1:0-7 >"$dir/format/event"
		echo config1:8-11 >"$dir/format/ch_mask"
		echo config1:12-14 >"$dir/format/fc_mask"
	done
	mkdir -p "$devices/uncore_iio_free_running_0"
	echo 1 >"$devices/uncore_iio_free_running_0/type"
	echo 0000:00 >"$devices/uncore_iio_0/die0"
	echo 0000:80 >"$devices/uncore_iio_0/die1"
	echo 0000:17 >"$devices/uncore_iio_1/die0"
	echo 0001:97 >"$devices/uncore_iio_1/die1"
	ln -s /sys/devices "$T/sys/devices"
	export SYSFS_PATH=$T/sys
}

# make_hisi : a server of HiSilicon in place of that one, with ports on two PCI buses
make_hisi() {
	local devices=$T/sys/bus/event_source/devices pmu dir name
	rm -r "$devices"/uncore_iio_*
	for pmu in 0_core0:0x00:0x0000:0x003f 2_core11:0x80:0x8010:0x80ff 3_core0:0xc0:: 4_core0:x::; do
		IFS=: read -r pmu bus least most <<<"$pmu"
		dir=$devices/hisi_pcie$pmu
		mkdir -p "$dir/format"
		echo 1 >"$dir/type"
		echo 1 >"$dir/cpumask"
		echo config1:0-15 >"$dir/format/port"
		echo config2:0-15 >"$dir/format/event"
		echo "$bus" >"$dir/bus"
		[ -z "$least" ] || { echo "$least" >"$dir/bdf_min"; echo "$most" >"$dir/bdf_max"; }
	done
	# before, in and behind the ranges; beyond the eight devices of a PMU; of no PMU
	for name in 0000:00:00.0 0000:00:04.0 0000:00:08.0 0000:80:01.7 0000:80:02.0 0001:80:05.1 0000:80:0b.0 0000:81:00.0; do
		mkdir -p "$T/sys/bus/pci/devices/$name"
	done
}

@test "--iostat=list prints the ports with their dies and PMUs" {
	refused 0 perf stat --iostat=list <<-EOF
	S0-uncore_iio_0<0000:00>
	S1-uncore_iio_0<0000:80>
	S0-uncore_iio_1<0000:17>
	S1-uncore_iio_1<0001:97>
	EOF
}

@test "--iostat opens four events for each port, on the CPU of its die" {
	perf stat -vv --iostat true 2>&1 | awk '
	/^perf_event_attr/ { config = config1 = 0 }
	$1 == "config" { config = $2 }
	$1 == "config1" { config1 = $2 }
	$1 == "sys_perf_event_open:" { print config, config1, "cpu " $5 }' >"$T/opened"
	for cpu in 0 1 0 1; do
		printf '%s cpu %s\n' "0x4 0x7f83" $cpu "0x1 0x7f83" $cpu "0x4 0x7fc0" $cpu "0x1 0x7fc0" $cpu
	done | diff -u - "$T/opened" >&2
}

@test "--iostat prints the megabytes of four bytes a count, in all formats" {
	perf stat --iostat true 2>"$T/out"
	[ "$(grep -cE '^0000:(00|17|80)  |^0001:97  ' "$T/out")" = 4 ]
	grep -qxE ' {12} +Inbound Read\(MB\) +Inbound Write\(MB\) +Outbound Read\(MB\) +Outbound Write\(MB\) ' "$T/out"
	grep -q "for 'system wide':" "$T/out"
	# -v prints each count
	perf stat -v --iostat -x, -o "$T/csv" sleep 0.1 2>"$T/err"
	awk -F: '/^(In|Out)bound/ { split($2, n, " "); printf "%.0f,%s", n[1] / 262144, ++i % 4 ? "" : "\n" }' "$T/err" >"$T/counted"
	sed 1,2d "$T/csv" | diff -u - <(echo 'port,Inbound Read(MB),Inbound Write(MB),Outbound Read(MB),Outbound Write(MB),'
		paste -d, <(printf '%s\n' 0000:00 0000:80 0000:17 0001:97) "$T/counted") >&2
	[ "$(cut -d, -f 2 "$T/counted" | sort -n | head -n 1)" -gt 300 ]
	perf stat --iostat -j true 2>&1 | jq -es 'map(.port) == ["0000:00", "0000:80", "0000:17", "0001:97"] and
		all(.["Inbound Write(MB)"] | tonumber >= 0)'
	perf stat --iostat -I 100000 true 2>&1 | grep -qE '^#  +time port +Inbound Read'
	[ "$(perf stat --iostat -I 100000 -x, true 2>&1 | cut -d, -f 2 | tr '\n' ' ')" = "port 0000:00 0000:80 0000:17 0001:97 " ]
}

@test "--iostat counts only the ports asked for" {
	[ "$(perf stat --iostat=0:80,1:97 -x, true 2>&1 | cut -d, -f 1 | tr '\n' ' ')" = "port 0000:80 0001:97 " ]
	fails_with 129 "perf stat: --iostat: there is no port 0:5, or it is there twice (--iostat=list)" \
		perf stat --iostat=0:80,0:5 true
	fails_with 129 "perf stat: --iostat: there is no port 0:80, or it is there twice (--iostat=list)" \
		perf stat --iostat=0:80,0:80 true
	for list in '' x 0: 0:80x 0:80, 10000:80; do
		fails_with 129 "perf stat: --iostat=$list: neither 'list' nor ports such as 0000:17,0:3a" \
			perf stat --iostat="$list" true
	done
}

@test "--iostat contradicts other events, targets and breakdowns" {
	refused 22 perf stat --iostat -e cs true <<<"perf stat: --iostat and -e or -M are mutually exclusive"
	refused 22 perf stat --iostat -M IPC true <<<"perf stat: --iostat and -e or -M are mutually exclusive"
	refused 22 perf stat --iostat -a --per-core true \
		<<<"perf stat: --iostat and a breakdown by CPU, core and the like are mutually exclusive"
	refused 22 perf stat --iostat -p $$ true <<<"perf stat: --iostat and -p or -t are mutually exclusive"
	refused 22 perf stat --iostat -a --for-each-cgroup / true \
		<<<"perf stat: --iostat and cgroups or BPF programs are mutually exclusive"
	refused 255 perf stat record -o "$T/data" --iostat true <<<"perf stat: record and --iostat are mutually exclusive"
	[ "$(perf stat --iostat --no-iostat -x, -e duration_time true 2>&1 | cut -d, -f 3)" = duration_time ]
}

@test "a machine without ports, and a kernel that does not name them, are reported" {
	rm "$SYSFS_PATH"/bus/event_source/devices/*/die*
	fails_with 129 \
		"perf stat: --iostat: the kernel does not name the ports behind uncore_iio (no files uncore_iio_0/die0 and the like)" \
		perf stat --iostat=list
	rm -r "$SYSFS_PATH"/bus/event_source/devices/uncore_iio_[01]
	fails_with 129 "perf stat: --iostat: this machine has no PMU of I/O ports (uncore_iio, hisi_pcie)" perf stat --iostat true
}

@test "--iostat counts six events for each port of HiSilicon's servers" {
	make_hisi
	refused 0 perf stat --iostat=list <<-EOF
	hisi_pcie0_core0<0000:00:00.0>
	hisi_pcie0_core0<0000:00:04.0>
	hisi_pcie2_core11<0000:80:02.0>
	hisi_pcie2_core11<0001:80:05.1>
	EOF
	perf stat -vv --iostat true 2>&1 | awk '
	/^perf_event_attr/ { config1 = config2 = 0 }
	$1 == "config1" { config1 = $2 }
	$1 == "config2" { config2 = $2 }
	$1 == "sys_perf_event_open:" { print config1, config2, "cpu " $5 }' >"$T/opened"
	for port in 1 0x100 1 0x40; do
		printf "$port %s cpu 1\n" 0x104 0x804 0x2004 0x105 0x405 0x1005
	done | diff -u - "$T/opened" >&2
	perf stat --iostat=1:80:5.1,0000:00:04.0 -x, sleep 0.1 2>"$T/csv"
	[ "$(sed -n 1p "$T/csv")" = "port,Inbound MWR(MB),Inbound MRD(MB),Inbound CPL(MB),Outbound MWR(MB),Outbound MRD(MB),Outbound CPL(MB)," ]
	# 100 ms of 4 bytes a nanosecond are 381 MB
	awk -F, 'NR > 1 { if (NF != 8 || $2 < 300 || $7 < 300 || $2 !~ /^[0-9]+\.[0-9][0-9]$/) exit 1; printf "%s ", $1 }' "$T/csv" >"$T/ports"
	[ "$(<"$T/ports")" = "0001:80:05.1 0000:00:04.0 " ]
	fails_with 129 "perf stat: --iostat: there is no port 0:80, or it is there twice (--iostat=list)" \
		perf stat --iostat=0:80 true
	rm -r "$T/sys/bus/pci/devices"
	fails_with 129 "perf stat: --iostat: the kernel does not name the ports behind hisi_pcie (no file hisi_pcie0_core0/bus, or no device of this bus below bus/pci/devices)" \
		perf stat --iostat true
}
