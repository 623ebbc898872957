// SPDX-License-Identifier: GPL-2.0
#include "util/lib/key_input.h"

#include <stdio.h>

#define ESC	  0x1b
#define DEL	  0x7f
#define BACKSPACE 0x08
#define CTRL_U	  0x15

void key_input__ask(struct key_input *input, const char *text)
{
	input->is_line = true;
	input->len = snprintf(input->line, sizeof(input->line), "%s", text);
	if (input->len >= (int)sizeof(input->line))
		input->len = sizeof(input->line) - 1;
}

/* Return: whether the byte belongs to a sequence. */
static bool is_of_sequence(struct key_input *input, unsigned char byte)
{
	switch (input->state) {
	case KEY_ESCAPE:
		/* Without a bracket it is Alt and a key. */
		input->state = byte == '[' || byte == 'O' ? KEY_SEQUENCE : KEY_PLAIN;
		return true;
	case KEY_SEQUENCE:
		if (byte >= 0x40 && byte < DEL)
			input->state = KEY_PLAIN;
		return true;
	default:
		return false;
	}
}

static void remove_last(struct key_input *input)
{
	/* The other bytes of a UTF-8 character go with its first one. */
	while (input->len && (input->line[--input->len] & 0xc0) == 0x80)
		;
	input->line[input->len] = '\0';
}

static int end_line(struct key_input *input, int key)
{
	input->is_line = false;
	return key;
}

static int take_for_line(struct key_input *input, unsigned char byte)
{
	if (byte == '\n' || byte == '\r')
		return end_line(input, KEY_ENTERED);
	if (byte == ESC)
		return end_line(input, KEY_CANCELLED);
	if (byte == DEL || byte == BACKSPACE) {
		remove_last(input);
	} else if (byte == CTRL_U) {
		input->line[input->len = 0] = '\0';
	} else if (byte >= ' ' && input->len < (int)sizeof(input->line) - 1) {
		input->line[input->len++] = byte;
		input->line[input->len] = '\0';
	}
	return KEY_NONE;
}

int key_input__take(struct key_input *input, unsigned char byte, bool is_last)
{
	if (is_of_sequence(input, byte))
		return KEY_NONE;
	if (byte == ESC && !is_last) {
		input->state = KEY_ESCAPE;
		return KEY_NONE;
	}
	return input->is_line ? take_for_line(input, byte) : byte;
}
