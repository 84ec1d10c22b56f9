/* SPDX-License-Identifier: Apache-2.0 */
/* Rivals timed in passing (AUTOTUNE_ADAPT): the first launches of a plan run several kernels in
 * turn, between events that nobody waits for. The fastest stays, as in the online tuning of KTT
 * (github.com/HiPerCoRe/KTT). */
#ifndef AT_LIB_ADAPT_H
#define AT_LIB_ADAPT_H

#include "lib/plan.h"
#include "lib/planner.h"

#include <stdbool.h>

/* Load the verified kernels in the context, which is current, and make what launches need. The
 * caller unloads and frees *made, which is set also if this fails. */
enum at_status autotune_adaptation_new(struct autotune_adaptation **made,
                                       const struct autotune_answer *asked,
                                       const struct autotune_verified *verified,
                                       const struct autotune_context *context,
                                       struct at_error *err);

/* Drop the kernels and the events; NULL is none. `captured`: a graph may run the winner's kernel.
 * Frees no memory, so that it can clean up when memory runs out. Not for forked children. */
void autotune_adaptation_unload(struct autotune_adaptation *adaptation, bool captured);
void autotune_adaptation_free(struct autotune_adaptation *adaptation);

/* The kernel that stays; NULL: launches still take turns. Several threads may ask. */
const struct autotune_kernel *autotune_adapted(const struct autotune_adaptation *adaptation);

/* A launch that is about to run. */
struct autotune_passing {
    const struct autotune_kernel *kernel;
    struct autotune_timed_launch *timed; /* NULL: it is not timed */
};

/* Choose the kernel of the next launch in the stream, which is not captured, and record the event
 * before it. The plan's context is current. Several threads may do this at once. */
struct autotune_passing autotune_pass(struct autotune_adaptation *adaptation, CUstream stream);

/* Record the event after it. `result` is that of the launch. */
void autotune_passed(struct autotune_adaptation *adaptation, const struct autotune_passing *passing,
                     CUstream stream, CUresult result);

/* What is told of the kernel that stays, or of the one that was looked up while launches still take
 * turns; *rivals, unless NULL, is how many then take turns with it, or 0. */
const autotune_info *autotune_adaptation_info(const struct autotune_adaptation *adaptation,
                                              int64_t *rivals);

/* The same in lines of text: see autotune_plan_describe. */
size_t autotune_adaptation_describe(const struct autotune_adaptation *adaptation, char *text,
                                    size_t capacity);

#endif
