/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_KEY_INPUT_H
#define PERF_LIB_KEY_INPUT_H

/* Bytes from a terminal as keys, or as a line that the user types. */

#include <stdbool.h>

#define KEY_NONE      0	 /* nothing yet */
#define KEY_ENTERED   -1 /* the line is complete */
#define KEY_CANCELLED -2 /* the line is of no interest any more */

/* All zero: keys. */
struct key_input {
	bool is_line; /* the user types a line */
	char line[64];
	int len; /* of the line */
	enum { KEY_PLAIN, KEY_ESCAPE, KEY_SEQUENCE } state;
};

/** key_input__ask() - from now on the bytes make a line, which begins with @text */
void key_input__ask(struct key_input *input, const char *text);

/**
 * key_input__take() - take a byte
 * @is_last: nothing follows for now, so Esc is the key, and not the begin of a sequence
 *
 * Sequences of cursor and function keys are ignored. In a line, Backspace removes a character, Ctrl-U all of
 * them, Enter completes it, and Esc cancels it.
 * Return: a byte of 1 or more that is a key, or one of KEY_NONE, KEY_ENTERED, KEY_CANCELLED.
 */
int key_input__take(struct key_input *input, unsigned char byte, bool is_last);

#endif
