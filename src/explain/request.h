/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the memory system, as an example of each access of a kernel, and pictures of them. */
#ifndef AT_EXPLAIN_REQUEST_H
#define AT_EXPLAIN_REQUEST_H

#include "emulated/machine/machine.h"
#include "emulated/time/requests.h"
#include "explain/explain.h"

/* The costliest request of each instruction, in global and in shared memory. */
struct at_requests;

struct at_requests *at_requests_new(size_t instructions);
void at_requests_free(struct at_requests *requests);

/* Run the blocks of a grid that serve as an example: the one in the middle, then the first and the
 * last for what was counted and has no request yet. AT_FAILED: they have a fault, which the message
 * names. */
enum at_status at_requests_sample(struct at_requests *requests, const struct at_counts *counts,
                                  struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                  struct at_error *err);

/* Its `lanes` are 0 if no such request was seen. */
const struct at_explained_request *at_requests_of(const struct at_requests *requests,
                                                  size_t instruction, bool shared);

/* Draw a line's request in `width` columns: of global memory its sectors, of shared memory its
 * wavefronts with their banks, and in each word the lane that wants it. NULL if there is none; the
 * caller frees it. */
char *at_request_draw(const struct at_explained_line *line, int width);

/* What the signs of a drawing mean: a sentence that begins small, without its full stop. */
extern const char at_request_legend[];

#endif
