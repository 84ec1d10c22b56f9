/* SPDX-License-Identifier: Apache-2.0 */
/* Input as a file, for readers that take a path. */
#ifndef AT_TESTS_FUZZ_FUZZ_FILE_H
#define AT_TESTS_FUZZ_FUZZ_FILE_H

#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The path of the one file in memory that each input is put into. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[32];
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("input", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    return path;
}

#endif
