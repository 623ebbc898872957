// SPDX-License-Identifier: GPL-2.0
#include "util/host/capability.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/capability.h>

/* Newer than some libraries' headers (5.8). */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF	    39
#endif

/* Before 5.8, CAP_SYS_ADMIN was all three; it still implies the other two. */
static const struct {
	cap_value_t cap;
	const char *text;
} sharing[] = {
	{CAP_BPF, "CAP_BPF (to load BPF programs)"},
	{CAP_PERFMON,
	 "CAP_PERFMON (to have them read the kernel, and to open events for everybody)"},
	{CAP_SYS_ADMIN, "CAP_SYS_ADMIN (to find what others share by its ids)"},
};

static bool has(cap_t caps, cap_value_t cap, cap_flag_t flag)
{
	cap_flag_value_t value;

	return !cap_get_flag(caps, cap, flag, &value) && value == CAP_SET;
}

/* Set or clear capabilities that are permitted. Errors are ignored. */
static void change(const cap_value_t *list, int nr, cap_flag_t flag, cap_flag_value_t value)
{
	cap_t caps = cap_get_proc();
	bool is_changed = false;

	if (!caps)
		return;
	for (int i = 0; i < nr; i++) {
		if (!has(caps, list[i], CAP_PERMITTED) ||
		    has(caps, list[i], flag) == (value == CAP_SET))
			continue;
		cap_set_flag(caps, flag, 1, &list[i], value);
		/* A capability that is not permitted cannot be effective. */
		if (flag == CAP_PERMITTED)
			cap_set_flag(caps, CAP_EFFECTIVE, 1, &list[i], value);
		is_changed = true;
	}
	if (is_changed && cap_set_proc(caps))
		pr_debug("changing capabilities failed: %s", strerror(errno));
	cap_free(caps);
}

static void change_sharing(cap_flag_t flag, cap_flag_value_t value)
{
	cap_value_t list[ARRAY_SIZE(sharing)];

	for (size_t i = 0; i < ARRAY_SIZE(sharing); i++)
		list[i] = sharing[i].cap;
	change(list, ARRAY_SIZE(sharing), flag, value);
}

/* Number of capability__raise() without a capability__lower() yet. */
static int nr_raised;

static void change_files(cap_flag_value_t value)
{
	static const cap_value_t files = CAP_DAC_OVERRIDE;

	/* Without it root could not open its own files. */
	if (geteuid())
		change(&files, 1, CAP_EFFECTIVE, value);
}

void capability__init(void)
{
	capability__lower_files();
}

char *capability__missing_to_share(void)
{
	cap_t caps = cap_get_proc();
	char *text = NULL;

	if (!caps || has(caps, CAP_SYS_ADMIN, CAP_PERMITTED))
		goto out;
	for (size_t i = 0; i < ARRAY_SIZE(sharing); i++) {
		const char *join = i + 1 < ARRAY_SIZE(sharing) ? ", " : " and ";
		char *longer;

		if (has(caps, sharing[i].cap, CAP_PERMITTED))
			continue;
		longer = text ? xasprintf("%s%s%s", text, join, sharing[i].text) :
				strdup(sharing[i].text);
		free(text);
		text = longer;
		if (!text)
			break;
	}
out:
	if (caps)
		cap_free(caps);
	return text;
}

/* Return: whether this process could count anything before it gave its capabilities up. */
static bool has_dropped;

bool capability__may_count(void)
{
	cap_t caps = cap_get_proc();
	bool may = has_dropped;

	may |= caps &&
	       (has(caps, CAP_PERFMON, CAP_PERMITTED) || has(caps, CAP_SYS_ADMIN, CAP_PERMITTED));

	if (caps)
		cap_free(caps);
	return may;
}

void capability__lower(void)
{
	if (nr_raised && !--nr_raised)
		change_sharing(CAP_EFFECTIVE, CAP_CLEAR);
}

void capability__raise(void)
{
	if (!nr_raised++)
		change_sharing(CAP_EFFECTIVE, CAP_SET);
}

void capability__drop(void)
{
	has_dropped = capability__may_count();
	change_sharing(CAP_PERMITTED, CAP_CLEAR);
}

void capability__lower_files(void)
{
	change_files(CAP_CLEAR);
}

void capability__raise_files(void)
{
	change_files(CAP_SET);
}
