// SPDX-License-Identifier: GPL-2.0
/*
 * connects N [CONGESTION]: connect N times to itself by TCP, with that congestion control. Bring the
 * loopback up, if permitted.
 */
#include "workload.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int main(int argc, char **argv)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	unsigned long times = number(argc, argv, 1, 1);
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};

	ioctl(listener, SIOCSIFFLAGS, &lo);
	if (listener < 0 || bind(listener, (void *)&addr, len) || listen(listener, 1) ||
	    getsockname(listener, (void *)&addr, &len))
		die("listen");
	for (unsigned long i = 0; i < times; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0), other;

		if (argc > 2 &&
		    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, argv[2], strlen(argv[2])))
			die("%s", argv[2]);
		if (connect(fd, (void *)&addr, len))
			die("connect");
		other = accept(listener, NULL, NULL);
		close(other);
		close(fd);
	}
	return 0;
}
