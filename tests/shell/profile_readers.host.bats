#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Profiles in formats of other tools, read by these tools: pprof of Go, and the first program that drew flame graphs.

load lines

requirements() {
	require_root
	require_commands jq g++
	begin_lines
}

# profile OPTION... : sample through this test's map
profile() {
	perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 5000 "$@"
}

# names : make $T/names, whose functions have names that tools like to shorten
names() {
	cat >"$T/names.cc" <<-'END'
		#define APART __attribute__((noipa))
		template <class T> struct Box {
			T all = 1;
			APART T take(T nr) { for (T i = 0; i < nr; i++) all = all / 3 + i; return all; }
		};
		namespace {
		struct Caller {
			APART long operator()(long nr) const { long all = 0; for (long i = 0; i < nr; i++) all = all / 3 + i; return all; }
		};
		}
		namespace outer {
		volatile long sink;
		inline long within(long nr) { long all = 0; for (long i = 0; i < nr; i++) all = all / 3 + i; return all; }
		APART void call(long nr) { sink = within(nr); }
		}
		int main()
		{
			outer::sink = Box<int>().take(20000000) + Box<long>().take(20000000) + Caller()(20000000);
			outer::call(20000000);
			return 0;
		}
	END
	(cd "$T" && g++ -g -O2 -fno-omit-frame-pointer -o names names.cc)
}

@test "go's pprof shows the functions and their time as perf does, and the name of the program" {
	command -v go >/dev/null || [ "${FULL:-}" ] || skip "needs go, which only make test-all installs"
	require_commands go
	names
	profile --inline -s sym -j --pprof "$T/pb.gz" -- "$T/names" >"$T/json"
	jq -r 'select(.sym) | "\(.weight) \(.sym)"' "$T/json" | sort >"$T/ours"
	for name in 'Box<int>::take' 'Box<long>::take' '(anonymous namespace)::Caller::operator()' 'outer::within (inlined)'; do
		grep -qE "^[0-9]{8,} ${name//[()]/.}$" "$T/ours"
	done
	HOME=$T go tool pprof -top -unit=ns -nodecount=100000 -nodefraction=0 "$T/pb.gz" >"$T/top"
	grep -qx "File: names" "$T/top"
	sed -nE 's/^ *([1-9][0-9]*)ns +[0-9.]+% +[0-9.]+% +[0-9]+ns +[0-9.]+%  (.*)/\1 \2/p' "$T/top" | sort | diff -u "$T/ours" - >&2
}

@test "flamegraph.pl draws the stacks of --folded, each frame as wide as it is" {
	local draws=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
	[ -x "$draws" ] || [ "${FULL:-}" ] || skip "needs flamegraph.pl, which only make test-all installs"
	names
	profile --inline --folded -- "$T/names" >"$T/folded"
	"$draws" --minwidth 0 "$T/folded" >"$T/svg"
	# It writes parentheses for the brackets of templates. Ours: the sums of each stack's frames.
	sed -E 's/ ([0-9]+)$/;\1/' "$T/folded" | tr '<>' '()' | awk -F ';' '
		{ path = ""; all += $NF; for (i = 1; i < NF; i++) { path = path ";" $i; sum[path] += $NF; name[path] = $i } }
		END { print "all", all; for (path in sum) print name[path], sum[path] }' | sort >"$T/ours"
	sed -nE 's,.*<title>(.*) \(([0-9,]+) samples\, [0-9.]+%\)</title>.*,\1 \2,p' "$T/svg" |
		sed -E ':next; s/([0-9]),([0-9]+)$/\1\2/; t next; s/&quot;/"/g; s/&amp;/\&/g' |
		sort | diff -u "$T/ours" - >&2
	grep -q '^Box(long)::take [0-9]' "$T/ours"
}
