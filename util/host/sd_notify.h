/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_SD_NOTIFY_H
#define PERF_HOST_SD_NOTIFY_H

/* The notice to a service manager that perf is ready. */

/**
 * sd_notify__ready() - tell the service manager that counting is set up
 *
 * Sends the datagram "READY=1" to the socket $NOTIFY_SOCKET, whose name starts with '/' or, in the
 * abstract name space, with '@'. Does nothing without the variable. Errors only print under -v.
 */
void sd_notify__ready(void);

#endif
