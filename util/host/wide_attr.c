// SPDX-License-Identifier: GPL-2.0
#include "util/host/wide_attr.h"

#include <string.h>

void wide_attr__set_size(union wide_attr *wide)
{
	uint64_t words[NR_MORE_CONFIG];
	uint32_t size = sizeof(wide->attr);

	memcpy(words, wide->bytes + MORE_CONFIG_OFFSET, sizeof(words));
	for (int i = 0; i < NR_MORE_CONFIG; i++) {
		uint32_t end = MORE_CONFIG_OFFSET + (i + 1) * sizeof(words[i]);

		if (words[i] && end > size)
			size = end;
	}
	wide->attr.size = size;
}

uint64_t wide_attr__more(const struct perf_event_attr *attr, int i)
{
	size_t offset = MORE_CONFIG_OFFSET + i * sizeof(uint64_t);
	uint64_t word = 0;

	if (attr->size >= offset + sizeof(word))
		memcpy(&word, (const uint8_t *)attr + offset, sizeof(word));
	return word;
}
