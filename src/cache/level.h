/* SPDX-License-Identifier: Apache-2.0 */
/* One cache: sets of lines of 128 bytes, each in four sectors of 32 bytes that are filled one by
 * one. It knows which bytes it has, not their values. */
#ifndef AT_CACHE_LEVEL_H
#define AT_CACHE_LEVEL_H

#include <stddef.h>
#include <stdint.h>

enum {
    AT_CACHE_SECTOR_BYTES = 32,
    AT_CACHE_SECTORS = 4, /* per line */
    AT_CACHE_LINE_BYTES = AT_CACHE_SECTOR_BYTES * AT_CACHE_SECTORS,
};

/* Which line of a set leaves first: of the lowest rank the one whose last use is longest ago. */
enum at_cache_rank { AT_CACHE_FIRST, AT_CACHE_NORMAL, AT_CACHE_LAST };

struct at_cache_line {
    uint64_t number; /* the address / 128, plus 1; 0: no line */
    uint64_t used;   /* grows with each use */
    uint8_t rank;    /* at_cache_rank */
    uint8_t valid;   /* a bit per sector that is here as a whole */
    uint8_t dirty;   /* a bit per sector with bytes that memory does not have yet */
    uint32_t written[AT_CACHE_SECTORS]; /* a bit per such byte */
};

struct at_cache_level {
    struct at_cache_line *lines;
    uint64_t sets;
    uint64_t ways;
    uint64_t clock; /* of uses */
};

/* Make a cache of this size with sets of `ways` lines; the caller clears it. A smaller size than a
 * set makes one set with fewer lines; a size of 0 a cache that keeps nothing. */
void at_cache_level_make(struct at_cache_level *level, int64_t bytes, int64_t ways);
void at_cache_level_clear(struct at_cache_level *level);

/* Forget everything. */
void at_cache_level_flush(struct at_cache_level *level);

/* The line with this number, which is used now; NULL: it is not here. */
struct at_cache_line *at_cache_level_find(struct at_cache_level *level, uint64_t number);

/* Make room for a line that is not here. *evicted gets the line that leaves, whose number may be 0.
 * NULL if the cache keeps nothing. */
struct at_cache_line *at_cache_level_place(struct at_cache_level *level, uint64_t number,
                                           enum at_cache_rank rank, struct at_cache_line *evicted);

#endif
