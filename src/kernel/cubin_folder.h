/* SPDX-License-Identifier: Apache-2.0 */
/* The cubin cache's folder as a whole: what is in it, and what is to go. Other files are left
 * alone. */
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

enum at_status at_cubin_folder_usage(const struct at_cubin_folder *folder,
                                     struct at_cubin_usage *usage, struct at_error *err);

/* Where there are more than most bytes, removes what has not been used for longest, until there are
 * three quarters of that. Best effort. */
void at_cubin_folder_trim(const struct at_cubin_folder *folder, int64_t most);

/* Removes what processes that were killed have left half-written. Best effort. */
void at_cubin_folder_sweep(const struct at_cubin_folder *folder);

/* Removes everything that can be removed; not AT_OK where something stays. */
enum at_status at_cubin_folder_clear(const struct at_cubin_folder *folder, struct at_error *err);

#endif
