/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the program what the library does: autotune_set_log. */
#ifndef AT_LIB_LOG_H
#define AT_LIB_LOG_H

#include "lib/autotune.h"

#include <stdbool.h>

/* Are lines of this level wanted? */
bool autotune_logs(autotune_log_level level);

/* Give a line to the program's function, unless it does not want lines of this level. A line that
 * is too long is cut. Allocates nothing. Not for callers that hold the library's lock. */
void autotune_log(autotune_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
