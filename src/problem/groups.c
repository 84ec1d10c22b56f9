/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: sizes and layouts. */
#include "problem/groups.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

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

/* Put the matrices into any order. */
static void shuffle(struct at_group *all, int64_t count, struct at_rng *rng)
{
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t other = (int64_t)at_rng_below(rng, (uint64_t)i + 1);
        struct at_group own = all[i];

        all[i] = all[other];
        all[other] = own;
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
    shuffle(all, groups->count, rng);
    for (int64_t i = 0; i < groups->count; i++)
        all[i].rows *= groups->multiple;
}

/* Draw the sides of a part's matrices. Returns where the next part's are. */
static struct at_group *draw_part(const struct at_groups *groups, const struct at_group_part *part,
                                  struct at_rng *rng, struct at_group *to)
{
    for (int64_t i = 0; i < part->count; i++, to++) {
        to->rows = draw_side(rng, part->rows, groups->multiple);
        to->cols = draw_side(rng, part->cols, groups->multiple);
        to->parts = groups->batch[1] > 1 ? draw_side(rng, groups->batch, 1) : 1;
        to->cols *= to->parts;
    }
    return to;
}

const struct at_group_part *at_groups_parts(const struct at_groups *groups,
                                            struct at_group_part *whole, int64_t *count)
{
    *whole = (struct at_group_part){
        groups->count, {groups->rows[0], groups->rows[1]}, {groups->cols[0], groups->cols[1]}};
    *count = at_max(1, groups->part_count);
    return groups->part_count > 0 ? groups->parts : whole;
}

static void draw_list(const struct at_groups *groups, struct at_rng *rng, struct at_group *all)
{
    struct at_group_part whole;
    int64_t count;
    const struct at_group_part *parts = at_groups_parts(groups, &whole, &count);
    struct at_group *to = all;

    for (int64_t i = 0; i < count; i++)
        to = draw_part(groups, &parts[i], rng, to);
    if (count > 1)
        shuffle(all, groups->count, rng);
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

static int by_ranges(const void *a, const void *b)
{
    const struct at_group_part *left = a, *right = b;
    const int64_t pairs[][2] = {{left->rows[0], right->rows[0]},
                                {left->rows[1], right->rows[1]},
                                {left->cols[0], right->cols[0]},
                                {left->cols[1], right->cols[1]}};

    return at_integers_compare(pairs, AT_COUNT(pairs));
}

void at_group_range_widen(int64_t range[2], const int64_t by[2])
{
    range[0] = at_min(range[0], by[0]);
    range[1] = at_max(range[1], by[1]);
}

void at_groups_take_parts(struct at_groups *groups, const struct at_group_part *parts, size_t count)
{
    struct at_group_part *own = groups->parts;
    size_t kept = 0;

    memset(own, 0, sizeof groups->parts);
    memcpy(own, parts, count * sizeof *own);
    qsort(own, count, sizeof *own, by_ranges);
    memcpy(groups->rows, own->rows, sizeof own->rows);
    memcpy(groups->cols, own->cols, sizeof own->cols);
    groups->count = 0;
    for (size_t i = 0; i < count; i++) {
        groups->count += own[i].count;
        at_group_range_widen(groups->rows, own[i].rows);
        at_group_range_widen(groups->cols, own[i].cols);
        if (kept > 0 && by_ranges(&own[kept - 1], &own[i]) == 0)
            own[kept - 1].count += own[i].count;
        else
            own[kept++] = own[i];
    }
    if (kept == 1)
        kept = 0;
    memset(own + kept, 0, (AT_GROUP_PARTS - kept) * sizeof *own);
    groups->part_count = (int64_t)kept;
}

static void lay_out_rows(const struct at_groups *groups, struct at_group *all)
{
    int64_t rows = 0, padded = 0, most;

    for (int64_t i = 0; i < groups->count; i++)
        all[i].padded_rows = round_up(all[i].rows, groups->padding);
    most = at_groups_most_rows(groups, all);
    for (int64_t i = 0; i < groups->count; i++) {
        all[i].cols = all[i].ld_src = groups->cols[0];
        all[i].parts = 1;
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
    draw_list(groups, &rng, all);
    lay_out_list(all, groups->count, bytes);
    return all;
}
