/* SPDX-License-Identifier: Apache-2.0 */
#include "model/traffic_seen.h"

#include "model/counts.h"

#include <stdlib.h>

static const size_t NONE = SIZE_MAX; /* no instruction */
enum { SECTOR_BYTES = 32, PAGE_SECTORS = AT_TRAFFIC_PAGE_BYTES / SECTOR_BYTES };

static void end_stores(struct at_traffic_seen *seen, const struct at_pieces *stored)
{
    for (size_t i = 0; i < stored->count; i++) {
        const struct at_piece *piece = &stored->items[i];
        seen->sums.partial_sectors += piece->bytes != UINT32_MAX;
        if (!seen->spread && piece->bytes != UINT32_MAX)
            at_pieces_add(&seen->ragged, piece->sector, piece->bytes);
    }
}

static void end_spread(struct at_traffic_seen *seen, int store)
{
    const struct at_pieces *touched = &seen->touched[store];

    for (size_t i = 0; i < touched->count; i++) {
        const struct at_piece *piece = &touched->items[i];
        uint64_t page = piece->sector / PAGE_SECTORS;

        if (i == 0 || piece[-1].sector / PAGE_SECTORS != page)
            at_pieces_add(&seen->pages[store], page, 0);
    }
    seen->paged_bytes[store] += (double)touched->count * SECTOR_BYTES;
}

static void end_block(struct at_traffic_seen *seen)
{
    for (int store = 0; store < 2; store++) {
        struct at_pieces *touched = &seen->touched[store];
        struct at_traffic_way *way = store ? &seen->sums.store : &seen->sums.load;

        at_pieces_join(touched);
        if (!store && !seen->spread)
            for (size_t i = 0; i < touched->count; i++)
                at_pieces_add(&seen->loaded, touched->items[i].sector, UINT32_MAX);
        way->bytes += (double)touched->count * SECTOR_BYTES;
        for (size_t i = 0; i < touched->count; i++)
            seen->runs[store] +=
                i == 0 || touched->items[i - 1].sector + 1 != touched->items[i].sector;
        if (store)
            end_stores(seen, touched);
        if (seen->spread)
            end_spread(seen, store);
        touched->count = 0;
    }
}

/* An aligned access of at most 16 bytes lies within one sector. */
static void touch(struct at_pieces *touched, const struct at_emu_access *access)
{
    AT_EACH_OF (lane, access->lanes) {
        uint64_t address = access->address[lane], sector = address / SECTOR_BYTES;
        uint32_t bytes = ((UINT32_C(1) << access->bytes) - 1) << address % SECTOR_BYTES;

        if (touched->count > 0 && touched->items[touched->count - 1].sector == sector)
            touched->items[touched->count - 1].bytes |= bytes;
        else
            at_pieces_add(touched, sector, bytes);
    }
}

static bool same_sectors(const struct at_emu_access *a, const struct at_emu_access *b)
{
    if (a->lanes != b->lanes)
        return false;
    AT_EACH_OF (lane, a->lanes)
        if (a->address[lane] / SECTOR_BYTES != b->address[lane] / SECTOR_BYTES)
            return false;
    return true;
}

/* A store to the sectors that the warp's last store went to, such as of a structure's next field,
 * meets that one on its way. */
static void see_store(struct at_traffic_seen *seen, const struct at_emu_access *access)
{
    if (seen->stored.warp == access->warp && same_sectors(&seen->stored, access))
        seen->sums.store.repeated += at_request_sectors(access);
    seen->stored = *access;
}

static void see_access(void *context, uint64_t block, const struct at_emu_access *access)
{
    struct at_traffic_seen *seen = context;
    struct at_traffic_way *way = access->store ? &seen->sums.store : &seen->sums.load;
    bool load = !access->shared && !access->store;

    if (block != seen->block) {
        end_block(seen);
        seen->stored.lanes = 0;
    }
    seen->block = block;
    /* The machine runs a warp up to its barrier before the next warp. So consecutive loads are of
     * one warp, and in flight together. */
    if (load)
        seen->sums.work.load_rounds += seen->loading == NONE;
    if (load || seen->loading != access->instruction) /* an asynchronous copy stays a load */
        seen->loading = load ? access->instruction : NONE;
    if (access->shared) {
        seen->sums.work.wavefronts += at_request_wavefronts(access);
        return;
    }
    if (access->store)
        see_store(seen, access);
    way->requests++;
    way->sectors += at_request_sectors(access);
    if (seen->costs[access->instruction].streaming)
        way->streamed += at_request_sectors(access);
    way->lines += at_request_lines(access);
    touch(&seen->touched[access->store], access);
}

static void see_instruction(void *context, uint64_t block, size_t instruction, uint32_t lanes)
{
    struct at_traffic_seen *seen = context;
    const struct at_cost *cost = &seen->costs[instruction];

    (void)block;
    (void)lanes;
    seen->sums.work.slots += cost->slots;
    seen->sums.work.shuffles += cost->shuffles;
    seen->sums.work.barriers += cost->barriers;
    if (cost->waits)
        seen->loading = NONE;
}

enum at_status at_traffic_see(struct at_traffic_seen *seen, struct at_emu_memory *memory,
                              const struct at_emu_launch *emu, const uint64_t *blocks, size_t count,
                              struct at_error *err)
{
    const struct at_emu_observer observer = {
        .context = seen, .access = see_access, .executed = see_instruction};
    struct at_emu_launch part = *emu;
    struct at_emu_fault fault = {0};
    enum at_status status;

    part.threads = 1; /* the sums are not atomic */
    part.observer = &observer;
    part.only_blocks = blocks;
    part.only_block_count = count;
    seen->block = blocks[0];
    seen->loading = NONE;
    seen->stored.lanes = 0;
    status = at_emu_run(memory, &part, &fault, err);
    end_block(seen);
    if (status == AT_OK && fault.kind != AT_EMU_NO_FAULT)
        status = at_fail(err, AT_FAILED, "%s", fault.message);
    return status;
}

void at_traffic_seen_clear(struct at_traffic_seen *seen)
{
    for (int store = 0; store < 2; store++) {
        free(seen->touched[store].items);
        free(seen->pages[store].items);
    }
    free(seen->loaded.items);
    free(seen->ragged.items);
}
