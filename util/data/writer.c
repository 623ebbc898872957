// SPDX-License-Identifier: GPL-2.0
#include "util/data/writer.h"

#include "util/lib/msg.h"
#include "util/lib/new_file.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <unistd.h>

struct data_writer {
	struct new_file out; /* "-": stdout */
	struct data_header header;
	const struct byte_buffer *features; /* borrowed */
	bool has_stat;
};

static int failed(const struct data_writer *writer, int err)
{
	pr_err("writing %s failed: %s",
	       strcmp(writer->out.path, "-") ? writer->out.path : "standard output", strerror(err));
	return -err;
}

/* Return: whether there is a previous file to keep; an empty one is not kept. */
static bool has_old(const struct data_writer *writer)
{
	struct stat st;

	return !lstat(writer->out.path, &st) && (!S_ISREG(st.st_mode) || st.st_size);
}

/* Return: whether perf may move files of others. */
static bool is_owner_of_all(void)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	if (caps && cap_get_flag(caps, CAP_FOWNER, CAP_EFFECTIVE, &value))
		value = CAP_CLEAR;
	cap_free(caps);
	return value == CAP_SET;
}

/* Check that a file of that name could be moved or replaced. Return: 0 or -errno after a message. */
static int check_name(const char *name, const struct stat *dir, bool is_target)
{
	bool is_foreign = dir->st_mode & S_ISVTX && dir->st_uid != geteuid();
	struct stat st;
	int err = 0;

	if (lstat(name, &st))
		return 0;
	if (is_target && S_ISDIR(st.st_mode))
		err = EISDIR;
	else if (is_foreign && st.st_uid != geteuid() && !is_owner_of_all())
		err = EPERM;
	if (err)
		pr_err("cannot replace %s: %s", name, strerror(err));
	return -err;
}

/* Check now what would otherwise fail after counting. Return: 0 or -errno after a message. */
static int check_names(const struct data_writer *writer)
{
	char *dir __cleanup(free_ptr) = new_file__dir(writer->out.path);
	char *old __cleanup(free_ptr) = xasprintf("%s.old", writer->out.path);
	struct stat st;
	int err;

	if (!dir || !old || stat(dir, &st)) {
		err = -errno;
		pr_err("cannot write %s: %s", writer->out.path, strerror(errno));
		return err;
	}
	err = check_name(writer->out.path, &st, false);
	return err || !has_old(writer) ? err : check_name(old, &st, true);
}

int data_writer__open(const char *path, struct data_writer **out)
{
	struct data_writer *writer = calloc(1, sizeof(*writer));
	int err = writer ? new_file__open(&writer->out, path, 0600) : -ENOMEM;

	*out = NULL;
	if (err)
		pr_err("cannot write %s: %s", shown_arg(path), strerror(-err));
	else if (!writer->out.is_stream)
		err = check_names(writer);
	if (err)
		data_writer__delete(writer);
	else
		*out = writer;
	return err;
}

bool data_writer__is_stream(const struct data_writer *writer)
{
	return writer->out.is_stream;
}

bool data_writer__is_stdout(const struct data_writer *writer)
{
	return !strcmp(writer->out.path, "-");
}

static int put(struct data_writer *writer, const void *data, size_t len)
{
	errno = 0;
	if (len && fwrite(data, len, 1, writer->out.file) != 1)
		return failed(writer, errno ? errno : EIO);
	return 0;
}

static int put_record(struct data_writer *writer, struct perf_event_header header, const void *body,
		      size_t len)
{
	static const char zeros[8];
	size_t padding = (8 - len % 8) % 8;
	int err;

	if (len > DATA_RECORD_MAX - sizeof(header))
		return -E2BIG;
	header.size = sizeof(header) + len + padding;
	err = put(writer, &header, sizeof(header));
	if (!err)
		err = put(writer, body, len);
	return err ? err : put(writer, zeros, padding);
}

int data_writer__record(struct data_writer *writer, enum data_record_type type, const void *body,
			size_t len)
{
	return put_record(writer, (struct perf_event_header){.type = type}, body, len);
}

int data_writer__put(struct data_writer *writer, uint32_t type, uint16_t misc,
		     struct byte_buffer *body)
{
	int err = body->has_failed ?
			  failed(writer, ENOMEM) :
			  put_record(writer, (struct perf_event_header){.type = type, .misc = misc},
				     body->data, body->len);

	byte_buffer__clear(body);
	return err;
}

static bool has_feature(const struct data_writer *writer, int feature)
{
	return writer->features[feature].len || (feature == FEATURE_STAT && writer->has_stat);
}

/* Write sections of a file, or records of a stream, without those too large for a record. */
static int put_stream_header(struct data_writer *writer, const struct data_attr *attrs, int nr)
{
	uint64_t header[2] = {0, DATA_STREAM_HEADER};
	int err;

	memcpy(header, DATA_MAGIC, sizeof(header[0]));
	err = put(writer, header, sizeof(header));
	for (int i = 0; i < nr && !err; i++) {
		struct byte_buffer body = {};

		byte_buffer__put(&body, &attrs[i].attr, attrs[i].attr.size);
		byte_buffer__put(&body, attrs[i].ids, attrs[i].nr_ids * sizeof(*attrs[i].ids));
		err = body.has_failed ?
			      failed(writer, ENOMEM) :
			      data_writer__record(writer, RECORD_HEADER_ATTR, body.data, body.len);
		byte_buffer__clear(&body);
	}
	for (int f = 0; f < NR_FEATURES && !err; f++) {
		struct byte_buffer body = {};

		/* Streams have build ids in the records of mappings. */
		if (!has_feature(writer, f) || f == FEATURE_BUILD_ID)
			continue;
		byte_buffer__put_u64(&body, f);
		byte_buffer__put(&body, writer->features[f].data, writer->features[f].len);
		err = body.has_failed ? failed(writer, ENOMEM) :
					data_writer__record(writer, RECORD_HEADER_FEATURE,
							    body.data, body.len);
		byte_buffer__clear(&body);
		err = err == -E2BIG ? 0 : err;
	}
	return err;
}

static int put_file_header(struct data_writer *writer, const struct data_attr *attrs, int nr)
{
	struct data_header *header = &writer->header;
	uint32_t attr_size = nr ? attrs[0].attr.size : PERF_ATTR_SIZE_VER0;
	uint64_t at = sizeof(*header);
	int err;

	memcpy(header->magic, DATA_MAGIC, sizeof(header->magic));
	header->size = sizeof(*header);
	header->attr_size = attr_size + sizeof(struct data_section);
	err = put(writer, header, sizeof(*header));
	for (int i = 0; i < nr && !err; i++) {
		err = put(writer, attrs[i].ids, attrs[i].nr_ids * sizeof(*attrs[i].ids));
		at += attrs[i].nr_ids * sizeof(*attrs[i].ids);
	}
	header->attrs = (struct data_section){.offset = at, .size = nr * header->attr_size};
	header->data.offset = at + header->attrs.size;
	at = sizeof(*header);
	for (int i = 0; i < nr && !err; i++) {
		struct data_section ids = {.offset = at,
					   .size = attrs[i].nr_ids * sizeof(*attrs[i].ids)};

		assert(attrs[i].attr.size == attr_size);
		err = put(writer, &attrs[i].attr, attr_size);
		if (!err)
			err = put(writer, &ids, sizeof(ids));
		at += ids.size;
	}
	return err;
}

int data_writer__begin(struct data_writer *writer, const struct data_attr *attrs, int nr,
		       const struct byte_buffer *features, bool has_stat)
{
	writer->features = features;
	writer->has_stat = has_stat;
	return writer->out.is_stream ? put_stream_header(writer, attrs, nr) :
				       put_file_header(writer, attrs, nr);
}

int data_writer__flush(struct data_writer *writer)
{
	return fflush(writer->out.file) ? failed(writer, errno) : 0;
}

/* Write the places of the sections behind the data, then the sections, and the header last. */
static int complete(struct data_writer *writer)
{
	struct data_section section = {};
	long end = ftell(writer->out.file);
	int nr = 0, err = 0;

	if (end < 0)
		return failed(writer, errno);
	writer->header.data.size = end - writer->header.data.offset;
	for (int f = 0; f < NR_FEATURES; f++) {
		if (has_feature(writer, f)) {
			writer->header.features[f / 64] |= 1ULL << f % 64;
			nr++;
		}
	}
	section.offset = end + nr * sizeof(section);
	for (int f = 0; f < NR_FEATURES && !err; f++) {
		if (!has_feature(writer, f))
			continue;
		section.size = writer->features[f].len;
		err = put(writer, &section, sizeof(section));
		section.offset += section.size;
	}
	for (int f = 0; f < NR_FEATURES && !err; f++)
		err = put(writer, writer->features[f].data, writer->features[f].len);
	if (!err && fseek(writer->out.file, 0, SEEK_SET))
		err = failed(writer, errno);
	return err ? err : put(writer, &writer->header, sizeof(writer->header));
}

/* A previous file becomes NAME.old. */
static int give_name(struct data_writer *writer)
{
	char *old __cleanup(free_ptr) = xasprintf("%s.old", writer->out.path);
	int err;

	if (!old)
		return failed(writer, ENOMEM);
	err = new_file__finish(&writer->out, has_old(writer) ? old : NULL);
	return err ? failed(writer, -err) : 0;
}

int data_writer__finish(struct data_writer *writer)
{
	int err;

	if (writer->out.is_stream)
		return data_writer__flush(writer);
	err = complete(writer);
	return err ? err : give_name(writer);
}

void data_writer__delete(struct data_writer *writer)
{
	if (!writer)
		return;
	new_file__close(&writer->out);
	free(writer);
}
