// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_scopes.h"

#include "util/bperf/cgroup_scopes.h"
#include "util/bperf/leader_sync.h"
#include "util/bperf/leader_tasks.h"
#include "util/bperf/scope.h"
#include "util/bperf/task_walk.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"
#include "util/target/target.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The tasks that a target names. */
struct named_tasks {
	const char *list; /* numbers between commas */
	enum walk_kind kind;
	pid_t workload; /* instead of a list */
	enum walk_when when;
	bool may_have_ended; /* all of them: the scope then has no task */
};

static struct named_tasks tasks_of(const struct target *target, pid_t workload)
{
	struct named_tasks tasks = {
		.kind = WALK_PROCESS,
		.when = WALK_NOW,
		.may_have_ended = target->may_have_ended,
	};

	if (target->tid_list) {
		tasks.list = target->tid_list;
		tasks.kind = WALK_THREAD;
	} else if (target->pid_list) {
		tasks.list = target->pid_list;
	} else {
		tasks.workload = workload;
		tasks.when = WALK_AT_EXEC;
	}
	return tasks;
}

/* One walk for each. Return: how many tasks were found, or -errno. */
static int walk_round(struct bperf_leader *leader, int scope, const struct named_tasks *tasks,
		      bool *is_changed)
{
	const char *pos = tasks->list;
	int nr = 0, found = 0;

	if (!pos)
		return task_walk__assign(leader, scope, tasks->kind, tasks->workload, tasks->when,
					 is_changed);
	while (*pos && found >= 0) {
		char *end;

		found = task_walk__assign(leader, scope, tasks->kind, strtol(pos, &end, 10),
					  tasks->when, is_changed);
		nr += found > 0 ? found : 0;
		pos = *end ? end + 1 : end;
	}
	return found < 0 ? found : nr;
}

/* A workload before its exec neither forks nor ends: one walk is enough. */
static int assign(struct bperf_leader *leader, int scope, const struct named_tasks *tasks)
{
	bool has_waited = !tasks->list;
	int nr, err;

	for (;;) {
		bool is_changed = false;

		task_walk__begin_round(leader);
		nr = walk_round(leader, scope, tasks, &is_changed);
		if (nr < 0 || (!nr && !tasks->may_have_ended))
			return nr < 0 ? nr : -ESRCH;
		if (is_changed && tasks->list) {
			has_waited = false;
			continue;
		}
		if (has_waited)
			break;
		has_waited = true;
		err = leader_sync__wait();
		if (err)
			return err;
	}
	return tasks->list ? task_walk__sync(leader) : 0;
}

int sample_scopes__add_tasks(struct bperf_leader *leader, const struct target *target,
			     pid_t workload)
{
	struct named_tasks tasks = tasks_of(target, workload);
	int err, scope;

	(void)scope__repair(leader); /* what fails for it also fails for us */
	err = leader_tasks__attach(leader);
	scope = err ? err : scope__add(leader, NULL, NULL, 0, !target->no_inherit, 0);
	err = scope < 0 ? scope : assign(leader, scope, &tasks);
	if (err && err != -ESRCH && !scope__is_full(err))
		pr_err("cannot follow the tasks: %s", strerror(-err));
	return err;
}

/* A cgroup without the controller would be taken for its parent. */
static int check_controller(const struct cgroup_fs *fs, const struct cgroup *cgroup)
{
	if (!strcmp(cgroup->dir, fs->mount) || !cgroup_fs__lacks_controller(cgroup->dir))
		return 0;
	pr_err("cgroup %s: %s", cgroup->name, CGROUP_FS_ENABLE_TEXT);
	return -ENODEV;
}

static int add_scopes(struct bperf_leader *leader, const struct cgroup_fs *fs,
		      struct cgroup *const *cgroups, int nr)
{
	struct cgroup_scope *scopes __cleanup(free_ptr) = calloc(nr + 1, sizeof(*scopes));
	int err = scopes ? cgroup_scopes__attach(leader) : -ENOMEM;

	for (int i = 0; i < nr && !err; i++) {
		int scope = scope__add(leader, NULL, NULL, 0, false, cgroups[i]->id);

		scopes[i] = (struct cgroup_scope){cgroups[i]->id, cgroups[i]->dir, scope};
		err = scope < 0 ? scope : 0;
	}
	return err ? err : cgroup_scopes__assign(leader, fs, scopes, nr);
}

int sample_scopes__add_cgroups(struct bperf_leader *leader, const struct cgroup_fs *fs,
			       struct cgroup *const *cgroups, int nr)
{
	int err = 0;

	for (int i = 0; i < nr && !err; i++)
		err = check_controller(fs, cgroups[i]);
	if (err)
		return err;
	(void)scope__repair(leader); /* what fails for it also fails for us */
	err = add_scopes(leader, fs, cgroups, nr);
	/* The kernel hides cgroups, and a message was printed. */
	if (err && err != -EOPNOTSUPP && !scope__is_full(err))
		pr_err("cannot follow the cgroups: %s", strerror(-err));
	return err;
}
