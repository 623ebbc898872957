/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_JSON_STRING_H
#define PERF_LIB_JSON_STRING_H

/* JSON strings that are safe on terminals. */

#include <stdio.h>

/**
 * json_string__print() - print a text in quotes, escaped
 *
 * Invalid UTF-8 becomes U+FFFD. Characters that printable.h escapes become \n, \u001b and so on.
 */
void json_string__print(FILE *out, const char *text);

/** json_string__print_all() - print json-c's JSON with the same replacements */
void json_string__print_all(FILE *out, const char *json);

#endif
