// SPDX-License-Identifier: GPL-2.0
/*
 * poke PID FILE: send SIGUSR1 to a gang that writes to FILE. Wait until the gang has written there and
 * all its threads sleep again.
 */
#include "workload.h"
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

static off_t size_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		die("%s", path);
	return st.st_size;
}

static int is_asleep(const char *dir, const char *tid)
{
	char path[512], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/stat", dir, tid);
	file = fopen(path, "r");
	if (!file)
		die("%s", path);
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		die("%s: no state", path);
	fclose(file);
	return state == 'S';
}

static int all_asleep(unsigned long pid)
{
	struct dirent *entry;
	int asleep = 1;
	char dir[64];
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%lu/task", pid);
	d = opendir(dir);
	if (!d)
		die("%s", dir);
	while ((entry = readdir(d)))
		asleep &= entry->d_name[0] == '.' || is_asleep(dir, entry->d_name);
	closedir(d);
	return asleep;
}

int main(int argc, char **argv)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	unsigned long pid;
	off_t before;

	usage_unless(argc == 3, "PID FILE");
	pid = number(argc, argv, 1, 0);
	before = size_of(argv[2]);
	if (kill(pid, SIGUSR1))
		die("kill");
	do
		nanosleep(&moment, NULL);
	while (size_of(argv[2]) == before || !all_asleep(pid));
	return 0;
}
