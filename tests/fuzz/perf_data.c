// SPDX-License-Identifier: GPL-2.0
/* Any bytes are recorded counts, or are refused with a message; nothing is read beyond them. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/definitions.h"
#include "util/evlist.h"
#include "util/pmu.h"
#include "util/stat_cmd.h"
#include "util/stat_report.h"
#include "util/tool_facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The last byte chooses the format, and rows other than those that were recorded. */
	static const enum aggr_mode modes[] = { AGGR_UNSET, AGGR_UNSET, AGGR_NONE, AGGR_CORE,
						AGGR_CACHE, AGGR_NODE, AGGR_THREAD, AGGR_GLOBAL };
	static struct pmus *pmus;
	static struct definitions *defs;
	uint8_t how = size ? data[--size] : 0;
	struct stat_cmd cmd = {
		.log_fd = NO_LOG_FD,
		.quiet = true,
		.run.config = { .aggr_mode = modes[how % 8], .run_count = 1, .big_num = 1,
				.csv_sep = how & 8 ? "," : NULL, .json = (how & 24) == 16,
				.literal = tool__literal },
	};
	char path[64];
	int fd, status;

	if (!pmus) {
		/* Messages are not looked at. */
		stderr = fopen("/dev/null", "w");
		pmus = pmus__new("/nonexistent");
		defs = definitions__new();
		assert(stderr && pmus && defs);
	}
	cmd.pmus = pmus;
	cmd.defs = defs;
	cmd.evlist = evlist__new();
	assert(cmd.evlist);
	cmd.run.config.target = &cmd.run.target;
	cmd.run.config.defs = defs;
	cmd.run.config.pmus = pmus;
	fd = memfd_create("perf.data", MFD_CLOEXEC);
	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	status = stat_report__print(&cmd, path);
	assert(!status || status == STATUS_INVALID || status == STATUS_NO_DATA ||
	       status == STATUS_FAILED);
	assert(!cmd.file && !cmd.run.stat);
	metric_plan__clear(&cmd.metrics);
	evlist__delete(cmd.evlist);
	close(fd);
	return 0;
}
