/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator that can be told to run out of memory. It replaces malloc in the program that it is
 * linked into, for all its libraries. */
#ifndef AT_TESTS_UNIT_FAIL_ALLOC_H
#define AT_TESTS_UNIT_FAIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Count the allocations of all threads from here on, from 1. Number `failing` fails, and with
 * `onwards` all after it; 0: none. Allocations for NVRTC, also through the C library, do not count:
 * NVRTC may end the process if memory runs out. */
void fail_alloc_begin(size_t failing, bool onwards);

/* Stop counting. Returns the count. */
size_t fail_alloc_end(void);

/* The number of counted blocks that are not freed, without those of the loader, which keeps open
 * libraries. */
size_t fail_alloc_live(void);

#endif
