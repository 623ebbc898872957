// SPDX-License-Identifier: GPL-2.0
#include "util/counter/window.h"

#include <errno.h>

static bool has_grown(const struct counts_values *now, const struct counts_values *base)
{
	return now->value >= base->value && now->enabled_ns >= base->enabled_ns &&
	       now->running_ns >= base->running_ns;
}

int window__account(struct window *window, enum window_moment moment,
		    const struct counts_values *now, struct counts_values *count)
{
	const struct counts_values *base = &window->base, *before = &window->before;
	bool goes_on = moment != WINDOW_BEGIN && window->has_base;
	int err = 0;

	if (moment == WINDOW_NONE)
		return 0;
	if (goes_on && has_grown(now, base)) {
		*count = counts_values__since(now, base);
		counts_values__add(count, before);
	} else {
		err = goes_on ? -ERANGE : 0;
		*window = (struct window){.base = *now, .before = *count, .has_base = true};
	}
	if (moment == WINDOW_END)
		window__forget(window);
	return err;
}

void window__forget(struct window *window)
{
	window->has_base = false;
}
