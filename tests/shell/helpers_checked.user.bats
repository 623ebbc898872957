#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Helpers of BPF programs fail when memory is short. The emulated machines have no sources.

load helpers

# unchecked FILE... : calls of helpers whose result is dropped; "(void)" drops it for a reason, which is
# a comment within the three lines above. Some helpers cannot fail as they are used here.
unchecked() {
	awk '
		FNR == 1 { comment = -9 }
		/\/\*|\*\// { comment = FNR }
		/^[ \t]*(bpf_loop|bpf_local_irq_save|bpf_local_irq_restore)\(/ { next }
		/^[ \t]*bpf_[a-z_]+\(/ && before ~ /([;{}:]|\*\/|else|\))[ \t]*$/ { print FILENAME ":" FNR ": " $0 }
		/^[ \t]*\(void\)bpf_/ && FNR - comment > 3 { print FILENAME ":" FNR ": no reason: " $0 }
		{ before = $0 }' "$@"
}

@test "BPF programs use the result of each helper, or a comment gives the reason" {
	cd "$BATS_TEST_DIRNAME/../.."
	# The check itself finds what it is for.
	cat >"$BATS_TEST_TMPDIR/bad.h" <<-EOF
	{
		bpf_map_update_elem(&map, &key, &value, BPF_ANY);
		(void)bpf_map_delete_elem(&map, &key);
		if (a)
			bpf_probe_read_kernel(&a, 1, b);
		value = f(1,
			bpf_get_smp_processor_id());
	}
	EOF
	[ "$(unchecked "$BATS_TEST_TMPDIR/bad.h" | cut -d : -f 2 | tr '\n' ' ')" = "2 3 5 " ]
	unchecked bpf_skel/*.h bpf_skel/*.c >&2
	[ -z "$(unchecked bpf_skel/*.h bpf_skel/*.c)" ]
}
