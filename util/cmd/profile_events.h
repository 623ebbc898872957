/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_PROFILE_EVENTS_H
#define PERF_CMD_PROFILE_EVENTS_H

/* The events and the rate of perf profile. */

struct evsel;
struct profile_cmd;

/** profile_events__why_not() - the reason why an event cannot be sampled; NULL: it can, as far as is known */
const char *profile_events__why_not(const struct evsel *evsel);

/**
 * profile_events__check() - add the default event if none was given, refuse those that cannot sample
 *
 * The default is cycles, or cpu-clock where no CPU counts cycles. Return: 0 or -errno after a message.
 */
int profile_events__check(struct profile_cmd *cmd);

/** profile_events__check_data() - refuse events without a data address; 0 or -EINVAL after a message */
int profile_events__check_data(const struct profile_cmd *cmd);

/** profile_events__check_rate() - check -F and -c against the kernel's limits; 0 or -EINVAL after a message */
int profile_events__check_rate(struct profile_cmd *cmd);

#endif
