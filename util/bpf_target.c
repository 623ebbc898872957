// SPDX-License-Identifier: GPL-2.0
#include "bpf_target.h"

#include "bpf_kin.h"
#include "capability.h"
#include "msg.h"
#include "util.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG_DIGITS 16

/* --- words --- */

static bool parse_id(const char *text, __u32 *id)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*id = value;
	return !errno && !*end && value && value == *id;
}

static bool parse_tag(const char *text, unsigned char *tag)
{
	char digits[3] = "";

	if (strlen(text) != TAG_DIGITS || strspn(text, "0123456789abcdefABCDEF") != TAG_DIGITS)
		return false;
	for (int i = 0; i < TAG_DIGITS / 2; i++) {
		memcpy(digits, text + 2 * i, 2);
		tag[i] = strtoul(digits, NULL, 16);
	}
	return true;
}

/* What follows a prefix; NULL: the word does not begin so. */
static const char *after(const char *word, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(word, prefix, len) ? NULL : word + len;
}

int bpf_spec__parse(const char *word, struct bpf_spec *spec)
{
	const char *rest;

	memset(spec, 0, sizeof(*spec));
	if (!strcmp(word, "all")) {
		spec->kind = BPF_SPEC_ALL;
		return 0;
	}
	if ((rest = after(word, "name:"))) {
		spec->kind = BPF_SPEC_NAME;
		spec->text = rest;
		return *rest ? 0 : -EINVAL;
	}
	if ((rest = after(word, "pinned:"))) {
		spec->kind = BPF_SPEC_PINNED;
		spec->text = rest;
		return *rest ? 0 : -EINVAL;
	}
	if ((rest = after(word, "tag:"))) {
		spec->kind = BPF_SPEC_TAG;
		return parse_tag(rest, spec->tag) ? 0 : -EINVAL;
	}
	rest = after(word, "id:");
	spec->kind = BPF_SPEC_ID;
	return parse_id(rest ? rest : word, &spec->id) ? 0 : -EINVAL;
}

/* --- programs --- */

static const char *const type_names[] = {
	[BPF_PROG_TYPE_SOCKET_FILTER] = "socket_filter",
	[BPF_PROG_TYPE_KPROBE] = "kprobe",
	[BPF_PROG_TYPE_SCHED_CLS] = "sched_cls",
	[BPF_PROG_TYPE_SCHED_ACT] = "sched_act",
	[BPF_PROG_TYPE_TRACEPOINT] = "tracepoint",
	[BPF_PROG_TYPE_XDP] = "xdp",
	[BPF_PROG_TYPE_PERF_EVENT] = "perf_event",
	[BPF_PROG_TYPE_CGROUP_SKB] = "cgroup_skb",
	[BPF_PROG_TYPE_CGROUP_SOCK] = "cgroup_sock",
	[BPF_PROG_TYPE_LWT_IN] = "lwt_in",
	[BPF_PROG_TYPE_LWT_OUT] = "lwt_out",
	[BPF_PROG_TYPE_LWT_XMIT] = "lwt_xmit",
	[BPF_PROG_TYPE_SOCK_OPS] = "sock_ops",
	[BPF_PROG_TYPE_SK_SKB] = "sk_skb",
	[BPF_PROG_TYPE_CGROUP_DEVICE] = "cgroup_device",
	[BPF_PROG_TYPE_SK_MSG] = "sk_msg",
	[BPF_PROG_TYPE_RAW_TRACEPOINT] = "raw_tracepoint",
	[BPF_PROG_TYPE_CGROUP_SOCK_ADDR] = "cgroup_sock_addr",
	[BPF_PROG_TYPE_LWT_SEG6LOCAL] = "lwt_seg6local",
	[BPF_PROG_TYPE_LIRC_MODE2] = "lirc_mode2",
	[BPF_PROG_TYPE_SK_REUSEPORT] = "sk_reuseport",
	[BPF_PROG_TYPE_FLOW_DISSECTOR] = "flow_dissector",
	[BPF_PROG_TYPE_CGROUP_SYSCTL] = "cgroup_sysctl",
	[BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE] = "raw_tracepoint_writable",
	[BPF_PROG_TYPE_CGROUP_SOCKOPT] = "cgroup_sockopt",
	[BPF_PROG_TYPE_TRACING] = "tracing",
	[BPF_PROG_TYPE_STRUCT_OPS] = "struct_ops",
	[BPF_PROG_TYPE_EXT] = "ext",
	[BPF_PROG_TYPE_LSM] = "lsm",
	[BPF_PROG_TYPE_SK_LOOKUP] = "sk_lookup",
	[BPF_PROG_TYPE_SYSCALL] = "syscall",
	[32] = "netfilter",		/* BPF_PROG_TYPE_NETFILTER, 6.4 */
};

const char *bpf_target__type_name(const struct bpf_target *target, char buf[16])
{
	if (target->type < ARRAY_SIZE(type_names) && type_names[target->type])
		return type_names[target->type];
	snprintf(buf, 16, "type %u", target->type);
	return buf;
}

void bpf_target__clear(struct bpf_target *target)
{
	close_fd(&target->fd);
	free(target->name);
	free(target->map_ids);
	target->name = NULL;
	target->map_ids = NULL;
}

/* The main function is the first that its function infos name. */
static int read_func(struct bpf_target *target, const struct bpf_prog_info *info)
{
	struct bpf_func_info func = {};
	struct bpf_prog_info ask = {
		.nr_func_info = 1,
		.func_info_rec_size = sizeof(func),
		.func_info = (uintptr_t)&func,
	};
	const struct btf_type *type;
	struct btf *btf;
	__u32 len = sizeof(ask);

	target->name = strndup(info->name, sizeof(info->name));
	if (!target->name)
		return -ENOMEM;
	if (!info->btf_id || !info->nr_func_info ||
	    info->func_info_rec_size != sizeof(func) ||
	    bpf_obj_get_info_by_fd(target->fd, &ask, &len))
		return 0;
	btf = btf__load_from_kernel_by_id(info->btf_id);
	if (!btf)
		return 0;
	type = btf__type_by_id(btf, func.type_id);
	if (type && btf_is_func(type)) {
		char *name = strdup(btf__name_by_offset(btf, type->name_off));

		if (name) {
			free(target->name);
			target->name = name;
			target->func_id = func.type_id;
			target->btf_id = info->btf_id;
		}
	}
	btf__free(btf);
	return 0;
}

/* Programs of other tools for counting: by what they are called, or, when others might be, have. */
static bool is_of_counting_tool(const struct bpf_target *target, bool has_events)
{
	return !strcmp(target->name, "fexit_XXX") || !strcmp(target->name, "fentry_XXX") ||
	       (has_events && !strcmp(target->name, "on_switch"));
}

/* A look at the maps of a program: those of ours have the registry or the counts of a pair there. */
static void read_maps(struct bpf_target *target, __u32 nr)
{
	__u32 *ids = target->map_ids = calloc(nr ? nr : 1, sizeof(*ids));
	struct bpf_prog_info ask = { .nr_map_ids = nr, .map_ids = (uintptr_t)ids };
	__u32 len = sizeof(ask);
	bool has_events = false;

	if (!ids || !nr || bpf_obj_get_info_by_fd(target->fd, &ask, &len))
		nr = 0;
	target->nr_maps = nr < ask.nr_map_ids ? nr : ask.nr_map_ids;
	for (int i = 0; i < target->nr_maps; i++) {
		int fd __cleanup(close_fd) = bpf_map_get_fd_by_id(ids[i]);
		struct bpf_map_info map = {};

		len = sizeof(map);
		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &map, &len))
			continue;
		target->tail_calls |= map.type == BPF_MAP_TYPE_PROG_ARRAY;
		has_events |= map.type == BPF_MAP_TYPE_PERF_EVENT_ARRAY;
		target->is_counting |= map.type == BPF_MAP_TYPE_ARRAY &&
				       (!strcmp(map.name, "registry") || !strcmp(map.name, "prog_cpus"));
	}
	target->is_counting |= is_of_counting_tool(target, has_events);
}

/* Takes over @fd. */
static int from_fd(int fd, struct bpf_target *target)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	int err;

	memset(target, 0, sizeof(*target));
	target->fd = fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &len)) {
		err = -errno;
		bpf_target__clear(target);
		return err;
	}
	target->id = info.id;
	target->type = info.type;
	target->is_jited = info.jited_prog_len;
	target->run_cnt = info.run_cnt;
	memcpy(target->tag, info.tag, sizeof(target->tag));
	snprintf(target->kernel_name, sizeof(target->kernel_name), "%s", info.name);
	err = read_func(target, &info);
	if (err) {
		bpf_target__clear(target);
		return err;
	}
	read_maps(target, info.nr_map_ids);
	return 0;
}

int bpf_target__by_id(__u32 id, struct bpf_target *out)
{
	int fd = bpf_prog_get_fd_by_id(id);

	return fd < 0 ? -errno : from_fd(fd, out);
}

/* Ids of all programs that are entered by tail call somewhere. */
struct id_set {
	__u32 *ids;
	int nr, cap;
};

static int add_id(struct id_set *set, __u32 id)
{
	if (set->nr == set->cap) {
		int cap = set->cap ? 2 * set->cap : 64;
		__u32 *ids = realloc(set->ids, cap * sizeof(*ids));

		if (!ids)
			return -ENOMEM;
		set->ids = ids;
		set->cap = cap;
	}
	set->ids[set->nr++] = id;
	return 0;
}

static void find_tail_called(struct id_set *set)
{
	__u32 map_id = 0;

	while (!bpf_map_get_next_id(map_id, &map_id)) {
		int fd __cleanup(close_fd) = bpf_map_get_fd_by_id(map_id);
		struct bpf_map_info map = {};
		__u32 len = sizeof(map), key, next, id;
		const __u32 *prev = NULL;

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &map, &len) ||
		    map.type != BPF_MAP_TYPE_PROG_ARRAY)
			continue;
		for (; !bpf_map_get_next_key(fd, prev, &next); prev = &key) {
			key = next;
			if (!bpf_map_lookup_elem(fd, &key, &id) && add_id(set, id))
				return;
		}
	}
}

static bool has_id(const struct id_set *set, __u32 id)
{
	for (int i = 0; i < set->nr; i++) {
		if (set->ids[i] == id)
			return true;
	}
	return false;
}

/* What other programs say of one. */
struct others {
	struct id_set tail_called;
	struct bpf_kin kin;
};

static int each(const struct others *others, int (*visit)(void *ctx, struct bpf_target *target),
		void *ctx)
{
	__u32 id = 0;
	int err = 0;

	while (!err && !bpf_prog_get_next_id(id, &id)) {
		struct bpf_target target;

		err = bpf_target__by_id(id, &target);
		/* It may have gone meanwhile. */
		if (err == -ENOENT) {
			err = 0;
			continue;
		}
		if (err)
			return err;
		target.is_tail_called = has_id(&others->tail_called, id);
		target.is_counting |= bpf_kin__is_counting(&others->kin, id);
		err = visit(ctx, &target);
		bpf_target__clear(&target);
	}
	return err ? err : errno == ENOENT ? 0 : -errno;
}

static int add_kin(void *ctx, struct bpf_target *target)
{
	return bpf_kin__add(ctx, target->id, target->map_ids, target->nr_maps, target->is_counting);
}

/* That programs count may show in those that they share maps with. */
static int find_kin(struct others *others)
{
	int err = others->kin.nr ? 0 : each(others, add_kin, &others->kin);

	bpf_kin__spread(&others->kin);
	return err;
}

static void clear_others(struct others *others)
{
	free(others->tail_called.ids);
	bpf_kin__clear(&others->kin);
}

int bpf_target__each(int (*visit)(void *ctx, struct bpf_target *target), void *ctx)
{
	struct others others = {};
	int err;

	find_tail_called(&others.tail_called);
	err = find_kin(&others);
	if (!err)
		err = each(&others, visit, ctx);
	clear_others(&others);
	return err;
}

/* --- whether they can be counted --- */

/* The verifier's last word before its statistics. */
static char *last_line(char *log)
{
	char *line, *save = NULL, *last = NULL;

	for (line = strtok_r(log, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "processed ", 10) && strncmp(line, "verification time", 17))
			last = line;
	}
	return last;
}

static char *explain(const struct bpf_target *target, int err, const char *word)
{
	char *lacks __cleanup(free_ptr) = capability__missing_to_share();
	char buf[16];

	if ((err == EPERM || err == EACCES) && !lacks)
		return strdup("loading tracing programs is forbidden here, to root, too (by a sandbox or security module)");
	if (err == EPERM || err == EACCES)
		return strdup("not permitted: needs CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN (run as root)");
	if (word && strstr(word, "recursively attach"))
		return strdup("it is a tracing program: to put probes on those takes Linux 6.8 or later");
	if (word && strstr(word, "racing program"))
		return strdup("it is a tracing program that is attached to a tracing program itself");
	return xasprintf("the kernel refuses to trace this program of type %s: %s",
			 bpf_target__type_name(target, buf), word ? word : strerror(err));
}

char *bpf_target__why_not(const struct bpf_target *target)
{
	/* return 0 */
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	char log[4096] = "";
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FEXIT,
		    .attach_prog_fd = target->fd, .attach_btf_id = target->func_id,
		    .log_buf = log, .log_size = sizeof(log), .log_level = 1);
	int fd, err;

	if (!target->func_id)
		return strdup("it has no BTF (compile it with -g, and load it with a loader that passes BTF on)");
	if (!target->is_jited)
		return strdup("it is interpreted: only compiled programs can be traced (net.core.bpf_jit_enable=1, and load it again)");
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "probe", "GPL", insns, ARRAY_SIZE(insns), &opts);
	if (fd >= 0) {
		close(fd);
		return NULL;
	}
	err = errno;
	return explain(target, err, last_line(log));
}

/* --- lists --- */

struct finder {
	struct bpf_targets *targets;
	const char *word;
	struct bpf_spec spec;
	struct others others;
	int nr_matches;
	char *why_not;		/* of the last that matched and cannot be counted */
	struct bpf_target refused;	/* that: id, type, name */
};

static bool has_target(const struct bpf_targets *targets, __u32 id)
{
	for (int i = 0; i < targets->nr; i++) {
		if (targets->target[i].id == id)
			return true;
	}
	return false;
}

static int add(struct finder *finder, const struct bpf_target *target)
{
	struct bpf_targets *targets = finder->targets;
	struct bpf_target *grown, *to;

	if (has_target(targets, target->id))
		return 0;
	grown = realloc(targets->target, (targets->nr + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	targets->target = grown;
	to = &grown[targets->nr];
	*to = *target;
	to->map_ids = NULL;
	to->name = strdup(target->name);
	to->fd = fcntl(target->fd, F_DUPFD_CLOEXEC, 3);
	if (!to->name || to->fd < 0) {
		bpf_target__clear(to);
		return -ENOMEM;
	}
	targets->nr++;
	return 0;
}

static bool matches(const struct bpf_spec *spec, const struct bpf_target *target)
{
	switch (spec->kind) {
	case BPF_SPEC_NAME:
		return !strcmp(spec->text, target->name) ||
		       !strcmp(spec->text, target->kernel_name);
	case BPF_SPEC_TAG:
		return !memcmp(spec->tag, target->tag, sizeof(spec->tag));
	case BPF_SPEC_ALL:
		return !target->is_counting;
	default:
		return true;
	}
}

static int consider(void *ctx, struct bpf_target *target)
{
	struct finder *finder = ctx;
	char *why_not;

	if (!matches(&finder->spec, target))
		return 0;
	finder->nr_matches++;
	why_not = bpf_target__why_not(target);
	if (!why_not)
		return add(finder, target);
	pr_verbose("'%s' (id %u) is left out: %s", target->name, target->id, why_not);
	free(finder->why_not);
	free(finder->refused.name);
	finder->why_not = why_not;
	finder->refused = *target;
	finder->refused.map_ids = NULL;
	finder->refused.name = strdup(target->name);
	return 0;
}

static int consider_one(struct finder *finder)
{
	struct bpf_target target;
	int fd, err;

	fd = finder->spec.kind == BPF_SPEC_ID ? bpf_prog_get_fd_by_id(finder->spec.id) :
						bpf_obj_get(finder->spec.text);
	if (fd < 0)
		return -errno;
	err = from_fd(fd, &target);
	if (err)
		return err;
	target.is_tail_called = has_id(&finder->others.tail_called, target.id);
	err = consider(finder, &target);
	bpf_target__clear(&target);
	return err;
}

static const char *no_match(const struct finder *finder, int err)
{
	if (err == -EPERM)
		return "not permitted: needs CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN (run as root)";
	switch (finder->spec.kind) {
	case BPF_SPEC_ID:
		return err == -ENOENT ? "there is no BPF program with this id (perf list bpf)" :
					strerror(-err);
	case BPF_SPEC_NAME:
		return err ? strerror(-err) : "no BPF program has this name (perf list bpf)";
	case BPF_SPEC_TAG:
		return err ? strerror(-err) : "no BPF program has this tag (bpftool prog)";
	case BPF_SPEC_PINNED:
		return err == -EINVAL || err == -EACCES ? "not a pinned BPF program" : strerror(-err);
	default:
		return err ? strerror(-err) : "there is no BPF program that could be counted";
	}
}

/* Before any of them is looked for. */
static int check_words(const char *list)
{
	char *text __cleanup(free_ptr) = strdup(list);
	char *rest = text, *word;
	struct bpf_spec spec;

	if (!text)
		return -ENOMEM;
	while ((word = strsep(&rest, ","))) {
		if (!bpf_spec__parse(word, &spec))
			continue;
		pr_err("-b %s: not a BPF program: give its id, id:N, name:NAME, tag:16 hex digits, pinned:PATH, or all",
		       word);
		return -EINVAL;
	}
	return 0;
}

static int find(struct finder *finder)
{
	int nr = finder->targets->nr, err;

	finder->nr_matches = 0;
	err = bpf_spec__parse(finder->word, &finder->spec);
	if (err)
		return err;
	if (finder->spec.kind == BPF_SPEC_ALL)
		err = find_kin(&finder->others);
	if (!err)
		err = finder->spec.kind == BPF_SPEC_ID || finder->spec.kind == BPF_SPEC_PINNED ?
			      consider_one(finder) :
			      each(&finder->others, consider, finder);
	if (err || !finder->nr_matches) {
		pr_err("-b %s: %s", finder->word, no_match(finder, err));
		return err ? err : -ENOENT;
	}
	/* Those that match may have been named before; else not one of them can be counted. */
	if (finder->targets->nr == nr && finder->why_not) {
		pr_err("-b %s: '%s' (id %u) cannot be counted: %s", finder->word,
		       finder->refused.name, finder->refused.id, finder->why_not);
		return -EOPNOTSUPP;
	}
	return 0;
}

static void say_tail_calls(const struct bpf_targets *targets)
{
	for (int i = 0; i < targets->nr; i++) {
		const struct bpf_target *target = &targets->target[i];

		if (target->is_tail_called)
			pr_warn("'%s' (id %u) is in a map for tail calls: runs that begin by tail call are not seen",
				target->name, target->id);
		if (target->tail_calls)
			pr_warn("'%s' (id %u) makes tail calls: what it calls so is counted as its own",
				target->name, target->id);
	}
}

static int no_print(enum libbpf_print_level level __unused, const char *fmt __unused,
		    va_list ap __unused)
{
	return 0;
}

int bpf_targets__new(const char *list, struct bpf_targets **out)
{
	char *text __cleanup(free_ptr) = strdup(list);
	struct finder finder = { .targets = calloc(1, sizeof(*finder.targets)) };
	libbpf_print_fn_t print;
	char *rest = text;
	int err;

	if (!text || !finder.targets) {
		free(finder.targets);
		return -ENOMEM;
	}
	err = check_words(list);
	print = libbpf_set_print(no_print);
	find_tail_called(&finder.others.tail_called);
	while (!err && (finder.word = strsep(&rest, ",")))
		err = find(&finder);
	libbpf_set_print(print);
	clear_others(&finder.others);
	free(finder.why_not);
	free(finder.refused.name);
	if (err) {
		bpf_targets__delete(finder.targets);
		return err;
	}
	say_tail_calls(finder.targets);
	*out = finder.targets;
	return 0;
}

void bpf_targets__delete(struct bpf_targets *targets)
{
	if (!targets)
		return;
	for (int i = 0; i < targets->nr; i++)
		bpf_target__clear(&targets->target[i]);
	free(targets->target);
	free(targets);
}
