/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation that never returns NULL. If host memory runs out, a command prints a message and exits
 * with AT_INTERNAL; in the library the call ends (base/guard.h). Blocks are released with
 * at_free(), or with free() in code that is not part of the library. */
#ifndef AT_BASE_MEMORY_H
#define AT_BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

void *at_alloc(size_t size);                     /* zeroed */
void *at_alloc_raw(size_t size);                 /* not zeroed */
void *at_alloc_array(size_t count, size_t size); /* zeroed; count * size is checked */
char *at_strdup(const char *text);
char *at_strndup(const char *text, size_t size);
void *at_memdup(const void *bytes, size_t size);
char *at_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *at_vformat(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* free() that tells the guard. Legal for any malloc block, and for NULL. */
void at_free(void *block);

/* Make room for one more item of item_size bytes in a growing array of count items. Returns the
 * array, which may have moved. *capacity is in items. */
void *at_grow(void *items, size_t count, size_t *capacity, size_t item_size);

/* Append value to the array `items`; `items`, `count` and `capacity` are lvalues. */
#define AT_PUSH(items, count, capacity, value)                                                     \
    ((items) = at_grow((items), (count), &(capacity), sizeof *(items)),                            \
     (items)[(count)++] = (value))

#define AT_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
