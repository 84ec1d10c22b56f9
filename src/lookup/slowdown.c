/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/slowdown.h"

#include "base/memory.h"
#include "lookup/distance.h"
#include "lookup/slowdown_table.h"
#include "space/point.h"

#include <math.h>
#include <string.h>

enum { UNKNOWN = -1 };

/* Where a family's name and parameters are among the inputs; UNKNOWN: nowhere. */
struct places {
    const struct at_family *family;
    int name, params[AT_PARAMS_MAX];
};

struct at_slowdown {
    struct places *places;
    size_t count;
};

/* ---- names ---- */

static int find_input(const char *name)
{
    for (int i = AT_IN_OWN; i < AT_SLOWDOWN_INPUTS; i++)
        if (strcmp(at_slowdown_table.inputs[i].name, name) == 0)
            return i;
    return UNKNOWN;
}

static void find_places(struct places *places, const struct at_family *family)
{
    char *name = at_format("family %s", family->name);

    places->family = family;
    places->name = find_input(name);
    at_free(name);
    for (size_t i = 0; places->name != UNKNOWN && i < family->param_count; i++)
        places->params[i] = find_input(family->params[i].name);
}

struct at_slowdown *at_slowdown_open(struct at_family *const *families, size_t count)
{
    struct at_slowdown *slowdown = at_alloc(sizeof *slowdown);

    slowdown->places = at_alloc_array(count, sizeof *slowdown->places);
    slowdown->count = count;
    for (size_t i = 0; i < count; i++)
        find_places(&slowdown->places[i], families[i]);
    return slowdown;
}

void at_slowdown_close(struct at_slowdown *slowdown)
{
    if (!slowdown)
        return;
    at_free(slowdown->places);
    at_free(slowdown);
}

/* ---- inputs ---- */

/* More alignment than this does not matter: two lines of L2. */
enum { ALIGN_MAX = 256 };

static float log2_of(int64_t value)
{
    return log2f((float)value);
}

static float step_alignment(const struct at_problem *problem, bool source)
{
    int64_t bits = source ? problem->stride_src : problem->stride_dst;

    if (at_problem_matrices(problem) == 1)
        return at_alignment(0, 0, ALIGN_MAX);
    for (int64_t i = 0; i < problem->outer_count; i++)
        bits |= source ? problem->outer[i].stride_src : problem->outer[i].stride_dst;
    return at_alignment(bits, problem->elem_size, ALIGN_MAX);
}

static void fill_problem(const struct at_problem *problem, float *inputs)
{
    struct at_axis axes[AT_AXES_MAX];

    inputs[AT_IN_ELEMENT_BYTES] = log2_of(problem->elem_size);
    inputs[AT_IN_ELEMENTS] = log2f((float)problem->rows) + log2f((float)problem->cols) +
                             log2_of(at_problem_matrices(problem));
    inputs[AT_IN_AXES] = (float)at_problem_axes(problem, axes);
    inputs[AT_IN_WORD_BYTES] = log2_of(at_problem_word_bytes(problem));
    inputs[AT_IN_ROWS] = log2_of(problem->rows);
    inputs[AT_IN_COLS] = log2_of(problem->cols);
    inputs[AT_IN_MATRICES] = log2_of(at_problem_matrices(problem));
    inputs[AT_IN_SRC_ROW_ALIGN] = at_alignment(problem->ld_src, problem->elem_size, ALIGN_MAX);
    inputs[AT_IN_DST_ROW_ALIGN] = at_alignment(problem->ld_dst, problem->elem_size, ALIGN_MAX);
    inputs[AT_IN_SRC_STEP_ALIGN] = step_alignment(problem, true);
    inputs[AT_IN_DST_STEP_ALIGN] = step_alignment(problem, false);
}

/* Blocks that a multiprocessor holds at once, if registers allow. */
static float resident_blocks(const struct at_device_info *device, float threads, float shared_bytes)
{
    const float most = 32, reserved = 1024; /* of every block's shared memory */
    float blocks = fminf(most, (float)device->max_threads_per_multiprocessor / threads);

    if (shared_bytes > 0)
        blocks = fminf(blocks,
                       (float)device->shared_bytes_per_multiprocessor / (shared_bytes + reserved));
    return fmaxf(1, floorf(blocks));
}

static void fill_launch(const struct at_device_info *device, const struct at_launch *launch,
                        float *inputs)
{
    float blocks = at_launch_blocks(launch), threads = at_launch_threads(launch);
    float shared = (float)launch->field[AT_SHARED_BYTES];
    float resident = resident_blocks(device, threads, shared);

    inputs[AT_IN_BLOCKS] = log2f(blocks);
    inputs[AT_IN_THREADS] = log2f(threads);
    inputs[AT_IN_SHARED_BYTES] = log2f(1 + shared);
    inputs[AT_IN_RESIDENT_THREADS] = log2f(resident * threads);
    inputs[AT_IN_WAVES] = log2f(blocks / (resident * (float)device->multiprocessors));
    inputs[AT_IN_BLOCK_BYTES] =
        inputs[AT_IN_ELEMENTS] + inputs[AT_IN_ELEMENT_BYTES] - inputs[AT_IN_BLOCKS];
}

/* How much more than the problem's elements the blocks could move; 0 if the family does not say. */
static float empty_part(const struct at_slowdown_query *query, const float *inputs)
{
    const struct at_expr *expr = query->config->family->block_elements;
    struct at_point point;
    int64_t elements;

    if (!expr)
        return 0;
    point = at_point_make(query->config->family, query->problem, query->device);
    at_point_move(&point, query->config);
    if (at_expr_eval(expr, point.values, &elements, NULL) != AT_OK || elements < 1)
        return 0;
    return log2_of(elements) + inputs[AT_IN_BLOCKS] - inputs[AT_IN_ELEMENTS];
}

void at_slowdown_own_inputs(const struct at_slowdown_query *query, float inputs[AT_IN_OWN])
{
    fill_problem(query->problem, inputs);
    fill_launch(query->device, query->launch, inputs);
    inputs[AT_IN_EMPTY] = empty_part(query, inputs);
}

/* ---- the network ---- */

static inline void add_scaled(float *sums, const float *weights, float factor, int count)
{
    for (int i = 0; i < count; i++)
        sums[i] += factor * weights[i];
}

static void add_input(int input, float value, float sums[AT_SLOWDOWN_FIRST])
{
    const float most = 5;
    const struct at_slowdown_scale *scale = &at_slowdown_table.inputs[input];
    float scaled = fmaxf(-most, fminf(most, (value - scale->mean) * scale->scale));

    add_scaled(sums, at_slowdown_table.first[input], scaled, AT_SLOWDOWN_FIRST);
}

/* Most values double from one to the next; some are negative, for "none". */
static float value_input(int32_t value)
{
    return value >= 0 ? log2f(1 + (float)value) : -1;
}

static void add_inputs(const struct at_slowdown_query *query, const struct places *places,
                       float sums[AT_SLOWDOWN_FIRST])
{
    float own[AT_IN_OWN];

    at_slowdown_own_inputs(query, own);
    for (int i = 0; i < AT_IN_OWN; i++)
        add_input(i, own[i], sums);
    add_input(places->name, 1, sums);
    for (size_t i = 0; i < query->config->family->param_count; i++)
        if (places->params[i] != UNKNOWN)
            add_input(places->params[i], value_input(query->config->values[i]), sums);
}

static const struct places *places_of(const struct at_slowdown *slowdown,
                                      const struct at_family *family)
{
    for (size_t i = 0; i < slowdown->count; i++)
        if (slowdown->places[i].family == family)
            return slowdown->places[i].name == UNKNOWN ? NULL : &slowdown->places[i];
    return NULL;
}

float at_slowdown_predict(const struct at_slowdown *slowdown, const struct at_slowdown_query *query)
{
    const struct at_slowdown_table *table = &at_slowdown_table;
    const struct places *places = places_of(slowdown, query->config->family);
    float first[AT_SLOWDOWN_FIRST], second[AT_SLOWDOWN_SECOND], result = 0;

    if (!places)
        return INFINITY;
    memcpy(first, table->first_bias, sizeof first);
    memcpy(second, table->second_bias, sizeof second);
    add_inputs(query, places, first);
    for (int i = 0; i < AT_SLOWDOWN_FIRST; i++)
        if (first[i] > 0)
            add_scaled(second, table->second[i], first[i], AT_SLOWDOWN_SECOND);
    for (int i = 0; i < AT_SLOWDOWN_SECOND; i++)
        result += fmaxf(0, second[i]) * table->last[i];
    return result;
}
