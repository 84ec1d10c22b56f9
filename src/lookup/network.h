/* SPDX-License-Identifier: Apache-2.0 */
/* A neural network that gives one number: dense layers, with rectified linear units between them.
 */
#ifndef AT_LOOKUP_NETWORK_H
#define AT_LOOKUP_NETWORK_H

enum { AT_NETWORK_LAYERS_MAX = 4, AT_NETWORK_UNITS_MAX = 256 };

/* A weight is a number from -127 to 127 times its row's scale. */
struct at_network_layer {
    int inputs, outputs;
    const signed char *weights; /* a row of all outputs for each input */
    const float *scales;        /* of each row */
    const float *biases;        /* of each output; NULL: 0 */
};

struct at_network_table {
    int layer_count; /* the last layer has one output */
    struct at_network_layer layers[AT_NETWORK_LAYERS_MAX];
};

struct at_network;

/* Unpack the weights. The table is borrowed. */
struct at_network *at_network_open(const struct at_network_table *table);
void at_network_close(struct at_network *network);

/* Begin the sums of the first layer, and add to them what an input contributes. Inputs that are 0
 * need not be added. */
void at_network_begin(const struct at_network *network, float sums[AT_NETWORK_UNITS_MAX]);
void at_network_add(const struct at_network *network, int input, float value,
                    float sums[AT_NETWORK_UNITS_MAX]);

/* Return the network's number, from the sums of the first layer on. */
float at_network_finish(const struct at_network *network, const float sums[AT_NETWORK_UNITS_MAX]);

#endif
