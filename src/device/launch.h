/* SPDX-License-Identifier: Apache-2.0 */
/* Grid, block and memory of a kernel launch. */
#ifndef AT_DEVICE_LAUNCH_H
#define AT_DEVICE_LAUNCH_H

#include <stdint.h>

enum at_launch_field {
    AT_GRID_X,
    AT_GRID_Y,
    AT_GRID_Z,
    AT_BLOCK_X,
    AT_BLOCK_Y,
    AT_BLOCK_Z,
    AT_SHARED_BYTES,     /* dynamic shared memory per block; 0 unless given */
    AT_CARVEOUT_PERCENT, /* preferred share of L1 for shared memory; -1: the driver's choice */
    AT_LAUNCH_FIELDS,
};

struct at_launch {
    int64_t field[AT_LAUNCH_FIELDS];
};

#endif
