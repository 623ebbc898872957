// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_record.h"

#include "bpf_skel/leader.h"
#include "util/bperf/attr_map.h"
#include "util/bperf/attr_pin.h"
#include "util/host/capability.h"
#include "util/lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The BPF file system allows no dots in names. */
#define TEXT_OF(number) #number
#define NAME_OF(layout) "leader_" TEXT_OF(layout)
#define NAME		NAME_OF(LEADER_LAYOUT)
#define NEW_NAME	"leader_new"

#define FORMAT "attr-map=%u link=%u program=%u loaded=%llu registry=%u"

void leader_record__format(const struct leader_record *record, char text[LEADER_RECORD_TEXT])
{
	snprintf(text, LEADER_RECORD_TEXT, FORMAT, record->attr_map_id, record->link_id,
		 record->prog_id, (unsigned long long)record->load_time_ns, record->registry_id);
}

int leader_record__parse(const char *text, struct leader_record *record)
{
	unsigned long long load_time_ns;
	char again[LEADER_RECORD_TEXT];

	if (sscanf(text, FORMAT, &record->attr_map_id, &record->link_id, &record->prog_id,
		   &load_time_ns, &record->registry_id) != 5)
		return -EINVAL;
	record->load_time_ns = load_time_ns;
	/* sscanf() also takes signs, spaces and numbers that are too large. */
	leader_record__format(record, again);
	return strcmp(text, again) ? -EINVAL : 0;
}

bool leader_record__is_same(const struct leader_record *a, const struct leader_record *b)
{
	return a->attr_map_id == b->attr_map_id && a->link_id == b->link_id &&
	       a->prog_id == b->prog_id && a->registry_id == b->registry_id &&
	       a->load_time_ns == b->load_time_ns;
}

static int read_link(const struct attr_map *map, struct leader_record *record)
{
	int fd __cleanup(close_fd) = openat(map->lock.fd, NAME, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char text[LEADER_RECORD_TEXT] = "";
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return -ENOENT;
	/* One that fills the text is none of ours: its end is cut off. */
	if (readlinkat(fd, "", text, sizeof(text) - 1) < 0)
		return -errno;
	if (leader_record__parse(text, record))
		return -ENOENT;
	return attr_pin__is_trusted(st.st_uid, map->trusted) ? 0 : -EPERM;
}

int leader_record__read(const struct attr_map *map, struct leader_record *record)
{
	int err;

	capability__raise_files();
	err = read_link(map, record);
	capability__lower_files();
	return err;
}

int leader_record__write(const struct attr_map *map, const struct leader_record *record)
{
	char text[LEADER_RECORD_TEXT];
	int err = 0;

	leader_record__format(record, text);
	capability__raise_files();
	/* A session that was killed before the renaming has left one. */
	(void)unlinkat(map->lock.fd, NEW_NAME, 0);
	if (symlinkat(text, map->lock.fd, NEW_NAME) ||
	    renameat(map->lock.fd, NEW_NAME, map->lock.fd, NAME)) {
		err = -errno;
		(void)unlinkat(map->lock.fd, NEW_NAME, 0);
	}
	capability__lower_files();
	return err;
}
