/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates that lie close together, in boxes: what is known of the distance of a box is known of
 * all that is in it, so a lookup opens few boxes and leaves the others shut. */
#ifndef AT_PROFILE_BOXES_H
#define AT_PROFILE_BOXES_H

#include "profile/distance.h"

#include <stddef.h>
#include <stdint.h>

/* What is looked at of every candidate, close together. */
struct at_spot {
    struct at_traits traits; /* of the candidate */
    uint64_t identity;       /* of its problem: equal for equal ones, and seldom for others */
    uint64_t place;
};

/* Where candidates of one place and one size of an element lie. */
struct at_box {
    struct at_extent extent;
    size_t first, count; /* of the members */
};

struct at_boxes {
    struct at_box *items;
    size_t count, capacity;
    size_t *members; /* numbers of candidates, those of one box after those of another */
    size_t member_count, member_capacity;
};

/* Puts the candidates from number `first` on, `count` of them, into boxes of their own. Candidates
 * come in the order of their numbers. */
void at_boxes_add(struct at_boxes *boxes, const struct at_spot *spots, size_t first, size_t count);

void at_boxes_clear(struct at_boxes *boxes);

#endif
