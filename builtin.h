/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BUILTIN_H
#define PERF_BUILTIN_H

#include <stdbool.h>

/* The commands of perf. They get their own argv, with their name first, and return an exit status. */

int cmd_stat(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_bperf(int argc, char **argv);

/** cmd_script_is_ours() - whether perf script has these options, and can read the recording */
bool cmd_script_is_ours(int argc, char **argv);

/** cmd_top_is_ours() - whether perf top has these options and takes their values */
bool cmd_top_is_ours(int argc, char **argv);

#endif
