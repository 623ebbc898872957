// SPDX-License-Identifier: GPL-2.0
#include "util/profile/profile_files.h"

#include "util/lib/msg.h"
#include "util/profile/pprof.h"
#include "util/profile/profile_flame.h"
#include "util/profile/profile_report.h"

#include <errno.h>
#include <string.h>

/* Each writes the contents of a file. Return: 0 or -errno. */
static int (*const writers[NR_PROFILE_FILES])(FILE *out, const struct profile_report *report,
					      const char *path) = {
	[PROFILE_FLAMEGRAPH] = profile_flame__write,
	[PROFILE_PPROF] = pprof__write,
};

bool profile_files__has_any(const struct profile_files *files)
{
	for (int i = 0; i < NR_PROFILE_FILES; i++) {
		if (files->paths[i])
			return true;
	}
	return false;
}

int profile_files__open(struct profile_files *files)
{
	for (int i = 0; i < NR_PROFILE_FILES; i++) {
		int err;

		if (!files->paths[i])
			continue;
		err = new_file__replace(&files->files[i], files->paths[i], 0666);
		if (err) {
			pr_err("cannot write %s: %s", files->paths[i], strerror(-err));
			return err;
		}
	}
	return 0;
}

/* Each can be on a disk of its own, of which only one is full. */
int profile_files__write(struct profile_files *files, const struct profile_report *report)
{
	int first = 0;

	for (int i = 0; i < NR_PROFILE_FILES; i++) {
		int err;

		if (!files->paths[i])
			continue;
		err = writers[i](files->files[i].file, report, files->paths[i]);
		if (!err)
			err = new_file__finish(&files->files[i], NULL);
		if (err)
			pr_err("writing %s failed: %s", files->paths[i], strerror(-err));
		first = first ? first : err;
	}
	return first;
}

void profile_files__close(struct profile_files *files)
{
	for (int i = 0; i < NR_PROFILE_FILES; i++)
		new_file__close(&files->files[i]);
}
