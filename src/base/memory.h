/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation that never returns NULL. If host memory runs out, a command prints a message and exits
 * with AT_INTERNAL; in the library the call ends (at_guard_run). Blocks are released with
 * at_free(), or with free() in code that is not part of the library. */
#ifndef AT_BASE_MEMORY_H
#define AT_BASE_MEMORY_H

#include "base/error.h"

#include <stdarg.h>
#include <stddef.h>

void *at_alloc(size_t size); /* zeroed */

void *at_alloc_raw(size_t size); /* not zeroed */

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

/* Run the body. Returns its status, or AT_NO_MEMORY with a message in err (not NULL). A guard
 * inside another does nothing: running out of memory ends the outer call. */
enum at_status at_guard_run(enum at_status (*body)(void *data, struct at_error *err), void *data,
                            struct at_error *err);

/* A pending release, in the stack frame of the function that has to do it. */
struct at_cleanup {
    void (*release)(void *data);
    void *data;
    struct at_cleanup *below;
};

/* Register release(data) for when memory runs out. Cleanups run last pushed first, before any block
 * is freed. Without a guard this does nothing. */
void at_cleanup_push(struct at_cleanup *cleanup, void (*release)(void *data), void *data);

/* Remove the last cleanup that was pushed. */
void at_cleanup_pop(struct at_cleanup *cleanup);

/* End the guarded call. Without a guard, write a message to stderr and exit with AT_INTERNAL. Also
 * to be called when another library reports that memory ran out. */
_Noreturn void at_out_of_memory(void);

/* Note a malloc block and return it; on NULL, call at_out_of_memory. A block that cannot be noted
 * is freed. */
void *at_guard_note(void *block);

/* The same for a block that may be noted already, or that another thread's call has returned. */
void *at_guard_adopt(void *block);

/* Note a block no longer, because it belongs to something that lives longer than the call. */
void at_guard_disown(const void *block);

#endif
