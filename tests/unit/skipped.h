/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that are skipped without NVRTC, or under the address sanitiser, which has its own
 * allocator. */
#ifndef AT_TESTS_UNIT_SKIPPED_H
#define AT_TESTS_UNIT_SKIPPED_H

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

/* gcc defines a macro; clang has a feature test. */
#ifdef __SANITIZE_ADDRESS__
#define WITH_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ADDRESS_SANITIZER 1
#endif
#endif

#ifndef WITH_ADDRESS_SANITIZER
#define WITH_ADDRESS_SANITIZER 0
#endif

#endif
