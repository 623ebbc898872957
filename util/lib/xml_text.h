/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_XML_TEXT_H
#define PERF_LIB_XML_TEXT_H

/* Untrusted texts in XML and HTML. */

#include <stdio.h>

/**
 * xml_text__put() - print a text as content of an element, or of an attribute in quotes
 *
 * Escapes as printable.h does, then the characters with a meaning in XML, and those that XML forbids.
 */
void xml_text__put(FILE *out, const char *text);

#endif
