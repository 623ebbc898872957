/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_ACCOUNT_H
#define PERF_SAMPLE_SAMPLE_ACCOUNT_H

/* The totals of a sampling session, losses by reason. */

#include "util/sample/sample_types.h"

struct sampler;

/** sample_loss__name() - a short name, as "table full" */
const char *sample_loss__name(enum sample_loss loss);

/** sample_account__get() - see sampler__account() */
void sample_account__get(const struct sampler *sampler, int idx, struct sample_account *account);

#endif
