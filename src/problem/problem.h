/* SPDX-License-Identifier: Apache-2.0 */
/* A problem: which matrix, or batch of matrices, is to be transposed.
 *
 * Row-major src[b*stride_src + r*ld_src + c] becomes dst[b*stride_dst + c*ld_dst + r], for b below
 * batch, r below rows, c below cols. Written ROWSxCOLS:TYPE[,key=value...], for instance
 * 8192x8192:f32 or 10007x10009:f16,ld_src=10016.
 *
 * The first element of either side stands so many elements behind an address that suits any access:
 * by themselves none, so that only an offset says that a matrix begins anywhere.
 *
 * In place, dst is src: square matrices, each overwritten by its transpose, and nothing between. */
#ifndef AT_PROBLEM_PROBLEM_H
#define AT_PROBLEM_PROBLEM_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct at_problem {
    char type[8];      /* as it was written: "f32", "b4" */
    int64_t elem_size; /* bytes: 1, 2, 4, 8 or 16 */
    int64_t rows, cols;
    int64_t ld_src, ld_dst; /* leading dimensions, in elements */
    int64_t batch;
    int64_t stride_src, stride_dst; /* from one matrix to the next, in elements */
    int64_t offset_src, offset_dst; /* of the first element from an aligned address, in elements */
    int64_t in_place;               /* 1 or 0 */
};

/* Reads a specification. What is not given takes its dense default: ld_src = cols, ld_dst = rows,
 * batch = 1, strides = one whole matrix; with batch = 1 the strides are always so; no offsets; in
 * place, the destination's layout is the source's. AT_USAGE for an unknown type or key, a size
 * below 1, an offset of a kilobyte or more, a leading dimension below the row, a stride below one
 * matrix, bytes that do not fit 62 bits, or in place a matrix that is not square or two layouts. */
enum at_status at_problem_parse(struct at_problem *problem, const char *spec, struct at_error *err);

/* The same of numbers: elem_size, rows, cols and in_place are given, and what else is 0 takes its
 * default, the type the name "b4" of its size. */
enum at_status at_problem_complete(struct at_problem *problem, struct at_error *err);

/* The shortest specification that reads back as the same problem; the caller frees it. */
char *at_problem_format(const struct at_problem *problem);

/* Elements from the first to the last one touched, plus one. */
int64_t at_problem_src_extent(const struct at_problem *problem);
int64_t at_problem_dst_extent(const struct at_problem *problem);

/* Bytes that must move: each element read once and written once. */
int64_t at_problem_bytes(const struct at_problem *problem);

/* Are they the same work? The type's name does not matter, its size does: "f32" and "b4" are. */
bool at_problem_equal(const struct at_problem *a, const struct at_problem *b);

/* The dense vector 1xN of as many elements: its transpose is a copy of the same bytes, which is
 * what the copy limit is measured on. */
struct at_problem at_problem_copy_of(const struct at_problem *problem);

/* The arguments of every template's entry point, each in a word (HACKING.md): in place, src is dst.
 */
enum { AT_PROBLEM_ARGS = 9 };
void at_problem_args(const struct at_problem *problem, uint64_t dst, uint64_t src,
                     uint64_t args[AT_PROBLEM_ARGS]);

#endif
