#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf stat -b: programs of all types where the kernel itself runs them, and those it does not let be
# counted.

load progs

# The programs of tests/workloads/hooks.bpf.c. A row has the first kernel on which one can be attached, the same on
# arm64, and the first on which it can be counted. The last column is how often it runs each time it is driven ("+": at
# least once)
hooks=(
	"xdp		6.1	6.1	6.1	1"
	"tcx		6.6	6.6	6.1	1"
	"recursion	6.6	6.6	6.1	4"
	"netfilter	6.4	6.4	6.4	1"
	"ingress	6.1	6.1	6.1	1"
	"egress		6.1	6.1	6.1	1"
	"sock_create	6.1	6.1	6.1	1"
	"connect4	6.1	6.1	6.1	1"
	"setsockopt	6.1	6.1	6.1	1"
	"sysctl		6.1	6.1	6.1	1"
	"device		6.1	6.1	6.1	1"
	"sock_ops	6.1	6.1	6.1	+"
	"filter		6.1	6.1	6.1	1"
	"sk_lookup	6.1	6.1	6.1	1"
	"reuseport	6.1	6.1	6.1	1"
	"dissector	6.1	6.1	6.1	+"
	"sk_msg		6.1	6.1	6.1	1"
	"sk_skb		6.1	6.1	6.1	1"
	"raw_tp		6.1	6.1	6.1	+"
	"tp		6.1	6.1	6.1	1"
	"kprobe		6.1	6.1	6.1	1"
	"kretprobe	6.1	6.1	6.1	1"
	"uprobe		6.1	6.1	6.1	1"
	"perf_event	6.1	6.1	6.1	+"
	"lsm		6.1	6.4	6.1	1"
	"lsm_sleepable	6.1	6.4	6.1	1"
	"lsm_cgroup	6.1	6.4	6.1	1"
	"tp_btf		6.1	6.1	6.8	+"
	"fentry		6.1	6.4	6.8	1"
	"fexit		6.1	6.4	6.8	1"
	"fmod_ret	6.1	6.4	6.8	1"
	"iter		6.1	6.1	6.8	+"
)

# hook_out NAME EVENT : what was counted there
hook_out() {
	awk -F, -v name="hook_$1-" -v event="$2" 'index($1, name) == 1 && $4 == event { print $2 }' "$T/out"
}

no_tracing="it is a tracing program, which can be probed only on Linux 6.8 or later"

@test "every hit of programs of each type is counted, or the reason is reported" {
	list='' names=() refused=() least=0.0001
	# The one machine without virtual time: its clock may stand still for a tick.
	[ "$PLACE-$KERNEL" != amd-6.1 ] || least=0
	"$WORKLOADS/progload" "$WORKLOADS/hooks.bpf.o" "$P" >"$T/unknown"
	for row in "${hooks[@]}"; do
		read -r name here arm64 counted _ <<<"$row"
		[[ $PLACE != arm* ]] || here=$arm64
		[ -e "$P/hook_$name" ] || grep "^hook_$name:" "$T/unknown"
		if ! is_since "$counted"; then
			refused+=("$name")
		elif is_since "$here"; then
			names+=("$name") list+=,pinned:$P/hook_$name
		fi
	done
	prog_stat -b "${list#,}" --per-prog -x, -o "$T/out" -e bpf_runs,cpu-clock,page-faults,cs \
		"$WORKLOADS/hooks" "$P" 20 "${names[@]}" >"$T/hits" 2>"$T/err"
	cat "$T/hits" "$T/out" "$T/err" >&2
	refute grep -q 'could not be read' "$T/err"
	for row in "${hooks[@]}"; do
		read -r name _ _ _ each <<<"$row"
		[[ " ${names[*]} " = *" $name "* ]] || continue
		hits=$(awk -v name="$name" '$1 == name { print $2 }' "$T/hits")
		is_equal "$name: $(hook_out "$name" bpf_runs)" "$name: $hits"
		[ "$each" = + ] || is_equal "$name: $hits" "$name: $((20 * each))"
		at_least "$hits" 20
		at_least "$(hook_out "$name" cpu-clock)" $least
		is_equal "$name: $(hook_out "$name" page-faults)" "$name: 0"
	done
	for name in "${refused[@]}"; do
		[ -e "$P/hook_$name" ] || continue
		refused 1 prog_stat -b "pinned:$P/hook_$name" true <<-END
			perf stat: -b pinned:$P/hook_$name: 'hook_$name' (id $(id_of "$P/hook_$name")) cannot be counted: $no_tracing
		END
	done
	nothing_attached
}

@test "a tracing program at another program is counted, or reported if that one also traces" {
	"$WORKLOADS/progload" "$WORKLOADS/nested.bpf.o" "$P" "$P/target_loop" target_loop
	if ! is_since 6.8; then
		refused 1 prog_stat -b "$(id nested)" true <<-END
			perf stat: -b $(id nested): 'target_nested' (id $(id nested)) cannot be counted: $no_tracing
		END
		return
	fi
	mkdir "$P/second"
	"$WORKLOADS/progload" "$WORKLOADS/nested.bpf.o" "$P/second" "$P/target_nested" target_nested
	second=$(id_of "$P/second/target_nested")
	refused 1 prog_stat -b "$second" true <<-END
		perf stat: -b $second: 'target_nested' (id $second) cannot be counted: it is a tracing program on another tracing program
	END
	prog_stat -b "$(id nested),$(id loop)" --per-prog -x, -o "$T/out" -e bpf_runs \
		"$WORKLOADS/progrun" "$P/target_loop" 5
	is_equal "$(awk -F, '$4 == "bpf_runs" { print $2 }' "$T/out" | paste -sd' ')" "5 5"
	nothing_attached
}

@test "an extension is counted, and the program that it replaces is reported" {
	counting a -b "$(id loop)" -e bpf_runs
	prog_run loop 3
	end_run "$run_pid" INT 130
	is_equal "$(field bpf_runs 1 "$T/a.csv")" 3
	nothing_attached
	"$WORKLOADS/progload" "$WORKLOADS/ext.bpf.o" "$P" "$P/target_loop" target_loop
	prog_stat -b "$(id ext)" -x, -o "$T/out" -e bpf_runs,cpu-clock "$WORKLOADS/progrun" "$P/target_loop" 70
	is_equal "$(field bpf_runs 1 "$T/out")" 70
	refused 1 prog_stat -b "$(id loop)" -e bpf_runs true <<-END
		perf stat: cannot count 'target_loop' (id $(id loop)): another program replaces it (freplace), which excludes probes
	END
	nothing_attached
}

@test "struct_ops are counted" {
	$bpftool struct_ops register "$WORKLOADS/congestion.bpf.o" ||
		skip_or_fail "this kernel has no struct_ops for TCP"
	"$WORKLOADS/connects" 1 perf_test
	prog_stat -b name:target_init,name:target_undo --per-prog -x, -o "$T/out" -e bpf_runs,cpu-clock \
		"$WORKLOADS/connects" 25 perf_test
	$bpftool struct_ops unregister name perf_test
	is_equal "$(awk -F, '/^target_init-/ && $4 == "bpf_runs" { print $2 }' "$T/out")" 25
	is_equal "$(awk -F, '/^target_undo-/ && $4 == "bpf_runs" { print $2 }' "$T/out")" 0
}
