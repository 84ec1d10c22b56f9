/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates that lie close together, in boxes: what is known of the distance of a box is known of
 * all that is in it, so a lookup opens few boxes and leaves the others shut. */
#ifndef AT_LOOKUP_BOXES_H
#define AT_LOOKUP_BOXES_H

#include "lookup/distance.h"

#include <stddef.h>

/* A box without halves has no more candidates: the bound of a box takes as long as that of one. */
enum { AT_BOX_CANDIDATES_MAX = 8 };

/* It has two boxes in it, which have half of its candidates each, or else the candidates. */
struct at_box {
    struct at_extent extent;
    size_t halves[2];    /* 0: there are none */
    size_t first, count; /* of the members */
};

struct at_boxes {
    struct at_box *items;
    size_t count, capacity;
    size_t *members; /* numbers of candidates, those of a box one after the other */
    size_t member_count, member_capacity;
};

/* Puts candidates, of which there must be any, into a box; returns its number. They are numbers of
 * `traits`. */
size_t at_boxes_add(struct at_boxes *boxes, const struct at_traits *traits,
                    const size_t *candidates, size_t count);

void at_boxes_clear(struct at_boxes *boxes);

#endif
