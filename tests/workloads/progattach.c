// SPDX-License-Identifier: GPL-2.0
/*
 * progattach OBJECT DIR [PINNED FUNCTION]: load the BPF programs in OBJECT, attach them to what their
 * sections say, and pin programs, links (NAME_link) and maps in DIR. Extensions replace that function
 * of the program that is pinned.
 */
#include "workload.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static void attach(struct bpf_program *prog, const char *dir)
{
	struct bpf_link *link = bpf_program__attach(prog);
	char path[256];

	if (!link)
		die("%s", bpf_program__name(prog));
	snprintf(path, sizeof(path), "%s/%s", dir, bpf_program__name(prog));
	if (bpf_program__pin(prog, path))
		die("%s", path);
	strcat(path, "_link");
	if (bpf_link__pin(link, path))
		die("%s", path);
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_program *prog;
	int fd = 0;

	usage_unless(argc == 3 || argc == 5, "OBJECT DIR [PINNED FUNCTION]");
	object = bpf_object__open(argv[1]);
	if (!object)
		die("%s", argv[1]);
	if (argc > 3) {
		fd = bpf_obj_get(argv[3]);
		prog = bpf_object__next_program(object, NULL);
		if (fd < 0 || bpf_program__set_attach_target(prog, fd, argv[4]))
			die("%s", argv[3]);
	}
	if (bpf_object__load(object))
		die("%s", argv[1]);
	bpf_object__for_each_program(prog, object)
		attach(prog, argv[2]);
	if (bpf_object__pin_maps(object, argv[2]))
		die("%s", argv[2]);
	return 0;
}
