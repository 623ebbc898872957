// SPDX-License-Identifier: GPL-2.0
#include "util/profile/prog_object.h"

#include "util/host/capability.h"
#include "util/lib/msg.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

struct prog_object {
	struct bpf_object *bpf;
	int prog_fd; /* borrowed from it */
};

/* --- loading --- */

/* Return: the only program of its kind; NULL after a message. No other is loaded. */
static struct bpf_program *find_prog(struct bpf_object *bpf, const char *path)
{
	struct bpf_program *prog, *found = NULL;
	int nr = 0;

	bpf_object__for_each_program(prog, bpf)
	{
		bool is_wanted = bpf_program__type(prog) == BPF_PROG_TYPE_PERF_EVENT;

		bpf_program__set_autoload(prog, is_wanted);
		found = is_wanted ? prog : found;
		nr += is_wanted;
	}
	if (nr != 1)
		pr_err("--prog %s: %s program in a section 'perf_event'", path,
		       nr ? "more than one" : "no");
	return nr == 1 ? found : NULL;
}

/* libbpf's own messages, among them the verifier's log, are for -v. */
static int print_verbose(enum libbpf_print_level level, const char *format, va_list args)
{
	char text[1024];

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	pr_verbose("%s", text);
	return 0;
}

static int load(struct prog_object *object, const char *path)
{
	struct bpf_program *prog;
	int err;

	object->bpf = bpf_object__open_file(path, NULL);
	if (!object->bpf) {
		char text[128];

		err = -errno;
		libbpf_strerror(err, text, sizeof(text));
		pr_err("--prog %s: not a BPF object that can be read: %s", path, text);
		return err;
	}
	prog = find_prog(object->bpf, path);
	if (!prog)
		return -EINVAL;
	capability__raise();
	err = bpf_object__load(object->bpf);
	capability__lower();
	if (err)
		pr_err("--prog %s: the kernel refuses it: %s (-v prints why)", path,
		       strerror(-err));
	object->prog_fd = bpf_program__fd(prog);
	return err;
}

int prog_object__load(const char *path, struct prog_object **out)
{
	libbpf_print_fn_t print;
	struct prog_object *object;
	int err;

	/* Programs of anybody must not run with the rights that perf has and its user lacks. */
	if (getauxval(AT_SECURE)) {
		pr_err("--prog: refused because perf runs with file capabilities");
		return -EPERM;
	}
	object = calloc(1, sizeof(*object));
	if (!object)
		return -ENOMEM;
	print = libbpf_set_print(print_verbose);
	err = load(object, path);
	libbpf_set_print(print);
	if (err)
		prog_object__delete(object);
	else
		*out = object;
	return err;
}

void prog_object__delete(struct prog_object *object)
{
	if (!object)
		return;
	bpf_object__close(object->bpf);
	free(object);
}

int prog_object__fd(const struct prog_object *object)
{
	return object->prog_fd;
}

/* --- maps --- */

/* A map, and the buffers for one of its elements. */
struct dump {
	FILE *out;
	const struct bpf_map *map;
	const struct btf *btf; /* NULL: none */
	struct btf_dump *types;
	int nr_cpus; /* values of an element; 0: one, of all CPUs */
	size_t value_size;
	char *key, *next, *value;
};

/* Names of types are those of the object: of anybody. */
static void print_text(void *ctx, const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		return;
	printable__put(ctx, 0, text);
	free(text);
}

static void print_bytes(FILE *out, const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fprintf(out, "%s%02x", i ? " " : "", (unsigned char)data[i]);
}

static void print_data(const struct dump *dump, __u32 type, const char *data, size_t size)
{
	LIBBPF_OPTS(btf_dump_type_data_opts, opts, .compact = true, .emit_zeroes = true);

	if (!type || !dump->types ||
	    btf_dump__dump_type_data(dump->types, type, data, size, &opts) < 0)
		print_bytes(dump->out, data, size);
}

static bool is_zero(const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (data[i])
			return false;
	}
	return true;
}

static bool is_per_cpu(enum bpf_map_type type)
{
	return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static bool is_array(enum bpf_map_type type)
{
	return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static bool has_elements(enum bpf_map_type type)
{
	return is_array(type) || is_per_cpu(type) || type == BPF_MAP_TYPE_HASH ||
	       type == BPF_MAP_TYPE_LRU_HASH || type == BPF_MAP_TYPE_STACK_TRACE;
}

static void print_element(const struct dump *dump)
{
	const struct bpf_map *map = dump->map;
	size_t size = bpf_map__value_size(map), step = (size + 7) / 8 * 8;
	int nr = dump->nr_cpus ? dump->nr_cpus : 1;

	if (is_array(bpf_map__type(map)) && is_zero(dump->value, dump->value_size))
		return;
	for (int i = 0; i < nr; i++) {
		const char *value = dump->value + i * step;

		if (dump->nr_cpus && is_zero(value, size))
			continue;
		fprintf(dump->out, "    [");
		print_data(dump, bpf_map__btf_key_type_id(map), dump->key, bpf_map__key_size(map));
		fprintf(dump->out, dump->nr_cpus ? "] CPU %d: " : "] ", i);
		print_data(dump, bpf_map__btf_value_type_id(map), value, size);
		fprintf(dump->out, "\n");
	}
}

/* Elements may come and go meanwhile. */
static void print_elements(struct dump *dump)
{
	__u32 nr = bpf_map__max_entries(dump->map);
	const char *before = NULL;
	int fd = bpf_map__fd(dump->map);

	while (nr-- && !ferror(dump->out) && !bpf_map_get_next_key(fd, before, dump->next)) {
		memcpy(dump->key, dump->next, bpf_map__key_size(dump->map));
		before = dump->key;
		if (!bpf_map_lookup_elem(fd, dump->key, dump->value))
			print_element(dump);
	}
}

static int dump_map(const struct prog_object *object, const struct bpf_map *map, FILE *out)
{
	enum bpf_map_type type = bpf_map__type(map);
	struct dump dump = {.out = out, .map = map, .btf = bpf_object__btf(object->bpf)};
	size_t step = (bpf_map__value_size(map) + 7) / 8 * 8;
	char *buffers __cleanup(free_ptr) = NULL;

	fprintf(out, "# map ");
	printable__put(out, 0, bpf_map__name(map));
	fprintf(out, "%s\n", has_elements(type) ? ":" : ": no elements that can be printed");
	if (!has_elements(type))
		return 0;
	dump.nr_cpus = is_per_cpu(type) ? libbpf_num_possible_cpus() : 0;
	if (dump.nr_cpus < 0)
		return dump.nr_cpus;
	dump.value_size = dump.nr_cpus ? dump.nr_cpus * step : bpf_map__value_size(map);
	buffers = calloc(1, 2 * bpf_map__key_size(map) + dump.value_size + 8);
	if (!buffers)
		return -ENOMEM;
	dump.value = buffers; /* first: it is read as words */
	dump.key = buffers + (dump.value_size + 7) / 8 * 8;
	dump.next = dump.key + bpf_map__key_size(map);
	dump.types = dump.btf ? btf_dump__new(dump.btf, print_text, out, NULL) : NULL;
	fflush(out); /* elements may take long */
	print_elements(&dump);
	btf_dump__free(dump.types);
	return 0;
}

int prog_object__dump(const struct prog_object *object, FILE *out)
{
	struct bpf_map *map;
	int err = 0;

	capability__raise();
	bpf_object__for_each_map(map, object->bpf)
	{
		if (!err && bpf_map__fd(map) >= 0)
			err = dump_map(object, map, out);
	}
	capability__lower();
	if (err)
		return err;
	return fflush(out) ? -errno : ferror(out) ? -EIO : 0;
}
