/* SPDX-License-Identifier: Apache-2.0 */
/* Work on several threads. */
#ifndef AT_SYSTEM_THREADS_H
#define AT_SYSTEM_THREADS_H

#include <stddef.h>

/* Call work(data) on up to `wanted` threads, and wait for all. This thread is one of them, so the
 * work is done even if the system refuses all others. Each call takes parts of it until none is
 * left. */
void at_on_threads(size_t wanted, void *(*work)(void *), void *data);

/* The same on all CPUs for parts that are numbered: part(data, i) for each i below count. */
void at_for_parts(size_t count, void (*part)(void *data, size_t i), void *data);

#endif
