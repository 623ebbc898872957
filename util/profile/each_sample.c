// SPDX-License-Identifier: GPL-2.0
#include "util/profile/each_sample.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/sample/sample_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Records in memory. A row often has a single one, and a system call for each would be slow. */
#define MAX_WAITING 4096

struct each_sample {
	int fd;
	uint64_t nr;
	bool is_full;		     /* the file takes no more */
	struct sample_sum *kept;     /* of each event */
	struct each_record *records; /* mapped, once they are sorted */
	struct each_record waiting[MAX_WAITING];
	size_t nr_waiting;
};

static int failed(int err)
{
	pr_err("--each: keeping single samples in a temporary file failed: %s", strerror(err));
	return -err;
}

/* Return: a descriptor, or -errno. A file system that knows no files without names gets one for a moment. */
static int open_file(void)
{
	const char *dir = secure_getenv("TMPDIR");
	char *path __cleanup(free_ptr) = xasprintf("%s/perf-XXXXXX", dir ? dir : "/tmp");
	int fd = open(dir ? dir : "/tmp", O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || !path)
		return fd >= 0 ? fd : -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

struct each_sample *each_sample__new(int nr_events)
{
	struct each_sample *each = calloc(1, sizeof(*each));
	int err = -ENOMEM;

	if (each) {
		each->fd = -1;
		each->kept = calloc(nr_events + 1, sizeof(*each->kept));
	}
	if (each && each->kept)
		err = each->fd = open_file();
	if (err >= 0)
		return each;
	failed(-err);
	each_sample__delete(each);
	return NULL;
}

void each_sample__delete(struct each_sample *each)
{
	if (!each)
		return;
	if (each->records)
		munmap(each->records, each->nr * sizeof(*each->records));
	close_fd(&each->fd);
	free(each->kept);
	free(each);
}

/* Write at the end. Count what has found a place in the file. */
static void flush(struct each_sample *each)
{
	const struct each_record *records = each->waiting;
	ssize_t len = each->is_full ? 0 :
				      pwrite(each->fd, records, each->nr_waiting * sizeof(*records),
					     each->nr * sizeof(*records));
	size_t nr_put = len < 0 ? 0 : len / sizeof(*records);

	each->is_full |= nr_put < each->nr_waiting;
	each->nr += nr_put;
	each->nr_waiting = 0;
	for (size_t i = 0; i < nr_put; i++) {
		each->kept[records[i].event].nr++;
		each->kept[records[i].event].weight += records[i].weight;
	}
}

void each_sample__add(struct each_sample *each, int nr, const struct sample_entry *entry)
{
	for (uint32_t i = 0; i < entry->nr_singles; i++) {
		each->waiting[each->nr_waiting++] = (struct each_record){
			.time_ns = entry->singles[i].time_ns,
			.weight = entry->singles[i].weight,
			.entry = nr,
			.event = entry->event,
		};
		if (each->nr_waiting == MAX_WAITING)
			flush(each);
	}
}

void each_sample__account(struct each_sample *each, int event, struct sample_account *account)
{
	flush(each);
	account->unrecorded.nr = account->kept.nr - each->kept[event].nr;
	account->unrecorded.weight = account->kept.weight - each->kept[event].weight;
}

static int compare(const void *a, const void *b)
{
	const struct each_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

int each_sample__sort(struct each_sample *each, const struct each_record **records, uint64_t *nr)
{
	void *memory;

	flush(each);
	*nr = each->nr;
	*records = NULL;
	if (!each->nr)
		return 0;
	memory = mmap(NULL, each->nr * sizeof(*each->records), PROT_READ | PROT_WRITE, MAP_SHARED,
		      each->fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	each->records = memory;
	qsort(memory, each->nr, sizeof(*each->records), compare);
	*records = each->records;
	return 0;
}
