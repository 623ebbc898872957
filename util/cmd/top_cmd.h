/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_TOP_CMD_H
#define PERF_CMD_TOP_CMD_H

/* One command line of perf top, and the state of its screen. */

#include "util/cmd/profile_cmd.h"
#include "util/lib/key_input.h"
#include "util/profile/history.h"

#define TOP_DEFAULT_DELAY_MS 2000

struct top_cmd {
	struct profile_cmd profile; /* the first member: its options are those of perf profile */
	unsigned int entries;	    /* -E; 0: as many as fit */
	unsigned int count_filter;  /* -f */
	bool zero;		    /* -z */
	bool ignored;		    /* --stdio, -n: always so */
	struct history history;
	uint64_t time_ns;    /* of the last interval */
	uint64_t resolve_ns; /* when names were looked for */

	/* A screen; otherwise every interval prints a table. */
	bool is_screen, is_shown;
	int event;		 /* shown: its position */
	bool shows_help;	 /* in place of the table */
	struct key_input keys;	 /* typed so far */
	int asked;		 /* the key for whose value a line is typed */
	char sort[64], text[64]; /* typed: the columns, the filter */
	char note[128];		 /* for the last line; empty: none */
};

#endif
