/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/buffers.h"

#include "base/integer.h"
#include "base/memory.h"
#include "device/kind.h"
#include "measure/bench.h"
#include "problem/arguments.h"

#include <string.h>

struct at_buffer at_buffer_lay_out(int64_t bytes, int64_t offset_bytes,
                                   const struct at_device_info *device)
{
    static const int64_t least = 64 << 10, most = 8 << 20;
    int64_t zone = at_min(most, at_max(least, bytes / 16 & ~INT64_C(255)));

    if (at_device_kind(device)->finds_faults) /* there an access beyond its allocation is a fault */
        zone = 256;
    return (struct at_buffer){
        .zone = zone + offset_bytes,
        .pitch = ((bytes + 2 * offset_bytes + 255) & ~INT64_C(255)) + 2 * zone,
    };
}

/* Lay out the sides that the problem has. */
static struct at_buffers lay_out(const struct at_problem *problem, int64_t sets,
                                 const struct at_device_info *device)
{
    int64_t from = problem->elem_size;
    /* The driver copies as many bytes as are read and written, also if these are not equal. */
    int64_t copied = problem->step.given ? at_problem_bytes(problem) / 2 : 0;
    struct at_buffers buffers = {
        .problem = *problem,
        .sets = sets,
        .src = at_buffer_lay_out(at_max(copied, at_problem_src_extent(problem) * from),
                                 problem->offset_src * from, device),
        .dst = at_buffer_lay_out(
            at_max(copied,
                   at_problem_side_bytes(problem, AT_DESTINATION, at_problem_dst_extent(problem))),
            at_problem_side_bytes(problem, AT_DESTINATION, problem->offset_dst), device),
    };

    if (at_step_has(&problem->step, AT_BETA))
        buffers.second = buffers.dst;
    if (at_step_has(&problem->step, AT_BOTH))
        buffers.kept =
            at_buffer_lay_out(at_problem_kept_bytes(problem, at_problem_src_extent(problem)),
                              at_problem_kept_bytes(problem, problem->offset_src), device);
    if (at_step_has(&problem->step, AT_BLOCKS))
        buffers.scales =
            at_buffer_lay_out(at_problem_scale_bytes(problem, AT_DESTINATION), 0, device);
    if (at_problem_scale_bytes(problem, AT_SOURCE) > 0)
        buffers.kept_scales =
            at_buffer_lay_out(at_problem_scale_bytes(problem, AT_SOURCE), 0, device);
    if (at_step_has(&problem->step, AT_SUMS))
        buffers.sums = at_buffer_lay_out(at_problem_sum_bytes(problem), 0, device);
    return buffers;
}

static const size_t sides[] = {
    offsetof(struct at_buffers, src),    offsetof(struct at_buffers, second),
    offsetof(struct at_buffers, dst),    offsetof(struct at_buffers, kept),
    offsetof(struct at_buffers, scales), offsetof(struct at_buffers, kept_scales),
    offsetof(struct at_buffers, sums)};

const struct at_buffer *at_buffers_side(const struct at_buffers *buffers, size_t side)
{
    return (const struct at_buffer *)((const char *)buffers + sides[side]);
}

/* Of the largest magnitude alone the table of values has the scratch. */
static int64_t scratch_bytes(const struct at_problem *problem)
{
    return at_step_has(&problem->step, AT_SUMS) || problem->in_place
               ? at_problem_scratch_most(problem)
               : 0;
}

int64_t at_buffers_bytes(const struct at_problem *problem, int64_t sets,
                         const struct at_device_info *device)
{
    struct at_buffers buffers = lay_out(problem, sets, device);
    int64_t values = problem->step.given ? (int64_t)at_values_lay_out(&problem->step).bytes : 0,
            bytes, pitch = 0;

    /* A problem has at most 2^62 bytes, so the sum fits; the product may not. */
    for (size_t i = 0; i < AT_BUFFER_SIDES; i++)
        pitch += at_buffers_side(&buffers, i)->pitch;
    return __builtin_mul_overflow(sets, pitch, &bytes) ||
                   __builtin_add_overflow(bytes, at_values_expected_bytes(&buffers), &bytes) ||
                   __builtin_add_overflow(bytes, values, &bytes) ||
                   __builtin_add_overflow(bytes, at_group_tables_bytes(problem, sets), &bytes) ||
                   __builtin_add_overflow(bytes, scratch_bytes(problem), &bytes)
               ? INT64_MAX
               : bytes;
}

static enum at_outcome poison(const struct at_bench *bench, at_address address, int64_t bytes,
                              struct at_error *err)
{
    return at_harness_start(bench, AT_POISON, bytes / 16,
                            (struct at_call){.args = {address, (uint64_t)bytes}}, err);
}

/* Fill the source's buffer with a source's values; in place, the destination's buffer. */
static enum at_outcome fill(const struct at_bench *bench, const struct at_buffers *buffers,
                            at_address extent, struct at_error *err)
{
    const struct at_problem *problem = &buffers->problem;
    int64_t elements = at_problem_src_extent(problem);

    return at_harness_start(
        bench, AT_FILL_SOURCE, elements,
        (struct at_call){
            .args = {extent, (uint64_t)elements, (uint64_t)problem->elem_size, buffers->values}},
        err);
}

/* Fill the second source of a set: each element as its place in the destination has it. */
static enum at_outcome fill_second(const struct at_bench *bench, const struct at_buffers *buffers,
                                   int64_t set, struct at_error *err)
{
    const struct at_problem *problem = &buffers->problem;
    int64_t elements = at_problem_dst_extent(problem);
    struct at_call call = {.args = {at_buffer_of(&buffers->second, set), (uint64_t)elements,
                                    (uint64_t)at_problem_elem_size(problem, AT_DESTINATION),
                                    buffers->values + at_values_lay_out(&problem->step).seconds}};

    if (problem->groups.count > 0) {
        call.args[4] = buffers->groups.start;
        call.args[5] = (uint64_t)problem->groups.count;
        return at_harness_start(bench, AT_FILL_GROUPS, elements, call, err);
    }
    at_harness_put_axes(&call, 4, problem, AT_DESTINATION);
    return at_harness_start(bench, AT_FILL_SECOND, elements, call, err);
}

struct at_scratch at_buffers_scratch(const struct at_buffers *buffers)
{
    const struct at_step *step = &buffers->problem.step;

    return buffers->scratch
               ? (struct at_scratch){buffers->scratch, scratch_bytes(&buffers->problem)}
           : buffers->values
               ? (struct at_scratch){buffers->values + at_values_lay_out(step).largest +
                                         AT_LARGEST_BYTES,
                                     AT_STEP_SCRATCH_BYTES}
               : (struct at_scratch){0};
}

/* Launches of a step find it cleared, and leave it so; but a wrong one may not. */
static enum at_outcome prepare_scratch(const struct at_bench *bench,
                                       const struct at_buffers *buffers, struct at_error *err)
{
    const struct at_scratch scratch = at_buffers_scratch(buffers);
    unsigned char *zeros;
    enum at_outcome outcome;

    if (scratch.bytes == 0)
        return AT_CORRECT;
    if (buffers->problem.in_place)
        return poison(bench, scratch.start, scratch.bytes, err);
    zeros = at_alloc((size_t)scratch.bytes);
    outcome = bench->ops->write(bench->device, scratch.start, zeros, (size_t)scratch.bytes, err);
    at_free(zeros);
    return outcome;
}

enum at_outcome at_buffers_fill(const struct at_bench *bench, const struct at_buffers *buffers,
                                struct at_error *err)
{
    const struct at_problem *problem = &buffers->problem;
    enum at_outcome outcome = prepare_scratch(bench, buffers, err);

    for (size_t i = 0; i < AT_BUFFER_SIDES && outcome == AT_CORRECT; i++) {
        const struct at_buffer *side = at_buffers_side(buffers, i);

        if (side->pitch)
            outcome = poison(bench, side->start, buffers->sets * side->pitch, err);
    }
    for (int64_t set = 0; buffers->second.pitch && set < buffers->sets && outcome == AT_CORRECT;
         set++)
        outcome = fill_second(bench, buffers, set, err);
    for (int64_t set = 0; set < buffers->sets && outcome == AT_CORRECT; set++)
        outcome = fill(bench, buffers, at_buffer_of(&buffers->src, set), err);
    for (int64_t set = 0; problem->in_place && set < buffers->sets && outcome == AT_CORRECT; set++)
        outcome = fill(bench, buffers, at_buffer_of(&buffers->dst, set), err);
    return outcome;
}

/* Where the table has the numbers, in the type that is computed in: alpha and beta, two each. */
static at_address number_at(const struct at_buffers *buffers, int which)
{
    const struct at_step *step = &buffers->problem.step;
    int bytes = at_number_formats[at_step_computes_in(step)].bytes;

    return buffers->values + at_values_lay_out(step).numbers + (uint64_t)(2 * which * bytes);
}

/* Write it to the device. */
static enum at_outcome write_expected(const struct at_bench *bench, struct at_buffers *buffers,
                                      const unsigned char *table, struct at_error *err)
{
    size_t bytes = (size_t)at_values_expected_bytes(buffers);
    unsigned char *expected = at_alloc(bytes + 1);
    enum at_outcome outcome;

    at_values_expect(buffers, table, expected);
    outcome = bench->ops->allocate(bench->device, (int64_t)bytes, &buffers->expected, err);
    if (outcome == AT_CORRECT)
        outcome = bench->ops->write(bench->device, buffers->expected, expected, bytes, err);
    at_free(expected);
    return outcome;
}

/* Write the table of values to the device. */
static enum at_outcome make_values(const struct at_bench *bench, struct at_buffers *buffers,
                                   bool tuned, struct at_error *err)
{
    const struct at_step *step = &buffers->problem.step;
    size_t bytes = at_values_lay_out(step).bytes;
    unsigned char *table = at_alloc(bytes);
    enum at_outcome outcome;

    at_values_make(buffers, tuned, table);
    outcome = bench->ops->allocate(bench->device, (int64_t)bytes, &buffers->values, err);
    if (outcome == AT_CORRECT)
        outcome = bench->ops->write(bench->device, buffers->values, table, bytes, err);
    if (outcome == AT_CORRECT && at_values_expected_bytes(buffers) > 0)
        outcome = write_expected(bench, buffers, table, err);
    at_free(table);
    return outcome;
}

/* A launch's number: by its value, or by its place on the device. */
static struct at_step_number given(const struct at_buffers *buffers, const double value[2],
                                   int which)
{
    struct at_step_number number = {0, {value[0], value[1]}};

    if (!buffers->by_value)
        number = (struct at_step_number){number_at(buffers, which), {0}};
    return number;
}

void at_buffers_put_args(struct at_call *call, const struct at_buffers *buffers,
                         const struct at_problem *problem, int64_t set, at_address dst,
                         at_address src, at_address skip)
{
    const double *beta = buffers->operands.beta;
    bool has_second = buffers->second.pitch && (beta[0] != 0 || beta[1] != 0);
    at_address shift = dst - at_buffer_of(&buffers->dst, set);
    at_address src_shift = src - at_buffer_of(&buffers->src, set);
    const struct at_step *step = &problem->step;
    int64_t bytes = step->given ? at_number_formats[at_step_computes_in(step)].bytes : 0;
    at_address channels = buffers->values && step->channels.count
                              ? buffers->values + at_values_lay_out(step).channels
                              : 0;
    const struct at_scratch scratch = at_buffers_scratch(buffers);
    const struct at_step_numbers all = {
        .number = given(buffers, buffers->operands.number, 0),
        .beta = given(buffers, beta, 1),
        .second = has_second ? at_buffer_of(&buffers->second, set) + shift : 0,
        .channel_scale = channels,
        .channel_shift = channels ? channels + (uint64_t)(step->channels.count * bytes) : 0,
        .kept = buffers->kept.pitch ? at_buffer_of(&buffers->kept, set) +
                                          (at_address)((int64_t)src_shift / problem->elem_size *
                                                       at_step_kept_bytes(step))
                                    : 0,
        .scales = buffers->scales.pitch ? at_buffer_of(&buffers->scales, set) : 0,
        .kept_scales = buffers->kept_scales.pitch ? at_buffer_of(&buffers->kept_scales, set) : 0,
        .largest = buffers->values ? buffers->values + at_values_lay_out(step).largest : 0,
        .skip = skip,
        .scratch = scratch.start,
        .sums = buffers->sums.pitch ? at_buffer_of(&buffers->sums, set) : 0,
        .channel_stride = step->channels.stride,
    };
    struct at_scratch state;

    if (problem->groups.count > 0)
        at_group_tables_put_args(call, buffers, set, &all);
    else
        at_problem_args(problem, &call->launch, dst, src, &all, call->args, call->arg_words);
    state = problem->in_place
                ? (struct at_scratch){dst, at_problem_dst_extent(problem) * problem->elem_size}
            : buffers->scratch ? scratch
            : all.largest
                ? (struct at_scratch){all.largest, AT_LARGEST_BYTES + AT_STEP_SCRATCH_BYTES}
                : (struct at_scratch){0};
    call->state = state.start;
    call->state_bytes = (size_t)state.bytes;
}

enum at_outcome at_buffers_make(const struct at_bench *bench, struct at_buffers *buffers,
                                const struct at_gpu_case *wanted, struct at_error *err)
{
    struct at_buffers made = lay_out(&wanted->problem, wanted->sets, at_bench_info(bench));
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < AT_BUFFER_SIDES && outcome == AT_CORRECT; i++) {
        struct at_buffer *side = (struct at_buffer *)((char *)&made + sides[i]);

        if (side->pitch)
            outcome =
                bench->ops->allocate(bench->device, made.sets * side->pitch, &side->start, err);
    }
    if (outcome == AT_CORRECT && scratch_bytes(&made.problem) > 0)
        outcome =
            bench->ops->allocate(bench->device, scratch_bytes(&made.problem), &made.scratch, err);
    if (outcome == AT_CORRECT && made.problem.step.given)
        outcome = make_values(bench, &made, bench->case_count == 0, err);
    if (outcome == AT_CORRECT && made.problem.groups.count > 0)
        outcome = at_group_tables_make(bench, &made, err);
    if (outcome == AT_CORRECT)
        outcome = at_buffers_fill(bench, &made, err);
    if (outcome == AT_CORRECT)
        *buffers = made;
    else if (!at_outcome_loses_device(outcome)) /* a lost device releases nothing */
        at_buffers_release(bench, &made);
    return outcome;
}

void at_buffers_release(const struct at_bench *bench, struct at_buffers *buffers)
{
    for (size_t i = 0; i < AT_BUFFER_SIDES; i++)
        bench->ops->release(bench->device, at_buffers_side(buffers, i)->start);
    bench->ops->release(bench->device, buffers->expected);
    bench->ops->release(bench->device, buffers->scratch);
    bench->ops->release(bench->device, buffers->values);
    bench->ops->release(bench->device, buffers->groups.start);
    *buffers = (struct at_buffers){0};
}

at_address at_buffer_whole(const struct at_buffer *buffer, int64_t set)
{
    return buffer->start + (uint64_t)(set * buffer->pitch);
}

at_address at_buffer_of(const struct at_buffer *buffer, int64_t set)
{
    return at_buffer_whole(buffer, set) + (uint64_t)buffer->zone;
}

enum at_outcome at_buffers_reset(const struct at_bench *bench, const struct at_buffers *buffers,
                                 int64_t set, struct at_error *err)
{
    enum at_outcome outcome =
        poison(bench, at_buffer_whole(&buffers->dst, set), buffers->dst.pitch, err);

    if (outcome == AT_CORRECT && buffers->problem.in_place)
        outcome = fill(bench, buffers, at_buffer_of(&buffers->dst, set), err);
    for (size_t i = AT_FIRST_OUTPUT + 1; i < AT_BUFFER_SIDES && outcome == AT_CORRECT; i++)
        if (at_buffers_side(buffers, i)->pitch)
            outcome = poison(bench, at_buffer_whole(at_buffers_side(buffers, i), set),
                             at_buffers_side(buffers, i)->pitch, err);
    if (outcome == AT_CORRECT && at_step_has(&buffers->problem.step, AT_AMAX))
        outcome = poison(bench, buffers->values + at_values_lay_out(&buffers->problem.step).largest,
                         AT_LARGEST_BYTES, err);
    return outcome;
}
