#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# scripts/prose counts sentences of documents and comments.

load helpers

T=$BATS_TEST_TMPDIR

# row_of FILE : the row of a file that has the text of standard input, without its name
row_of() {
	cat >"$T/$1"
	"$BATS_TEST_DIRNAME/../../scripts/prose" "$T/$1" | awk 'NR == 2 { $1 = ""; print substr($0, 2) }'
}

@test "prose counts sentences of paragraphs, lists and wide cells" {
	diff -u - <(row_of a.md <<-'END'
		# A heading is no sentence

		perf reads `a; b. c` now; it prints them, e.g. as
		text. What it prints is exact.
		- An item of three, and
		  *Of* its words none is lost.

		| a cell | short |
		|---|---|
		| this cell is a whole sentence | this is not |

		    indented code; is skipped.
	END
	) <<<"4 7.8 0 25.0 1"
}

@test "prose skips headings, blocks and labels of asciidoc" {
	diff -u - <(row_of a.txt <<-'END'
		A HEADING LINE
		--------------
		[verse]
		'perf stat' a synopsis is skipped

		-x::
		--long=<the label of it>::
			Print this; it is text.
		+
		----
		some code; is skipped
		----
		0;; is done at last
	END
	) <<<"2 4.5 0 50.0 0"
}

@test "prose finds long sentences, and comments that begin with a noun clause" {
	diff -u - <(row_of a.c <<-'END'
		// SPDX-License-Identifier: GPL-2.0
		/* What the file is. */
		char *s = "/* no comment */";	/* in one line */
		/**
		 * name() - Whether it is so
		 * @x: one of the arguments
		 *
		 * Return: Whether it is; a a a a a a a a a a a a a a a a a a a a a a a.
		 */
	END
	) <<<"5 8.4 1 20.0 2 3 2"
}

@test "functions of one comment, and errors after Return, are sentences each" {
	diff -u - <(row_of a.h <<-'END'
		/**
		 * a() - begin to do it
		 * b() - end what has begun
		 *
		 * Return: 0; -ENOENT: there is none; -EINVAL: it is wrong.
		 */
	END
	) <<<"4 4.0 0 0.0 0 1 0"
}

@test "prose reads the comments of shell scripts and of test files, without names of functions and tables" {
	local name
	for name in a.bats a.bash a; do
		diff -u - <(sed 's/^|//' <<-'END' | row_of $name
			|#!/bin/bash
			|# SPDX-License-Identifier: GPL-2.0
			|# What the file is; it has a table:
			|#   Of these	no word is counted
			|text="# no comment at all"

			|# count FILE... : count all of the lines
			|# print_all : Whether it prints
			|count() {
			|	# shellcheck disable=SC2016
			|	# An indented comment, too.
			|	:
			|}
		END
		) <<<"4 5.0 0 25.0 2 3 1"
	done
}

@test "prose takes no other files" {
	refused 2 "$BATS_TEST_DIRNAME/../../scripts/prose" a.sh \
		<<<"prose: a.sh: not .md, .txt, .c, .h, .bats, .bash or a script"
}

@test "no sentence of a document, or of a comment, is too long or begins with What, Who or Of" {
	local scripts
	cd "$BATS_TEST_DIRNAME/../.."
	mapfile -t scripts < <(find scripts tests/tap tests/vm -type f ! -path '*.d/*')
	scripts/prose -v README.md NEWS.md Documentation/*.md Documentation/*.txt ./*.c ./*.h util/*/*.[ch] bpf_skel/*.[ch] \
		tests/shell/*.bats tests/shell/*.bash "${scripts[@]}" >"$T/out"
	sed -n '/: [0-9]* words: /p' "$T/out" | diff /dev/null -
	# The comments of workloads describe options in longer ones.
	scripts/prose -v tests/*/*.[ch] |
		sed -En '/: [0-9]+ words: (What|Who|Whoever|Of|Those|Whether)( |$)/p' | diff /dev/null -
}
