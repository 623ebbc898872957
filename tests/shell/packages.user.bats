#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The tar of make dist, and the files from which distributions make packages. FULL=1 also builds the
# Debian package and the RPM (they need scripts/deps package).

load helpers

top=$BATS_TEST_DIRNAME/../..
T=$BATS_TEST_TMPDIR

requirements() {
	[ -f "$top/Makefile" ] || skip_or_fail "no source tree here"
	require_commands make
	version=$(sed -n 's/^VERSION := //p' "$top/Makefile")
}

# in_git ARGUMENT... : git in the source tree, which may be another user's
in_git() {
	git -C "$top" -c safe.directory='*' "$@"
}

# A repository of the tracked files as they are now, always with the same commit, and its tar.
setup_file() {
	# Without one of them, the tests are skipped.
	[ -e "$top/.git" ] && command -v git >/dev/null && command -v make >/dev/null && command -v xz >/dev/null || return 0
	local dir=$BATS_FILE_TMPDIR/first
	mkdir "$dir"
	in_git ls-files -z >"$BATS_FILE_TMPDIR/files"
	tar -C "$top" --null -T "$BATS_FILE_TMPDIR/files" -cf - | tar -C "$dir" -xf -
	(
		cd "$dir"
		export GIT_{AUTHOR,COMMITTER}_{NAME,EMAIL}=x GIT_{AUTHOR,COMMITTER}_DATE='2026-01-02 03:04:05 +0000'
		git init -q -b main
		git add -A
		git -c commit.gpgsign=false commit -q -m x
		make -s O=o dist
	) >"$BATS_FILE_TMPDIR/log" 2>&1 3>&- || { cat "$BATS_FILE_TMPDIR/log"; return 1; }
}

# clone DIRECTORY : another clone of this repository
clone() {
	git clone -q --shared "$BATS_FILE_TMPDIR/first" "$1"
}

# require_first : there is this repository; $tar is its tar
require_first() {
	[ -e "$top/.git" ] || skip "not a clone"
	require_commands git xz
	tar=$BATS_FILE_TMPDIR/first/o/dist/bperf-$version.tar.xz
}

# deb_of NAME VERSION : a Debian package of that version in $T/NAME_VERSION.deb, from the tree $T/NAME
deb_of() {
	mkdir -p "$T/$1/DEBIAN"
	printf '%s\n' "Package: $1" "Version: $2" 'Architecture: all' 'Maintainer: x <x@x>' "Description: $1" \
		>"$T/$1/DEBIAN/control"
	dpkg-deb --root-owner-group -Znone -b "$T/$1" "$T/$1_$2.deb" >/dev/null
}

# in_root ARGUMENT... : dpkg, on a machine below $T/root where nothing else is installed
in_root() {
	mkdir -p "$T"/root/var/lib/dpkg/{updates,info} || return
	touch "$T/root/var/lib/dpkg/status" || return
	PATH=$PATH:/usr/sbin:/sbin dpkg --root="$T/root" --log=/dev/null --force-not-root --force-depends --force-unsafe-io "$@" \
		>"$T/dpkg" 2>&1 || { cat "$T/dpkg"; return 1; }
}

# has PACKAGE FILE : the file of the machine below $T/root is there, and that package's
has() {
	[ -e "$T/root$2" ] || [ -L "$T/root$2" ]
	[[ $(dpkg --root="$T/root" -S "$2") = "$1:"* ]]
}

# both_orders DEB NEWER : a package of bperf and a newer one can be installed before and after linux-perf,
# upgraded and purged, and nobody loses a file
both_orders() {
	local usr=$T/linux-perf/usr deb=$1 newer=$2 order file
	# The files of the real package, where it is installed.
	mkdir -p "$usr"/bin "$usr"/share/{man/man1,bash-completion/completions,doc/linux-perf}
	while read -r file; do
		[ ! -f "$file" ] || install -D /dev/null "$T/linux-perf$file"
	done < <(dpkg -L linux-perf 2>/dev/null || :)
	touch "$usr"/bin/perf "$usr"/share/man/man1/perf-{stat,list,script}.1.gz "$usr"/share/bash-completion/completions/perf
	deb_of linux-perf 6.1
	for order in "$deb $T/linux-perf_6.1.deb" "$T/linux-perf_6.1.deb $deb"; do
		for file in $order "$newer" "$T/linux-perf_6.1.deb"; do
			in_root -i "$file"
		done
		has linux-perf /usr/bin/perf
		has linux-perf /usr/share/man/man1/perf-stat.1.gz
		has linux-perf /usr/share/bash-completion/completions/perf
		has bperf /usr/bin/bperf
		has bperf /usr/lib/bperf/bin/perf
		[ "$(readlink -f "$T/root/usr/lib/bperf/bin/perf")" = "$(readlink -f "$T/root")/usr/bin/bperf" ]
		in_root -r bperf
		[ ! -e "$T/root/usr/bin/bperf" ]
		in_root -P bperf
		[ -z "$(find "$T/root" -name '*bperf*')" ]
		has linux-perf /usr/bin/perf
		in_root -P linux-perf
	done
}

@test "make dist writes the same bits in every clone" {
	require_first
	(umask 077; clone "$T/second")
	git -C "$T/second" config tar.umask 0
	git -C "$T/second" config core.autocrlf true
	(umask 077; TZ=Asia/Tokyo XZ_OPT=--check=crc32 make -s -C "$T/second" O=o dist)
	cmp "$tar" "$T/second/o/dist/bperf-$version.tar.xz"
	tar -tvf "$tar" >"$T/list"
	# nobody's own modes, users and times
	[ "$(awk '{ print substr($1, 2), $2, $4, $5 }' "$T/list" | sort -u | grep -v '^rwxrwxrwx ')" = \
		"rw-r--r-- root/root 2026-01-02 03:04"$'\n'"rwxr-xr-x root/root 2026-01-02 03:04" ]
}

@test "the tar of make dist has all sources, and they are complete" {
	require_first
	tar -C "$T" -xf "$tar"
	(cd "$T/bperf-$version" && find . ! -type d) | sed 's:^\./::' | sort >"$T/there"
	in_git ls-files | grep -v '^debian/' | sort | diff - "$T/there"
	make -n -C "$T/bperf-$version" O="$T/o2" all man unit install DESTDIR="$T/d" >"$T/log" 2>&1
	[ ! -e "$T/d" ]
}

@test "make dist warns of changes that are not committed, and of no clone" {
	require_first
	clone "$T/1"
	echo new >"$T/1/README.md"
	make -s -C "$T/1" O=o dist >"$T/log" 2>&1
	grep -qx "dist: warning: changes that are not committed are not in it" "$T/log"
	[ "$(tar -xOf "$T/1/o/dist/bperf-$version.tar.xz" "bperf-$version/README.md" | head -n 1)" != new ]
	rm -rf "$T/1/.git"
	refute make -s -C "$T/1" O=o2 dist >"$T/log" 2>&1
	grep -qx "dist: this is no clone: the sources come from git" "$T/log"
	[ ! -e "$T/1/o2" ]
}

@test "packages have the version of the Makefile, and need what it needs" {
	cd "$top"
	[[ $(head -n 1 debian/changelog) = "bperf ($version-"+([a-z0-9])") unstable; urgency=medium" ]]
	grep -qxE "Version: +$version" packaging/bperf.spec
	grep -qx "pkgver=$version" packaging/PKGBUILD
	bash -n packaging/PKGBUILD
	# Compilers and pkgconf are there where packages are made.
	awk -F '\t' '$1 == "build" || $1 == "option" { print $4, $5, $6 }' scripts/packages | while read -r debian fedora arch; do
		case $debian in gcc) debian=libbpf-dev fedora=gcc arch=libbpf ;; pkg-config) debian=pkgconf arch=libbpf ;; esac
		sed -n '/^Build-Depends/,/^[A-Z]/p' debian/control | grep -qE "^ $debian( \(.*\))?," || echo "Debian: $debian"
		grep -qE "^BuildRequires: +$fedora( |$)" packaging/bperf.spec || echo "Fedora: $fedora"
		grep -E '^(make)?depends=' packaging/PKGBUILD | grep -qw -- "$arch" || echo "Arch: $arch"
	done >"$T/missing"
	[ ! -s "$T/missing" ] || { cat "$T/missing"; return 1; }
}

# add_pages DIRECTORY : put man pages there, as make install does where they are built
add_pages() {
	local page
	mkdir -p "$1/usr/share/man/man1"
	for page in "$top"/Documentation/perf*.txt; do
		page=${page##*/perf}
		touch "$1/usr/share/man/man1/bperf${page%.txt}.1"
	done
}

# files DIRECTORY : print the files and links in it, without the directory
files() {
	(cd "$1" && find . ! -type d -printf '/%P\n') | LC_ALL=C sort
}

# section NAME : print the lines of a section of the RPM spec in $T/spec
section() {
	sed -n "/^%$1\$/,/^%[a-z]*\$/{//d;p}" "$T/spec"
}

@test "the RPM spec is valid, and its list has the files that are installed, and no other" {
	require_commands rpmspec
	local root file pattern
	rpmspec -P -D "_topdir $T" "$top/packaging/bperf.spec" >"$T/spec" 2>"$T/err"
	is_silent "$T/err"
	section install | sed "s: O=build : O=$O :" >"$T/install"
	grep -qF " O=$O " "$T/install"
	(cd "$top" && bash -e "$T/install" >"$T/log" 2>&1 3>&-)
	root=$(echo "$T"/BUILDROOT/bperf-*)
	add_pages "$root"
	section files | sed -nE 's:^(%doc )?/:/:p' >"$T/listed"
	[ "$(wc -l <"$T/listed")" -ge 9 ]
	files "$root" >"$T/files"
	while read -r file; do
		while read -r pattern; do
			# shellcheck disable=SC2053 # a pattern
			[[ $file != $pattern && $file != $pattern/* ]] || continue 2
		done <"$T/listed"
		echo "not listed: $file"
	done <"$T/files" >"$T/wrong"
	section files | sed -nE 's:^(%doc |%dir )?/:/:p' | while read -r pattern; do
		compgen -G "$root$pattern" >/dev/null || echo "not installed: $pattern"
	done >>"$T/wrong"
	diff /dev/null "$T/wrong"
	[ -f "$top/$(section files | sed -n 's/^%license //p')" ]
}

@test "the PKGBUILD packs the files that are installed, and the license" {
	make -s -C "$top" O="$O" DESTDIR="$T/d" NAME=bperf prefix=/usr install
	add_pages "$T/d"
	mkdir "$T/src"
	ln -s "$(realpath "$top")" "$T/src/bperf-$version"
	(
		srcdir=$T/src pkgdir=$T/pkg
		cd "$srcdir"
		# shellcheck source=/dev/null
		. "$(realpath "$top")/packaging/PKGBUILD"
		[[ " ${_variables[*]} " = *" O=build "* ]]
		_variables=("${_variables[@]/#O=build/O=$O}")
		package >"$T/log" 2>&1 3>&-
	)
	add_pages "$T/pkg"
	diff <(files "$T/d" | sed 's:^/usr/share/doc/bperf/COPYING$:/usr/share/licenses/bperf/COPYING:' | LC_ALL=C sort) \
		<(files "$T/pkg")
}

@test "bperf as a package stands beside linux-perf, whichever is installed first" {
	require_commands dpkg dpkg-deb
	make -s -C "$top" O="$O" DESTDIR="$T/bperf" NAME=bperf prefix=/usr install >/dev/null
	install -D /dev/null "$T/bperf/usr/share/man/man1/bperf-stat.1.gz"
	deb_of bperf 0.1-0
	deb_of bperf 0.2-0
	both_orders "$T/bperf_0.1-0.deb" "$T/bperf_0.2-0.deb"
	# the test sees a conflict: perf as a package
	make -s -C "$top" O="$O" DESTDIR="$T/bperf" prefix=/usr install >/dev/null
	deb_of bperf 0.3-0
	in_root -i "$T/linux-perf_6.1.deb"
	refute in_root -i "$T/bperf_0.3-0.deb"
	grep -q "trying to overwrite '/usr/bin/perf', which is also in package linux-perf" "$T/dpkg"
}

@test "perf of the unpacked package, first in PATH, passes perf record -- true on to linux-perf" {
	require_commands dpkg dpkg-deb
	require_debian_perf
	require_perf_events
	local path
	make -s -C "$top" O="$O" DESTDIR="$T/bperf" NAME=bperf prefix=/usr install >/dev/null
	deb_of bperf 0.1-0
	in_root -i "$T/bperf_0.1-0.deb"
	has bperf /usr/lib/bperf/bin/perf
	path=$T/root/usr/lib/bperf/bin:$(dirname "$DEBIAN_PERF"):/bin
	# -B: perf 6.1 sometimes aborts when it collects build ids (assertion at its util/build-id.c:1010)
	PATH=$path perf record -B -N -e cpu-clock:u -o "$T/recorded" -- true >"$T/log" 2>&1 3>&- || { cat "$T/log"; return 1; }
	[ "$(head -c 8 "$T/recorded")" = PERFILE2 ]
	PATH=$path perf --version >"$T/log"
	diff -u - "$T/log" <<-EOF
	perf version $version
	other commands: $DEBIAN_PERF ($("$DEBIAN_PERF" --version))
	EOF
}

@test "make deb builds packages that lintian has no complaint about" {
	[ "${FULL:-}" ] || skip "takes minutes: only with FULL=1 (make test-all)"
	require_first
	require_commands dh dpkg-buildpackage lintian asciidoctor
	local deb
	clone "$T/1"
	LINTIAN=1 make -s -C "$T/1" O=o deb >"$T/log" 2>&1 3>&- || { cat "$T/log"; return 1; }
	deb=$(echo "$T"/1/o/deb/bperf_*.deb)
	[ -f "$deb" ]
	# a newer version of it
	dpkg-deb -R "$deb" "$T/newer"
	sed -i 's/^Version: .*/&+1/' "$T/newer/DEBIAN/control"
	dpkg-deb --root-owner-group -Znone -b "$T/newer" "$T/newer.deb" >/dev/null
	both_orders "$deb" "$T/newer.deb"
	dpkg-deb -x "$deb" "$T/x"
	"$T/x/usr/bin/bperf" list --raw-dump metrics | grep -qw CPU_utilization
	[ "$("$T/x/usr/lib/bperf/bin/perf" --version | head -n 1)" = "perf version $version" ]
	[ "$(cd "$T/x/usr/share/man/man1" && printf "%s\n" * | sort | xargs)" = \
		"$(cd "$top/Documentation" && printf "b%s.1.gz\n" perf*.txt | sed "s:.txt::" | sort | xargs)" ]
	readelf -d "$T/x/usr/bin/bperf" | grep -q BIND_NOW
	readelf -h "$T/x/usr/bin/bperf" | grep -q 'Type: *DYN'
	readelf -Ws "$T/x/usr/bin/bperf" | grep -q __snprintf_chk
}

@test "the RPM builds, and has program, data and manuals" {
	[ "${FULL:-}" ] || skip "takes minutes: only with FULL=1 (make test-all)"
	require_first
	require_commands rpmbuild rpm2cpio cpio asciidoctor
	local rpm
	rpmbuild -ta --nodeps -D "_topdir $T/rpm" "$tar" >"$T/log" 2>&1 3>&- || { tail -n 30 "$T/log"; return 1; }
	rpm=$(echo "$T"/rpm/RPMS/*/bperf-"$version"-*.rpm)
	rpm -qp --requires "$rpm" | grep -q '^libbpf.so.1'
	mkdir "$T/x"
	(cd "$T/x" && rpm2cpio "$rpm" | cpio -idm --quiet)
	[ "$("$T/x/usr/bin/bperf" --version | head -n 1)" = "bperf version $version" ]
	[ "$("$T/x/usr/lib/bperf/bin/perf" --version | head -n 1)" = "perf version $version" ]
	"$T/x/usr/bin/bperf" list --raw-dump metrics | grep -qw CPU_utilization
	[ "$(find "$T/x/usr/share/man/man1" -type f | wc -l)" = "$(find "$top"/Documentation/perf*.txt | wc -l)" ]
}
