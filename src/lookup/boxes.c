/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/boxes.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What members are sorted by. */
struct order {
    const struct at_traits *traits;
    enum at_coordinate by;
};

static int compare(const void *left, const void *right, void *data)
{
    const struct order *order = data;
    size_t p = *(const size_t *)left, q = *(const size_t *)right;
    float a = order->traits[p].at.high[order->by];
    float b = order->traits[q].at.high[order->by];

    return a != b ? (a > b) - (a < b) : (p > q) - (p < q);
}

static struct at_extent extent_of(const struct at_traits *traits, const size_t *members,
                                  size_t count)
{
    struct at_extent extent = traits[members[0]].at;

    for (size_t i = 1; i < count; i++) {
        const struct at_extent *one = &traits[members[i]].at;

        for (int at = 0; at < AT_COORDINATES; at++) {
            extent.low[at] = fminf(extent.low[at], one->low[at]);
            extent.high[at] = fmaxf(extent.high[at], one->high[at]);
        }
    }
    return extent;
}

/* By which coordinate they lie the farthest apart, as a whole: a single one that is far from the
 * others is no reason to part these. */
static enum at_coordinate widest(const struct at_traits *traits, const size_t *members,
                                 size_t count)
{
    enum at_coordinate widest = 0;
    double most = -1;

    for (int at = 0; at < AT_COORDINATES; at++) {
        double sum = 0, squares = 0;

        for (size_t i = 0; i < count; i++) {
            double value = (double)traits[members[i]].at.high[at];

            sum += value;
            squares += value * value;
        }
        if (squares - sum * sum / (double)count > most) {
            most = squares - sum * sum / (double)count;
            widest = (enum at_coordinate)at;
        }
    }
    return widest;
}

/* Halves the members where they lie farthest apart, until there are few. Returns the box's number.
 */
static size_t make_box(struct at_boxes *boxes, const struct at_traits *traits, size_t first,
                       size_t count)
{
    size_t *members = boxes->members + first, number = boxes->count, halves[2];
    struct at_box box = {
        .extent = extent_of(traits, members, count), .first = first, .count = count};
    struct order order = {traits, widest(traits, members, count)};

    AT_PUSH(boxes->items, boxes->count, boxes->capacity, box);
    if (count <= AT_BOX_CANDIDATES_MAX)
        return number;
    qsort_r(members, count, sizeof *members, compare, &order);
    halves[0] = make_box(boxes, traits, first, count / 2);
    halves[1] = make_box(boxes, traits, first + count / 2, count - count / 2);
    memcpy(boxes->items[number].halves, halves, sizeof halves);
    return number;
}

size_t at_boxes_add(struct at_boxes *boxes, const struct at_traits *traits,
                    const size_t *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++)
        AT_PUSH(boxes->members, boxes->member_count, boxes->member_capacity, candidates[i]);
    return make_box(boxes, traits, boxes->member_count - count, count);
}

void at_boxes_clear(struct at_boxes *boxes)
{
    at_free(boxes->items);
    at_free(boxes->members);
    *boxes = (struct at_boxes){0};
}
