/* SPDX-License-Identifier: Apache-2.0 */
/* Improves the answer of a lookup by measuring: rivals, their kernels, a race. */
#ifndef AT_LIB_PLANNER_H
#define AT_LIB_PLANNER_H

#include "lib/learnt.h"
#include "lib/objects.h"
#include "measure/measurement.h"

#include <stdint.h>

/* How a plan may measure: autotune_plan_options, checked. */
struct autotune_budget {
    int64_t limit_ns; /* 0: it looks up only */
    bool adapts;      /* rivals are verified; launches of the plan time them */
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

/* The configs that are right here, the one to begin with first. */
enum { AUTOTUNE_VERIFIED_MAX = 9 };
struct autotune_verified {
    struct at_answer answers[AUTOTUNE_VERIFIED_MAX];
    size_t count; /* 0: nothing could be verified */
};

/* Verify the answer's config and its rivals, as autotune_measure does, and time none. The answer's
 * config is the first, unless it is wrong; then come the fastest rivals, as far as one launch
 * tells.
 */
enum at_status autotune_verify(struct autotune_answer *answer, const autotune_profile *profile,
                               const struct autotune_budget *budget,
                               struct autotune_verified *verified, char note[AUTOTUNE_NOTE_CHARS],
                               struct at_error *err);

#endif
