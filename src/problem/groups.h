/* SPDX-License-Identifier: Apache-2.0 */
/* Many matrices in one launch. A problem names how many there are and how their sizes are
 * distributed; the sizes themselves are drawn from that, by a seed.
 *
 *     group=256,rows=16..512,cols=16..512:f16
 *         a list of 256 matrices, each with sides of its own from 16 to 512
 *     group=64,total=98304,cols=2880,law=zipf,pad=16:bf16
 *         98,304 rows of one matrix, in 64 groups that follow each other. Each group is transposed
 *         by itself: its results have 2880 rows, which are filled with 0 up to a multiple of 16
 *
 *     group=200x64x64+56x16..31x128,multiple=16:f16
 *         a list with several ranges of sizes: 200 matrices of 64x64, and 56 others
 *
 *     group=300,rows=4..24,cols=4..24,batch=64..256:f16
 *         a list of 300 batches, each with sides and a number of matrices of its own: tensors with
 *         short axes are such ones
 *
 * In a list, `multiple` divides all sides. Matrices are dense, and begin at multiples of 256 bytes.
 * Those of a batch are parts of one such matrix: each has as many of its columns.
 * Of groups of rows, it divides the rows of each. Their results follow each other, or with `stack`
 * each has the place of the largest one. */
#ifndef AT_PROBLEM_GROUPS_H
#define AT_PROBLEM_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How rows are divided among groups: equally, but for one row; like 1, 1/2, 1/3, ... in any order;
 * or equally among a tenth of the groups, while the others are empty. */
enum at_group_law { AT_LAW_EVEN, AT_LAW_ZIPF, AT_LAW_SPARSE, AT_LAWS };

extern const char *const at_group_law_names[AT_LAWS];

/* Which interface it is: the template's macro GROUPED. */
enum at_groups_kind { AT_NO_GROUPS, AT_GROUP_LIST, AT_RAGGED_GROUPS };

/* As many matrices of a list with sides in these ranges. */
struct at_group_part {
    int64_t count, rows[2], cols[2];
};
enum { AT_GROUP_PARTS = 16 };

struct at_groups {
    int64_t count;            /* 0: the problem is no group */
    int64_t rows[2], cols[2]; /* the least and the most of a matrix */
    int64_t batch[2];         /* matrices of an item of the list; 1 and 1 of groups of rows */
    /* Of a list with several ranges, sorted: the matrices of all are drawn, and shuffled. 0: one.
     */
    int64_t part_count;
    struct at_group_part parts[AT_GROUP_PARTS];
    int64_t total; /* rows of all groups; 0: the matrices are a list */
    int64_t multiple, padding, law, stacked, draw;
    /* What follows from these: the elements of all matrices, and from the first to the last one of
     * each side, padding and gaps included. */
    int64_t elements, extents[2];
};

/* One matrix of a group: dense, or as many columns wide as the matrix whose rows it has. A batch
 * has the columns of all its matrices, which are `parts`. `src` and `dst` are where it begins, in
 * elements of both sides. padded_rows of a result row have a value. */
struct at_group {
    int64_t rows, cols, ld_src, ld_dst, src, dst, padded_rows, parts;
};

static inline enum at_groups_kind at_groups_kind(const struct at_groups *groups)
{
    return groups->count == 0 ? AT_NO_GROUPS : groups->total > 0 ? AT_RAGGED_GROUPS : AT_GROUP_LIST;
}

/* Draw the sizes of groups->count matrices, and lay them out for elements whose smallest size on
 * any side is `bytes`. The caller frees them. */
struct at_group *at_groups_draw(const struct at_groups *groups, int64_t bytes);

/* Sort parts, merge those with the same ranges, and find the count and the range of them all. A
 * single part is none. There are at most AT_GROUP_PARTS. */
void at_groups_take_parts(struct at_groups *groups, const struct at_group_part *parts,
                          size_t count);

/* The ranges of sizes: the parts of a list; or all matrices as one part, in `whole`. *count is how
 * many. */
const struct at_group_part *at_groups_parts(const struct at_groups *groups,
                                            struct at_group_part *whole, int64_t *count);

/* Make a range include another one. */
void at_group_range_widen(int64_t range[2], const int64_t by[2]);

/* The rows that a result has place for: of a group if they are stacked, or of all. */
int64_t at_groups_most_rows(const struct at_groups *groups, const struct at_group *all);

#endif
