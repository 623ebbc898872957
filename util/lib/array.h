/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_ARRAY_H
#define PERF_LIB_ARRAY_H

/* Arrays that grow by one element at a time. */

#include <stdlib.h>
#include <string.h>

/**
 * array__add() - append a zeroed element to an array
 * @array: pointer to the elements, an lvalue; NULL when there are none. free() releases it
 * @nr: number of elements, an int lvalue; incremented on success
 *
 * The memory doubles when @nr reaches a power of two, so no capacity is stored. Between two calls @nr
 * may become smaller, but not larger.
 * Return: the new element; NULL without memory, which leaves the array as it was.
 */
#define array__add(array, nr)                                                                      \
	({                                                                                         \
		__typeof__(array) moved_ = array__make_room(array, nr, sizeof(*(array)));          \
                                                                                                   \
		if (moved_) {                                                                      \
			(array) = moved_;                                                          \
			moved_ += (nr)++;                                                          \
			memset(moved_, 0, sizeof(*moved_));                                        \
		}                                                                                  \
		moved_;                                                                            \
	})

/* Make room for one more element behind @nr; for array__add(), and for elements whose size only the caller knows. */
static inline void *array__make_room(void *array, int nr, size_t size)
{
	return nr & (nr - 1) ? array : realloc(array, (nr ? 2 * (size_t)nr : 1) * size);
}

#endif
