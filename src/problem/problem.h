/* SPDX-License-Identifier: Apache-2.0 */
/* A problem: the matrix, the batch of matrices, or the tensor to be transposed.
 *
 * Row-major src[b*stride_src + r*ld_src + c] becomes dst[b*stride_dst + c*ld_dst + r], for b below
 * batch, r below rows, c below cols. Written ROWSxCOLS:TYPE[,key=value...], for instance
 * 8192x8192:f32 or 10007x10009:f16,ld_src=10016.
 *
 * A permutation of a tensor is written like 8x32x2048x128:f16,perm=0213: row-major extents, as
 * NumPy and PyTorch have them; axis i of the result is axis perm[i] of the source. It becomes a
 * problem in canonical form: axes of extent 1 are dropped and axes merged that stay neighbours. The
 * axis whose elements are adjacent in the source is the columns of a matrix, and the one whose
 * elements are adjacent in the destination its rows. Each of the others is an axis of the batch. If
 * one axis is both, it is a run, the only row of a matrix: 1xN is a copy. If elements are adjacent
 * on one side at most, all axes are the batch's, of matrices 1x1. Elements that are no word of 1,
 * 2, 4, 8 or 16 bytes are words along one more axis: b12 is 3 x b4.
 *
 * Matrices and batches become canonical too. They keep their name: 480000x1:f32,batch=3 has the
 * members of 1x1440000:f32.
 *
 * An offset is the number of elements from an address that is aligned for every access to the first
 * element of the source or destination. It is 0 by default: buffers are aligned.
 *
 * In place, dst is src: a matrix is overwritten by its transpose, a dense tensor by its
 * permutation.
 *
 * A problem with a step computes on the way (problem/step.h): its destination may have elements of
 * another type, as in 8192x8192:bf16:e4m3,scale. Lengths and offsets of the destination count
 * these.
 *
 * Many matrices in one launch are a problem, too (problem/groups.h). For rules and lookup it is a
 * batch: of the mean size, with the alignment that all have. */
#ifndef AT_PROBLEM_PROBLEM_H
#define AT_PROBLEM_PROBLEM_H

#include "base/error.h"
#include "problem/groups.h"
#include "problem/step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest specification: a tensor of 24 axes with all strides, or a list of as many ranges as
 * there can be; and a NUL. */
enum { AT_PROBLEM_CHARS = 1024 };

/* The rank of a tensor that is read; one more axis has the words of an element. */
enum { AT_RANK_MAX = 24, AT_OUTER_MAX = AT_RANK_MAX };

/* From one index to the next along an axis, in elements. */
struct at_axis {
    int64_t extent, stride_src, stride_dst;
};

/* The sizes and strides of a specification. */
struct at_matrix {
    int64_t rows, cols, ld_src, ld_dst, batch, stride_src, stride_dst;
};

struct at_problem {
    char type[8];      /* as given: "f32", "b4" */
    int64_t elem_size; /* bytes, of the source: 1, 2, 4, 8 or 16 */
    int64_t rows, cols;
    int64_t ld_src, ld_dst; /* leading dimensions, in elements */
    int64_t batch;
    int64_t stride_src, stride_dst; /* from one matrix to the next, in elements */
    int64_t offset_src, offset_dst; /* of the first element from an aligned address, in elements */
    int64_t in_place;               /* 1 or 0 */
    /* 1: strides of the source may be 0 or less, and its elements overlap. Those of the destination
     * are at least 1. Elements are read, so that is harmless, but not every family takes it. */
    int64_t is_view;
    /* From the first element of the tensor that was given to that of the problem, in bytes: axes
     * whose strides in the destination were negative are reversed. */
    int64_t begin_src, begin_dst;
    /* Further axes of the batch, by their strides in the destination: `batch`, with stride_src and
     * stride_dst, is the fastest. */
    int64_t outer_count;
    struct at_axis outer[AT_OUTER_MAX];
    struct at_step step;
    struct at_groups groups;
    struct at_matrix given; /* of which it is the canonical form; rows is 0 if that is the same */
};

enum at_side { AT_SOURCE, AT_DESTINATION, AT_SIDES };

/* The bytes of an element on a side. */
int64_t at_problem_elem_size(const struct at_problem *problem, enum at_side side);

/* Which side's elements cross a kernel, from its loads to its stores: the destination's, unless a
 * result needs its place. */
static inline enum at_side at_problem_moved_side(const struct at_problem *problem)
{
    return at_step_needs_place(&problem->step) ? AT_SOURCE : AT_DESTINATION;
}

/* The properties for which a kernel is compiled, besides its config: problems of one kind share
 * kernels. */
struct at_problem_kind {
    int64_t elem_size, axes; /* bytes; axes of the batch, at least 1 */
    int64_t rows;            /* matter to a family with tall_rows only */
    struct at_step step;
    enum at_groups_kind groups;
};

struct at_problem_kind at_problem_kind(const struct at_problem *problem);

/* Complete a problem of many matrices: its elem_size, step and groups are given. AT_USAGE, with
 * `spec` in the message, for what groups do not have. */
enum at_status at_problem_of_groups(struct at_problem *problem, const char *spec,
                                    struct at_error *err);

/* Set the leading dimensions of the matrix that stands for all of a group to multiples of a power
 * of two, and of no more. */
void at_problem_align_groups(struct at_problem *problem, int64_t alignment);

/* The bytes of the smallest element of a problem, on any side. */
int64_t at_problem_least_bytes(const struct at_problem *problem);

/* May results that are side by side in the destination have unlike channels? */
bool at_problem_mixes_channels(const struct at_problem *problem);

/* Read a specification. A second type, and the name of an operation, make a step: AT_USAGE if it is
 * not possible, or in place. Defaults are dense: ld_src = cols, ld_dst = rows, batch = 1, strides
 * of one whole matrix (always, with batch = 1), no offsets. In place, the destination's layout is
 * the source's. AT_USAGE for an unknown type or key, a size below 1, an offset above 255 elements,
 * a leading dimension shorter than a row, overlapping matrices, or bytes that do not fit 62 bits.
 * Also, in place, for a matrix that is neither square nor dense, or two different layouts. */
enum at_status at_problem_parse(struct at_problem *problem, const char *spec, struct at_error *err);

/* Write the sizes of a file in place of its name, as in group=@sizes.txt:f16. A line of it is
 * ROWSxCOLS or COUNTxROWSxCOLS; what follows '#' is a comment. More than AT_GROUP_PARTS sizes
 * become as many ranges. A power of two that divides all sides becomes `multiple`, unless that is
 * given. Another specification is copied. The caller frees *whole. AT_USAGE: the file is missing,
 * or a line is no size. */
enum at_status at_problem_read_sizes(char **whole, const char *spec, struct at_error *err);

/* All keys of specifications. */
enum { AT_PROBLEM_KEYS = 11 };
extern const char *const at_problem_keys[AT_PROBLEM_KEYS];

/* Does a text look like a specification, right or wrong, rather than like the name of a file?
 * Numbers with 'x' between them and a colon are its beginning. */
bool at_problem_is_spec(const char *text);

/* Complete a problem whose elem_size, rows, cols, in_place and step are given. Other members that
 * are 0 take their defaults; the type is the step's or named after the size, such as "b4". Errors
 * are those of at_problem_parse; the problem is then unchanged. */
enum at_status at_problem_complete(struct at_problem *problem, struct at_error *err);

/* The elements of a tensor: 1 to 64 bytes of the source each, what is computed, and the offsets of
 * the first element on both sides. */
struct at_elements {
    int64_t bytes, offsets[2];
    struct at_step step;
    bool any_strides; /* all strides count, and may be 0 or less, where elements do not collide */
};

/* A tensor and its permutation, as NumPy and PyTorch have them: the first axis is the slowest. Axis
 * i of the result is axis perm[i] of the source. Strides are of the source's axes, and of the
 * result's, in elements; unless all of them count, 0 as the first makes them dense. */
struct at_tensor {
    size_t rank;
    int64_t extents[AT_RANK_MAX], perm[AT_RANK_MAX], strides[2][AT_RANK_MAX];
    struct at_elements elements;
};

/* Make a problem in canonical form. Errors are those of at_problem_of_axes; also for a rank that is
 * not 1 to 24, and a permutation that is none. */
enum at_status at_problem_of_tensor(struct at_problem *problem, const struct at_tensor *tensor,
                                    const char *spec, struct at_error *err);

/* The same from the axes of a tensor, in any order. Errors are those of at_problem_parse, with
 * `spec` in the message; also for strides below 1, unless any strides will do. Then elements of the
 * source may overlap, too: AT_USAGE if the step has channels or a result that lies like the source.
 */
enum at_status at_problem_of_axes(struct at_problem *problem, const struct at_axis *axes,
                                  size_t count, const struct at_elements *elements,
                                  const char *spec, struct at_error *err);

/* Make a tensor one in place. If one transpose does it, it is a matrix or a batch. AT_USAGE, with
 * `spec` in the message, for a step, gaps, and two different offsets. */
enum at_status at_problem_put_in_place(struct at_problem *problem, const char *spec,
                                       struct at_error *err);

/* Make a matrix or a batch canonical. Its layout has been checked. */
void at_problem_reduce(struct at_problem *problem);

/* Return the problem with the sizes and strides that it was given. */
struct at_problem at_problem_as_given(const struct at_problem *problem);

/* All axes of a problem: columns, rows, and the batch's. Returns their number. */
enum { AT_AXES_MAX = 2 + 1 + AT_OUTER_MAX };

size_t at_problem_axes(const struct at_problem *problem, struct at_axis axes[AT_AXES_MAX]);

/* The matrices of the batch, over all of its axes. */
int64_t at_problem_matrices(const struct at_problem *problem);

/* Is it more than a plain batch: has it several axes, or matrices that lie inside each other? */
bool at_problem_is_tensor(const struct at_problem *problem);

/* Does a second transpose restore the first one's source? True for squares and batches of them. */
bool at_problem_is_own_inverse(const struct at_problem *problem);

/* The widest word, in bytes, that divides every stride, offset, and run that is adjacent on both
 * sides: at most 16. It is the element's size if no axis is adjacent on both. */
int64_t at_problem_word_bytes(const struct at_problem *problem);

/* A matrix of runs: a tensor whose fastest axis stays, if on either side another axis follows
 * without a gap. Its rows are the runs that are adjacent in the destination's order of columns, as
 * for a matrix of elements. Strides are in elements. All are 0 for other problems. */
struct at_runs {
    int64_t rows, cols, ld_src, ld_dst;
    int64_t stride_src, stride_dst; /* powers of two that divide those of the other axes; 0: none */
};

struct at_runs at_problem_runs(const struct at_problem *problem);

/* The shortest specification that reads back as the same problem, as it was given; the caller frees
 * it. */
char *at_problem_format(const struct at_problem *problem);

/* The number of elements from the first to the last one accessed, both included. */
int64_t at_problem_src_extent(const struct at_problem *problem);

int64_t at_problem_dst_extent(const struct at_problem *problem);

/* The elements of all matrices. */
int64_t at_problem_elements(const struct at_problem *problem);

/* The bytes to be moved: each element is read once, as is one of a second source, and its result is
 * written once. */
int64_t at_problem_bytes(const struct at_problem *problem);

/* Return the bytes of `count` adjacent elements of a side, or of second results; 0 without these.
 */
int64_t at_problem_side_bytes(const struct at_problem *problem, enum at_side side, int64_t count);
int64_t at_problem_kept_bytes(const struct at_problem *problem, int64_t count);

/* The scales of a result, which are a matrix for each of the batch's, one after the other. `bytes`
 * are of one scale, and `places` of one matrix, with padding. Strides are in scales, and 0 for a
 * layout without them. */
struct at_scales {
    int64_t rows, cols, row_stride, col_stride, bytes, places;
};

/* Those of a problem with blocks, of the second result for AT_SOURCE. All are 0 if there is no such
 * result. */
struct at_scales at_problem_scales(const struct at_problem *problem, enum at_side side);

/* Their bytes, of all matrices. */
int64_t at_problem_scale_bytes(const struct at_problem *problem, enum at_side side);

/* The bytes of a step's sums: of each matrix a float for each column of the source, matrix after
 * matrix. 0: it has none. */
int64_t at_problem_sum_bytes(const struct at_problem *problem);

/* Are they the same work? Types of the same size are equal, "f32" and "b4", and so are problems
 * with one canonical form, 5x1 and 1x5. */
bool at_problem_equal(const struct at_problem *a, const struct at_problem *b);

/* Find where the channels of a step lie, if they are along one of these axes. AT_USAGE, with `spec`
 * in the message, if a result's place does not tell its channel. */
enum at_status at_channels_place(struct at_channels *channels, const struct at_axis *axes,
                                 size_t count, size_t axis, const char *spec, struct at_error *err);

/* The dense vector 1xN with as many elements and the same step. Its transpose is a copy of the same
 * bytes: the copy limit is measured on it. */
struct at_problem at_problem_copy_of(const struct at_problem *problem);

static inline int64_t at_axis_stride(const struct at_axis *axis, enum at_side side)
{
    return side == AT_SOURCE ? axis->stride_src : axis->stride_dst;
}

/* Sort by the lengths of one side's strides, the shortest first; equal ones by the other side. */
void at_axes_sort(struct at_axis *axes, size_t count, enum at_side side);

/* Drop axes of extent 1, merge neighbours on both sides, and sort by the source. Returns the number
 * of axes that are left. */
size_t at_axes_merge(struct at_axis *axes, size_t count);

/* Do two elements have one place on this side? With a distance other than 0: one of these and one
 * of a copy with the same strides, whose first element is that far behind? Exact where strides
 * nest; else a search of bounded length, well below 1 ms, decides. */
enum at_overlap { AT_APART, AT_OVERLAP, AT_UNDECIDED };

enum at_overlap at_axes_overlap(const struct at_axis *axes, size_t count, enum at_side side,
                                int64_t distance);

/* Bounds of the distance from the problem's first element in the source to that in the destination,
 * in bytes: unless it is above near[0] and below near[1], the sides are apart. */
void at_problem_near(const struct at_problem *problem, int64_t near[2]);

/* Have the sides a byte in common if the first element of the destination is that far behind the
 * source's? A search of bounded length, as above. */
enum at_overlap at_problem_sides_overlap(const struct at_problem *problem, int64_t distance);

/* The number of elements from the lowest to the highest one accessed, both included. False if it
 * does not fit 62 bits. */
bool at_axes_extent(const struct at_axis *axes, size_t count, enum at_side side, int64_t *extent);

#endif
