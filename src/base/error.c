/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum at_status at_fail(struct at_error *err, enum at_status status, const char *format, ...)
{
    va_list args;

    if (err) {
        err->status = status;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

enum at_status at_fail_within(struct at_error *err, const char *format, ...)
{
    char cause[sizeof err->message];
    int length;
    va_list args;

    if (!err)
        return AT_INTERNAL;
    memcpy(cause, err->message, sizeof cause);
    va_start(args, format);
    length = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof err->message)
        snprintf(err->message + length, sizeof err->message - (size_t)length, ": %s", cause);
    return err->status;
}

enum at_status at_fail_at(struct at_error *err, struct at_source source, const char *format, ...)
{
    char message[sizeof err->message];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return at_fail(err, AT_USAGE, "%s:%d:%d: %s", source.file, source.line, source.column, message);
}
