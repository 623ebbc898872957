// SPDX-License-Identifier: GPL-2.0
/* Any bytes are recorded counts or are refused with a message, without reads beyond them. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/cmd/stat_cmd.h"
#include "util/cmd/stat_report.h"
#include "util/defs/definitions.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/event/tool_values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The last byte of the input chooses the format, and a breakdown other than the recorded one. */
	static const enum aggr_mode modes[] = {AGGR_UNSET, AGGR_UNSET, AGGR_NONE,   AGGR_CORE,
					       AGGR_CACHE, AGGR_NODE,  AGGR_THREAD, AGGR_GLOBAL};
	static struct pmus *pmus;
	static struct definitions *defs;
	uint8_t how = size ? data[--size] : 0;
	struct stat_cmd cmd = {
		.log_fd = NO_LOG_FD,
		.quiet = true,
		.run.config = {.options = {.aggr_mode = modes[how % 8],
					   .run_count = 1,
					   .big_num = 1,
					   .csv_sep = how & 8 ? "," : NULL,
					   .json = (how & 24) == 16},
			       .env.literal = tool__literal},
	};
	char path[64];
	int fd, status;

	if (!pmus) {
		/* This fuzzer does not check messages. */
		stderr = fopen("/dev/null", "w");
		pmus = pmus__new("/nonexistent");
		defs = definitions__new();
		assert(stderr && pmus && defs);
	}
	cmd.pmus = pmus;
	cmd.defs = defs;
	cmd.evlist = evlist__new();
	assert(cmd.evlist);
	cmd.run.config.env.target = &cmd.run.target;
	cmd.run.config.env.defs = defs;
	cmd.run.config.env.pmus = pmus;
	fd = memfd_create("perf.data", MFD_CLOEXEC);
	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	status = stat_report__print(&cmd, path);
	assert(!status || status == STATUS_INVALID || status == STATUS_NO_DATA ||
	       status == STATUS_FAILED);
	assert(!cmd.file && !cmd.stat);
	metric_options__clear(&cmd.metrics);
	evlist__delete(cmd.evlist);
	close(fd);
	return 0;
}
