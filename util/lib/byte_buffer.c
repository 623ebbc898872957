// SPDX-License-Identifier: GPL-2.0
#include "util/lib/byte_buffer.h"

#include <stdlib.h>
#include <string.h>

#define STRING_ALIGN 64

static char *grow(struct byte_buffer *bytes, size_t len)
{
	size_t cap = bytes->cap ? bytes->cap : 256;
	char *data;

	if (bytes->has_failed)
		return NULL;
	while (cap - bytes->len < len)
		cap *= 2;
	if (cap != bytes->cap) {
		data = realloc(bytes->data, cap);
		if (!data) {
			bytes->has_failed = true;
			return NULL;
		}
		bytes->data = data;
		bytes->cap = cap;
	}
	bytes->len += len;
	return bytes->data + bytes->len - len;
}

void byte_buffer__put(struct byte_buffer *bytes, const void *data, size_t len)
{
	char *to = grow(bytes, len);

	if (to && len)
		memcpy(to, data, len);
}

void byte_buffer__put_u16(struct byte_buffer *bytes, uint16_t value)
{
	byte_buffer__put(bytes, &value, sizeof(value));
}

void byte_buffer__put_u32(struct byte_buffer *bytes, uint32_t value)
{
	byte_buffer__put(bytes, &value, sizeof(value));
}

void byte_buffer__put_u64(struct byte_buffer *bytes, uint64_t value)
{
	byte_buffer__put(bytes, &value, sizeof(value));
}

void byte_buffer__put_text(struct byte_buffer *bytes, const char *text)
{
	byte_buffer__put(bytes, text, strlen(text) + 1);
}

static void put_zeros(struct byte_buffer *bytes, size_t len)
{
	char *to = grow(bytes, len);

	if (to)
		memset(to, 0, len);
}

void byte_buffer__put_string(struct byte_buffer *bytes, const char *text)
{
	size_t len = strlen(text) + 1,
	       padded = (len + STRING_ALIGN - 1) / STRING_ALIGN * STRING_ALIGN;

	byte_buffer__put_u32(bytes, padded);
	byte_buffer__put(bytes, text, len);
	put_zeros(bytes, padded - len);
}

void byte_buffer__pad(struct byte_buffer *bytes, size_t align)
{
	put_zeros(bytes, (align - bytes->len % align) % align);
}

void byte_buffer__clear(struct byte_buffer *bytes)
{
	free(bytes->data);
	memset(bytes, 0, sizeof(*bytes));
}

const char *byte_reader__skip(struct byte_reader *reader, size_t len)
{
	const char *at = reader->at;

	if (len > reader->left) {
		reader->is_short = true;
		reader->left = 0;
		return NULL;
	}
	reader->at += len;
	reader->left -= len;
	return at;
}

void byte_reader__get(struct byte_reader *reader, void *data, size_t len)
{
	const char *from = byte_reader__skip(reader, len);

	if (from)
		memcpy(data, from, len);
	else
		memset(data, 0, len);
}

uint16_t byte_reader__u16(struct byte_reader *reader)
{
	uint16_t value;

	byte_reader__get(reader, &value, sizeof(value));
	return value;
}

uint32_t byte_reader__u32(struct byte_reader *reader)
{
	uint32_t value;

	byte_reader__get(reader, &value, sizeof(value));
	return value;
}

uint64_t byte_reader__u64(struct byte_reader *reader)
{
	uint64_t value;

	byte_reader__get(reader, &value, sizeof(value));
	return value;
}

const char *byte_reader__text(struct byte_reader *reader)
{
	size_t len = strnlen(reader->at, reader->left);

	return len < reader->left ? byte_reader__skip(reader, len + 1) :
				    byte_reader__skip(reader, reader->left + 1);
}

const char *byte_reader__string(struct byte_reader *reader)
{
	uint32_t len = byte_reader__u32(reader);
	const char *text = byte_reader__skip(reader, len);

	if (text && !memchr(text, '\0', len)) {
		reader->is_short = true;
		return NULL;
	}
	return text;
}
