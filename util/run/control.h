/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_CONTROL_H
#define PERF_RUN_CONTROL_H

/* The channel of --control: commands through a descriptor or fifo. */

#include <stdbool.h>

struct control {
	int fd;		/* -1: none */
	int ack_fd;	/* -1: no acknowledgement */
	bool owns_fds;	/* fifos */
	char buf[4096]; /* the beginning of a command */
	int len;
	const char *arg; /* of the last command; NULL: none */
};

enum control_command {
	CONTROL_NONE,	 /* no complete command has arrived */
	CONTROL_ENABLE,	 /* arg: one event */
	CONTROL_DISABLE, /* arg: one event */
	CONTROL_EVLIST,	 /* arg: -g, -F, -v or none */
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_UNKNOWN, /* a message has been written */
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

/** control__ack() - acknowledge the last command */
void control__ack(struct control *control);

#endif
