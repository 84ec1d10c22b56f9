/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include "base/printable.h"

#include <stdio.h>
#include <string.h>

/* Format a text of at most `capacity` bytes; a longer one is cut after a complete character. */
static void put(char *text, size_t capacity, const char *format, va_list args)
{
    int length = vsnprintf(text, capacity, format, args);

    if (length >= 0 && (size_t)length >= capacity)
        text[at_text_whole(text, capacity - 1)] = '\0';
}

enum at_status at_fail(struct at_error *err, enum at_status status, const char *format, ...)
{
    va_list args;

    if (err) {
        err->status = status;
        va_start(args, format);
        put(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

enum at_status at_fail_within(struct at_error *err, const char *format, ...)
{
    char cause[sizeof err->message], context[sizeof err->message];
    va_list args;

    if (!err)
        return AT_INTERNAL;
    memcpy(cause, err->message, sizeof cause);
    va_start(args, format);
    put(context, sizeof context, format, args);
    va_end(args);
    return at_fail(err, err->status, "%s: %s", context, cause);
}

void at_advise(struct at_error *err, const char *remedy)
{
    char message[sizeof err->message];

    memcpy(message, err->message, sizeof message);
    at_fail(err, err->status, "%s; %s", message, remedy);
}

enum at_status at_fail_at(struct at_error *err, struct at_source source, const char *format, ...)
{
    char message[sizeof err->message];
    va_list args;

    va_start(args, format);
    put(message, sizeof message, format, args);
    va_end(args);
    return at_fail(err, AT_USAGE, "%s:%d:%d: %s", source.file, source.line, source.column, message);
}
