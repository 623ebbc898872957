/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_PROGRAM_H
#define PERF_LIB_PROGRAM_H

/* The name of the program: perf, bperf, or another name that a link gives it. */

/**
 * program__init() - take the name from the command line
 * @path: argv[0]; borrowed, must live as long as the program
 *
 * The name is the last part of the path. It stays "perf" if that part is empty, begins with '-', or is
 * longer than 32 bytes. All bytes must be letters, digits or one of "-._+".
 */
void program__init(const char *path);

/** program__name() - the name for usage lines, hints and messages */
const char *program__name(void);

/**
 * program__rename() - put the name of the program into a text for people
 * @text: names the program as "perf": a word with a blank or the end of a line behind it
 *
 * Texts that tell how to call the program get its name so, or by program__name(). Return: the text
 * with program__name() in place of these words; owned, NULL without memory.
 */
char *program__rename(const char *text);

#endif
