#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sensors (hwmon) as events, in a made-up sysfs: chips of one name, labels, values below 0.

load helpers

# chip N : class/hwmon/hwmonN of a chip called "board"
chip() {
	mkdir -p "$SYSFS_PATH/chips/hwmon$1"
	ln -s "../../chips/hwmon$1" "$SYSFS_PATH/class/hwmon/hwmon$1"
	cd "$SYSFS_PATH/chips/hwmon$1" || return
	echo board >name
	echo 45000 >temp1_input
	echo 'Core 0' >temp1_label
	echo 100000 >temp1_crit
	echo -5000 >temp2_input
	echo 1200 >fan1_input
	echo 950 >in0_input
	echo 35500000 >power1_input
	echo 7000000 >energy1_input
	cd - >/dev/null || return
}

setup() {
	export SYSFS_PATH=$BATS_TEST_TMPDIR/sys
	mkdir -p "$SYSFS_PATH/class/hwmon" "$SYSFS_PATH/bus/event_source/devices"
	ln -s /sys/devices "$SYSFS_PATH/devices"
	chip 0
	out=$BATS_TEST_TMPDIR/out
	jobs_started=()
}

# row EVENT : its value and unit
row() {
	awk -F, -v name="$1" '$3 == name { print $1, $2 }' "$out"
}

@test "sensors are found by number, label and chip, and have readable units" {
	perf stat -x, -o "$out" -e temp1,TEMP_Core_0,hwmon_board/temp2/,fan1,in0,power1 true
	[ "$(row temp1)" = "45.00 'C" ]
	[ "$(row TEMP_Core_0)" = "45.00 'C" ]
	[ "$(row hwmon_board/temp2/)" = "-5.00 'C" ]
	[ "$(row fan1)" = "1200 rpm" ]
	[ "$(row in0)" = "0.95 V" ]
	[ "$(row power1)" = "35.50 W" ]
	perf stat -j --log-fd 4 -r 2 -e temp2 true 4>"$out"
	jq -e '."counter-value" == "-5.000000" and .unit == "'"'C"'"' "$out"
}

@test "a temperature is the current value, energy the amount used meanwhile" {
	local dir=$SYSFS_PATH/chips/hwmon0
	perf stat -x, -o "$out" -e temp1,energy1 sh -c "echo 9500000 >'$dir/energy1_input'; echo 60000 >'$dir/temp1_input'"
	[ "$(row energy1)" = "2.50 J" ]
	[ "$(row temp1)" = "60.00 'C" ]
}

@test "two chips of one name have separate rows" {
	chip 1
	echo 50000 >"$SYSFS_PATH/chips/hwmon1/temp1_input"
	perf stat -x, -o "$out" -e temp1 true
	[ "$(row hwmon_board/temp1/)" = "45.00 'C" ]
	[ "$(row hwmon_board_1/temp1/)" = "50.00 'C" ]
	perf stat -x, -o "$out" -e hwmon_board_1/temp1/ true
	[ "$(grep -c temp1 "$out")" = 1 ]
	[ "$(row hwmon_board_1/temp1/)" = "50.00 'C" ]
}

@test "sensors count beside other events, in groups and system-wide" {
	perf stat -x, -o "$out" -e '{page-faults:u,temp1}' true
	[ "$(row temp1)" = "45.00 'C" ]
	[ "$(field page-faults:u 1 "$out")" -gt 0 ]
	perf stat -x, -o "$out" -a -A -e temp1,duration_time true
	grep -q "^CPU[0-9]*,45.00,'C,hwmon_board/temp1/," "$out"
	[ "$(grep -c temp1 "$out")" = 1 ]
}

@test "perf list prints sensors" {
	perf list temp >"$out"
	grep -q '^  temp_core_0 OR temp1  *\[Hwmon event\]$' "$out"
	grep -qF '[Temperature of board: Core 0. Unit: hwmon_' "$out"
	perf list -j hwmon | jq -e '.[] | select(.EventName == "temp_core_0") |
		.EventAlias == "temp1" and .ScaleUnit == "0.001'"'C"'" and .Unit == "hwmon_board"'
	perf list --raw-dump pmu | tr ' ' '\n' | grep -qx hwmon_board/temp_core_0/
}

@test "perf reads only the chips and sensors that an event names" {
	cd "$SYSFS_PATH/chips/hwmon0"
	# A process that opens one of these waits for ever.
	rm temp1_label temp1_input
	mkfifo temp1_label temp1_input
	timeout 60 perf stat -o "$out" -e page-faults:u,duration_time true
	rm temp1_label
	timeout 60 perf stat -x, -o "$out" -e temp2 true
	[ "$(row temp2)" = "-5.00 'C" ]
}

@test "missing and unreadable sensors are reported" {
	fails_with 129 "event syntax error: 'temp9'" perf stat -e temp9 true
	fails_with 129 "event syntax error: 'hwmon_board/temp1_crit/'" perf stat -e hwmon_board/temp1_crit/ true
	refused 1 perf stat -e hwmon_board/config=0xff0001/ true <<-EOF
	Error:
	No supported events found.
	The hwmon_board/config=0xff0001/ event is not supported.
	EOF
	echo >"$SYSFS_PATH/chips/hwmon0/fan1_input"
	perf stat -x, -o "$out" -e fan1,temp1 true
	[ "$(row fan1)" = "<not supported> rpm" ]
	[ "$(row temp1)" = "45.00 'C" ]
}
