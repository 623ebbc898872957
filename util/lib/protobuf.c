// SPDX-License-Identifier: GPL-2.0
#include "util/lib/protobuf.h"

enum wire_type { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* Seven bits a byte, the lowest first; the eighth bit: more follow. */
static void put_varint(struct byte_buffer *bytes, uint64_t value)
{
	uint8_t coded[10];
	int len = 0;

	do {
		coded[len] = value & 0x7f;
		value >>= 7;
		coded[len++] |= value ? 0x80 : 0;
	} while (value);
	byte_buffer__put(bytes, coded, len);
}

static void put_key(struct byte_buffer *message, int field, enum wire_type type)
{
	put_varint(message, (uint64_t)field << 3 | type);
}

void protobuf__put_number(struct byte_buffer *message, int field, uint64_t value)
{
	if (!value)
		return;
	put_key(message, field, WIRE_VARINT);
	put_varint(message, value);
}

void protobuf__put_bytes(struct byte_buffer *message, int field, const void *data, size_t len)
{
	put_key(message, field, WIRE_BYTES);
	put_varint(message, len);
	byte_buffer__put(message, data, len);
}

void protobuf__put_message(struct byte_buffer *message, int field, struct byte_buffer *inner)
{
	protobuf__put_bytes(message, field, inner->data, inner->len);
	message->has_failed |= inner->has_failed;
	byte_buffer__clear(inner);
}

void protobuf__put_packed(struct byte_buffer *numbers, uint64_t value)
{
	put_varint(numbers, value);
}
