/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation that does not return NULL. A command that has run out of host memory cannot go on, so
 * it says so on stderr and exits with AT_INTERNAL; in the library the call ends (base/guard.h).
 * Everything here is released with at_free(), or outside of the library with free(). */
#ifndef AT_BASE_MEMORY_H
#define AT_BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

void *at_alloc(size_t size);                     /* zeroed */
void *at_alloc_array(size_t count, size_t size); /* zeroed; count * size is checked */
char *at_strdup(const char *text);
char *at_strndup(const char *text, size_t size);
void *at_memdup(const void *bytes, size_t size);
char *at_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *at_vformat(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* free(), which the guard of the call gets to know of; other blocks of malloc may be given too. */
void at_free(void *block);

/* Makes room for one more item in a growing array: returns items, moved if need be, with capacity
 * for at least count + 1 items of item_size bytes. *capacity is in items. */
void *at_grow(void *items, size_t count, size_t *capacity, size_t item_size);

/* Appends value to the array `items` with its `count` and `capacity` lvalues. */
#define AT_PUSH(items, count, capacity, value)                                                     \
    ((items) = at_grow((items), (count), &(capacity), sizeof *(items)),                            \
     (items)[(count)++] = (value))

#define AT_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
