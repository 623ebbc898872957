/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SOAK_COMMAND_H
#define SOAK_COMMAND_H

/* The command that a session counts or samples, and the servers of an actor: how many faults they have. */

#include "soak_judge.h"

#define SERVER_PAGES   7
#define SERVER_THREADS 2 /* of the first server; the second has none */
#define FIRST_FAULTS   (SERVER_PAGES * (1 + SERVER_THREADS))

/* Add the command. Return: its pages; without children, its faults are the pages and a constant. */
static long add_command(struct session *s, bool with_children)
{
	unsigned pages = chance(s->actor, 300), children = with_children ? chance(s->actor, 5) : 0;

	s->expected_status = chance(s->actor, 4) ? 0 : 3;
	add_words(s, "--", workload("soak_work"), "run", NULL);
	add_text(s, "%d", s->stamps[1]);
	add_text(s, "%d", s->expected_status);
	add_text(s, "%u", pages);
	add_text(s, "%u", children);
	return pages;
}

/*
 * The same program has some faults more or less each time. A fault also maps the pages around it, except
 * those that another process has locked at that moment, and addresses are random.
 */
#define MORE_FAULTS 8

static struct expected of_pages(long pages, bool is_alone)
{
	return (struct expected){
		.least = pages + soak.fixed_least - MORE_FAULTS,
		.most = is_alone ? pages + soak.fixed_most + MORE_FAULTS : LONG_MAX,
	};
}

#endif
