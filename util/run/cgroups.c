// SPDX-License-Identifier: GPL-2.0
#include "util/run/cgroups.h"

#include "util/event/evlist.h"
#include "util/host/capability.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/run/pass.h"
#include "util/target/cgroup_list.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Collect the cgroups that come in this time, rather than look at each wakeup. */
#define LOOK_GAP_NS (50 * NSEC_PER_MSEC)
/* Wait so long before the next look: other sessions also look. */
#define LOOK_AGAIN_NS (100 * NSEC_PER_MSEC)

static int (*poll_of(const struct counter_ops *ops))(struct counter *)
{
	return ops->poll_cgroups;
}

static int (*add_of(const struct counter_ops *ops))(struct counter *)
{
	return ops->add_cgroups;
}

static int (*drop_of(const struct counter_ops *ops))(struct counter *)
{
	return ops->drop_cgroups;
}

/* Retry after this time if another session holds the lock. */
#define RETRY_NS   (10 * NSEC_PER_MSEC)
#define LAST_TRIES 10

/*
 * Failures for new cgroups end no counting: the next look does the rest. Do not warn of a lock that is
 * held for a moment.
 */
static void put_off(struct cgroup_list *list, int err)
{
	if (!err || err == -EINTR || err == -EWOULDBLOCK || list->has_warned)
		return;
	list->has_warned = true;
	pr_warn("new cgroups cannot be counted for now: %s", strerror(-err));
}

/* Make an event for each place of the list. */
static int add_events(struct stat_pass *pass, int nr_models)
{
	struct cgroup_list *list = pass->run->plan.cgroups;
	struct evlist *evlist = pass->run->plan.evlist;
	int nr_before = evlist->nr, err = 0, assigned;

	for (int i = evlist->nr / nr_models; i < list->nr && !err; i++) {
		int first = evlist__repeat(evlist, nr_models, list->cgroups[i]);

		err = first < 0 ? first : 0;
	}
	assigned = stat_pass__assign_counters(pass, nr_before);
	return err ? err : assigned;
}

/* Without a free descriptor the back ends could not lock, and would report an error each time. */
static int check_descriptors(const struct cgroup_list *list)
{
	int fd __cleanup(close_fd) = open(list->fs.mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : 0;
}

static int add_cgroups(struct stat_pass *pass, bool is_scanning)
{
	struct cgroup_list *list = pass->run->plan.cgroups;
	struct evlist *evlist = pass->run->plan.evlist;
	int nr_models, err;

	pass->look_at_ns = 0;
	if (!list->follows)
		return 0;
	for (nr_models = 1; nr_models < evlist->nr; nr_models++) {
		if (evlist->evsels[nr_models]->cgroup != evlist->evsels[0]->cgroup)
			break;
	}
	capability__raise();
	err = is_scanning ? cgroup_list__scan(list) : check_descriptors(list);
	if (!err)
		err = stat_pass__call(pass, poll_of);
	if (!err)
		err = add_events(pass, nr_models);
	if (!err)
		err = stat_pass__call(pass, add_of);
	if (!err)
		cgroup_list__begin(list);
	capability__lower();
	pass->looked_ns = clock_ns();
	if (list->look_again)
		pass->look_at_ns = pass->looked_ns + LOOK_AGAIN_NS;
	if (err == -EWOULDBLOCK)
		pass->look_at_ns = pass->looked_ns + RETRY_NS;
	put_off(list, err);
	return err;
}

void stat_pass__add_cgroups(struct stat_pass *pass)
{
	add_cgroups(pass, true);
}

static void warn_uncounted(const struct cgroup_list *list, bool begins)
{
	int nr = 0;

	for (int i = 0; i < list->nr; i++)
		nr += list->cgroups[i]->state == CGROUP_NEW;
	if (nr && begins)
		pr_warn("%d new cgroup%s may be counted from before: another session held the lock",
			nr, nr == 1 ? "" : "s");
	else if (nr)
		pr_warn("%d new cgroup%s counted only for those above %s: another session held the lock",
			nr, nr == 1 ? " is" : "s are", nr == 1 ? "it" : "them");
}

void stat_pass__add_last_cgroups(struct stat_pass *pass, bool begins)
{
	int err = add_cgroups(pass, true);

	for (int i = 0; i < LAST_TRIES && err == -EWOULDBLOCK; i++) {
		usleep(RETRY_NS / 1000);
		err = add_cgroups(pass, true);
	}
	/* No counts can be missed while events are disabled. */
	if (err == -EWOULDBLOCK && (begins || pass->is_enabled))
		warn_uncounted(pass->run->plan.cgroups, begins);
}

void stat_pass__look_cgroups(struct stat_pass *pass)
{
	add_cgroups(pass, false);
}

void stat_pass__wake_cgroups(struct stat_pass *pass)
{
	uint64_t at_ns = pass->looked_ns + LOOK_GAP_NS;

	if (!pass->look_at_ns || at_ns < pass->look_at_ns)
		pass->look_at_ns = at_ns;
}

void stat_pass__drop_cgroups(struct stat_pass *pass)
{
	struct cgroup_list *list = pass->run->plan.cgroups;
	int err = 0;

	if (list->follows)
		err = stat_pass__call(pass, drop_of);
	put_off(list, err);
	for (int i = 0; i < list->nr && !err; i++) {
		if (list->cgroups[i]->state == CGROUP_GONE)
			cgroup_list__free(list, i);
	}
}
