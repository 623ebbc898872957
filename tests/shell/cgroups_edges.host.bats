#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Edges of counting by cgroup on this machine: the end of one, thousands of them, a namespace.

load helpers
load shared
load cgroups

T=$BATS_TEST_TMPDIR

teardown() {
	remove_top
	end_jobs
	remove_map
}

# has_rows CGROUP NR : so many intervals have been printed, by the run "keeps"
has_rows() {
	[ "$(awk -F, -v cgroup="$1" '$5 == cgroup' "$T/keeps.csv" | wc -l)" -ge "$2" ]
}

@test "a cgroup that goes between two intervals keeps what it did in the last" {
	make_top
	local nr
	mkdir "$top/w"
	start_run keeps -a -e page-faults -I 500 --for-each-cgroup "glob:$name/w,$name"
	wait_for has_rows "$name/w" 1
	bash -c "echo \$\$ >$top/w/cgroup.procs && exec $WORKLOADS/faults 3000"
	rmdir "$top/w"
	nr=$(awk -F, -v cgroup="$name" '$5 == cgroup' "$T/keeps.csv" | wc -l)
	wait_for has_rows "$name" $((nr + 1))
	end_run "$run_pid" INT 130
	[ "$(value page-faults "$name/w" "$T/keeps.csv")" = "$(value page-faults "$name" "$T/keeps.csv")" ]
	# (3,000; a busy machine may hide switches)
	[ "$(value page-faults "$name/w" "$T/keeps.csv" | cut -d. -f1)" -ge 300 ]
	wait_for no_leader
}

@test "ten thousand cgroups are counted in less than 100 MB" {
	make_top
	seq -f "$top/w%.0f" 10000 | xargs mkdir
	start_run many -a -e page-faults --for-each-cgroup "glob:$name/w*"
	local kb
	# What the process has, and its maps.
	kb=$(awk '/^VmHWM:/ { sum += $2 } /^memlock:/ { sum += $2 / 1024 } END { printf "%.0f", sum }' \
		"/proc/$run_pid/status" "/proc/$run_pid/fdinfo"/*)
	in_range "$kb" 5000 100000
	bash -c "echo \$\$ >$top/w7777/cgroup.procs && exec $WORKLOADS/faults 3000"
	end_run "$run_pid" INT 130
	[ "$(awk -F, 'NF > 6' "$T/many.csv" | wc -l)" = 10000 ]
	in_range "$(value page-faults "$name/w7777" "$T/many.csv")" 3000 4000
	wait_for no_leader
}

@test "in a cgroup namespace its cgroups are named from its top" {
	unshare -C true 2>/dev/null || skip_or_fail "no cgroup namespaces here"
	make_top
	mkdir -p "$top"/a/b
	[ -e "$mount/cgroup.procs" ] && ! [ -e "$mount/tasks" ] || skip_or_fail "perf_event is in v1 here"
	# shellcheck disable=SC2016 # the inner shell's
	bash -c 'echo $$ >"$1/a/cgroup.procs" && exec unshare -C -m bash -ec '\''
		while umount "$2" 2>/dev/null; do :; done
		mount -t cgroup2 cgroup2 "$2"
		perf stat --bpf-counters --bpf-attr-map "$3" -a -x, -o "$4" -e page-faults \
			--for-each-cgroup b,@self,/,.. -- "$5" 3000'\'' bash "$@"' \
		bash "$top" "$mount" "$ATTR_MAP" "$T/out" "$WORKLOADS/faults" 2>"$T/err"
	[ "$(names "$T/out")" = "b /" ]
	[ "$(cat "$T/err")" = "perf stat: no access to cgroup $mount/..: No such file or directory: skipped" ]
	# (3,000; a busy machine may hide switches)
	[ "$(value page-faults / "$T/out" | cut -d. -f1)" -ge 300 ]
	wait_for no_leader
}

@test "plain events: how many descriptors would be needed is said" {
	make_top
	mkdir "$top"/w{1..20}
	ulimit -n 40
	refused 1 setpriv --bounding-set=-sys_resource perf stat -a -e cs,page-faults \
		--for-each-cgroup "glob:$name/w*" true <<-EOF
	perf stat: counting by cgroup needs $((20 * 2 * $(nproc))) descriptors (cgroups: 20, events of each on each CPU), but the limit is 40 (raise it with ulimit -n, or count with --bpf-counters)
	EOF
}

@test "a further metric stands where it does without cgroups" {
	cat >"$T/two.json" <<-EOF
	[ { "MetricName": "one", "MetricExpr": "cs", "ScaleUnit": "1x" },
	  { "MetricName": "two", "MetricExpr": "cs * 2", "ScaleUnit": "1x" } ]
	EOF
	perf stat --metrics-file "$T/two.json" -M one,two -o "$T/out" -a --for-each-cgroup / true
	grep -Eq '^ {57}# +[0-9.]+ x  two' "$T/out"
}

@test "the busiest first, in every format; those that counted nothing left out" {
	make_top
	mkdir "$top"/{a,b}
	local format option how rows
	for how in "" "--bpf-counters --bpf-attr-map $ATTR_MAP"; do
		for option in "--top 1" --hide-zero-events "--hide-zero-events -I 10000"; do
			for format in "" -x, -j; do
				# shellcheck disable=SC2086 # words
				perf stat $how $format -o "$T/out" -a -e cpu-clock --sort cpu-clock $option \
					--for-each-cgroup "$name/a,$name/b" -- bash -c \
					"echo \$\$ >$top/b/cgroup.procs && exec $WORKLOADS/spinfor 0.05"
				rows=$(grep -o "$name/[ab]" "$T/out")
				[ "$rows" = "$name/b" ] || { echo "$how $format $option"; cat "$T/out"; return 1; }
			done
		done
	done >&2
	script -qec "perf stat -a -e cpu-clock -I 50 --interval-clear --sort cpu-clock --top 1 \
		--for-each-cgroup $name/a,$name/b -- bash -c 'echo \$\$ >$top/b/cgroup.procs &&
		exec $WORKLOADS/spinfor 0.3'" /dev/null >"$T/screen" </dev/null
	# Each screen begins anew and has one row.
	[ "$(grep -c $'\e\[H\e\[2J' "$T/screen")" -ge 1 ]
	grep -q "$name/b" "$T/screen"
	[ "$(grep -c cpu-clock "$T/screen")" = "$(grep -c $'\e\[H\e\[2J' "$T/screen")" ]
	[ -z "$how" ] || wait_for no_leader
}
