/* SPDX-License-Identifier: Apache-2.0 */
/* Where a piece of text stands, so that a message about it can be found from an editor. */
#ifndef AT_BASE_SOURCE_H
#define AT_BASE_SOURCE_H

#include "base/error.h"

struct at_source {
    const char *file; /* borrowed */
    int line, column; /* from 1 */
};

/* AT_USAGE with "file:line:column: message". */
enum at_status at_fail_at(struct at_error *err, struct at_source source, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
