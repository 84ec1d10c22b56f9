/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/check.h"

#include "base/memory.h"
#include "measure/bench.h"
#include "problem/arguments.h"

#include <string.h>

/* What checks have in common: the element's size, where the result goes, the table of values, and
 * the period and the run of channels. */
enum { CHECKED_WORDS = 5 };

/* The destination of a matrix or a plain batch: the kernel's struct `matrices`, and what follows.
 */
static void put_matrices(struct at_call *call, const struct at_problem *p, const uint64_t *checked)
{
    const uint64_t words[] = {
        (uint64_t)p->rows,  (uint64_t)p->cols,       (uint64_t)p->ld_src,     (uint64_t)p->ld_dst,
        (uint64_t)p->batch, (uint64_t)p->stride_src, (uint64_t)p->stride_dst, (uint64_t)p->in_place,
    };

    memcpy(call->args + 2, words, sizeof words);
    memcpy(call->args + 2 + AT_COUNT(words), checked, CHECKED_WORDS * sizeof *checked);
    call->arg_words[2] = AT_COUNT(words);
}

const struct at_buffer *at_checked_buffer(const struct at_buffers *buffers, enum at_check_of what)
{
    return what == AT_OF_SOURCE   ? &buffers->src
           : what == AT_OF_SECOND ? &buffers->second
           : what == AT_OF_KEPT   ? &buffers->kept
                                  : &buffers->dst;
}

/* Which part of the table has the values of a check. */
static size_t checked_values(const struct at_step *step, enum at_check_of what)
{
    return what == AT_OF_DESTINATION ? at_values_lay_out(step).results
           : what == AT_OF_SECOND    ? at_values_lay_out(step).seconds
           : what == AT_OF_KEPT      ? at_values_lay_out(step).kept
                                     : 0;
}

int64_t at_checked_size(const struct at_problem *problem, enum at_check_of what)
{
    return what == AT_OF_KEPT
               ? at_step_kept_bytes(&problem->step)
               : at_problem_elem_size(problem, what == AT_OF_SOURCE || what == AT_OF_RESTORED
                                                   ? AT_SOURCE
                                                   : AT_DESTINATION);
}

/* Check that words have these bits: the first one, and 0 in the others. */
static enum at_outcome check_words(const struct at_bench *bench, at_address start, int64_t count,
                                   uint32_t first, at_address result, struct at_error *err)
{
    return at_harness_start(bench, AT_CHECK_WORDS, count,
                            (struct at_call){.args = {start, (uint64_t)count, first, result}}, err);
}

/* Check that the scratch memory was left as it was. */
static enum at_outcome check_scratch(const struct at_bench *bench, const struct at_buffers *buffers,
                                     at_address result, struct at_error *err)
{
    const struct at_scratch scratch = at_buffers_scratch(buffers);

    return check_words(bench, scratch.start, scratch.bytes / (int64_t)sizeof(uint32_t), 0, result,
                       err);
}

/* Check that the largest magnitude has these bits. */
static enum at_outcome check_largest(const struct at_bench *bench, const struct at_buffers *buffers,
                                     uint32_t largest, at_address result, struct at_error *err)
{
    return check_words(bench, buffers->values + at_values_lay_out(&buffers->problem.step).largest,
                       1, largest, result, err);
}

/* Check that outputs have nothing but poison: as the red zones of no element. */
static enum at_outcome check_nothing(const struct at_bench *bench, const struct at_buffers *buffers,
                                     int64_t set, at_address result, struct at_error *err)
{
    static const uint32_t poison = UINT32_C(0x01010101) * AT_POISON_BYTE;
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = AT_FIRST_OUTPUT; i < AT_BUFFER_SIDES && outcome == AT_CORRECT; i++) {
        const struct at_buffer *side = at_buffers_side(buffers, i);

        if (side->pitch)
            outcome = at_harness_start(
                bench, AT_CHECK_SOURCE, side->pitch,
                (struct at_call){
                    .args = {at_buffer_whole(side, set), (uint64_t)side->pitch / 2, 0, 1, result}},
                err);
    }
    if (outcome == AT_CORRECT && at_step_has(&buffers->problem.step, AT_AMAX))
        outcome = check_largest(bench, buffers, poison, result, err);
    return outcome == AT_CORRECT ? check_scratch(bench, buffers, result, err) : outcome;
}

/* Compare an output of a set with what is expected. */
static enum at_outcome check_same(const struct at_bench *bench, const struct at_buffer *side,
                                  int64_t set, at_address expected, at_address result,
                                  struct at_error *err)
{
    return at_harness_start(bench, AT_CHECK_SAME, side->pitch / 16,
                            (struct at_call){.args = {at_buffer_whole(side, set), expected,
                                                      (uint64_t)side->pitch, result}},
                            err);
}

/* Check all outputs of a step with blocks. */
static enum at_outcome check_all(const struct at_bench *bench, const struct at_buffers *buffers,
                                 int64_t set, at_address result, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;
    at_address expected = buffers->expected;

    for (size_t i = AT_FIRST_OUTPUT; i < AT_BUFFER_SIDES && outcome == AT_CORRECT; i++) {
        const struct at_buffer *side = at_buffers_side(buffers, i);

        if (side->pitch)
            outcome = check_same(bench, side, set, expected, result, err);
        expected += (at_address)side->pitch;
    }
    return outcome;
}

enum at_outcome at_buffers_check(const struct at_bench *bench, const struct at_buffers *buffers,
                                 int64_t set, enum at_check_of what, at_address result,
                                 struct at_error *err)
{
    const struct at_problem *p = &buffers->problem;
    const struct at_buffer *buffer = at_checked_buffer(buffers, what);
    bool filled = what == AT_OF_SOURCE || what == AT_OF_RESTORED;
    bool tensor = what == AT_OF_KEPT || (!filled && at_problem_is_tensor(p));
    int64_t extent =
        filled || what == AT_OF_KEPT ? at_problem_src_extent(p) : at_problem_dst_extent(p);
    struct at_call call = {.args = {at_buffer_whole(buffer, set), (uint64_t)buffer->zone}};
    uint64_t size = (uint64_t)at_checked_size(p, what);
    uint64_t values = buffers->values ? buffers->values + checked_values(&p->step, what) : 0;
    bool sets = what == AT_OF_DESTINATION && at_step_has(&p->step, AT_AFFINE);
    const uint64_t whole[1 + CHECKED_WORDS] = {(uint64_t)extent,
                                               size,
                                               result,
                                               values,
                                               sets ? (uint64_t)p->step.channels.period : 0,
                                               sets ? (uint64_t)p->step.channels.run : 0};

    if (what == AT_OF_LARGEST)
        return check_largest(bench, buffers, buffers->largest, result, err);
    if (what == AT_OF_SCRATCH)
        return check_scratch(bench, buffers, result, err);
    if (what == AT_OF_SUMS)
        return check_same(bench, &buffers->sums, set, buffers->expected, result, err);
    if (what == AT_OF_ALL)
        return check_all(bench, buffers, set, result, err);
    if (what == AT_OF_NOTHING)
        return check_nothing(bench, buffers, set, result, err);
    if (p->groups.count > 0 && !filled) {
        memcpy(call.args + 2, whole, 4 * sizeof *whole);
        call.args[6] = what == AT_OF_KEPT ? buffers->groups.kept_lines : buffers->groups.start;
        call.args[7] = (uint64_t)p->groups.count;
        call.args[8] = sets;
        return at_harness_start(bench, AT_CHECK_GROUPS, buffer->pitch / (int64_t)size, call, err);
    }
    if (filled || tensor)
        memcpy(call.args + 2, whole, sizeof whole);
    else
        put_matrices(&call, p, whole + 1);
    if (tensor)
        at_harness_put_axes(&call, 8, p, what == AT_OF_KEPT ? AT_SOURCE : AT_DESTINATION);
    return at_harness_start(bench,
                            filled   ? AT_CHECK_SOURCE
                            : tensor ? AT_CHECK_TENSOR
                                     : AT_CHECK,
                            buffer->pitch / (int64_t)size, call, err);
}
