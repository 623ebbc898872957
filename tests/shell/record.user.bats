#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf stat record and report of commands. A report prints the same as the session. Files are complete or do
# not exist. Broken files are refused. record.host.bats has CPUs.

load helpers
load record

setup() {
	require_perf_events
	cd "$BATS_TEST_TMPDIR"
	jobs_started=()
}

@test "a report prints the same as the recording session" {
	same_again true
	same_again -d true
	same_again -e cs:u,task-clock:u,page-faults:u true
	same_again -e '{page-faults:u,task-clock:u}' -e duration_time,user_time,num_cpus true
	same_again --no-scale -e page-faults/name=faults/u true
	same_again -M CPUs_utilized,migrations_per_second true
	same_again --no-metrics -e task-clock:u true
	same_again --per-thread -e page-faults:u,task-clock:u -p $$ "$WORKLOADS/faults" 10
}

@test "a report has the intervals and their sum" {
	same_again -I 20 -e page-faults:u,task-clock:u,duration_time sleep 0.07
	same_again -I 20 --summary -e page-faults:u,task-clock:u sleep 0.07
	same_again -I 20 --interval-count 1 -e page-faults:u sleep 0.05
	perf stat report -i again.data -x, 2>report.txt
	[ "$(wc -l <report.txt)" = 1 ]
	perf stat report -i again.data --summary 2>report.txt
	grep -q 'seconds time elapsed' report.txt
}

@test "record passes the command's status on, and keeps its counts" {
	local status=0
	perf stat record -e page-faults:u sh -c 'exit 3' >/dev/null 2>&1 -o x || status=$?
	[ "$status" = 3 ]
	status=0
	perf stat record -o x -e page-faults:u sh -c 'kill -KILL $$' >/dev/null 2>&1 || status=$?
	[ "$status" = 137 ]
	perf stat report -i x 2>&1 | grep -q page-faults:u
}

@test "the header names the command line that was recorded" {
	perf stat record -o x -e page-faults:u "$WORKLOADS/faults" 7 2>/dev/null >&2
	perf stat report -i x 2>report.txt
	grep -qF " Performance counter stats for 'perf stat record -o x -e page-faults:u $WORKLOADS/faults 7':" report.txt
	# The start of the program has less than 300.
	in_range "$(perf stat report -x, -i x 2>&1 | cut -d, -f1)" 7 307
}

@test "options stand on both sides of the word, which may be cut to three letters" {
	perf stat -e page-faults:u rec -o x -x, --log-fd 4 true >/dev/null 4>run.txt
	perf stat -x, rep -i x 2>report.txt
	diff run.txt report.txt
	grep -q page-faults:u run.txt
}

@test "the default file is perf.data, and the previous one becomes perf.data.old" {
	perf stat record -e page-faults:u true >out 2>&1
	[ "$(stat -c %a perf.data)" = 600 ]
	cp perf.data first
	perf stat record -e page-faults:u true >out 2>&1
	cmp first perf.data.old
	refute cmp -s first perf.data
	perf stat report 2>report.txt </dev/null
	grep -q page-faults:u report.txt
	# an empty file is not kept as .old
	rm perf.data*
	: >perf.data
	perf stat record -e page-faults:u true >out 2>&1
	[ "$(ls -d perf.data*)" = perf.data ]
}

@test "a pipe gets the data, and nothing else" {
	perf stat record -e page-faults:u,duration_time sh -c 'echo said' 2>err 3>&- | perf stat report -x, 2>report.txt 3>&-
	[ "$(<err)" = said ]
	[ "$(cut -d, -f3 report.txt | tr '\n' ' ')" = "page-faults:u duration_time " ]
	perf stat record -o - -e page-faults:u true >x 2>err
	[ ! -s err ]
	perf stat report -i x 2>one.txt
	perf stat report -i - <x 2>two.txt
	diff one.txt two.txt
	grep -qF " Performance counter stats for 'pipe':" one.txt
	# intervals are printed as they come
	: >report.txt
	perf stat record -o - -I 20 -e page-faults:u \
		sh -c 'until [ $(wc -l <report.txt) -ge 2 ]; do sleep 0.02; done' 2>/dev/null 3>&- |
		perf stat report -x, 2>report.txt 3>&-
	[ "$(grep -c page-faults:u report.txt)" -ge 2 ]
	mkfifo pipe
	background err perf stat record -o pipe -e page-faults:u true
	perf stat report -i pipe -x, 2>report.txt
	grep -q page-faults:u report.txt
}

@test "a failed recording leaves nothing, and the previous file stays" {
	echo old >perf.data
	refute perf stat record -o perf.data -e page-faults:u /nonexistent/command 2>err
	refute perf stat record -o perf.data -e page-faults:u,nonsense true 2>err
	background err perf stat record -o perf.data -e page-faults:u sh -c 'echo $$ >started; exec sleep 1000'
	local perf=$!
	wait_for test -s started
	kill -KILL "$perf"
	kill "$(<started)"
	wait "$perf" || :
	[ "$(<perf.data)" = old ]
	[ "$(echo *)" = "err perf.data started" ]
}

@test "a recording that cannot get its name leaves the previous file in place" {
	echo old >x
	# the command makes x.old after all checks
	fails_with 255 "perf stat: writing x failed: Is a directory" \
		perf stat record -o x --log-fd 4 -e page-faults:u sh -c 'mkdir x.old' 4>/dev/null
	[ "$(<x)" = old ]
	[ "$(echo x*)" = "x x.old" ]
}

@test "an impossible file name is refused before the command runs" {
	echo old >x
	mkdir x.old
	refused 255 perf stat record -o x -e page-faults:u touch ran <<<"perf stat: cannot replace x.old: Is a directory"
	[ ! -e ran ]
	# an empty previous file does not need the name x.old
	: >x
	perf stat record -o x -e page-faults:u true >/dev/null 2>&1
	perf stat report -i x 2>&1 | grep -q page-faults:u
}

@test "a recording without counts is a failure" {
	local status=0
	perf stat record --pre 'exit 3' -o x -e page-faults:u true 2>err || status=$?
	[ "$status" = 3 ]
	grep -q "'exit 3' failed: this repeat is not counted" err
	[ ! -e x ]
	# the counts are kept even if --post fails
	perf stat record --post 'exit 3' -o x -e page-faults:u true 2>err || :
	grep -q "'exit 3' failed: no repeat follows" err
	perf stat report -i x 2>&1 | grep -q page-faults:u
}

@test "Ctrl-C ends a recording in order" {
	local status=0
	background err perf stat record -o perf.data -e page-faults:u sh -c 'echo $$ >started; exec sleep 1000'
	local perf=$!
	wait_for test -s started
	kill -INT "$perf"
	wait "$perf" || status=$?
	[ "$status" = 130 ]
	perf stat report -i perf.data -x, 2>report.txt
	diff <(grep -o '^ *[0-9]* *page' err | tr -d ' page') <(cut -d, -f1 report.txt)
}

@test "a full disk and a closed pipe are errors" {
	fails_with 255 "perf stat: writing /dev/full failed: No space left on device" \
		perf stat record -o /dev/full -e page-faults:u true
	# the session and its command also end
	perf stat record -o - -I 10 -e page-faults:u sleep 1000 2>err 3>&- | true
	[ "$(grep -c '^perf stat: writing standard output failed: Broken pipe$' err)" = 1 ]
	# printed counts are printed, and no file is left
	: >rows
	(
		ulimit -f 1
		trap '' XFSZ
		exec perf stat record -e page-faults:u,task-clock:u -I 10 -x, --log-fd 4 \
			sh -c 'until [ $(wc -l <rows) -gt 10 ]; do sleep 0.02; done' 4>&1 >/dev/null 2>err
	) | cat >rows || :
	[ "$(grep -c '^perf stat: writing perf.data failed: File too large$' err)" = 1 ]
	[ "$(wc -l <rows)" -gt 10 ]
	[ ! -e perf.data ]
}

@test "the header's features have counts and no compression" {
	perf stat record -o x -e page-faults:u true >/dev/null 2>&1
	local bits
	bits=$(u64 x 72)
	[ "$(head -c 8 x)" = PERFILE2 ]
	((bits >> 19 & 1))
	# later versions of Linux's perf refuse files that have this one and no compression
	((!(bits >> 27 & 1)))
	# hostname, release, version, architecture, CPUs, command line, events, topology
	for bit in 3 4 5 6 7 11 12 13; do
		((bits >> bit & 1))
	done
}

@test "a truncated file is refused in one line with the place" {
	perf stat record -o x -e page-faults:u,duration_time true >/dev/null 2>&1
	perf stat record -o - -e page-faults:u,duration_time true >y 2>/dev/null
	local file n size status step=40
	for file in x y; do
		size=$(stat -c %s $file)
		for ((n = 0; n < size; n += step)); do
			head -c "$n" $file >cut
			status=0
			perf stat report -i cut >out 2>&1 || status=$?
			[ "$status" = 255 ] || { echo "$file cut to $n of $size: $status" >&2; return 1; }
			[ "$(wc -l <out)" = 1 ]
			grep -q '^perf stat report: cut: at byte [0-9]*: ' out || { cat out >&2; return 1; }
		done
		head -c $((size - 1)) $file >cut
		refute perf stat report -i cut 2>out
	done
}

@test "files other than recordings of counts are refused" {
	refused 255 perf stat report -i /etc/passwd \
		<<<"perf stat report: /etc/passwd: at byte 0: not perf.data: it does not begin with PERFILE2"
	printf '2ELIFREP' >x
	refused 255 perf stat report -i x \
		<<<"perf stat report: x: at byte 0: recorded on a machine of the other byte order: read it there"
	perf stat record -o x -e page-faults:u true >/dev/null 2>&1
	printf '\0\0\0\0\0\0\0\0' | dd of=x bs=1 seek=72 conv=notrunc status=none
	refused 255 perf stat report -i x \
		<<<"perf stat report: x: at byte 72: no counts: not written by perf stat record"
	perf stat record -o x -e page-faults:u true >/dev/null 2>&1
	printf '\0\0\0\0\0\0\0\0' | dd of=x bs=1 seek=48 conv=notrunc status=none
	refused 255 perf stat report -i x \
		<<<"perf stat report: x: at byte 40: no data: whoever wrote it was interrupted"
	printf '\377\377\377\377\377\377\377\177' | dd of=x bs=1 seek=48 conv=notrunc status=none
	perf stat report -i x 2>&1 | grep -q '^perf stat report: x: at byte 40: cut off: the data should be 9223372036854775807 bytes'
}

@test "a report does not overwrite what it reads" {
	perf stat record -o x -e page-faults:u true >/dev/null 2>&1
	cp x before
	ln -s x link
	local name
	for name in x ./x link; do
		refused 22 perf stat report -i x -o $name \
			<<<"perf stat report: -o $name: that is the recording itself: name another file"
		refused 22 sh -c "perf stat report -i - -o $name --append <x" \
			<<<"perf stat report: -o $name: that is the recording itself: name another file"
	done
	cmp x before
	perf stat report -i x -o y
	grep -q page-faults:u y
}

@test "counts after the final round are ignored" {
	perf stat record -o - -e page-faults:u true 2>/dev/null >x
	perf stat report -i x -x, >want 2>&1
	# one more record of counts of event 1: 12345
	cp x more
	printf '\114\0\0\0\0\0\060\0\1\0\0\0\0\0\0\0\377\377\377\377\0\0\0\0\071\060\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0' >>more
	perf stat report -i more -x, >got 2>&1
	diff want got
	# before it, the same is what counts: the round is the last record
	local size round=$((8 + 32))
	size=$(stat -c %s x)
	{
		head -c $((size - round)) x
		tail -c 48 more
		tail -c $round x
	} >before
	perf stat report -i before -x, 2>&1 | grep -q '^12345,,page-faults:u,'
}

@test "texts in a file cannot control the terminal" {
	# a thread, an event and the command have that name
	background out bash -c 'printf "e\033[31mvil" >/proc/self/comm; while :; do sleep 1000; done'
	wait_for grep -q $'\033' "/proc/$!/comm"
	perf stat record -o x -p $! --per-thread -e page-faults/name=bXell/u true $'\033[2J' >out 2>&1
	sed -i $'s/bXell/b\033ell/g' x
	grep -q $'\033' x
	local format
	for format in "" -x, -j; do
		perf stat report -i x $format >report.txt 2>&1
		grep -qE 'e(\\033|\\u001b)\[31mvil' report.txt
		grep -qE 'b(\\033|\\u001b)ell' report.txt
		refute grep -q $'\033' report.txt
	done
}

@test "a report refuses breakdowns that the counts do not have" {
	perf stat record -o x -e page-faults:u true >/dev/null 2>&1
	local option
	for option in -A --per-core --per-socket --per-node --per-cache --per-cluster --per-die; do
		refused 22 perf stat report -i x $option \
			<<<"perf stat report: the counts cannot be broken down like that: they are of tasks, not of CPUs"
	done
	perf stat report -i x --per-thread 2>report.txt
	grep -q 'page-faults:u' report.txt
}

@test "perf script prints each count as recorded" {
	local line='^ -1 +[0-9]+ +[1-9][0-9]* +[1-9][0-9]* +[1-9][0-9]* +[1-9][0-9]* '
	perf stat record -o x -e page-faults:u,task-clock:u true >/dev/null 2>&1
	perf script -i x >script.txt
	[ "$(head -n 1 script.txt)" = "CPU   THREAD             VAL             ENA             RUN            TIME EVENT" ]
	[ "$(sed 1d script.txt | grep -Ec "$line(page-faults:u|task-clock:u)$")" = 2 ]
	[ "$(wc -l <script.txt)" = 3 ]
	# its value and time are those of the report
	perf stat report -i x -x, 2>report.txt
	[ "$(awk '$7 == "page-faults:u" { print $3, $5 }' script.txt)" = \
		"$(awk -F, '$3 == "page-faults:u" { print $1, $4 }' report.txt)" ]
	# without a name, perf script reads perf.data, or a pipe, and prints at each interval
	cp x perf.data
	perf script </dev/null | diff script.txt -
	perf stat record -I 20 -o - -e page-faults:u sleep 0.05 2>/dev/null | perf script >script.txt
	sed 1d script.txt | awk '$6 <= time || $3 < value { exit 1 } { time = $6; value = $3 } END { exit NR < 3 }'
	# the count of an event that could not be counted is 0
	perf stat record -o x -e page-faults:u,r123456789abcdef:u true >/dev/null 2>&1 || :
	perf script -i x | grep -Eq '^ -1 +[0-9]+ +0 +0 +0 +[0-9]+ r123456789abcdef:u$'
}

@test "perf script refuses files other than recordings of counts" {
	refused 255 perf script -i /etc/passwd \
		<<<"perf script: /etc/passwd: at byte 0: not perf.data: it does not begin with PERFILE2"
	refused 255 perf script -i nothing <<<"perf script: cannot read nothing: No such file or directory"
	refused 129 alone perf script nothing <<<"perf script: nothing: no argument is expected (a file: -i)"
	perf stat record -o - -e page-faults:u true 2>/dev/null | head -c -40 >x
	refused 255 perf script -i x \
		<<<"perf script: x: at byte $(stat -c %s x): the data end before the counting did: whoever wrote them was interrupted"
	printf 'PERFILE2\020\0\0\0\0\0\0\0' >x
	refused 255 perf script -i x \
		<<<"perf script: x: at byte 16: no counts: not written by perf stat record"
	perf stat record -o x -e page-faults:u true >/dev/null 2>&1
	refused 255 sh -c 'perf script -i x >/dev/full' <<<"perf script: writing failed: No space left on device"
}

@test "Debian's perf reads ours, and we read what it wrote: files" {
	require_debian_perf
	local perf options
	for perf in perf "$DEBIAN_PERF"; do
		for options in "-e page-faults:u,task-clock:u,cs:u" "-e {page-faults:u,task-clock:u}" \
			"-e page-faults:u,duration_time" "-I 20 -e page-faults:u,task-clock:u"; do
			# shellcheck disable=SC2086 # several words
			"$perf" stat record -o x $options sleep 0.05 >/dev/null 2>&1
			both_report x
		done
		"$perf" stat record -o x -e page-faults:u,task-clock:u true >/dev/null 2>&1
		both_script x 2
	done
}

@test "a file has the attributes that its events were opened with" {
	require_debian_perf
	perf stat record -o x -e '{dummy:u,page-faults:u},cs:u' true >/dev/null 2>&1
	"$DEBIAN_PERF" evlist -v -i x | awk -F ': |, ' '{
		printf "%s", $1
		for (i = 2; i < NF; i++)
			if ($i ~ /^(disabled|inherit|enable_on_exec)$/)
				printf " %s", $i
		print ""
	}' | diff - <(printf '%s\n' "dummy:u disabled inherit enable_on_exec" "page-faults:u inherit" \
		"cs:u disabled inherit enable_on_exec")
}

@test "Debian's perf reads ours, and we read what it wrote: pipes" {
	require_debian_perf
	local perf
	for perf in perf "$DEBIAN_PERF"; do
		"$perf" stat record -o - -e page-faults:u,task-clock:u,cs:u true 2>/dev/null >x
		both_report x
		both_script x 3
		"$perf" stat record -o - -e page-faults:u true 2>/dev/null 3>&- | perf stat report -x, 2>ours.txt 3>&-
		grep -q page-faults:u ours.txt
	done
	perf stat record -e page-faults:u true 2>/dev/null 3>&- | "$DEBIAN_PERF" stat report 2>theirs.txt 3>&-
	grep -q page-faults:u theirs.txt
}
