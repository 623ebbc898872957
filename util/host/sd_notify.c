// SPDX-License-Identifier: GPL-2.0
#include "util/host/sd_notify.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

void sd_notify__ready(void)
{
	static const char ready[] = "READY=1";
	const char *name = secure_getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd __cleanup(close_fd) = -1;
	size_t len;

	if (!name || (*name != '/' && *name != '@'))
		return;
	len = strlen(name);
	if (len >= sizeof(address.sun_path)) {
		pr_warn("NOTIFY_SOCKET: '%s' is too long", name);
		return;
	}
	memcpy(address.sun_path, name, len);
	if (*name == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || sendto(fd, ready, strlen(ready), MSG_NOSIGNAL, (struct sockaddr *)&address,
			     offsetof(struct sockaddr_un, sun_path) + len) < 0)
		pr_verbose("NOTIFY_SOCKET: '%s': %s", name, strerror(errno));
}
