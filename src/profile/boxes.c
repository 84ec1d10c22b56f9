/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/boxes.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* What members are sorted by. */
struct order {
    const struct at_spot *spots;
    enum at_coordinate by;
};

static int compare(const void *left, const void *right, void *data)
{
    const struct order *order = data;
    size_t p = *(const size_t *)left, q = *(const size_t *)right;
    double a = order->spots[p].traits.at[order->by], b = order->spots[q].traits.at[order->by];

    return a != b ? (a > b) - (a < b) : (p > q) - (p < q);
}

static struct at_extent extent_of(const struct at_spot *spots, const size_t *members, size_t count)
{
    struct at_extent extent;

    for (int at = 0; at < AT_COORDINATES; at++)
        extent.low[at] = extent.high[at] = spots[members[0]].traits.at[at];
    for (size_t i = 1; i < count; i++)
        for (int at = 0; at < AT_COORDINATES; at++) {
            double value = spots[members[i]].traits.at[at];

            if (value < extent.low[at])
                extent.low[at] = value;
            if (value > extent.high[at])
                extent.high[at] = value;
        }
    return extent;
}

/* Halves the members where they lie farthest apart, until there are few. Returns the box's number.
 */
static size_t make_box(struct at_boxes *boxes, const struct at_spot *spots, size_t first,
                       size_t count)
{
    size_t *members = boxes->members + first, number = boxes->count, halves[2];
    struct at_box box = {
        .extent = extent_of(spots, members, count), .first = first, .count = count};
    struct order order = {spots, at_distance_widest(&box.extent)};

    AT_PUSH(boxes->items, boxes->count, boxes->capacity, box);
    if (count <= AT_BOX_CANDIDATES_MAX)
        return number;
    qsort_r(members, count, sizeof *members, compare, &order);
    halves[0] = make_box(boxes, spots, first, count / 2);
    halves[1] = make_box(boxes, spots, first + count / 2, count - count / 2);
    memcpy(boxes->items[number].halves, halves, sizeof halves);
    return number;
}

size_t at_boxes_add(struct at_boxes *boxes, const struct at_spot *spots, const size_t *candidates,
                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        AT_PUSH(boxes->members, boxes->member_count, boxes->member_capacity, candidates[i]);
    return make_box(boxes, spots, boxes->member_count - count, count);
}

void at_boxes_clear(struct at_boxes *boxes)
{
    free(boxes->items);
    free(boxes->members);
    *boxes = (struct at_boxes){0};
}
