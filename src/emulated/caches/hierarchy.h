/* SPDX-License-Identifier: Apache-2.0 */
/* The caches of a device and what flows between them: an L1 per multiprocessor, one L2, DRAM.
 *
 * L1 is write-through: stores go to L2, and get no line in L1. A sector that two consecutive stores
 * write in parts may go there once. L2 is write-back. A store fills no sector: L2 remembers which
 * bytes it has. Only when such a sector is read, or has to leave before all of it is written, the
 * rest comes from DRAM. Atomic operations are done in L2.
 *
 * L2 may have two halves. Each line belongs to one, through which it comes from DRAM and goes
 * there. A multiprocessor sends requests to the half that is next to it. A miss there is filled
 * from the line's home half, and both keep the data, written data too. So L2 then holds less than
 * its size. */
#ifndef AT_EMULATED_CACHES_HIERARCHY_H
#define AT_EMULATED_CACHES_HIERARCHY_H

#include <stdbool.h>
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
    uint64_t used; /* grows with each use; 0: no line is here */
    uint8_t rank;  /* at_cache_rank */
    uint8_t valid; /* a bit per sector that is here as a whole */
    uint8_t dirty; /* a bit per sector with bytes that memory does not have yet */
    uint32_t written[AT_CACHE_SECTORS]; /* a bit per such byte */
};

struct at_cache_level {
    uint64_t *numbers; /* of each line: the address / 128, plus 1. They are looked through most. */
    struct at_cache_line *lines;
    uint64_t sets;
    uint64_t ways;
    uint64_t clock; /* of uses */
};

/* Make a cache of this size with sets of `ways` lines; the caller clears it. A smaller size than a
 * set makes one set with fewer lines; a size of 0 a cache that keeps nothing. */
void at_cache_level_make(struct at_cache_level *level, int64_t bytes, int64_t ways);

void at_cache_level_clear(struct at_cache_level *level);

/* Make room for a line that is not here. *evicted gets the line that leaves, whose `used` may be 0.
 * NULL if the cache keeps nothing. */
struct at_cache_line *at_cache_level_place(struct at_cache_level *level, uint64_t number,
                                           enum at_cache_rank rank, struct at_cache_line *evicted);

struct at_cache_policy {
    bool past_l1; /* L2 serves it even if L1 has the data */
    bool keep_l1; /* data from L2 gets a line of L1 */
    enum at_cache_rank l1, l2;
    bool merges; /* a store that may go to L2 with the one before it */
};

struct at_cache_shape {
    int64_t multiprocessors;
    int64_t blocks; /* that a multiprocessor runs at once, at least 1 */
    int64_t l1_bytes, l1_ways;
    int64_t l2_bytes, l2_ways; /* of all halves */
    int64_t l2_halves;         /* 1 or 2 */
};

enum at_cache_way { AT_CACHE_LOAD, AT_CACHE_STORE, AT_CACHE_ATOMIC };

/* The part of a request that lies in one line: a bit per byte that it wants. */
struct at_cache_part {
    uint64_t line; /* the address / 128 */
    uint32_t bytes[AT_CACHE_SECTORS];
};

/* Sectors of one instruction, or of all. L1 serves only loads. */
struct at_cache_hits {
    int64_t l1_sectors, l1_hits; /* requested from L1, and found there */
    int64_t l2_sectors, l2_hits; /* the same for L2; a store is always a hit */
};

/* Sectors that flowed. An atomic operation reads from L2 and writes to it. */
struct at_cache_flow {
    int64_t l2_to_l1, l1_to_l2;
    int64_t dram_to_l2, l2_to_dram;
};

enum { AT_CACHE_HALVES = 2 };

struct at_caches {
    struct at_cache_shape shape;
    struct at_cache_level *l1;    /* per multiprocessor */
    struct at_cache_part *stored; /* per multiprocessor: the end of its last store */
    struct at_cache_level l2[AT_CACHE_HALVES];
    /* By whether the request counts: those of blocks that only warm the caches do not. */
    struct at_cache_flow flow[2];
    bool counting;
};

/* Make empty caches; the caller clears them. */
void at_caches_make(struct at_caches *caches, const struct at_cache_shape *shape);

void at_caches_clear(struct at_caches *caches);

/* A part of a request by a multiprocessor. Its sectors are added to *hits. */
void at_caches_access(struct at_caches *caches, int64_t multiprocessor, enum at_cache_way way,
                      struct at_cache_policy policy, const struct at_cache_part *part,
                      struct at_cache_hits *hits);

/* A launch begins: L1 is empty, and all counts are 0. L2 keeps its data. */
void at_caches_begin_launch(struct at_caches *caches);

/* Sectors in L2, and those of them that DRAM does not have yet. */
void at_caches_left(const struct at_caches *caches, int64_t *sectors, int64_t *dirty);

#endif
