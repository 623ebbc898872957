#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Each message of perf occurs in a test, or in tests/data/untested: the text, a tab, and the reason. The
# reason "-" is none: such a test can be written. Below are tests of messages that no other file provokes.

load helpers

T=$BATS_TEST_TMPDIR

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
}

@test "each message occurs in a test, or in tests/data/untested with a reason" {
	[ -x scripts/messages ] || skip "no source tree here"
	scripts/messages -u | cut -f 2 | LC_ALL=C sort -u >"$T/untested"
	# A row whose message has a test by now, or is gone, goes.
	diff <(cut -f 1 tests/data/untested) "$T/untested"
	[ -z "$(awk -F '\t' 'NF != 2 || $2 == ""' tests/data/untested)" ]
}

@test "a message that occurs in no test is found" {
	mkdir -p "$T/tree/util/lib" "$T"/tree/tests/{unit,shell,fuzz}
	cat >"$T/tree/util/lib/a.c" <<-'END'
		void a(void)
		{
			/* pr_err("in a comment, not a message"); */
			pr_err("the first of %d texts (with a test)", 3);
			pr_warn("%s: only a comment has "
				"this text", name(")"));
			pr_err(is_new ? "new ones are seen" : "old ones are not seen at all");
			other("no message at all here");
			pr_err("%" PRIu64 " of them", 3);
			pr_err("%s: %s", a, b);
		}
	END
	touch "$T"/tree/{builtin-a.c,perf.c}
	printf '%s\n' '# only a comment has this text' $'\tgrep "first of 3 texts (with a test)"' 'grep "(with a test)"' \
		'grep "new ones are seen"' >"$T/tree/tests/shell/a.bats"
	TREE=$T/tree scripts/messages | cut -f 2 >"$T/all"
	diff "$T/all" - <<-'END'
		the first of %d texts (with a test)
		%s: only a comment has this text
		new ones are seen
		old ones are not seen at all
		%u of them
	END
	TREE=$T/tree scripts/messages -u | cut -f 2 >"$T/untested"
	diff "$T/untested" - <<-'END'
		%s: only a comment has this text
		old ones are not seen at all
		%u of them
	END
}

@test "bits of a raw event that its PMU does not know are named" {
	SYSFS_PATH=tests/data/sysfs-x86 perf stat -e cpu/config=0xff00000000000000/ true 2>"$T/err" || :
	[ "$(head -n 1 "$T/err")" = "perf stat: 'cpu/config=0xff00000000000000/': bits 0xff00000000000000 of its config are in no format of PMU 'cpu'" ]
}

@test "lists that are empty or cannot be written name the reason" {
	perf list sdt 2>"$T/err" || :
	grep -qF "perf list: 'sdt': perf counts no statically defined tracepoints of programs: make them probes" "$T/err"
	fails_with 1 "perf list: cannot write the list: No space left on device" sh -c 'perf list >/dev/full'
	PERF_METRICS_PATH=$T/none perf list metrics >/dev/null 2>"$T/err"
	diff - "$T/err" <<<"perf list: PERF_METRICS_PATH: cannot read '$T/none': No such file or directory"
}

@test "a service manager that cannot be reached changes nothing" {
	local long
	long=/$(printf '%0200d' 1)
	NOTIFY_SOCKET=$long perf stat --log-fd 4 -e duration_time --timeout 100 2>"$T/err" 4>/dev/null
	diff - "$T/err" <<<"perf stat: NOTIFY_SOCKET: '$long' is too long"
	NOTIFY_SOCKET=$T/none perf stat -v --log-fd 4 -e duration_time --timeout 100 2>"$T/err" 4>/dev/null
	grep -qxF "perf stat: NOTIFY_SOCKET: '$T/none': No such file or directory" "$T/err"
}

@test "-v names terms and formats that have no effect" {
	local cpu=sys/bus/event_source/devices/cpu
	cp -r tests/data/sysfs-x86 "$T/sys"
	chmod -R u+w "$T/sys"
	echo "confusing:1" >"$T/$cpu/format/odd"
	SYSFS_PATH=$T/sys perf stat -v -e cpu/event=1,@sink=2/ true 2>"$T/err" || :
	diff - <(head -n 2 "$T/err") <<-END
		perf stat: $T/$cpu/format/odd: unknown kind of format: term left out
		perf stat: driver term '@sink' has no effect in perf stat
	END
	# the same before -v, or without it, is not printed
	SYSFS_PATH=$T/sys perf stat -v --no-verbose -e cpu/event=1,@sink=2/ true 2>"$T/err" || :
	refute grep -q 'no effect\|unknown kind' "$T/err"
}

@test "-v names default events that the PMU lacks" {
	SYSFS_PATH=tests/data/sysfs-x86 perf stat -v --pmu-filter msr -ddd true 2>"$T/err" || :
	grep -qxF "perf stat: default events '{L1-dcache-load-misses,L1-dcache-loads}:W' left out: Bad event name" "$T/err"
}

@test "the name of a PMU is no event" {
	refute env SYSFS_PATH=tests/data/sysfs-x86 perf stat -e msr true 2>"$T/err"
	grep -qF "no event, but a PMU" "$T/err"
	grep -qxF "Name an event of it, or its terms: msr/TERM=VALUE/" "$T/err"
}

@test "members that count on other CPUs leave their group, with a line" {
	SYSFS_PATH=tests/data/sysfs-x86 perf stat -a -e '{cs,uncore_arb/event=1/,page-faults}' true 2>"$T/err" || :
	[ "$(head -n 1 "$T/err")" = \
		"perf stat: anon group { cs, uncore_arb/event=1/, page-faults }: members counted on other CPUs than the first are taken out of the group" ]
}

@test "-v names an event that is not shared, and an acknowledgement that cannot be written" {
	require_perf_events
	# the command ends when perf has tried
	perf stat -v -e duration_time:b --control fd:5,6 timeout 20 \
		sh -c 'until grep -q acknowledging "$0"; do sleep 0.02; done' "$T/err" 2>"$T/err" 5< <(echo ping) 6>/dev/full
	grep -qxF "perf stat: 'duration_time:b' cannot be shared: it is computed by perf" "$T/err"
	grep -qxF "perf stat: --control: acknowledging failed: No space left on device" "$T/err"
}
