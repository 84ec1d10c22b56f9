/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, read with a bound. system/output.h writes them. */
#ifndef AT_SYSTEM_FILE_H
#define AT_SYSTEM_FILE_H

#include "base/error.h"

#include <stddef.h>

/* Reads a regular file of at most max_bytes. *text is NUL-terminated (the NUL is not counted in
 * *size) and the caller's to free. A missing, unreadable or larger file is AT_USAGE. */
enum at_status at_file_read(char **text, size_t *size, const char *path, size_t max_bytes,
                            struct at_error *err);

/* A cleanup (base/guard.h) that closes the descriptor to which data points. */
void at_file_close(void *data);

#endif
