/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/count.h"
#include "model/occupancy.h"

/* Shared memory per block that the system reserves (CUDA C++ Programming Guide, "Shared Memory" of
 * compute capability 8.x). */
enum { RESERVED_BYTES = 1024 };

/* The part of combined L1 and shared memory that shared memory cannot use: 192 - 164, 256 - 228 and
 * 128 - 100 KiB (CUDA C++ Programming Guide, "Compute Capabilities" 8.0, 9.0 and 10.0, and 8.9). */
enum { L1_LEAST_BYTES = 28 << 10 };

/* Neither is published. Sixteen ways with hashed sets are almost fully associative. */
enum { WAYS = 16 };

/* L2 in two halves, each of which keeps the data of the multiprocessors next to it ("NVIDIA Ampere
 * Architecture In-Depth", developer.nvidia.com/blog, on the A100). Nsight Compute agrees: half of
 * the requests of an H200 cross to the other half (lts__t_sectors_srcunit_ltcfabric), and of two
 * streams, one read and one written, 21 to 22 MB are not in DRAM at the end: a third of L2. */
static bool has_two_halves(const struct at_device_info *device)
{
    return device->compute_capability % 10 == 0; /* 8.0, 9.0, 10.0: data centre GPUs */
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

enum at_status at_cache_shape_of(struct at_cache_shape *shape, int64_t *carveout_bytes,
                                 const struct at_device_info *device, int64_t blocks,
                                 int64_t block_shared_bytes, int64_t carveout_percent,
                                 struct at_error *err)
{
    int64_t each = block_shared_bytes + RESERVED_BYTES,
            most = device->shared_bytes_per_multiprocessor;
    /* By default the driver's choice: the needs of the resident blocks. */
    int64_t wanted =
        carveout_percent > 0 ? larger(most * carveout_percent / 100, each) : each * blocks;
    enum at_status status = at_occupancy_carveout(carveout_bytes, device, wanted, err);

    if (status != AT_OK)
        return status;
    *shape = (struct at_cache_shape){
        .multiprocessors = device->multiprocessors,
        .blocks = *carveout_bytes / each < blocks ? *carveout_bytes / each : blocks,
        .l1_bytes = most + L1_LEAST_BYTES - *carveout_bytes,
        .l1_ways = WAYS,
        .l2_bytes = device->l2_bytes,
        .l2_ways = WAYS,
        .l2_halves = has_two_halves(device) ? 2 : 1,
    };
    return AT_OK;
}
