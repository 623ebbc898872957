// SPDX-License-Identifier: GPL-2.0
/*
 * The list shows or omits any numbers in a leader's registry, without reads beyond it. The list reads
 * a copy, so numbers that change meanwhile are no different from wrong ones.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bperf/leader_internal.h"
#include "util/bperf/snapshot.h"
#include "util/cmd/bperf_print.h"
#include "util/event/pmu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One change of a field of one table entry, or for the last kind of any word of the registry. */
struct change {
	uint16_t field;
	uint16_t nr;
	uint32_t value;
};

#define FIELD(table, max, name)                                                                    \
	{                                                                                          \
		offsetof(struct registry, table[0].name),                                          \
			sizeof(((struct registry *)0)->table[0]), max                              \
	}

static const struct {
	size_t offset, stride;
	unsigned int max;
} fields[] = {
	FIELD(event, MAX_EVENTS, state),	 FIELD(event, MAX_EVENTS, leader),
	FIELD(event, MAX_EVENTS, nr_members),	 FIELD(event, MAX_EVENTS, nr_open),
	FIELD(event, MAX_EVENTS, users),	 FIELD(event, MAX_EVENTS, key), /* type */
	FIELD(event, MAX_EVENTS, key.bytes[8]),					/* config */
	FIELD(event, MAX_EVENTS, key.bytes[40]),				/* modifiers */
	FIELD(session, MAX_SESSIONS, token),	 FIELD(session, MAX_SESSIONS, pid),
	FIELD(session, MAX_SESSIONS, comm),	 FIELD(pair, MAX_PAIRS, prog_id),
	FIELD(pair, MAX_PAIRS, users),		 {0, sizeof(uint32_t), 1 << 16},
};

#define NR_FIELDS (sizeof(fields) / sizeof(*fields))

static void apply(struct registry *reg, const struct change *change)
{
	size_t f = change->field % NR_FIELDS;
	size_t at = fields[f].offset + change->nr % fields[f].max * fields[f].stride;

	assert(at + sizeof(change->value) <= sizeof(*reg));
	memcpy((uint8_t *)reg + at, &change->value, sizeof(change->value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pmus *pmus;
	static struct registry registry;
	const struct bperf_leader leader = {.registry = &registry, .nr_cpus = 2};
	struct snapshot list = {};
	struct change change;

	if (!pmus) {
		stdout = fopen("/dev/null", "w");
		pmus = pmus__new("/nonexistent");
		assert(stdout && pmus);
	}
	memset(&registry, 0, sizeof(registry));
	for (; size >= sizeof(change); size -= sizeof(change), data += sizeof(change)) {
		memcpy(&change, data, sizeof(change));
		apply(&registry, &change);
	}
	assert(!snapshot__copy(&list, &leader));
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (list.registry->event[slot].state == REG_READY)
			(void)snapshot__entry(&list, slot);
	}
	bperf_print__text(&list, "/nowhere", pmus);
	assert(!bperf_print__json(&list, "/nowhere", pmus));
	snapshot__clear(&list);
	return 0;
}
