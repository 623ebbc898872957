// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/xz_data.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

/* lzma_stream_buffer_decode() of liblzma, and its results. */
typedef int (*decode_t)(uint64_t *memory_limit, uint32_t flags, const void *allocator,
			const uint8_t *in, size_t *in_at, size_t in_len, uint8_t *out,
			size_t *out_at, size_t out_len);
enum lzma_result { LZMA_OK = 0, LZMA_BUF_ERROR = 10 };

/* Dictionaries of xz -9 have 64 MB. */
#define MAX_MEMORY (128UL << 20)

/* Set once by xz_data__init(). The library stays loaded. */
static decode_t decode;

bool xz_data__init(void)
{
	void *library = dlopen("liblzma.so.5", RTLD_NOW | RTLD_LOCAL);

	if (library)
		decode = (decode_t)dlsym(library, "lzma_stream_buffer_decode");
	return decode;
}

/* Return: the unpacked data; NULL with *result LZMA_BUF_ERROR: it is longer than @room. */
static void *unpack(const void *data, size_t *len, size_t room, int *result)
{
	uint64_t memory_limit = MAX_MEMORY;
	size_t in_at = 0, out_at = 0;
	uint8_t *out = malloc(room);

	*result = out ? decode(&memory_limit, 0, NULL, data, &in_at, *len, out, &out_at, room) : -1;
	if (*result == LZMA_OK) {
		*len = out_at;
		return out;
	}
	free(out);
	return NULL;
}

void *xz_data__unpack(const void *data, size_t *len)
{
	int result = decode ? LZMA_BUF_ERROR : -1;
	void *out = NULL;

	for (size_t room = 1 << 20; result == LZMA_BUF_ERROR && room <= XZ_MAX_BYTES; room *= 4)
		out = unpack(data, len, room, &result);
	return out;
}
