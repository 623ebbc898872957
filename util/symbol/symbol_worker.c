// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/symbol_worker.h"

#include "util/lib/util.h"
#include "util/symbol/debug_info.h"
#include "util/symbol/demangle.h"
#include "util/symbol/dwp_file.h"
#include "util/symbol/elf_symbols.h"
#include "util/symbol/jit_dump.h"
#include "util/symbol/life_sign.h"
#include "util/symbol/perf_map.h"
#include "util/symbol/sandbox.h"
#include "util/symbol/symbol_table.h"
#include "util/symbol/symbol_wire.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* The file, the one with its debug information, and the one with a part that it shares with others. */
#define MAX_FDS SYMBOL_MAX_FDS
/* Tables that are kept for later requests for the same files. */
#define NR_KEPT 16
/* Show life about so often. */
#define BUSY_NS NSEC_PER_SEC

static_assert(DEBUG_MAX_PATH <= SYMBOL_MAX_NAME, "perf refuses longer paths");
static_assert(DEBUG_MAX_FRAMES <= SYMBOL_MAX_INLINED, "perf refuses deeper frames");

/* The functions of one file, and of its debug file if there is one. */
struct source {
	uint64_t used; /* number of the last request for it; 0: this place is free */
	uint32_t kind;
	struct stat files[MAX_FDS]; /* all 0 without such a file */
	struct symbol_table table;
	struct elf_segments segments;
	struct debug_info *debug; /* of SYMBOL_FILE_LINES */
	struct jit_dump jit;	  /* of SYMBOL_FILE_JIT_DUMP */
	struct perf_map map;	  /* of SYMBOL_FILE_PERF_MAP */
};

struct worker {
	int fd;
	struct {
		struct symbol_request head;
		uint64_t addresses[SYMBOL_MAX_ADDRESSES];
	} request;
	int fds[MAX_FDS]; /* -1: none */
	uint64_t sent_ns; /* time of the last packet */
	struct source kept[NR_KEPT];
	struct source *lines; /* that of the last request of lines; NULL: none */
	uint64_t nr_requests;
	char packet[SYMBOL_MAX_PACKET]; /* struct symbol_reply and answers, up to len */
	size_t len;
};

/* --- packets --- */

static int send_bytes(struct worker *worker, const void *bytes, size_t len)
{
	struct iovec part = {(void *)bytes, len};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t sent;

	do {
		sent = sendmsg(worker->fd, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	worker->sent_ns = clock_ns();
	return sent < 0 ? -errno : 0;
}

static int send_packet(struct worker *worker)
{
	return send_bytes(worker, worker->packet, worker->len);
}

/* Called wherever a request advances. The next packet has the same error. */
static void show_life(void *ctx)
{
	struct worker *worker = ctx;
	const struct symbol_reply busy = {
		.seq = worker->request.head.seq,
		.kind = SYMBOL_REPLY_BUSY,
	};

	if (clock_ns() - worker->sent_ns >= BUSY_NS)
		(void)send_bytes(worker, &busy, sizeof(busy));
}

/* --- sources --- */

static void clear_source(struct source *source)
{
	symbol_table__clear(&source->table);
	free(source->segments.segments);
	debug_info__close(source->debug);
	jit_dump__clear(&source->jit);
	perf_map__clear(&source->map);
	*source = (struct source){};
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool are_same_files(const struct stat *a, const struct stat *b)
{
	for (int i = 0; i < MAX_FDS; i++) {
		if (!is_same_file(&a[i], &b[i]))
			return false;
	}
	return true;
}

static void describe_files(const struct worker *worker, struct stat *files)
{
	memset(files, 0, MAX_FDS * sizeof(*files));
	for (int i = 0; i < MAX_FDS; i++) {
		if (worker->fds[i] >= 0 && fstat(worker->fds[i], &files[i]))
			files[i] = (struct stat){};
	}
}

/* Names and lines of a JIT compiler are in the same table. */
static uint32_t source_kind(const struct worker *worker)
{
	uint32_t kind = worker->request.head.kind;

	return kind == SYMBOL_FILE_JIT_LINES || kind == SYMBOL_FILE_JIT_FIND ||
			       kind == SYMBOL_FILE_JIT_CODE ?
		       SYMBOL_FILE_JIT_DUMP :
		       kind;
}

/* Return: the kept source of the request, or a cleared place for it. */
static struct source *find_source(struct worker *worker, const struct stat *files)
{
	struct source *oldest = &worker->kept[0];

	for (int i = 0; i < NR_KEPT; i++) {
		struct source *source = &worker->kept[i];

		if (source->used && source->kind == source_kind(worker) &&
		    are_same_files(source->files, files))
			return source;
		if (source->used < oldest->used)
			oldest = source;
	}
	clear_source(oldest);
	return oldest;
}

/* A debug file of another build would give wrong names. */
static bool has_debug_file(const struct worker *worker)
{
	return worker->fds[1] >= 0 && elf_symbols__is_debug_file(worker->fds[0], worker->fds[1]);
}

static int load_elf(struct worker *worker, struct source *source)
{
	int err = elf_symbols__segments(worker->fds[0], &source->segments);

	if (!err)
		err = elf_symbols__add(worker->fds[0], &source->table);
	life_sign__show();
	if (!err && has_debug_file(worker))
		err = elf_symbols__add(worker->fds[1], &source->table);
	life_sign__show();
	return err;
}

static int load_lines(const struct worker *worker, struct source *source)
{
	int err = elf_symbols__segments(worker->fds[0], &source->segments);

	if (err)
		return err;
	if (has_debug_file(worker))
		source->debug = debug_info__open(worker->fds[1], worker->fds[2]);
	if (!source->debug)
		source->debug = debug_info__open(worker->fds[0], worker->fds[2]);
	return source->debug ? 0 : -errno;
}

static int load_source(struct worker *worker, struct source *source)
{
	uint32_t kind = source_kind(worker);
	int err = kind == SYMBOL_FILE_ELF      ? load_elf(worker, source) :
		  kind == SYMBOL_FILE_LINES    ? load_lines(worker, source) :
		  kind == SYMBOL_FILE_JIT_DUMP ? jit_dump__read(worker->fds[0], &source->jit) :
						 perf_map__read(worker->fds[0], &source->map);

	symbol_table__sort(&source->table);
	life_sign__show();
	return err;
}

/* Return: NULL with *err set. */
static struct source *get_source(struct worker *worker, int *err)
{
	struct stat files[MAX_FDS];
	struct source *source;

	describe_files(worker, files);
	source = find_source(worker, files);
	if (source->used) {
		source->used = worker->nr_requests;
		return source;
	}
	*err = load_source(worker, source);
	if (*err) {
		clear_source(source);
		return NULL;
	}
	source->used = worker->nr_requests;
	source->kind = source_kind(worker);
	memcpy(source->files, files, sizeof(files));
	return source;
}

/* --- answers --- */

static void begin_packet(struct worker *worker, enum symbol_reply_kind kind)
{
	const struct symbol_reply head = {
		.seq = worker->request.head.seq,
		.kind = kind,
	};

	memcpy(worker->packet, &head, sizeof(head));
	worker->len = sizeof(head);
}

static int put_answer(struct worker *worker, const struct symbol_answer *answer, const char *name)
{
	int err = 0;

	if (sizeof(*answer) + answer->name_len > sizeof(worker->packet) - worker->len) {
		err = send_packet(worker);
		begin_packet(worker, SYMBOL_REPLY_NAMES);
	}
	memcpy(worker->packet + worker->len, answer, sizeof(*answer));
	memcpy(worker->packet + worker->len + sizeof(*answer), name, answer->name_len);
	worker->len += sizeof(*answer) + answer->name_len;
	return err;
}

/* Return: the name of the function at an address, borrowed, with its @offset in the function; NULL: none */
static const char *find_name(const struct source *source, uint64_t address, uint64_t *offset)
{
	const struct symbol *symbol;
	struct jit_place place;

	if (source->kind == SYMBOL_FILE_JIT_DUMP) {
		if (!jit_dump__find(&source->jit, address, &place))
			return NULL;
		*offset = place.offset;
		return place.name;
	}
	if (source->kind == SYMBOL_FILE_PERF_MAP)
		return perf_map__find(&source->map, address, offset);
	symbol = symbol_table__find(&source->table, address);
	if (!symbol)
		return NULL;
	*offset = address - symbol->start;
	return symbol_table__name(&source->table, symbol);
}

static int put_name(struct worker *worker, int idx, uint64_t address, const struct source *source)
{
	struct symbol_answer answer = {.idx = idx};
	const char *name = find_name(source, address, &answer.offset);
	char *readable __cleanup(free_ptr) = NULL;
	size_t len;

	if (!name || !*name)
		return 0;
	readable = demangle__name(name);
	if (readable)
		name = readable;
	len = strlen(name);
	answer.name_len = len < SYMBOL_MAX_NAME ? len : SYMBOL_MAX_NAME;
	return put_answer(worker, &answer, name);
}

/* Return: -errno of the socket. */
static int put_names(struct worker *worker, const struct source *source)
{
	int err = 0;

	begin_packet(worker, SYMBOL_REPLY_NAMES);
	for (uint32_t i = 0; i < worker->request.head.nr && !err; i++) {
		uint64_t address = worker->request.addresses[i];

		life_sign__show();
		if (worker->request.head.kind == SYMBOL_FILE_ELF &&
		    !elf_segments__address(&source->segments, address, &address))
			continue;
		err = put_name(worker, i, address, source);
	}
	return err ? err : send_packet(worker);
}

/* --- source lines --- */

static uint16_t len_of(const char *text)
{
	size_t len = strlen(text);

	return len < SYMBOL_MAX_NAME ? len : SYMBOL_MAX_NAME;
}

static int put_frame(struct worker *worker, int idx, int depth, const struct debug_frame *frame)
{
	struct symbol_frame head = {.idx = idx, .depth = depth, .line = frame->line};
	const char *name = depth && frame->name ? frame->name : "";
	const char *file = frame->file ? frame->file : "";
	size_t size;
	int err = 0;
	char *at;

	head.name_len = len_of(name);
	head.file_len = len_of(file);
	size = sizeof(head) + head.name_len + head.file_len;
	if (size > sizeof(worker->packet) - worker->len) {
		err = send_packet(worker);
		begin_packet(worker, SYMBOL_REPLY_FRAMES);
	}
	at = worker->packet + worker->len;
	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), name, head.name_len);
	/* Longer paths keep the name of the file. */
	memcpy(at + sizeof(head) + head.name_len, file + strlen(file) - head.file_len,
	       head.file_len);
	worker->len += size;
	return err;
}

/* Return: the number of frames of an address in the file or, of a JIT compiler, in memory; -ENOMEM. */
static int find_frames(const struct source *source, uint64_t address, struct debug_frame *frames)
{
	struct jit_place place;

	if (source->kind != SYMBOL_FILE_JIT_DUMP)
		return elf_segments__address(&source->segments, address, &address) ?
			       debug_info__frames(source->debug, address, frames) :
			       0;
	if (!jit_dump__find(&source->jit, address, &place) || !place.line)
		return 0;
	frames[0] = (struct debug_frame){.file = place.file, .line = place.line};
	return 1;
}

/* Return: -errno of the socket. */
static int put_split(struct worker *worker, const struct debug_split *split)
{
	const struct symbol_split head = {split->id, split->nr, strlen(split->path)};
	size_t size = sizeof(head) + head.path_len;
	int err = 0;

	if (size > sizeof(worker->packet) - worker->len) {
		err = send_packet(worker);
		begin_packet(worker, SYMBOL_REPLY_SPLIT);
	}
	memcpy(worker->packet + worker->len, &head, sizeof(head));
	memcpy(worker->packet + worker->len + sizeof(head), split->path, head.path_len);
	worker->len += size;
	return err;
}

/* Return: whether functions of a position are in a file that this request names. */
static bool is_waiting(const struct source *source, uint64_t position, struct debug_split *split)
{
	uint64_t address;

	return source->debug && elf_segments__address(&source->segments, position, &address) &&
	       debug_info__missing(source->debug, address, split);
}

/* Name the files that hold functions of the addresses. Return: -errno of the socket. */
static int put_splits(struct worker *worker, const struct source *source)
{
	int err = 0;

	begin_packet(worker, SYMBOL_REPLY_SPLIT);
	for (uint32_t i = 0; i < worker->request.head.nr && !err; i++) {
		struct debug_split split;

		life_sign__show();
		if (is_waiting(source, worker->request.addresses[i], &split) && *split.path)
			err = put_split(worker, &split);
	}
	return err ? err : send_packet(worker);
}

/* The file of a unit may kill this process. @last: the unit of the address before */
static void show_unit(struct worker *worker, const struct source *source, uint64_t position,
		      uint64_t *last)
{
	struct __attribute__((packed)) { /* the size of the head may be no multiple of 8 */
		struct symbol_reply head;
		uint64_t id;
	} packet = {.head = {.seq = worker->request.head.seq, .kind = SYMBOL_REPLY_UNIT}};
	uint64_t address;

	if (!source->debug || !elf_segments__address(&source->segments, position, &address))
		return;
	packet.id = debug_info__split(source->debug, address);
	if (packet.id != *last)
		(void)send_bytes(worker, &packet,
				 sizeof(packet)); /* the next packet has the same error */
	*last = packet.id;
}

/* Return: -errno of the socket; @err receives that of the file. */
static int put_frames(struct worker *worker, const struct source *source, int *err)
{
	struct debug_frame frames[DEBUG_MAX_FRAMES];
	struct debug_split split;
	uint64_t unit = 0;
	int lost = 0;

	if (source->debug && sandbox__can_answer_open()) {
		debug_info__begin(source->debug);
		lost = put_splits(worker, source);
	}
	begin_packet(worker, SYMBOL_REPLY_FRAMES);
	for (uint32_t i = 0; i < worker->request.head.nr && !lost && !*err; i++) {
		int nr;

		life_sign__show();
		if (is_waiting(source, worker->request.addresses[i], &split))
			continue;
		show_unit(worker, source, worker->request.addresses[i], &unit);
		nr = find_frames(source, worker->request.addresses[i], frames);
		*err = nr < 0 ? nr : 0;
		for (int k = 0; k < nr && !lost; k++)
			lost = put_frame(worker, i, k, &frames[k]);
	}
	return lost ? lost : send_packet(worker);
}

/* --- places of a function --- */

/* Only names as they are printed have such characters. */
static bool is_named(const char *name, const char *wanted)
{
	char *readable __cleanup(free_ptr) = NULL;

	if (!strcmp(name, wanted))
		return true;
	readable = strpbrk(wanted, ":< ") ? demangle__name(name) : NULL;
	return readable && !strcmp(readable, wanted);
}

static int put_place(struct worker *worker, const struct symbol_place *place)
{
	int err = 0;

	if (sizeof(*place) > sizeof(worker->packet) - worker->len) {
		err = send_packet(worker);
		begin_packet(worker, SYMBOL_REPLY_PLACES);
	}
	memcpy(worker->packet + worker->len, place, sizeof(*place));
	worker->len += sizeof(*place);
	return err;
}

static int put_symbol(struct worker *worker, const struct source *source, uint64_t address)
{
	const struct symbol *symbol = symbol_table__find(&source->table, address);
	struct symbol_place place;

	if (!symbol || !elf_segments__offset(&source->segments, address, &place.start))
		return 0;
	place.end = place.start + (symbol->end - address);
	place.address = address;
	return put_place(worker, &place);
}

/* Sorting keeps one name of each address, so list the addresses before. Return: NULL without memory. */
static uint64_t *list_addresses(const struct symbol_table *table, const char *name, size_t *nr)
{
	uint64_t *list = calloc(table->nr + 1, sizeof(*list));

	*nr = 0;
	for (size_t i = 0; list && i < table->nr && *nr < SYMBOL_MAX_PLACES; i++) {
		life_sign__show();
		if (!table->symbols[i].is_data &&
		    is_named(symbol_table__name(table, &table->symbols[i]), name))
			list[(*nr)++] = table->symbols[i].start;
	}
	return list;
}

/* Return: -errno of the socket; @err receives that of the file. */
static int put_places(struct worker *worker, int *err)
{
	char *name = (char *)worker->request.addresses;
	size_t len = worker->request.head.nr * sizeof(uint64_t), nr = 0;
	uint64_t *list __cleanup(free_ptr) = NULL;
	struct source source = {};
	int lost = 0;

	*err = len ? load_elf(worker, &source) : -EINVAL;
	if (!*err) {
		name[len - 1] = '\0';
		list = list_addresses(&source.table, name, &nr);
		*err = list ? 0 : -ENOMEM;
	}
	symbol_table__sort(&source.table);
	begin_packet(worker, SYMBOL_REPLY_PLACES);
	for (size_t i = 0; i < nr && !lost; i++)
		lost = put_symbol(worker, &source, list[i]);
	clear_source(&source);
	return lost ? lost : send_packet(worker);
}

struct jit_places {
	struct worker *worker;
	int nr, lost;
};

static void take_jit_place(void *ctx, uint64_t start, uint64_t end, uint64_t code)
{
	struct jit_places *places = ctx;

	if (!places->lost && places->nr++ < SYMBOL_MAX_PLACES)
		places->lost = put_place(places->worker, &(struct symbol_place){start, end, code});
}

/* Return: -errno of the socket; @err receives that of the file. */
static int put_jit_places(struct worker *worker, int *err)
{
	char *name = (char *)worker->request.addresses;
	size_t len = worker->request.head.nr * sizeof(uint64_t);
	struct jit_places places = {.worker = worker};
	const struct source *source;

	if (!len) {
		*err = -EINVAL;
		return 0;
	}
	name[len - 1] = '\0';
	source = get_source(worker, err);
	if (!source)
		return 0;
	begin_packet(worker, SYMBOL_REPLY_PLACES);
	jit_dump__find_name(&source->jit, name, take_jit_place, &places);
	return places.lost ? places.lost : send_packet(worker);
}

static int put_bytes(struct worker *worker, const char *bytes, size_t len)
{
	int err = 0;

	while (len && !err) {
		size_t room = sizeof(worker->packet) - worker->len;
		size_t part = len < room ? len : room;

		memcpy(worker->packet + worker->len, bytes, part);
		worker->len += part;
		bytes += part;
		len -= part;
		if (part < room)
			break;
		err = send_packet(worker);
		begin_packet(worker, SYMBOL_REPLY_BYTES);
	}
	return err;
}

/* Return: -errno of the socket; @err receives that of the file. */
static int put_jit_code(struct worker *worker, const struct source *source, int *err)
{
	struct byte_buffer records = {};
	size_t left = SYMBOL_MAX_BYTES;
	uint64_t end = 0;
	int lost = 0;

	begin_packet(worker, SYMBOL_REPLY_BYTES);
	for (uint32_t i = 0; i < worker->request.head.nr && !lost && !*err; i++) {
		uint64_t address = worker->request.addresses[i];

		life_sign__show();
		if (address < end)
			continue;
		records.len = 0;
		*err = jit_dump__put(&source->jit, worker->fds[0], address, &end, &records);
		if (!*err && records.len > left)
			*err = -EFBIG;
		if (*err)
			break;
		left -= records.len;
		lost = put_bytes(worker, records.data, records.len);
	}
	byte_buffer__clear(&records);
	return lost ? lost : send_packet(worker);
}

/* Return: -errno of the socket; @err receives that of the file. */
static int put_unit(struct worker *worker, int *err)
{
	struct byte_buffer file = {};
	int lost = 0;

	*err = worker->request.head.nr == 1 ?
		       dwp_file__unit(worker->fds[0], worker->request.addresses[0], &file) :
		       -EINVAL;
	begin_packet(worker, SYMBOL_REPLY_BYTES);
	if (!*err)
		lost = put_bytes(worker, file.data, file.len);
	byte_buffer__clear(&file);
	return lost ? lost : send_packet(worker);
}

/* Close the files of other sources if there are too many. */
static void make_room(struct worker *worker)
{
	int nr = 0;

	for (int i = 0; i < NR_KEPT; i++)
		nr += worker->kept[i].debug ? debug_info__nr_added(worker->kept[i].debug) : 0;
	for (int i = 0; i < NR_KEPT && nr >= DEBUG_MAX_ADDED; i++) {
		if (&worker->kept[i] != worker->lines && worker->kept[i].debug)
			clear_source(&worker->kept[i]);
	}
}

/* The file belongs to the source of the last request of lines. Return: 0 or -EINVAL. */
static int add_split(struct worker *worker)
{
	if (!worker->lines || !worker->lines->debug || worker->request.head.nr != 1)
		return -EINVAL;
	make_room(worker);
	debug_info__add(worker->lines->debug, worker->request.addresses[0], worker->fds[0]);
	worker->fds[0] = -1;
	return 0;
}

static int send_done(struct worker *worker, const struct symbol_reply *reply)
{
	memcpy(worker->packet, reply, sizeof(*reply));
	worker->len = sizeof(*reply);
	return send_packet(worker);
}

static bool is_of_lines(const struct worker *worker)
{
	uint32_t kind = worker->request.head.kind;

	return kind == SYMBOL_FILE_LINES || kind == SYMBOL_FILE_JIT_LINES;
}

/* Return: -errno of the socket. */
static int answer(struct worker *worker)
{
	struct symbol_reply done = {.seq = worker->request.head.seq, .kind = SYMBOL_REPLY_DONE};
	struct source *source;
	int err = 0, lost = 0;

	if (worker->fds[0] < 0) {
		err = -EBADF;
	} else if (worker->request.head.kind == SYMBOL_FILE_DESCRIBE) {
		err = elf_symbols__describe(worker->fds[0], &done.file);
		done.is_debug_file = !err && has_debug_file(worker);
	} else if (worker->request.head.kind == SYMBOL_FILE_FIND) {
		lost = put_places(worker, &err);
	} else if (worker->request.head.kind == SYMBOL_FILE_DWP) {
		lost = put_unit(worker, &err);
	} else if (worker->request.head.kind == SYMBOL_FILE_SPLIT) {
		err = add_split(worker);
	} else if (worker->request.head.kind == SYMBOL_FILE_JIT_FIND) {
		lost = put_jit_places(worker, &err);
	} else {
		source = get_source(worker, &err);
		worker->lines = is_of_lines(worker) ? source : NULL;
		lost = !source		   ? 0 :
		       is_of_lines(worker) ? put_frames(worker, source, &err) :
		       worker->request.head.kind == SYMBOL_FILE_JIT_CODE ?
					     put_jit_code(worker, source, &err) :
					     put_names(worker, source);
	}
	done.err = err;
	return lost ? lost : send_done(worker, &done);
}

/* --- requests --- */

static void take_fds(struct worker *worker, struct msghdr *message)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(message);

	for (int i = 0; i < MAX_FDS; i++)
		worker->fds[i] = -1;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
		memcpy(worker->fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
}

/* Return: 1; 0: the other end is closed; -errno. */
static int take_request(struct worker *worker)
{
	char control[CMSG_SPACE(sizeof(worker->fds))] __attribute__((aligned(8)));
	struct iovec part = {&worker->request, sizeof(worker->request)};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	const struct symbol_request *head = &worker->request.head;
	ssize_t len;

	do {
		len = recvmsg(worker->fd, &message, 0);
	} while (len < 0 && errno == EINTR);
	if (len <= 0)
		return len ? -errno : 0;
	take_fds(worker, &message);
	if ((size_t)len < sizeof(*head) || head->nr > SYMBOL_MAX_ADDRESSES ||
	    (size_t)len != sizeof(*head) + head->nr * sizeof(uint64_t))
		return -EPROTO;
	return 1;
}

int symbol_worker__serve(int fd)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	int err;

	if (!worker)
		return -ENOMEM;
	worker->fd = fd;
	life_sign__set(show_life, worker);
	while ((err = take_request(worker)) > 0) {
		worker->nr_requests++;
		worker->sent_ns = clock_ns();
		err = answer(worker);
		for (int i = 0; i < MAX_FDS; i++)
			close_fd(&worker->fds[i]);
		if (err)
			break;
	}
	for (int i = 0; i < NR_KEPT; i++)
		clear_source(&worker->kept[i]);
	life_sign__set(NULL, NULL);
	free(worker);
	return err;
}
