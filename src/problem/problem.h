/* SPDX-License-Identifier: Apache-2.0 */
/* A problem: the matrix, or the batch of matrices, to be transposed.
 *
 * Row-major src[b*stride_src + r*ld_src + c] becomes dst[b*stride_dst + c*ld_dst + r], for b below
 * batch, r below rows, c below cols. Written ROWSxCOLS:TYPE[,key=value...], for instance
 * 8192x8192:f32 or 10007x10009:f16,ld_src=10016.
 *
 * An offset is the number of elements from an address that is aligned for every access to the first
 * element of the source or destination. It is 0 by default: buffers are aligned.
 *
 * In place, dst is src: square matrices, each overwritten by its transpose. */
#ifndef AT_PROBLEM_PROBLEM_H
#define AT_PROBLEM_PROBLEM_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct at_problem {
    char type[8];      /* as given: "f32", "b4" */
    int64_t elem_size; /* bytes: 1, 2, 4, 8 or 16 */
    int64_t rows, cols;
    int64_t ld_src, ld_dst; /* leading dimensions, in elements */
    int64_t batch;
    int64_t stride_src, stride_dst; /* from one matrix to the next, in elements */
    int64_t offset_src, offset_dst; /* of the first element from an aligned address, in elements */
    int64_t in_place;               /* 1 or 0 */
};

/* Read a specification. Defaults are dense: ld_src = cols, ld_dst = rows, batch = 1, strides of one
 * whole matrix (always, with batch = 1), no offsets. In place, the destination's layout is the
 * source's. AT_USAGE for an unknown type or key, a size below 1, an offset above 255 elements, a
 * leading dimension shorter than a row, overlapping matrices, or bytes that do not fit 62 bits.
 * Also, in place, for a matrix that is not square, or two different layouts. */
enum at_status at_problem_parse(struct at_problem *problem, const char *spec, struct at_error *err);

/* Complete a problem whose elem_size, rows, cols and in_place are given. Other members that are 0
 * take their defaults; the type is named after the size, such as "b4". Errors are those of
 * at_problem_parse; the problem is then unchanged. */
enum at_status at_problem_complete(struct at_problem *problem, struct at_error *err);

/* The shortest specification that reads back as the same problem; the caller frees it. */
char *at_problem_format(const struct at_problem *problem);

/* The number of elements from the first to the last one accessed, both included. */
int64_t at_problem_src_extent(const struct at_problem *problem);
int64_t at_problem_dst_extent(const struct at_problem *problem);

/* The bytes to be moved: each element is read once and written once. */
int64_t at_problem_bytes(const struct at_problem *problem);

/* Are they the same work? Types of the same size are equal: "f32" and "b4". */
bool at_problem_equal(const struct at_problem *a, const struct at_problem *b);

/* The dense vector 1xN with as many elements. Its transpose is a copy of the same bytes: the copy
 * limit is measured on it. */
struct at_problem at_problem_copy_of(const struct at_problem *problem);

/* The arguments of every template's entry point, one word each (HACKING.md). In place, src is dst.
 */
enum { AT_PROBLEM_ARGS = 9 };
void at_problem_args(const struct at_problem *problem, uint64_t dst, uint64_t src,
                     uint64_t args[AT_PROBLEM_ARGS]);

#endif
