/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator that fails on request. It replaces malloc in the program that links it, for all
 * libraries there. */
#ifndef AT_TESTS_UNIT_FAIL_ALLOC_H
#define AT_TESTS_UNIT_FAIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Start to count the allocations of all threads, from 1. Number `failing` fails, and all after it
 * if `onwards`; 0 means none. NVRTC's allocations, which also come through the C library, are not
 * counted: without memory it may end the process. */
void fail_alloc_begin(size_t failing, bool onwards);

/* Stop counting. Return the count. */
size_t fail_alloc_end(void);

/* Return how many counted blocks are not freed yet. The loader's do not count: it keeps what it
 * opens. */
size_t fail_alloc_live(void);

#endif
