# SPDX-License-Identifier: GPL-2.0
# Files of perf profile -o, for tests of cpu-clock, which needs no PMU.

load profile
load shared

# theirs OPTION... : run Debian's perf, which has nothing to complain about
theirs() {
	"$DEBIAN_PERF" "$@" 2>"$T/complaints" || { cat "$T/complaints" >&2; return 1; }
	diff /dev/null "$T/complaints" >&2
}
