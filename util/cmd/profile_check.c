// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/profile_check.h"

#include "util/cmd/profile_cmd.h"
#include "util/cmd/profile_events.h"
#include "util/event/evlist.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/profile/profile_flame.h"
#include "util/symbol/disassembler.h"
#include "util/target/cgroup_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- contradictions --- */

static bool has_stacks(const struct profile_cmd *cmd)
{
	return cmd->g || cmd->stacks || cmd->folded || cmd->data_path ||
	       profile_files__has_any(&cmd->files);
}

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

bool profile_cmd__has_stdout(const struct profile_cmd *cmd)
{
	return is_stdout(cmd->data_path) || is_stdout(cmd->files.paths[PROFILE_PPROF]);
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	if (!strcmp(a, b))
		return true;
	return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* One of two outputs would replace the other. */
static int check_distinct(const struct profile_cmd *cmd)
{
	const struct {
		const char *option, *path;
	} files[] = {{"-o", cmd->data_path},
		     {"--flamegraph", cmd->files.paths[PROFILE_FLAMEGRAPH]},
		     {"--pprof", cmd->files.paths[PROFILE_PPROF]}};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		for (size_t j = 0; j < i; j++) {
			if (!files[i].path || !files[j].path ||
			    !is_same_file(files[i].path, files[j].path))
				continue;
			pr_err("%s and %s need different files, not both %s", files[j].option,
			       files[i].option, shown_arg(files[i].path));
			return -EINVAL;
		}
	}
	return 0;
}

int profile_cmd__check_files(const struct profile_cmd *cmd)
{
	const char *flamegraph = cmd->files.paths[PROFILE_FLAMEGRAPH];

	if (flamegraph && !profile_flame__is_name(flamegraph))
		pr_err("--flamegraph %s: the name must end in .svg or .html",
		       shown_arg(flamegraph));
	else if (cmd->files.paths[PROFILE_PPROF] && !*cmd->files.paths[PROFILE_PPROF])
		pr_err("--pprof: the name of the file is empty");
	else if (flamegraph && cmd->run.events->nr > 1)
		pr_err("--flamegraph draws one event, not %d", cmd->run.events->nr);
	else if (cmd->folded && cmd->run.events->nr > 1)
		pr_err("--folded prints one event, not %d", cmd->run.events->nr);
	else if (cmd->options.is_icicle && !flamegraph)
		pr_err("--icicle requires --flamegraph");
	else
		return check_distinct(cmd);
	return -EINVAL;
}

bool profile_cmd__is_sampling(const struct profile_cmd *cmd)
{
	const struct sampler_options *sampling = &cmd->run.sampling;
	const struct target *target = &cmd->run.base.target;

	return target->system_wide || target->cpu_list || target__is_attached(target) ||
	       cmd->user || cmd->run.events->nr || cmd->has_rate || cmd->has_G ||
	       cmd->each_cgroup || cmd->control_spec || cmd->run.base.timeout_ms ||
	       cmd->run.base.delay_ms || cmd->run.base.config.options.interval_ms ||
	       cmd->run.base.interval_count || target->no_inherit || cmd->run.no_bpf ||
	       cmd->run.ranges.nr || cmd->prog || cmd->dump_maps || sampling->with_idle ||
	       sampling->attr_map_path || sampling->nr_singles;
}

int profile_cmd__check_conflicts(const struct profile_cmd *cmd)
{
	const struct target *target = &cmd->run.base.target;
	const struct {
		bool is_hit;
		const char *text;
	} conflicts[] = {
		{cmd->g && cmd->stacks, "-g and --stacks are mutually exclusive"},
		{cmd->g && cmd->folded, "-g and --folded are mutually exclusive"},
		{cmd->stacks && cmd->folded, "--stacks and --folded are mutually exclusive"},
		{cmd->by && has_stacks(cmd),
		 "--ip has no stacks: without -g, --stacks and --folded"},
		{cmd->annotate && !*cmd->annotate, "--annotate: the name of the function is empty"},
		{cmd->annotate && (cmd->g || cmd->stacks || cmd->folded),
		 "--annotate has no stacks: without -g, --stacks and --folded"},
		{cmd->annotate && (cmd->by || cmd->sort || cmd->data || cmd->each_cgroup),
		 "--annotate has columns of its own: without -s, --ip, -d and --for-each-cgroup"},
		{cmd->annotate && (cmd->lines || cmd->inlines),
		 "--annotate always prints source lines and inlined functions: without --lines and --inline"},
		{cmd->annotate && (cmd->only_kernel_chains || cmd->only_user_chains),
		 "--annotate needs the sampled instruction: without --kernel-callchains and --user-callchains"},
		{cmd->annotate && cmd->options.percent_limit > 0,
		 "--annotate prints all instructions: without --percent-limit"},
		{cmd->annotate && (cmd->hide_kernel || cmd->hide_user),
		 "--annotate prints one function: without -K and -U"},
		{cmd->annotate && cmd->run.base.config.options.interval_ms,
		 "--annotate and -I are mutually exclusive"},
		{cmd->by && cmd->sort, "--ip and -s are mutually exclusive"},
		{cmd->data && (cmd->stacks || cmd->folded),
		 "-d adds a column: without --stacks and --folded"},
		{cmd->dump_maps && !cmd->prog, "--dump-maps requires --prog"},
		{cmd->dump_maps && profile_cmd__has_stdout(cmd),
		 "--dump-maps prints text: without -o - and --pprof -"},
		{cmd->dump_maps && (cmd->json || cmd->options.csv_sep || cmd->folded),
		 "--dump-maps prints text: without -j, -x and --folded"},
		{cmd->json && cmd->options.csv_sep, "-x and -j are mutually exclusive"},
		{cmd->folded && cmd->json, "--folded and -j are mutually exclusive"},
		{cmd->folded && cmd->options.csv_sep, "--folded and -x are mutually exclusive"},
		{cmd->hide_kernel && cmd->hide_user, "-K and -U are mutually exclusive"},
		{cmd->only_kernel_chains && cmd->only_user_chains,
		 "--kernel-callchains and --user-callchains are mutually exclusive"},
		{(cmd->only_kernel_chains || cmd->only_user_chains) && !has_stacks(cmd),
		 "--kernel-callchains and --user-callchains require stacks: -g, --stacks, --folded, --flamegraph, --pprof or -o"},
		{cmd->files.paths[PROFILE_FLAMEGRAPH] && cmd->run.base.config.options.interval_ms,
		 "--flamegraph and -I are mutually exclusive"},
		{cmd->files.paths[PROFILE_PPROF] && cmd->run.base.config.options.interval_ms,
		 "--pprof and -I are mutually exclusive"},
		{cmd->data_path && cmd->run.base.config.options.interval_ms,
		 "-o and -I are mutually exclusive"},
		{cmd->run.sampling.nr_singles && !cmd->data_path, "--each requires -o"},
		{cmd->options.is_caller && cmd->is_callee,
		 "--call-graph: caller and callee are mutually exclusive"},
		{cmd->options.no_children && !cmd->g, "--no-children requires -g"},
		{cmd->user && target__is_attached(target),
		 "-u and -p or -t are mutually exclusive"},
		{cmd->user && target->argc,
		 "-u samples processes that run already: give the command without it"},
		{cmd->has_G && cmd->each_cgroup, "-G and --for-each-cgroup are mutually exclusive"},
		{(cmd->has_G || cmd->each_cgroup) && (target__is_attached(target) || cmd->user),
		 "cgroups are sampled in all tasks: without -p, -t and -u"},
		{cmd->run.base.interval_count && !cmd->run.base.config.options.interval_ms,
		 "--interval-count requires -I"},
		{cmd->run.base.delay_ms < -1, "-D: less than -1"},
		{cmd->run.base.delay_ms == -1 && !cmd->control_spec, "-D -1 requires --control"},
		{cmd->max_stack > SAMPLE_MAX_FRAMES, "--max-stack: at most 127 frames"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(conflicts); i++) {
		if (!conflicts[i].is_hit)
			continue;
		pr_err("%s", conflicts[i].text);
		return -EINVAL;
	}
	return 0;
}

/* --- target --- */

/* Return: whether a name below /proc is a process of that user. */
static bool is_process_of(int proc, const char *name, uid_t uid)
{
	struct stat st;

	return isdigit((unsigned char)*name) && !fstatat(proc, name, &st, 0) && st.st_uid == uid;
}

static char *processes_of(uid_t uid)
{
	DIR *dir = opendir(procfs_root());
	char *list = NULL;

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		char *longer;

		if (!is_process_of(dirfd(dir), entry->d_name, uid))
			continue;
		longer = xasprintf("%s%s%s", list ? list : "", list ? "," : "", entry->d_name);
		free(list);
		list = longer;
	}
	if (dir)
		closedir(dir);
	return list;
}

static int find_user(struct profile_cmd *cmd)
{
	const struct passwd *entry = getpwnam(cmd->user);
	char *end;
	unsigned long uid = strtoul(cmd->user, &end, 10);

	if (!entry && (!isdigit((unsigned char)*cmd->user) || *end)) {
		pr_err("-u %s: there is no such user", cmd->user);
		return -EINVAL;
	}
	cmd->user_pids = processes_of(entry ? entry->pw_uid : uid);
	if (!cmd->user_pids) {
		pr_err("-u %s: the user has no processes", cmd->user);
		return -EINVAL;
	}
	cmd->run.base.target.pid_list = cmd->user_pids;
	cmd->run.base.target.may_have_ended = true;
	return 0;
}

static int find_cgroups(struct profile_cmd *cmd)
{
	int err = 0;

	if (cmd->each_cgroup)
		err = cgroup_list__parse(cmd->cgroups, cmd->each_cgroup, false);
	if (err == -ENOMEM)
		pr_err("out of memory");
	if (err || !cmd->cgroups->nr)
		return err;
	cgroup_list__begin(cmd->cgroups);
	for (int i = 0; i < cmd->cgroups->nr; i++)
		cmd->cgroups->cgroups[i]->state = CGROUP_LIVE;
	cmd->run.sampling.cgroup_fs = &cmd->cgroups->fs;
	cmd->run.sampling.cgroups = cmd->cgroups->cgroups;
	cmd->run.sampling.nr_cgroups = cmd->cgroups->nr;
	return 0;
}

/* --- output --- */

int profile_cmd__choose_output(struct profile_cmd *cmd)
{
	struct profile_options *options = &cmd->options;
	int err = sort_keys__parse(&options->sort, cmd->sort	 ? cmd->sort :
						   cmd->annotate ? "dso,ip" :
						   cmd->by	 ? cmd->by :
								   PROFILE_DEFAULT_SORT);

	if (err)
		return err;
	options->format = cmd->json ? FORMAT_JSON : options->csv_sep ? FORMAT_CSV : FORMAT_TEXT;
	options->view = cmd->g	      ? VIEW_TREE :
			cmd->stacks   ? VIEW_STACKS :
			cmd->folded   ? VIEW_FOLDED :
			cmd->annotate ? VIEW_ANNOTATION :
					VIEW_LIST;
	/* As perf report: callees with children, else callers. */
	if (!cmd->is_callee && !options->is_caller)
		options->is_caller = !options->no_children;
	if (cmd->data)
		sort_keys__add_first(&options->sort, SORT_DATA);
	if (cmd->lines)
		sort_keys__add_last(&options->sort, SORT_SRCLINE);
	options->has_lines = cmd->lines;
	options->has_interval = cmd->run.base.config.options.interval_ms;
	options->hide_kernel = cmd->hide_kernel;
	options->hide_user = cmd->hide_user;
	if (cmd->each_cgroup) {
		sort_keys__add_first(&options->sort, SORT_CGROUP);
		cmd->cgroup_names.only = cmd->cgroups->cgroups;
		cmd->cgroup_names.nr_only = cmd->cgroups->nr;
	}
	options->cgroups = &cmd->cgroup_names;
	/* Programs read these from standard output. */
	cmd->run.base.stdout_has_data =
		cmd->folded || options->format != FORMAT_TEXT || profile_cmd__has_stdout(cmd);
	return 0;
}

/* Settle which parts of samples are told apart, in the kernel and here. */
static void choose_keys(struct profile_cmd *cmd)
{
	const struct sort_keys *sort = &cmd->options.sort;
	bool is_whole = cmd->stacks || cmd->folded;
	uint32_t key = is_whole ? SAMPLE_COMM : sort_keys__sample_key(sort);
	bool has_pid = cmd->stacks || cmd->files.paths[PROFILE_PPROF] || cmd->data_path ||
		       sort_keys__has(sort, SORT_PID) || sort_keys__has(sort, SORT_TID);

	key |= cmd->files.paths[PROFILE_FLAMEGRAPH] ? SAMPLE_COMM : 0;
	key |= cmd->files.paths[PROFILE_PPROF] ? SAMPLE_COMM | SAMPLE_CGROUP : 0;
	key |= cmd->data_path ? SAMPLE_COMM | SAMPLE_THREAD : 0;
	cmd->run.samples.has_mappings = cmd->data_path;
	if (has_stacks(cmd)) {
		key &= ~SAMPLE_IP;
		key |= SAMPLE_PROCESS;
		key |= cmd->only_user_chains ? 0 : SAMPLE_KERNEL_STACK;
		key |= cmd->only_kernel_chains ? 0 : SAMPLE_USER_STACK;
	}
	cmd->run.sampling.key = key;
	cmd->run.sampling.max_frames = cmd->max_stack;
	/* The kernel needs the process for user addresses, the reader perhaps not. */
	cmd->run.samples.key = has_pid ? key : key & ~SAMPLE_PROCESS;
	cmd->run.samples.no_kernel = has_stacks(cmd) && cmd->hide_kernel;
	cmd->run.samples.no_user = has_stacks(cmd) && cmd->hide_user;
}

int profile_cmd__check_tools(const struct profile_cmd *cmd)
{
	if (!cmd->annotate || disassembler__is_there())
		return 0;
	pr_err("--annotate needs objdump or llvm-objdump, and neither is in PATH (binutils or llvm)");
	return -ENOENT;
}

int profile_cmd__check(struct profile_cmd *cmd)
{
	int err = profile_cmd__check_conflicts(cmd);

	if (!err)
		err = profile_cmd__check_tools(cmd);
	if (!err && cmd->user)
		err = find_user(cmd);
	if (!err)
		err = target__validate(&cmd->run.base.target);
	if (!err)
		err = find_cgroups(cmd);
	if (!err)
		err = profile_events__check(cmd);
	if (!err)
		err = profile_cmd__check_files(cmd);
	if (!err)
		err = profile_events__check_rate(cmd);
	if (!err)
		err = profile_cmd__choose_output(cmd);
	if (!err)
		choose_keys(cmd);
	if (!err && cmd->run.sampling.key & SAMPLE_ADDR)
		err = profile_events__check_data(cmd);
	return err;
}
