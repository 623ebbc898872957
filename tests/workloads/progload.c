// SPDX-License-Identifier: GPL-2.0
/*
 * progload OBJECT DIR [PINNED FUNCTION]: load each BPF program in OBJECT, alone, and pin it in DIR by its
 * name, its maps as NAME_MAP. Print the programs that the kernel does not load. With a pinned program and
 * a function of it, load the programs for that function and attach them to it; pin links as NAME_link.
 */
#include "workload.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* Debian 12's libbpf has no section for BPF_PROG_TYPE_NETFILTER and BPF_NETFILTER, both of Linux 6.4. */
#define NEW_NAME	"hook_netfilter"
#define NEW_TYPE	32
#define NEW_ATTACH_TYPE 45

static const char *in(const char *dir, const char *name, const char *suffix)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s%s%s", dir, name, *suffix ? "_" : "", suffix);
	return path;
}

static void attach(struct bpf_program *prog, const char *dir)
{
	struct bpf_link *link = bpf_program__attach(prog);

	if (!link || bpf_link__pin(link, in(dir, bpf_program__name(prog), "link")))
		die("%s", bpf_program__name(prog));
}

static void load(struct bpf_object *object, struct bpf_program *prog, const char *dir, int target,
		 const char *function)
{
	const char *name = bpf_program__name(prog);
	struct bpf_map *map;

	if (!strcmp(name, NEW_NAME)) {
		bpf_program__set_type(prog, NEW_TYPE);
		bpf_program__set_expected_attach_type(prog, NEW_ATTACH_TYPE);
	}
	if (function && bpf_program__set_attach_target(prog, target, function))
		die("%s", function);
	if (bpf_object__load(object)) {
		printf("%s: %s\n", name, strerror(errno));
		return;
	}
	if (bpf_program__pin(prog, in(dir, name, "")))
		die("%s", name);
	bpf_object__for_each_map(map, object)
	{
		if (bpf_map__pin(map, in(dir, name, bpf_map__name(map))))
			die("%s", bpf_map__name(map));
	}
	if (function)
		attach(prog, dir);
}

/* Load only program number @which. Return: false if there is none. */
static int load_one(int which, char **argv, int target)
{
	struct bpf_object *object = bpf_object__open(argv[1]);
	struct bpf_program *prog, *chosen = NULL;
	int i = 0;

	if (!object)
		die("%s", argv[1]);
	bpf_object__for_each_program(prog, object)
	{
		bpf_program__set_autoload(prog, i == which);
		if (i++ == which)
			chosen = prog;
	}
	if (chosen)
		load(object, chosen, argv[2], target, target ? argv[4] : NULL);
	bpf_object__close(object);
	return !!chosen;
}

/* Suppress libbpf's messages: a refused program is a valid result. */
static int no_print(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level, (void)fmt, (void)args;
	return 0;
}

int main(int argc, char **argv)
{
	int target = 0;

	usage_unless(argc == 3 || argc == 5, "OBJECT DIR [PINNED FUNCTION]");
	if (argc > 3)
		target = bpf_obj_get(argv[3]);
	if (target < 0)
		die("%s", argv[3]);
	libbpf_set_print(no_print);
	for (int i = 0; load_one(i, argv, target); i++)
		;
	return 0;
}
