/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_SUPERVISOR_H
#define PERF_UTIL_SUPERVISOR_H

/**
 * supervisor__ready() - tell whoever started us that everything is set up
 *
 * By the protocol of service managers: the datagram "READY=1" to the socket $NOTIFY_SOCKET, whose
 * name begins with '/' or, in the abstract name space, with '@'. Without it nothing happens, and
 * that nobody listens is no concern of ours.
 */
void supervisor__ready(void);

#endif
