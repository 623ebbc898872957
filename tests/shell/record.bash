# SPDX-License-Identifier: GPL-2.0
# For the tests of recorded counts.

# table FILE : what was printed, without the header that names the target and warnings before it
table() {
	grep -v -e '^ Performance counter stats for ' -e '^Warning:$' -e '^counting `sleep`' "$1"
}

# same_again OPTION... : perf stat record with these prints what perf stat report then prints, as
# text, CSV and JSON
same_again() {
	local format
	for format in "" "-x," -j; do
		perf stat record -o again.data $format --log-fd 4 "$@" >/dev/null 2>again.err 4>run.txt
		perf stat report -i again.data $format 2>report.txt
		diff -u <(table run.txt) <(table report.txt) || { echo "with $format $*" >&2; return 1; }
		[ -s report.txt ]
	done
}

# counts FILE : the values, with what identifies them, as two perfs print them alike
counts() {
	sed -e 's/#.*//' -e '/^ Performance/d' -e '/ seconds \(user\|sys\)$/d' -e '/^unknown stat config/d' "$1" |
		awk 'NF { $1 = $1; print }'
}

# both_report FILE OPTION... : Debian's perf and ours print the same counts, some at least
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

# u64 FILE OFFSET
u64() {
	od -An -tu8 -j "$2" -N 8 "$1" | tr -d ' '
}
