/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_ACCOUNT_H
#define PERF_PROFILE_ACCOUNT_H

/* The part of the count that samples stand for, and the losses, in words. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct evsel;
struct sample_account;

/**
 * account__advance() - the part of an account that came after an earlier one
 * @before: receives what was counted so far
 *
 * Some losses are estimates, and become smaller again. Such a part is 0, and what comes back does not count
 * twice.
 */
struct sample_account account__advance(const struct sample_account *now,
				       struct sample_account *before);

/** account__share() - the part of the target's count that the samples stand for, in percent */
double account__share(const struct sample_account *account);

/** account__group_digits() - a number with a comma between thousands; @buf has 32 bytes. Returns @buf */
char *account__group_digits(uint64_t number, char *buf);

/** account__print_text() - lines that begin with "# ", without an empty line around them */
void account__print_text(FILE *out, const struct evsel *evsel,
			 const struct sample_account *account);

/** account__print_json() - the members of an object, without braces */
void account__print_json(FILE *out, const struct sample_account *account);

#endif
