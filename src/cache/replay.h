/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the requests of a launch's blocks through the caches, in an order that depends on nothing
 * but the blocks.
 *
 * Blocks start in order: one on each multiprocessor, then a second one, until no more fit. When a
 * block has ended, the next one takes its place. The multiprocessors take turns, and each misses
 * some of its own. In its turn, a multiprocessor sends one request. Its warps take turns as well.
 * Nothing takes time: a request that misses has its data before the next one. */
#ifndef AT_CACHE_REPLAY_H
#define AT_CACHE_REPLAY_H

#include "cache/hierarchy.h"
#include "emu/machine.h"

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

#endif
