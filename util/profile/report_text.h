/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_REPORT_TEXT_H
#define PERF_PROFILE_REPORT_TEXT_H

/* Title and account of a profile as texts, for files of other formats. */

struct profile_report;

/** report_text__title() - samples, event, rate, target and time; owned by the caller, NULL: out of memory */
char *report_text__title(const struct profile_report *report, int event);

/** report_text__account() - share and losses, each on a line; owned by the caller, NULL: out of memory */
char *report_text__account(const struct profile_report *report, int event);

#endif
