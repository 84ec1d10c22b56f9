/* SPDX-License-Identifier: Apache-2.0 */
/* How well the accesses of a line use what they move, and why not better. */
#ifndef AT_EXPLAIN_REASON_H
#define AT_EXPLAIN_REASON_H

#include "explain/explain.h"

/* From 0 to 1. In global memory: the bytes that requests want, each once per request, over the
 * bytes of their sectors. In shared memory: the least possible wavefronts over the actual ones. */
double at_explained_good(const struct at_explained_line *line);

/* Why requests to global memory leave a part of their sectors unused. False if they use all, or the
 * line is of shared memory. */
bool at_explained_reason(char *reason, size_t size, const struct at_explained_line *line);

#endif
