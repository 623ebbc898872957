/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_PRINTABLE_H
#define PERF_LIB_PRINTABLE_H

/*
 * Untrusted texts on a terminal: names of threads, cgroups, programs, commands and events. They stay
 * raw in memory and in perf.data; text and CSV print them through this file, JSON through
 * json_string.c.
 *
 * It escapes control characters (C0, DEL, C1), line and paragraph separators, invalid UTF-8, and characters
 * that change the direction of the text. They become \n or \033, as with "ls -b". Backslashes are not
 * escaped, because names of systemd's units contain them. The locale does not matter.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A character of a text, or one byte of invalid UTF-8. */
struct printable_char {
	int len; /* in bytes */
	uint32_t code;
	bool is_valid; /* UTF-8: no overlong form, no surrogate, at most U+10FFFF */
	bool is_plain; /* valid, and without effect on a terminal */
};

/** printable__char() - the first character of @text, which is not empty */
struct printable_char printable__char(const char *text);

/**
 * printable__text() - a copy of a text, escaped
 * @twin: a text of the same length, or NULL. Where the two differ, @text has a control character
 *	that stays.
 *
 * Return: owned by the caller; NULL with errno ENOMEM.
 */
char *printable__text(const char *text, const char *twin);

/** printable__len() - length of an escaped text in bytes, as printf() aligns */
int printable__len(const char *text);

/** printable__put() - print a text, escaped and aligned as by "%*s" */
void printable__put(FILE *out, int width, const char *text);

/** printable__put_csv() - print a field, escaped, and quoted where RFC 4180 demands it */
void printable__put_csv(FILE *out, const char *text, const char *sep);

#endif
