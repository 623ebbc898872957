#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# -b checks lists of programs, rights, and options that do not go together.

load helpers

eval "base_$(declare -f teardown)"

teardown() {
	rm -rf "/sys/fs/bpf/perf_host_$$"
	base_teardown
}

@test "a list that names no programs is refused, and each word is named" {
	require_root
	for word in 0 -1 12x 0x10 id: id:x foo name: tag: tag:123 tag:0123456789abcdeg pinned: ALL ''; do
		refused 22 perf stat -b "$word" true <<-END
			perf stat: -b ${word:-''}: not a BPF program: give its id, id:N, name:NAME, tag:16 hex digits, pinned:PATH, or all
		END
	done
	refused 22 perf stat -b "all,12x" true <<-END
		perf stat: -b 12x: not a BPF program: give its id, id:N, name:NAME, tag:16 hex digits, pinned:PATH, or all
	END
}

@test "programs that do not exist are named" {
	require_root
	refused 1 perf stat -b 4294967295 true <<-'END'
		perf stat: -b 4294967295: there is no BPF program with this id (perf list bpf)
	END
	refused 1 perf stat -b name:no_such_program true <<-'END'
		perf stat: -b name:no_such_program: no BPF program has this name (perf list bpf)
	END
	refused 1 perf stat -b tag:0123456789abcdef true <<-'END'
		perf stat: -b tag:0123456789abcdef: no BPF program has this tag (bpftool prog)
	END
	refused 1 perf stat -b pinned:/sys/fs/bpf/no/such true <<-'END'
		perf stat: -b pinned:/sys/fs/bpf/no/such: No such file or directory
	END
	refused 1 perf stat -b pinned:/etc/passwd true <<-'END'
		perf stat: -b pinned:/etc/passwd: not a pinned BPF program
	END
	pin=/sys/fs/bpf/perf_host_$$
	/usr/sbin/bpftool map create "$pin" type array key 4 value 4 entries 1 name perf_host ||
		skip_or_fail "BPF maps cannot be pinned here"
	refused 1 perf stat -b "pinned:$pin" true <<-END
		perf stat: -b pinned:$pin: not a pinned BPF program
	END
}

@test "a program without BTF is not counted, and the message gives the reason" {
	require_root
	pin=/sys/fs/bpf/perf_host_$$
	"$WORKLOADS/progrun" -n "$pin" || skip_or_fail "BPF programs cannot be pinned here"
	id=$(/usr/sbin/bpftool -j prog show pinned "$pin" | jq .id)
	perf list bpf >"$BATS_TEST_TMPDIR/list"
	refused 1 perf stat -b "pinned:$pin" true <<-END
		perf stat: -b pinned:$pin: 'target_plain' (id $id) cannot be counted: it has no BTF (compile it with -g, and load it with a loader that passes BTF on)
	END
	# A tag finds it, too, or the same program of another test.
	tag=$(/usr/sbin/bpftool -j prog show pinned "$pin" | jq -r .tag)
	refute perf stat -b "tag:$tag" true 2>"$BATS_TEST_TMPDIR/err"
	grep -qE "^perf stat: -b tag:$tag: 'target_plain' \(id [0-9]+\) cannot be counted: it has no BTF " "$BATS_TEST_TMPDIR/err"
	grep -A1 -F "id:$id OR name:target_plain" "$BATS_TEST_TMPDIR/list" |
		grep -qF 'cannot be counted: it has no BTF'
}

@test "programs are counted if tracing programs are allowed, otherwise perf reports that" {
	require_root
	dir=/sys/fs/bpf/perf_host_$$
	mkdir "$dir" || skip_or_fail "BPF programs cannot be pinned here"
	"$WORKLOADS/progload" "$WORKLOADS/targets.bpf.o" "$dir"
	what=pinned:$dir/target_loop
	if "$WORKLOADS/progload" "$WORKLOADS/nested.bpf.o" "$dir" "$dir/target_loop" target_loop |
		grep -q 'not permitted'; then
		refused 1 perf stat --bpf-attr-map "$ATTR_MAP" -b "$what" true <<-END
			perf stat: -b $what: 'target_loop' (id $(/usr/sbin/bpftool -j prog show pinned "$dir/target_loop" | jq .id)) cannot be counted: loading tracing programs is forbidden here, also to root (by a sandbox or security module)
		END
	else
		perf stat --bpf-attr-map "$ATTR_MAP" -b "$what" -x, -o "$BATS_TEST_TMPDIR/out" -e bpf_runs \
			"$WORKLOADS/progrun" "$dir/target_loop" 5
		[ "$(field bpf_runs 1 "$BATS_TEST_TMPDIR/out")" = 5 ]
	fi
}

@test "users without the right neither count in programs nor list them" {
	require_root
	refused 1 as_nobody perf stat -b 1 true <<-'END'
		perf stat: -b: not permitted: lacks CAP_BPF (to load BPF programs), CAP_PERFMON (to have them read the kernel, and to open events for everybody) and CAP_SYS_ADMIN (to find what others share by its ids) (run as root)
	END
	refused 1 as_nobody perf list bpf <<-'END'
		perf list: cannot list BPF programs: not permitted: needs CAP_BPF and CAP_SYS_ADMIN (run as root)
	END
}

@test "options that do not go with -b are refused or overridden by name" {
	refused 22 perf stat -b 1 --per-thread true <<-'END'
		perf stat: -b and --per-thread: BPF programs are not counted by thread (--per-prog)
	END
	refused 22 perf stat --per-prog true <<-'END'
		perf stat: --per-prog needs -b
	END
	refused 22 perf stat -e bpf_runs true <<-'END'
		perf stat: 'bpf_runs' requires -b
	END
	fails_with 22 "Warning:" perf stat -b x -p 1 true
	sed -n 2p "$BATS_TEST_TMPDIR/fails.err" |
		grep -qx -e '-b overrides -p: BPF programs are counted in all tasks'
}
