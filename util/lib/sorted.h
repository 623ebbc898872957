/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_SORTED_H
#define PERF_LIB_SORTED_H

/* Searches of arrays that are sorted by an address in their elements. */

#include <stddef.h>
#include <stdint.h>

/**
 * nr_up_to() - search a sorted array; array__nr_up_to() names the member and passes @size and @offset
 * @array: the elements; NULL is possible if @nr is 0
 * @nr: number of elements
 * @size: bytes from one element to the next
 * @offset: bytes from the beginning of an element to the 64-bit member by which the array is sorted
 * @value: value to look for
 *
 * Return: number of elements whose member is @value or lower. It is also the position of the first
 * element with a higher one.
 */
static inline size_t nr_up_to(const void *array, size_t nr, size_t size, size_t offset,
			      uint64_t value)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (*(const uint64_t *)((const char *)array + middle * size + offset) <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#define array__nr_up_to(array, nr, member, value)                                                  \
	nr_up_to(array, nr, sizeof(*(array)), offsetof(__typeof__(*(array)), member), value)

#endif
