#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile --diff compares folded stacks, as a table and as a flame graph. Flame graphs are well-formed,
# whatever the names are, and work in a browser.

load browser
load helpers

T=$BATS_TEST_TMPDIR

setup() {
	cd "$T"
	printf '%s\n' 'web;main;parse 400' 'web;main;render;draw 300' 'web;main;render;blit 100' \
		'db;main;query 200' >before
	printf '%s\n' 'web;main;parse 200' 'web;main;render;draw 900' 'web;main;cache 50' \
		'db;main;query 850' >after
}

@test "a difference is a table with the largest change first" {
	perf profile --diff before after >out
	diff -u - out <<-'END'
		# before: 1,000 of before
		# after: 2,000 of after
		#
		#   Before     After   Change  Symbol
		     40.00%    10.00%   -30.00  parse
		     20.00%    42.50%   +22.50  query
		     30.00%    45.00%   +15.00  draw
		     10.00%     0.00%   -10.00  blit
		      0.00%     2.50%    +2.50  cache
	END
	perf profile -x ';' --percent-limit 30 --diff before after >out
	diff -u - out <<-'END'
		40.0000;10.0000;-30.0000;400;200;parse
		20.0000;42.5000;22.5000;200;850;query
		30.0000;45.0000;15.0000;300;900;draw
	END
	perf profile -j --diff before after >out
	[ "$(jq -s -c '[([.[].before] | add), ([.[].weight_after] | add), .[4].sym]' out)" = '[100,2000,"cache"]' ]
}

@test "a difference is drawn with the widths after, and notes what is gone" {
	local file
	for file in d.svg d.html; do
		perf profile --flamegraph $file --diff before after >out
		[ ! -s out ]
		xmllint --noout $file
		grep -qF '<title>draw: 45.00 %, before 30.00 % (+15.00)</title>' $file
		grep -qF 'not drawn: stacks that are gone, with 10.0 % of the samples before' $file
		# Each colour of the legend is a square before its text.
		[ "$(sed -nE 's:^<rect x="[0-9]+" y="[0-9]+" width="12" height="12" fill="#[0-9a-f]{6}"/><text [^>]*>(.*)</text>$:\1:p' $file)" = \
			"$(printf '%s\n' 'less than before' 'as before' 'more than before')" ]
		refute grep -q '>blit<' $file
		# From 0 to 57.5 percent web, of which render takes 45 percent, then db.
		grep -qF 'x="0.00000%" width="57.50000%"><title>web:' $file
		grep -qF 'x="57.50000%" width="42.50000%"><title>db:' $file
		grep -qF 'x="0.00000%" width="45.00000%"><title>render:' $file
	done
	[ "$(stat -c %a d.svg)" = "$(printf %o $((0666 & ~$(umask))))" ]
}

# rows FILE NAME : print where a frame is
row() {
	sed -nE "s/.* y=\"([0-9]+)\" .*<title>$2:.*/\1/p" "$1"
}

@test "a flame grows up, and an icicle down" {
	perf profile --flamegraph up.svg --diff before after
	perf profile --flamegraph down.svg --icicle --diff before after
	[ "$(row up.svg all)" -gt "$(row up.svg web)" ]
	[ "$(row down.svg all)" = 0 ]
	[ "$(row down.svg web)" -lt "$(row down.svg draw)" ]
}

@test "hostile names are texts, in XML and in HTML" {
	local file
	{
		printf '<script>alert(1)</script>;a&b"'\''<>;]]>;--> 10\n'
		printf 'c\001\033[31m;bad\377utf8;\357\277\276\357\277\277;\342\200\256rtl;\302\205c1 10\n'
		printf '\360\237\224\245;%s 10\n' "$(printf 'x%.0s' {1..5000})"
	} >hostile
	for file in h.svg h.html; do
		perf profile --flamegraph $file --diff hostile hostile
		xmllint --noout $file
		is_plain $file
		[ "$(grep -c '<script>' $file)" = 1 ] # ours
		grep -qF '<text x="3" y="12.5">&lt;script&gt;alert(1)&lt;/script&gt;</text>' $file
		grep -qF '<text x="3" y="12.5">a&amp;b&quot;&#39;&lt;&gt;</text>' $file
		grep -qF '<text x="3" y="12.5">U+FFFEU+FFFF</text>' $file
	done
}

@test "files other than folded stacks are refused with the line" {
	printf 'a;b 1\na;b\n' >short
	refused 22 perf profile --diff before short <<<"perf profile: short: line 2: not a folded stack (names separated by ';', a space, a number)"
	# the end of a line of DOS, and one in its middle
	printf 'a;b 1\r\na;b 2\rc\n' >return
	refused 22 perf profile --diff before return <<<"perf profile: return: line 2: not a folded stack (names separated by ';', a space, a number)"
	printf 'a;b 18446744073709551616\n' >large
	refused 22 perf profile --diff large after <<<"perf profile: large: line 1: not a folded stack (names separated by ';', a space, a number)"
	printf 'a 18446744073709551615\nb 1\n' >sum
	refused 22 perf profile --diff sum after <<<'perf profile: sum: line 2: the sum of the numbers is too large'
	printf 'a\0b 1\n' >binary
	refused 22 perf profile --diff before binary <<<'perf profile: binary: line 1: not a text (NUL byte)'
	printf 'a%s 1\n' "$(printf ';b%.0s' {1..1024})" >deep
	refused 22 perf profile --diff deep after <<<'perf profile: deep: line 1: more than 1024 frames'
	refused 22 perf profile --diff /dev/null after <<<'perf profile: /dev/null: no folded stacks'
	refused 1 perf profile --diff before none <<<'perf profile: none: No such file or directory'
	fails_with 1 'perf profile: printing failed: No space left on device' bash -c 'perf profile --diff before after >/dev/full'
	refused 1 perf profile --diff . after <<<'perf profile: .: Is a directory'
}

@test "a comparison refuses what it cannot do" {
	refused 22 perf profile --diff before <<<'perf profile: --diff needs two files: --diff BEFORE AFTER'
	refused 22 perf profile --diff before after x <<<'perf profile: --diff needs two files: --diff BEFORE AFTER'
	local option
	for option in -a '-e cs' '-p 1' '-F 99' '-I 100' '--timeout 100' --each '--prog x' '--range x' --dump-maps -i --idle \
		--no-bpf '--interval-count 3'; do
		# shellcheck disable=SC2086 # words
		refused 22 perf profile $option --diff before after <<<'perf profile: --diff reads two files, and samples nothing: without a target, event or time'
	done
	for option in -g --no-children '-s sym' --ip -d --stacks --folded; do
		# shellcheck disable=SC2086 # words
		refused 22 perf profile $option --diff before after <<<'perf profile: --diff prints functions: without -g, --no-children, -s, --ip, -d, --stacks and --folded'
	done
	for option in -K -U --inline --lines --debuginfod=file:///x '--max-stack 3' --kernel-callchains --user-callchains; do
		# shellcheck disable=SC2086 # words
		refused 22 perf profile $option --diff before after <<<'perf profile: --diff reads no names and stacks but those of the files: without -K, -U, --inline, --lines, --debuginfod, --max-stack, --kernel-callchains and --user-callchains'
	done
	refused 22 perf profile --pprof x --diff before after <<<'perf profile: --diff and --pprof are mutually exclusive'
	refused 22 perf profile -j -x, --diff before after <<<'perf profile: -x and -j are mutually exclusive'
	refused 22 perf profile --icicle --diff before after <<<'perf profile: --icicle requires --flamegraph'
	refused 22 perf profile --flamegraph x.png --diff before after <<<'perf profile: --flamegraph x.png: the name must end in .svg or .html'
}

@test "a graph that cannot be written leaves nothing" {
	mkdir dir.svg
	refused 1 perf profile --flamegraph dir.svg --diff before after <<<'perf profile: cannot write dir.svg: Is a directory'
	refused 1 perf profile --flamegraph no/x.svg --diff before after <<<'perf profile: cannot write no/x.svg: No such file or directory'
	ln -s /dev/full full.svg
	refused 1 perf profile --flamegraph full.svg --diff before after <<<'perf profile: cannot write full.svg: No space left on device'
	[ "$(ls -A)" = "$(printf '%s\n' after before dir.svg full.svg refused.err refused.out)" ]
}

@test "a browser zooms, searches and resets" {
	require_browser
	local graph
	for graph in d.html d.svg; do
		perf profile --flamegraph $graph --diff before after
		# A click on a frame makes it as wide as the graph, and hides all that is beside it.
		[ "$(act $graph '
			click(frame("db").querySelector("rect"));
			say(shape("db")); say(shape("query")); say(shape("web")); say(shape("all"));')" = \
			"0% 100% ;0% 100% ;0% 0% none;0% 100% ;" ]
		# The button and the key put it back.
		[ "$(act $graph '
			click(frame("db").querySelector("rect"));
			click(document.getElementById("reset"));
			say(shape("db"));
			click(frame("web").querySelector("rect"));
			document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
			say(shape("web"));')" = "57.5% 42.5% ;0% 57.5% ;" ]
		# Both functions called main are 100 percent, and draw, inside of render, counts once.
		[ "$(act $graph '
			search("^main$"); search("render|draw"); search("QUERY"); search("query"); search("(");
			say(document.querySelectorAll(".match").length); search("");')" = \
			"2 matches, 100.00 %;2 matches, 45.00 %;0 matches, 0.00 %;1 match, 42.50 %;0 matches, 0.00 %;0;;" ]
	done
}
