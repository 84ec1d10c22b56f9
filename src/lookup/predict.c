/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/predict.h"

#include "base/hash.h"
#include "base/memory.h"
#include "lookup/distance.h"
#include "problem/arguments.h"
#include "system/file.h"
#include "system/paths.h"

#include <math.h>
#include <string.h>

enum { UNKNOWN = -1 };
enum { INPUTS_MAX = 128, LAYERS_MAX = 4 };

/* Sums are made in groups, each of some vectors that stay in registers. */
typedef float lanes __attribute__((vector_size(16)));
enum { LANES = 4, GROUP = 4 * LANES };

/* A dense layer. Rows and biases are padded with 0 to whole groups. */
struct layer {
    size_t inputs, outputs;
    float *weights; /* a row of all outputs for each input */
    float *biases;  /* of each output */
};

/* Gives one number: the last layer has one output. Between layers are rectified linear units. */
struct network {
    size_t layer_count;
    struct layer layers[LAYERS_MAX];
};

/* An input counts as (value - mean) * scale, at most 5 either way. */
struct input {
    char name[24]; /* of an own input, "family NAME", or of a parameter */
    float mean, scale;
};

/* Where a family's name and parameters are among the inputs; UNKNOWN: nowhere. */
struct places {
    const struct at_family *family;
    int name, params[AT_PARAMS_MAX];
};

struct at_slowdown {
    struct places *places;
    size_t count;
    struct input inputs[INPUTS_MAX];
    size_t input_count;
    struct network networks[AT_NETWORKS_MAX]; /* the first is small and estimates */
    size_t network_count;
};

static size_t padded(size_t outputs)
{
    return (outputs + GROUP - 1) / GROUP * GROUP;
}

/* ---- the file ---- */

/* Its numbers are little-endian. contrib/library/train-slowdown writes it. VERSION rises with each
 * change of the format, or of enum at_slowdown_input. */
static const char networks_file[] = "results/networks.bin";
enum { VERSION = 2, NETWORKS_BYTES_MAX = 1 << 24 };

struct header {
    char magic[8];
    uint32_t version, size; /* of the rest, in bytes */
    uint64_t hash;          /* at_hash64 of the rest */
};

/* What has not been read. */
struct rest {
    const char *at;
    size_t size;
};

static const char *take(struct rest *rest, size_t size)
{
    const char *taken = rest->at;

    if (size > rest->size)
        return NULL;
    rest->at += size;
    rest->size -= size;
    return taken;
}

static bool copy(void *to, struct rest *rest, size_t size)
{
    const char *taken = take(rest, size);

    if (taken)
        memcpy(to, taken, size);
    return taken != NULL;
}

/* Read a number from 1 to `most`. */
static bool read_count(struct rest *rest, size_t most, size_t *count)
{
    uint32_t read = 0;

    *count = copy(&read, rest, sizeof read) && read <= most ? read : 0;
    return *count > 0;
}

/* A weight is a byte times its row's scale. */
static void unpack(struct layer *layer, const signed char *bytes, const float *scales)
{
    size_t stride = padded(layer->outputs);

    layer->weights = at_alloc_array(layer->inputs * stride, sizeof *layer->weights);
    for (size_t i = 0; i < layer->inputs; i++)
        for (size_t j = 0; j < layer->outputs; j++)
            layer->weights[i * stride + j] = (float)bytes[i * layer->outputs + j] * scales[i];
}

static bool read_layer(struct layer *layer, struct rest *rest)
{
    float scales[AT_NETWORK_UNITS_MAX];
    const char *bytes;

    if (!read_count(rest, AT_NETWORK_UNITS_MAX, &layer->inputs) ||
        !read_count(rest, AT_NETWORK_UNITS_MAX, &layer->outputs))
        return false;
    layer->biases = at_alloc_array(padded(layer->outputs), sizeof *layer->biases);
    if (!copy(scales, rest, layer->inputs * sizeof *scales) ||
        !copy(layer->biases, rest, layer->outputs * sizeof *layer->biases))
        return false;
    bytes = take(rest, (layer->inputs * layer->outputs + 3) / 4 * 4);
    if (bytes)
        unpack(layer, (const signed char *)bytes, scales);
    return bytes != NULL;
}

/* Read the layers. Each takes the outputs of the one before it, and the last has one. */
static bool read_network(struct network *network, struct rest *rest, size_t inputs)
{
    if (!read_count(rest, LAYERS_MAX, &network->layer_count))
        return false;
    for (size_t i = 0; i < network->layer_count; i++) {
        if (!read_layer(&network->layers[i], rest) || network->layers[i].inputs != inputs)
            return false;
        inputs = network->layers[i].outputs;
    }
    return inputs == 1;
}

static bool read_inputs(struct at_slowdown *slowdown, struct rest *rest)
{
    for (size_t i = 0; i < slowdown->input_count; i++) {
        struct input *input = &slowdown->inputs[i];

        if (!copy(input, rest, sizeof *input) || input->name[sizeof input->name - 1])
            return false;
    }
    return true;
}

static bool read_networks(struct at_slowdown *slowdown, struct rest rest)
{
    if (!read_count(&rest, INPUTS_MAX, &slowdown->input_count) ||
        slowdown->input_count < AT_IN_OWN ||
        !read_count(&rest, AT_NETWORKS_MAX, &slowdown->network_count) ||
        slowdown->network_count < 2 || !read_inputs(slowdown, &rest))
        return false;
    for (size_t i = 0; i < slowdown->network_count; i++)
        if (!read_network(&slowdown->networks[i], &rest, slowdown->input_count))
            return false;
    return rest.size == 0;
}

static bool is_whole(const struct header *header, const struct rest *rest)
{
    return rest->size == header->size && at_hash64(rest->at, rest->size, 0) == header->hash;
}

static enum at_status parse(struct at_slowdown *slowdown, const char *path, struct rest rest,
                            struct at_error *err)
{
    struct header header = {0};

    if (!copy(&header, &rest, sizeof header) ||
        memcmp(header.magic, "autonets", sizeof header.magic) != 0)
        return at_fail(err, AT_USAGE, "%s: not a file of networks", path);
    if (header.version != VERSION)
        return at_fail(err, AT_USAGE, "%s: its version is %u, and this program knows %d", path,
                       header.version, VERSION);
    if (!is_whole(&header, &rest) || !read_networks(slowdown, rest))
        return at_fail(err, AT_USAGE, "%s: damaged", path);
    return AT_OK;
}

static enum at_status read_file(struct at_slowdown *slowdown, struct at_error *err)
{
    char *path = at_path_data_file(networks_file), *bytes;
    size_t size;
    enum at_status status = at_file_read(&bytes, &size, path, NETWORKS_BYTES_MAX, err);

    if (status == AT_OK) {
        status = parse(slowdown, path, (struct rest){bytes, size}, err);
        at_free(bytes);
    }
    if (status != AT_OK)
        at_advise(err,
                  "lookups predict with it: install this version's data again; "
                  "AUTOTUNE_DATADIR names the folder that holds tuning, templates and results");
    at_free(path);
    return status;
}

/* ---- names ---- */

static int find_input(const struct at_slowdown *slowdown, const char *name)
{
    for (size_t i = AT_IN_OWN; i < slowdown->input_count; i++)
        if (strcmp(slowdown->inputs[i].name, name) == 0)
            return (int)i;
    return UNKNOWN;
}

static void find_places(const struct at_slowdown *slowdown, struct places *places,
                        const struct at_family *family)
{
    char *name = at_format("family %s", family->name);

    places->family = family;
    places->name = find_input(slowdown, name);
    at_free(name);
    for (size_t i = 0; places->name != UNKNOWN && i < family->param_count; i++)
        places->params[i] = find_input(slowdown, family->params[i].name);
}

enum at_status at_slowdown_open(struct at_slowdown **slowdown, struct at_family *const *families,
                                size_t count, struct at_error *err)
{
    struct at_slowdown *opened = at_alloc(sizeof *opened);
    enum at_status status = read_file(opened, err);

    if (status != AT_OK) {
        at_slowdown_close(opened);
        return status;
    }
    opened->places = at_alloc_array(count, sizeof *opened->places);
    opened->count = count;
    for (size_t i = 0; i < count; i++)
        find_places(opened, &opened->places[i], families[i]);
    *slowdown = opened;
    return AT_OK;
}

void at_slowdown_close(struct at_slowdown *slowdown)
{
    if (!slowdown)
        return;
    for (size_t i = 0; i < slowdown->network_count; i++)
        for (size_t j = 0; j < slowdown->networks[i].layer_count; j++) {
            at_free(slowdown->networks[i].layers[j].weights);
            at_free(slowdown->networks[i].layers[j].biases);
        }
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

/* What is adjacent in a row of a packed tile, or what a family says; 0 if it does not. */
static void fill_runs(const struct at_point *point, const struct at_launch *launch, float *inputs)
{
    int64_t runs[2] = {0, 0};

    if (launch->field[AT_SIDE_SRC] > 0)
        at_problem_packed_runs(point->problem, launch, runs);
    else
        for (int side = 0; side < 2; side++) {
            const struct at_expr *expr = point->family->run_bytes[side];

            if (expr && at_expr_eval(expr, point->values, &runs[side], NULL) != AT_OK)
                runs[side] = 0;
        }
    inputs[AT_IN_RUN_SRC] = log2_of(1 + runs[0]);
    inputs[AT_IN_RUN_DST] = log2_of(1 + runs[1]);
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
    fill_runs(&asked->point, launch, inputs);
    inputs[AT_IN_EMPTY] = empty_part(&asked->point, inputs);
}

/* ---- the networks ---- */

/* What is added to the sums of a layer: rows of its weights, each times a factor. */
struct terms {
    size_t count;
    struct {
        const float *row;
        float factor;
    } all[AT_NETWORK_UNITS_MAX];
};

static void add_term(struct terms *terms, const struct layer *layer, size_t input, float factor)
{
    terms->all[terms->count].row = layer->weights + input * padded(layer->outputs);
    terms->all[terms->count++].factor = factor;
}

static lanes load(const float *from)
{
    lanes loaded;

    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

/* Make the sums of a layer's outputs, from what they begin with. */
static void add_up(const struct layer *layer, const struct terms *terms, const float *begin,
                   float *sums)
{
    size_t stride = padded(layer->outputs);

    for (size_t i = 0; i < stride; i += GROUP) {
        lanes first = load(begin + i), second = load(begin + i + LANES);
        lanes third = load(begin + i + 2 * LANES), fourth = load(begin + i + 3 * LANES);

        for (size_t k = 0; k < terms->count; k++) {
            const float *row = terms->all[k].row + i;
            float factor = terms->all[k].factor;

            first += factor * load(row);
            second += factor * load(row + LANES);
            third += factor * load(row + 2 * LANES);
            fourth += factor * load(row + 3 * LANES);
        }
        memcpy(sums + i, (lanes[]){first, second, third, fourth}, GROUP * sizeof *sums);
    }
}

/* Half of the units are 0, and so is what they add. Processors do not predict which: so there is no
 * branch, and the next unit takes the place of a 0. */
static void add_layer(const struct layer *layer, const float *units, float *sums)
{
    struct terms terms;

    terms.count = 0;
    for (size_t i = 0; i < layer->inputs; i++) {
        add_term(&terms, layer, i, units[i]);
        terms.count -= units[i] <= 0;
    }
    add_up(layer, &terms, layer->biases, sums);
}

/* Return the network's number, from the sums of the first layer on. */
static float finish(const struct network *network, const float *sums)
{
    float both[2][AT_NETWORK_UNITS_MAX];
    const float *units = sums;

    for (size_t i = 1; i < network->layer_count; i++) {
        add_layer(&network->layers[i], units, both[i % 2]);
        units = both[i % 2];
    }
    return units[0];
}

/* Most values double from one to the next; some are negative, for "none". */
static float value_input(int32_t value)
{
    return value >= 0 ? log2f(1 + (float)value) : -1;
}

/* Add what an input contributes to the sums of the first layer. */
static void add_input(struct terms *terms, const struct at_slowdown *slowdown, size_t network,
                      int number, float value)
{
    const float most = 5;
    const struct input *input = &slowdown->inputs[number];

    add_term(terms, &slowdown->networks[network].layers[0], (size_t)number,
             fmaxf(-most, fminf(most, (value - input->mean) * input->scale)));
}

struct at_slowdown_asked at_slowdown_ask(const struct at_slowdown *slowdown,
                                         const struct at_problem *problem,
                                         const struct at_device_info *device)
{
    struct at_slowdown_asked asked = {.point = at_point_make(NULL, problem, device)};

    fill_problem(&asked.point, asked.inputs);
    for (size_t i = 0; i < slowdown->network_count; i++) {
        const struct layer *layer = &slowdown->networks[i].layers[0];
        struct terms terms;

        terms.count = 0;
        for (int input = 0; input < AT_IN_OF_PROBLEM; input++)
            add_input(&terms, slowdown, i, input, asked.inputs[input]);
        add_up(layer, &terms, layer->biases, asked.first[i]);
    }
    return asked;
}

/* Add what differs from one config to the next. */
static void add_config(struct terms *terms, const struct at_slowdown *slowdown, size_t network,
                       const float own[AT_IN_OWN], const struct places *places,
                       const struct at_config *config)
{
    for (int i = AT_IN_OF_PROBLEM; i < AT_IN_OWN; i++)
        add_input(terms, slowdown, network, i, own[i]);
    add_input(terms, slowdown, network, places->name, 1);
    for (size_t i = 0; i < config->family->param_count; i++)
        if (places->params[i] != UNKNOWN)
            add_input(terms, slowdown, network, places->params[i], value_input(config->values[i]));
}

static const struct places *places_of(const struct at_slowdown *slowdown,
                                      const struct at_family *family)
{
    for (size_t i = 0; i < slowdown->count; i++)
        if (slowdown->places[i].family == family)
            return slowdown->places[i].name == UNKNOWN ? NULL : &slowdown->places[i];
    return NULL;
}

bool at_slowdown_knows(const struct at_slowdown *slowdown, const struct at_problem *problem,
                       const struct at_family *family)
{
    return problem->groups.count == 0 && places_of(slowdown, family) != NULL;
}

/* Return the mean of the numbers of networks `from` to `to` - 1; INFINITY for what they do not
 * know. */
static float mean_of(size_t from, size_t to, const struct at_slowdown *slowdown,
                     struct at_slowdown_asked *asked, const struct at_config *config,
                     const struct at_launch *launch)
{
    const struct places *places = places_of(slowdown, config->family);
    float own[AT_IN_OWN], sum = 0;

    if (!at_slowdown_knows(slowdown, asked->point.problem, config->family))
        return INFINITY;
    at_slowdown_own_inputs(asked, config, launch, own);
    for (size_t i = from; i < to; i++) {
        const struct network *network = &slowdown->networks[i];
        float first[AT_NETWORK_UNITS_MAX];
        struct terms terms;

        terms.count = 0;
        add_config(&terms, slowdown, i, own, places, config);
        add_up(&network->layers[0], &terms, asked->first[i], first);
        sum += finish(network, first);
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
    return mean_of(1, slowdown->network_count, slowdown, asked, config, launch);
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
