// SPDX-License-Identifier: GPL-2.0
/*
 * modes [-c PERIOD] TURNS ITER BYTES: execute some 2 * ITER instructions in user mode and read BYTES from /dev/zero,
 * so often. Turns differ in length, lest each sample fall into the same part of one.
 * -c	sample cycles of this task meanwhile, without a program. Print how many samples were in user mode and in
 *	kernel mode, and the cycles that the kernel counted in each of them: a witness of what the machine gives.
 */
#include "workload.h"
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* Pages of the ring buffer, which has room for all samples. */
#define RING_PAGES 256

static int open_event(unsigned long period, int without_user, int without_kernel)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP,
		.exclude_user = without_user,
		.exclude_kernel = without_kernel,
		.disabled = 1,
	};
	int fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		die("cycles");
	return fd;
}

static struct perf_event_mmap_page *map_ring(int fd)
{
	size_t size = (1 + RING_PAGES) * sysconf(_SC_PAGESIZE);
	void *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		die("ring buffer");
	return ring;
}

static unsigned long count(int fd)
{
	unsigned long value;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		die("read");
	return value;
}

static void print_samples(const struct perf_event_mmap_page *ring)
{
	unsigned long nr[PERF_RECORD_MISC_CPUMODE_MASK + 1] = {}, at = 0;
	const char *data = (const char *)ring + ring->data_offset;

	if (ring->data_head > ring->data_size)
		die("the ring buffer is too small");
	while (at < ring->data_head) {
		const struct perf_event_header *header = (const void *)(data + at);

		if (header->type == PERF_RECORD_SAMPLE)
			nr[header->misc & PERF_RECORD_MISC_CPUMODE_MASK]++;
		at += header->size;
	}
	printf("samples %lu %lu\n", nr[PERF_RECORD_MISC_USER], nr[PERF_RECORD_MISC_KERNEL]);
}

static void work(unsigned long turns, unsigned long iter, size_t bytes)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char *buffer = malloc(bytes);
	unsigned int random = 1;

	if (fd < 0 || !buffer)
		die("/dev/zero");
	while (turns--) {
		random = random * 1664525 + 1013904223;
		spin(iter / 2 + (random >> 8) % (iter + 1));
		if (read(fd, buffer, bytes) != (ssize_t)bytes)
			die("read");
	}
}

int main(int argc, char **argv)
{
	/* The sampling event is the first, so it gets the counter whose interrupts QEMU delivers in time. */
	int is_sampled = argc > 2 && !strcmp(argv[1], "-c"), fds[3];
	struct perf_event_mmap_page *ring = NULL;

	if (is_sampled) {
		for (int i = 0; i < 3; i++)
			fds[i] = open_event(i ? 0 : number(argc, argv, 2, 0), i == 2, i == 1);
		ring = map_ring(fds[0]);
		for (int i = 0; i < 3; i++)
			if (ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0))
				die("enable");
		argc -= 2;
		argv += 2;
	}
	usage_unless(argc == 4, "[-c PERIOD] TURNS ITER BYTES");
	work(number(argc, argv, 1, 0), number(argc, argv, 2, 0), number(argc, argv, 3, 0));
	if (is_sampled) {
		if (ioctl(fds[0], PERF_EVENT_IOC_DISABLE, 0))
			die("disable");
		print_samples(ring);
		printf("counts %lu %lu\n", count(fds[1]), count(fds[2]));
	}
	return 0;
}
