/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/network.h"

#include "base/memory.h"

#include <string.h>

struct at_network {
    const struct at_network_table *table;
    float *weights[AT_NETWORK_LAYERS_MAX];
};

/* Units are added in groups: compilers turn loops of a constant length into vector instructions. */
enum { GROUP = 16 };

static size_t padded(int outputs)
{
    return (size_t)(outputs + GROUP - 1) / GROUP * GROUP;
}

/* Rows are padded with 0. */
static float *unpack(const struct at_network_layer *layer)
{
    size_t outputs = (size_t)layer->outputs, stride = padded(layer->outputs);
    float *weights = at_alloc_array((size_t)layer->inputs * stride, sizeof *weights);

    for (size_t i = 0; i < (size_t)layer->inputs; i++)
        for (size_t j = 0; j < outputs; j++)
            weights[i * stride + j] = (float)layer->weights[i * outputs + j] * layer->scales[i];
    return weights;
}

struct at_network *at_network_open(const struct at_network_table *table)
{
    struct at_network *network = at_alloc(sizeof *network);

    network->table = table;
    for (int i = 0; i < table->layer_count; i++)
        network->weights[i] = unpack(&table->layers[i]);
    return network;
}

void at_network_close(struct at_network *network)
{
    if (!network)
        return;
    for (int i = 0; i < network->table->layer_count; i++)
        at_free(network->weights[i]);
    at_free(network);
}

static void begin(const struct at_network_layer *layer, float *sums)
{
    memset(sums, 0, padded(layer->outputs) * sizeof *sums);
    if (layer->biases)
        memcpy(sums, layer->biases, (size_t)layer->outputs * sizeof *sums);
}

static inline void add_scaled(float *restrict sums, const float *restrict weights, float factor,
                              size_t count)
{
    for (size_t i = 0; i < count; i += GROUP)
        for (size_t j = 0; j < GROUP; j++)
            sums[i + j] += factor * weights[i + j];
}

void at_network_begin(const struct at_network *network, float sums[AT_NETWORK_UNITS_MAX])
{
    begin(&network->table->layers[0], sums);
}

void at_network_add(const struct at_network *network, int input, float value,
                    float sums[AT_NETWORK_UNITS_MAX])
{
    size_t stride = padded(network->table->layers[0].outputs);

    add_scaled(sums, network->weights[0] + (size_t)input * stride, value, stride);
}

/* Half of the units are 0, and so is what they add. */
static void add_layer(const struct at_network *network, int number, const float *units, float *sums)
{
    const struct at_network_layer *layer = &network->table->layers[number];
    const float *weights = network->weights[number];
    size_t stride = padded(layer->outputs);

    begin(layer, sums);
    for (int i = 0; i < layer->inputs; i++, weights += stride)
        if (units[i] > 0)
            add_scaled(sums, weights, units[i], stride);
}

float at_network_finish(const struct at_network *network, const float sums[AT_NETWORK_UNITS_MAX])
{
    float both[2][AT_NETWORK_UNITS_MAX];
    const float *units = sums;

    for (int i = 1; i < network->table->layer_count; i++) {
        add_layer(network, i, units, both[i % 2]);
        units = both[i % 2];
    }
    return units[0];
}
