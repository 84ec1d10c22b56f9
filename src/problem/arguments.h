/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a kernel, which depend on the problem and on how its family takes tensors. */
#ifndef AT_PROBLEM_ARGUMENTS_H
#define AT_PROBLEM_ARGUMENTS_H

#include "device/launch.h"
#include "problem/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order in which the places of several axes are visited; the first axis changes fastest:
 *   destination  as their strides in the destination: writes are nearly sequential, reads jump;
 *   source       the other way round;
 *   alternating  the fastest axis of the destination, the fastest other one of the source, and so
 *                on. Concurrent visits are close together on both sides: rows of DRAM that are open
 *                serve several visits, and sectors that two of them share are still in L2. */
enum at_outer_order { AT_OUTER_DESTINATION, AT_OUTER_SOURCE, AT_OUTER_ALTERNATING };

void at_axes_order(struct at_axis *axes, size_t count, enum at_outer_order order);

/* What a launch gives to the step of its problem, as templates/step.cuh has it. */
struct at_step_number {
    uint64_t at;     /* the device address of a number, of the type that is computed in; or 0: */
    double value[2]; /* the number, with the imaginary part of a complex one */
};

struct at_step_numbers {
    struct at_step_number number; /* of scale, divide and alpha */
    struct at_step_number beta;
    uint64_t second; /* the second source, laid out as the destination, which it may be */
    /* The device addresses of a number for each channel, of the type that is computed in. 0: they
     * change nothing. */
    uint64_t channel_scale, channel_shift;
    uint64_t kept;    /* the second result, laid out as the source */
    uint64_t largest; /* gets the largest magnitude, an f32 */
    uint64_t skip;    /* the address of an int, or 0: if it is not 0, nothing is written */
    uint64_t scratch; /* at_problem_scratch_bytes; of a step they are 0 before a launch, and again
                       * after it */
    uint64_t scales, kept_scales; /* of a step with blocks: get the scales of both results */
    uint64_t sums;                /* gets at_problem_sum_bytes of floats */
    /* Last, and only in the argument for many matrices with channels: from the numbers of one to
     * those of the next. */
    int64_t channel_stride;
};

/* The scratch memory that a launch needs for the largest magnitude, and for the sums of its tiles
 * (templates/sums.cuh); or for launches in place. No legal config needs more than the most for its
 * problem: what tiles of 8x32 take, or the twentieth part of a matrix in place, or 64 MiB. */
enum { AT_STEP_SCRATCH_BYTES = 8 };

int64_t at_problem_scratch_bytes(const struct at_problem *problem, const struct at_launch *launch);
int64_t at_problem_scratch_most(const struct at_problem *problem);

/* The arguments of every template's entry point (HACKING.md), as struct at_call has them: words,
 * and how many of them each argument takes. Returns the number of arguments. In place, src is dst.
 *
 * With one axis of the batch, each is one word. With more, batch, stride_src and stride_dst are
 * structs (templates/tiles.cuh: batch_extents, batch_strides), and AT_OUTER_ORDER of the launch
 * says which axis changes from one matrix to the next (enum at_outer_order).
 *
 * A step that takes numbers, or has more outputs, has one more argument, the struct `numbers`. NULL
 * stands for ones, and for the destination as the second source. Before it, a step with channels
 * has another, which says where they are.
 *
 * With AT_LAUNCHES there is one more argument, for the launch AT_PASS: a struct of numbers->scratch
 * and its number (templates/words.cuh: pass_of_many).
 *
 * If the launch has sides, the family is packed: it takes dst, src, and the struct `packing` of
 * templates/packed.cu, for a tile of those sides. */
size_t at_problem_args(const struct at_problem *problem, const struct at_launch *launch,
                       uint64_t dst, uint64_t src, const struct at_step_numbers *numbers,
                       uint64_t word[AT_CALL_WORDS], uint8_t words[AT_CALL_ARGS]);

/* The tiles of a packed launch. 0 if 32 bits are not enough for the words from a tile's first to
 * its last on either side, or if the words cannot be moved in the launch's vectors; more than
 * INT32_MAX if there are more. */
int64_t at_problem_packed_tiles(const struct at_problem *problem, const struct at_launch *launch);

/* Set runs[0] to the bytes that are adjacent in a row of a packed tile in the source, and runs[1]
 * in the destination. */
void at_problem_packed_runs(const struct at_problem *problem, const struct at_launch *launch,
                            int64_t runs[2]);

/* The same for groups: the template's struct, of `bytes`, and the numbers of a step that takes any.
 * A list has no dst and src of its own. */
size_t at_group_args(const struct at_problem *problem, uint64_t dst, uint64_t src,
                     const void *groups, size_t bytes, const struct at_step_numbers *numbers,
                     uint64_t word[AT_CALL_WORDS], uint8_t words[AT_CALL_ARGS]);

#endif
