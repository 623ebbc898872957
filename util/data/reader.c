// SPDX-License-Identifier: GPL-2.0
#include "util/data/reader.h"

#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/program.h"
#include "util/lib/util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_ATTRS   65536
#define MAX_SECTION (64 << 20) /* bytes of a feature's section, or of the ids of an event */

struct data_reader {
	char *path; /* "-": stdin */
	FILE *file;
	bool is_stream, has_stat;
	uint64_t offset, end; /* of the next record, of the last; a stream has no end */
	uint64_t size;	      /* of the file */
	struct data_header header;
	struct data_attr *attrs;
	int nr_attrs;
	struct header_fields header_fields;
	char record[UINT16_MAX];
};

int data_reader__bad(const struct data_reader *reader, uint64_t offset, const char *fmt, ...)
{
	char *text __cleanup(free_ptr) = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	pr_err("%s: at byte %" PRIu64 ": %s", strcmp(reader->path, "-") ? reader->path : "stdin",
	       offset, text ? text : "out of memory");
	return -EINVAL;
}

static int no_memory(void)
{
	pr_err("out of memory");
	return -ENOMEM;
}

/* Return: 1; 0: at the end; -EINVAL after a message: cut short */
static int read_all(struct data_reader *reader, uint64_t offset, void *data, size_t len)
{
	size_t got = fread(data, 1, len, reader->file);

	if (got == len)
		return 1;
	if (ferror(reader->file))
		return data_reader__bad(reader, offset + got, "reading failed: %s",
					strerror(errno));
	if (!got)
		return 0;
	return data_reader__bad(reader, offset, "cut off: %zu bytes of %zu", got, len);
}

static bool is_inside(const struct data_reader *reader, const struct data_section *section)
{
	return section->offset <= reader->size && section->size <= reader->size - section->offset;
}

static int read_at(struct data_reader *reader, uint64_t offset, void *data, size_t len)
{
	int ret;

	if (fseeko(reader->file, offset, SEEK_SET))
		return data_reader__bad(reader, offset, "reading failed: %s", strerror(errno));
	ret = len ? read_all(reader, offset, data, len) : 1;
	if (!ret)
		data_reader__bad(reader, offset, "cut off: %zu bytes should follow", len);
	return ret == 1 ? 0 : -EINVAL;
}

/* Read an attr of @size bytes: pad a shorter one with 0, drop the rest of a longer one. */
static struct data_attr *add_attr(struct data_reader *reader, const char *data, uint32_t size)
{
	struct data_attr *added = array__add(reader->attrs, reader->nr_attrs);

	if (!added)
		return NULL;
	memcpy(&added->attr, data, size < sizeof(added->attr) ? size : sizeof(added->attr));
	added->attr.size = sizeof(added->attr);
	return added;
}

static int alloc_ids(struct data_attr *attr, uint64_t nr)
{
	attr->ids = malloc((nr + 1) * sizeof(*attr->ids));
	if (!attr->ids)
		return no_memory();
	attr->nr_ids = nr;
	return 0;
}

static int read_attr(struct data_reader *reader, uint64_t offset, uint64_t *nr_ids)
{
	uint64_t attr_size = reader->header.attr_size;
	char data[4096];
	struct data_section ids;
	struct data_attr *attr;
	int err = read_at(reader, offset, data, attr_size);

	if (err)
		return err;
	memcpy(&ids, data + attr_size - sizeof(ids), sizeof(ids));
	if (!is_inside(reader, &ids) || ids.size % sizeof(uint64_t))
		return data_reader__bad(reader, offset, "the ids of an event are not in the file");
	*nr_ids += ids.size / sizeof(uint64_t);
	if (*nr_ids > MAX_SECTION / sizeof(uint64_t))
		return data_reader__bad(reader, offset, "more ids than can be");
	attr = add_attr(reader, data, attr_size - sizeof(ids));
	if (!attr)
		return no_memory();
	err = alloc_ids(attr, ids.size / sizeof(uint64_t));
	return err ? err : read_at(reader, ids.offset, attr->ids, ids.size);
}

static int read_attrs(struct data_reader *reader)
{
	const struct data_header *header = &reader->header;
	uint64_t nr_ids = 0;
	int err = 0;

	if (header->attr_size < DATA_ATTR_MIN + sizeof(struct data_section) ||
	    header->attr_size > 4096)
		return data_reader__bad(reader, offsetof(struct data_header, attr_size),
					"attrs of %" PRIu64 " bytes", header->attr_size);
	if (!is_inside(reader, &header->attrs) || header->attrs.size % header->attr_size ||
	    header->attrs.size / header->attr_size > MAX_ATTRS)
		return data_reader__bad(reader, offsetof(struct data_header, attrs),
					"the attrs are not in the file");
	for (uint64_t at = 0; at < header->attrs.size && !err; at += header->attr_size)
		err = read_attr(reader, header->attrs.offset + at, &nr_ids);
	return err;
}

static int add_feature(struct data_reader *reader, int feature, uint64_t offset, const char *data,
		       size_t len)
{
	int err = header_fields__add(&reader->header_fields, feature, data, len);

	reader->has_stat |= feature == FEATURE_STAT;
	if (err == -EINVAL)
		data_reader__bad(reader, offset, "feature %d of the header is not as it should be",
				 feature);
	return err == -ENOMEM ? no_memory() : err;
}

static int read_feature(struct data_reader *reader, int feature, uint64_t place)
{
	char *data __cleanup(free_ptr) = NULL;
	struct data_section section;
	int err = read_at(reader, place, &section, sizeof(section));

	if (err)
		return err;
	if (!is_inside(reader, &section) || section.size > MAX_SECTION)
		return data_reader__bad(reader, place, "feature %d is not in the file", feature);
	data = malloc(section.size + 1);
	if (!data)
		return no_memory();
	err = read_at(reader, section.offset, data, section.size);
	return err ? err : add_feature(reader, feature, section.offset, data, section.size);
}

/* Read the features; their places follow the data, in the order of their numbers. */
static int read_features(struct data_reader *reader)
{
	const struct data_header *header = &reader->header;
	uint64_t place = header->data.offset + header->data.size;
	int err = 0;

	for (int f = 0; f < NR_FEATURES && !err; f++) {
		if (!(header->features[f / 64] >> f % 64 & 1))
			continue;
		err = read_feature(reader, f, place);
		place += sizeof(struct data_section);
	}
	return err;
}

static int read_sections(struct data_reader *reader)
{
	const struct data_header *header = &reader->header;
	struct stat st;
	int err;

	if (fstat(fileno(reader->file), &st) || !S_ISREG(st.st_mode))
		return data_reader__bad(reader, 0, "this layout needs a file, not a pipe");
	reader->size = st.st_size;
	err = read_at(reader, 0, &reader->header, sizeof(reader->header));
	if (err)
		return err;
	if (!header->data.size)
		return data_reader__bad(reader, offsetof(struct data_header, data),
					"no data: whoever wrote it was interrupted");
	if (!is_inside(reader, &header->data))
		return data_reader__bad(reader, offsetof(struct data_header, data),
					"cut off: the data should be %" PRIu64
					" bytes from byte %" PRIu64 ", the file has %" PRIu64,
					header->data.size, header->data.offset, reader->size);
	err = read_attrs(reader);
	if (!err)
		err = read_features(reader);
	reader->offset = header->data.offset;
	reader->end = header->data.offset + header->data.size;
	if (!err && fseeko(reader->file, reader->offset, SEEK_SET))
		err = data_reader__bad(reader, reader->offset, "reading failed: %s",
				       strerror(errno));
	return err;
}

static int read_header(struct data_reader *reader)
{
	char magic[8] = "";
	uint64_t size;
	int ret = read_all(reader, 0, magic, sizeof(magic));

	if (ret < 0)
		return ret;
	if (!memcmp(magic, DATA_MAGIC_SWAPPED, sizeof(magic)))
		return data_reader__bad(
			reader, 0, "recorded on a machine of the other byte order: read it there");
	if (!ret || memcmp(magic, DATA_MAGIC, sizeof(magic)))
		return data_reader__bad(reader, 0,
					"not perf.data: it does not begin with " DATA_MAGIC);
	ret = read_all(reader, sizeof(magic), &size, sizeof(size));
	if (ret < 0)
		return ret;
	if (!ret || (size != DATA_STREAM_HEADER && size != sizeof(struct data_header)))
		return data_reader__bad(reader, sizeof(magic),
					"a header of neither a file nor a stream");
	if (size == sizeof(struct data_header))
		return read_sections(reader);
	reader->is_stream = true;
	reader->has_stat = true; /* not every stream has the feature */
	reader->offset = DATA_STREAM_HEADER;
	return 0;
}

int data_reader__open(const char *path, struct data_reader **out)
{
	struct data_reader *reader = calloc(1, sizeof(*reader));
	int err;

	*out = NULL;
	if (!reader)
		return no_memory();
	reader->path = strdup(path);
	reader->file = !strcmp(path, "-") ? fdopen(dup(STDIN_FILENO), "re") : fopen(path, "re");
	if (!reader->file) {
		err = -errno;
		pr_err("cannot read %s: %s", shown_arg(path), strerror(errno));
	} else {
		err = reader->path ? read_header(reader) : no_memory();
	}
	if (err)
		data_reader__delete(reader);
	else
		*out = reader;
	return err;
}

void data_reader__delete(struct data_reader *reader)
{
	if (!reader)
		return;
	if (reader->file)
		fclose(reader->file);
	for (int i = 0; i < reader->nr_attrs; i++)
		free(reader->attrs[i].ids);
	free(reader->attrs);
	header_fields__clear(&reader->header_fields);
	free(reader->path);
	free(reader);
}

/* Read an attr, which has its own size, and its ids. */
static int take_attr(struct data_reader *reader, const struct data_record *record)
{
	struct byte_reader body = record->body;
	struct data_attr *attr;
	const char *data = body.at;
	uint32_t size = 0;
	int err;

	if (body.left >= DATA_ATTR_MIN)
		memcpy(&size, data + offsetof(struct perf_event_attr, size), sizeof(size));
	if (size < DATA_ATTR_MIN || size > body.left || (body.left - size) % sizeof(uint64_t))
		return data_reader__bad(reader, record->offset,
					"an attr that does not fit its record");
	if (reader->nr_attrs == MAX_ATTRS)
		return data_reader__bad(reader, record->offset, "more events than can be");
	byte_reader__skip(&body, size);
	attr = add_attr(reader, data, size);
	if (!attr)
		return no_memory();
	err = alloc_ids(attr, body.left / sizeof(uint64_t));
	if (!err)
		byte_reader__get(&body, attr->ids, body.left);
	return err;
}

static int take_feature(struct data_reader *reader, const struct data_record *record)
{
	struct byte_reader body = record->body;
	uint64_t feature = byte_reader__u64(&body);

	/* Feature numbers above ours end with the number that ends the list. */
	if (body.is_short || feature >= NR_FEATURES)
		return 0;
	return add_feature(reader, feature, record->offset, body.at, body.left);
}

static int read_record(struct data_reader *reader, struct data_record *record)
{
	struct perf_event_header header;
	uint64_t left = reader->is_stream ? UINT64_MAX : reader->end - reader->offset;
	int ret;

	if (!left)
		return 0;
	if (left < sizeof(header))
		return data_reader__bad(reader, reader->offset,
					"cut off: %" PRIu64 " bytes of a record", left);
	ret = read_all(reader, reader->offset, &header, sizeof(header));
	if (!ret && !reader->is_stream)
		ret = data_reader__bad(reader, reader->offset, "cut off: a record should follow");
	if (ret <= 0)
		return ret;
	if (header.size < sizeof(header) || header.size > left)
		return data_reader__bad(reader, reader->offset, "a record of %u bytes",
					header.size);
	record->type = header.type;
	record->offset = reader->offset;
	record->body =
		(struct byte_reader){.at = reader->record, .left = header.size - sizeof(header)};
	ret = record->body.left ?
		      read_all(reader, reader->offset, reader->record, record->body.left) :
		      1;
	if (!ret)
		ret = data_reader__bad(reader, reader->offset, "cut off: %u bytes should follow",
				       header.size);
	reader->offset += header.size;
	return ret;
}

int data_reader__next(struct data_reader *reader, struct data_record *record)
{
	int ret, err = 0;

	while ((ret = read_record(reader, record)) == 1) {
		if (record->type == RECORD_HEADER_ATTR && reader->is_stream)
			err = take_attr(reader, record);
		else if (record->type == RECORD_HEADER_FEATURE && reader->is_stream)
			err = take_feature(reader, record);
		else
			break;
		if (err)
			return err;
	}
	return ret;
}

uint64_t data_reader__offset(const struct data_reader *reader)
{
	return reader->offset;
}

const char *data_path(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISFIFO(st.st_mode) ? "-" : "perf.data";
}

bool data_reader__is_from(const struct data_reader *reader, const char *path)
{
	struct stat ours, its;

	return !fstat(fileno(reader->file), &ours) && !stat(path, &its) &&
	       ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

bool data_reader__is_stream(const struct data_reader *reader)
{
	return reader->is_stream;
}

int data_reader__check_stat(const struct data_reader *reader)
{
	if (reader->has_stat)
		return 0;
	return data_reader__bad(reader, offsetof(struct data_header, features),
				"no counts: not written by %s stat record", program__name());
}

const struct data_attr *data_reader__attrs(const struct data_reader *reader, int *nr)
{
	*nr = reader->nr_attrs;
	return reader->attrs;
}

const struct header_fields *data_reader__header_fields(const struct data_reader *reader)
{
	return &reader->header_fields;
}
