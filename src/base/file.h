/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files: read with a bound, written so that a reader sees the old content or the new. */
#ifndef AT_BASE_FILE_H
#define AT_BASE_FILE_H

#include "base/error.h"

#include <stddef.h>

/* Reads a regular file of at most max_bytes. *text is NUL-terminated (the NUL is not counted in
 * *size) and the caller's to free. A missing, unreadable or larger file is AT_USAGE. */
enum at_status at_file_read(char **text, size_t *size, const char *path, size_t max_bytes,
                            struct at_error *err);

/* Replaces path by a file with this content: temporary file in the same folder, fsync, rename,
 * fsync of the folder. On failure path is as it was. */
enum at_status at_file_replace(const char *path, const void *bytes, size_t size,
                               struct at_error *err);

/* Finds out before the work, not after it, whether at_file_replace(path) can succeed. */
enum at_status at_file_check_writable(const char *path, struct at_error *err);

#endif
