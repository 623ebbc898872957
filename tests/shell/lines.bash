# SPDX-License-Identifier: GPL-2.0
# Helpers of tests of source lines and inlined functions: programs, and the driver that reads them.

load helpers

LINES_DRIVER=${WORKLOADS%/*}/drivers/lines
SOURCES=$(realpath "$BATS_TEST_DIRNAME/../data/lines")
T=$BATS_TEST_TMPDIR

# begin_lines : skip without libdw, which reads them
begin_lines() {
	perf version --build-options | grep -q 'libdw: \[ on' || skip_or_fail "there is no libdw in this build"
}

# compiled COMPILER SOURCE NAME OPTION... : make a program with debug information
compiled() {
	local compiler=$1 source=$2 name=$3
	shift 3
	require_commands "$compiler"
	# Names of files below the working directory would be relative to it.
	(cd "$T" && "$compiler" -g -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -o "$name" "$@" "$SOURCES/$source")
}

# addresses_of PROGRAM : print those of the instructions of the program's own functions, without padding behind them
addresses_of() {
	objdump -d -j .text --no-show-raw-insn "$1" |
		awk '/^[0-9a-f]+ </ { own = /<(main|sum|other|_ZN3mix3sum)/ } own && /^ +[0-9a-f]+:/ && !/\t(cs |data16 )*(nop|xchg +%ax,%ax)/ { sub(":", ""); print $1 }'
}

# plain_lines : without the parameters of functions, discriminators, and the sign for an unknown line
plain_lines() {
	sed -E 's/ \(discriminator [0-9]+\)$//; /^(0x|\/|\?\?:)/!s/\(([^()]*(\([^()]*\))?)*\)( const)?$//; s/^.*:[?0]$/unknown/'
}
