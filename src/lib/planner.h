/* SPDX-License-Identifier: Apache-2.0 */
/* Improves the answer of a lookup by measuring: rivals, their kernels, a race. */
#ifndef AT_LIB_PLANNER_H
#define AT_LIB_PLANNER_H

#include "lib/objects.h"
#include "measure/measurement.h"

#include <stdint.h>

/* What a plan of this process has measured: a profile entry. The latest are found first. Several
 * threads may use them at once. An entry that is kept never changes, and lives as long as the store
 * or a plan holds it. */
struct autotune_learnt;

/* Hold an entry no longer; NULL is none. The last that does so frees it. */
void autotune_learnt_drop(struct autotune_learnt *learnt);

/* The store too holds the entry, until autotune_wisdom_forget. Allocates nothing, so that it can be
 * the last step of a call: what a call has allocated is freed if memory runs out later in it. */
void autotune_learnt_keep(struct autotune_learnt *learnt);

/* Find what was learnt of the answer's problem, model of device and policy, if its config is legal
 * with the profile's families. Fills answer->answer, which borrows from the entry that is returned.
 * The caller holds it until it drops it. NULL: nothing was learnt. */
struct autotune_learnt *autotune_learnt_find(struct autotune_answer *answer,
                                             const autotune_profile *profile);

/* How a plan may measure: autotune_plan_options, checked. */
struct autotune_budget {
    int64_t limit_ns; /* 0: it looks up only */
    const struct at_policy *policy;
    uint64_t scratch; /* device memory to measure in; 0: allocate */
    int64_t scratch_bytes;
};

enum { AUTOTUNE_NOTE_CHARS = 160 };

/* Measure the answer's config and its rivals, and put the winner into the answer. *learnt is what
 * the caller may keep; NULL if nothing could be learnt. `note` tells people why. The caller
 * has the device's turn. AT_DEVICE if the context is lost, AT_FAILED if the looked-up config is
 * wrong here and no other is right. */
enum at_status autotune_measure(struct autotune_answer *answer, const autotune_profile *profile,
                                const struct autotune_budget *budget,
                                struct autotune_learnt **learnt, char note[AUTOTUNE_NOTE_CHARS],
                                struct at_error *err);

#endif
