/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BUILTIN_H
#define PERF_BUILTIN_H

/* The commands of perf: given their own argv, argv[0] is the command's name. Return the exit status. */

int cmd_stat(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_bperf(int argc, char **argv);

#endif
