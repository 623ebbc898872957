/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_JSON_STRING_H
#define PERF_UTIL_JSON_STRING_H

#include <stdio.h>

/** json_string__print() - a text in quotes, escaped; bytes that are no UTF-8 become U+FFFD */
void json_string__print(FILE *out, const char *text);

#endif
