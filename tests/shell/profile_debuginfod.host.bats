#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# perf profile --debuginfod: debug information from servers, here one of this machine. cpu-clock needs no PMU.

load lines

requirements() {
	require_root
	require_commands jq gcc objcopy strip python3
	begin_lines
	[ -n "$(library)" ] || skip_or_fail "libdebuginfod.so.1 is not installed"
	unset DEBUGINFOD_URLS
	public=$(mktemp -d)
	chmod 1777 "$public"
}

teardown() {
	end_jobs
	[ -z "${public-}" ] || rm -r "$public"
}

# library : print the path of libdebuginfod
library() {
	ldconfig -p | sed -nE 's/.*libdebuginfod\.so\.1 .*=> (.*)/\1/p' | head -n 1
}

# profile OPTION... : sample, with a directory for temporary files that everybody may use
profile() {
	TMPDIR=$public perf profile --no-bpf -e cpu-clock -F 2000 "$@"
}

# stripped NAME OPTION... : make a program without symbols, and in $T/files the file with its debug information, by
# its build id, which is in $id
stripped() {
	local name=$1
	shift
	compiled gcc mix.c "$name" "$@"
	mkdir -p "$T/files"
	id=$(readelf -n "$T/$name" | sed -nE 's/.*Build ID: //p')
	objcopy --only-keep-debug "$T/$name" "$T/files/$id"
	strip "$T/$name"
}

# serve MODE : start a server in the background, which sets $url. It writes each request into $T/requests, and the rights
# of the process that asks into $T/rights. MODE files sends $T/files/ID; held sends it when there is
# $T/go; silent sends nothing.
serve() {
	cat >"$T/server.py" <<-'EOS'
		import glob, http.server, os, sys, time
		directory, mode = sys.argv[1:]

		def rights():
		    for status in glob.glob("/proc/[0-9]*/status"):
		        try:
		            # Other tests have processes whose names are not UTF-8.
		            text = open(status, errors="replace").read()
		        except OSError:
		            continue
		        if text.startswith("Name:\tperf-debuginfod\n"):
		            yield text

		class Handler(http.server.BaseHTTPRequestHandler):
		    def log_message(self, *args):
		        pass

		    def do_GET(self):
		        with open(directory + "/requests", "a") as log:
		            log.write(self.path + "\n")
		        with open(directory + "/rights", "w") as log:
		            log.write("".join(rights()))
		        if mode == "silent":
		            time.sleep(1000)
		        while mode == "held" and not os.path.exists(directory + "/go"):
		            time.sleep(0.1)
		        _, kind, name, file = (self.path + "///").split("/")[:4]
		        path = directory + "/files/" + os.path.basename(name)
		        if kind != "buildid" or file != "debuginfo" or not os.path.exists(path):
		            self.send_error(404)
		            return
		        data = open(path, "rb").read()
		        self.send_response(200)
		        self.send_header("Content-Length", str(len(data)))
		        self.end_headers()
		        self.wfile.write(data)

		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		server.daemon_threads = True
		with open(directory + "/port.new", "w") as port:
		    port.write(str(server.server_port))
		os.rename(directory + "/port.new", directory + "/port")
		server.serve_forever()
	EOS
	rm -f "$T/port"
	background "$T/server.log" python3 "$T/server.py" "$T" "$1"
	wait_for test -e "$T/port"
	url=http://127.0.0.1:$(<"$T/port")
}

# names OPTION... : print the sampled functions of $T/program with their lines. $T/err has perf's complaints.
names() {
	profile --lines -j "$@" -- "$T/program" 1000000 2>"$T/messages" >"$T/json"
	complaints "$T/messages" | grep -v '^[0-9]*$' >"$T/err" || : # the program prints its result
	jq -r 'select(.dso == "program") | "\(.sym) \(.srcline // "")"' "$T/json"
}

@test "a stripped program has the names and lines of a server, but only if that is asked for" {
	serve files
	stripped program
	names >"$T/without"
	DEBUGINFOD_URLS=$url names >>"$T/without"
	DEBUGINFOD_URLS=$url names --debuginfod= >>"$T/without"
	refute grep -E '^sum|mix\.c' "$T/without"
	[ ! -e "$T/requests" ]
	names --debuginfod="$url" >"$T/names"
	grep -qE '^sum mix\.c:[0-9]+$' "$T/names"
	grep -qx "/buildid/$id/debuginfo" "$T/requests"
	DEBUGINFOD_URLS="http://127.0.0.1:1 $url" names --debuginfod | grep -qE '^sum mix\.c:[0-9]+$'
	printf '[buildid-cache]\n\tdebuginfod = %s\n' "$url" >"$T/config"
	PERF_CONFIG=$T/config names | grep -qE '^sum mix\.c:[0-9]+$'
	PERF_CONFIG=$T/config names --debuginfod= >"$T/without"
	refute grep -E '^sum|mix\.c' "$T/without"
	# names alone, and the instructions of a file
	profile -j -o "$T/data" --debuginfod="$url" -- "$T/program" 1000000 2>/dev/null | jq -s -e 'any(.[]; .sym == "sum")'
	perf profile report --debuginfod="$url" --annotate sum -j "$T/data" | jq -s -e 'any(.[]; .line > 0)'
	[ -z "$(ls -A "$public")" ]
}

@test "the process that fetches has no rights, and a signal ends it" {
	serve files
	stripped program
	names --debuginfod="$url" >"$T/names"
	local line
	for line in "Uid: 65534 65534 65534 65534" "Gid: 65534 65534 65534 65534" "Groups: " \
		"CapPrm: 0000000000000000" "CapEff: 0000000000000000" "CapInh: 0000000000000000" "NoNewPrivs: 1"; do
		tr -s '\t' ' ' <"$T/rights" | grep -qxF "$line"
	done
	end_jobs
	serve silent
	rm "$T/requests"
	background "$T/out" env TMPDIR="$public" perf profile --no-bpf -e cpu-clock -F 2000 \
		--debuginfod="$url" -- "$T/program" 1000000
	profiler=$!
	wait_for test -s "$T/requests"
	kill -INT "$profiler"
	wait "$profiler" || :
	grep -qx "perf profile: debuginfod: interrupted: no further debug information is fetched" "$T/out"
	grep -qE '^# [0-9,]+ samples stand for ' "$T/out"
	[ -z "$(ls -A "$public")" ]
}

@test "a file that comes for long has its progress on a terminal, which is erased before the report" {
	local command session
	require_commands script
	serve held
	stripped program
	printf -v command '%q ' perf profile --no-bpf -e cpu-clock -F 2000 --lines -j --debuginfod="$url" -- "$T/program" 1000000
	background "$T/screen" env TMPDIR="$public" DEBUGINFOD_TIMEOUT=100 script -qfec "$command" /dev/null
	session=$!
	# while the server is silent
	wait_for grep -aqP '\rreading symbols: +[0-9]+ % \(program\)\e\[K' "$T/screen"
	[ -s "$T/requests" ]
	touch "$T/go"
	wait "$session"
	tr '\r' '\n' <"$T/screen" | awk '/^reading symbols/ { last = NR } /^\033\[K/ { erased = NR; nr++ }
		END { exit nr != 1 || erased != last + 1 }'
	grep -aqE '"sym": "sum", .*"srcline": "mix\.c:[0-9]+"' "$T/screen"
}

@test "servers that are silent or gone cost one warning, and no names" {
	serve silent
	stripped program
	DEBUGINFOD_TIMEOUT=1 names --debuginfod="$url" >"$T/names"
	[ "$(<"$T/err")" = "perf profile: debuginfod: the servers take too long: no further debug information is fetched" ]
	grep -q '^program+0x' "$T/names"
	[ "$(wc -l <"$T/requests")" = 1 ]
	end_jobs
	names --debuginfod="$url" >"$T/names"
	[ "$(<"$T/err")" = "perf profile: debuginfod: Connection refused: no further debug information is fetched" ]
	grep -q '^program+0x' "$T/names"
	[ -z "$(ls -A "$public")" ]
}

@test "a file of another build, and one that is none, are not used" {
	serve files
	stripped other -O1
	stripped program
	mv "$T/files/$id" "$T/right"
	for file in "$T/files/"* "$T/server.py" /dev/null; do
		cp "$file" "$T/files/$id"
		names --debuginfod="$url" >"$T/names"
		refute grep -E '^sum|mix\.c' "$T/names"
		diff /dev/null "$T/err" >&2
	done
	cp "$T/right" "$T/files/$id"
	names --debuginfod="$url" | grep -qE '^sum mix\.c:[0-9]+$'
}

@test "without a directory for temporary files, a warning says so" {
	stripped program
	# shellcheck disable=SC2016 # the inner shell's
	TMPDIR=/nonexistent unshare -m sh -c 'mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp && exec "$@"' sh \
		perf profile --no-bpf -e cpu-clock -F 2000 --debuginfod=http://127.0.0.1:1 -- "$T/program" 1000000 \
		2>"$T/err" >"$T/text"
	[ "$(complaints "$T/err")" = "perf profile: debuginfod: there is no directory for temporary files (TMPDIR): no further debug information is fetched" ]
	grep -q 'samples stand for' "$T/text"
}

@test "without libdebuginfod, a warning names it" {
	stripped program
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m sh -c 'mount --bind /dev/null "$0" && exec "$@"' "$(realpath "$(library)")" \
		perf profile --no-bpf -e cpu-clock -F 2000 --debuginfod=http://127.0.0.1:1 -- "$T/program" 1000000 \
		2>"$T/err" >"$T/text"
	[ "$(complaints "$T/err")" = "perf profile: debuginfod: libdebuginfod.so.1 cannot be loaded (elfutils): no further debug information is fetched" ]
	grep -q 'samples stand for' "$T/text"
}

# imitated : put a library in place of libdebuginfod in $public, which does what $MODE says
imitated() {
	cat >"$T/imitated.c" <<-'EOS'
		#include <errno.h>
		#include <fcntl.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/socket.h>
		#include <time.h>
		#include <unistd.h>

		static int (*progress)(void *client, long a, long b);

		static int is_mode(const char *mode) { return !strcmp(getenv("MODE"), mode); }

		__attribute__((constructor)) static void begin(void)
		{
			if (is_mode("dead"))
				_exit(3);
		}

		void *debuginfod_begin(void) { return &progress; }
		void debuginfod_set_progressfn(void *client, int (*fn)(void *, long, long)) { progress = fn; }
		void debuginfod_end(void *client) { }

		/* So many bytes of a reply with so many descriptors. */
		static void reply(int err, int len, int nr_fds, const int *fds)
		{
			char control[CMSG_SPACE(2 * sizeof(*fds))] __attribute__((aligned(8))) = {};
			struct iovec part = {&err, len};
			struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

			if (nr_fds) {
				message.msg_control = control;
				message.msg_controllen = sizeof(control);
				CMSG_FIRSTHDR(&message)->cmsg_level = SOL_SOCKET;
				CMSG_FIRSTHDR(&message)->cmsg_type = SCM_RIGHTS;
				CMSG_FIRSTHDR(&message)->cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
				memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), fds, nr_fds * sizeof(*fds));
			}
			if (sendmsg(3, &message, MSG_NOSIGNAL) < 0)
				_exit(1);
		}

		/* Tell when nobody has the file of such a reply open any more. */
		static void reply_shortly(void)
		{
			int ends[2];
			char byte;

			if (pipe(ends))
				_exit(1);
			reply(0, 1, 1, &ends[1]);
			close(ends[1]);
			if (!read(ends[0], &byte, 1))
				close(creat(getenv("BEGUN"), 0644));
			_exit(0);
		}

		static long now_ms(void)
		{
			struct timespec now;

			clock_gettime(CLOCK_MONOTONIC, &now);
			return now.tv_sec * 1000 + now.tv_nsec / 1000000;
		}

		int debuginfod_find_debuginfo(void *client, const unsigned char *id, int len, char **path)
		{
			/* perf waits for four seconds if it hears nothing. */
			long end = now_ms() + 4500;

			for (long bytes = 0; is_mode("steady") && now_ms() < end; usleep(20000)) {
				if (progress(client, bytes += 4096, 0))
					return -ETIMEDOUT;
			}
			if (is_mode("flood"))
				close(creat(getenv("BEGUN"), 0644));
			while (is_mode("flood"))
				reply(-EINPROGRESS, sizeof(int), 0, NULL);
			if (is_mode("two files"))
				reply(-ENOENT, sizeof(int), 2, (int[2]){});
			if (is_mode("short reply"))
				reply_shortly();
			return -ENOENT;
		}
	EOS
	gcc -shared -fPIC -o "$public/libdebuginfod.so.1" "$T/imitated.c"
}

# with_imitated MODE FILE : sample with that library; the warnings go to FILE
with_imitated() {
	MODE=$1 DEBUGINFOD_TIMEOUT=1 LD_LIBRARY_PATH=$public profile --debuginfod=http://127.0.0.1:1 \
		-- "$T/program" 1000000 2>"$2" >"$2.text"
}

@test "files that come for long are waited for, and a process in hostile hands cannot hold perf" {
	local steady flood no_more="no further debug information is fetched"
	stripped program
	imitated
	with_imitated dead "$T/err"
	grep -qxF "perf profile: debuginfod: the process that fetches files has ended: $no_more" "$T/err"
	[ "$(ls -A "$public")" = libdebuginfod.so.1 ]
	with_imitated steady "$T/steady" &
	jobs_started+=($!)
	steady=$!
	with_imitated "two files" "$T/err"
	grep -qxF "perf profile: debuginfod: Protocol error: $no_more" "$T/err"
	# perf closes what comes with a short reply; the process would be killed while it waits for that.
	BEGUN=$public/closed with_imitated "short reply" "$T/err"
	grep -qxF "perf profile: debuginfod: Protocol error: $no_more" "$T/err"
	[ -e "$public/closed" ]
	background "$T/flood" env MODE=flood BEGUN="$public/begun" LD_LIBRARY_PATH="$public" TMPDIR="$public" \
		perf profile --no-bpf -e cpu-clock -F 2000 --debuginfod=http://127.0.0.1:1 -- "$T/program" 1000000
	flood=$!
	wait_for test -e "$public/begun"
	kill -INT "$flood"
	wait "$flood" || :
	grep -qxF "perf profile: debuginfod: interrupted: $no_more" "$T/flood"
	wait "$steady"
	refute grep debuginfod "$T/steady"
	grep -q 'samples stand for' "$T/steady.text"
}

@test "faulty servers are refused" {
	fails_with 129 "perf profile: --debuginfod: DEBUGINFOD_URLS is not set: --debuginfod=URLS" perf profile --debuginfod -- true
	fails_with 129 "perf profile: --debuginfod example.org: not a URL: http://, https:// or file://" \
		perf profile --debuginfod=example.org -- true
}
