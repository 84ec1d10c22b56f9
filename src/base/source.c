/* SPDX-License-Identifier: Apache-2.0 */
#include "base/source.h"

#include <stdarg.h>
#include <stdio.h>

enum at_status at_fail_at(struct at_error *err, struct at_source source, const char *format, ...)
{
    char message[sizeof err->message];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return at_fail(err, AT_USAGE, "%s:%d:%d: %s", source.file, source.line, source.column, message);
}
