/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_CONTROL_H
#define PERF_UTIL_CONTROL_H

#include <stdbool.h>

/* --control: commands that come in through a descriptor or fifo while counting. */
struct control {
	int fd;			/* -1: none */
	int ack_fd;		/* -1: nobody wants to know */
	bool owns_fds;		/* opened by us: fifos */
	char buf[4096];		/* what came of a command so far */
	int len;
	const char *arg;	/* what follows the last command's word; NULL: nothing */
};

enum control_command {
	CONTROL_NONE,		/* nothing complete is there */
	CONTROL_ENABLE,		/* arg: one event */
	CONTROL_DISABLE,	/* arg: one event */
	CONTROL_EVLIST,		/* arg: a letter for what is listed */
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_UNKNOWN,	/* a message has been written */
};

/**
 * control__open() - from "fd:CTL[,ACK]" or "fifo:CTL[,ACK]"
 *
 * Return: 0 or -errno after a message.
 */
int control__open(struct control *control, const char *spec);
void control__close(struct control *control);

/** control__next() - the next command that has arrived; never blocks */
enum control_command control__next(struct control *control);

/** control__ack() - tell the other side that the last command is done */
void control__ack(struct control *control);

#endif
