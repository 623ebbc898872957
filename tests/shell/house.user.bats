#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The order of the rooms of util/, and the form of code, scripts, texts and commits.

load helpers

T=$BATS_TEST_TMPDIR

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	build=$O
}

# tree : an empty one of two rooms in $T/tree
tree() {
	mkdir -p "$T"/tree/util/{lib,host} "$T/tree/build/util/lib"
	printf 'lib\tbelow\nhost\tabove\n' >"$T/tree/util/rooms"
}

# compile NAME : a file of the first room
compile() {
	gcc -c -o "$T/tree/build/util/lib/$1.o" "$T/tree/util/lib/$1.c"
}

# git_files [PATTERN...] : tracked ones
git_files() {
	[ -e .git ] || skip "not a clone"
	require_commands git
	git -c safe.directory='*' ls-files "$@"
}

# fails STATUS COMMAND... : it ends with that status; its output is in $T/printed
fails() {
	local status=0 want=$1
	shift
	"$@" >"$T/printed" 2>&1 || status=$?
	[ $status = "$want" ] || { cat "$T/printed"; return 1; }
}

@test "no file includes a room that comes after its own" {
	scripts/layers
}

@test "an include that breaks the order of the rooms is found" {
	tree
	echo '#include "util/lib/low.h"' >"$T/tree/util/host/high.c"
	scripts/layers "$T/tree"
	printf '%s\n' '' '#include "util/host/high.h"' >"$T/tree/util/lib/low.h"
	fails 1 scripts/layers "$T/tree"
	[ "$(<"$T/printed")" = "util/lib/low.h:2: lib comes before host and must not include util/host/high.h" ]
}

@test "a file in no room and an include without a room are found" {
	tree
	mkdir "$T/tree/util/attic"
	echo '#include "util/lib/low.h"' >"$T/tree/util/attic/old.c"
	echo '#include "low.h"' >"$T/tree/util/lib/low.c"
	fails 1 scripts/layers "$T/tree"
	diff - "$T/printed" <<-'END'
		util/attic/old.c:1: in no room of util/rooms
		util/lib/low.c:1: includes low.h, which is not util/ROOM/NAME.h
	END
}

@test "an include of the internal header of another room is found" {
	tree
	echo '#include "util/lib/low_internal.h"' >"$T/tree/util/lib/low.c"
	scripts/layers "$T/tree"
	echo '#include "util/lib/low_internal.h"' >"$T/tree/util/host/high.c"
	fails 1 scripts/layers "$T/tree"
	diff - "$T/printed" <<-'END'
		util/host/high.c:1: host must not include util/lib/low_internal.h, which is internal to lib
	END
}

@test "a function is declared in the header of the file that defines it" {
	O=$build scripts/homes
}

@test "a function declared in the header of another file is found" {
	tree
	echo 'void a(void); void b(void);' >"$T/tree/util/lib/a.h"
	echo 'void a(void) { }' >"$T/tree/util/lib/a.c"
	echo 'void b(void) { }' >"$T/tree/util/lib/b.c"
	compile a
	compile b
	TREE=$T/tree O=build fails 1 scripts/homes
	[ "$(<"$T/printed")" = "b(): declared in util/lib/a.h, defined in util/lib/b.c" ]
}

@test "no files of util depend on each other in a circle" {
	O=$build scripts/circles
}

@test "a circle of includes is found" {
	tree
	echo '#include "util/lib/b.h"' >"$T/tree/util/lib/a.c"
	echo '#include "util/lib/c.h"' >"$T/tree/util/lib/b.h"
	TREE=$T/tree O=build scripts/circles includes
	echo '#include "util/lib/a.h"' >"$T/tree/util/lib/c.c"
	TREE=$T/tree O=build fails 1 scripts/circles includes
	[ "$(head -n 1 "$T/printed")" = 'a circle of includes:' ]
	[ "$(sort "$T/printed" | xargs)" = 'util/lib/a util/lib/b util/lib/c a circle of includes:' ]
}

@test "a circle of calls is found" {
	tree
	echo 'void b(void); void a(void) { b(); }' >"$T/tree/util/lib/a.c"
	echo 'void a(void); void b(void) { }' >"$T/tree/util/lib/b.c"
	compile a
	compile b
	TREE=$T/tree O=build scripts/circles calls
	echo 'void a(void); void b(void) { a(); }' >"$T/tree/util/lib/b.c"
	compile b
	TREE=$T/tree O=build fails 1 scripts/circles calls
	[ "$(sort "$T/printed" | xargs)" = 'util/lib/a util/lib/b a circle of calls:' ]
}

@test "the table of rooms in design.md is current, and a change is found" {
	scripts/rooms -c
	mkdir -p "$T/tree/Documentation"
	cp Documentation/design.md "$T/tree/Documentation"
	cp -r util "$T/tree"
	printf '/* SPDX */\n/* Something new. */\n' >"$T/tree/util/lib/something.h"
	TREE=$T/tree fails 1 scripts/rooms -c
	grep -qxF '+| `something` | Something new |' "$T/printed"
}

@test "design.md names only files and functions that exist" {
	local file name missing=0
	while read -r file; do
		# Capitals stand for any name.
		[[ $file =~ [A-Z]{4} ]] || compgen -G "$file" >/dev/null || { echo "$file"; missing=1; }
	done < <(grep -ohE '`(util|tests|scripts|bpf_skel|metrics)/[A-Za-z0-9_./+*-]*`' Documentation/design.md | tr -d '`')
	grep -rohwE '[a-z_][a-z0-9_]*' util bpf_skel tests scripts builtin-*.c perf.c | sort -u >"$T/words"
	while read -r name; do
		echo "$name()"
		missing=1
	done < <(grep -oE '`[a-z_][a-z0-9_]*\(\)`' Documentation/design.md | tr -d '`()' | sort -u | comm -23 - "$T/words")
	[ $missing = 0 ]
}

@test "clang-format changes no file" {
	require_commands clang-format
	git_files '*.c' '*.h' >"$T/files"
	xargs <"$T/files" clang-format --dry-run --Werror
}

@test "codespell finds no mistake" {
	require_commands codespell
	git_files >"$T/files"
	xargs <"$T/files" codespell --ignore-words-list=bu,anser,fro
}

@test "shellcheck has no warning" {
	require_commands shellcheck
	git_files 'scripts/*' 'tests/*' 'debian/*' packaging/PKGBUILD .ci/run >"$T/files"
	grep -v '^tests/shell/' "$T/files" | xargs grep -lE '^#!/bin/(ba)?sh|shellcheck shell=' >"$T/scripts"
	xargs shellcheck -S warning <"$T/scripts"
	# In bats, every command that fails ends the test, and files have variables of those that they load.
	# Commas and "done" are words here, and cut and more are files.
	git_files 'tests/shell/*.bats' 'tests/shell/*.bash' >"$T/files"
	xargs shellcheck -s bats -S warning <"$T/files" \
		-e SC1010,SC1011,SC2034,SC2054,SC2120,SC2128,SC2154,SC2164,SC2178,SC2179,SC2238,SC2258
}

# bare_tolerances FILE... : print the checks of a range, or of a difference, that have no comment beside them or above
bare_tolerances() {
	awk '
	FNR == 1 { before = "" }
	/^[^#]*(in_range|within) / && !/\(\)|@test|print/ && !/[ \t]# / && before !~ /^[ \t]*#|in_range|within/ { print FILENAME ":" FNR ": " $0 }
	{ before = $0 }' "$@"
}

@test "each tolerance of a test has its reason beside it, and one without is found" {
	git_files 'tests/shell/*.bats' 'tests/shell/*.bash' >"$T/files"
	mapfile -t files <"$T/files"
	bare_tolerances "${files[@]}" | diff /dev/null -
	printf '%s\n' '	true' '	in_range "$n" 1 2' '	true' '	within 1 2 3	# as ordered' '	# two' '	in_range 1 2 3' >"$T/a.bats"
	[ "$(bare_tolerances "$T/a.bats")" = "$T/a.bats:2: 	in_range \"\$n\" 1 2" ]
}

# wrong_subjects <SUBJECTS : print those that are not of the form area: imperative, up to 72 characters
wrong_subjects() {
	awk 'length > 72 || !/^[a-z0-9_.\/-]+(, [a-z0-9_.\/-]+)*: [^A-Z ]/ ||
		(/: [a-z]+(ed|ing) / && !/: (bring|embed|feed) /)'
}

@test "wrong subjects of commits are found" {
	local long
	printf -v long 'area: %073d' 0
	printf '%s\n' 'Area: do it' 'area: Do it' 'area do it' 'area:do it' 'area: did it, doing' 'area: doing it' 'area: added it' 'area: bring it' "$long" >"$T/subjects"
	wrong_subjects <"$T/subjects" | diff <(sed '/did it/d; /bring/d' "$T/subjects") -
}

@test "subjects of commits are of the form area: imperative, up to 72 characters" {
	local base=5b452afa41c1
	[ -e .git ] || skip "not a clone"
	require_commands git
	# A clone with less history, or another one, has at least its last commit.
	git -c safe.directory='*' merge-base --is-ancestor "$base" HEAD 2>/dev/null || base=HEAD~1
	git -c safe.directory='*' log --format=%s "$base..HEAD" >"$T/subjects" 2>/dev/null ||
		git -c safe.directory='*' log -n 1 --format=%s >"$T/subjects"
	wrong_subjects <"$T/subjects" | diff /dev/null -
}
