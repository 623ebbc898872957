// SPDX-License-Identifier: GPL-2.0
#include "util/host/explain.h"

#include "util/host/capability.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include "bpf_skel/explain.h"
#include "bpf_skel/explain.skel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* Probes that are set one by one take some time each. */
#define MAX_SINGLE 400

#ifdef __x86_64__
#define SYS "__x64_sys_"
#else
#define SYS "__arm64_sys_"
#endif

/* The system calls, at which the search for functions starts. */
static const char *const root_names[] = {SYS "perf_event_open", SYS "bpf"};

/* The functions of the two system calls on all architectures; not all exist everywhere. */
static const char *const patterns[] = {
	SYS "perf_event_open",
	SYS "bpf",
	"__do_sys_perf_event_open",
	"__se_sys_perf_event_open",
	"__sys_bpf",
	"perf_*",
	"__perf_*",
	"*_event_init",
	"*_pmu_event_init",
	"*pmu_*",
	"hw_perf_*",
	"x86_*event*",
	"*_hw_config",
	"find_get_context",
	"find_get_pmu_context",
	"alloc_perf_context",
	"validate_group",
	"hw_breakpoint_*",
	"register_perf_hw_breakpoint",
	"find_lively_task_by_vpid",
	"exclusive_event_*",
	"sw_perf_*",
	"swevent_*",
	"security_perf_*",
	"ptrace_may_access",
	"bpf_prog_load",
	"bpf_check",
	"map_create",
	"*_map_alloc",
	"*_map_alloc_check",
	"security_bpf*",
	"bpf_prog_alloc*",
	"bpf_raw_tp*",
	"bpf_map_get*",
	"bpf_prog_get*",
	"bpf_link_get*",
};

struct function {
	char *name;
	unsigned long long addr;
	bool can_probe;
};

struct noted {
	int what, err;
	struct explain_call call;
};

struct explain {
	struct explain_bpf *skel;
	struct bpf_link **links;
	int nr_links;
	struct function *functions; /* by name */
	int nr_functions;
	struct noted *noted;
	int nr_noted;
};

/* --- which functions --- */

static bool matches(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		/* Nearly all of 100,000 names end here. */
		if (*patterns[i] != '*' && *patterns[i] != *name)
			continue;
		if (!fnmatch(patterns[i], name, 0))
			return true;
	}
	return false;
}

/* Return: whether a function returns errors; the register of a void one holds any value. */
static bool returns_error(const struct btf *btf, const struct btf_type *func)
{
	const struct btf_type *proto = btf__type_by_id(btf, func->type);
	const struct btf_type *ret = proto ? btf__type_by_id(btf, proto->type) : NULL;

	while (ret && (btf_is_typedef(ret) || btf_is_mod(ret)))
		ret = btf__type_by_id(btf, ret->type);
	if (!ret || btf_is_void(ret))
		return false;
	return btf_is_ptr(ret) || (btf_is_int(ret) && ret->size >= sizeof(int) &&
				   !(btf_int_encoding(ret) & BTF_INT_BOOL));
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct function *)a)->name, ((const struct function *)b)->name);
}

static int add_function(struct explain *explain, const char *name)
{
	struct function *function = array__add(explain->functions, explain->nr_functions);

	if (!function)
		return -ENOMEM;
	function->name = strdup(name);
	return function->name ? 0 : -ENOMEM;
}

static int choose_functions(struct explain *explain)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int err = btf ? 0 : -errno, nr = 0;

	for (__u32 id = 1; btf && id < btf__type_cnt(btf) && !err; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		const char *name =
			btf_is_func(type) ? btf__name_by_offset(btf, type->name_off) : NULL;

		if (name && matches(name) && returns_error(btf, type))
			err = add_function(explain, name);
	}
	btf__free(btf);
	if (err || !explain->nr_functions)
		return err;
	qsort(explain->functions, explain->nr_functions, sizeof(*explain->functions),
	      compare_names);
	/* Functions of the same name cannot be told apart. */
	for (int i = 0; i < explain->nr_functions; i++) {
		struct function *one = &explain->functions[i];

		if (nr && !strcmp(explain->functions[nr - 1].name, one->name))
			free(one->name);
		else
			explain->functions[nr++] = *one;
	}
	explain->nr_functions = nr;
	return 0;
}

static struct function *find_function(const struct explain *explain, const char *name)
{
	struct function key = {.name = (char *)name};

	return explain->nr_functions ? bsearch(&key, explain->functions, explain->nr_functions,
					       sizeof(key), compare_names) :
				       NULL;
}

/* The kernel's lists of functions that take a probe, and of addresses. */
static int read_lists(struct explain *explain)
{
	char *traceable __cleanup(free_ptr) =
		xasprintf("%s/available_filter_functions", tracefs_root());
	char *symbols __cleanup(free_ptr) = xasprintf("%s/kallsyms", procfs_root());
	char *text __cleanup(free_ptr) = traceable ? read_file(traceable, NULL) : NULL;
	char *table __cleanup(free_ptr) = NULL, *save = NULL;
	int err;

	if (!text) {
		err = -errno;
		pr_warn("--explain: %s: %s", traceable ? traceable : "", strerror(-err));
		return err;
	}
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct function *function;

		line[strcspn(line, " \t")] = '\0';
		function = find_function(explain, line);
		if (function)
			function->can_probe = true;
	}
	table = symbols ? read_file(symbols, NULL) : NULL;
	if (!table) {
		err = -errno;
		pr_warn("--explain: %s: %s", symbols ? symbols : "", strerror(-err));
		return err;
	}
	for (char *line = strtok_r(table, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct function *function;
		unsigned long long addr;
		char *at;

		/* ADDRESS TYPE NAME [MODULE] */
		addr = strtoull(line, &at, 16);
		if (at == line || *at != ' ' || (at[1] | 0x20) != 't' || at[2] != ' ')
			continue;
		at += 3;
		at[strcspn(at, " \t")] = '\0';
		function = find_function(explain, at);
		if (!function)
			continue;
		/* With two of a name, either could be the one that is called. */
		function->can_probe &= !function->addr;
		function->addr = addr;
	}
	return 0;
}

/* --- probes --- */

static int add_link(struct explain *explain, struct bpf_link *link)
{
	struct bpf_link **added;

	if (!link)
		return -errno;
	added = array__add(explain->links, explain->nr_links);
	if (!added) {
		bpf_link__destroy(link);
		return -ENOMEM;
	}
	*added = link;
	return 0;
}

static void close_links(struct explain *explain)
{
	while (explain->nr_links)
		bpf_link__destroy(explain->links[--explain->nr_links]);
	free_ptr(&explain->links);
}

static int attach_all(struct explain *explain, const char **names, int nr)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts, .syms = names, .cnt = nr);
	struct explain_bpf *skel = explain->skel;
	int err;

	err = add_link(explain,
		       bpf_program__attach_kprobe_multi_opts(skel->progs.on_call, NULL, &opts));
	opts.retprobe = true;
	return err ? err :
		     add_link(explain, bpf_program__attach_kprobe_multi_opts(skel->progs.on_return,
									     NULL, &opts));
}

/* A function may refuse a probe: its error is then attributed to its caller. */
static int attach_each(struct explain *explain, const char **names, int nr)
{
	char *kprobes __cleanup(free_ptr) =
		xasprintf("%s/bus/event_source/devices/kprobe", sysfs_root());
	struct explain_bpf *skel = explain->skel;
	int nr_both = 0, err = 0;

	if (!kprobes || access(kprobes, F_OK))
		return -EOPNOTSUPP;
	for (int i = 0; i < nr && nr_both < MAX_SINGLE; i++) {
		struct bpf_link *back =
			bpf_program__attach_kprobe(skel->progs.on_return_one, true, names[i]);
		struct bpf_link *call = back ? bpf_program__attach_kprobe(skel->progs.on_call_one,
									  false, names[i]) :
					       NULL;

		if (!call) {
			err = -errno;
			bpf_link__destroy(back);
			continue;
		}
		if (add_link(explain, back) || add_link(explain, call))
			return -ENOMEM;
		nr_both++;
	}
	return nr_both ? 0 : err ? err : -ENOENT;
}

static int load(struct explain *explain, bool multi)
{
	struct explain_bpf *skel = explain_bpf__open();
	int nr_roots = 0, err;

	if (!skel)
		return -errno;
	skel->rodata->tid = syscall(SYS_gettid);
#ifdef __x86_64__
	skel->rodata->is_x86 = true;
#endif
	for (size_t i = 0; i < ARRAY_SIZE(root_names); i++) {
		const struct function *function = find_function(explain, root_names[i]);

		if (function && function->can_probe && function->addr)
			skel->rodata->roots[nr_roots++] = function->addr;
	}
	bpf_program__set_autoload(skel->progs.on_call, multi);
	bpf_program__set_autoload(skel->progs.on_return, multi);
	bpf_program__set_autoload(skel->progs.on_call_one, !multi);
	bpf_program__set_autoload(skel->progs.on_return_one, !multi);
	err = nr_roots ? explain_bpf__load(skel) : -ENOENT;
	if (err)
		explain_bpf__destroy(skel);
	else
		explain->skel = skel;
	return err;
}

static int attach(struct explain *explain)
{
	const char **names = calloc(explain->nr_functions + 1, sizeof(*names));
	int nr = 0, err = names ? 0 : -ENOMEM;

	for (int i = 0; names && i < explain->nr_functions; i++) {
		if (explain->functions[i].can_probe)
			names[nr++] = explain->functions[i].name;
	}
	for (int multi = 1; names && multi >= 0; multi--) {
		err = load(explain, multi);
		if (!err)
			err = multi ? attach_all(explain, names, nr) :
				      attach_each(explain, names, nr);
		if (!err)
			break;
		close_links(explain);
		explain_bpf__destroy(explain->skel);
		explain->skel = NULL;
	}
	free(names);
	return err;
}

struct explain *explain__start(void)
{
	struct explain *explain = calloc(1, sizeof(*explain));
	int err;

	if (!explain)
		return NULL;
	err = choose_functions(explain);
	if (err) {
		pr_warn("--explain: cannot read the kernel's BTF: %s", strerror(-err));
	} else {
		err = read_lists(explain);
		if (!err) {
			err = attach(explain);
			if (err)
				pr_warn("--explain: the kernel takes no probes: %s%s",
					strerror(-err),
					err == -EPERM || err == -EACCES ?
						" (needs CAP_BPF and CAP_PERFMON, and no lockdown)" :
						" (needs kprobes: CONFIG_KPROBES, CONFIG_KRETPROBES)");
		}
	}
	if (!err)
		return explain;
	explain__delete(explain);
	return NULL;
}

void explain__stop(struct explain *explain)
{
	if (explain)
		close_links(explain);
}

/* --- results --- */

void explain__note(struct explain *explain, int what, int err)
{
	struct noted noted = {.what = what, .err = err};
	struct noted *added;
	__u32 key = err;

	if (!explain || bpf_map__lookup_elem(explain->skel->maps.calls, &key, sizeof(key),
					     &noted.call, sizeof(noted.call), 0))
		return;
	added = array__add(explain->noted, explain->nr_noted);
	if (added)
		*added = noted;
}

/* A probe may be some bytes behind the function's start. */
static const char *name_of(const struct explain *explain, __u64 addr)
{
	const struct function *best = NULL;

	for (int i = 0; i < explain->nr_functions; i++) {
		const struct function *function = &explain->functions[i];

		if (function->addr && function->addr <= addr &&
		    (!best || function->addr > best->addr))
			best = function;
	}
	return best ? best->name : "?";
}

static void print(const struct explain *explain, const struct noted *noted, const char *name)
{
	const struct explain_call *call = &noted->call;

	if (!call->depth || call->depth > EXPLAIN_DEPTH)
		return;
	if (call->tried)
		pr_text("%s: %s came from %s(), as it had from all %u that it called, by way of\n",
			name, strerrorname_np(noted->err),
			name_of(explain, call->stack[call->depth - 1]), call->tried);
	else
		pr_text("%s: %s came from %s(), by way of\n", name, strerrorname_np(noted->err),
			name_of(explain, call->stack[call->depth - 1]));
	for (int i = call->depth - 2; i >= 0; i--)
		pr_text("\t%s\n", name_of(explain, call->stack[i]));
}

void explain__print(const struct explain *explain, int what, const char *name)
{
	for (int i = explain ? explain->nr_noted - 1 : -1; i >= 0; i--) {
		if (explain->noted[i].what == what) {
			print(explain, &explain->noted[i], name);
			return;
		}
	}
}

void explain__delete(struct explain *explain)
{
	if (!explain)
		return;
	close_links(explain);
	explain_bpf__destroy(explain->skel);
	for (int i = 0; i < explain->nr_functions; i++)
		free(explain->functions[i].name);
	free(explain->functions);
	free(explain->noted);
	free(explain);
}
