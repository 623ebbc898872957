// SPDX-License-Identifier: GPL-2.0
/*
 * wild_keys PATH: set bits in all keys of events in the registry of the leader of the attr map at PATH, which tell how
 * an event is opened, not which event it is. The kernel refuses an event with all of them.
 */
#include "leader_tables.h"
#include <linux/perf_event.h>

int main(int argc, char **argv)
{
	struct registry *reg;

	usage_unless(argc == 2, "PATH");
	reg = map_leader_of(argv[1], PROT_READ | PROT_WRITE);
	for (int i = 0; i < MAX_EVENTS; i++) {
		struct perf_event_attr *attr = (void *)reg->event[i].key.bytes;

		if (reg->event[i].state == REG_FREE)
			continue;
		attr->sample_period = 1;
		attr->sample_type = PERF_SAMPLE_IP;
		attr->inherit = 1;
		attr->sigtrap = 1;
	}
	return 0;
}
