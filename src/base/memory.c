/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *checked(void *pointer)
{
    static const char message[] = "autotune: out of memory\n";

    if (!pointer) {
        /* write, not fprintf: stdio may want memory itself. */
        ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);

        (void)written;
        _exit(AT_INTERNAL);
    }
    return pointer;
}

/* What glibc's malloc keeps at hand for a thread, which its calloc passes over. */
enum { AT_HAND_BYTES = 1032 };

void *at_alloc(size_t size)
{
    if (size > 0 && size <= AT_HAND_BYTES)
        return memset(checked(malloc(size)), 0, size);
    return checked(calloc(1, size ? size : 1));
}

void *at_alloc_array(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size ? size : 1));
}

char *at_strdup(const char *text)
{
    return checked(strdup(text));
}

char *at_strndup(const char *text, size_t size)
{
    return checked(strndup(text, size));
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

    return checked(vasprintf(&text, format, args) < 0 ? NULL : text);
}

FILE *at_text_stream(char **text, size_t *size)
{
    return checked(open_memstream(text, size));
}

char *at_join(const char *const *names, size_t count)
{
    char *text;
    size_t size;
    FILE *out = at_text_stream(&text, &size);

    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? ", " : "", names[i]);
    fclose(out);
    return text;
}

void *at_grow(void *items, size_t count, size_t *capacity, size_t item_size)
{
    size_t larger;

    if (count < *capacity)
        return items;
    larger = *capacity ? *capacity * 2 : 8;
    items = checked(reallocarray(items, larger, item_size));
    *capacity = larger;
    return items;
}
