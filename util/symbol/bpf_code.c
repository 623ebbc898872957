// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/bpf_code.h"

#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/lib/array.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define INSN_BYTES 8

void bpf_code__clear(struct bpf_code *code)
{
	free(code->bytes);
	free(code->insns);
	free(code->lines);
	btf__free(code->btf);
	*code = (struct bpf_code){};
}

/* The lists that the kernel has of a program. */
struct lists {
	struct bpf_prog_info info;
	__u64 *functions; /* their addresses */
	__u32 *lengths;	  /* of their code */
	void *bytes;	  /* the code of all, one behind the other */
	void *insns;	  /* the BPF instructions that it was made from */
	struct bpf_line_info *lines;
	__u64 *addresses; /* of the lines */
};

static void clear_lists(struct lists *lists)
{
	free(lists->functions);
	free(lists->lengths);
	free(lists->bytes);
	free(lists->insns);
	free(lists->lines);
	free(lists->addresses);
}

static int get_info(int fd, struct lists *lists, struct bpf_prog_info *info)
{
	__u32 len = sizeof(*info);

	if (bpf_obj_get_info_by_fd(fd, info, &len))
		return -errno;
	lists->info = *info;
	return 0;
}

static int get_functions(int fd, struct lists *lists)
{
	struct bpf_prog_info info = {}, wanted = {};
	int err = bpf_info__prog(fd, &info);

	if (err)
		return err;
	lists->functions = calloc(info.nr_jited_ksyms + 1, sizeof(*lists->functions));
	lists->lengths = calloc(info.nr_jited_func_lens + 1, sizeof(*lists->lengths));
	if (!lists->functions || !lists->lengths)
		return -ENOMEM;
	wanted.nr_jited_ksyms = info.nr_jited_ksyms;
	wanted.jited_ksyms = (uintptr_t)lists->functions;
	wanted.nr_jited_func_lens = info.nr_jited_func_lens;
	wanted.jited_func_lens = (uintptr_t)lists->lengths;
	err = get_info(fd, lists, &wanted);
	/* The kernel takes back what it must not fill in. */
	return !err && !wanted.jited_ksyms ? -EPERM : err;
}

/* Return: the position of a function in the code of all; -1: the program lacks it. */
static ssize_t find_function(const struct lists *lists, uint64_t address, size_t *len)
{
	ssize_t at = 0;

	for (__u32 i = 0; i < lists->info.nr_jited_ksyms && i < lists->info.nr_jited_func_lens;
	     i++) {
		*len = lists->lengths[i];
		if (lists->functions[i] == address)
			return at;
		at += lists->lengths[i];
	}
	return -1;
}

static int get_code(int fd, struct lists *lists)
{
	struct bpf_prog_info info, wanted = {};
	int err = bpf_info__prog(fd, &info);

	if (err)
		return err;
	lists->bytes = malloc(info.jited_prog_len + 1);
	lists->insns = malloc(info.xlated_prog_len + 1);
	lists->lines = calloc(info.nr_line_info + 1, sizeof(*lists->lines));
	lists->addresses = calloc(info.nr_jited_line_info + 1, sizeof(*lists->addresses));
	if (!lists->bytes || !lists->insns || !lists->lines || !lists->addresses)
		return -ENOMEM;
	wanted.jited_prog_len = info.jited_prog_len;
	wanted.jited_prog_insns = (uintptr_t)lists->bytes;
	wanted.xlated_prog_len = info.xlated_prog_len;
	wanted.xlated_prog_insns = (uintptr_t)lists->insns;
	wanted.nr_line_info = info.nr_line_info;
	wanted.line_info = (uintptr_t)lists->lines;
	wanted.line_info_rec_size = sizeof(*lists->lines);
	wanted.nr_jited_line_info = info.nr_jited_line_info;
	wanted.jited_line_info = (uintptr_t)lists->addresses;
	wanted.jited_line_info_rec_size = sizeof(*lists->addresses);
	err = get_info(fd, lists, &wanted);
	return !err && !wanted.jited_prog_insns ? -EPERM : err;
}

static int compare_lines(const void *a, const void *b)
{
	const struct bpf_code_line *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static const char *text_of(const struct btf *btf, __u32 offset)
{
	const char *text = btf__str_by_offset(btf, offset);

	return text ? text : "";
}

/* Return: the number of the BPF instruction behind those of a line. */
static __u32 end_of(const struct lists *lists, __u32 nr)
{
	return nr + 1 < lists->info.nr_line_info ? lists->lines[nr + 1].insn_off :
						   lists->info.xlated_prog_len / INSN_BYTES;
}

/* Return: 0, also if there is no BTF; -ENOMEM. */
static int add_lines(struct bpf_code *code, const struct lists *lists)
{
	code->btf = lists->info.btf_id ? btf__load_from_kernel_by_id(lists->info.btf_id) : NULL;
	if (!code->btf)
		return 0;
	code->lines = calloc(lists->info.nr_line_info + 1, sizeof(*code->lines));
	if (!code->lines)
		return -ENOMEM;
	for (__u32 i = 0; i < lists->info.nr_line_info && i < lists->info.nr_jited_line_info; i++)
		code->lines[code->nr++] = (struct bpf_code_line){
			.address = lists->addresses[i],
			.file = text_of(code->btf, lists->lines[i].file_name_off),
			.text = text_of(code->btf, lists->lines[i].line_off),
			.line = BPF_LINE_INFO_LINE_NUM(lists->lines[i].line_col),
			.first = lists->lines[i].insn_off,
			.nr = end_of(lists, i) - lists->lines[i].insn_off,
		};
	qsort(code->lines, code->nr, sizeof(*code->lines), compare_lines);
	return 0;
}

/* Return: 0 or -errno; -ESRCH: the program has no function there. */
static int read_prog(int fd, uint64_t address, struct bpf_code *code)
{
	struct lists lists = {};
	ssize_t at = -1;
	int err = get_functions(fd, &lists);

	if (!err) {
		at = find_function(&lists, address, &code->len);
		err = at < 0 ? -ESRCH : get_code(fd, &lists);
	}
	if (!err && at + code->len > lists.info.jited_prog_len)
		err = -EPERM;
	if (!err) {
		memmove(lists.bytes, (char *)lists.bytes + at, code->len);
		code->bytes = lists.bytes;
		lists.bytes = NULL;
		code->nr_insns = lists.info.xlated_prog_len / INSN_BYTES;
		if (lists.info.xlated_prog_insns) {
			code->insns = lists.insns;
			lists.insns = NULL;
		}
		err = add_lines(code, &lists);
	}
	clear_lists(&lists);
	return err;
}

int bpf_code__read(uint64_t address, struct bpf_code *code)
{
	int err = -ESRCH;

	*code = (struct bpf_code){};
	capability__raise();
	for (__u32 id = 0; err == -ESRCH && !bpf_prog_get_next_id(id, &id);) {
		int fd __cleanup(close_fd) = bpf_prog_get_fd_by_id(id);

		if (fd >= 0)
			err = read_prog(fd, address, code);
	}
	capability__lower();
	return err;
}

/* Return: 0, also if the kernel hides the addresses or the program has no machine code; -ENOMEM. */
static int add_functions(int fd, uint64_t **addresses, int *nr)
{
	struct lists lists = {};
	int err = get_functions(fd, &lists);

	for (__u32 i = 0; !err && i < lists.info.nr_jited_ksyms; i++) {
		uint64_t *address = array__add(*addresses, *nr);

		if (address)
			*address = lists.functions[i];
		err = address ? 0 : -ENOMEM;
	}
	clear_lists(&lists);
	return err == -ENOMEM ? err : 0;
}

const char *bpf_code__prog_name(const char *symbol)
{
	static const char prefix[] = "bpf_prog_";
	const char *tag = symbol + strlen(prefix);

	if (strncmp(symbol, prefix, strlen(prefix)) ||
	    strspn(tag, "0123456789abcdef") != 2 * BPF_TAG_SIZE)
		return NULL;
	tag += 2 * BPF_TAG_SIZE;
	return *tag == '_' ? tag + 1 : *tag ? NULL : tag;
}

int bpf_code__functions(uint64_t **addresses)
{
	int nr = 0, err = 0;

	*addresses = NULL;
	capability__raise();
	for (__u32 id = 0; !err && !bpf_prog_get_next_id(id, &id);) {
		int fd __cleanup(close_fd) = bpf_prog_get_fd_by_id(id);

		if (fd >= 0)
			err = add_functions(fd, addresses, &nr);
	}
	capability__lower();
	return err ? err : nr;
}

const struct bpf_code_line *bpf_code__line(const struct bpf_code *code, uint64_t address)
{
	const struct bpf_code_line *found = NULL;
	int first = 0, nr = code->nr;

	while (nr > 0) {
		int half = nr / 2;

		if (code->lines[first + half].address <= address) {
			found = &code->lines[first + half];
			first += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return found;
}
