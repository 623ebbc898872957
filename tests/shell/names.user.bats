#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Names that others choose reach terminal, CSV and JSON without control characters, and forge no rows.

load helpers

T=$BATS_TEST_TMPDIR
hostile=$'x\n99,"\e\xff'		# 15 bytes are the most that a thread's name has
plain='x\n99,"\033\377'			# the same as it is printed

requirements() {
	require_perf_events
}

# refused_line EVENT LINE : the event is refused, in that line first
refused_line() {
	local status=0
	perf stat -e "$1" true 2>"$T/out" || status=$?
	[ "$status" = 129 ]
	is_plain "$T/out"
	[ "$(head -n 1 "$T/out")" = "$2" ]
}

# start_named NAME : a process, in $!, whose only thread has that name
start_named() {
	background "$T/named" "$WORKLOADS/named" "$1"
	wait_for has_text ready "$T/named"
}

@test "names of threads are escaped and aligned in the table" {
	start_named "$hostile"
	perf stat --per-thread -e dummy:u -p "$!" sleep 0 2>"$T/out"
	is_plain "$T/out"
	grep -qF "$(printf '%16s-%-7s ' "$plain" "$!")" "$T/out"
	# five lines surround the one row
	[ "$(wc -l <"$T/out")" = 7 ]
}

@test "names of threads are quoted in CSV, and the row stays one" {
	start_named "$hostile"
	perf stat -x, --per-thread -e dummy:u -p "$!" -o "$T/out" sleep 0
	is_plain "$T/out"
	[[ $(tail -n +3 "$T/out") = '"x\n99,""\033\377-'"$!\",0,,dummy:u,"+([0-9])",100.00,," ]] ||
		[[ $(tail -n +3 "$T/out") = '"x\n99,""\033\377-'"$!\",<not counted>,,dummy:u,0,100.00,," ]]
	perf stat -x';' --per-thread -e dummy:u -p "$!" -o "$T/out" sleep 0
	[[ $(tail -n +3 "$T/out") = '"x\n99,""\033\377-'"$!\";"* ]]
}

@test "names of threads leave JSON valid" {
	start_named "$hostile"
	perf stat -j --per-thread -e dummy:u -p "$!" -o "$T/out" sleep 0
	is_plain "$T/out"
	[ "$(jq -j .thread "$T/out")" = $'x\n99,"\e\xef\xbf\xbd'"-$!" ]
	start_named $'\x7f\xc2\x9b\xe2\x80\xae\xc3\xa9'
	perf stat -j --per-thread -e dummy:u -p "$!" -o "$T/out" sleep 0
	grep -qF $'"thread" : "\\u007f\\u009b\\u202e\xc3\xa9-' "$T/out"
}

@test "a command's words are escaped in the heading" {
	perf stat -e dummy:u true $'a\e]0;b\a' $'\n 7 cycles' $'caf\xc3\xa9 \xe2\x80\xae' 2>"$T/out"
	is_plain "$T/out"
	grep -qxF " Performance counter stats for 'true a\\033]0;b\\a \\n 7 cycles "$'caf\xc3\xa9'" \\342\\200\\256':" "$T/out"
}

@test "event names refuse control characters, and other special ones are quoted" {
	refused_line "dummy/name='$hostile'/u" "event syntax error: 'dummy/name='$plain'/u'"
	refused_line "dummy/na$hostile/u" "event syntax error: 'dummy/na$plain/u'"
	perf stat -x, -e "dummy/name='a,b'/u" true 2>"$T/out"
	[[ $(<"$T/out") = *',,"a,b",'+([0-9])',100.00,,' ]]
}

@test "names of metrics are escaped in perf list, columns and rows" {
	cat >"$T/metrics.json" <<-'JSON'
	[ { "MetricName": "evil\u001b,m\nx", "MetricExpr": "duration_time", "MetricGroup": "g\u001bg",
	    "BriefDescription": "de\u0007scr\u202e\n  forged" } ]
	JSON
	perf list --metrics-file "$T/metrics.json" metric metricgroup >"$T/out"
	is_plain "$T/out"
	grep -qxF '  evil\033,m\nx' "$T/out"
	grep -qxF '       [de\ascr\342\200\256\n  forged]' "$T/out"
	grep -qxF 'g\033g' "$T/out"
	perf list --raw-dump --metrics-file "$T/metrics.json" metric >"$T/out"
	is_plain "$T/out"
	perf list -j --metrics-file "$T/metrics.json" metric >"$T/out"
	is_plain "$T/out"
	[ "$(jq -j '.[] | select(.MetricGroup == "g\u001bg").MetricName' "$T/out")" = $'evil\e,m\nx' ]
	perf stat --metrics-file "$T/metrics.json" -M $'g\eg' true 2>"$T/out"
	is_plain "$T/out"
	perf stat --metrics-file "$T/metrics.json" -M $'g\eg' -x, true 2>"$T/out"
	is_plain "$T/out"
	perf stat --metrics-file "$T/metrics.json" -M $'g\eg' --metric-only true 2>"$T/out"
	is_plain "$T/out"
	grep -qF ' evil\033,m\nx ' "$T/out"
	perf stat --metrics-file "$T/metrics.json" -M $'g\eg' --metric-only -x, true 2>"$T/out"
	is_plain "$T/out"
	grep -qF '"evil\033,m\nx"' "$T/out"
}

@test "names in perf.data are escaped in report and script" {
	cd "$T"
	perf stat record -e "dummy/name=NAMENAME/u" true $'\e[2J\n' >/dev/null 2>&1
	# in the place of the same number of bytes
	LC_ALL=C sed -i 's/NAMENAME/x\n99,"\x1b\xff/g' perf.data
	LC_ALL=C grep -qaF $'99,"\e\xff' perf.data
	perf stat report 2>"$T/out"
	is_plain "$T/out"
	grep -qF "$(printf '      %-32s%38s' "$plain" "")" "$T/out"
	grep -qF ' true \033[2J\n' "$T/out"
	perf stat report -x, 2>"$T/out"
	is_plain "$T/out"
	[[ $(<"$T/out") = *',,"x\n99,""\033\377",'* ]]
	perf stat report -j 2>"$T/out"
	is_plain "$T/out"
	[ "$(jq -j .event "$T/out")" = $'x\n99,"\e\xef\xbf\xbd' ]
	perf stat report -vv -x, 2>"$T/out"
	is_plain "$T/out"
	perf script >"$T/out"
	is_plain "$T/out"
	grep -qF " $plain" "$T/out"
	[ "$(wc -l <"$T/out")" = "$(awk '$1 ~ /^([0-9]+|-1|CPU)$/' "$T/out" | wc -l)" ]
}

@test "names add no lines to messages" {
	perf stat -p "$hostile" 2>"$T/out" || :
	is_plain "$T/out"
	diff -u "$T/out" - <<-EOF
	Problems finding threads of monitor
	perf stat: -p $plain: not a list of numbers such as 12,345
	EOF
	perf stat -M $'x\n99\e\xff' true 2>"$T/out" || :
	is_plain "$T/out"
	grep -qxF "Cannot find metric or group \`x\n99\033\377'" "$T/out"
	alone perf "$hostile" 2>"$T/out" || :
	[ "$(<"$T/out")" = "perf: '$plain' is not a perf command: see 'perf help'" ]
	# a message of several lines, and usage
	perf stat -e nosuch:event true 2>"$T/out" || :
	[ "$(sed -n '4,5p' "$T/out" | cut -d' ' -f1-3)" = $'File /sys/kernel/tracing/events/nosuch/event not\nThe kernel may' ] ||
		grep -qx -e 'No permission to read /sys/kernel/tracing/events/nosuch/event' \
			-e 'There is no /sys/kernel/tracing/events: is tracefs mounted?' "$T/out"
}

@test "plain names are printed as they always were" {
	start_named $'caf\xc3\xa9 \\x2d:'
	perf stat -x, --per-thread -e dummy:u -p "$!" sleep 0 2>"$T/out"
	[ "$(cut -d, -f1 "$T/out")" = $'caf\xc3\xa9 \\x2d:-'"$!" ]
	perf stat -x';' -e 'software/config=9,config1=0/u' true 2>"$T/out"
	[ "$(cut -d';' -f3 "$T/out")" = software/config=9,config1=0/u ]
}
