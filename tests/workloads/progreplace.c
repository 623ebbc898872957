// SPDX-License-Identifier: GPL-2.0
/*
 * progreplace PINNED FUNCTION OBJECT PATH: load the extension in OBJECT, have it replace that function
 * of the program that is pinned, and pin it and its link at PATH and PATH_link.
 */
#include "workload.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_program *prog;
	struct bpf_link *link;
	char path[256];
	int fd;

	usage_unless(argc == 5, "PINNED FUNCTION OBJECT PATH");
	fd = bpf_obj_get(argv[1]);
	if (fd < 0)
		die("%s", argv[1]);
	object = bpf_object__open(argv[3]);
	prog = object ? bpf_object__next_program(object, NULL) : NULL;
	if (!prog || bpf_program__set_attach_target(prog, fd, argv[2]) || bpf_object__load(object))
		die("%s", argv[3]);
	link = bpf_program__attach_trace(prog);
	if (!link)
		die("%s", argv[2]);
	snprintf(path, sizeof(path), "%s_link", argv[4]);
	if (bpf_program__pin(prog, argv[4]) || bpf_link__pin(link, path))
		die("%s", argv[4]);
	return 0;
}
