// SPDX-License-Identifier: GPL-2.0
#include "capability.h"

#include "util.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

/* Newer than some libraries' headers (5.8). */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

static bool has(const struct __user_cap_data_struct *data, int cap)
{
	return data[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

char *capability__missing_to_share(void)
{
	/* Before 5.8 CAP_SYS_ADMIN was all three, and still implies the other two. */
	static const struct {
		int cap;
		const char *name;
	} needed[] = {
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
	};
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
	char *text = NULL;

	if (syscall(SYS_capget, &header, data) || has(data, CAP_SYS_ADMIN))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		const char *join = i + 1 < ARRAY_SIZE(needed) ? ", " : " and ";
		char *longer;

		if (has(data, needed[i].cap))
			continue;
		longer = text ? xasprintf("%s%s%s", text, join, needed[i].name) :
				strdup(needed[i].name);
		free(text);
		text = longer;
		if (!text)
			break;
	}
	return text;
}
