// SPDX-License-Identifier: GPL-2.0
/* Any text is a configuration or is refused with a message, without reads beyond it and leaks. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/host/config.h"
#include "util/lib/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config = {};
	char path[64];
	int fd, err;

	/* Takes the parser's messages, such as warnings about unknown users. */
	static FILE *nowhere;

	if (!nowhere) {
		nowhere = fopen("/dev/null", "w");
		assert(nowhere);
		stderr = nowhere;
	}
	fd = memfd_create("config", MFD_CLOEXEC);
	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = config__parse(&config, path);
	assert(!err || err == -EINVAL);
	for (const uid_t *user = config.trusted; user && *user != (uid_t)-1; user++)
		;
	if (config.bpf_counter_events)
		config__shares(config.bpf_counter_events, "cycles");
	config__clear(&config);
	close(fd);
	return 0;
}
