/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_TOP_SCREEN_H
#define PERF_CMD_TOP_SCREEN_H

/* The screen of perf top: drawing, keys, and the signals of a terminal. */

struct profile_report;
struct top_cmd;

/** top_screen__make_report() - fill in the report of the history */
void top_screen__make_report(const struct top_cmd *top, struct profile_report *report);

/** top_screen__init() - let the run of @top wait for keys and signals, too */
void top_screen__init(struct top_cmd *top);

/** top_screen__draw() - show the history; 0 or -errno */
int top_screen__draw(struct top_cmd *top);

/** top_screen__progress() - show that names are read; a progress_fn, @ctx is struct top_cmd */
void top_screen__progress(void *ctx, const char *image, int nr, int of);

/** top_screen__end() - restore the terminal, and print the messages of the time */
void top_screen__end(struct top_cmd *top);

#endif
