/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_PROFILE_LIFE_H
#define PERF_CMD_PROFILE_LIFE_H

/* The life of a command that samples, perf profile or perf top, around its run. */

struct profile_cmd;
struct profile_report;
struct profile_round;

/**
 * profile_cmd__prepare() - make the parts of @cmd that its options need
 *
 * The caller sets run.report and run.ctx. profile_cmd__clear() releases everything, in any case.
 * Return: 0 or -errno after a message.
 */
int profile_cmd__prepare(struct profile_cmd *cmd);
void profile_cmd__clear(struct profile_cmd *cmd);

/**
 * profile_cmd__settle() - check the options, and everything that follows from them
 * @argv: the workload, which begins at @first
 *
 * Return: 0, or an exit status after a message.
 */
int profile_cmd__settle(struct profile_cmd *cmd, int first, int argc, char **argv);

/** profile_cmd__catch() - let this signal end the run, as SIGINT and SIGTERM do */
void profile_cmd__catch(int sig);

/** profile_cmd__run() - sample until the end; returns an exit status */
int profile_cmd__run(struct profile_cmd *cmd);

/** profile_cmd__make_report() - fill in the report of a round */
void profile_cmd__make_report(const struct profile_cmd *cmd, const struct profile_round *round,
			      struct profile_report *report);

/**
 * profile_cmd__resolve() - find the names of everything in the samples
 * @progress: as for symbols__resolve(), with @ctx
 *
 * Return: 0 or -ENOMEM.
 */
int profile_cmd__resolve(struct profile_cmd *cmd,
			 void (*progress)(void *ctx, const char *image, int nr, int of), void *ctx);

/** profile_cmd__record() - write the file of -o, if there is one. Return: 0 or -errno after a message */
int profile_cmd__record(struct profile_cmd *cmd, const struct profile_report *report);

/** profile_cmd__rate_text() - the rate for titles, owned by the caller; NULL: out of memory */
char *profile_cmd__rate_text(const struct profile_cmd *cmd);

/** profile_cmd__use_debuginfod() - use the servers of the command line or of the configuration, if there are any */
void profile_cmd__use_debuginfod(const struct profile_cmd *cmd);

/** profile_cmd__die_if_unread() - end as SIGPIPE does if the reader of standard output has gone */
void profile_cmd__die_if_unread(const struct profile_cmd *cmd);

#endif
