// SPDX-License-Identifier: GPL-2.0
/*
 * soak_work run FD STATUS PAGES CHILDREN: touch PAGES fresh pages, fork CHILDREN children one after the
 * other that do the same, and exit with STATUS. Write a struct soak_stamp to FD at the beginning and at
 * the end.
 * soak_work serve PAGES THREADS: do the same work in each of 1 + THREADS threads for each byte of input,
 * and answer with a byte, until the input ends.
 */
#include "soak_stamp.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define MAX_THREADS 16

static pthread_barrier_t barrier;
static unsigned long pages;
static pid_t children[SOAK_CHILDREN];

static void touch(void)
{
	unsigned long page = sysconf(_SC_PAGESIZE);
	char *p;

	if (!pages)
		return;
	p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("mmap");
	/* A huge page would cause only one fault. */
	madvise(p, pages * page, MADV_NOHUGEPAGE);
	for (unsigned long i = 0; i < pages; i++)
		((volatile char *)p)[i * page] = 1;
	munmap(p, pages * page);
}

static void stamp(int fd)
{
	struct soak_stamp stamp;

	soak_stamp(&stamp, getppid());
	stamp.pid = getpid();
	memcpy(stamp.children, children, sizeof(children));
	if (write(fd, &stamp, sizeof(stamp)) != sizeof(stamp))
		die("stamp");
}

static int run(int argc, char **argv)
{
	unsigned long fd = number(argc, argv, 2, 0), nr = number(argc, argv, 5, 0);

	usage_unless(nr <= SOAK_CHILDREN, "run FD STATUS PAGES CHILDREN(up to 4)");
	pages = number(argc, argv, 4, 0);
	stamp(fd);
	touch();
	for (unsigned long i = 0; i < nr; i++) {
		children[i] = fork();
		if (children[i] < 0)
			die("fork");
		if (!children[i]) {
			touch();
			_exit(0);
		}
		reap(children[i]);
	}
	stamp(fd);
	return number(argc, argv, 3, 0);
}

static void *thread(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&barrier);
		touch();
		pthread_barrier_wait(&barrier);
	}
	return arg;
}

static int serve(int argc, char **argv)
{
	unsigned long nr = number(argc, argv, 3, 0);
	pthread_t id;
	char byte;

	usage_unless(nr <= MAX_THREADS, "serve PAGES THREADS(up to 16)");
	pages = number(argc, argv, 2, 0);
	/* End with the parent, which may be killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	errno = pthread_barrier_init(&barrier, NULL, nr + 1);
	for (unsigned long i = 0; !errno && i < nr; i++)
		errno = pthread_create(&id, NULL, thread, NULL);
	if (errno)
		die("threads");
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		pthread_barrier_wait(&barrier);
		touch();
		pthread_barrier_wait(&barrier);
		if (write(STDOUT_FILENO, &byte, 1) != 1)
			die("answer");
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "run"))
		return run(argc, argv);
	usage_unless(argc == 4 && !strcmp(argv[1], "serve"),
		     "run FD STATUS PAGES CHILDREN | serve PAGES THREADS");
	return serve(argc, argv);
}
