// SPDX-License-Identifier: GPL-2.0
#include "util/profile/early_maps.h"

#include "util/lib/util.h"
#include "util/symbol/symbols.h"
#include "util/target/target.h"

int early_maps__begin(struct early_maps *maps, const struct target *target)
{
	if (target__has_task(target) && !target__is_attached(target))
		return 0;
	return pid_list__find(&maps->pids, target);
}

int early_maps__read(struct early_maps *maps, struct symbols *symbols, uint64_t limit_ns)
{
	uint64_t end_ns = clock_ns() + limit_ns;
	int ret = 0;

	while (maps->nr_read < maps->pids.nr && ret >= 0) {
		const struct process_key key = {
			.pid = maps->pids.pids[maps->nr_read++],
			.exec_id = EXEC_ID_LATEST,
		};

		ret = symbols__process(symbols, &key);
		if (clock_ns() >= end_ns)
			break;
	}
	return ret < 0 ? ret : 0;
}

void early_maps__clear(struct early_maps *maps)
{
	pid_list__clear(&maps->pids);
	maps->nr_read = 0;
}
