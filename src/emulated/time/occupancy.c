/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/time/occupancy.h"

#include "base/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>

#include <cuda_occupancy.h>
#include <stdio.h>

/* Shared memory per block that the system reserves from compute capability 8.0 on (CUDA C++
 * Programming Guide, "Shared Memory" of compute capability 8.x). */
enum { RESERVED_SHARED_BYTES = 1024 };

static const struct {
    unsigned bit;
    const char *name;
} limits[] = {
    {OCC_LIMIT_WARPS, "threads"},
    {OCC_LIMIT_REGISTERS, "registers"},
    {OCC_LIMIT_SHARED_MEMORY, "shared memory"},
    {OCC_LIMIT_BLOCKS, "blocks"},
};

static cudaOccDeviceProp properties_of(const struct at_device_info *device)
{
    return (cudaOccDeviceProp){
        .computeMajor = (int)device->compute_capability / 10,
        .computeMinor = (int)device->compute_capability % 10,
        .maxThreadsPerBlock = (int)device->max_threads_per_block,
        .maxThreadsPerMultiprocessor = (int)device->max_threads_per_multiprocessor,
        .regsPerBlock = (int)device->registers_per_multiprocessor,
        .regsPerMultiprocessor = (int)device->registers_per_multiprocessor,
        .warpSize = (int)device->warp_size,
        .sharedMemPerBlock = (size_t)device->shared_bytes_per_block,
        .sharedMemPerMultiprocessor = (size_t)device->shared_bytes_per_multiprocessor,
        .numSms = (int)device->multiprocessors,
        .sharedMemPerBlockOptin = (size_t)device->shared_bytes_per_block_optin,
        .reservedSharedMemPerBlock = device->compute_capability >= 80 ? RESERVED_SHARED_BYTES : 0,
    };
}

enum at_status at_occupancy_of(struct at_occupancy *occupancy, const struct at_device_info *device,
                               int64_t block_threads, int64_t registers,
                               int64_t static_shared_bytes, int64_t dynamic_shared_bytes,
                               struct at_error *err)
{
    const cudaOccDeviceProp properties = properties_of(device);
    const cudaOccFuncAttributes attributes = {
        .maxThreadsPerBlock = INT_MAX,
        .numRegs = (int)registers,
        .sharedSizeBytes = (size_t)static_shared_bytes,
        .partitionedGCConfig = PARTITIONED_GC_OFF,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes = (size_t)dynamic_shared_bytes,
        .numBlockBarriers = 1,
    };
    const cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccResult result;
    size_t used = 0;

    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state,
                                                (int)block_threads,
                                                (size_t)dynamic_shared_bytes) != CUDA_OCC_SUCCESS)
        return at_fail(err, AT_FAILED, "no occupancy is known for this kernel on %s", device->name);
    occupancy->blocks = result.activeBlocksPerMultiprocessor;
    occupancy->percent =
        100 * occupancy->blocks * block_threads / device->max_threads_per_multiprocessor;
    occupancy->limiter[0] = '\0';
    for (size_t i = 0; i < AT_COUNT(limits); i++)
        if (result.limitingFactors & limits[i].bit)
            used += (size_t)snprintf(occupancy->limiter + used, sizeof occupancy->limiter - used,
                                     "%s%s", used ? ", " : "", limits[i].name);
    return AT_OK;
}

/* Registers are given to whole warps, in units of 256 (cuda_occupancy.h, compute capability 3.0 and
 * later). */
static int64_t registers_of(int64_t block_threads, int64_t registers, int64_t warp_size)
{
    enum { UNIT = 256 };
    int64_t warps = (block_threads + warp_size - 1) / warp_size;

    return warps * ((registers * warp_size + UNIT - 1) / UNIT * UNIT);
}

enum at_status at_occupancy_check(const struct at_device_info *device, int64_t block_threads,
                                  int64_t registers, int64_t static_shared_bytes,
                                  int64_t dynamic_shared_bytes, struct at_error *err)
{
    const struct {
        const char *what;
        int64_t wanted, most;
    } of_block[] = {
        {"threads", block_threads, device->max_threads_per_block},
        {"registers", registers_of(block_threads, registers, device->warp_size),
         device->registers_per_multiprocessor},
        {"bytes of shared memory", static_shared_bytes + dynamic_shared_bytes,
         device->shared_bytes_per_block_optin},
    };
    struct at_occupancy occupancy;
    enum at_status status;

    for (size_t i = 0; i < AT_COUNT(of_block); i++)
        if (of_block[i].wanted > of_block[i].most)
            return at_fail(err, AT_FAILED, "%" PRId64 " %s per block; the limit is %" PRId64,
                           of_block[i].wanted, of_block[i].what, of_block[i].most);
    status = at_occupancy_of(&occupancy, device, block_threads, registers, static_shared_bytes,
                             dynamic_shared_bytes, err);
    /* Each quarter of a multiprocessor has its own registers. */
    if (status == AT_OK && occupancy.blocks < 1)
        return at_fail(err, AT_FAILED,
                       "%" PRId64 " threads of %" PRId64
                       " registers; a multiprocessor cannot hold such a block",
                       block_threads, registers);
    return status;
}

enum at_status at_occupancy_carveout(int64_t *bytes, const struct at_device_info *device,
                                     int64_t wanted_bytes, struct at_error *err)
{
    const cudaOccDeviceProp properties = properties_of(device);
    size_t size = (size_t)wanted_bytes;

    if (cudaOccAlignUpShmemSizeVoltaPlus(&size, &properties) != CUDA_OCC_SUCCESS)
        return at_fail(err, AT_FAILED, "%s has no %zu bytes of shared memory per multiprocessor",
                       device->name, size);
    *bytes = (int64_t)size;
    return AT_OK;
}
