// SPDX-License-Identifier: GPL-2.0
/* Any bytes are a profile or are refused with a message, and a profile that was read can be printed in every way. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/data/profile_replay.h"
#include "util/event/evlist.h"
#include "util/profile/pprof.h"
#include "util/profile/profile_flame.h"
#include "util/profile/profile_options.h"
#include "util/profile/profile_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(const struct profile_replay *replay, const struct profile_options *options,
		  FILE *out)
{
	const struct profile_report report = {
		.options = options,
		.samples = &replay->samples,
		.events = replay->events,
		.accounts = replay->accounts,
		.target = replay->target,
		.rate = "99 Hz",
		.time_ns = replay->time_ns,
		.elapsed_ns = replay->elapsed_ns,
	};

	assert(!profile_report__print(out, &report));
	assert(!pprof__write(out, &report, ""));
	if (replay->events->nr == 1)
		assert(!profile_flame__write(out, &report, "x.svg"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The last two bytes of the input choose the view and the columns. */
	static const char *const sorts[] = {"dso,sym", "comm,pid,tid,cpu,cgroup,prio,daddr",
					    "ip,page", "sym"};
	static FILE *out;
	uint8_t view = size ? data[--size] : 0, columns = size ? data[--size] : 0;
	struct profile_replay replay = {
		.samples = {.no_kernel = columns & 4, .no_user = columns & 8}};
	struct profile_options options = {
		.view = view % 4,
		.format = view / 4 % 3,
		.is_caller = view & 16,
		.no_children = view & 32,
		.csv_sep = ";",
		.cgroups = &replay.cgroups,
	};
	char path[64];
	int fd, err;

	if (!out) {
		/* This fuzzer does not check messages. */
		stderr = fopen("/dev/null", "w");
		out = fopen("/dev/null", "w");
		assert(stderr && out);
	}
	assert(!sort_keys__parse(&options.sort, sorts[columns % 4]));
	fd = memfd_create("perf.data", MFD_CLOEXEC);
	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = profile_replay__read(&replay, path);
	assert(!err || err == -EINVAL);
	if (!err)
		print(&replay, &options, out);
	profile_replay__clear(&replay);
	close(fd);
	return 0;
}
