#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Where the counts go, in which form, and with which exit status; counted are own tasks in user
# mode, which needs no privileges.

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

@test "a command killed by a signal: 128 + n, and a line that says so" {
	local signal status err=$BATS_TEST_TMPDIR/err
	for signal in KILL TERM SEGV; do
		status=0
		perf stat -e page-faults:u -o /dev/null sh -c "kill -$signal \$\$" 2>"$err" 3>&- || status=$?
		[ "$status" = $((128 + $(kill -l $signal))) ]
		case $signal in
		KILL) [ "$(cat "$err")" = "sh: Killed" ] ;;
		TERM) [ "$(cat "$err")" = "sh: Terminated" ] ;;
		SEGV) [[ $(cat "$err") = "sh: Segmentation fault"* ]] ;;
		esac
	done
}

@test "a command that cannot be executed: status 1, one line, no counts" {
	refused 1 perf stat -e page-faults:u "$BATS_TEST_TMPDIR/none" <<<"Workload failed: No such file or directory"
	: >"$BATS_TEST_TMPDIR/file"
	refused 1 perf stat -e page-faults:u "$BATS_TEST_TMPDIR/file" <<<"Workload failed: Permission denied"
}

@test "no event: status 1, the reason, and the command is not started" {
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
	in_range "$(field page-faults:u 1 "$BATS_TEST_TMPDIR/out")" 1 10000
}

@test "the table" {
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

@test "a file, and appending to it" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -o "$out" -e page-faults:u true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
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

@test "-o - is stderr" {
	cd "$BATS_TEST_TMPDIR"
	perf stat -o - --append -x, -e page-faults:u true 2>err 3>&-
	[ "$(wc -l <err)" = 1 ]
	[ "$(ls)" = err ]
}

@test "--log-fd prints without the line that a file begins with" {
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
	[ "$(cat "$BATS_TEST_TMPDIR/err")" = "perf stat: writing the counts failed: No space left on device" ]
	status=0
	perf stat --log-fd 4 -I 10 -e page-faults:u true 4>/dev/full 2>"$BATS_TEST_TMPDIR/err" 3>&- || status=$?
	[ "$status" = 1 ]
	[ "$(cat "$BATS_TEST_TMPDIR/err")" = "perf stat: writing the counts failed: No space left on device" ]
}

@test "a run that is refused leaves the file as it was, or none" {
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
		[ "$(cat "$out")" = old ]
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
	# nothing is counted if the file cannot be had
	refused 1 perf stat -o "$BATS_TEST_TMPDIR" -e page-faults:u touch "$BATS_TEST_TMPDIR/ran" <<-EOF
	perf stat: cannot create the output file '$BATS_TEST_TMPDIR': Is a directory
	EOF
	[ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "closed standard streams: nothing is written elsewhere, the command runs as always" {
	local status=0
	perf stat -e dummy:u sh -c "echo >'$BATS_TEST_TMPDIR/ran'; exit 3" 2>&- || status=$?
	[ "$status" = 3 ]
	[ -e "$BATS_TEST_TMPDIR/ran" ]
	perf stat -o "$BATS_TEST_TMPDIR/out" -e dummy:u true <&- >&- 2>&-
	grep -q dummy:u "$BATS_TEST_TMPDIR/out"
}

@test "CSV: 7 fields, 8 with -I, one more with -r" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -x, --log-fd 4 -e page-faults:u,dummy:u true 4>"$out"
	[ "$(awk -F, 'NF != 7' "$out" | wc -l)" = 0 ]
	[ "$(wc -l <"$out")" = 2 ]
	perf stat -x, --log-fd 4 -I 100000 -e page-faults:u true 4>"$out"
	[[ $(cat "$out") =~ ^[0-9]+\.[0-9]{9},[0-9]+,,page-faults:u,[0-9]+,100.00,,$ ]]
	perf stat -x, --log-fd 4 -r 2 -e dummy:u true 4>"$out"
	[[ $(cat "$out") =~ ^0,,dummy:u,0.00%,[0-9]+,100.00,,$ ]]
	perf stat -x '\t' --log-fd 4 -e dummy:u true 4>"$out"
	[[ $(cat "$out") =~ ^0$'\t\t'dummy:u$'\t'[0-9]+$'\t'100.00$'\t\t'$ ]]
	perf stat -x '<->' --log-fd 4 -e dummy:u true 4>"$out"
	[[ $(cat "$out") =~ ^'0<-><->dummy:u<->'[0-9]+'<->100.00<-><->'$ ]]
}

@test "JSON: every line is an object of the known members" {
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

@test "-I: a row per interval and the rest at the end; --summary adds the totals" {
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

@test "--summary without intervals: the word is there all the same" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat --summary -x, --log-fd 4 -e dummy:u true 4>"$out"
	[[ $(cat "$out") = "summary,0,,dummy:u,"*,100.00,, ]]
	perf stat --summary --no-csv-summary -x, --log-fd 4 -e dummy:u true 4>"$out"
	[[ $(cat "$out") = "0,,dummy:u,"*,100.00,, ]]
	perf stat --summary --log-fd 4 -e dummy:u true 4>"$out"
	[ "$(sed -n 2p "$out")" = " Performance counter stats for 'true':" ]
}

@test "options of Linux's perf that change nothing here are taken" {
	perf stat --affinity -x, -o "$BATS_TEST_TMPDIR/out" -e dummy:u true
	perf stat --no-affinity -x, -o "$BATS_TEST_TMPDIR/out" -e dummy:u true
}

@test "--log-fd 0 is none" {
	perf stat --log-fd 0 -x, -e dummy:u true </dev/null 2>"$BATS_TEST_TMPDIR/out"
	[[ $(cat "$BATS_TEST_TMPDIR/out") = 0,,dummy:u,* ]]
}

@test "-I 0 means no intervals" {
	perf stat -I 0 -x, --log-fd 4 -e dummy:u true 4>"$BATS_TEST_TMPDIR/out"
	[ "$(awk -F, '{ print NF }' "$BATS_TEST_TMPDIR/out")" = 7 ]
}

@test "--interval-count: so many rows, and the command ends in peace" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -I 20 --interval-count 2 -x, --log-fd 4 -e dummy:u \
		sh -c "until [ \$(wc -l <'$out') -ge 2 ]; do sleep 0.02; done
			sleep 0.1; touch '$BATS_TEST_TMPDIR/ended'" 4>"$out"
	[ "$(wc -l <"$out")" = 2 ]
	[ -e "$BATS_TEST_TMPDIR/ended" ]
}

@test "-r: mean and deviation of so many runs" {
	perf stat -r 3 --log-fd 4 -e dummy:u sh -c "echo >>'$BATS_TEST_TMPDIR/runs'" 4>"$BATS_TEST_TMPDIR/out"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/runs")" = 3 ]
	grep -q "^ Performance counter stats for 'sh -c .*' (3 runs):\$" "$BATS_TEST_TMPDIR/out"
	grep -Eq '^ {7}[0-9.]{11} \+- [0-9.]{11} seconds time elapsed  \( \+- ' "$BATS_TEST_TMPDIR/out"
	perf stat -r 3 --table --log-fd 4 -e dummy:u true 4>"$BATS_TEST_TMPDIR/out"
	[ "$(grep -Ec '^ {7}[0-9.]{11} \([+-][0-9.]{11}\) #+$' "$BATS_TEST_TMPDIR/out")" = 3 ]
}

@test "-r: the status is the last run's, and a signal ends the series" {
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

@test "--pre and --post run around each run" {
	local log=$BATS_TEST_TMPDIR/log status
	perf stat -r 2 -o /dev/null --pre "echo pre >>'$log'" --post "echo post >>'$log'" -e dummy:u \
		sh -c "echo run >>'$log'"
	[ "$(tr '\n' ' ' <"$log")" = "pre run post pre run post " ]
	rm "$log"
	status=0
	perf stat -o /dev/null --post "echo post >>'$log'" -e dummy:u false || status=$?
	[ "$status" = 1 ]
	[ ! -e "$log" ]
	# a command that fails is no status of ours; the table says that nothing was counted
	perf stat --log-fd 4 --pre false -e dummy:u touch "$log" 4>"$BATS_TEST_TMPDIR/out" 2>/dev/null
	[ ! -e "$log" ]
	grep -q "^     <not counted>      dummy:u " "$BATS_TEST_TMPDIR/out"
	grep -q "^ *0.000000000 seconds time elapsed$" "$BATS_TEST_TMPDIR/out"
	perf stat -r 0 --log-fd 4 --pre false -x, -e dummy:u touch "$log" 4>"$BATS_TEST_TMPDIR/out" 2>/dev/null
	[ "$(cat "$BATS_TEST_TMPDIR/out")" = "<not counted>,,dummy:u,0,100.00,," ]
}

# interrupted OPTION... : SIGINT comes to perf while it waits for a command that wrote to $log and
# became this shell's sleep; nothing of it goes on. The lines that perf has printed are in $out
interrupted() {
	local perf sleeper status=0
	log=$BATS_TEST_TMPDIR/log out=$BATS_TEST_TMPDIR/out
	: >"$log"
	background "$out" perf stat -x, -e dummy:u "$@" true
	perf=$!
	wait_for grep -q . "$log"
	sleeper=$(cat "$log")
	kill -INT $perf
	wait $perf || status=$?
	[ "$status" = 130 ]
	gone() { [ ! -e "/proc/$sleeper" ]; }
	wait_for gone
	[ "$(wc -l <"$log")" = 1 ]
}

@test "SIGINT while --pre or --post runs ends the series" {
	interrupted -r 3 --pre "echo \$\$ >>'$BATS_TEST_TMPDIR/log'; exec sleep 1000"
	[ "$(cat "$out")" = "<not counted>,,dummy:u,0.00%,0,100.00,," ]
	interrupted -r 3 --post "echo \$\$ >>'$BATS_TEST_TMPDIR/log'; exec sleep 1000"
	[[ $(cat "$out") = "0,,dummy:u,0.00%,"*,100.00,, ]]
	interrupted -r 0 --post "echo \$\$ >>'$BATS_TEST_TMPDIR/log'; exec sleep 1000"
	[[ $(cat "$out") = "0,,dummy:u,"*,100.00,, ]]
	[ "$(wc -l <"$out")" = 1 ]
}

@test "--null measures only time" {
	perf stat --null true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	[ "$(grep -c 'seconds' "$BATS_TEST_TMPDIR/err")" = 3 ]
	[ "$(grep -c . "$BATS_TEST_TMPDIR/err")" = 4 ]
	perf stat --null -x, true 2>"$BATS_TEST_TMPDIR/err" 3>&-
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}

@test "-D -1 counts nothing before --control says so" {
	perf stat -D -1 -x, --log-fd 4 -e page-faults:u true 4>"$BATS_TEST_TMPDIR/out" \
		2>"$BATS_TEST_TMPDIR/err" 3>&-
	[ "$(cat "$BATS_TEST_TMPDIR/err")" = "Events disabled" ]
	grep -q '^<not counted>,,page-faults:u,0,' "$BATS_TEST_TMPDIR/out"
}

@test "-D: nothing from before counts" {
	local delay out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err late=$BATS_TEST_TMPDIR/late
	# On a machine too slow for the first delay the next one is long enough.
	for delay in 100 1000 10000; do
		rm -f "$late"
		perf stat -D $delay -x, --log-fd 4 -e page-faults:u sh -c "
			'$WORKLOADS/faults' 9000
			! grep -q enabled '$err' || touch '$late'
			until grep -q enabled '$err'; do sleep 0.02; done
			'$WORKLOADS/faults' 200" 4>"$out" 2>"$err" 3>&-
		[ "$(cat "$err")" = "Events disabled"$'\n'"Events enabled" ]
		[ -e "$late" ] || break
	done
	[ ! -e "$late" ]
	in_range "$(field page-faults:u 1 "$out")" 200 8999
}

@test "-D: time begins with counting, not with the command" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -D 2000 -e duration_time --log-fd 4 sh -c 'exec sleep 2.1' 4>"$out" 2>/dev/null
	awk '/duration_time/ { ns = $1 } /time elapsed/ { s = $1 }
		END { exit !(ns > 0 && s - ns / 1e9 < 2) }' "$out"
	perf stat -D 2000 -I 50 -x, -e duration_time --log-fd 4 sh -c 'exec sleep 2.1' 4>"$out" 2>/dev/null
	awk -F, '{ ns += $2; s = $1 } END { exit !(NR > 1 && ns > 0 && s - ns / 1e9 < 2) }' "$out"
}

@test "-I --summary: the totals follow as rows and a footer, without a header" {
	local out=$BATS_TEST_TMPDIR/out
	perf stat -I 100000 --summary -e dummy:u --log-fd 4 true 4>"$out"
	[ "$(grep -c dummy:u "$out")" = 2 ]
	[ "$(sed -n '3s/ *$//p' "$out")" = "                 0      dummy:u" ]
	[ "$(sed -n 4p "$out")" = "" ]
	sed -n 5p "$out" | grep -q 'seconds time elapsed$'
	refute grep -q 'counter stats' "$out"
}

@test "warnings: sleep without -a, short timeouts, overridden targets" {
	local err=$BATS_TEST_TMPDIR/err status=0
	perf stat -o /dev/null -e dummy:u sleep 0 2>"$err" 3>&-
	diff -u - "$err" <<-EOF
	Warning:
	counting \`sleep\` without \`-a\`: what others do meanwhile is not counted
	EOF
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

@test "--control: fifos, with acknowledgement" {
	local ctl=$BATS_TEST_TMPDIR/ctl ack=$BATS_TEST_TMPDIR/ack out=$BATS_TEST_TMPDIR/out line
	mkfifo "$ctl" "$ack"
	background "$out" perf stat -D -1 -x, -e page-faults:u --control "fifo:$ctl,$ack" -- \
		"$WORKLOADS/waiter" 1
	local perf=$!
	wait_for grep -q ready "$out"
	exec 5<>"$ctl" 6<>"$ack"
	for word in ping enable disable disable enable enable stop; do
		echo $word >&5
		read -r -t 20 line <&6
		[ "$line" = ack ]
	done
	exec 5>&- 6>&-
	wait $perf || :
	# each is said, those that change nothing, too; the first is that of -D
	[ "$(grep -c '^Events enabled$' "$out")" = 3 ]
	[ "$(grep -c '^Events disabled$' "$out")" = 3 ]
	[ "$(grep -c ',page-faults:u,' "$out")" = 1 ]
}

@test "--control: descriptors; an unknown word is named, and not acknowledged" {
	local out=$BATS_TEST_TMPDIR/out line
	mkfifo "$BATS_TEST_TMPDIR/ctl" "$BATS_TEST_TMPDIR/ack"
	exec 5<>"$BATS_TEST_TMPDIR/ctl" 6<>"$BATS_TEST_TMPDIR/ack"
	background "$out" perf stat -x, -e page-faults:u --control fd:5,6 -- "$WORKLOADS/waiter"
	local perf=$!
	wait_for grep -q ready "$out"
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

@test "--control: single events, and lists of them" {
	local out=$BATS_TEST_TMPDIR/out line
	mkfifo "$BATS_TEST_TMPDIR/ctl" "$BATS_TEST_TMPDIR/ack"
	exec 5<>"$BATS_TEST_TMPDIR/ctl" 6<>"$BATS_TEST_TMPDIR/ack"
	background "$out" perf stat -x, -e '{page-faults:u,cs:u},minor-faults:u,major-faults:u,duration_time' \
		-D -1 --control fd:5,6 -- "$WORKLOADS/waiter"
	local perf=$!
	wait_for grep -q ready "$out"
	for word in "enable page-faults:u" "enable minor-faults:u" "disable minor-faults:u" \
		"enable nosuch" "enable duration_time" evlist "evlist -g" "evlist -F" "evlist -x" stop; do
		echo "$word" >&5
		read -r -t 20 line <&6
		[ "$line" = ack ]
	done
	exec 5>&- 6>&-
	wait $perf || :
	grep -v -e ready -e Terminated "$out" | sed 's/^[0-9]*,/N,/; s/,[0-9]*,100.00,,$/,T/' | diff -u - <(cat <<-EOF
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

@test "--control: disable during the delay holds when it is over" {
	local out=$BATS_TEST_TMPDIR/out
	mkfifo "$BATS_TEST_TMPDIR/ctl"
	exec 5<>"$BATS_TEST_TMPDIR/ctl"
	echo disable >&5
	perf stat -D 300 --control fd:5 -x, -e page-faults:u --timeout 50 -p $$ 2>"$out" 3>&-
	exec 5>&-
	diff -u - "$out" <<-EOF
	Warning:
	--timeout 50: below 100 ms the overhead may show in the counts
	Events disabled
	Events disabled
	<not counted>,,page-faults:u,0,100.00,,
	EOF
}

@test "default events: no row for what the machine lacks, but for cpu-cycles" {
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

@test "a supervisor is told when everything is set up" {
	local socket=$BATS_TEST_TMPDIR/socket perf listener
	perl -MIO::Socket::UNIX -e '
		$s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die;
		alarm 60; recv($s, $m, 99, 0); print "$m\n"' "$socket" >"$BATS_TEST_TMPDIR/said" 3>&- &
	listener=$!
	wait_for test -S "$socket"
	NOTIFY_SOCKET=$socket background "$BATS_TEST_TMPDIR/out" perf stat -x, -e dummy:u -p $$
	perf=$!
	wait $listener
	[ "$(cat "$BATS_TEST_TMPDIR/said")" = READY=1 ]
	kill -INT $perf
	wait $perf || :
	grep -q ,dummy:u, "$BATS_TEST_TMPDIR/out"
	# of a command it is the command's own business; nobody who listens is no trouble
	NOTIFY_SOCKET=/nonexistent perf stat -o /dev/null -e dummy:u sh -c '[ "$NOTIFY_SOCKET" = /nonexistent ]'
	NOTIFY_SOCKET=/nonexistent perf stat --timeout 100 -o /dev/null -e dummy:u -p $$
}
