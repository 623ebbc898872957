# SPDX-License-Identifier: GPL-2.0
# Helpers for tests of recorded counts.

# table FILE : print the output in FILE without the header that names the target
table() {
	grep -v -e '^ Performance counter stats for ' "$1"
}

# same_again OPTION... : perf stat record with these options and perf stat report print the same, as text,
# CSV and JSON
same_again() {
	local format
	for format in "" "-x," -j; do
		perf stat record -o again.data $format --log-fd 4 "$@" >/dev/null 2>again.err 4>run.txt
		perf stat report -i again.data $format 2>report.txt
		diff -u <(table run.txt) <(table report.txt) || { echo "with $format $*" >&2; return 1; }
		[ -s report.txt ]
	done
}

# counts FILE : print the values with their keys, in a form that is equal for Debian's perf and ours
counts() {
	sed -e 's/#.*//' -e '/^ Performance/d' -e '/ seconds \(user\|sys\)$/d' -e '/^unknown stat config/d' "$1" |
		awk 'NF { $1 = $1; print }'
}

# both_report FILE OPTION... : Debian's perf and ours print the same counts, at least one
both_report() {
	local file=$1
	shift
	perf stat report -i "$file" "$@" 2>ours.txt
	"$DEBIAN_PERF" stat report -i "$file" "$@" 2>theirs.txt
	diff -u <(counts theirs.txt) <(counts ours.txt) || { echo "with $file $*" >&2; return 1; }
	[ "$(counts ours.txt | wc -l)" -ge 2 ]
}

# both_script FILE N : Debian's perf script and ours print a heading and the same N counts
both_script() {
	"$DEBIAN_PERF" script -i "$1" >script.txt 2>/dev/null
	[ "$(head -n 1 script.txt)" = "CPU   THREAD             VAL             ENA             RUN            TIME EVENT" ]
	[ "$(wc -l <script.txt)" = $(($2 + 1)) ]
	perf script -i "$1" | diff -u script.txt -
}

# u64 FILE OFFSET : print the number of 8 bytes at this offset
u64() {
	od -An -tu8 -j "$2" -N 8 "$1" | tr -d ' '
}
