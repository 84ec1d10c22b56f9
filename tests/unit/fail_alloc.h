/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator that runs out of memory when it is told to. It takes the place of malloc in the
 * program that it is linked into, for all libraries there. */
#ifndef AT_TESTS_UNIT_FAIL_ALLOC_H
#define AT_TESTS_UNIT_FAIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* From here on allocations of all threads are counted, and the first is number 1. Number `failing`
 * fails, and with `onwards` all after it; 0 is none. Those of NVRTC, which also come by way of the
 * C library, do not count: without memory it may end the process. */
void fail_alloc_begin(size_t failing, bool onwards);

/* Returns how many were counted. */
size_t fail_alloc_end(void);

/* How many blocks there still are of those that were counted, without the loader's: it keeps what
 * it has opened. */
size_t fail_alloc_live(void);

#endif
