/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/time/parts.h"

#include "emulated/machine/op.h"
#include "emulated/time/requests.h"

#include <math.h>

/* Blocks that are looked at first. */
enum { PROBES = 64 };

/* The sectors of global memory that a block loads and stores. */
struct probe {
    uint64_t block;
    double sectors[2];
};

struct probes {
    struct probe *items;
    size_t count;
};

/* Only the host thread that runs a block adds to its probe. */
static void see_access(void *context, uint64_t block, const struct at_emu_access *access)
{
    const struct probes *probes = context;

    if (access->shared)
        return;
    for (size_t i = 0; i < probes->count; i++)
        if (probes->items[i].block == block)
            probes->items[i].sectors[access->store] += at_request_sectors(access);
}

static enum at_status run_probes(struct probe *items, size_t count, struct at_emu_memory *memory,
                                 const struct at_emu_launch *launch, struct at_error *err)
{
    struct probes probes = {items, count};
    const struct at_emu_observer observer = {.context = &probes, .access = see_access};
    struct at_emu_launch part = *launch;
    struct at_emu_fault fault = {0};
    uint64_t blocks[PROBES];
    enum at_status status;

    for (size_t i = 0; i < count; i++)
        blocks[i] = items[i].block;
    part.observer = &observer;
    part.only_blocks = blocks;
    part.only_block_count = count;
    status = at_emu_run(memory, &part, &fault, err);
    if (status == AT_OK && fault.kind != AT_EMU_NO_FAULT)
        status = at_fail(err, AT_FAILED, "%s", fault.message);
    return status;
}

/* Blocks whose sectors differ by less than this part of the most that one has, are alike. */
static const double ALIKE = 0.05;

static bool alike(const struct probe *a, const struct probe *b, const double most[2])
{
    return fabs(a->sectors[0] - b->sectors[0]) <= ALIKE * most[0] &&
           fabs(a->sectors[1] - b->sectors[1]) <= ALIKE * most[1];
}

/* Find the first block that is not like block `low` any more, if block `high` is not. */
static enum at_status find_end(uint64_t *end, struct probe low, struct probe high,
                               const double most[2], struct at_emu_memory *memory,
                               const struct at_emu_launch *launch, struct at_error *err)
{
    enum at_status status = AT_OK;

    while (high.block - low.block > 1 && status == AT_OK) {
        struct probe middle = {.block = low.block + (high.block - low.block) / 2};

        status = run_probes(&middle, 1, memory, launch, err);
        if (alike(&low, &middle, most))
            low.block = middle.block;
        else
            high = middle;
    }
    *end = high.block;
    return status;
}

/* If work differs in more places, it differs everywhere. */
enum { EQUAL_PARTS = 4, BORDERS = 24 };

static size_t equal_parts(struct at_grid_part parts[AT_GRID_PARTS], uint64_t blocks)
{
    for (uint64_t i = 0; i < EQUAL_PARTS; i++) {
        uint64_t first = blocks * i / EQUAL_PARTS;

        parts[i] = (struct at_grid_part){first, blocks * (i + 1) / EQUAL_PARTS - first};
    }
    return EQUAL_PARTS;
}

/* What is known of a grid: its probes, the most and the sum of sectors, and where work changes. */
struct survey {
    struct probe probes[PROBES];
    double most[2], all[2];
    struct border {
        uint64_t first; /* block from here on */
        struct probe like;
    } borders[BORDERS];
    size_t count; /* more than BORDERS: too many to tell */
};

/* A part that would change the sums by less is not worth a sample of its own. */
static const double LITTLE = 0.002;

static bool is_little(const struct survey *survey, const struct probe *a, const struct probe *b,
                      uint64_t blocks)
{
    return fabs(a->sectors[0] - b->sectors[0]) * (double)blocks <= LITTLE * survey->all[0] &&
           fabs(a->sectors[1] - b->sectors[1]) * (double)blocks <= LITTLE * survey->all[1];
}

static enum at_status find_borders(struct survey *survey, struct at_emu_memory *memory,
                                   const struct at_emu_launch *launch, struct at_error *err)
{
    uint64_t blocks = at_emu_blocks(launch), end;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < PROBES; i++)
        for (int k = 0; k < 2; k++) {
            survey->most[k] = fmax(survey->most[k], survey->probes[i].sectors[k]);
            survey->all[k] += survey->probes[i].sectors[k] / PROBES * (double)blocks;
        }
    survey->borders[survey->count++] = (struct border){0, survey->probes[0]};
    for (size_t i = 1; i < PROBES && status == AT_OK; i++) {
        const struct probe *probe = &survey->probes[i];

        if (alike(&survey->borders[survey->count - 1].like, probe, survey->most))
            continue;
        if (survey->count == BORDERS) {
            survey->count++;
            break;
        }
        status = find_end(&end, probe[-1], *probe, survey->most, memory, launch, err);
        survey->borders[survey->count++] = (struct border){end, *probe};
    }
    return status;
}

/* Make parts of the pieces between borders. A little piece joins the part before it. */
static size_t join(struct at_grid_part parts[AT_GRID_PARTS], const struct survey *survey,
                   uint64_t blocks)
{
    const struct probe *like = &survey->borders[0].like;
    size_t count = 1;

    parts[0] = (struct at_grid_part){0, 0};
    for (size_t i = 0; i < survey->count; i++) {
        const struct border *border = &survey->borders[i];
        uint64_t end = i + 1 < survey->count ? border[1].first : blocks;

        if (!alike(like, &border->like, survey->most) &&
            !is_little(survey, like, &border->like, end - border->first)) {
            if (count == AT_GRID_PARTS)
                return equal_parts(parts, blocks);
            parts[count++] = (struct at_grid_part){border->first, 0};
            like = &border->like;
        }
        parts[count - 1].count = end - parts[count - 1].first;
    }
    return count;
}

enum at_status at_grid_find_parts(struct at_grid_parts *parts, struct at_emu_memory *memory,
                                  const struct at_emu_launch *launch, struct at_error *err)
{
    uint64_t blocks = at_emu_blocks(launch);
    struct survey survey = {.count = 0};
    enum at_status status;

    *parts = at_grid_whole(launch);
    /* With blocks that wait for each other, all would run each time. */
    if (blocks < PROBES || launch->kernel->polls)
        return AT_OK;
    for (uint64_t i = 0; i < PROBES; i++)
        survey.probes[i].block = i * (blocks - 1) / (PROBES - 1);
    status = run_probes(survey.probes, PROBES, memory, launch, err);
    if (status == AT_OK)
        status = find_borders(&survey, memory, launch, err);
    if (status == AT_OK)
        parts->count = survey.count > BORDERS ? equal_parts(parts->items, blocks)
                                              : join(parts->items, &survey, blocks);
    return status;
}
