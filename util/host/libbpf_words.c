// SPDX-License-Identifier: GPL-2.0
#include "util/host/libbpf_words.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <bpf/libbpf.h>
#include <stdio.h>

static int print_words(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *text __cleanup(free_ptr) = NULL;

	if (msg__verbose() < 2 || (level == LIBBPF_DEBUG && msg__verbose() < 3))
		return 0;
	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		return 0;
	}
	pr_lines(text);
	return 0;
}

void libbpf_words__begin(void)
{
	libbpf_set_print(print_words);
}
