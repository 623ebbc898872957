/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_LIFE_SIGN_H
#define PERF_SYMBOL_LIFE_SIGN_H

/* How long loops over a file tell that they go on. perf gives up a confined process that is silent for long. */

/* life_sign_fn - is called often; it decides how often it tells anybody */
typedef void (*life_sign_fn)(void *ctx);

/** life_sign__set() - set the function that life_sign__show() calls; NULL: none */
void life_sign__set(life_sign_fn fn, void *ctx);

/** life_sign__show() - tell that the work goes on; for loops whose length a file decides */
void life_sign__show(void);

#endif
