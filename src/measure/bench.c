/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers of problems, their content and its check; and the verification of kernels on them. */
#include "measure/bench.h"

#include "base/clock.h"
#include "base/integer.h"
#include "base/memory.h"
#include "device/kind.h"
#include "problem/arguments.h"
#include "problem/problem.h"

#include <stdio.h>
#include <string.h>

/* Of a case, or of a set: up to three sides and two more outputs; and of a skipped launch. */
enum { CHECKS_MAX = 5 * (AT_CASES_MAX + 2) + 1 };

/* ---- buffers ---- */

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

/* Lay out both buffers of each set. */
static struct at_buffers lay_out(const struct at_problem *problem, int64_t sets,
                                 const struct at_device_info *device)
{
    int64_t from = problem->elem_size, to = at_problem_elem_size(problem, AT_DESTINATION);
    /* The driver copies as many bytes as are read and written, also if these are not equal. */
    int64_t copied = problem->step.given ? at_problem_bytes(problem) / 2 : 0;
    struct at_buffers buffers = {
        .problem = *problem,
        .sets = sets,
        .src = at_buffer_lay_out(at_max(copied, at_problem_src_extent(problem) * from),
                                 problem->offset_src * from, device),
        .dst = at_buffer_lay_out(at_max(copied, at_problem_dst_extent(problem) * to),
                                 problem->offset_dst * to, device),
    };

    if (at_step_has(&problem->step, AT_BETA))
        buffers.second = buffers.dst;
    if (at_step_has(&problem->step, AT_BOTH))
        buffers.kept =
            at_buffer_lay_out(at_problem_src_extent(problem) * at_step_kept_bytes(&problem->step),
                              problem->offset_src * at_step_kept_bytes(&problem->step), device);
    if (at_step_has(&problem->step, AT_BLOCKS))
        buffers.scales =
            at_buffer_lay_out(at_problem_scale_bytes(problem, AT_DESTINATION), 0, device);
    if (at_problem_scale_bytes(problem, AT_SOURCE) > 0)
        buffers.kept_scales =
            at_buffer_lay_out(at_problem_scale_bytes(problem, AT_SOURCE), 0, device);
    return buffers;
}

/* All sides, those that kernels write last: in the order of the expected bytes. Sides that a
 * problem does not have are without a pitch. */
static const size_t sides[] = {
    offsetof(struct at_buffers, src),    offsetof(struct at_buffers, second),
    offsetof(struct at_buffers, dst),    offsetof(struct at_buffers, kept),
    offsetof(struct at_buffers, scales), offsetof(struct at_buffers, kept_scales)};
enum { FIRST_OUTPUT = 2 };

static const struct at_buffer *side_of(const struct at_buffers *buffers, size_t side)
{
    return (const struct at_buffer *)((const char *)buffers + sides[side]);
}

/* What kernels have to write, in one set, if it is known to the byte: 0 bytes, if it is not. */
static int64_t expected_bytes(const struct at_buffers *buffers)
{
    return at_step_has(&buffers->problem.step, AT_BLOCKS)
               ? buffers->dst.pitch + buffers->kept.pitch + buffers->scales.pitch +
                     buffers->kept_scales.pitch
               : 0;
}

/* Where parts of a table of values begin, after the elements of the source: those of the second
 * source, the results, the second results, the numbers, the largest magnitude, in 16 bytes, with
 * the scratch behind it, a flag that skips a launch, and the numbers of channels: the first ones of
 * all, then the second ones. */
struct values_layout {
    size_t seconds, results, kept, numbers, largest, flag, channels, bytes;
};

enum { LARGEST_BYTES = 16 };

static struct values_layout layout_of(const struct at_step *step)
{
    size_t from = AT_STEP_VALUES * (size_t)at_number_formats[step->from].bytes;
    size_t to = AT_STEP_VALUES * (size_t)at_number_formats[step->to].bytes;
    struct values_layout at = {.seconds = from, .results = from + to};

    at.kept = at.results + at_step_sets(step) * to;
    at.numbers = at.kept + AT_STEP_VALUES * (size_t)at_step_kept_bytes(step);
    at.largest = at.numbers + 4 * sizeof(double);
    at.flag = at.largest + LARGEST_BYTES + AT_STEP_SCRATCH_BYTES;
    at.channels = at.flag + sizeof(double);
    at.bytes = at.channels + 2 * (size_t)step->channels.count * sizeof(double);
    return at;
}

int64_t at_buffers_bytes(const struct at_problem *problem, int64_t sets,
                         const struct at_device_info *device)
{
    struct at_buffers buffers = lay_out(problem, sets, device);
    int64_t values = problem->step.given ? (int64_t)layout_of(&problem->step).bytes : 0, bytes,
            pitch = 0;

    /* A problem has at most 2^62 bytes, so the sum fits; the product may not. */
    for (size_t i = 0; i < AT_COUNT(sides); i++)
        pitch += side_of(&buffers, i)->pitch;
    return __builtin_mul_overflow(sets, pitch, &bytes) ||
                   __builtin_add_overflow(bytes, expected_bytes(&buffers), &bytes) ||
                   __builtin_add_overflow(bytes, values, &bytes)
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

/* The destination of batches of any axes, or what is laid out as the source. The kernel has its own
 * struct `tensor_axes`, with the axes that are farthest apart there first. */
static void put_axes(struct at_call *call, size_t first, const struct at_problem *p,
                     enum at_side side)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(p, axes);
    uint64_t *words = call->args + first;
    int64_t span = 0;

    for (size_t i = 0; i < count; i++)
        axes[i].stride_dst = at_axis_stride(&axes[i], side);
    count = at_axes_merge(axes, count);
    at_axes_sort(axes, count, AT_DESTINATION);
    for (size_t i = 0; i < count; i++) { /* from the last word on, for the span of inner axes */
        const uint64_t entry[] = {(uint64_t)axes[i].extent, (uint64_t)axes[i].stride_src,
                                  (uint64_t)axes[i].stride_dst, (uint64_t)span};

        memcpy(words + 4 * (count - 1 - i), entry, sizeof entry);
        span += (axes[i].extent - 1) * axes[i].stride_dst;
    }
    words[4 * AT_AXES_MAX] = (uint64_t)count;
    call->arg_words[first] = 4 * AT_AXES_MAX + 1;
}

/* Fill the second source of a set: each element as its place in the destination has it. */
static enum at_outcome fill_second(const struct at_bench *bench, const struct at_buffers *buffers,
                                   int64_t set, struct at_error *err)
{
    const struct at_problem *problem = &buffers->problem;
    int64_t elements = at_problem_dst_extent(problem);
    struct at_call call = {.args = {at_buffer_of(&buffers->second, set), (uint64_t)elements,
                                    (uint64_t)at_problem_elem_size(problem, AT_DESTINATION),
                                    buffers->values + layout_of(&problem->step).seconds}};

    put_axes(&call, 4, problem, AT_DESTINATION);
    return at_harness_start(bench, AT_FILL_SECOND, elements, call, err);
}

enum at_outcome at_buffers_fill(const struct at_bench *bench, const struct at_buffers *buffers,
                                struct at_error *err)
{
    const struct at_problem *problem = &buffers->problem;
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < AT_COUNT(sides) && outcome == AT_CORRECT; i++) {
        const struct at_buffer *side = side_of(buffers, i);

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

/* Ordinary numbers, powers of two, and such as make results too large and too small. */
static const double numbers[] = {0.37, 1, -2, 1.0 / 448, 448, 3e-5, 1e30, 0.1};

/* Choose the numbers of a step by the problem's sides. beta is 0 for some of the cases that are not
 * timed. */
static struct at_step_operands operands_for(const struct at_problem *problem, bool tuned)
{
    uint64_t draw = (uint64_t)(problem->rows + problem->cols);
    double number = numbers[draw % AT_COUNT(numbers)];
    double other = numbers[(draw + problem->rows) / 3 % AT_COUNT(numbers)];
    bool none = !tuned && draw % 4 == 3;

    return (struct at_step_operands){
        .number = {number, -0.5 * number},
        .beta = {none ? 0 : other, none ? 0 : draw % 3 * other},
    };
}

/* Where the table has the numbers, in the type that is computed in: alpha and beta, two each. */
static at_address number_at(const struct at_buffers *buffers, int which)
{
    const struct at_step *step = &buffers->problem.step;
    int bytes = at_number_formats[at_step_computes_in(step)].bytes;

    return buffers->values + layout_of(step).numbers + (uint64_t)(2 * which * bytes);
}

static void put_numbers_of(const struct at_buffers *buffers, unsigned char *table)
{
    enum at_number type = at_step_computes_in(&buffers->problem.step);
    const double *all[] = {buffers->operands.number, buffers->operands.beta};

    for (int i = 0; i < 4; i++)
        at_number_cast(type, table + i * at_number_formats[type].bytes, AT_F64, &all[i / 2][i % 2],
                       false);
}

static void put_channels_of(const struct at_step *step, unsigned char *table)
{
    enum at_number type = at_step_computes_in(step);
    size_t bytes = (size_t)at_number_formats[type].bytes, count = (size_t)step->channels.count;
    struct at_step_operands own;

    for (size_t i = 0; i < count; i++) {
        at_step_take_set(&own, at_harness_set((int64_t)i));
        at_number_cast(type, table + i * bytes, AT_F64, &own.channel_scale, false);
        at_number_cast(type, table + (count + i) * bytes, AT_F64, &own.shift, false);
    }
}

/* Where the largest magnitude shall be: at an end, in a corner or in the middle of the source, as
 * the index of its table element. -1: all patterns are in the source, infinities and NaN too. */
static int64_t place_largest(const struct at_problem *problem, bool tuned)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes);
    int64_t draw = problem->rows + 2 * problem->cols, index = 0;

    if (at_step_has(&problem->step, AT_BLOCKS)) /* infinities and NaN in some problems */
        return tuned || draw % 2 ? 0 : -1;
    if (!at_step_has(&problem->step, AT_AMAX) || (!tuned && draw % 4 == 0))
        return -1;
    for (size_t i = 0; i < count; i++) {
        int64_t last = axes[i].extent - 1;

        index += (draw >> i & 1 ? last : draw % 3 * last / 2) * axes[i].stride_src;
    }
    return (int64_t)at_harness_value(index);
}

/* The largest magnitude of the source's elements. They are drawn from the table, so that the
 * table's own is soon among them. */
static uint32_t find_largest(const struct at_problem *problem, const unsigned char *table)
{
    const struct at_step *step = &problem->step;
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes), bytes = (size_t)problem->elem_size, i = 0;
    int64_t place[AT_AXES_MAX] = {0}, index = 0;
    uint32_t most = 0, largest = 0;

    for (size_t entry = 0; entry < AT_STEP_VALUES; entry++)
        most = at_step_larger(step, most, table + entry * bytes);
    while (i < count && largest < most) {
        largest = at_step_larger(step, largest, table + at_harness_value(index) * bytes);
        for (i = 0; i < count; i++) { /* the next element */
            index += axes[i].stride_src;
            if (++place[i] < axes[i].extent)
                break;
            index -= axes[i].extent * axes[i].stride_src;
            place[i] = 0;
        }
    }
    return largest;
}

/* What a kernel has to write: poison, and both results with their scales. `table` has the source's
 * elements. */
static void make_expected(const struct at_buffers *buffers, const unsigned char *table,
                          unsigned char *expected)
{
    const struct at_problem *p = &buffers->problem;
    size_t bytes = (size_t)p->elem_size, extent = (size_t)at_problem_src_extent(p);
    unsigned char *source = at_alloc(extent * bytes);
    memset(expected, AT_POISON_BYTE, (size_t)expected_bytes(buffers));
    for (size_t i = 0; i < extent; i++)
        memcpy(source + i * bytes, table + at_harness_value((int64_t)i) * bytes, bytes);
    for (int side = AT_SOURCE; side < AT_SIDES; side++) {
        bool own = side == AT_DESTINATION;
        struct at_scaled_result result = at_step_scaled(&p->step, own);
        int64_t scale_bytes = at_problem_scale_bytes(p, (enum at_side)side) / p->batch;
        unsigned char *results = expected + (own ? 0 : buffers->dst.pitch) +
                                 (own ? &buffers->dst : &buffers->kept)->zone;
        unsigned char *scales = expected + buffers->dst.pitch + buffers->kept.pitch +
                                (own ? 0 : buffers->scales.pitch) +
                                (own ? &buffers->scales : &buffers->kept_scales)->zone;

        for (int64_t i = 0; i < p->batch && scale_bytes > 0; i++)
            at_block_apply(&result, p->step.from, source + (size_t)(i * p->stride_src) * bytes,
                           p->rows, p->cols, p->ld_src, NULL,
                           results + i * (own ? p->stride_dst : p->stride_src),
                           own ? p->ld_dst : p->ld_src, scales + i * scale_bytes);
    }
    at_free(source);
}

/* Write it to the device. */
static enum at_outcome write_expected(const struct at_bench *bench, struct at_buffers *buffers,
                                      const unsigned char *table, struct at_error *err)
{
    size_t bytes = (size_t)expected_bytes(buffers);
    unsigned char *expected = at_alloc(bytes + 1);
    enum at_outcome outcome;

    make_expected(buffers, table, expected);
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
    const struct at_problem *problem = &buffers->problem;
    const struct at_step *step = &problem->step;
    struct values_layout at = layout_of(step);
    unsigned char *table = at_alloc(at.bytes);
    enum at_outcome outcome;

    buffers->operands = operands_for(problem, tuned);
    buffers->by_value = problem->rows % 2 == 0;
    at_step_make_values(step, &buffers->operands,
                        &(struct at_step_values){.source = table,
                                                 .second = table + at.seconds,
                                                 .results = table + at.results,
                                                 .kept = table + at.kept,
                                                 .largest = place_largest(problem, tuned)});
    if (at_step_has(step, AT_AMAX))
        buffers->largest = find_largest(problem, table);
    put_numbers_of(buffers, table + at.numbers);
    memset(table + at.largest, 0, at.flag - at.largest);
    memset(table + at.flag, 1, sizeof(int));
    put_channels_of(step, table + at.channels);
    outcome = bench->ops->allocate(bench->device, (int64_t)at.bytes, &buffers->values, err);
    if (outcome == AT_CORRECT)
        outcome = bench->ops->write(bench->device, buffers->values, table, at.bytes, err);
    if (outcome == AT_CORRECT && at_step_has(step, AT_BLOCKS))
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

/* Set a call's arguments: a kernel on a set, from src to dst, which may lie within the set's
 * buffers. A second source whose beta is 0 is not there. */
static void put_args(struct at_call *call, const struct at_buffers *buffers,
                     const struct at_problem *problem, int64_t set, at_address dst, at_address src,
                     at_address skip)
{
    const double *beta = buffers->operands.beta;
    bool has_second = buffers->second.pitch && (beta[0] != 0 || beta[1] != 0);
    at_address shift = dst - at_buffer_of(&buffers->dst, set);
    at_address src_shift = src - at_buffer_of(&buffers->src, set);
    const struct at_step *step = &problem->step;
    int64_t bytes = step->given ? at_number_formats[at_step_computes_in(step)].bytes : 0;
    at_address channels =
        buffers->values && step->channels.count ? buffers->values + layout_of(step).channels : 0;
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
        .largest = buffers->values ? buffers->values + layout_of(step).largest : 0,
        .skip = skip,
        .scratch = buffers->values ? buffers->values + layout_of(step).largest + LARGEST_BYTES : 0,
    };

    at_problem_args(problem, &call->launch, dst, src, &all, call->args, call->arg_words);
    call->state = all.largest;
    call->state_bytes = all.largest ? LARGEST_BYTES + AT_STEP_SCRATCH_BYTES : 0;
}

enum at_outcome at_buffers_make(const struct at_bench *bench, struct at_buffers *buffers,
                                const struct at_gpu_case *wanted, struct at_error *err)
{
    struct at_buffers made = lay_out(&wanted->problem, wanted->sets, at_bench_info(bench));
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < AT_COUNT(sides) && outcome == AT_CORRECT; i++) {
        struct at_buffer *side = (struct at_buffer *)((char *)&made + sides[i]);

        if (side->pitch)
            outcome =
                bench->ops->allocate(bench->device, made.sets * side->pitch, &side->start, err);
    }
    if (outcome == AT_CORRECT && made.problem.step.given)
        outcome = make_values(bench, &made, bench->case_count == 0, err);
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
    for (size_t i = 0; i < AT_COUNT(sides); i++)
        bench->ops->release(bench->device, side_of(buffers, i)->start);
    bench->ops->release(bench->device, buffers->expected);
    bench->ops->release(bench->device, buffers->values);
    *buffers = (struct at_buffers){0};
}

/* Where a set's buffer begins, with its front red zone. */
static at_address whole_of(const struct at_buffer *buffer, int64_t set)
{
    return buffer->start + (uint64_t)(set * buffer->pitch);
}

at_address at_buffer_of(const struct at_buffer *buffer, int64_t set)
{
    return whole_of(buffer, set) + (uint64_t)buffer->zone;
}

/* Start restoring the outputs of a set to their first content. */
static enum at_outcome reset(const struct at_bench *bench, const struct at_buffers *buffers,
                             int64_t set, struct at_error *err)
{
    enum at_outcome outcome = poison(bench, whole_of(&buffers->dst, set), buffers->dst.pitch, err);

    if (outcome == AT_CORRECT && buffers->problem.in_place)
        outcome = fill(bench, buffers, at_buffer_of(&buffers->dst, set), err);
    for (size_t i = FIRST_OUTPUT + 1; i < AT_COUNT(sides) && outcome == AT_CORRECT; i++)
        if (side_of(buffers, i)->pitch)
            outcome =
                poison(bench, whole_of(side_of(buffers, i), set), side_of(buffers, i)->pitch, err);
    if (outcome == AT_CORRECT && at_step_has(&buffers->problem.step, AT_AMAX))
        outcome = poison(bench, buffers->values + layout_of(&buffers->problem.step).largest,
                         LARGEST_BYTES, err);
    return outcome;
}

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

/* The buffer that a check looks at. */
static const struct at_buffer *checked_buffer(const struct at_buffers *buffers,
                                              enum at_check_of what)
{
    return what == AT_OF_SOURCE   ? &buffers->src
           : what == AT_OF_SECOND ? &buffers->second
           : what == AT_OF_KEPT   ? &buffers->kept
                                  : &buffers->dst;
}

/* Which part of the table has the values of a check. */
static size_t checked_values(const struct at_step *step, enum at_check_of what)
{
    return what == AT_OF_DESTINATION ? layout_of(step).results
           : what == AT_OF_SECOND    ? layout_of(step).seconds
           : what == AT_OF_KEPT      ? layout_of(step).kept
                                     : 0;
}

/* The bytes of an element in the buffer that a check looks at. */
static int64_t checked_size(const struct at_problem *problem, enum at_check_of what)
{
    return what == AT_OF_KEPT
               ? at_step_kept_bytes(&problem->step)
               : at_problem_elem_size(problem, what == AT_OF_SOURCE || what == AT_OF_RESTORED
                                                   ? AT_SOURCE
                                                   : AT_DESTINATION);
}

/* Check that the largest magnitude has these bits, and that the scratch was left as it was. */
static enum at_outcome check_largest(const struct at_bench *bench, const struct at_buffers *buffers,
                                     uint32_t largest, at_address result, struct at_error *err)
{
    at_address words = buffers->values + layout_of(&buffers->problem.step).largest;
    const struct {
        at_address start;
        uint64_t count, first;
    } all[] = {{words, 1, largest},
               {words + LARGEST_BYTES, AT_STEP_SCRATCH_BYTES / sizeof(uint32_t), 0}};
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < AT_COUNT(all) && outcome == AT_CORRECT; i++)
        outcome = at_harness_start(
            bench, AT_CHECK_WORDS, (int64_t)all[i].count,
            (struct at_call){.args = {all[i].start, all[i].count, all[i].first, result}}, err);
    return outcome;
}

/* Check that outputs have nothing but poison: as the red zones of no element. */
static enum at_outcome check_nothing(const struct at_bench *bench, const struct at_buffers *buffers,
                                     int64_t set, at_address result, struct at_error *err)
{
    static const uint32_t poison = UINT32_C(0x01010101) * AT_POISON_BYTE;
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = FIRST_OUTPUT; i < AT_COUNT(sides) && outcome == AT_CORRECT; i++) {
        const struct at_buffer *side = side_of(buffers, i);

        if (side->pitch)
            outcome = at_harness_start(
                bench, AT_CHECK_SOURCE, side->pitch,
                (struct at_call){
                    .args = {whole_of(side, set), (uint64_t)side->pitch / 2, 0, 1, result}},
                err);
    }
    if (outcome == AT_CORRECT && at_step_has(&buffers->problem.step, AT_AMAX))
        outcome = check_largest(bench, buffers, poison, result, err);
    return outcome;
}

/* Check all outputs of a step with blocks. */
static enum at_outcome check_all(const struct at_bench *bench, const struct at_buffers *buffers,
                                 int64_t set, at_address result, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;
    at_address expected = buffers->expected;

    for (size_t i = FIRST_OUTPUT; i < AT_COUNT(sides) && outcome == AT_CORRECT; i++) {
        const struct at_buffer *side = side_of(buffers, i);

        if (side->pitch)
            outcome = at_harness_start(bench, AT_CHECK_SAME, side->pitch / 16,
                                       (struct at_call){.args = {whole_of(side, set), expected,
                                                                 (uint64_t)side->pitch, result}},
                                       err);
        expected += (at_address)side->pitch;
    }
    return outcome;
}

enum at_outcome at_buffers_check(const struct at_bench *bench, const struct at_buffers *buffers,
                                 int64_t set, enum at_check_of what, at_address result,
                                 struct at_error *err)
{
    const struct at_problem *p = &buffers->problem;
    const struct at_buffer *buffer = checked_buffer(buffers, what);
    bool filled = what == AT_OF_SOURCE || what == AT_OF_RESTORED;
    bool tensor = what == AT_OF_KEPT || (!filled && at_problem_is_tensor(p));
    int64_t extent =
        filled || what == AT_OF_KEPT ? at_problem_src_extent(p) : at_problem_dst_extent(p);
    struct at_call call = {.args = {whole_of(buffer, set), (uint64_t)buffer->zone}};
    uint64_t size = (uint64_t)checked_size(p, what);
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
    if (what == AT_OF_ALL)
        return check_all(bench, buffers, set, result, err);
    if (what == AT_OF_NOTHING)
        return check_nothing(bench, buffers, set, result, err);
    if (filled || tensor)
        memcpy(call.args + 2, whole, sizeof whole);
    else
        put_matrices(&call, p, whole + 1);
    if (tensor)
        put_axes(&call, 8, p, what == AT_OF_KEPT ? AT_SOURCE : AT_DESTINATION);
    return at_harness_start(bench,
                            filled   ? AT_CHECK_SOURCE
                            : tensor ? AT_CHECK_TENSOR
                                     : AT_CHECK,
                            buffer->pitch / (int64_t)size, call, err);
}

/* ---- cases and runs ---- */

/* Are these cases prepared already? A shoot-out's are, after its search. */
static bool is_prepared(const struct at_bench *bench, const struct at_gpu_case *cases, size_t count)
{
    bool same = count > 0 && count == bench->case_count;

    for (size_t i = 0; i < count && same; i++)
        same = bench->cases[i].sets == cases[i].sets &&
               at_problem_equal(&bench->cases[i].problem, &cases[i].problem);
    return same;
}

enum at_outcome at_bench_prepare(struct at_bench *bench, const struct at_gpu_case *cases,
                                 size_t count, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    if (is_prepared(bench, cases, count)) {
        outcome = at_bench_refill(bench, err);
        return outcome == AT_CORRECT ? bench->ops->wait(bench->device, err) : outcome;
    }
    while (bench->case_count > 0)
        at_buffers_release(bench, &bench->cases[--bench->case_count]);
    if (!bench->results)
        outcome = bench->ops->allocate(bench->device, CHECKS_MAX * sizeof(struct at_check_result),
                                       &bench->results, err);
    while (bench->case_count < count && outcome == AT_CORRECT) {
        outcome = at_buffers_make(bench, &bench->cases[bench->case_count],
                                  &cases[bench->case_count], err);
        if (outcome == AT_CORRECT)
            bench->case_count++;
    }
    return outcome == AT_CORRECT ? bench->ops->wait(bench->device, err) : outcome;
}

int64_t at_bench_sets(const struct at_bench *bench, const struct at_gpu_run *run)
{
    int64_t all = bench->cases[0].sets;

    return run->sets > 0 && run->sets < all ? run->sets : all;
}

/* Is little of a run's data in L2 when a launch begins, whatever ran before it? */
static bool bench_is_large(const struct at_bench *bench, const struct at_gpu_run *run)
{
    return at_problem_bytes(&run->problem) >= 2 * at_bench_info(bench)->l2_bytes;
}

enum at_outcome at_bench_refill(struct at_bench *bench, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < bench->case_count && outcome == AT_CORRECT; i++)
        outcome = at_buffers_fill(bench, &bench->cases[i], err);
    return outcome;
}

static uint64_t offset_bytes(const struct at_problem *problem, enum at_side side)
{
    return (uint64_t)((side == AT_SOURCE ? problem->offset_src : problem->offset_dst) *
                      at_problem_elem_size(problem, side));
}

struct at_call at_bench_call(const struct at_bench *bench, const struct at_kernel *kernel,
                             const struct at_gpu_run *run, int64_t set)
{
    const struct at_buffers *tuned = &bench->cases[0];
    /* A copy's problem has no offset and may have another element size. It starts inside the red
     * zones, which are longer by the transpose's offset. */
    at_address dst = at_buffer_of(&tuned->dst, set) + offset_bytes(&run->problem, AT_DESTINATION) -
                     offset_bytes(&tuned->problem, AT_DESTINATION);
    at_address src = at_buffer_of(&tuned->src, set) + offset_bytes(&run->problem, AT_SOURCE) -
                     offset_bytes(&tuned->problem, AT_SOURCE);
    struct at_call call = {.kernel = kernel, .launch = run->launch, .cold = run->cold != 0};

    if (kernel)
        put_args(&call, tuned, &run->problem, set, dst, src, 0);
    else
        call.args[0] = dst, call.args[1] = src,
        call.args[2] = (uint64_t)(at_problem_bytes(&run->problem) / 2);
    return call;
}

/* ---- verification ---- */

/* A transpose is exact, so every bit of the result is compared, and every byte that the kernel must
 * not change. */

/* A started check; its result has the same index on the device. */
struct started_check {
    const struct at_buffers *buffers;
    enum at_check_of what;
};

struct verification {
    struct at_bench *bench;
    struct started_check checks[CHECKS_MAX];
    size_t count;
};

/* Clear the results: no mismatch, and the first one at the largest index. */
static enum at_outcome clear_results(struct at_bench *bench, struct at_error *err)
{
    static const struct at_check_result none = {0, UINT64_MAX};
    struct at_check_result cleared[CHECKS_MAX];

    for (size_t i = 0; i < CHECKS_MAX; i++)
        cleared[i] = none;
    return bench->ops->write(bench->device, bench->results, cleared, sizeof cleared, err);
}

static enum at_outcome start_check(struct verification *verification,
                                   const struct at_buffers *buffers, int64_t set,
                                   enum at_check_of what, struct at_error *err)
{
    struct at_bench *bench = verification->bench;
    at_address result = bench->results + verification->count * sizeof(struct at_check_result);

    verification->checks[verification->count++] = (struct started_check){buffers, what};
    return at_buffers_check(bench, buffers, set, what, result, err);
}

static enum at_outcome start_source_checks(struct verification *verification,
                                           const struct at_buffers *buffers, int64_t set,
                                           struct at_error *err)
{
    enum at_outcome outcome = start_check(verification, buffers, set, AT_OF_SOURCE, err);

    if (outcome == AT_CORRECT && buffers->second.pitch)
        outcome = start_check(verification, buffers, set, AT_OF_SECOND, err);
    return outcome;
}

/* Start checks of what a kernel has written. */
static enum at_outcome start_output_checks(struct verification *verification,
                                           const struct at_buffers *buffers, int64_t set,
                                           struct at_error *err)
{
    bool all = at_step_has(&buffers->problem.step, AT_BLOCKS);
    enum at_outcome outcome =
        start_check(verification, buffers, set, all ? AT_OF_ALL : AT_OF_DESTINATION, err);

    if (outcome == AT_CORRECT && buffers->kept.pitch && !all)
        outcome = start_check(verification, buffers, set, AT_OF_KEPT, err);
    if (outcome == AT_CORRECT && at_step_has(&buffers->problem.step, AT_AMAX))
        outcome = start_check(verification, buffers, set, AT_OF_LARGEST, err);
    return outcome;
}

/* Start a call between two marks. */
static enum at_outcome start_timed(struct at_bench *bench, const struct at_call *call,
                                   struct at_error *err)
{
    enum at_outcome outcome = bench->ops->mark(bench->device, AT_BEFORE, err);

    if (outcome == AT_CORRECT)
        outcome = bench->ops->start(bench->device, call, err);
    return outcome == AT_CORRECT ? bench->ops->mark(bench->device, AT_AFTER, err) : outcome;
}

/* Reset the outputs and run the kernel. skip: the address of a flag, or 0. */
static enum at_outcome start_afresh(struct at_bench *bench, const struct at_kernel *kernel,
                                    const struct at_launch *launch,
                                    const struct at_buffers *buffers, int64_t set, bool timed,
                                    at_address skip, struct at_error *err)
{
    struct at_call call = {.kernel = kernel, .launch = *launch};
    enum at_outcome outcome = reset(bench, buffers, set, err);

    put_args(&call, buffers, &buffers->problem, set, at_buffer_of(&buffers->dst, set),
             at_buffer_of(&buffers->src, set), skip);
    if (outcome != AT_CORRECT)
        return outcome;
    return timed ? start_timed(bench, &call, err) : bench->ops->start(bench->device, &call, err);
}

/* Start a trial, and check what it writes. */
static enum at_outcome start_trial(struct verification *verification,
                                   const struct at_kernel *kernel, const struct at_launch *launch,
                                   const struct at_buffers *buffers, int64_t set, bool timed,
                                   struct at_error *err)
{
    enum at_outcome outcome =
        start_afresh(verification->bench, kernel, launch, buffers, set, timed, 0, err);

    return outcome == AT_CORRECT ? start_output_checks(verification, buffers, set, err) : outcome;
}

/* Start a launch that is to be skipped, and check that it writes nothing. */
static enum at_outcome start_skipped(struct verification *verification,
                                     const struct at_kernel *kernel, const struct at_launch *launch,
                                     const struct at_buffers *buffers, struct at_error *err)
{
    at_address flag = buffers->values + layout_of(&buffers->problem.step).flag;
    enum at_outcome outcome =
        start_afresh(verification->bench, kernel, launch, buffers, 0, false, flag, err);

    return outcome == AT_CORRECT ? start_check(verification, buffers, 0, AT_OF_NOTHING, err)
                                 : outcome;
}

static enum at_outcome report(const struct started_check *check,
                              const struct at_check_result *result, struct at_error *err)
{
    static const char *const names[] = {[AT_OF_SOURCE] = "source",
                                        [AT_OF_SECOND] = "second source",
                                        [AT_OF_DESTINATION] = "destination",
                                        [AT_OF_RESTORED] = "destination",
                                        [AT_OF_KEPT] = "second result"};
    const struct at_buffers *buffers = check->buffers;
    int64_t zone = checked_buffer(buffers, check->what)->zone;
    char *problem = at_problem_format(&buffers->problem);

    if (check->what == AT_OF_ALL)
        at_fail(err, AT_FAILED, "%s: %ju wrong bytes in the results and their scales", problem,
                (uintmax_t)result->mismatches);
    else if (check->what == AT_OF_NOTHING)
        at_fail(err, AT_FAILED, "%s: a launch that is to be skipped has written something",
                problem);
    else if (check->what == AT_OF_LARGEST)
        at_fail(err, AT_FAILED,
                "%s: the largest magnitude is not %g, or its scratch was not cleared", problem,
                (double)at_f32_of(buffers->largest));
    else
        at_fail(err, AT_FAILED, "%s: %ju wrong elements in the %s, the first at %jd", problem,
                (uintmax_t)result->mismatches, names[check->what],
                (intmax_t)result->first -
                    (intmax_t)(zone / checked_size(&buffers->problem, check->what)));
    at_free(problem);
    return AT_WRONG;
}

/* Wait for all checks and read their results. */
static enum at_outcome finish(struct verification *verification, struct at_error *err)
{
    struct at_bench *bench = verification->bench;
    struct at_check_result results[CHECKS_MAX];
    enum at_outcome outcome = bench->ops->read(bench->device, results, bench->results,
                                               verification->count * sizeof *results, err);

    for (size_t i = 0; i < verification->count && outcome == AT_CORRECT; i++) {
        bool two =
            i + 1 < verification->count && verification->checks[i + 1].what == AT_OF_RESTORED;

        if (results[i].mismatches != 0 && !(two && results[i + 1].mismatches == 0))
            outcome = report(&verification->checks[i], &results[i], err);
        i += two;
    }
    return outcome;
}

/* The run's sets to check: the first and the last. Sets differ only in their address; checking a
 * thousand of them would take longer than timing them. */
static size_t checked_sets(const struct at_bench *bench, const struct at_gpu_run *run,
                           int64_t sets[2])
{
    sets[0] = 0;
    sets[1] = at_bench_sets(bench, run) - 1;
    return sets[1] > 0 ? 2 : 1;
}

/* A launch this long is timed accurately in a queue of others. */
static const double long_ns = 50000;

enum at_outcome at_verify_before(struct at_bench *bench, const struct at_kernel *kernel,
                                 const struct at_gpu_run *run, const struct at_gpu_trial *trials,
                                 size_t trial_count, struct at_verified_launch *launch,
                                 struct at_error *err)
{
    struct verification verification = {.bench = bench};
    const struct at_buffers *tuned = &bench->cases[0];
    bool timed = launch && bench->ops->mark && bench_is_large(bench, run);
    int64_t sets[2];
    size_t set_count = checked_sets(bench, run, sets);
    enum at_outcome outcome = clear_results(bench, err);

    for (size_t i = 0; i < trial_count && outcome == AT_CORRECT; i++) {
        const struct at_buffers *buffers = &bench->cases[trials[i].case_index];

        outcome = start_trial(&verification, kernel, &trials[i].launch, buffers, 0, false, err);
        if (outcome == AT_CORRECT)
            outcome = start_source_checks(&verification, buffers, 0, err);
    }
    if (trial_count > 0 && outcome == AT_CORRECT &&
        (at_step_has_outputs(&tuned->problem.step) || at_step_has(&tuned->problem.step, AT_BLOCKS)))
        outcome = start_skipped(&verification, kernel, &trials[0].launch,
                                &bench->cases[trials[0].case_index], err);
    for (size_t i = 0; i < set_count && outcome == AT_CORRECT; i++) {
        outcome = start_trial(&verification, kernel, &run->launch, tuned, sets[i], timed, err);
        if (!timed || outcome != AT_CORRECT)
            continue;
        outcome = finish(&verification, err);
        if (outcome == AT_CORRECT)
            outcome = bench->ops->between(bench->device, &launch->ns, err);
        if (launch->give_up_ns > 0 && launch->ns > launch->give_up_ns)
            break;
    }
    if (timed && launch->ns < long_ns)
        launch->ns = 0;
    return outcome == AT_CORRECT && !timed ? finish(&verification, err) : outcome;
}

enum at_outcome at_verify_left(struct at_bench *bench, const struct at_gpu_run *run,
                               bool destinations, struct at_error *err)
{
    struct verification verification = {.bench = bench};
    const struct at_buffers *tuned = &bench->cases[0];
    int64_t sets[2];
    size_t set_count = checked_sets(bench, run, sets);
    enum at_outcome outcome = clear_results(bench, err);

    for (size_t i = 0; i < set_count && outcome == AT_CORRECT; i++) {
        if (destinations)
            outcome = start_output_checks(&verification, tuned, sets[i], err);
        /* The number of timed launches is unknown here; after an even number the matrix is
         * restored. */
        if (outcome == AT_CORRECT && destinations && tuned->problem.in_place)
            outcome = start_check(&verification, tuned, sets[i], AT_OF_RESTORED, err);
        if (outcome == AT_CORRECT)
            outcome = start_source_checks(&verification, tuned, sets[i], err);
    }
    return outcome == AT_CORRECT ? finish(&verification, err) : outcome;
}

/* Launches whose results are read together. */
enum { ROUND_LAUNCHES = 8 };

enum at_outcome at_verify_often(struct at_bench *bench, const struct at_kernel *kernel,
                                const struct at_gpu_run *run, int64_t times, int64_t limit_ns,
                                struct at_error *err)
{
    const struct at_buffers *tuned = &bench->cases[0];
    int64_t ends_ns = at_now_ns() + limit_ns;
    enum at_outcome outcome = AT_CORRECT;

    for (int64_t done = 0; outcome == AT_CORRECT && done < times && at_now_ns() < ends_ns;) {
        struct verification verification = {.bench = bench};

        outcome = clear_results(bench, err);
        for (int i = 0; i < ROUND_LAUNCHES && outcome == AT_CORRECT; i++, done++)
            outcome = start_trial(&verification, kernel, &run->launch, tuned, done % tuned->sets,
                                  false, err);
        if (outcome == AT_CORRECT)
            outcome = finish(&verification, err);
    }
    return outcome;
}
