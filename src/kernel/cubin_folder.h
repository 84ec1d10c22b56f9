/* SPDX-License-Identifier: Apache-2.0 */
/* The cubin cache's folder: its size, and removing entries. Other files are left alone. */
#ifndef AT_KERNEL_CUBIN_FOLDER_H
#define AT_KERNEL_CUBIN_FOLDER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct at_cubin_folder {
    int fd;
    char *path;
};

struct at_cubin_usage {
    size_t kernels, programs;
    int64_t bytes; /* of all files */
};

/* Count the entries and their bytes. */
enum at_status at_cubin_folder_usage(const struct at_cubin_folder *folder,
                                     struct at_cubin_usage *usage, struct at_error *err);

/* If the entries take more than `most` bytes, remove the least recently used ones, down to three
 * quarters of that. Best effort. */
void at_cubin_folder_trim(const struct at_cubin_folder *folder, int64_t most);

/* Remove half-written files that killed processes have left. Best effort. */
void at_cubin_folder_sweep(const struct at_cubin_folder *folder);

/* Remove all entries; fails if any stays. */
enum at_status at_cubin_folder_clear(const struct at_cubin_folder *folder, struct at_error *err);

#endif
