/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_BYTES_H
#define PERF_UTIL_BYTES_H

/* Binary data: a buffer that grows, and a reader that never leaves what it was given. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: empty. Out of memory is remembered, and asked for once at the end. */
struct bytes {
	char *data;			/* owned */
	size_t len, cap;
	bool has_failed;		/* out of memory: not everything is in there */
};

void bytes__put(struct bytes *bytes, const void *data, size_t len);
void bytes__put_u16(struct bytes *bytes, uint16_t value);
void bytes__put_u32(struct bytes *bytes, uint32_t value);
void bytes__put_u64(struct bytes *bytes, uint64_t value);

/** bytes__put_text() - with its NUL */
void bytes__put_text(struct bytes *bytes, const char *text);

/** bytes__put_string() - a length as u32, the text, and NULs up to that length, n * 64 */
void bytes__put_string(struct bytes *bytes, const char *text);

/** bytes__pad() - NULs up to a length of a multiple of @align */
void bytes__pad(struct bytes *bytes, size_t align);
void bytes__clear(struct bytes *bytes);

/* What is left to be read. */
struct byte_reader {
	const char *at;
	size_t left;
	bool is_short;			/* something was to be read that was not there */
};

/** byte_reader__get() - the next bytes; zeros when there are not as many */
void byte_reader__get(struct byte_reader *reader, void *data, size_t len);
uint16_t byte_reader__u16(struct byte_reader *reader);
uint32_t byte_reader__u32(struct byte_reader *reader);
uint64_t byte_reader__u64(struct byte_reader *reader);

/** byte_reader__skip() - where the next @len bytes are; NULL when there are not as many */
const char *byte_reader__skip(struct byte_reader *reader, size_t len);

/** byte_reader__text() - text up to its NUL, in place; NULL: it has none */
const char *byte_reader__text(struct byte_reader *reader);

/** text__make_printable() - '?' for control characters, which a terminal would obey. NULL is ignored */
void text__make_printable(char *text);

/** byte_reader__string() - as bytes__put_string() wrote it, in place; NULL: not there whole */
const char *byte_reader__string(struct byte_reader *reader);

#endif
