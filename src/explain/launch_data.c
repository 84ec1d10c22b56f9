/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/launch_data.h"

#include "base/memory.h"
#include "problem/group_arguments.h"

static const char too_little[] = "this machine has too little memory for the problem";

struct sides {
    uint64_t dst, src;
};

static enum at_status allocate(struct at_emu_memory *memory, const struct at_problem *problem,
                               struct sides *at, struct at_step_numbers *numbers,
                               struct at_error *err)
{
    const struct at_step *step = &problem->step;
    const int64_t results =
        at_problem_side_bytes(problem, AT_DESTINATION, at_problem_dst_extent(problem));
    const int64_t channels = step->channels.count * (int64_t)sizeof(double);
    const bool finds_largest = at_step_has(step, AT_AMAX);
    const struct {
        uint64_t *at;
        int64_t bytes; /* 0: it is not needed */
    } all[] = {
        {&at->src, at_problem_src_extent(problem) * problem->elem_size},
        {&at->dst, results},
        {&numbers->second, at_step_has(step, AT_BETA) ? results : 0},
        {&numbers->channel_scale, channels},
        {&numbers->channel_shift, channels},
        {&numbers->kept, at_problem_kept_bytes(problem, at_problem_src_extent(problem))},
        {&numbers->largest, finds_largest ? (int64_t)sizeof(float) : 0},
        {&numbers->scratch, at_problem_scratch_most(problem)},
        {&numbers->scales, at_problem_scale_bytes(problem, AT_DESTINATION)},
        {&numbers->kept_scales, at_problem_scale_bytes(problem, AT_SOURCE)},
        {&numbers->sums, at_problem_sum_bytes(problem)},
    };

    for (size_t i = 0; i < AT_COUNT(all); i++)
        if (all[i].bytes > 0) {
            *all[i].at = at_emu_memory_allocate(memory, all[i].bytes);
            if (!*all[i].at)
                return at_fail(err, AT_FAILED, "%s", too_little);
        }
    if (problem->in_place)
        at->src = at->dst;
    return AT_OK;
}

/* Write the list of drawn matrices, or where drawn groups of rows begin. Returns its address; 0:
 * there is too little memory. */
static uint64_t write_table(struct at_emu_memory *memory, const struct at_problem *problem,
                            const struct at_group *all, const struct at_group_sides *sides)
{
    bool is_list = at_groups_kind(&problem->groups) == AT_GROUP_LIST;
    size_t count = (size_t)problem->groups.count,
           bytes = is_list ? count * sizeof(struct at_group_matrix) : (count + 1) * sizeof(int64_t);
    uint64_t at = at_emu_memory_allocate(memory, (int64_t)bytes);
    void *table = at ? at_emu_memory_host(memory, at, bytes) : NULL;

    if (!table)
        return 0;
    if (is_list)
        at_group_list_write(problem, all, sides, table);
    else
        at_group_offsets_write(&problem->groups, all, table);
    return at;
}

static enum at_status make_groups(struct at_emu_memory *memory, const struct at_problem *problem,
                                  const struct sides *sides, const struct at_step_numbers *numbers,
                                  uint64_t args[AT_CALL_WORDS], size_t *arg_count,
                                  struct at_error *err)
{
    const struct at_groups *groups = &problem->groups;
    struct at_group *all = at_groups_draw(groups, at_problem_least_bytes(problem));
    const struct at_group_sides at = {sides->dst, sides->src, numbers->kept, numbers->second};
    uint64_t table = write_table(memory, problem, all, &at);
    const struct at_group_list list = {.matrices = table, .count = groups->count};
    struct at_ragged_groups rows = at_ragged_groups_of(groups, all);
    uint8_t words[AT_CALL_ARGS];

    at_free(all);
    if (!table)
        return at_fail(err, AT_FAILED, "%s", too_little);
    rows.offsets = table;
    rows.kept = numbers->kept;
    rows.second = numbers->second;
    *arg_count = at_groups_kind(groups) == AT_GROUP_LIST
                     ? at_group_args(problem, 0, 0, &list, sizeof list, numbers, args, words)
                     : at_group_args(problem, sides->dst, sides->src, &rows, sizeof rows, numbers,
                                     args, words);
    return AT_OK;
}

enum at_status at_launch_data_make(struct at_emu_memory *memory, const struct at_problem *problem,
                                   const struct at_launch *launch,
                                   uint64_t args[AT_LAUNCHES_MAX][AT_CALL_WORDS], size_t *arg_count,
                                   struct at_error *err)
{
    struct at_step_numbers numbers = {
        .number = {0, {1}}, .beta = {0, {1}}, .channel_stride = problem->step.channels.stride};
    struct sides sides = {0, 0};
    struct at_launch one = *launch;
    uint8_t words[AT_CALL_ARGS];
    enum at_status status = allocate(memory, problem, &sides, &numbers, err);

    if (status != AT_OK)
        return status;
    if (problem->groups.count > 0)
        return make_groups(memory, problem, &sides, &numbers, args[0], arg_count, err);
    for (int64_t i = 0; i < at_launch_passes(launch); i++) {
        one.field[AT_PASS] = i;
        *arg_count = at_problem_args(problem, &one, sides.dst, sides.src, &numbers, args[i], words);
    }
    return AT_OK;
}
