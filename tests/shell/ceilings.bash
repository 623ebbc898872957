# SPDX-License-Identifier: GPL-2.0
# The ceilings of costs are those of Linux 6.12. On other kernels their own part is dearer: the
# verifier (twice as much on 7, of what the first run costs), the way to a program of a tracepoint or a
# probe, reading a perf event. Beyond that nothing may cost more there, either.

# By so many percent, and instructions besides; the percent of starting and ending a run.
case $(uname -r) in
6.1.*) dearer=(5 0) start_dearer=(10 0) ;;
7.*) dearer=(7 120) start_dearer=(125 0) ;;
*) dearer=(0 0) start_dearer=(0 0) ;;
esac

# is_at_most VALUE CEILING PERCENT MORE : a value is there, and not above a ceiling that is so much
# higher; "-" is none
is_at_most() {
	[ "$2" = - ] || awk -v value="$1" -v ceiling="$2" -v percent="$3" -v more="$4" 'BEGIN {
		exit value !~ /^-?[0-9.]+$/ || value + 0 > ceiling * (1 + percent / 100) + more }'
}
