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

# frames OBJECT : print "BYTES FUNCTION" for the stack of each function of a BPF object. The kernel rounds up to 32 bytes.
frames() {
	llvm-objdump -d --no-show-raw-insn "$1" | python3 -c '
import re, sys
most = {}
copies = set()
function = None
for line in sys.stdin:
    label = re.match(r"[0-9a-f]+ <(\w+)>:", line)
    if label:
        copies = set()
        if not label[1].startswith("LBB"):
            function = label[1]
            most[function] = 0
    offsets = [int(of, 0) for of in re.findall(r"r10 - (\w+)", line)]
    copy = re.search(r"(r\d) = r10", line)
    if copy:
        copies.add(copy[1])
    moved = re.search(r"(r\d) \+= -(\w+)", line)
    if moved and moved[1] in copies:
        copies.remove(moved[1])
        offsets.append(int(moved[2], 0))
    if function and offsets:
        most[function] = max(most[function], *offsets)
for function in most:
    print((most[function] + 31) // 32 * 32, function)'
}

@test "a program that takes samples has the stack that all kernels give it" {
	require_commands llvm-objdump python3
	frames "$PRODUCT/bpf_skel/sample.bpf.o" >"$BATS_TEST_TMPDIR/frames"
	cat "$BATS_TEST_TMPDIR/frames" >&2
	# the deepest chain of calls; 6.1 gives it 512 bytes
	awk '$2 ~ /^on_(soft_)?(sample|gaps)/ && $2 != "on_sample_sync" && $1 > main { main = $1 }
		$2 == "give" || $2 == "add_to_any" { rest += $1; nr++ }
		END { print main, rest; exit !(nr == 2 && main >= 160 && rest >= 192 && main + rest <= 512) }' "$BATS_TEST_TMPDIR/frames" >&2
}
