#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Finding and installing what a machine lacks, without a machine that lacks it.

load helpers

T=$BATS_TEST_TMPDIR

# In front of the commands of the machine come those of $T/bin.
setup() {
	mkdir "$T/scripts" "$T/bin"
	cp "$BATS_TEST_DIRNAME"/../../scripts/{probe,deps} "$T/scripts"
	{
		echo '# comment'
		printf '%s\t%s\t%s\t%s\t%s\t%s\n' \
			build cmd sh debian-sh fedora-sh arch-sh \
			build cmd perf-none debian-none fedora-none arch-none \
			build lib perf-none debian-lib fedora-lib arch-lib \
			build flag -fperf-none debian-flag fedora-flag arch-flag \
			build file / debian-root fedora-root arch-root \
			test file /perf-none debian-file fedora-file arch-file \
			option cmd perf-none debian-option fedora-option arch-option \
			there cmd sh debian-sh fedora-sh arch-sh
	} >"$T/scripts/packages"
	PATH=$T/bin:$PATH
	unset DEBIAN_FRONTEND CROSS_COMPILE SYSROOT
}

# command_is NAME : a script of that name, with the text of standard input
command_is() {
	{ echo '#!/bin/sh'; cat; } >"$T/bin/$1"
	chmod 755 "$T/bin/$1"
}

@test "probe names each missing need with its packages" {
	refused 1 "$T/scripts/probe" build <<-'END'
		missing: perf-none (Debian: debian-none, Fedora: fedora-none, Arch: arch-none)
		missing: perf-none (Debian: debian-lib, Fedora: fedora-lib, Arch: arch-lib)
		missing: -fperf-none (Debian: debian-flag, Fedora: fedora-flag, Arch: arch-flag)
		install what is missing, on Debian with: make deps
	END
	refused 1 env CROSS_COMPILE=x- SYSROOT= "$T/scripts/probe" test <<-'END'
		missing: /perf-none (Debian: debian-file, Fedora: fedora-file, Arch: arch-file)
		libraries must be the target's: install those, or name a tree that has them: SYSROOT=DIR
	END
	[ "$("$T/scripts/probe" build --debian)" = "debian-none debian-lib debian-flag" ]
	refused 0 "$T/scripts/probe" there </dev/null
	[ -z "$("$T/scripts/probe" there --debian)" ]
}

@test "probe looks for libraries with the pkg-config of the target" {
	echo $'build\tlib\tlibelf\ta\tb\tc' >"$T/scripts/packages"
	refused 0 "$T/scripts/probe" build </dev/null
	command_is pkg-none <<<'exit 1'
	refused 1 env PKG_CONFIG=pkg-none "$T/scripts/probe" build <<-'END'
		missing: libelf (Debian: a, Fedora: b, Arch: c)
		install what is missing, on Debian with: make deps
	END
}

@test "deps installs the missing packages of all requested stages" {
	command_is id <<<'echo 0'
	command_is apt-get <<<"echo \"\$DEBIAN_FRONTEND \$*\" >>'$T/apt'"
	"$T/scripts/deps" there
	[ ! -e "$T/apt" ]
	"$T/scripts/deps" build test >"$T/out"
	diff -u - "$T/out" <<<"  DEPS     debian-none debian-lib debian-flag debian-file"
	diff -u - "$T/apt" <<-'END'
		 -q update
		noninteractive -qy --no-install-recommends install debian-none debian-lib debian-flag debian-file
	END
	"$T/scripts/deps" >"$T/out"
	grep -q ' debian-option debian-file$' "$T/out"
}

@test "deps shows apt's output when it fails" {
	command_is id <<<'echo 0'
	command_is apt-get <<<'echo no network; exit 100'
	fails_with 1 "no network" "$T/scripts/deps" build
}

@test "deps as an ordinary user calls sudo, or prints the command for root" {
	command_is id <<<'echo 1000'
	command_is apt-get <<<"echo \"\$*\" >>'$T/apt'"
	command_is sudo <<<"echo \"\$1\" >>'$T/sudo'; exec \"\$@\""
	"$T/scripts/deps" test >/dev/null
	diff -u - "$T/sudo" <<<$'apt-get\nenv'
	rm "$T/bin/sudo"
	# a PATH without any sudo
	ln -s "$(type -P dirname)" "$(type -P printf)" "$(type -P sh)" "$T/bin"
	refused 1 env PATH="$T/bin" "$T/scripts/deps" test <<-'END'
		deps: not root and no sudo here; as root: apt-get install debian-file
	END
}

@test "deps without apt-get names the packages of other systems, except optional ones" {
	ln -s "$(type -P dirname)" "$(type -P printf)" "$(type -P sh)" "$T/bin"
	refused 1 env PATH="$T/bin" "$T/scripts/deps" test option <<-'END'
		missing: /perf-none (Debian: debian-file, Fedora: fedora-file, Arch: arch-file)
		install what is missing, on Debian with: make deps
		deps: no apt-get here; install these, then go on
		Fedora: dnf install PACKAGES   Arch: pacman -S PACKAGES
	END
	refused 0 env PATH="$T/bin" "$T/scripts/deps" option </dev/null
}

@test "the commands that run prints to try next have only options that perf knows" {
	local line word
	sed -n '/^More to try/,/^EOF/s/^  perf //p' "$BATS_TEST_DIRNAME/../../scripts/run" |
		sed 's/ --* .*//; s/  *#.*//; s/\$events/cs/' >"$T/lines"
	[ "$(wc -l <"$T/lines")" -ge 5 ]
	while read -r line; do
		for word in $(grep -o -- '--[a-z-]*' <<<"$line"); do
			{ perf "${line%% *}" --list-opts || :; } 2>/dev/null | grep -qw -- "$word"
		done
		perf --list-cmds | grep -qw -- "${line%% *}"
	done <"$T/lines"
}
