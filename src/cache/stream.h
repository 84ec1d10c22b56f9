/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of blocks to global memory, recorded while they run and kept for the replay. A
 * block's requests are kept warp by warp, in the order of the program. */
#ifndef AT_CACHE_STREAM_H
#define AT_CACHE_STREAM_H

#include "cache/hierarchy.h"
#include "emu/machine.h"

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

#endif
