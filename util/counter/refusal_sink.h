/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_REFUSAL_SINK_H
#define PERF_COUNTER_REFUSAL_SINK_H

/* The interface of a listener to each refusal of the kernel while a pass opens its events. */

struct evsel;

/* A refusal without an event concerns sharing as such. */
struct refusal_sink {
	/** begin(), end() - this thread is about to open events; it has opened them */
	void (*begin)(struct refusal_sink *self);
	void (*end)(struct refusal_sink *self);

	/**
	 * refused() - the last system call of this thread failed
	 * @evsel: NULL: sharing as such
	 * @err: errno
	 */
	void (*refused)(struct refusal_sink *self, const struct evsel *evsel, int err);

	/** print() - the message about this event, or about sharing (NULL), has been printed */
	void (*print)(struct refusal_sink *self, const struct evsel *evsel);
};

#endif
