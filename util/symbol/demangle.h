/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_DEMANGLE_H
#define PERF_SYMBOL_DEMANGLE_H

/* Names of C++ and Rust, as the source has them. */

#include <stdbool.h>

/**
 * demangle__init() - load the C++ library, whose demangler is used in builds without libiberty
 *
 * Return: false if no such library is installed. Names then stay as they are.
 */
bool demangle__init(void);

/**
 * demangle__name() - the readable form of a symbol's name
 *
 * Names of Rust need a build with libiberty.
 * Parameters of functions are left out, and the hash at the end of Rust's names. Return: owned by the
 * caller; NULL: the name is not mangled, or there is no memory.
 */
char *demangle__name(const char *name);

#endif
