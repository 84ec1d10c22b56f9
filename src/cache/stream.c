/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/stream.h"

#include "base/memory.h"

#include <stdlib.h>

void at_cache_stream_clear(struct at_cache_stream *stream)
{
    free(stream->requests);
    free(stream->parts);
    *stream = (struct at_cache_stream){0};
}

/* The part of the request that begins at `first` with this line; a new one if there is none. Lanes
 * that follow each other often meet in the last one. */
static struct at_cache_part *part_of(struct at_cache_stream *stream, size_t first, uint64_t line)
{
    for (size_t i = stream->part_count; i > first; i--)
        if (stream->parts[i - 1].line == line)
            return &stream->parts[i - 1];
    AT_PUSH(stream->parts, stream->part_count, stream->part_capacity,
            ((struct at_cache_part){.line = line}));
    return &stream->parts[stream->part_count - 1];
}

static void link_request(struct at_cache_stream *stream, const struct at_cache_request *request)
{
    uint32_t number;

    AT_PUSH(stream->requests, stream->request_count, stream->request_capacity, *request);
    number = (uint32_t)stream->request_count;
    if (stream->tail[request->warp])
        stream->requests[stream->tail[request->warp] - 1].following = number;
    else
        stream->head[request->warp] = number;
    stream->tail[request->warp] = number;
}

void at_cache_stream_add(struct at_cache_stream *stream, const struct at_emu_access *access)
{
    struct at_cache_request request = {
        .instruction = (uint32_t)access->instruction,
        .way = access->atomic  ? AT_CACHE_ATOMIC
               : access->store ? AT_CACHE_STORE
                               : AT_CACHE_LOAD,
        .warp = (uint8_t)access->warp,
        .first = stream->part_count,
    };

    if (access->shared)
        return;
    /* An aligned access of at most 16 bytes lies within one sector. */
    AT_EACH_OF (lane, access->lanes) {
        uint64_t address = access->address[lane];
        struct at_cache_part *part = part_of(stream, request.first, address / AT_CACHE_LINE_BYTES);
        uint64_t bytes = (UINT64_C(1) << access->bytes) - 1;

        part->bytes[address / AT_CACHE_SECTOR_BYTES % AT_CACHE_SECTORS] |=
            (uint32_t)(bytes << address % AT_CACHE_SECTOR_BYTES);
    }
    request.parts = (uint8_t)(stream->part_count - request.first);
    link_request(stream, &request);
}

struct recorder {
    struct at_cache_stream *streams;
    uint64_t first;
    size_t bytes, most_bytes;
};

/* A block runs on one host thread, so only the sum is shared. */
static void record_access(void *context, uint64_t block, const struct at_emu_access *access)
{
    struct recorder *recorder = context;
    struct at_cache_stream *stream = &recorder->streams[block - recorder->first];
    size_t parts = stream->part_count, bytes;

    if (__atomic_load_n(&recorder->bytes, __ATOMIC_RELAXED) > recorder->most_bytes)
        return;
    at_cache_stream_add(stream, access);
    bytes = (stream->part_count - parts) * sizeof *stream->parts + sizeof *stream->requests;
    __atomic_fetch_add(&recorder->bytes, bytes, __ATOMIC_RELAXED);
}

enum at_status at_cache_record(struct at_cache_stream *streams, struct at_emu_memory *memory,
                               const struct at_emu_launch *launch, uint64_t first, size_t count,
                               size_t most_bytes, struct at_error *err)
{
    struct recorder recorder = {.streams = streams, .first = first, .most_bytes = most_bytes};
    const struct at_emu_observer observer = {.context = &recorder, .access = record_access};
    struct at_emu_launch part = *launch;
    struct at_emu_fault fault = {0};
    uint64_t *blocks = at_alloc_array(count, sizeof *blocks);
    enum at_status status;

    for (size_t i = 0; i < count; i++)
        blocks[i] = first + i;
    part.observer = &observer;
    part.only_blocks = blocks;
    part.only_block_count = count;
    status = at_emu_run(memory, &part, &fault, err);
    free(blocks);
    if (status == AT_OK && fault.kind != AT_EMU_NO_FAULT)
        status = at_fail(err, AT_FAILED, "%s", fault.message);
    if (status == AT_OK && recorder.bytes > most_bytes)
        status =
            at_fail(err, AT_NO_MEMORY, "%zu blocks make more requests than memory may hold", count);
    return status;
}
