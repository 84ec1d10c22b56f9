/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/level.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void at_cache_level_make(struct at_cache_level *level, int64_t bytes, int64_t ways)
{
    int64_t lines = bytes / AT_CACHE_LINE_BYTES;

    *level = (struct at_cache_level){.ways = (uint64_t)(lines < ways ? lines : ways)};
    level->sets = level->ways ? (uint64_t)lines / level->ways : 0;
    level->lines = at_alloc_array(level->sets * level->ways, sizeof *level->lines);
}

void at_cache_level_clear(struct at_cache_level *level)
{
    free(level->lines);
    *level = (struct at_cache_level){0};
}

void at_cache_level_flush(struct at_cache_level *level)
{
    memset(level->lines, 0, level->sets * level->ways * sizeof *level->lines);
}

/* GPUs hash addresses, so that power-of-two strides do not meet in one set. How is not published;
 * this is Fibonacci hashing (Knuth, The Art of Computer Programming, 6.4). */
static struct at_cache_line *set_of(const struct at_cache_level *level, uint64_t number)
{
    uint64_t hash = number * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    return level->lines + hash % level->sets * level->ways;
}

struct at_cache_line *at_cache_level_find(struct at_cache_level *level, uint64_t number)
{
    struct at_cache_line *set;

    if (level->sets == 0)
        return NULL;
    set = set_of(level, number);
    for (uint64_t i = 0; i < level->ways; i++)
        if (set[i].number == number) {
            set[i].used = ++level->clock;
            return &set[i];
        }
    return NULL;
}

/* An empty line has the lowest rank and was never used. */
static int leaves_before(const struct at_cache_line *a, const struct at_cache_line *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->used < b->used;
}

struct at_cache_line *at_cache_level_place(struct at_cache_level *level, uint64_t number,
                                           enum at_cache_rank rank, struct at_cache_line *evicted)
{
    struct at_cache_line *set, *leaving;

    *evicted = (struct at_cache_line){0};
    if (level->sets == 0)
        return NULL;
    leaving = set = set_of(level, number);
    for (uint64_t i = 0; i < level->ways && leaving->number; i++)
        if (!set[i].number || leaves_before(&set[i], leaving))
            leaving = &set[i];
    *evicted = *leaving;
    *leaving =
        (struct at_cache_line){.number = number, .used = ++level->clock, .rank = (uint8_t)rank};
    return leaving;
}
