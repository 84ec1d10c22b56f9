/* SPDX-License-Identifier: Apache-2.0 */
/* Reads whole files up to a bound, and lists those of a folder. system/output.h writes them. */
#ifndef AT_SYSTEM_FILE_H
#define AT_SYSTEM_FILE_H

#include "base/error.h"

#include <stddef.h>

#define AT_FILE_STDIN "/dev/stdin"

/* Read a regular file of at most max_bytes, or a pipe that this process was started with:
 * /dev/stdin or /dev/fd/N. A FIFO by another name is refused: without a writer, it would be waited
 * for. *text is NUL-terminated (*size does not count the NUL); the caller frees it. A missing,
 * unreadable or larger file is AT_USAGE. */
enum at_status at_file_read(char **text, size_t *size, const char *path, size_t max_bytes,
                            struct at_error *err);

/* The same for text: without the byte-order mark that editors of other systems put before UTF-8. */
enum at_status at_file_read_text(char **text, size_t *size, const char *path, size_t max_bytes,
                                 struct at_error *err);

/* A cleanup (base/memory.h) that closes the descriptor that data points to. */
void at_file_close(void *data);

struct at_folder {
    char **names; /* sorted by bytes, in every locale */
    size_t count, capacity;
};

/* List the names that end in suffix and do not begin with '.'. Returns 0 or an errno value. */
int at_folder_list(struct at_folder *folder, const char *path, const char *suffix);
void at_folder_clear(struct at_folder *folder);

#endif
