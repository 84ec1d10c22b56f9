/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/slowdown.h"

#include "base/memory.h"
#include "lookup/distance.h"
#include "lookup/slowdown_table.h"
#include "problem/arguments.h"

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
    struct at_network *networks[AT_SLOWDOWN_NETWORKS_MAX];
};

/* ---- names ---- */

static int find_input(const char *name)
{
    for (int i = AT_IN_OWN; i < at_slowdown_table.input_count; i++)
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
    for (int i = 0; i < at_slowdown_table.network_count; i++)
        slowdown->networks[i] = at_network_open(&at_slowdown_table.networks[i]);
    return slowdown;
}

void at_slowdown_close(struct at_slowdown *slowdown)
{
    if (!slowdown)
        return;
    for (int i = 0; i < at_slowdown_table.network_count; i++)
        at_network_close(slowdown->networks[i]);
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

static float step_alignment(const struct at_point *point, bool source)
{
    int64_t step = point->values[source ? AT_NAME_STRIDE_SRC : AT_NAME_STRIDE_DST];

    return at_alignment(point->values[AT_NAME_BATCH] > 1 ? step : 0, point->problem->elem_size,
                        ALIGN_MAX);
}

static void fill_problem(const struct at_point *point, float *inputs)
{
    const struct at_problem *problem = point->problem;
    struct at_axis axes[AT_AXES_MAX];

    inputs[AT_IN_ELEMENT_BYTES] = log2_of(problem->elem_size);
    inputs[AT_IN_AXES] = (float)at_problem_axes(problem, axes);
    inputs[AT_IN_WORD_BYTES] = log2_of(point->values[AT_NAME_WORD_BYTES]);
    inputs[AT_IN_ROWS] = log2_of(problem->rows);
    inputs[AT_IN_COLS] = log2_of(problem->cols);
    inputs[AT_IN_MATRICES] = log2_of(point->values[AT_NAME_BATCH]);
    inputs[AT_IN_ELEMENTS] = inputs[AT_IN_ROWS] + inputs[AT_IN_COLS] + inputs[AT_IN_MATRICES];
    inputs[AT_IN_BATCH] = log2_of(problem->batch);
    inputs[AT_IN_RUN_ROWS] = log2_of(1 + point->values[AT_NAME_RUN_ROWS]);
    inputs[AT_IN_RUN_COLS] = log2_of(1 + point->values[AT_NAME_RUN_COLS]);
    inputs[AT_IN_SRC_ROW_ALIGN] = at_alignment(problem->ld_src, problem->elem_size, ALIGN_MAX);
    inputs[AT_IN_DST_ROW_ALIGN] = at_alignment(problem->ld_dst, problem->elem_size, ALIGN_MAX);
    inputs[AT_IN_SRC_STEP_ALIGN] = step_alignment(point, true);
    inputs[AT_IN_DST_STEP_ALIGN] = step_alignment(point, false);
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

static void fill_packed(const struct at_problem *problem, const struct at_launch *launch,
                        float *inputs)
{
    int64_t runs[2] = {0, 0};

    if (launch->field[AT_SIDE_SRC] > 0)
        at_problem_packed_runs(problem, launch, runs);
    inputs[AT_IN_PACKED_SRC] = log2_of(1 + runs[0]);
    inputs[AT_IN_PACKED_DST] = log2_of(1 + runs[1]);
}

/* How much more than the problem's elements the blocks could move; 0 if the family does not say. */
static float empty_part(const struct at_point *point, const float *inputs)
{
    const struct at_expr *expr = point->family->block_elements;
    int64_t elements;

    if (!expr || at_expr_eval(expr, point->values, &elements, NULL) != AT_OK || elements < 1)
        return 0;
    return log2_of(elements) + inputs[AT_IN_BLOCKS] - inputs[AT_IN_ELEMENTS];
}

void at_slowdown_own_inputs(struct at_slowdown_asked *asked, const struct at_config *config,
                            const struct at_launch *launch, float inputs[AT_IN_OWN])
{
    at_point_move(&asked->point, config);
    memcpy(inputs, asked->inputs, sizeof asked->inputs);
    fill_launch(asked->point.device, launch, inputs);
    fill_packed(asked->point.problem, launch, inputs);
    inputs[AT_IN_EMPTY] = empty_part(&asked->point, inputs);
}

/* ---- the networks ---- */

/* Most values double from one to the next; some are negative, for "none". */
static float value_input(int32_t value)
{
    return value >= 0 ? log2f(1 + (float)value) : -1;
}

static void add_input(const struct at_network *network, int input, float value, float *sums)
{
    const float most = 5;
    const struct at_slowdown_scale *scale = &at_slowdown_table.inputs[input];

    at_network_add(network, input, fmaxf(-most, fminf(most, (value - scale->mean) * scale->scale)),
                   sums);
}

struct at_slowdown_asked at_slowdown_ask(const struct at_slowdown *slowdown,
                                         const struct at_problem *problem,
                                         const struct at_device_info *device)
{
    struct at_slowdown_asked asked = {.point = at_point_make(NULL, problem, device)};

    fill_problem(&asked.point, asked.inputs);
    for (int i = 0; i < at_slowdown_table.network_count; i++) {
        at_network_begin(slowdown->networks[i], asked.first[i]);
        for (int input = 0; input < AT_IN_OF_PROBLEM; input++)
            add_input(slowdown->networks[i], input, asked.inputs[input], asked.first[i]);
    }
    return asked;
}

/* Add what differs from one config to the next. */
static void add_config(const struct at_network *network, const float own[AT_IN_OWN],
                       const struct places *places, const struct at_config *config, float *sums)
{
    for (int i = AT_IN_OF_PROBLEM; i < AT_IN_OWN; i++)
        add_input(network, i, own[i], sums);
    add_input(network, places->name, 1, sums);
    for (size_t i = 0; i < config->family->param_count; i++)
        if (places->params[i] != UNKNOWN)
            add_input(network, places->params[i], value_input(config->values[i]), sums);
}

static const struct places *places_of(const struct at_slowdown *slowdown,
                                      const struct at_family *family)
{
    for (size_t i = 0; i < slowdown->count; i++)
        if (slowdown->places[i].family == family)
            return slowdown->places[i].name == UNKNOWN ? NULL : &slowdown->places[i];
    return NULL;
}

bool at_slowdown_knows(const struct at_slowdown *slowdown, const struct at_family *family)
{
    return places_of(slowdown, family) != NULL;
}

/* Return the mean of the numbers of networks `from` to `to` - 1; INFINITY for a family that they do
 * not know. */
static float mean_of(int from, int to, const struct at_slowdown *slowdown,
                     struct at_slowdown_asked *asked, const struct at_config *config,
                     const struct at_launch *launch)
{
    const struct places *places = places_of(slowdown, config->family);
    float own[AT_IN_OWN], sum = 0;

    if (!places)
        return INFINITY;
    at_slowdown_own_inputs(asked, config, launch, own);
    for (int i = from; i < to; i++) {
        float first[AT_NETWORK_UNITS_MAX];

        memcpy(first, asked->first[i], sizeof first);
        add_config(slowdown->networks[i], own, places, config, first);
        sum += at_network_finish(slowdown->networks[i], first);
    }
    return sum / (float)(to - from);
}

float at_slowdown_estimate(const struct at_slowdown *slowdown, struct at_slowdown_asked *asked,
                           const struct at_config *config, const struct at_launch *launch)
{
    return mean_of(0, 1, slowdown, asked, config, launch);
}

float at_slowdown_predict(const struct at_slowdown *slowdown, struct at_slowdown_asked *asked,
                          const struct at_config *config, const struct at_launch *launch)
{
    return mean_of(1, at_slowdown_table.network_count, slowdown, asked, config, launch);
}

/* ---- the shortlist ---- */

void at_shortlist_add(struct at_shortlist *list, float estimate)
{
    size_t place = list->count;

    if (place < AT_SHORTLIST)
        list->count++;
    else if (list->least[--place] <= estimate)
        return;
    for (; place > 0 && list->least[place - 1] > estimate; place--)
        list->least[place] = list->least[place - 1];
    list->least[place] = estimate;
}

bool at_shortlist_has(const struct at_shortlist *list, float estimate)
{
    return estimate < INFINITY && estimate <= list->least[list->count - 1];
}
