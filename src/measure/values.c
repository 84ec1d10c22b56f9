/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/values.h"

#include "base/memory.h"
#include "measure/buffers.h"
#include "measure/harness.h"
#include "problem/arguments.h"
#include "problem/column_sums.h"

#include <math.h>
#include <string.h>

struct at_values_layout at_values_lay_out(const struct at_step *step)
{
    size_t from = AT_STEP_VALUES * (size_t)at_number_formats[step->from].bytes;
    size_t to = AT_STEP_VALUES * (size_t)at_number_formats[step->to].bytes;
    struct at_values_layout at = {.seconds = from, .results = from + to};

    at.kept = at.results + at_step_sets(step) * to;
    at.numbers = at.kept + AT_STEP_VALUES * (size_t)at_step_kept_bytes(step);
    at.largest = at.numbers + 4 * sizeof(double);
    at.flag = at.largest + AT_LARGEST_BYTES + AT_STEP_SCRATCH_BYTES;
    at.channels = at.flag + sizeof(double);
    at.bytes = at.channels + 2 * (size_t)step->channels.count * sizeof(double);
    return at;
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

    if (at_step_has(&problem->step, AT_BLOCKS)) /* a magnitude */
        number = fabs(number);
    return (struct at_step_operands){
        .number = {number, -0.5 * number},
        .beta = {none ? 0 : other, none ? 0 : draw % 3 * other},
    };
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
    if (!(problem->step.operations & (1U << AT_AMAX | 1U << AT_SUMS)) || (!tuned && draw % 4 == 0))
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

void at_values_make(struct at_buffers *buffers, bool tuned, unsigned char *table)
{
    const struct at_problem *problem = &buffers->problem;
    const struct at_step *step = &problem->step;
    struct at_values_layout at = at_values_lay_out(step);

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
}

int64_t at_values_expected_bytes(const struct at_buffers *buffers)
{
    return buffers->sums.pitch + (at_step_has(&buffers->problem.step, AT_BLOCKS)
                                      ? buffers->dst.pitch + buffers->kept.pitch +
                                            buffers->scales.pitch + buffers->kept_scales.pitch
                                      : 0);
}

/* A matrix of the source, drawn from the table's elements. */
struct drawn {
    const float *table;
    int64_t first, ld, cols;
};

static void read_drawn(const void *context, int64_t row, float *elements)
{
    const struct drawn *drawn = context;

    for (int64_t i = 0; i < drawn->cols; i++)
        elements[i] = drawn->table[at_harness_value(drawn->first + row * drawn->ld + i)];
}

static void expect_sums(const struct at_problem *p, const unsigned char *table, float *sums)
{
    float *floats = at_alloc_array(AT_STEP_VALUES, sizeof *floats);

    for (size_t i = 0; i < AT_STEP_VALUES; i++)
        at_number_cast(AT_F32, &floats[i], p->step.from, table + i * (size_t)p->elem_size, false);
    for (int64_t i = 0; i < p->batch; i++) {
        const struct drawn drawn = {floats, i * p->stride_src, p->ld_src, p->cols};

        at_column_sums(sums + i * p->cols, &(struct at_row_source){read_drawn, &drawn}, p->rows,
                       p->cols);
    }
    at_free(floats);
}

static void expect_blocks(const struct at_buffers *buffers, const unsigned char *table,
                          unsigned char *expected)
{
    const struct at_problem *p = &buffers->problem;
    size_t bytes = (size_t)p->elem_size, extent = (size_t)at_problem_src_extent(p);
    unsigned char *source = at_alloc(extent * bytes);
    struct at_block_tables *tables = at_alloc(sizeof *tables);
    const float largest = (float)buffers->operands.number[0];

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

        if (scale_bytes == 0)
            continue;
        at_block_tabulate(tables, result.rule, p->step.from, result.to);
        result.tables = tables;
        for (int64_t i = 0; i < p->batch; i++)
            at_block_apply(&result, p->step.from, source + (size_t)(i * p->stride_src) * bytes,
                           p->rows, p->cols, p->ld_src, buffers->by_value ? NULL : &largest,
                           results + at_number_bytes(own ? p->step.to : p->step.kept,
                                                     i * (own ? p->stride_dst : p->stride_src)),
                           own ? p->ld_dst : p->ld_src, scales + i * scale_bytes);
    }
    at_free(tables);
    at_free(source);
}

void at_values_expect(const struct at_buffers *buffers, const unsigned char *table,
                      unsigned char *expected)
{
    int64_t bytes = at_values_expected_bytes(buffers);

    memset(expected, AT_POISON_BYTE, (size_t)bytes);
    if (at_step_has(&buffers->problem.step, AT_BLOCKS))
        expect_blocks(buffers, table, expected);
    if (buffers->sums.pitch)
        expect_sums(&buffers->problem, table,
                    (float *)(void *)(expected + bytes - buffers->sums.pitch + buffers->sums.zone));
}
