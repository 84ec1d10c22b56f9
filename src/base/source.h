/* SPDX-License-Identifier: Apache-2.0 */
/* A position in a file, so that messages can name it. */
#ifndef AT_BASE_SOURCE_H
#define AT_BASE_SOURCE_H

#include "base/error.h"

struct at_source {
    const char *file; /* borrowed */
    int line, column; /* from 1 */
};

/* Fail with AT_USAGE and "file:line:column: message". */
enum at_status at_fail_at(struct at_error *err, struct at_source source, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
