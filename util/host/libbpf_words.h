/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_LIBBPF_WORDS_H
#define PERF_HOST_LIBBPF_WORDS_H

/* The words of libbpf, which would print warnings where a failure is expected. */

/** libbpf_words__begin() - from now on print its warnings with -vv only, and all else that it says with -vvv */
void libbpf_words__begin(void);

#endif
