/* SPDX-License-Identifier: Apache-2.0 */
#include "space/point.h"

#include "base/memory.h"

#define PROBLEM(member)                                                                            \
    {                                                                                              \
#member, false, offsetof(struct at_problem, member)                                        \
    }
#define DEVICE(member)                                                                             \
    {                                                                                              \
#member, true, offsetof(struct at_device_info, member)                                     \
    }

static const struct {
    const char *name;
    bool of_device;
    size_t offset; /* of an int64_t */
} given[] = {
    PROBLEM(elem_size),
    PROBLEM(rows),
    PROBLEM(cols),
    PROBLEM(ld_src),
    PROBLEM(ld_dst),
    PROBLEM(batch),
    PROBLEM(stride_src),
    PROBLEM(stride_dst),
    PROBLEM(offset_src),
    PROBLEM(offset_dst),
    {"axes", false, 0}, /* these are made of several members */
    {"word_bytes", false, 0},
    {"run_rows", false, 0},
    {"run_cols", false, 0},
    {"run_ld_src", false, 0},
    {"run_ld_dst", false, 0},
    {"run_stride_src", false, 0},
    {"run_stride_dst", false, 0},
    DEVICE(compute_capability),
    DEVICE(multiprocessors),
    DEVICE(warp_size),
    DEVICE(max_threads_per_block),
    DEVICE(max_threads_per_multiprocessor),
    DEVICE(registers_per_multiprocessor),
    DEVICE(shared_bytes_per_block),
    DEVICE(shared_bytes_per_block_optin),
    DEVICE(shared_bytes_per_multiprocessor),
    DEVICE(l2_bytes),
};

_Static_assert(AT_COUNT(given) == AT_NAMES_GIVEN, "AT_NAMES_GIVEN is the number of names");

size_t at_point_names(const char *names[AT_NAMES_MAX], const struct at_param *params,
                      size_t param_count)
{
    for (size_t i = 0; i < AT_COUNT(given); i++)
        names[i] = given[i].name;
    for (size_t i = 0; i < param_count; i++)
        names[AT_NAME_PARAM_FIRST + i] = params[i].name;
    return AT_COUNT(given) + param_count;
}

/* Rules ask whether strides are multiples of a vector, so of several the greatest common divisor
 * stands for all. */
static void add_alignment(int64_t *common, int64_t stride)
{
    while (stride != 0) {
        int64_t rest = *common % stride;

        *common = stride;
        stride = rest;
    }
}

struct at_point at_point_make(const struct at_family *family, const struct at_problem *problem,
                              const struct at_device_info *device)
{
    struct at_point point = {.family = family, .device = device, .problem = problem};
    struct at_runs runs;

    for (size_t i = 0; i < AT_COUNT(given); i++) {
        const char *record = given[i].of_device ? (const char *)device : (const char *)problem;

        point.values[i] = *(const int64_t *)(record + given[i].offset);
    }
    point.values[AT_NAME_BATCH] = at_problem_matrices(problem);
    point.values[AT_NAME_AXES] = at_problem_kind(problem).axes;
    point.values[AT_NAME_WORD_BYTES] = at_problem_word_bytes(problem);
    runs = at_problem_runs(problem);
    point.values[AT_NAME_RUN_ROWS] = runs.rows;
    point.values[AT_NAME_RUN_COLS] = runs.cols;
    point.values[AT_NAME_RUN_LD_SRC] = runs.ld_src;
    point.values[AT_NAME_RUN_LD_DST] = runs.ld_dst;
    point.values[AT_NAME_RUN_STRIDE_SRC] = runs.stride_src;
    point.values[AT_NAME_RUN_STRIDE_DST] = runs.stride_dst;
    for (int64_t i = 0; i < problem->outer_count; i++) {
        add_alignment(&point.values[AT_NAME_STRIDE_SRC], problem->outer[i].stride_src);
        add_alignment(&point.values[AT_NAME_STRIDE_DST], problem->outer[i].stride_dst);
    }
    return point;
}

void at_point_move(struct at_point *point, const struct at_config *config)
{
    point->family = config->family;
    for (size_t i = 0; i < config->family->param_count; i++)
        point->values[AT_NAME_PARAM_FIRST + i] = config->values[i];
}
