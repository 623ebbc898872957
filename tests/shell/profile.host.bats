#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile finds functions: shared sampling and ring buffers, all views, and the names of all kinds of
# code. cpu-clock needs no PMU.

load sample
load shared
load cgroups
# Last: sample loads helpers, which would take the requirements back.
load profile

teardown() {
	remove_top
	[ -z "${public-}" ] || rm -r "$public"
	[ ! -d "$T/cgroups" ] || umount "$T/cgroups"
	end_jobs
	remove_map
}

# share NAME FILE : the percent of a function in JSON
share() {
	jq -s --arg sym "$1" '[.[] | select(.sym == $sym) | .overhead] | add // 0' "$2"
}

# account FILE MEMBER : print a number of the last account
account() {
	jq -s "[.[] | .account // empty] | last | .$2" "$1"
}

# has_parts FILE : the functions of blend have their parts
has_parts() {
	# Five standard deviations: with 2,500 samples, shares of 40 and 20 percent have one of 1.0 and 0.8 points.
	in_range "$(share blend_a "$1")" 16 24
	in_range "$(share blend_b "$1")" 35 45
	in_range "$(share blend::c "$1")" 16 24
	in_range "$(share blend_deep "$1")" 16 24
}

# has_samples WAY NR FILE : blend has as many at 5000 Hz, but for what hidden switches explain. Without BPF they
# explain nothing.
has_samples() {
	local lack=0
	[ "$1" = --no-bpf ] || lack=$(unsampled 5000 comm blend)
	at_least "$(account "$3" samples)" $(($2 - lack))
}

@test "functions of a command have their shares, shared and by ring buffers" {
	local way
	for way in --bpf --no-bpf; do
		begin_witness
		profile $way -F 5000 -j -- blend 400000 >"$T/json"
		end_witness
		has_samples $way 2500 "$T/json"
		has_parts "$T/json"
	done
}

@test "samples of a thread that computes stand for its time" {
	# The timers of an idle CPU can be late. Neither is idle.
	background /dev/null taskset -c 0 "$WORKLOADS/spinfor" 100000
	begin_witness
	profile -F 1000 -s comm -j -- taskset -c 1 perf stat -x, -o "$T/clock" -e task-clock,cs blend 200000 >"$T/json"
	end_witness
	cat "$T/clock" "$T/json" >&2
	# Each time on a CPU has one sample more or less than it has milliseconds. The kernel drops samples of
	# all CPUs: others', too.
	jq -s -e --argjson ms "$(field task-clock 1 "$T/clock")" --argjson switches "$(field cs 1 "$T/clock")" \
		--argjson missed "$(missed ns comm blend)" '
		([.[] | .account // empty] | last) as $all | ($all.lost.blind.weight / 1e6) as $dropped |
		(map(select(.comm == "blend").samples) | add) as $samples |
		$samples > $ms - $switches - 1 - $missed / 1e6 - $dropped and $samples < $ms + $switches + 1 and
		$dropped < $all.counted / 4e6' "$T/json"
	profile --no-bpf -F 1000 -j -- blend 200000 >"$T/json"
	# The last period is not complete, and the last sample can come after the count was read. Measured 99.0.
	in_range "$(account "$T/json" share)" 90 101
	[ "$(account "$T/json" lost.table.samples)" = 0 ]
}

@test "a call tree has callers with the sum of what they call, and recursion once" {
	local way
	for way in --bpf --no-bpf; do
		# Five standard deviations of a share of 20 percent are 6 points with 1,111 samples.
		begin_witness
		profile $way -F 5000 -g -s sym -j -- blend 200000 >"$T/json"
		end_witness
		has_samples $way 1111 "$T/json"
		jq -s -e '.[] | select(.sym == "blend_main") | .children > 90 and .overhead < 5' "$T/json"
		jq -s -e '.[] | select(.sym == "blend_main") | [.callees[] | select(.depth == 1).sym] | contains(["blend_a", "blend_b", "blend::c", "blend_deep"])' "$T/json"
		jq -s -e '.[] | select(.sym == "blend_deep") | .children > 14 and .children < 26' "$T/json"
		profile $way -F 2000 -g --no-children -s sym -j -- blend 200000 >"$T/json"
		jq -s -e '.[] | select(.sym == "blend_b") | .callers[:2] | map([.depth, .sym]) == [[1, "blend_main"], [2, "main"]]' "$T/json"
	done
}

@test "a call tree of the deepest stacks is JSON that every parser reads" {
	# The kernel gives 127 frames, and jq 1.6 reads 256 levels.
	profile -F 1000 -g --no-children -s sym -j --timeout 500 -- stacks 1000000 80 >"$T/json" || [ $? = 143 ]
	jq -s -e 'map(select(.sym == "go_on" and .callers) | .callers | max_by(.depth).depth) | max >= 126' "$T/json"
}

@test "folded stacks begin with the command and end with the function" {
	local way
	for way in --bpf --no-bpf; do
		profile $way -F 2000 --folded -- blend 200000 >"$T/folded"
		grep -qE '^blend;(.*;)?main;blend_main;blend_b [0-9]+$' "$T/folded"
		grep -qE '^blend;(.*;)?main;blend_main(;blend_deep){8} [0-9]+$' "$T/folded"
		refute grep -vE '^[^;]+(;[^;]+)* [0-9]+$' "$T/folded"
	done
}

@test "--max-stack limits the frames of each level" {
	local way
	for way in --bpf --no-bpf; do
		profile $way -F 2000 --max-stack 2 --user-callchains --folded -- blend 100000 >"$T/folded"
		grep -qE '^blend;blend_main;blend_b [0-9]+$' "$T/folded"
		refute grep -E '(;.*){3}' "$T/folded"
		profile $way -F 2000 --max-stack 2 -g -j -- blend 100000 >"$T/json"
		[ "$(account "$T/json" truncated.samples)" -gt 10 ]
	done
}

@test "a flame graph has the frames of the profile, its samples and its losses" {
	local way selves
	for way in --bpf --no-bpf; do
		rm -f "$T/x.svg"
		profile $way -F 2000 -j --flamegraph "$T/x.svg" -- blend 200000 >"$T/json"
		xmllint --noout "$T/x.svg"
		# The same samples: the shares of functions that call nothing are the list's.
		grep -qF "<title>all: 100.00 % of cpu-clock, $(account "$T/json" samples) samples, " "$T/x.svg"
		# Stacks of one function may have several outer ends, and each percentage is rounded.
		selves=$(sed -nE 's/.*<title>blend_b \(blend\): .* samples?, ([0-9.]+) % in itself.*/\1/p' "$T/x.svg" | paste -sd +)
		# Each percentage is rounded to a hundredth: this one, and those of up to three outer ends.
		within "$(jq -n "$selves")" "$(share blend_b "$T/json")" 0 0.02
		grep -qE '<text id="title" [^>]*>[0-9,]+ samples? of cpu-clock, 2000 Hz, blend, [0-9.]+ s</text>' "$T/x.svg"
		grep -qE "<text class=\"note\" [^>]*>[0-9,]+ samples stand for $(printf %.1f "$(account "$T/json" share)") % of cpu-clock " "$T/x.svg"
		grep -qE 'user [0-9.]+ %</text>' "$T/x.svg"
	done
}

@test "equal stacks under two names of one thread are two entries" {
	local way
	for way in --bpf --no-bpf; do
		# shellcheck disable=SC2016 # the inner shell's
		profile $way -F 2000 --folded --user-callchains -- bash -c 'for name in first second; do
			printf %s $name >"/proc/$$/comm"
			for ((i = 0; i < 200000; i++)); do :; done
		done' >"$T/folded"
		awk '/^(first|second);/ { name = $1; sub(/;.*/, "", name); sum[name] += $NF; sub(/^[^;]*;/, ""); sub(/ [0-9]+$/, ""); names[$0]++ }
			END {
				for (stack in names) both += names[stack] == 2
				print sum["first"], sum["second"], both + 0
				exit !(sum["first"] > 10000000 && sum["second"] > 10000000 && both)
			}' "$T/folded" >&2
	done
}

# pprof FILE : print a profile as text
pprof() {
	gzip -dc "$1" | protoc --decode=Profile -I "$BATS_TEST_DIRNAME/../data" pprof.proto
}

@test "pprof gets the samples, their weights and labels" {
	local way nr
	for way in --bpf --no-bpf; do
		profile $way -F 2000 -j --pprof "$T/x.pb.gz" -- blend 200000 >"$T/json"
		pprof "$T/x.pb.gz" >"$T/text"
		# The second value is the weight.
		awk '/^sample {/ { i = 0 } $1 == "value:" { sum[i++] += $2 } END { print sum[0], sum[1] }' "$T/text" >"$T/sums"
		diff -u "$T/sums" <(echo "$(account "$T/json" samples) $(account "$T/json" weight)")
		sed -nE 's/^string_table: "(.*)"$/\1/p' "$T/text" >"$T/strings"
		for name in samples count cpu-clock nanoseconds pid comm blend blend_b blend_main; do
			grep -qx "$name" "$T/strings"
		done
		grep -qE '^[0-9,]+ samples stand for ' "$T/strings"
		# A sample of blend_b was called by blend_main; the location of a sample's first frame is the innermost.
		awk '
		/^[a-z_]+ {/ { kind = $1; first = 1 }
		kind == "sample" && $1 == "location_id:" && first { inner[$2]; first = 0 }
		kind == "location" && $1 == "id:" { id = $2 }
		kind == "location" && $1 == "function_id:" { function_of[id] = $2 }
		kind == "function" && $1 == "id:" { id = $2 }
		kind == "function" && $1 == "name:" { name[id] = $2 }
		/^string_table:/ { text[nr++] = $2 }
		END { for (i in inner) print text[name[function_of[i]]] }' "$T/text" | sort -u >"$T/inner"
		grep -qx '"blend_b"' "$T/inner"
	done
}

# labels FILE : print the command and the cgroup of each sample in a profile of pprof; a number has a sign before it
labels() {
	pprof "$1" | awk '
	/^sample {/ { nr++ }
	$1 == "key:" { key = $2 }
	$1 == "str:" || $1 == "num:" { value[nr, key] = $1 $2 }
	/^string_table:/ { sub(/^string_table: "/, ""); sub(/"$/, ""); number[$0] = strings; text[strings++] = $0 }
	function label(sample, name,    v) {
		v = value[sample, number[name]]
		return sub(/^str:/, "", v) ? text[v] : "#" v
	}
	END { for (i = 1; i <= nr; i++) print label(i, "comm"), label(i, "cgroup") }'
}

@test "numbers have a point in every locale" {
	localedef -i de_DE -f UTF-8 "$T/de_DE.UTF-8"
	LOCPATH=$T LC_ALL=de_DE.UTF-8 profile -F 1000 -j -- blend 20000 >"$T/json"
	jq -s -e '.[0].overhead > 0' "$T/json"
}

@test "stacks are printed innermost first, with command and process" {
	profile -F 2000 --stacks -- blend 200000 >"$T/stacks"
	grep -A 3 -x '    blend_b' "$T/stacks" | tail -n 3 >"$T/below"
	grep -qx '    blend_main' "$T/below"
	grep -qx '    main' "$T/below"
	grep -qE '^    -                blend \([0-9]+\)$' "$T/stacks"
	profile -F 2000 --stacks --kernel-callchains -- blend 100000 >"$T/stacks"
	refute grep -q blend_main "$T/stacks"
}

@test "a running process is sampled with its name, and another one is not" {
	local pid
	blend 100000000 &
	pid=$!
	blend 100000000 &
	jobs_started+=("$pid" "$!")
	begin_witness
	profile -F 2000 -p $pid -s pid,comm -j -- ran 0.3 $pid >"$T/json"
	end_witness
	jq -s -e --argjson pid $pid --argjson strangers "$(strangers 2000 pid $pid)" '
		[.[] | select(.pid)] | (map(select(.pid == $pid)) | length == 1 and .[0].comm == "blend") and
		(map(select(.pid != $pid).samples) | add // 0) <= $strangers' "$T/json"
	profile --no-bpf -F 2000 -t $pid -s tid -j -- ran 0.3 $pid >"$T/json"
	[ "$(jq -s -c '[.[] | select(.tid) | .tid] | unique' "$T/json")" = "[$pid]" ]
}

# make_proc NAME PID... : $T/NAME is a /proc with only these processes
make_proc() {
	local dir=$T/$1 entry
	shift
	mkdir "$dir"
	for entry in /proc/* "${@/#//proc/}"; do
		[[ $entry == /proc/[0-9]* && " ${*/#//proc/} " != *" $entry "* ]] || ln -sf "$entry" "$dir"
	done
}

# add_ended NAME : to $T/NAME, two processes of nobody that end after they have been listed: one before its
# threads are listed, one after that. No process has so high a number.
add_ended() {
	mkdir -p "$T/$1"/419440{1,2}/task "$T/$1/4194402/task/4194402"
	chown 65534 "$T/$1"/419440{1,2}
}

@test "-u skips processes that end before they are sampled" {
	local pid way profile status
	publish "$(command -v blend)"
	background "$T/blend" setpriv --reuid 65534 "$public/blend" 100000000
	pid=$!
	wait_for is_nobodys "$pid"
	make_proc some "$pid"
	add_ended some
	for way in --bpf --no-bpf; do
		PROCFS_PATH=$T/some background "$T/$way" perf profile --bpf-attr-map "$ATTR_MAP" $way -e cpu-clock \
			-F 1000 -u nobody -s comm -j
		profile=$!
		wait_for samples_or_ends "$profile"
		ran 0.3 "$pid"
		end_run "$profile" INT 0
		jq -s -e 'any(.[]; .comm == "blend")' "$T/$way" || { cat "$T/$way" >&2; return 1; }
		# No message, in JSON or beside it.
		refute grep -v '^{' "$T/$way"
	done
	# All end before their threads are listed.
	make_proc none
	add_ended none
	rmdir "$T/none/4194402/task/4194402"
	status=0
	PROCFS_PATH=$T/none profile -u nobody 2>"$T/err" || status=$?
	[ $status = 22 ] || { echo "status $status" >&2; return 1; }
	diff "$T/err" - <<-'END'
		Problems finding threads of monitor
		perf profile: -u: all processes of the user have ended
	END
	# or after that: a profile without samples
	mkdir "$T/none/4194402/task/4194402"
	for way in --bpf --no-bpf; do
		PROCFS_PATH=$T/none profile $way -u nobody -j >"$T/json" 2>"$T/err"
		is_silent "$T/err"
		[ "$(account "$T/json" samples)" = 0 ]
	done
}

# is_nobodys PID : this process has become that of the user nobody
is_nobodys() {
	[ "$(stat -c %u "/proc/$1")" = 65534 ]
}

@test "children are sampled, unless -i is given" {
	local way
	for way in --bpf --no-bpf; do
		profile $way -F 2000 -s comm -j -- sh -c 'blend 100000 & blend 100000; wait' >"$T/json"
		jq -s -e '.[] | select(.comm == "blend") | .overhead > 50' "$T/json"
		begin_witness
		# shellcheck disable=SC2016 # the inner shell's
		profile $way -F 2000 -s comm -j -i -- sh -c 'echo $$ >"$0"; blend 50000; :' "$T/pid" >"$T/json"
		end_witness
		# Without -i all would have the child's. Behind a hidden switch, the programs take it for the shell (strangers).
		in_range "$(jq -s 'map(select(.comm == "blend").samples) | add // 0' "$T/json")" 0 \
			"$([ $way = --no-bpf ] || strangers 2000 pid "$(<"$T/pid")")"
	done
}

@test "all CPUs are sampled, with functions of the kernel" {
	background "$T/out" blend 100000000
	profile -F 500 -a -s comm,sym -j -- ran 0.3 $! >"$T/json"
	jq -s -e 'any(.[]; .comm == "blend" and .sym == "blend_b")' "$T/json"
	background "$T/out" kernelwork 100000000000
	profile -F 500 -a -s dso -j -- ran 0.3 $! >"$T/json"
	jq -s -e 'any(.[]; .dso == "[kernel]")' "$T/json"
}

@test "columns can be hidden by level" {
	background "$T/out" kernelwork 100000000000
	profile -F 500 -a -K -- ran 0.3 $! >"$T/text"
	refute grep -qF '[k]' "$T/text"
	grep -qE '^# [0-9]+ rows? of the kernel hidden: ' "$T/text"
	background "$T/out" blend 100000000
	profile -F 500 -a -U -- ran 0.3 $! >"$T/text"
	refute grep -qF '[.]' "$T/text"
}

@test "intervals are printed one by one, each with its account" {
	background "$T/out" blend 100000000
	profile -F 500 -a -I 300 --interval-count 3 -j >"$T/json"
	[ "$(jq -s '[.[] | select(.account) | .interval] | length' "$T/json")" = 3 ]
	jq -s -e '[.[] | select(.account) | .interval] | . == sort and .[0] >= 0.3' "$T/json"
	# Rows of an interval have its samples, and no others.
	jq -s -e 'group_by(.interval) | all(.[]; ([.[] | select(.sym) | .samples] | add) == (map(select(.account))[0].account.samples))' "$T/json"
}

@test "CSV has the same fields in each row" {
	profile -F 2000 -x ';' -s comm,dso,sym -- blend 100000 >"$T/csv"
	grep -qE '^cpu-clock;[0-9.]+;[0-9]+;[0-9]+;blend;blend;blend_b$' "$T/csv"
	[ "$(awk -F ';' '{ print NF }' "$T/csv" | sort -u)" = 7 ]
}

@test "cgroups are sampled by name" {
	local way
	if [ -z "$(cgroup_mount)" ]; then
		mkdir "$T/cgroups"
		mount -t cgroup2 none "$T/cgroups" || skip_or_fail "no cgroup v2 here"
	fi
	make_top
	background "$T/out" bash -c "echo \$\$ >$top/cgroup.procs && exec blend 100000000"
	wait_for has_line blend "/proc/$!/comm"
	for way in --bpf --no-bpf; do
		profile $way -F 1000 -a --for-each-cgroup "$name" -j -- ran 0.3 $! >"$T/json"
		[ "$(jq -r -s '[.[] | .cgroup // empty] | unique | .[]' "$T/json")" = "$name" ]
		jq -s -e 'any(.[]; .sym == "blend_b")' "$T/json"
	done
	profile -F 1000 -a -s cgroup,comm -j -- ran 0.3 $! >"$T/json"
	jq -s -e --arg name "$name" 'any(.[]; .comm == "blend" and .cgroup == $name)' "$T/json"
	profile -F 1000 -p $! -s cgroup --pprof "$T/x.gz" -- ran 0.3 $! >"$T/text"
	[ "$(labels "$T/x.gz" | sort -u)" = "blend $name" ]
}

@test "a script that executes a program of its own name has names beside it" {
	mkdir "$T/bin" "$T/real"
	cp "$WORKLOADS/blend" "$T/real/tool"
	printf '#!/bin/bash\nfor ((i = 0; i < 20000; i++)); do :; done\nexec %s 20000\n' "$T/real/tool" >"$T/bin/tool"
	chmod +x "$T/bin/tool"
	# One collection has the samples of both, in no certain order.
	for i in 1 2 3 4; do
		profile -F 2000 -s comm,dso,sym -j -- "$T/bin/tool" >"$T/json"
		jq -s -e 'any(.[]; .comm == "tool" and .dso == "bash" and (.sym | startswith("bash+0x") | not))' "$T/json" ||
			{ cat "$T/json"; return 1; }
		jq -s -e 'any(.[]; .comm == "tool" and .sym == "blend_b")' "$T/json"
		jq -s -e 'all(.[]; .dso != "[anon]")' "$T/json"
	done
}

@test "a process that ran before and ends soon has names" {
	local way
	for way in '--bpf -p' '--no-bpf -p' '--bpf -a' '--no-bpf -a'; do
		background "$T/out" blend 100000000
		wait_for has_line blend "/proc/$!/comm"
		[ "${way#* }" = -a ] || way="$way $!"
		# perf collects within a second, and at its end.
		# shellcheck disable=SC2086
		profile $way -F 200 -s comm,sym -j -- sh -c 'ran 0.2 $0; kill $0; while [ -e /proc/$0/exe ]; do :; done' $! >"$T/json"
		jq -s -e 'any(.[]; .sym == "blend_b")' "$T/json"
		jq -s -e 'all(.[]; .comm != "blend" or (.sym | startswith("[anon]") | not))' "$T/json"
		[[ $way = *-a ]] || jq -s -e 'all(.[] | select(.sym); .comm == "blend")' "$T/json"
	done
}

@test "a command has its own name where sampling begins after its start" {
	profile --no-bpf -D 50 -F 500 -s comm,sym -j -- blend 200000 >"$T/json"
	jq -s -e '[.[] | select(.sym) | .comm] | unique == ["blend"]' "$T/json"
}

@test "a process that executes another program has the name that it had at each sample" {
	background /dev/null bash -c 'until [ -e "$1/go" ]; do :; done; exec "$2" 200000' - "$T" "$WORKLOADS/blend"
	# perf collects within a second, and at its end.
	profile --no-bpf -p $! -F 500 -s comm,dso -j -- \
		sh -c 'ran 0.1 $0; : >"$1/go"; while [ -e /proc/$0/exe ]; do :; done' $! "$T" >"$T/json"
	jq -s -e 'map(select(.dso == "bash")) | length == 1 and .[0].comm == "bash" and .[0].samples > 10' "$T/json"
	jq -s -e 'map(select(.dso == "blend")) | length == 1 and .[0].comm == "blend" and .[0].samples > 10' "$T/json"
}

@test "a program that was deleted, in a mount namespace of its own, has names" {
	require_commands unshare
	cp "$WORKLOADS/blend" "$T/gone"
	unshare -m sh -c 'mount -t tmpfs none /mnt && cp "$1" /mnt/gone && exec /mnt/gone 100000000' sh "$T/gone" &
	jobs_started+=($!)
	wait_for has_line gone "/proc/$!/comm"
	rm "$T/gone"
	profile -F 1000 -p $! -j -- ran 0.5 $! >"$T/json"
	# Twenty points are five standard deviations with 150 samples: hidden switches can take some of 500.
	in_range "$(share blend_b "$T/json")" 20 60
}

@test "a stripped program has the names of its debug file, found by the build id below its root" {
	require_commands unshare objcopy strip
	[ -d /usr/lib/debug ] || skip_or_fail "no /usr/lib/debug"
	cp "$WORKLOADS/blend" "$T/stripped"
	objcopy --only-keep-debug "$T/stripped" "$T/debug"
	strip "$T/stripped"
	id=$(file -b "$T/stripped" 2>/dev/null | sed -nE 's/.*BuildID\[sha1\]=([0-9a-f]+).*/\1/p')
	[ "$id" ] || id=$(readelf -n "$T/stripped" | sed -nE 's/.*Build ID: ([0-9a-f]+)/\1/p')
	profile -F 1000 -j -- "$T/stripped" 50000 >"$T/json"
	jq -s -e 'any(.[]; .sym // "" | startswith("stripped+0x"))' "$T/json"
	unshare -m sh -c 'mount -t tmpfs none /usr/lib/debug && mkdir -p "/usr/lib/debug/.build-id/$3" &&
		cp "$2" "/usr/lib/debug/.build-id/$3/$4.debug" && exec "$1" 100000000' \
		sh "$T/stripped" "$T/debug" "${id:0:2}" "${id:2}" &
	jobs_started+=($!)
	wait_for has_line stripped "/proc/$!/comm"
	profile -F 1000 -p $! -j -- ran 0.5 $! >"$T/json"
	# as above
	in_range "$(share blend_b "$T/json")" 20 60
}

# build FUNCTION FILE : a program that spends its time in this function
build() {
	require_commands gcc
	gcc -g -O1 -Wl,--build-id -x c -o "$2" - <<-EOF
		__attribute__((noinline)) static void $1(long n) { while (n--) __asm__ volatile(""); }
		int main(void) { $1(200000000); return 0; }
	EOF
}

# build_id FILE : print it, with a slash behind the first byte
build_id() {
	readelf -n "$1" | sed -nE 's/.*Build ID: (..)([0-9a-f]+)/\1\/\2/p'
}

@test "a program that another one overwrote at its end has no names of that, but those of its debug file" {
	require_commands unshare objcopy strip readelf
	[ -d /usr/lib/debug ] || skip_or_fail "no /usr/lib/debug"
	build right "$T/right"
	build wrong "$T/wrong"
	objcopy --only-keep-debug "$T/right" "$T/debug"
	# The same inode has the other program afterwards.
	cat >"$T/run" <<-EOF
		cp "$T/right" "$T/tool" && "$T/tool" && cat "$T/wrong" >"$T/tool"
	EOF
	profile -F 1000 -a -s comm,sym -j -- sh "$T/run" >"$T/json"
	jq -s -e 'any(.[]; .comm == "tool" and (.sym | startswith("tool+0x")))' "$T/json"
	jq -s -e 'all(.[]; .sym != "wrong" and .sym != "right")' "$T/json"
	# shellcheck disable=SC2016 # the shell's inside
	unshare -m sh -c 'mount -t tmpfs none /usr/lib/debug && mkdir -p "/usr/lib/debug/.build-id/${3%/*}" &&
		cp "$2" "/usr/lib/debug/.build-id/$3.debug" && shift 3 && exec "$@"' sh "$T/right" "$T/debug" \
		"$(build_id "$T/right")" perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 1000 -a --lines \
		-s comm,sym -j -- sh "$T/run" >"$T/json"
	jq -s -e 'any(.[]; .comm == "tool" and .sym == "right" and .samples > 10)' "$T/json"
	jq -s -e 'all(.[]; .sym != "wrong" and (.sym // "" | startswith("tool+") | not))' "$T/json"
}

@test "programs that end within milliseconds have names, each of its own file" {
	local way i
	for i in {1..40}; do
		cp "$WORKLOADS/blend" "$T/short$i"
	done
	for way in --bpf --no-bpf; do
		# shellcheck disable=SC2016 # the inner shell's
		profile $way -F 4000 -s comm,dso,sym -j -- sh -c 'for program in "$0"/short*; do "$program" 500; done' "$T" >"$T/json"
		jq -r 'select((.dso // "") | startswith("short")) | "\(.comm) \(.dso) \(.sym)"' "$T/json" >"$T/rows"
		# Some of them may be too short for a sample.
		[ "$(cut -d ' ' -f 2 "$T/rows" | sort -u | wc -l)" -ge 20 ]
		[ "$(awk '{ print $1 == $2 }' "$T/rows" | sort -u)" = 1 ]
		refute grep -F +0x "$T/rows"
		grep -q ' blend_b$' "$T/rows"
	done
}

@test "code that the kernel maps into each program (vdso) has names" {
	require_commands gcc
	printf '%s\n' '#include <time.h>' 'int main(void)' '{' 'struct timespec now;' \
		'for (int i = 0; i < 5000000; i++)' 'clock_gettime(CLOCK_MONOTONIC, &now);' 'return 0;' '}' >"$T/clock.c"
	gcc -O2 -o "$T/clock" "$T/clock.c"
	profile -F 2000 -s dso,sym -j -- "$T/clock" >"$T/json"
	jq -s -e 'any(.[]; .dso == "[vdso]" and (.sym | test("^__(vdso|kernel)_clock_gettime$")))' "$T/json"
}

@test "functions of Rust have the names of the source" {
	perf version --build-options | grep -q 'libiberty: \[ on' || skip_or_fail "there is no libiberty in this build"
	cat >"$T/rust.c" <<-EOF
		void newer(unsigned long) __asm__("_RNvMs_CsbDqzXfLQacH_7mycrateNtB4_3Foo3bar");
		void older(unsigned long) __asm__("_ZN7mycrate5older17h0123456789abcdefE");
		void newer(unsigned long n) { while (--n) __asm__(""); }
		void older(unsigned long n) { while (--n) __asm__(""); }
		int main(void) { newer(300000000); older(300000000); }
	EOF
	gcc -O2 -fno-inline -fno-ipa-icf -o "$T/rust" "$T/rust.c"
	profile -F 1000 -j -- "$T/rust" >"$T/json"
	# Halves: 25 points are five standard deviations with 100 samples.
	in_range "$(share "<mycrate::Foo>::bar" "$T/json")" 25 75
	in_range "$(share mycrate::older "$T/json")" 25 75
}

# interrupt_again PID FILE : send another SIGINT while the process holds them back and has none; true when the
# profile is in the file
interrupt_again() {
	! grep -q "stand for" "$2" || return 0
	awk '/^ShdPnd:/ { has = $2 ~ /[2367abef]$/ } /^SigBlk:/ { holds = $2 ~ /[2367abef]$/ }
		END { exit !holds || has }' "/proc/$1/status" && kill -INT "$1" || :
	return 1
}

@test "a second Ctrl-C prints the profile without the names that take long" {
	local blend pid keeper
	background "$T/blend" blend 100000000
	blend=$!
	background "$T/out" perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 1000 -p "$blend"
	pid=$!
	wait_for pgrep -P "$pid" -x perf-symbols
	keeper=$(pgrep -P "$pid" -x perf-symbols)
	wait_for samples_or_ends "$pid"
	ran 0.5 "$blend"
	wait_for pgrep -P "$keeper"
	kill -STOP "$(pgrep -P "$keeper")"
	kill -INT "$pid"
	wait_for interrupt_again "$pid" "$T/out"
	wait "$pid"
	grep -qE ' blend +\[\.\] blend\+0x' "$T/out"
	grep -qx "perf profile: finding names was interrupted: not all functions have one" "$T/out"
	# not on a terminal
	refute grep -q "reading symbols" "$T/out"
}

@test "names that take long have their progress on a terminal, which is erased before the report" {
	local blend command worker
	background "$T/blend" blend 100000000
	blend=$!
	printf -v command '%q ' perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 1000 -p "$blend"
	background "$T/screen" script -qfec "echo \$\$ >$T/pid; exec $command" /dev/null
	wait_for test -s "$T/pid"
	wait_for pgrep -P "$(<"$T/pid")" -x perf-symbols
	wait_for samples_or_ends "$(<"$T/pid")"
	ran 0.1 "$blend"
	wait_for pgrep -P "$(pgrep -P "$(<"$T/pid")" -x perf-symbols)"
	worker=$(pgrep -P "$(pgrep -P "$(<"$T/pid")" -x perf-symbols)")
	kill -STOP "$worker"
	kill -INT "$(<"$T/pid")"
	# while the file is read
	wait_for grep -aqP '\rreading symbols: +[0-9]+ % \(\S+\)\e\[K' "$T/screen"
	kill -CONT "$worker"
	wait $!
	tr '\r' '\n' <"$T/screen" | awk '/^reading symbols/ { last = NR } /^\033\[K/ { erased = NR; nr++ }
		END { exit nr != 1 || erased != last + 1 }'
	grep -aqE ' blend +\[\.\] blend_b' "$T/screen"
}

@test "code of a JIT compiler has the names of its perf map" {
	jit 100000 &
	jobs_started+=($!)
	wait_for test -s "/tmp/perf-$!.map"
	profile -F 1000 -p $! -s dso,sym -j -- ran 0.3 $! >"$T/json"
	at_least "$(share "jitted loop" "$T/json")" 50
	jq -s -e 'any(.[]; .sym == "jitted loop" and .dso == "[jit]")' "$T/json"
	profile -F 1000 -p $! --flamegraph "$T/x.svg" -- ran 0.3 $! >"$T/text"
	grep -qE '>JIT [0-9.]+ %<' "$T/x.svg"
	[[ $(grep -F '<title>jitted loop ([jit]): ' "$T/x.svg") =~ fill=\"#(..)(..)(..)\" ]]
	# Green: the colour of JIT, and what a name adds to each part of it (flame_svg.c)
	in_range $((0x${BASH_REMATCH[2]})) 202 230
	in_range $((0x${BASH_REMATCH[1]})) 134 170
	in_range $((0x${BASH_REMATCH[3]})) 118 154
	kill $!
	wait $! || :
	rm -f "/tmp/perf-$!.map"
}

# only_has_line JSON SYMBOL LINE : the function has samples in no other line
only_has_line() {
	jq -s -e --arg sym "$2" --arg line "$3" \
		'map(select(.sym == $sym)) | length > 0 and all(.srcline == $line and .dso == "[jit]")' "$1"
}

# profile_jitdump PID : its functions have the names and lines of its jitdump
profile_jitdump() {
	profile -F 1000 -p "$1" -s dso,sym -j -- ran 0.5 "$1" >"$T/json"
	jq -s -e 'map(select(.dso == "[jit]").samples) | add >= 100' "$T/json" >&2
	# Two thirds and a third: of 100 samples, a share has a standard deviation of 4.7 points, and these are 3.4 of it.
	in_range "$(share first "$T/json")" 50 82
	in_range "$(share JS:second "$T/json")" 18 50
	profile -F 1000 -p "$1" -s dso,sym,srcline -j -- ran 0.3 "$1" >"$T/json"
	only_has_line "$T/json" first first.lang:10
	only_has_line "$T/json" JS:second JS:second.lang:20
}

@test "code of a JIT compiler has the names and lines of its jitdump" {
	jit 100000 "$T" &
	jobs_started+=($!)
	wait_for grep -q 'jit-.*dump' /proc/$!/maps
	profile_jitdump $!
}

@test "a jitdump in a mount and pid namespace is found" {
	unshare -mpf sh -c 'mount -t tmpfs none /mnt && exec jit 100000 /mnt' &
	jobs_started+=($!)
	wait_for pgrep -P $! -x jit
	pid=$(pgrep -P $! -x jit)
	wait_for grep -q 'jit-1.dump' "/proc/$pid/maps"
	profile_jitdump "$pid"
	kill -KILL "$pid"
}

# controlled WAY OPTION... : start a profile in the background, $!, that obeys tell (shared.bash). Its output
# goes to $T/profile.
controlled() {
	local way=$1
	shift
	open_control ctl
	background "$T/profile" perf profile "$way" --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 500 -a \
		--control "fifo:$T/ctl.ctl,$T/ctl.ack" "$@"
	tell ctl ping
}

@test "Ctrl-C ends a profile, which is printed, with status 0" {
	local way
	for way in --bpf --no-bpf; do
		controlled $way -v
		spin 100000000
		kill -INT $!
		wait $!
		grep -qE '^# [0-9,]+ samples stand for [0-9.]+ % of cpu-clock ' "$T/profile"
	done
}

@test "a command's status and output pass through, and data stay apart" {
	local status=0
	profile -j -- sh -c 'echo mine; exit 7' >"$T/json" 2>"$T/err" || status=$?
	[ $status = 7 ]
	grep -qx mine "$T/err"
	jq -s . "$T/json" >/dev/null
	status=0
	profile -- no-such-command-here >"$T/out" 2>"$T/err" || status=$?
	[ $status != 0 ]
	grep -q 'Workload failed' "$T/err"
}

@test "sampling waits for --control, and obeys it" {
	controlled --bpf -j -D -1
	tell ctl enable
	spin 100000000
	tell ctl disable
	tell ctl stop
	wait $!
	grep '^{' "$T/profile" >"$T/rows"
	at_least "$(account "$T/rows" samples)" 1
}

@test "groups are sampled event by event, and single events are not switched" {
	perf profile --no-bpf -e '{cs,faults}' -a --timeout 20 >"$T/out" 2>"$T/err"
	grep -qxF "perf profile: groups are not sampled together: 'cs' and its members are single events" "$T/err"
	mkfifo "$T/control"
	exec {control}<>"$T/control"
	background "$T/out" perf profile --no-bpf -e cs -a -D -1 --control "fd:$control" --timeout 10000
	echo 'enable cs' >&$control
	echo stop >&$control
	wait $!
	grep -qxF "perf profile: --control: single events cannot be switched: enable or disable without 'cs'" "$T/out"
}

@test "ordinary users profile their own programs in user mode" {
	require_users_count
	publish "$(command -v perf)" "$WORKLOADS/blend"
	as_nobody "$public/perf" profile -F 5000 -e cpu-clock -j -- "$public/blend" 200000 >"$T/json" 2>"$T/err"
	# Ten points are five standard deviations with 600 samples.
	in_range "$(account "$T/json" samples)" 600 1000000
	in_range "$(share blend_b "$T/json")" 30 50
	is_silent "$T/err"
	[ "$(jq -r -s '.[0].event' "$T/json")" = cpu-clock:u ]
	as_nobody "$public/perf" profile -v -e cpu-clock:u true >/dev/null 2>"$T/err"
	grep -qF 'perf profile: sampling without BPF: lacks CAP_BPF (to load BPF programs), ' "$T/err"
	# The kernel shows no samples of its own. So its time cannot be told from lost samples.
	as_nobody "$public/perf" profile -e cpu-clock:u -F 1000 -j -- dd if=/dev/zero of=/dev/null bs=512 count=200000 >"$T/json" 2>"$T/err"
	jq -e -s 'map(.account // empty) | last | .mode.samples == 0 and .unseen > .counted / 100 and
		.weight + .unseen == .counted' "$T/json"
	as_nobody "$public/perf" profile -e cpu-clock:u -F 1000 -- dd if=/dev/zero of=/dev/null bs=512 count=200000 >"$T/text" 2>"$T/err"
	grep -qE '^# kernel mode \(not permitted to sample\), or lost: [0-9.]+ % of the count$' "$T/text"
	refused 1 as_nobody "$public/perf" profile -a -e cpu-clock <<-'END'
		perf profile: 'cpu-clock': not permitted: needs CAP_PERFMON or kernel.perf_event_paranoid <= 0 (now 2)
	END
}

@test "a profile leaves nothing behind" {
	profile -F 500 -a --timeout 300 >/dev/null
	[ "$(perf bperf list --bpf-attr-map "$ATTR_MAP")" = "no events are shared through $ATTR_MAP" ]
	# Entries of dead sessions would be left in the map.
	[ "$(entries)" = 0 ]
}

@test "a reader that goes away ends a profile, which leaves nothing behind" {
	local status
	set +o pipefail
	profile -F 500 -a -I 200 -j | head -n 1 >"$T/json"
	status=${PIPESTATUS[0]}
	[ "$status" = 141 ] # SIGPIPE
	[ "$(perf bperf list --bpf-attr-map "$ATTR_MAP")" = "no events are shared through $ATTR_MAP" ]
	[ "$(entries)" = 0 ]
}

# has_no_children FILE : none of the processes that the file lists is there
has_no_children() {
	local pid
	while read -r pid; do
		[ ! -e "/proc/$pid" ] || return 1
	done <"$1"
}

@test "the process that reads files ends with a profile that is killed" {
	local pid keeper
	background "$T/out" perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 500 -a
	pid=$!
	wait_for pgrep -P $pid
	keeper=$(pgrep -P $pid)
	wait_for pgrep -P "$keeper"
	printf '%s\n' "$keeper" $(pgrep -P "$keeper") >"$T/children"
	kill -KILL $pid
	wait_for has_no_children "$T/children"
}

@test "without the kernel's symbols, its frames are addresses, and a line tells why" {
	make_proc proc
	rm "$T/proc/kallsyms"
	sed 's/^[0-9a-f]*/0000000000000000/' /proc/kallsyms | head -n 100 >"$T/proc/kallsyms"
	PROCFS_PATH=$T/proc profile --no-bpf -F 1000 -j -s dso,sym -- dd if=/dev/zero of=/dev/null bs=1 count=300000 \
		>"$T/json" 2>"$T/err"
	grep -qxF 'perf profile: functions of the kernel have no names: their addresses are hidden (run as root, or set kernel.kptr_restrict=0 and kernel.perf_event_paranoid=1)' "$T/err"
	jq -s -e 'any(.[]; .dso == "[kernel]" and (.sym | startswith("[kernel]+0xffff")))' "$T/json"
}

@test "code without a symbol, such as a filter of seccomp, has addresses, and none of perf's own names" {
	require_commands strace
	local option
	for option in "" "-I 50"; do
		# shellcheck disable=SC2086 # options
		strace -f -o "$T/calls" -e trace=openat perf profile --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 2000 -s dso,sym -j $option \
			-- filtered 20000 >"$T/json"
		jq -s -e 'any(.[]; .dso == "[kernel]" and (.sym | startswith("[kernel]+0x")))' "$T/json"
		refute grep -q on_lookup "$T/json"
		refute grep -q '/proc/kallsyms"' "$T/calls"
	done
}

@test "CPUs that are offline are named" {
	local online way
	online=$(</sys/devices/system/cpu/online)
	for way in --bpf --no-bpf; do
		refused 1 perf profile $way -e cpu-clock -C 4095 -- touch "$T/run" <<<"perf profile: -C 4095: there is no CPU 4095 (online: $online)"
		refused 22 perf profile $way -e cpu-clock -C 0- -- touch "$T/run" <<<"perf profile: -C 0-: not a list of CPUs such as 0-3,6"
	done
}

@test "a thread that has ended is named" {
	local way
	for way in --bpf --no-bpf; do
		refused 1 perf profile --bpf-attr-map "$ATTR_MAP" $way -e cpu-clock -t 4194305 \
			<<<"perf profile: -t 4194305: there is no such task (it may have ended)"
	done
}

@test "a profile that cannot be written is a failure that says so" {
	[ -c /dev/full ] || skip "no /dev/full"
	fails_with 1 "perf profile: writing the profile failed: No space left on device" \
		bash -c 'perf profile --bpf-attr-map "$0" -e cpu-clock -j -- true >/dev/full' "$ATTR_MAP"
}

@test "stacks of one frame, and code of a file that is not an ELF file, each have a line" {
	flat "$T/code" &
	jobs_started+=($!)
	wait_for grep -q "$T/code" "/proc/$!/maps"
	profile -v -g -F 1000 -p $! -j -- ran 0.05 $! >"$T/json" 2>"$T/err"
	grep -qx "perf profile: $T/code: its functions have no .*: not an ELF file" "$T/err"
	grep -qxF 'perf profile: most stacks of user space have one frame: the programs were compiled without frame pointers (-fno-omit-frame-pointer)' "$T/err"
	# with frame pointers there is no such line
	stacks 1000 &
	jobs_started+=($!)
	wait_for has_line stacks "/proc/$!/comm"
	profile -g -F 1000 -p $! -j -- ran 0.05 $! >"$T/json" 2>"$T/err"
	refute grep -q 'one frame' "$T/err"
}

@test "the tasks of a cgroup below another one of the list are sampled once" {
	local way
	make_top
	mkdir "$top/a"
	for way in --bpf --no-bpf; do
		begin_witness
		# shellcheck disable=SC2016 # the inner shell's
		perf profile $way --bpf-attr-map "$ATTR_MAP" -e page-faults -c 1 -s cgroup,comm -j \
			--for-each-cgroup "$name,$name/a,$name" -a -- sh -c 'echo $$ >"$0" && exec faults 1000' "$top/a/cgroup.procs" >"$T/json"
		end_witness
		jq -s '[.[] | select(.comm == "faults") | .samples] | add // 0' "$T/json" >"$T/nr"
		cat "$T/nr" >&2
		# The start of the program has less than 300.
		if [ $way = --bpf ]; then
			explained 1000 1300 comm faults <"$T/nr"
		else
			# No program hides samples of a ring buffer.
			in_range "$(<"$T/nr")" 1000 1300
		fi
		[ "$(jq -s -r 'map(.cgroup // empty) | unique | join(" ")' "$T/json")" = "$name/a" ]
	done
}

@test "what an ordinary user may not see has a line that says so" {
	publish "$(command -v perf)"
	set_until_end /proc/sys/kernel/perf_event_paranoid 2
	set_until_end /proc/sys/kernel/kptr_restrict 1
	cd "$public"
	refused 22 as_nobody ./perf profile -e cpu-clock --range vfs_read true <<<"\
perf profile: --range vfs_read: no such function in a program, and those of the kernel are hidden (run as root, or set kernel.kptr_restrict=0 and kernel.perf_event_paranoid=1)"
	# Without the kernel's part nothing would be left.
	refused 1 as_nobody ./perf profile -e page-faults:k true <<<"\
perf profile: 'page-faults:k': not permitted: needs CAP_PERFMON or kernel.perf_event_paranoid <= 1 (now 2)"
}

@test "a process that gets the pid of one that has ended is another one" {
	local way name pid tries
	for name in first second; do
		cp "$WORKLOADS/spin" "$T/$name"
	done
	for way in --bpf --no-bpf; do
		open_control all
		background "$T/all" perf profile $way --bpf-attr-map "$ATTR_MAP" -e cpu-clock -F 1000 -s pid,comm,dso,sym -a -j \
			--control "fifo:$T/all.ctl,$T/all.ack"
		tell all ping
		"$T/first" 100000000 &
		pid=$!
		wait "$pid"
		for ((tries = 0; ; tries++)); do
			[ $tries -lt 100 ]
			echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid
			# Another process may have taken it.
			"$T/second" 100000000 &
			[ $! != "$pid" ] || break
			kill $!
			wait $! || :
		done
		wait "$pid"
		tell all stop
		wait "${jobs_started[-1]}"
		grep '^{' "$T/all" >"$T/json"
		jq -s -e --argjson pid "$pid" 'map(select(.pid == $pid and .sym == "main")) |
			all(.dso == .comm) and (group_by(.comm) | map({comm: .[0].comm, nr: (map(.samples) | add)}) |
			map(.comm) == ["first", "second"] and all(.nr > 10))' "$T/json" || { grep "$pid" "$T/json"; return 1; }
	done
}

# is_whole FILE WINDOWS : samples of all kinds and losses are the count of a shared clock. At both ends of a window, a part
# of a period of each CPU is in the one and not in the other
is_whole() {
	jq -s -e --argjson slack $(($2 * $(nproc))) '[.[] | .account // empty] | last |
		([.weight, .idle.weight, .mode.weight, .other.weight, .elsewhere.weight, .thinned, .lost[].weight] | add) as $sum |
		($sum - .counted | fabs) <= $slack * .period' "$1" || { grep '"account"' "$1" >&2; return 1; }
}

# needs : print what the samples of the only slot have, as a sum of SAMPLE_NEEDS_*
needs() {
	"$WORKLOADS/sample_slots" "$ATTR_MAP" needs
}

# takers_are NR : so many sessions have samples of the only slot
takers_are() {
	[ "$("$WORKLOADS/sample_slots" "$ATTR_MAP" takers)" = "$1" ]
}

@test "a session that is disabled lets others sample at their own rate" {
	local slow own
	# addresses of instructions, by process
	start_sampler slow -q -k 0xc -a -F 100 cpu-clock
	slow=$sampler_pid
	own=$(needs)
	open_control fast
	background "$T/fast" perf profile --bpf-attr-map "$ATTR_MAP" -a -g -e cpu-clock -F 1000 -D -1 -j \
		--control "fifo:$T/fast.ctl,$T/fast.ack"
	tell fast ping
	rate_is 1000000
	# It is enabled at its own rate, again and again, and nobody walks its stacks otherwise.
	for _ in 1 2; do
		wait_for rate_is 10000000
		[ "$(needs)" = "$own" ]
		tell fast enable
		rate_is 1000000
		[ "$(needs)" != "$own" ]
		sleep 0.2
		tell fast disable
	done
	tell fast stop
	wait $!
	end_sampler "$slow"
	grep '^{' "$T/fast" >"$T/json"
	is_whole "$T/json" 2
	# The kernel's clocks differ by 0.05 percent at most (sample_sync.c).
	[ "$(account "$T/json" counted)" -ge $((2 * $(nproc) * 199900000)) ]
	adds_up "$T/slow"
}

@test "a session that is enabled without the lock has no samples of others, and misses the time" {
	local slow holder
	background /dev/null blend 100000000000
	# addresses of instructions, and no tasks
	start_sampler slow -q -k 0xc -a -F 499 cpu-clock
	slow=$sampler_pid
	open_control late
	background "$T/late" env PERF_TEST_LOCK_MS=100 perf profile --bpf-attr-map "$ATTR_MAP" -a -g -e cpu-clock -F 100 -s tid,sym -D -1 -j \
		--control "fifo:$T/late.ctl,$T/late.ack"
	late=$!
	tell late ping
	wait_for takers_are 1
	background "$T/held" flock "${ATTR_MAP}_lock/tasks" sleep infinity
	holder=$!
	wait_for grep -q "FLOCK.* WRITE $holder " /proc/locks
	tell late enable
	sleep 0.5
	takers_are 1
	kill -KILL -- "-$holder"
	wait_for takers_are 2
	sleep 0.3
	tell late stop
	wait "$late"
	end_sampler "$slow"
	grep '^{' "$T/late" >"$T/json"
	# Without a tid or a stack it would be one of the other session.
	jq -s -e 'map(select(.samples and .tid == 0 and .sym == "[unknown]")) == []' "$T/json"
	jq -s -e --argjson cpus "$(nproc)" '[.[] | .account // empty] | last | .absent_ns >= 5e8 * $cpus and .samples > 10' "$T/json" >&2
	is_whole "$T/json" 2
	adds_up "$T/slow"
}

@test "a session that is disabled for long has no events" {
	open_control only
	background "$T/only" perf profile --bpf-attr-map "$ATTR_MAP" -a -e cpu-clock -F 1000 -D -1 -j \
		--control "fifo:$T/only.ctl,$T/only.ack"
	tell only ping
	wait_for rate_is 0
	tell only enable
	rate_is 1000000
	tell only stop
	wait $!
}

@test "a session whose reader does not read has no events any more" {
	local full report
	mkfifo "$T/report"
	exec {full}<>"$T/report"
	timeout 1 dd if=/dev/zero bs=4096 count=1000 status=none >&"$full" || :
	background "$T/err" bash -c 'exec perf profile --bpf-attr-map "$0" -a -e cpu-clock -F 1000 >"$1"' \
		"$ATTR_MAP" "$T/report"
	report=$!
	wait_for slots_are "0 1 1 1000000$(printf ' 1000000%.0s' $(seq 2 "$(nr_cpus)"))"
	kill -INT "$report"
	wait_for no_sessions
	# It waits, and has not ended.
	wait_for has_text pipe "/proc/$report/wchan"
	exec {full}>&-
	kill -KILL "$report"
}
