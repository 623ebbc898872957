/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_PROTOBUF_H
#define PERF_LIB_PROTOBUF_H

/* Messages in the encoding of Protocol Buffers, written. */

#include "util/lib/byte_buffer.h"

/** protobuf__put_number() - append a field with a number; 0 is the default, and takes no room */
void protobuf__put_number(struct byte_buffer *message, int field, uint64_t value);

/** protobuf__put_bytes() - append a field with a text or a message */
void protobuf__put_bytes(struct byte_buffer *message, int field, const void *data, size_t len);

/** protobuf__put_message() - append a field with a message, which is cleared */
void protobuf__put_message(struct byte_buffer *message, int field, struct byte_buffer *inner);

/** protobuf__put_packed() - append a number to the contents of a packed field, which is bytes */
void protobuf__put_packed(struct byte_buffer *numbers, uint64_t value);

#endif
