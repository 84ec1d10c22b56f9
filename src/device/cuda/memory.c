/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory. Released blocks are kept for later requests: each problem of a run needs some
 * thirty buffers, of about the same sizes as the one before. On a machine with eight GPUs the
 * driver was seen to take 60 ms to free and allocate them again. */
#include "base/memory.h"
#include "device/cuda/cuda_device.h"

#include <stdio.h>

/* A kept block is used only for requests of at least half its size. */
enum { SIZE_RATIO_MAX = 2 };

/* Find the smallest unused block that fits; NULL if there is none. */
static struct at_cuda_block *find_free(struct at_cuda_device *device, int64_t bytes)
{
    struct at_cuda_block *best = NULL;

    for (size_t i = 0; i < device->block_count; i++) {
        struct at_cuda_block *block = &device->blocks[i];

        if (!block->used && block->bytes >= bytes && block->bytes / SIZE_RATIO_MAX <= bytes &&
            (!best || block->bytes < best->bytes))
            best = block;
    }
    return best;
}

static void free_unused(struct at_cuda_device *device)
{
    size_t kept = 0;

    for (size_t i = 0; i < device->block_count; i++) {
        if (device->blocks[i].used)
            device->blocks[kept++] = device->blocks[i];
        else
            at_cuda.cuMemFree(device->blocks[i].address);
    }
    device->block_count = kept;
}

/* Take the beginning of the scratch memory. It is not released again. */
static enum at_outcome take_scratch(struct at_cuda_device *device, int64_t bytes,
                                    at_address *address, struct at_error *err)
{
    const int64_t unit = 256; /* as the driver aligns */
    int64_t taken = (bytes + unit - 1) / unit * unit;

    if (taken > device->scratch_bytes)
        return at_fail(err, AT_FAILED, "%jd bytes do not fit the scratch memory", (intmax_t)bytes),
               AT_OOM;
    *address = device->scratch;
    device->scratch += (at_address)taken;
    device->scratch_bytes -= taken;
    return AT_CORRECT;
}

enum at_outcome at_cuda_allocate(struct at_device *base, int64_t bytes, at_address *address,
                                 struct at_error *err)
{
    struct at_cuda_device *device = at_cuda_device_of(base);
    struct at_cuda_block *block = find_free(device, bytes), made = {.bytes = bytes, .used = true};
    CUdeviceptr pointer = 0;
    char doing[64];
    CUresult result;
    enum at_outcome outcome;

    if (device->scratch)
        return take_scratch(device, bytes, address, err);
    if (block) {
        block->used = true;
        *address = block->address;
        return AT_CORRECT;
    }
    /* Before there is something to lose: in the library, without host memory the call ends here. */
    device->blocks = at_grow(device->blocks, device->block_count, &device->block_capacity,
                             sizeof *device->blocks);
    result = at_cuda.cuMemAlloc(&pointer, (size_t)bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        free_unused(device);
        result = at_cuda.cuMemAlloc(&pointer, (size_t)bytes);
    }
    snprintf(doing, sizeof doing, "allocating %jd bytes", (intmax_t)bytes);
    outcome = at_cuda_outcome(result, doing, err);
    if (outcome == AT_CORRECT) {
        *address = made.address = pointer;
        device->blocks[device->block_count++] = made;
    }
    return outcome;
}

void at_cuda_release(struct at_device *base, at_address address)
{
    struct at_cuda_device *device = at_cuda_device_of(base);

    for (size_t i = 0; i < device->block_count; i++)
        if (device->blocks[i].address == address)
            device->blocks[i].used = false;
}
