#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What make install puts where, and that it works there.

load helpers

top=$BATS_TEST_DIRNAME/../..

requirements() {
	[ -f "$top/Makefile" ] || skip_or_fail "no source tree here"
	require_commands make
}

setup_file() {
	[ -f "$top/Makefile" ] && command -v make >/dev/null || return 0
	# -o: what is tested is not made anew
	make -s -C "$top" O="$O" -o "$O/perf" DESTDIR="$BATS_FILE_TMPDIR/root" prefix=/usr install >"$BATS_FILE_TMPDIR/log" 2>&1 3>&- ||
		{ cat "$BATS_FILE_TMPDIR/log" >&2; return 1; }
}

@test "the files" {
	local usr=$BATS_FILE_TMPDIR/root/usr file
	for file in bin/perf share/perf-stat/metrics/portable.json share/bash-completion/completions/perf \
		share/zsh/site-functions/_perf share/fish/vendor_completions.d/perf.fish share/doc/perf-stat/README.md; do
		[ -f "$usr/$file" ]
	done
	[ "$(stat -c %a "$usr/bin/perf")" = 755 ]
}

@test "an installation that was moved finds its metrics" {
	local other=$BATS_TEST_TMPDIR/other
	cp -r "$BATS_FILE_TMPDIR/root/usr" "$other"
	"$other/bin/perf" list --raw-dump metrics | grep -qw CPU_utilization
	rm -r "$other/share/perf-stat"
	# without these files there are those that are built in
	"$other/bin/perf" list --raw-dump metrics 2>&1 | tr ' ' '\n' >"$BATS_TEST_TMPDIR/metrics"
	grep -qx insn_per_cycle "$BATS_TEST_TMPDIR/metrics"
}

@test "make uninstall leaves nothing" {
	make -s -C "$BATS_TEST_DIRNAME/../.." O="$O" DESTDIR="$BATS_FILE_TMPDIR/root" prefix=/usr uninstall
	[ -z "$(find "$BATS_FILE_TMPDIR/root" -type f)" ]
}
