/* SPDX-License-Identifier: Apache-2.0 */
#include "model/counts.h"

#include "base/memory.h"

#include <stdlib.h>

struct at_counts {
    struct at_emu_observer observer;
    size_t instructions;
    struct at_local_counts local;
    struct at_access_counts
        accesses[]; /* two per instruction: in global memory, in shared memory */
};

/* Blocks run on several threads; the order of additions does not matter. */
static void add(int64_t *sum, int64_t value)
{
    __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
}

static void count_access(void *context, uint64_t block, const struct at_emu_access *access)
{
    struct at_counts *counts = context;
    struct at_access_counts *sums = &counts->accesses[2 * access->instruction + access->shared];

    (void)block;
    /* All threads write the same values. */
    __atomic_store_n(&sums->shared, access->shared, __ATOMIC_RELAXED);
    __atomic_store_n(&sums->store, access->store, __ATOMIC_RELAXED);
    __atomic_store_n(&sums->atomic, access->atomic, __ATOMIC_RELAXED);
    __atomic_store_n(&sums->past_l1, access->fills != NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&sums->bytes, access->bytes, __ATOMIC_RELAXED);
    add(&sums->requests, 1);
    add(&sums->lanes, __builtin_popcount(access->lanes));
    if (access->shared) {
        add(&sums->wavefronts, at_request_wavefronts(access));
        add(&sums->least_wavefronts, at_request_least_wavefronts(access));
    } else {
        add(&sums->wanted_bytes, at_request_wanted_bytes(access));
        add(&sums->sectors, at_request_sectors(access));
        add(&sums->tag_sectors, at_request_tag_sectors(access));
        add(&sums->least_sectors, at_request_least_sectors(access));
    }
}

static void count_local(void *context, uint64_t block, const struct at_emu_access *access)
{
    struct at_counts *counts = context;

    (void)block;
    add(&counts->local.requests, 1);
    add(&counts->local.sectors, at_request_local_sectors(access));
}

struct at_counts *at_counts_new(size_t instructions)
{
    struct at_counts *counts =
        at_alloc(sizeof *counts + 2 * instructions * sizeof counts->accesses[0]);

    counts->observer =
        (struct at_emu_observer){.context = counts, .access = count_access, .local = count_local};
    counts->instructions = instructions;
    return counts;
}

void at_counts_free(struct at_counts *counts)
{
    free(counts);
}

const struct at_emu_observer *at_counts_observer(struct at_counts *counts)
{
    return &counts->observer;
}

const struct at_access_counts *at_counts_of(const struct at_counts *counts, size_t index,
                                            bool shared)
{
    return &counts->accesses[2 * index + shared];
}

const struct at_local_counts *at_counts_local(const struct at_counts *counts)
{
    return &counts->local;
}
