// SPDX-License-Identifier: GPL-2.0
#include "util/event/modifiers.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "util/event/evsel.h"
#include "util/event/pmu.h"
#include "util/lib/util.h"

enum modifier {
	MOD_USER = 1 << 0,
	MOD_KERNEL = 1 << 1,
	MOD_HV = 1 << 2,
	MOD_GUEST = 1 << 3,
	MOD_HOST = 1 << 4,
	MOD_NO_IDLE = 1 << 5,
	MOD_PRECISE = 1 << 6,
	MOD_PRECISE_MAX = 1 << 7,
	MOD_SAMPLE_READ = 1 << 8, /* samples only: no effect on counting */
	MOD_PINNED = 1 << 9,
	MOD_EXCLUSIVE = 1 << 10,
	MOD_WEAK = 1 << 11,
	MOD_SHARE = 1 << 12,
	MOD_RETIRE_LATENCY = 1 << 13, /* of samples, which perf does not take */
	MOD_KEEP_UNGROUPED = 1 << 14,
};

#define MOD_LEVELS (MOD_USER | MOD_KERNEL | MOD_HV)
#define MOD_WORLDS (MOD_GUEST | MOD_HOST)

static const unsigned int modifier_of[128] = {
	['u'] = MOD_USER,    ['k'] = MOD_KERNEL,	 ['h'] = MOD_HV,
	['G'] = MOD_GUEST,   ['H'] = MOD_HOST,		 ['I'] = MOD_NO_IDLE,
	['p'] = MOD_PRECISE, ['P'] = MOD_PRECISE_MAX,	 ['S'] = MOD_SAMPLE_READ,
	['D'] = MOD_PINNED,  ['e'] = MOD_EXCLUSIVE,	 ['W'] = MOD_WEAK,
	['b'] = MOD_SHARE,   ['R'] = MOD_RETIRE_LATENCY, ['X'] = MOD_KEEP_UNGROUPED,
};

const char modifiers_help[] =
	"valid modifiers: u,k,h,G,H,I,p,pp,ppp,P,S,D,e,b,R,X, and W of groups";

static unsigned int find_modifier(char letter)
{
	return (unsigned char)letter < ARRAY_SIZE(modifier_of) ? modifier_of[(int)letter] : 0;
}

bool modifiers__is_word(const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (!find_modifier(word[i]))
			return false;
	}
	return true;
}

int modifiers__parse(const char *text, bool in_group, struct modifiers *mods, size_t *len,
		     char **reason)
{
	memset(mods, 0, sizeof(*mods));
	for (*len = 0; isalnum((unsigned char)text[*len]); (*len)++) {
		char letter = text[*len];
		unsigned int modifier = find_modifier(letter);

		if (!modifier) {
			*reason = xasprintf("Unknown modifier '%c'", letter);
			return -EINVAL;
		}
		if (modifier == MOD_PRECISE) {
			if (++mods->precise > MODIFIERS_MAX_PRECISE) {
				*reason = xasprintf("Maximum precise value is %d",
						    MODIFIERS_MAX_PRECISE);
				return -EINVAL;
			}
		} else if (mods->set & modifier) {
			*reason = xasprintf("Duplicate modifier '%c'", letter);
			return -EINVAL;
		}
		if (modifier == MOD_WEAK && !in_group) {
			*reason = strdup("Weak modifier 'W' is only for groups");
			return -EINVAL;
		}
		mods->set |= modifier;
	}
	return 0;
}

bool modifiers__is_weak(const struct modifiers *mods)
{
	return mods->set & MOD_WEAK;
}

int modifiers__precise(const struct modifiers *own, const struct modifiers *group)
{
	return own->precise + (group ? group->precise : 0);
}

void modifiers__apply(struct evsel *evsel, const struct modifiers *own,
		      const struct modifiers *group, bool leads)
{
	struct perf_event_attr *attr = &evsel->attr;
	unsigned int set = own->set;
	if (group)
		set |= leads ? group->set : group->set & ~(MOD_PINNED | MOD_EXCLUSIVE | MOD_WEAK);
	if (set & MOD_LEVELS) {
		attr->exclude_user = !(set & MOD_USER);
		attr->exclude_kernel = !(set & MOD_KERNEL);
		attr->exclude_hv = !(set & MOD_HV);
		evsel->levels_given = true;
	}
	if (set & MOD_WORLDS) {
		attr->exclude_guest = !(set & MOD_GUEST);
		attr->exclude_host = !(set & MOD_HOST);
	}
	/* P is the highest level, which is 0 for counting: Intel's PMU refuses all others */
	attr->precise_ip = set & MOD_PRECISE_MAX ? 0 : modifiers__precise(own, group);
	attr->exclude_idle = !!(set & MOD_NO_IDLE);
	attr->pinned = !!(set & MOD_PINNED);
	attr->exclusive = !!(set & MOD_EXCLUSIVE);
	evsel->share = !!(set & MOD_SHARE);
	evsel->weak = !!(set & MOD_WEAK);
	evsel->is_latency = !!(set & MOD_RETIRE_LATENCY);
	evsel->keep_ungrouped = !!(set & MOD_KEEP_UNGROUPED);
}
