/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that are skipped without NVRTC. */
#ifndef AT_TESTS_UNIT_NEEDS_NVRTC_H
#define AT_TESTS_UNIT_NEEDS_NVRTC_H

#include "kernel/nvrtc.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { SKIPPED = 77 }; /* Automake's exit code for a skipped test */

/* Return whether NVRTC is missing, and print why. */
static inline bool lacks_nvrtc(void)
{
    struct at_error err = {AT_OK, ""};
    size_t known_count;
    int *known;

    if (at_nvrtc_architectures(&known, &known_count, &err) != AT_OK) {
        fprintf(stderr, "skipped: %s\n", err.message);
        return true;
    }
    free(known);
    return false;
}

#endif
