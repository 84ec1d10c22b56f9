/* SPDX-License-Identifier: Apache-2.0 */
/* What callers have to allocate for the scales of blocks. */
#include "lib/objects.h"

struct telling {
    const autotune_problem *problem;
    autotune_scales scales[2];
};

static autotune_scales scales_of(const struct at_problem *problem, enum at_side side)
{
    const struct at_scales found = at_problem_scales(problem, side);

    if (found.places == 0)
        return (autotune_scales){0};
    return (autotune_scales){
        .type = at_number_formats[at_block_rules[problem->step.blocks.rule].scale].name,
        .elem_size = found.bytes,
        .rows = found.rows,
        .cols = found.cols,
        .row_stride = found.row_stride,
        .col_stride = found.col_stride,
        .matrix_bytes = found.places * found.bytes,
        .bytes = at_problem_scale_bytes(problem, side),
    };
}

static enum at_status tell(void *data, struct at_error *err)
{
    struct telling *telling = data;
    const struct autotune_asked asked = {telling->problem, NULL, NULL};
    struct at_problem problem;
    enum at_status status = autotune_take_problem(&problem, NULL, &asked, err);

    if (status == AT_OK && !autotune_is_empty(&problem)) {
        telling->scales[0] = scales_of(&problem, AT_DESTINATION);
        telling->scales[1] = scales_of(&problem, AT_SOURCE);
    }
    return status;
}

autotune_status autotune_problem_scales(autotune_scales scales[2], const autotune_problem *problem,
                                        autotune_error **error)
{
    struct telling telling = {problem, {{0}}};
    autotune_status status;

    if (!scales || !problem)
        return autotune_fail_null(error, !scales ? "scales" : "problem");
    status = autotune_call(tell, &telling, error);
    if (status == AUTOTUNE_OK) {
        scales[0] = telling.scales[0];
        scales[1] = telling.scales[1];
    }
    return status;
}
