/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a long test runs: a sample, or with AUTOTUNE_TEST_WHOLE in the environment all of it.
 */
#ifndef AT_TESTS_SAMPLE_H
#define AT_TESTS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

static inline bool runs_whole(void)
{
    return getenv("AUTOTUNE_TEST_WHOLE") != NULL;
}

/* Does this family run with this element size, by their indices? In a sample, one size in five
 * does, another one from family to family. */
static inline bool runs_with_size(size_t family, size_t size)
{
    return runs_whole() || (family + size) % 5 == 0;
}

#endif
