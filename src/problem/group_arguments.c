/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/group_arguments.h"

struct at_ragged_groups at_ragged_groups_of(const struct at_groups *groups,
                                            const struct at_group *all)
{
    return (struct at_ragged_groups){.offset_bytes = sizeof(int64_t),
                                     .count = groups->count,
                                     .cols = groups->cols[0],
                                     .ld_src = groups->cols[0],
                                     .padding = groups->padding,
                                     .most = at_groups_most_rows(groups, all),
                                     .stacked = groups->stacked};
}

void at_group_list_write(const struct at_problem *problem, const struct at_group *all,
                         const struct at_group_sides *at, struct at_group_matrix *to)
{
    for (int64_t i = 0; i < problem->groups.count; i++)
        to[i] = (struct at_group_matrix){
            .dst = at->dst + (uint64_t)at_problem_side_bytes(problem, AT_DESTINATION, all[i].dst),
            .src = at->src + (uint64_t)(all[i].src * problem->elem_size),
            .kept = at->kept ? at->kept + (uint64_t)at_problem_kept_bytes(problem, all[i].src) : 0,
            .second = at->second ? at->second + (uint64_t)at_problem_side_bytes(
                                                    problem, AT_DESTINATION, all[i].dst)
                                 : 0,
            .rows = all[i].rows,
            .cols = all[i].cols / all[i].parts,
            .ld_src = all[i].ld_src,
            .ld_dst = all[i].ld_dst,
            .extent = {all[i].parts, 1},
            .stride_src = {all[i].cols / all[i].parts, 0},
            .stride_dst = {all[i].cols / all[i].parts * all[i].ld_dst, 0},
        };
}

void at_group_offsets_write(const struct at_groups *groups, const struct at_group *all, int64_t *to)
{
    to[0] = 0;
    for (int64_t i = 0; i < groups->count; i++)
        to[i + 1] = to[i] + all[i].rows;
}
