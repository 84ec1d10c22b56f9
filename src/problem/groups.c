/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: sizes and layouts. */
#include "problem/groups.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/rng.h"

const char *const at_group_law_names[AT_LAWS] = {
    [AT_LAW_EVEN] = "even", [AT_LAW_ZIPF] = "zipf", [AT_LAW_SPARSE] = "sparse"};

static int64_t round_up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* Draw a side, a multiple of `multiple`. */
static int64_t draw_side(struct at_rng *rng, const int64_t range[2], int64_t multiple)
{
    int64_t least = (range[0] + multiple - 1) / multiple, most = range[1] / multiple;

    return (least + (int64_t)at_rng_below(rng, (uint64_t)(most - least + 1))) * multiple;
}

/* The share of a group that is number `rank`, in an arbitrary unit. */
static double weight_of(const struct at_groups *groups, int64_t rank)
{
    switch ((enum at_group_law)groups->law) {
    case AT_LAW_ZIPF:
        return 1.0 / (double)(rank + 1);
    case AT_LAW_SPARSE:
        return 10 * rank < groups->count;
    default:
        return 1;
    }
}

/* Divide the rows by the law, and shuffle. What is left by rounding goes to the groups that have
 * rows, one unit each. */
static void draw_rows(const struct at_groups *groups, struct at_rng *rng, struct at_group *all)
{
    int64_t units = groups->total / groups->multiple, left = units;
    double whole = 0;

    for (int64_t i = 0; i < groups->count; i++)
        whole += weight_of(groups, i);
    for (int64_t i = 0; i < groups->count; i++) {
        all[i].rows = (int64_t)((double)units * weight_of(groups, i) / whole);
        left -= all[i].rows;
    }
    for (int64_t i = 0; left > 0; i = (i + 1) % groups->count)
        if (weight_of(groups, i) > 0) {
            all[i].rows++;
            left--;
        }
    for (int64_t i = groups->count - 1; i > 0; i--) {
        int64_t other = (int64_t)at_rng_below(rng, (uint64_t)i + 1), rows = all[i].rows;

        all[i].rows = all[other].rows;
        all[other].rows = rows;
    }
    for (int64_t i = 0; i < groups->count; i++)
        all[i].rows *= groups->multiple;
}

static void lay_out_list(struct at_group *all, int64_t count, int64_t bytes)
{
    static const int64_t boundary = 256; /* bytes: what allocators give */
    int64_t place = 0;

    for (int64_t i = 0; i < count; i++) {
        all[i].ld_src = all[i].cols;
        all[i].ld_dst = all[i].padded_rows = all[i].rows;
        all[i].src = all[i].dst = place;
        place = round_up(place + all[i].rows * all[i].cols, boundary / bytes);
    }
}

int64_t at_groups_most_rows(const struct at_groups *groups, const struct at_group *all)
{
    int64_t most = 0;

    for (int64_t i = 0; i < groups->count; i++)
        most = groups->stacked ? at_max(most, all[i].padded_rows) : most + all[i].padded_rows;
    return most;
}

static void lay_out_rows(const struct at_groups *groups, struct at_group *all)
{
    int64_t rows = 0, padded = 0, most;

    for (int64_t i = 0; i < groups->count; i++)
        all[i].padded_rows = round_up(all[i].rows, groups->padding);
    most = at_groups_most_rows(groups, all);
    for (int64_t i = 0; i < groups->count; i++) {
        all[i].cols = all[i].ld_src = groups->cols[0];
        all[i].ld_dst = groups->stacked ? most : all[i].padded_rows;
        all[i].src = rows * all[i].cols;
        all[i].dst = all[i].cols * (groups->stacked ? i * most : padded);
        rows += all[i].rows;
        padded += all[i].padded_rows;
    }
}

struct at_group *at_groups_draw(const struct at_groups *groups, int64_t bytes)
{
    struct at_group *all = at_alloc((size_t)groups->count * sizeof *all);
    struct at_rng rng = {(uint64_t)groups->draw};

    if (groups->total > 0) {
        draw_rows(groups, &rng, all);
        lay_out_rows(groups, all);
        return all;
    }
    for (int64_t i = 0; i < groups->count; i++) {
        all[i].rows = draw_side(&rng, groups->rows, groups->multiple);
        all[i].cols = draw_side(&rng, groups->cols, groups->multiple);
    }
    lay_out_list(all, groups->count, bytes);
    return all;
}
