/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include "base/guard.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest block in glibc malloc's thread cache, which its calloc does not use. */
enum { THREAD_CACHE_BYTES = 1032 };

void *at_alloc(size_t size)
{
    if (size > 0 && size <= THREAD_CACHE_BYTES)
        return memset(at_guard_note(malloc(size)), 0, size);
    return at_guard_note(calloc(1, size ? size : 1));
}

void *at_alloc_raw(size_t size)
{
    return at_guard_note(malloc(size ? size : 1));
}

void *at_alloc_array(size_t count, size_t size)
{
    return at_guard_note(calloc(count ? count : 1, size ? size : 1));
}

char *at_strdup(const char *text)
{
    return at_guard_note(strdup(text));
}

char *at_strndup(const char *text, size_t size)
{
    return at_guard_note(strndup(text, size));
}

void *at_memdup(const void *bytes, size_t size)
{
    void *copy = at_alloc(size);

    if (size)
        memcpy(copy, bytes, size);
    return copy;
}

char *at_format(const char *format, ...)
{
    char *text;
    va_list args;

    va_start(args, format);
    text = at_vformat(format, args);
    va_end(args);
    return text;
}

char *at_vformat(const char *format, va_list args)
{
    char *text = NULL;

    return at_guard_note(vasprintf(&text, format, args) < 0 ? NULL : text);
}

void *at_grow(void *items, size_t count, size_t *capacity, size_t item_size)
{
    size_t larger;
    void *moved;

    if (count < *capacity)
        return items;
    larger = *capacity ? *capacity * 2 : 8;
    at_guard_forget(items);
    moved = reallocarray(items, larger, item_size);
    if (!moved)
        free(items);
    *capacity = larger;
    return at_guard_note(moved);
}

void at_free(void *block)
{
    at_guard_forget(block);
    free(block);
}
