/* SPDX-License-Identifier: Apache-2.0 */
/* How a packed launch cuts a tensor into tiles: which axes make either edge, and how much of each.
 *
 * A tile has an edge in the source and one in the destination. Each edge owns the axes that are
 * fastest on its side, as many as its length allows. An edge may also list axes of the other's,
 * where words are adjacent across them: pixels of three channels have the channels on both edges.
 */
#ifndef AT_PROBLEM_PACKING_H
#define AT_PROBLEM_PACKING_H

#include "device/launch.h"
#include "problem/problem.h"
#include "problem/tensor.h"

/* An axis that is cut into chunks. A tile has one chunk. */
struct at_piece {
    struct at_axis axis;   /* in words */
    int64_t chunk;         /* 1 if no edge lists the axis */
    bool listed[AT_SIDES]; /* on the edge of a side; both of them may list it */
    enum at_side owner;    /* the edge that it makes longer */
};

struct at_packing {
    struct at_piece pieces[AT_AXES_MAX]; /* by their strides in the source */
    size_t by_destination[AT_AXES_MAX], count;
};

struct at_packing at_packing_of(const struct at_problem *problem, const struct at_launch *launch);

/* Return the number of chunks of an axis. */
int64_t at_piece_chunks(const struct at_piece *piece);

/* Return the number of tiles; INT64_MAX if there are more. */
int64_t at_packing_tiles(const struct at_packing *packing);

#endif
