#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# soak.bash OPTION... : run the soak (tests/workloads/soak.c) with everything that this machine can do. It has a
# witness if BPF programs miss switches, -b if there is fentry, and an offline CPU if possible. Sampling takes
# long on emulated machines: there it is a matter of SOAK_OPTIONS=-m.
# scripts/soak and test files run it.
set -euo pipefail
# shellcheck source=tests/shell/helpers.bash
. "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
# shellcheck source=tests/shell/cgroups.bash
. "$(dirname "${BASH_SOURCE[0]}")/cgroups.bash"

options=()
case ${PLACE:-host} in
host) options+=(-w -m) ;;
arm1) options+=(-p -a 2) ;;
arm2) options+=(-p -h) ;;
amd) options+=(-p) ;;
esac

mount=$(cgroup_mount)
name=perf_test_$$_soak
dir=$(mktemp -d)

# little_memory : make a cgroup, of either version, for sessions with little memory
little_memory() {
	if [ -d /sys/fs/cgroup/memory ]; then
		export SOAK_MEMORY=/sys/fs/cgroup/memory/$name
		mkdir -p "$SOAK_MEMORY/little"
		echo 6M >"$SOAK_MEMORY/little/memory.limit_in_bytes"
	elif grep -qw memory "$mount/cgroup.controllers"; then
		export SOAK_MEMORY=$mount/${name}_memory
		mkdir -p "$SOAK_MEMORY"
		echo +memory >"$mount/cgroup.subtree_control"
		echo +memory >"$SOAK_MEMORY/cgroup.subtree_control"
		mkdir "$SOAK_MEMORY/little"
		echo 6M >"$SOAK_MEMORY/little/memory.max"
	else
		export SOAK_MEMORY=/nonexistent
	fi
}

finish() {
	[ "$SOAK_MEMORY" = /nonexistent ] || rmdir "$SOAK_MEMORY/little" "$SOAK_MEMORY"
	[ ! -d "$mount/$name" ] || find "$mount/$name" -depth -type d -exec rmdir {} +
	rm -rf "$dir"
	let_tasks_be
}

own_the_tasks
little_memory
trap finish EXIT
"$WORKLOADS/soak" "${options[@]}" "$@" "$dir" "/sys/fs/bpf/$name" "$mount/$name"
