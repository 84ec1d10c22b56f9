/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers of a problem: their layout, their content, and its check. */
#include "base/integer.h"
#include "base/memory.h"
#include "device/kind.h"
#include "measure/bench.h"
#include "problem/arguments.h"
#include "problem/problem.h"

#include <string.h>

/* ---- the harness ---- */

enum { HARNESS_THREADS = 256, HARNESS_BLOCKS_PER_MULTIPROCESSOR = 32 };

/* Start one of the harness's kernels over this many items; it works with any number of threads. A
 * device whose memory the host can reach gets the host's function of the same name at once. */
static enum at_outcome start(const struct at_bench *bench, enum at_harness_kernel kernel,
                             int64_t items, struct at_call call, struct at_error *err)
{
    const struct at_device_base *base = (const struct at_device_base *)bench->device;
    int64_t most = base->info.multiprocessors * HARNESS_BLOCKS_PER_MULTIPROCESSOR;

    if (base->ops->view)
        return at_host_kernels[kernel](bench->device, call.args, err);
    call.kernel = &bench->harness[kernel];
    call.launch = (struct at_launch){{
        [AT_GRID_X] = at_max(1, at_min(most, (items + HARNESS_THREADS - 1) / HARNESS_THREADS)),
        [AT_GRID_Y] = 1,
        [AT_GRID_Z] = 1,
        [AT_BLOCK_X] = HARNESS_THREADS,
        [AT_BLOCK_Y] = 1,
        [AT_BLOCK_Z] = 1,
        [AT_CARVEOUT_PERCENT] = -1,
    }};
    return base->ops->start(bench->device, &call, err);
}

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
    return buffers;
}

/* Where in a table of values the elements of the second source are, the results, the numbers, and
 * those of the channels: the first ones of all, then the second ones. */
static size_t seconds_at(const struct at_step *step)
{
    return AT_STEP_VALUES * (size_t)at_number_formats[step->from].bytes;
}

static size_t results_at(const struct at_step *step)
{
    return seconds_at(step) + AT_STEP_VALUES * (size_t)at_number_formats[step->to].bytes;
}

static size_t numbers_at(const struct at_step *step)
{
    return results_at(step) +
           at_step_sets(step) * AT_STEP_VALUES * (size_t)at_number_formats[step->to].bytes;
}

static size_t channels_at(const struct at_step *step)
{
    return numbers_at(step) + 4 * sizeof(double);
}

static size_t table_bytes(const struct at_step *step)
{
    return channels_at(step) + 2 * (size_t)step->channels.count * sizeof(double);
}

int64_t at_buffers_bytes(const struct at_problem *problem, int64_t sets,
                         const struct at_device_info *device)
{
    struct at_buffers buffers = lay_out(problem, sets, device);
    int64_t values = problem->step.given ? (int64_t)table_bytes(&problem->step) : 0, bytes;

    /* A problem has at most 2^62 bytes, so the sum fits; the product may not. */
    return __builtin_mul_overflow(
               sets, buffers.src.pitch + buffers.dst.pitch + buffers.second.pitch, &bytes) ||
                   __builtin_add_overflow(bytes, values, &bytes)
               ? INT64_MAX
               : bytes;
}

static enum at_outcome poison(const struct at_bench *bench, at_address address, int64_t bytes,
                              struct at_error *err)
{
    return start(bench, AT_POISON, bytes / 16, (struct at_call){.args = {address, (uint64_t)bytes}},
                 err);
}

/* Fill the source's buffer with a source's values; in place, the destination's buffer. */
static enum at_outcome fill(const struct at_bench *bench, const struct at_buffers *buffers,
                            at_address extent, struct at_error *err)
{
    const struct at_problem *problem = &buffers->problem;
    int64_t elements = at_problem_src_extent(problem);

    return start(bench, AT_FILL_SOURCE, elements,
                 (struct at_call){.args = {extent, (uint64_t)elements, (uint64_t)problem->elem_size,
                                           buffers->values}},
                 err);
}

/* The destination of batches of any axes. The kernel has its own struct `tensor_axes`, with the
 * axes that are farthest apart in the destination first. */
static void put_axes(struct at_call *call, size_t first, const struct at_problem *p)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_axes_merge(axes, at_problem_axes(p, axes));
    uint64_t *words = call->args + first;
    int64_t span = 0;

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
                                    buffers->values + seconds_at(&problem->step)}};

    put_axes(&call, 4, problem);
    return start(bench, AT_FILL_SECOND, elements, call, err);
}

/* Poison all sets of a side. */
static enum at_outcome poison_side(const struct at_bench *bench, const struct at_buffers *buffers,
                                   const struct at_buffer *side, struct at_error *err)
{
    return poison(bench, side->start, buffers->sets * side->pitch, err);
}

enum at_outcome at_buffers_fill(const struct at_bench *bench, const struct at_buffers *buffers,
                                struct at_error *err)
{
    const struct at_problem *problem = &buffers->problem;
    enum at_outcome outcome = poison_side(bench, buffers, &buffers->src, err);

    if (outcome == AT_CORRECT)
        outcome = poison_side(bench, buffers, &buffers->dst, err);
    if (outcome == AT_CORRECT && buffers->second.pitch)
        outcome = poison_side(bench, buffers, &buffers->second, err);
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

    return buffers->values + numbers_at(step) + (uint64_t)(2 * which * bytes);
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

/* Write the table of values to the device. */
static enum at_outcome make_values(const struct at_bench *bench, struct at_buffers *buffers,
                                   bool tuned, struct at_error *err)
{
    const struct at_problem *problem = &buffers->problem;
    const struct at_step *step = &problem->step;
    size_t size = table_bytes(step);
    unsigned char *table = at_alloc(size);
    enum at_outcome outcome;

    buffers->operands = operands_for(problem, tuned);
    buffers->by_value = problem->rows % 2 == 0;
    at_step_values(step, &buffers->operands, table, table + seconds_at(step),
                   table + results_at(step));
    put_numbers_of(buffers, table + numbers_at(step));
    put_channels_of(step, table + channels_at(step));
    outcome = bench->ops->allocate(bench->device, (int64_t)size, &buffers->values, err);
    if (outcome == AT_CORRECT)
        outcome = bench->ops->write(bench->device, buffers->values, table, size, err);
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
                         at_address src)
{
    const double *beta = buffers->operands.beta;
    bool has_second = buffers->second.pitch && (beta[0] != 0 || beta[1] != 0);
    at_address shift = dst - at_buffer_of(&buffers->dst, set);
    const struct at_step *step = &problem->step;
    int64_t bytes = step->given ? at_number_formats[at_step_computes_in(step)].bytes : 0;
    at_address channels =
        buffers->values && step->channels.count ? buffers->values + channels_at(step) : 0;
    const struct at_step_numbers all = {
        .number = given(buffers, buffers->operands.number, 0),
        .beta = given(buffers, beta, 1),
        .second = has_second ? at_buffer_of(&buffers->second, set) + shift : 0,
        .channel_scale = channels,
        .channel_shift = channels ? channels + (uint64_t)(step->channels.count * bytes) : 0,
    };

    at_problem_args(problem, &call->launch, dst, src, &all, call->args, call->arg_words);
}

enum at_outcome at_buffers_make(const struct at_bench *bench, struct at_buffers *buffers,
                                const struct at_gpu_case *wanted, struct at_error *err)
{
    struct at_buffers made = lay_out(&wanted->problem, wanted->sets, at_bench_info(bench));
    enum at_outcome outcome =
        bench->ops->allocate(bench->device, made.sets * made.src.pitch, &made.src.start, err);

    if (outcome == AT_CORRECT)
        outcome =
            bench->ops->allocate(bench->device, made.sets * made.dst.pitch, &made.dst.start, err);
    if (outcome == AT_CORRECT && made.second.pitch)
        outcome = bench->ops->allocate(bench->device, made.sets * made.second.pitch,
                                       &made.second.start, err);
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
    bench->ops->release(bench->device, buffers->src.start);
    bench->ops->release(bench->device, buffers->dst.start);
    bench->ops->release(bench->device, buffers->second.start);
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

enum at_outcome at_buffers_reset(const struct at_bench *bench, const struct at_buffers *buffers,
                                 int64_t set, struct at_error *err)
{
    enum at_outcome outcome = poison(bench, whole_of(&buffers->dst, set), buffers->dst.pitch, err);

    if (outcome == AT_CORRECT && buffers->problem.in_place)
        outcome = fill(bench, buffers, at_buffer_of(&buffers->dst, set), err);
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

const struct at_buffer *at_buffers_checked(const struct at_buffers *buffers, enum at_check_of what)
{
    return what == AT_OF_SOURCE   ? &buffers->src
           : what == AT_OF_SECOND ? &buffers->second
                                  : &buffers->dst;
}

/* Which part of the table has the values of a check. */
static size_t checked_values(const struct at_step *step, enum at_check_of what)
{
    return what == AT_OF_DESTINATION ? results_at(step)
           : what == AT_OF_SECOND    ? seconds_at(step)
                                     : 0;
}

enum at_outcome at_buffers_check(const struct at_bench *bench, const struct at_buffers *buffers,
                                 int64_t set, enum at_check_of what, at_address result,
                                 struct at_error *err)
{
    const struct at_problem *p = &buffers->problem;
    const struct at_buffer *buffer = at_buffers_checked(buffers, what);
    bool filled = what == AT_OF_SOURCE || what == AT_OF_RESTORED;
    bool tensor = !filled && at_problem_is_tensor(p);
    int64_t extent = filled ? at_problem_src_extent(p) : at_problem_dst_extent(p);
    struct at_call call = {.args = {whole_of(buffer, set), (uint64_t)buffer->zone}};
    uint64_t size = (uint64_t)at_problem_elem_size(p, filled ? AT_SOURCE : AT_DESTINATION);
    uint64_t values = buffers->values ? buffers->values + checked_values(&p->step, what) : 0;
    bool sets = what == AT_OF_DESTINATION && at_step_has(&p->step, AT_AFFINE);
    const uint64_t whole[1 + CHECKED_WORDS] = {(uint64_t)extent,
                                               size,
                                               result,
                                               values,
                                               sets ? (uint64_t)p->step.channels.period : 0,
                                               sets ? (uint64_t)p->step.channels.run : 0};

    if (filled || tensor)
        memcpy(call.args + 2, whole, sizeof whole);
    else
        put_matrices(&call, p, whole + 1);
    if (tensor)
        put_axes(&call, 8, p);
    return start(bench,
                 filled   ? AT_CHECK_SOURCE
                 : tensor ? AT_CHECK_TENSOR
                          : AT_CHECK,
                 buffer->pitch / (int64_t)size, call, err);
}
