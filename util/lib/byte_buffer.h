/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_BYTE_BUFFER_H
#define PERF_LIB_BYTE_BUFFER_H

/* Growing buffers and bounds-checked readers for binary data. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: empty. It remembers a failed allocation, so callers check once at the end. */
struct byte_buffer {
	char *data; /* owned */
	size_t len, cap;
	bool has_failed; /* out of memory: data is missing */
};

void byte_buffer__put(struct byte_buffer *bytes, const void *data, size_t len);
void byte_buffer__put_u16(struct byte_buffer *bytes, uint16_t value);
void byte_buffer__put_u32(struct byte_buffer *bytes, uint32_t value);
void byte_buffer__put_u64(struct byte_buffer *bytes, uint64_t value);

/** byte_buffer__put_text() - append a text with its NUL */
void byte_buffer__put_text(struct byte_buffer *bytes, const char *text);

/** byte_buffer__put_string() - append a length (u32, a multiple of 64), the text, and NULs */
void byte_buffer__put_string(struct byte_buffer *bytes, const char *text);

/** byte_buffer__pad() - append NULs until the length is a multiple of @align */
void byte_buffer__pad(struct byte_buffer *bytes, size_t align);
void byte_buffer__clear(struct byte_buffer *bytes);

/* The data that is left to read. */
struct byte_reader {
	const char *at;
	size_t left;
	bool is_short; /* a read went past the end */
};

/** byte_reader__get() - copy the next bytes; zeros past the end */
void byte_reader__get(struct byte_reader *reader, void *data, size_t len);
uint16_t byte_reader__u16(struct byte_reader *reader);
uint32_t byte_reader__u32(struct byte_reader *reader);
uint64_t byte_reader__u64(struct byte_reader *reader);

/** byte_reader__skip() - the next @len bytes, in place; NULL past the end */
const char *byte_reader__skip(struct byte_reader *reader, size_t len);

/** byte_reader__text() - a text with its NUL, in place; NULL without a NUL */
const char *byte_reader__text(struct byte_reader *reader);

/** byte_reader__string() - as byte_buffer__put_string() wrote it, in place; NULL: incomplete */
const char *byte_reader__string(struct byte_reader *reader);

#endif
