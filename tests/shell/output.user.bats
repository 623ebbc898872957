#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The output of counts: places, formats and exit status. The tests count own tasks in user mode, which
# needs no privileges.

load helpers

requirements() {
	require_perf_events
}

@test "the exit status is the command's" {
	local status
	for expected in 0 1 7 42 255; do
		status=0
		perf stat -e page-faults:u -o /dev/null sh -c "exit $expected" || status=$?
		[ "$status" = "$expected" ]
	done
}

@test "a command killed by signal n gives status 128 + n and a line" {
	local signal status err=$BATS_TEST_TMPDIR/err
	for signal in KILL TERM SEGV; do
		status=0
		perf stat -e page-faults:u -o /dev/null sh -c "kill -$signal \$\$" 2>"$err" 3>&- || status=$?
		[ "$status" = $((128 + $(kill -l $signal))) ]
		case $signal in
		KILL) [ "$(<"$err")" = "sh: Killed" ] ;;
		TERM) [ "$(<"$err")" = "sh: Terminated" ] ;;
		SEGV) [[ $(<"$err") = "sh: Segmentation fault"* ]] ;;
		esac
	done
}

@test "a command that cannot be executed gives status 1, one line and no counts" {
	refused 1 perf stat -e page-faults:u "$BATS_TEST_TMPDIR/none" <<<"Workload failed: '$BATS_TEST_TMPDIR/none': No such file or directory"
	refused 1 perf stat -e page-faults:u '' <<<"Workload failed: '': No such file or directory"
	: >"$BATS_TEST_TMPDIR/file"
	refused 1 perf stat -e page-faults:u "$BATS_TEST_TMPDIR/file" <<<"Workload failed: '$BATS_TEST_TMPDIR/file': Permission denied"
}

@test "no countable event gives status 1 and the reason, and the command does not start" {
	# breakpoints of impossible length are refused by every kernel
	refused 1 perf stat -e mem:0x1000/3:w:u touch "$BATS_TEST_TMPDIR/started" <<-EOF
	Error:
	No supported events found.
	The mem:0x1000/3:w:u event is not supported.
	EOF
	[ ! -e "$BATS_TEST_TMPDIR/started" ]
}

@test "an event the kernel refuses has a row, the others count" {
	perf stat -x, -o "$BATS_TEST_TMPDIR/out" -e mem:0x1000/3:w:u,page-faults:u true
	grep -q '^<not supported>,,mem:0x1000/3:w:u,0,100.00,,$' "$BATS_TEST_TMPDIR/out"
	at_least "$(field page-faults:u 1 "$BATS_TEST_TMPDIR/out")" 1
}

@test "the table has the counts and the times" {
	perf stat -e page-faults:u true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	sed -E 's/[0-9]+\.[0-9]{9}/T/; s/^ +[0-9]+ {6}page/N page/; s/^ {7}T/_T/' "$BATS_TEST_TMPDIR/err" |
		diff -u - <(cat <<-EOF

		 Performance counter stats for 'true':

		N page-faults:u$(printf '%57s' '')

		_T seconds time elapsed

		_T seconds user
		_T seconds sys


		EOF
		)
}

@test "-o writes a file, and --append appends to it" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -o "$out" -e page-faults:u true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	is_silent "$BATS_TEST_TMPDIR/err"
	[[ $(head -n 1 "$out") = "# started on "*" $(date +%Y)" ]]
	[ -z "$(sed -n 2p "$out")" ]
	perf stat -o "$out" -e page-faults:u true
	[ "$(grep -c '^# started on' "$out")" = 1 ]
	perf stat --append -o "$out" -x, -e page-faults:u true
	[ "$(grep -c '^# started on' "$out")" = 2 ]
	perf stat --append -o "$out" -j -e page-faults:u true
	[ "$(grep -c '^# started on' "$out")" = 2 ]
	[ "$(grep -c 'page-faults:u' "$out")" = 3 ]
}

@test "-o - prints to stderr" {
	cd "$BATS_TEST_TMPDIR"
	perf stat -o - --append -x, -e page-faults:u true 2>err 3>&-
	[ "$(wc -l <err)" = 1 ]
	[ "$(ls)" = err ]
}

@test "--log-fd omits the first line that a file has" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat --log-fd 4 -x, -e page-faults:u true 4>"$out"
	[ "$(wc -l <"$out")" = 1 ]
	perf stat --log-fd 4 --append -x, -e page-faults:u true 4>>"$out"
	[ "$(wc -l <"$out")" = 2 ]
}

@test "--quiet prints nothing, makes no file and passes the status on" {
	local status=0
	perf stat --quiet -o "$BATS_TEST_TMPDIR/out" -e page-faults:u sh -c 'exit 3' \
		>"$BATS_TEST_TMPDIR/log" 2>&1 3>&- || status=$?
	[ "$status" = 3 ]
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
	[ ! -s "$BATS_TEST_TMPDIR/log" ]
}

@test "a full disk is an error" {
	[ -c /dev/full ] || skip "no /dev/full"
	local status=0
	perf stat -o /dev/full -e page-faults:u true 2>"$BATS_TEST_TMPDIR/err" 3>&- || status=$?
	[ "$status" = 1 ]
	[ "$(<"$BATS_TEST_TMPDIR/err")" = "perf stat: writing the counts failed: No space left on device" ]
	status=0
	perf stat --log-fd 4 -I 10 -e page-faults:u true 4>/dev/full 2>"$BATS_TEST_TMPDIR/err" 3>&- || status=$?
	[ "$status" = 1 ]
	[ "$(<"$BATS_TEST_TMPDIR/err")" = "perf stat: writing the counts failed: No space left on device" ]
}

@test "a refused session leaves the output file as it was" {
	local out=$BATS_TEST_TMPDIR/out option gone
	sleep 0 &
	gone=$!
	wait $gone
	for option in "" --append -v "-r 3"; do
		echo old >"$out"
		# shellcheck disable=SC2086 # words
		refute perf stat $option -o "$out" -e page-faults:u /nonexistent
		# shellcheck disable=SC2086
		refute perf stat $option -o "$out" -t $gone -e page-faults:u true
		[ "$(<"$out")" = old ]
		rm "$out"
		# shellcheck disable=SC2086
		refute perf stat $option -o "$out" -e page-faults:u /nonexistent
		[ ! -e "$out" ]
	done
	# shorter than what was there
	seq 10000 >"$out"
	perf stat -x, -o "$out" -r 3 -v -e page-faults:u true 2>/dev/null 3>&-
	[[ $(head -n 1 "$out") = "# started on "* ]]
	[ "$(grep -c 'executing run #' "$out")" = 3 ]
	[ "$(grep -c 'page-faults:u' "$out")" = "$(($(wc -l <"$out") - 5))" ]
	# perf counts nothing if it cannot open the file
	refused 1 perf stat -o "$BATS_TEST_TMPDIR" -e page-faults:u touch "$BATS_TEST_TMPDIR/ran" <<-EOF
	perf stat: cannot create the output file '$BATS_TEST_TMPDIR': Is a directory
	EOF
	[ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "with closed standard streams, nothing is written elsewhere, and the command runs" {
	local status=0
	perf stat -e dummy:u sh -c "echo >'$BATS_TEST_TMPDIR/ran'; exit 3" 2>&- || status=$?
	[ "$status" = 3 ]
	[ -e "$BATS_TEST_TMPDIR/ran" ]
	perf stat -o "$BATS_TEST_TMPDIR/out" -e dummy:u true <&- >&- 2>&-
	grep -q dummy:u "$BATS_TEST_TMPDIR/out"
}

@test "the command of each repeat has the descriptors that perf was given" {
	perf stat -r 2 -o /dev/null -e dummy:u sh -c 'echo kept >&7' 7>"$BATS_TEST_TMPDIR/out"
	[ "$(<"$BATS_TEST_TMPDIR/out")" = $'kept\nkept' ]
}

@test "CSV has 7 fields, 8 with -I, and one more with -r" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -x, --log-fd 4 -e page-faults:u,dummy:u true 4>"$out"
	[ "$(awk -F, 'NF != 7' "$out" | wc -l)" = 0 ]
	[ "$(wc -l <"$out")" = 2 ]
	perf stat -x, --log-fd 4 -I 100000 -e page-faults:u true 4>"$out"
	[[ $(<"$out") =~ ^[0-9]+\.[0-9]{9},[0-9]+,,page-faults:u,[0-9]+,100.00,,$ ]]
	perf stat -x, --log-fd 4 -r 2 -e dummy:u true 4>"$out"
	[[ $(<"$out") =~ ^0,,dummy:u,0.00%,[0-9]+,100.00,,$ ]]
	perf stat -x '\t' --log-fd 4 -e dummy:u true 4>"$out"
	[[ $(<"$out") =~ ^0$'\t\t'dummy:u$'\t'[0-9]+$'\t'100.00$'\t\t'$ ]]
	perf stat -x '<->' --log-fd 4 -e dummy:u true 4>"$out"
	[[ $(<"$out") =~ ^'0<-><->dummy:u<->'[0-9]+'<->100.00<-><->'$ ]]
}

@test "every line of JSON is an object with the known members" {
	command -v jq >/dev/null || skip "no jq"
	local out=$BATS_TEST_TMPDIR/out
	perf stat -j --log-fd 4 -e page-faults:u,dummy:u true 4>"$out"
	[ "$(wc -l <"$out")" = 2 ]
	jq -e -s 'all(.[]; keys_unsorted == ["counter-value", "unit", "event", "event-runtime", "pcnt-running"])' "$out"
	jq -e -s '.[0].event == "page-faults:u" and (.[0]."counter-value" | type) == "string" and
		(.[0]."event-runtime" | type) == "number"' "$out"
	[ "$(jq -r 'select(.event == "dummy:u")."counter-value"' "$out")" = 0.000000 ]
	perf stat -j --log-fd 4 -I 100000 --summary -e dummy:u true 4>"$out"
	jq -e -s 'map(has("interval")) == [true, false]' "$out"
	perf stat -j --log-fd 4 -r 2 -e dummy:u true 4>"$out"
	jq -e '.variance == 0' "$out"
}

@test "names are printed as typed" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -x, --log-fd 4 -e 'Page-Faults:u,faults:u,software/page-faults/u,1:2:u,page-faults/name=mine/u' \
		true 4>"$out"
	[ "$(cut -d, -f3 "$out" | tr '\n' ' ')" = "Page-Faults:u faults:u software/page-faults/u 1:2:u mine " ]
	# one event in five spellings
	[ "$(cut -d, -f1 "$out" | sort -u | wc -l)" = 1 ]
}

@test "-I prints a row per interval and the rest at the end, --summary also totals" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -I 50 --summary -x, --log-fd 4 -e page-faults:u \
		sh -c "'$WORKLOADS/faults' 300
			until [ \$(wc -l <'$out') -ge 2 ]; do sleep 0.02; done
			'$WORKLOADS/faults' 500" 4>"$out"
	[ "$(grep -c '^summary,' "$out")" = 1 ]
	[ "$(grep -vc '^summary,' "$out")" -ge 3 ]
	# differences of a sum that only grows add up to it, exactly
	awk -F, '$1 == "summary" { total = $2; next } $2 != "<not counted>" { sum += $2 }
		END { exit !(total == sum && total >= 800) }' "$out"
	# times grow
	grep -v '^summary,' "$out" | cut -d, -f1 | sort -c -n -u
	perf stat -I 100000 --summary --no-csv-summary -x, --log-fd 4 -e page-faults:u true 4>"$out"
	[ "$(grep -c '^summary,' "$out")" = 0 ]
	[ "$(wc -l <"$out")" = 2 ]
}

@test "--summary without intervals also prints its word" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat --summary -x, --log-fd 4 -e dummy:u true 4>"$out"
	[[ $(<"$out") = "summary,0,,dummy:u,"*,100.00,, ]]
	perf stat --summary --no-csv-summary -x, --log-fd 4 -e dummy:u true 4>"$out"
	[[ $(<"$out") = "0,,dummy:u,"*,100.00,, ]]
	perf stat --summary --log-fd 4 -e dummy:u true 4>"$out"
	[ "$(sed -n 2p "$out")" = " Performance counter stats for 'true':" ]
}

@test "options of Linux's perf without effect here are accepted" {
	perf stat --affinity -x, -o "$BATS_TEST_TMPDIR/out" -e dummy:u true
	perf stat --no-affinity -x, -o "$BATS_TEST_TMPDIR/out" -e dummy:u true
}

@test "--log-fd 0 prints to stderr" {
	perf stat --log-fd 0 -x, -e dummy:u true </dev/null 2>"$BATS_TEST_TMPDIR/out"
	[[ $(<"$BATS_TEST_TMPDIR/out") = 0,,dummy:u,* ]]
}

@test "-I 0 means no intervals" {
	perf stat -I 0 -x, --log-fd 4 -e dummy:u true 4>"$BATS_TEST_TMPDIR/out"
	[ "$(awk -F, '{ print NF }' "$BATS_TEST_TMPDIR/out")" = 7 ]
}

@test "--interval-count prints so many rows, and the command ends undisturbed" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -I 20 --interval-count 2 -x, --log-fd 4 -e dummy:u \
		sh -c "until [ \$(wc -l <'$out') -ge 2 ]; do sleep 0.02; done
			sleep 0.1; touch '$BATS_TEST_TMPDIR/ended'" 4>"$out"
	[ "$(wc -l <"$out")" = 2 ]
	[ -e "$BATS_TEST_TMPDIR/ended" ]
}

@test "-r prints the mean and deviation of the repeats" {
	perf stat -r 3 --log-fd 4 -e dummy:u sh -c "echo >>'$BATS_TEST_TMPDIR/runs'" 4>"$BATS_TEST_TMPDIR/out"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/runs")" = 3 ]
	grep -q "^ Performance counter stats for 'sh -c .*' (3 runs):\$" "$BATS_TEST_TMPDIR/out"
	grep -Eq '^ {7}[0-9.]{11} \+- [0-9.]{11} seconds time elapsed  \( \+- ' "$BATS_TEST_TMPDIR/out"
	perf stat -r 3 --table --log-fd 4 -e dummy:u true 4>"$BATS_TEST_TMPDIR/out"
	[ "$(grep -Ec '^ {7}[0-9.]{11} \([+-][0-9.]{11}\) #+$' "$BATS_TEST_TMPDIR/out")" = 3 ]
}

@test "-r exits with the status of the last repeat, and a signal ends the series" {
	local status=0 count=$BATS_TEST_TMPDIR/count
	perf stat -r 3 -o /dev/null -e dummy:u \
		sh -c "echo >>'$count'; exit \$(wc -l <'$count')" || status=$?
	[ "$status" = 3 ]
	rm "$count"
	status=0
	perf stat -r 3 -o /dev/null -e dummy:u sh -c "echo >>'$count'; exit 200" || status=$?
	[ "$status" = 200 ]
	[ "$(wc -l <"$count")" = 3 ]
	rm "$count"
	status=0
	perf stat -r 3 --log-fd 4 -e dummy:u \
		sh -c "echo >>'$count'; kill -9 \$\$" 4>"$BATS_TEST_TMPDIR/out" 2>/dev/null || status=$?
	[ "$status" = 137 ]
	[ "$(wc -l <"$count")" = 1 ]
	grep -q dummy:u "$BATS_TEST_TMPDIR/out"
	refute grep -q runs "$BATS_TEST_TMPDIR/out"
	rm "$count"
	perf stat -r 5 --log-fd 4 -e dummy:u \
		sh -c "echo >>'$count'; [ \$(wc -l <'$count') -lt 3 ] || kill -9 \$\$" \
		4>"$BATS_TEST_TMPDIR/out" 2>/dev/null || :
	grep -q "(3 runs):$" "$BATS_TEST_TMPDIR/out"
}

@test "--pre and --post run around each repeat" {
	local log=$BATS_TEST_TMPDIR/log status
	perf stat -r 2 -o /dev/null --pre "echo pre >>'$log'" --post "echo post >>'$log'" -e dummy:u \
		sh -c "echo run >>'$log'"
	[ "$(tr '\n' ' ' <"$log")" = "pre run post pre run post " ]
	rm "$log"
	status=0
	perf stat -o /dev/null --post "echo post >>'$log'" -e dummy:u false || status=$?
	[ "$status" = 1 ]
	[ ! -e "$log" ]
	# The status is that of --pre or --post; the table shows that nothing was counted.
	status=0
	perf stat --log-fd 4 --pre 'exit 3' -e dummy:u touch "$log" 4>"$BATS_TEST_TMPDIR/out" 2>/dev/null || status=$?
	[ "$status" = 3 ]
	status=0
	perf stat -o /dev/null -r 2 --post 'exit 4' -e dummy:u true 2>/dev/null || status=$?
	[ "$status" = 4 ]
	status=0
	perf stat -o /dev/null --pre 'kill -TERM $$' -e dummy:u true 2>/dev/null || status=$?
	[ "$status" = 143 ]
	[ ! -e "$log" ]
	grep -q "^     <not counted>      dummy:u " "$BATS_TEST_TMPDIR/out"
	grep -q "^ *0.000000000 seconds time elapsed$" "$BATS_TEST_TMPDIR/out"
	refute perf stat -r 0 --log-fd 4 --pre false -x, -e dummy:u touch "$log" 4>"$BATS_TEST_TMPDIR/out" 2>/dev/null
	[ "$(<"$BATS_TEST_TMPDIR/out")" = "<not counted>,,dummy:u,0,100.00,," ]
}

# interrupted OPTION... : send SIGINT to perf while it waits for a command that wrote to $log and then
# sleeps; the command ends as well. perf's lines are in $out
interrupted() {
	local perf sleeper status=0
	log=$BATS_TEST_TMPDIR/log out=$BATS_TEST_TMPDIR/out
	: >"$log"
	background "$out" perf stat -x, -e dummy:u "$@" true
	perf=$!
	wait_for grep -q . "$log"
	sleeper=$(<"$log")
	kill -INT $perf
	wait $perf || status=$?
	[ "$status" = 130 ]
	gone() { [ ! -e "/proc/$sleeper" ]; }
	wait_for gone
	[ "$(wc -l <"$log")" = 1 ]
}

@test "SIGINT while --pre or --post runs ends the series" {
	interrupted -r 3 --pre "echo \$\$ >>'$BATS_TEST_TMPDIR/log'; exec sleep 1000"
	[ "$(<"$out")" = "perf stat: ended by SIGINT before counting began" ]
	interrupted -r 3 --post "echo \$\$ >>'$BATS_TEST_TMPDIR/log'; exec sleep 1000"
	[[ $(<"$out") = "0,,dummy:u,0.00%,"*,100.00,, ]]
	interrupted -r 0 --post "echo \$\$ >>'$BATS_TEST_TMPDIR/log'; exec sleep 1000"
	[[ $(<"$out") = "0,,dummy:u,"*,100.00,, ]]
	[ "$(wc -l <"$out")" = 1 ]
}

# too_early OPTION... : SIGINT ends perf while its command runs and nothing counts yet. The lines of perf
# itself are in $out; the command has ended.
too_early() {
	local log=$BATS_TEST_TMPDIR/log status=0 perf
	out=$BATS_TEST_TMPDIR/out
	: >"$log"
	background "$out" perf stat "$@" -e dummy:u sh -c "echo \$\$ >>'$log'; exec sleep 1000"
	perf=$!
	wait_for grep -q . "$log"
	kill -INT $perf
	wait $perf || status=$?
	[ "$status" = 130 ]
	[ "$(wc -l <"$log")" = 1 ]
	[ ! -e "/proc/$(<"$log")" ]
	sed -i '/^sh: [A-Z][a-z]*$/d' "$out"
}

@test "SIGINT during the delay of -D prints that, not a table" {
	local options said="perf stat: ended by SIGINT before counting began"
	for options in "" "-r 2" "-r 0" "-I 10" "--summary -I 10" "-v"; do
		# shellcheck disable=SC2086 # several words
		too_early -D 1000000 $options
		diff -u - <(sed '/^\[ perf stat: executing/d' "$out") <<<"Events disabled"$'\n'"$said"
	done
	for options in -x, -j --quiet "-x, -r 2" "-j -I 10"; do
		# shellcheck disable=SC2086 # several words
		too_early -D 1000000 $options
		diff -u - "$out" <<<"$said"
	done
	too_early record -o "$BATS_TEST_TMPDIR/data" -D 1000000
	[ ! -e "$BATS_TEST_TMPDIR/data" ]
	grep -qxF "$said" "$out"
}

@test "SIGINT before --control enables an event prints a table" {
	local out=$BATS_TEST_TMPDIR/out line word perf status
	mkfifo "$BATS_TEST_TMPDIR/ctl" "$BATS_TEST_TMPDIR/ack"
	exec 5<>"$BATS_TEST_TMPDIR/ctl" 6<>"$BATS_TEST_TMPDIR/ack"
	for word in ping disable "enable dummy:u" "enable"; do
		status=0
		background "$out" perf stat -D -1 --control fd:5,6 -x, -e dummy:u,cs:u -p $$
		perf=$!
		echo "$word" >&5
		read -r -t 20 line <&6
		[ "$line" = ack ]
		kill -INT $perf
		wait $perf || status=$?
		[ "$status" = 130 ]
		[ "$(grep -c '^[0-9<].*:u,' "$out")" = 2 ]
		[ "$(wc -l <"$out")" = 2 ]
	done
	exec 5>&- 6>&-
}

@test "SIGINT during the delay of a later repeat prints the repeats before it" {
	local out=$BATS_TEST_TMPDIR/out T=$BATS_TEST_TMPDIR line perf status=0
	mkfifo "$T/ctl" "$T/ack"
	exec 5<>"$T/ctl" 6<>"$T/ack"
	background "$out" perf stat -D 1000000 -r 3 --control fd:5,6 -x, -e dummy:u \
		sh -c "[ ! -e '$T/first' ] || exec sleep 1000; while [ ! -e '$T/first' ]; do sleep 0.02; done"
	perf=$!
	echo enable >&5
	read -r -t 20 line <&6
	touch "$T/first"
	# the second command
	second() { pgrep -P $perf -x sleep; }
	wait_for second
	kill -INT $perf
	wait $perf || status=$?
	exec 5>&- 6>&-
	[ "$status" = 130 ]
	[[ $(grep -v Terminated "$out") = "0,,dummy:u,0.00%,"*,100.00,, ]]
}

@test "--null measures only time" {
	perf stat --null true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	[ "$(grep -c 'seconds' "$BATS_TEST_TMPDIR/err")" = 3 ]
	[ "$(grep -c . "$BATS_TEST_TMPDIR/err")" = 4 ]
	perf stat --null -x, true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	is_silent "$BATS_TEST_TMPDIR/err"
}

@test "-D -1 counts nothing before --control enables it" {
	perf stat -D -1 -x, --log-fd 4 -e page-faults:u true 4>"$BATS_TEST_TMPDIR/out" \
		2>"$BATS_TEST_TMPDIR/err" 3>&-
	[ "$(<"$BATS_TEST_TMPDIR/err")" = "Events disabled" ]
	grep -q '^<not counted>,,page-faults:u,0,' "$BATS_TEST_TMPDIR/out"
}

@test "-D does not count events before the delay is over" {
	local delay out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err late=$BATS_TEST_TMPDIR/late
	# On a machine too slow for the first delay the next one is long enough.
	for delay in 100 1000 10000; do
		rm -f "$late"
		perf stat -D $delay -x, --log-fd 4 -e page-faults:u sh -c "
			'$WORKLOADS/faults' 9000
			! grep -q enabled '$err' || touch '$late'
			until grep -q enabled '$err'; do sleep 0.02; done
			'$WORKLOADS/faults' 200" 4>"$out" 2>"$err" 3>&-
		[ "$(<"$err")" = "Events disabled"$'\n'"Events enabled" ]
		[ -e "$late" ] || break
	done
	[ ! -e "$late" ]
	# None of the 9,000. The shell's other commands have some besides the 200.
	in_range "$(field page-faults:u 1 "$out")" 200 8999
}

@test "with -D, time begins with counting, not with the command" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -D 2000 -e duration_time --log-fd 4 sh -c 'exec sleep 2.1' 4>"$out" 2>/dev/null
	awk '/duration_time/ { ns = $1 } /time elapsed/ { s = $1 }
		END { exit !(ns > 0 && s - ns / 1e9 < 2) }' "$out"
	# a row of an interval, and that of the rest
	: >"$out"
	perf stat -D 2000 -I 50 -x, -e duration_time -o "$out" --append sh -c "
		until grep -q duration_time '$out'; do sleep 0.02; done" 2>/dev/null
	awk -F, '/duration_time/ { n++; ns += $2; s = $1 } END { exit !(n > 1 && ns > 0 && s - ns / 1e9 < 2) }' "$out"
}

@test "-I --summary prints totals as rows and a footer, without a header" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -I 100000 --summary -e dummy:u --log-fd 4 true 4>"$out"
	[ "$(grep -c dummy:u "$out")" = 2 ]
	[ "$(sed -n '3s/ *$//p' "$out")" = "                 0      dummy:u" ]
	[ "$(sed -n 4p "$out")" = "" ]
	sed -n 5p "$out" | grep -q 'seconds time elapsed$'
	refute grep -q 'counter stats' "$out"
}

@test "perf warns about sleep without -a, short timeouts and overridden targets" {
	local err=$BATS_TEST_TMPDIR/err status=0
	perf stat -v -o /dev/null -e dummy:u sleep 0 2>"$err" 3>&-
	diff -u - "$err" <<-EOF
	perf stat: counting \`sleep\` without \`-a\`: what others do meanwhile is not counted
	EOF
	perf stat -o /dev/null -e dummy:u sleep 0 2>"$err" 3>&-
	is_silent "$err"
	perf stat -o /dev/null --timeout 50 -e dummy:u sh -c 'exec sleep 60' 2>"$err" 3>&- || status=$?
	[ "$status" = 143 ]
	diff -u - "$err" <<-EOF
	Warning:
	--timeout 50: below 100 ms the overhead may show in the counts
	sh: Terminated
	EOF
	perf stat -o /dev/null -a -C 0 -p $$ -e dummy:u true 2>"$err" 3>&-
	diff -u - "$err" <<-EOF
	Warning:
	-p overrides -C: tasks are counted on every CPU
	Warning:
	-p overrides -a: only the tasks are counted
	EOF
	perf stat -o /dev/null -t $$ -p $$ -e dummy:u true 2>"$err" 3>&-
	diff -u - "$err" <<-EOF
	Warning:
	-p overrides -t: only the processes are counted
	EOF
}

@test "--control works with fifos and acknowledges" {
	local ctl=$BATS_TEST_TMPDIR/ctl ack=$BATS_TEST_TMPDIR/ack out=$BATS_TEST_TMPDIR/out line
	mkfifo "$ctl" "$ack"
	background "$out" perf stat -D -1 -e page-faults:u --control "fifo:$ctl,$ack" -- \
		"$WORKLOADS/waiter" 1
	local perf=$!
	wait_for has_text ready "$out"
	exec 5<>"$ctl" 6<>"$ack"
	for word in ping enable disable disable enable enable stop; do
		echo $word >&5
		read -r -t 20 line <&6
		[ "$line" = ack ]
	done
	exec 5>&- 6>&-
	wait $perf || :
	# perf reports each, also those that change nothing; the first is that of -D
	[ "$(grep -c '^Events enabled$' "$out")" = 3 ]
	[ "$(grep -c '^Events disabled$' "$out")" = 3 ]
	[ "$(grep -c ' page-faults:u ' "$out")" = 1 ]
}

@test "--control works with descriptors, and names unknown words without acknowledgement" {
	local out=$BATS_TEST_TMPDIR/out line
	mkfifo "$BATS_TEST_TMPDIR/ctl" "$BATS_TEST_TMPDIR/ack"
	exec 5<>"$BATS_TEST_TMPDIR/ctl" 6<>"$BATS_TEST_TMPDIR/ack"
	background "$out" perf stat -x, -e page-faults:u --control fd:5,6 -- "$WORKLOADS/waiter"
	local perf=$!
	wait_for has_text ready "$out"
	printf 'frob\nping\n' >&5
	read -r -t 20 line <&6
	[ "$line" = ack ]
	grep -q "^perf stat: --control: unknown command 'frob' (enable \[EVENT\], disable" "$out"
	# two words in one write, the first without effect
	printf 'enable\nstop\n' >&5
	read -r -t 20 line <&6
	read -r -t 20 line <&6
	exec 5>&- 6>&-
	wait $perf || :
	[ "$(grep -c ',page-faults:u,' "$out")" = 1 ]
}

@test "--control switches single events and lists of them" {
	local out=$BATS_TEST_TMPDIR/out line
	mkfifo "$BATS_TEST_TMPDIR/ctl" "$BATS_TEST_TMPDIR/ack"
	exec 5<>"$BATS_TEST_TMPDIR/ctl" 6<>"$BATS_TEST_TMPDIR/ack"
	exec 7>"$BATS_TEST_TMPDIR/rows"
	background "$out" perf stat -x, --log-fd 7 -e '{page-faults:u,cs:u},minor-faults:u,major-faults:u,duration_time' \
		-D -1 --control fd:5,6 -- "$WORKLOADS/waiter"
	exec 7>&-
	local perf=$!
	wait_for has_text ready "$out"
	for word in "enable page-faults:u" "enable minor-faults:u" "disable minor-faults:u" \
		"enable nosuch" "enable duration_time" evlist "evlist -g" "evlist -F" "evlist -x" stop; do
		echo "$word" >&5
		read -r -t 20 line <&6
		[ "$line" = ack ]
	done
	exec 5>&- 6>&-
	wait $perf || :
	cat "$out" "$BATS_TEST_TMPDIR/rows" | grep -v -e ready -e Terminated | sed 's/^[0-9]*,/N,/; s/,[0-9]*,100.00,,$/,T/' | diff -u - <(cat <<-EOF
		Events disabled
		Event page-faults:u enabled
		Event minor-faults:u enabled
		Event minor-faults:u disabled
		perf stat: --control: 'nosuch': no event of that name is counted (evlist lists them)
		Event duration_time enabled
		page-faults:u
		cs:u
		minor-faults:u
		major-faults:u
		duration_time
		{page-faults:u,cs:u}
		minor-faults:u
		major-faults:u
		duration_time
		page-faults:u: sample_period=0
		cs:u: sample_period=0
		minor-faults:u: sample_period=0
		major-faults:u: sample_period=0
		duration_time: sample_period=0
		perf stat: --control: evlist: '-x' is none of -g, -F, -v
		N,,page-faults:u,T
		N,,cs:u,T
		<not counted>,,minor-faults:u,T
		<not counted>,,major-faults:u,T
		N,,duration_time,T
	EOF
	)
}

@test "warnings of options appear neither in CSV and JSON nor with --quiet" {
	local err=$BATS_TEST_TMPDIR/err format
	for format in -x, -j; do
		perf stat $format --timeout 50 -a -t $$ -p $$ -e dummy:u 2>"$err" 3>&-
		[ "$(grep -c dummy:u "$err")" = 1 ]
		[ "$(wc -l <"$err")" = 1 ]
	done
	perf stat --quiet --timeout 50 -a -t $$ -p $$ -e dummy:u 2>"$err" 3>&-
	is_silent "$err"
}

@test "CSV and JSON on stderr, and --quiet, have no lines about the end of the delay and --control" {
	local err=$BATS_TEST_TMPDIR/err options
	mkfifo "$BATS_TEST_TMPDIR/ctl"
	exec 5<>"$BATS_TEST_TMPDIR/ctl"
	for options in "-D 10" "-D -1 --control fd:5"; do
		# shellcheck disable=SC2086 # several words
		for format in -x, -j --quiet; do
			printf 'enable\ndisable dummy:u\nenable dummy:u\ndisable\n' >&5
			perf stat $format $options --timeout 50 -e dummy:u -p $$ 2>"$err" 3>&-
			[ "$format" != -j ] || jq -e .event "$err"
			[ "$(grep -c dummy:u "$err")" = "$(wc -l <"$err")" ]
			[ "$format" = --quiet ] || [ -s "$err" ]
			[ "$format" != --quiet ] || [ ! -s "$err" ]
		done
	done
	perf stat -j -D 10 --log-fd 2 --timeout 50 -e dummy:u -p $$ 2>"$err" 3>&-
	[ "$(wc -l <"$err")" = 1 ]
	# they are messages, not output: a file of rows leaves stderr to them, and -v asks for them
	perf stat -x, -o "$BATS_TEST_TMPDIR/file" -D 10 --timeout 50 -e dummy:u -p $$ 2>"$err" 3>&-
	diff -u - "$err" <<<"Events disabled"$'\n'"Events enabled"
	perf stat -j -v -D 10 --timeout 50 -e dummy:u -p $$ 2>"$err" 3>&-
	[ "$(grep -cx 'Events [a-z]*abled' "$err")" = 2 ]
	exec 5>&-
}

@test "disable from --control during the delay holds when it is over" {
	local out=$BATS_TEST_TMPDIR/out
	mkfifo "$BATS_TEST_TMPDIR/ctl"
	exec 5<>"$BATS_TEST_TMPDIR/ctl"
	echo disable >&5
	perf stat -D 300 --control fd:5 -x, -e page-faults:u --timeout 50 -p $$ 2>"$out" 3>&-
	exec 5>&-
	[ "$(<"$out")" = "<not counted>,,page-faults:u,0,100.00,," ]
}

@test "default events that the machine lacks have no row, except cpu-cycles" {
	[ ! -e /sys/bus/event_source/devices/cpu ] || skip "the machine has a PMU"
	perf stat --all-user -x, --log-fd 4 true 4>"$BATS_TEST_TMPDIR/out"
	[ "$(cut -d, -f3 "$BATS_TEST_TMPDIR/out" | tr '\n' ' ')" = \
		"context-switches cpu-migrations page-faults task-clock cpu-cycles " ]
	grep -q '^<not supported>,,cpu-cycles,' "$BATS_TEST_TMPDIR/out"
	perf stat --all-user -v -x, --log-fd 4 true 4>"$BATS_TEST_TMPDIR/out" 2>/dev/null
	grep -q '^<not supported>,,branches,' "$BATS_TEST_TMPDIR/out"
}

@test "-vv shows each perf event as it is opened" {
	perf stat -vv -e '{page-faults:u,dummy:u}' -o /dev/null true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	[ "$(grep -c '^perf_event_attr:$' "$BATS_TEST_TMPDIR/err")" = 2 ]
	[ "$(grep -c '^  read_format                      TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP$' "$BATS_TEST_TMPDIR/err")" = 2 ]
	grep -q '^  exclude_kernel                   1$' "$BATS_TEST_TMPDIR/err"
	grep -Eq '^sys_perf_event_open: pid [0-9]+  cpu -1  group_fd -1  flags 0x8 = [0-9]+$' "$BATS_TEST_TMPDIR/err"
}

@test "perf notifies a supervisor when everything is set up" {
	local socket=$BATS_TEST_TMPDIR/socket perf listener
	perl -MIO::Socket::UNIX -e '
		$s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die;
		alarm 60; recv($s, $m, 99, 0); print "$m\n"' "$socket" >"$BATS_TEST_TMPDIR/said" 3>&- &
	listener=$!
	wait_for test -S "$socket"
	NOTIFY_SOCKET=$socket background "$BATS_TEST_TMPDIR/out" perf stat -x, -e dummy:u -p $$
	perf=$!
	wait $listener
	[ "$(<"$BATS_TEST_TMPDIR/said")" = READY=1 ]
	kill -INT $perf
	wait $perf || :
	grep -q ,dummy:u, "$BATS_TEST_TMPDIR/out"
	# with a command, NOTIFY_SOCKET belongs to the command; a missing listener is not an error
	NOTIFY_SOCKET=/nonexistent perf stat -o /dev/null -e dummy:u sh -c '[ "$NOTIFY_SOCKET" = /nonexistent ]'
	NOTIFY_SOCKET=/nonexistent perf stat --timeout 100 -o /dev/null -e dummy:u -p $$
}

@test "warnings do not get into output for programs, nor into that of --quiet" {
	local T=$BATS_TEST_TMPDIR option said
	said="perf stat: $T/config:2: 'stat.big-num' is true or false, not 'perhaps': the line is ignored
	perf stat: events were regrouped to match PMUs"
	printf '[stat]\n\tbig-num = perhaps\n' >"$T/config"
	export PERF_CONFIG=$T/config
	for option in -x, -j --quiet; do
		perf stat $option -e '{dummy:u,duration_time,dummy:u}' --timeout 10 >"$T/out" 2>&1 3>&-
		refute grep -e ^perf -e Warning: "$T/out"
		[ "$(wc -l <"$T/out")" = "$([ $option = --quiet ] && echo 0 || echo 3)" ]
	done
	# The rows are elsewhere, or -v asks for the warnings.
	for option in "-x, -o $T/counts" "-j --log-fd 4" ""; do
		# shellcheck disable=SC2086
		perf stat $option -e '{dummy:u,duration_time,dummy:u}' true 2>"$T/err" 4>/dev/null 3>&-
		diff -u <(sed 's/^\t//' <<<"$said") <(head -n 2 "$T/err")
	done
	perf stat -x, -v -e '{dummy:u,duration_time,dummy:u}' true 2>"$T/err" 3>&-
	diff -u <(sed 's/^\t//' <<<"$said") <(grep ^perf "$T/err")
	# A command line that is refused: nothing is for programs.
	refute perf stat -x, -e '{dummy:u,duration_time,dummy:u}' -e nope true 2>"$T/err" 3>&-
	diff -u <(sed 's/^\t//' <<<"$said"; echo "event syntax error: 'nope'") <(head -n 3 "$T/err")
}

@test "what has no count has no metric, and one line has the reason" {
	[ ! -e /sys/bus/event_source/devices/cpu ] || skip "there is a PMU here"
	local T=$BATS_TEST_TMPDIR
	perf stat --all-user -o "$T/out" -r 2 true 2>"$T/err" 3>&-
	grep -Eqx '   <not supported>      cpu-cycles +' "$T/out"
	refute grep -w nan "$T/out"
	[ "$(wc -l <"$T/err")" = 1 ]
	grep -Eqx 'perf stat: hardware events are not counted: no PMU(: it is a virtual machine, whose host gives it none| that the kernel drives)' "$T/err"
	perf stat --all-user -x, true 2>"$T/err" 3>&-
	grep -qx '<not supported>,,cpu-cycles,0,100.00,,' "$T/err"
	refute grep ^perf "$T/err"
	perf stat --all-user -j true 2>"$T/err" 3>&-
	jq -es 'map(select(.event == "cpu-cycles")) | length == 1 and (.[0] | has("metric-value") | not)' "$T/err"
}

@test "a retirement latency is not supported, and its neighbours count" {
	local T=$BATS_TEST_TMPDIR
	perf stat -x, -o "$T/out" -e page-faults:Ru,page-faults:u,'{dummy:uR,dummy:u}' true 2>"$T/err" 3>&-
	grep -qx "<not supported>,,page-faults:Ru,0,100.00,," "$T/out"
	grep -Eq "^[0-9]+,,page-faults:u,[0-9]+,100.00,,$" "$T/out"
	grep -qx "<not supported>,,dummy:uR,0,100.00,," "$T/out"
	grep -Eq "^0,,dummy:u,[0-9]+,100.00,,$" "$T/out"
	[ "$(head -n 1 "$T/err")" = "perf stat: 'page-faults:Ru': a retirement latency (R) comes from samples, which perf does not take" ]
	refused 1 perf stat -e page-faults:Ru true <<-EOF
	Error:
	No supported events found.
	'page-faults:Ru': a retirement latency (R) comes from samples, which perf does not take
	EOF
}

# size_of TERM... : print the size of the attr that perf passes to the kernel for dummy with these terms
size_of() {
	perf stat -vv -e "dummy/$1/u" -o /dev/null true 2>&1 3>&- | awk '$1 == "size" { print $2; exit }'
}

@test "config3 and config4 reach the kernel, whatever headers perf was built with" {
	local T=$BATS_TEST_TMPDIR
	[ "$(size_of config3=0)" -le 136 ]
	[ "$(size_of config3=1)" -ge 136 ]
	[ "$(size_of config3=1,config4=2)" -ge 144 ]
	perf stat -vv -e dummy/config3=0x25,config4=3/u -o /dev/null true >"$T/out" 2>&1 3>&- || :
	grep -Eqx '  config3 +0x25' "$T/out"
	grep -Eqx '  config4 +3' "$T/out"
	# A kernel that lacks the word is named; none is simply ignored.
	perf stat -e dummy:u,dummy/config4=2/u -x, -o "$T/counts" true
	if grep -q '^<not supported>,,dummy/config4=2/u' "$T/counts"; then
		fails_with 1 "Error:" perf stat -e dummy/config4=2/u true
		grep -qx "'dummy/config4=2/u': this kernel is too old for its config3 or config4" \
			"$T/fails.err"
	else
		grep -q '^0,,dummy/config4=2/u' "$T/counts"
	fi
}
