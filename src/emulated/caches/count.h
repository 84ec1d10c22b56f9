/* SPDX-License-Identifier: Apache-2.0 */
/* The traffic of a launch between multiprocessors, L2 and DRAM: its hit rates and bytes, counted on
 * the emulated device. doc/emulation.md compares them with a GPU's counters.
 *
 * A large grid is sampled: two waves in the middle of each part in which blocks work alike. The
 * first only warms the caches; the second is counted and scaled to the part. Data that it shares
 * with other blocks of the grid then count as read again. */
#ifndef AT_EMULATED_CACHES_COUNT_H
#define AT_EMULATED_CACHES_COUNT_H

#include "device/info.h"
#include "emulated/caches/hierarchy.h"
#include "emulated/machine/machine.h"
#include "emulated/time/parts.h"

#include <stddef.h>
#include <stdint.h>

/* Figures of the full grid, extrapolated from the sample. Written bytes that are still in L2 at the
 * end are not in to_dram: a GPU's counters see them only later. */
struct at_cache_counts {
    struct at_cache_shape shape;
    int64_t carveout_bytes; /* shared memory per multiprocessor */
    int64_t blocks;         /* counted */
    int64_t l1_sectors, l1_hits;
    int64_t l2_sectors, l2_hits;
    int64_t l2_to_l1_bytes, l1_to_l2_bytes;
    int64_t dram_to_l2_bytes, l2_to_dram_bytes;
    int64_t left_in_l2_bytes;      /* written, and not yet in DRAM */
    int64_t warm_dram_to_l2_bytes; /* of a second launch, which finds the data of the first in L2;
                                      -1: the grid is large */
    struct at_cache_hits *instructions; /* of the counted blocks, by their shares of the grid; the
                                           caller frees them */
};

/* The caches of a device for a kernel. A multiprocessor holds `blocks` blocks of it at once.
 * block_shared_bytes: static and dynamic. carveout_percent: as in struct at_emu_launch. AT_FAILED
 * if NVIDIA's calculation refuses the device. */
enum at_status at_cache_shape_of(struct at_cache_shape *shape, int64_t *carveout_bytes,
                                 const struct at_device_info *device, int64_t blocks,
                                 int64_t block_shared_bytes, int64_t carveout_percent,
                                 struct at_error *err);

/* Counts the whole grid if it is small or has at most `whole` blocks, else a sample of each part.
 * AT_FAILED: the emulated device found a fault. AT_NO_MEMORY: a wave makes more requests than can
 * be kept. */
enum at_status at_cache_count(struct at_cache_counts *counts, const struct at_cache_shape *shape,
                              struct at_emu_memory *memory, const struct at_emu_launch *launch,
                              const struct at_grid_parts *parts, int64_t whole,
                              struct at_error *err);

/* Blocks first .. first + warming + counted - 1 of a grid. The first `warming` only fill the
 * caches. */
struct at_cache_range {
    uint64_t first, warming, counted;
};

/* Run and replay the blocks. hits: per instruction, of the blocks that count. Fails as
 * at_cache_record. */
enum at_status at_cache_replay(struct at_caches *caches, struct at_emu_memory *memory,
                               const struct at_emu_launch *launch,
                               const struct at_cache_range *range, struct at_cache_hits *hits,
                               struct at_error *err);

enum { AT_CACHE_WARPS_MAX = 32 };

struct at_cache_request {
    uint32_t instruction;
    uint8_t way; /* at_cache_way */
    uint8_t warp;
    uint8_t parts;      /* how many */
    uint32_t following; /* request of the warp: its index plus 1; 0: none */
    size_t first;       /* part */
};

struct at_cache_stream {
    struct at_cache_request *requests;
    size_t request_count, request_capacity;
    struct at_cache_part *parts;
    size_t part_count, part_capacity;
    /* Index plus 1 of a warp's first and last request. */
    uint32_t head[AT_CACHE_WARPS_MAX], tail[AT_CACHE_WARPS_MAX];
};

void at_cache_stream_clear(struct at_cache_stream *stream);

/* Append a request; one to shared memory is left out. */
void at_cache_stream_add(struct at_cache_stream *stream, const struct at_emu_access *access);

/* Runs `count` blocks of a launch, from block `first` on, and records their requests in as many
 * zeroed streams, which the caller clears. AT_FAILED: a fault, which the message names.
 * AT_NO_MEMORY: the requests take more than most_bytes. */
enum at_status at_cache_record(struct at_cache_stream *streams, struct at_emu_memory *memory,
                               const struct at_emu_launch *launch, uint64_t first, size_t count,
                               size_t most_bytes, struct at_error *err);

/* The policy of an instruction with this text. */
struct at_cache_policy at_cache_policy_of(const char *text);

/* The policies of a kernel's instructions, in their order; the caller frees them. Stores between a
 * barrier and the next load merge: there the warps of a block follow each other, because none waits
 * for its own loads. */
struct at_cache_policy *at_cache_policies_of(const struct at_ptx_kernel *kernel);

#endif
