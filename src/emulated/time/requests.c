/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/time/requests.h"

#include "base/memory.h"

enum { LINE_BYTES = 128, SECTOR_BYTES = 32, BANKS = 32, BANK_BYTES = 4 };

/* A set of numbers, small enough for a linear search. */
struct small_set {
    int count;
    uint64_t items[AT_WARP];
};

static bool add(struct small_set *set, uint64_t item)
{
    for (int i = set->count; i > 0; i--) /* from the end: equal numbers often follow each other */
        if (set->items[i - 1] == item)
            return false;
    set->items[set->count++] = item;
    return true;
}

/* The number of different values that the lanes have of an expression. */
#define DISTINCT(expression)                                                                       \
    ({                                                                                             \
        struct small_set set = {0};                                                                \
                                                                                                   \
        AT_EACH_OF (lane, access->lanes)                                                           \
            add(&set, expression);                                                                 \
        set.count;                                                                                 \
    })

/* An aligned access of at most 16 bytes lies within one sector. */
int at_request_sectors(const struct at_emu_access *access)
{
    return DISTINCT(access->address[lane] / SECTOR_BYTES);
}

int at_request_lines(const struct at_emu_access *access)
{
    return DISTINCT(access->address[lane] / LINE_BYTES);
}

int at_request_tag_sectors(const struct at_emu_access *access)
{
    return access->fills ? DISTINCT(access->address[lane] / LINE_BYTES << 32 |
                                    access->fills[lane] / SECTOR_BYTES)
                         : at_request_sectors(access);
}

static int request_wanted_bytes(const struct at_emu_access *access)
{
    return DISTINCT(access->address[lane]) * access->bytes;
}

int at_request_least_sectors(const struct at_emu_access *access)
{
    return (request_wanted_bytes(access) + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

/* The lanes served together: 32 with up to 4 bytes, 16 with 8, 8 with 16. */
static int lanes_together(const struct at_emu_access *access)
{
    return access->bytes <= BANK_BYTES ? AT_WARP : AT_WARP * BANK_BYTES / access->bytes;
}

/* The wavefronts of lanes first .. first + count - 1: the most words wanted from one bank. Atomic
 * operations on one word take turns. */
static int group_wavefronts(const struct at_emu_access *access, int first, int count)
{
    struct small_set words = {0};
    int in_bank[BANKS] = {0}, most = 0;
    int words_per_lane = access->bytes <= BANK_BYTES ? 1 : access->bytes / BANK_BYTES;

    for (int lane = first; lane < first + count; lane++) {
        if (!(access->lanes >> lane & 1))
            continue;
        for (int i = 0; i < words_per_lane; i++) {
            uint64_t word = access->address[lane] / BANK_BYTES + (uint64_t)i;

            if ((access->atomic || add(&words, word)) && ++in_bank[word % BANKS] > most)
                most = in_bank[word % BANKS];
        }
    }
    return most;
}

int at_request_wavefronts(const struct at_emu_access *access)
{
    int together = lanes_together(access), wavefronts = 0;

    for (int first = 0; first < AT_WARP; first += together)
        wavefronts += group_wavefronts(access, first, together);
    return wavefronts;
}

/* The "ideal" of Nsight Compute: the number of words, divided by 32 banks. A part of a warp may
 * take more even without conflicts, because only certain lanes are served together. */
int at_request_least_wavefronts(const struct at_emu_access *access)
{
    int words_per_lane = access->bytes <= BANK_BYTES ? 1 : access->bytes / BANK_BYTES;
    int words = __builtin_popcount(access->lanes) * words_per_lane;

    return (words + BANKS - 1) / BANKS;
}

/* A row of 32 words of 4 bytes per offset: 8 lanes' words are a sector. */
int at_request_local_sectors(const struct at_emu_access *access)
{
    int words = access->bytes < 4 ? 1 : access->bytes / 4, sectors = 0;

    for (int first = 0; first < AT_WARP; first += 8) {
        uint32_t left = access->lanes >> first & 0xff;

        while (left) { /* lanes with the same offset share their sectors */
            uint64_t offset = access->address[first + __builtin_ctz(left)] / 4;

            for (int i = 0; i < 8; i++)
                if (access->address[first + i] / 4 == offset)
                    left &= ~(1u << i);
            sectors += words;
        }
    }
    return sectors;
}

/* Blocks run on several threads; the order of additions does not matter. */
static void add_up(int64_t *sum, int64_t value)
{
    __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
}

static void count_access(void *context, uint64_t block, const struct at_emu_access *access)
{
    struct at_counts *counts = context;
    struct at_access_counts *sums = &counts->accesses[access->instruction][access->shared];

    (void)block;
    /* All threads write the same values. */
    __atomic_store_n(&sums->shared, access->shared, __ATOMIC_RELAXED);
    __atomic_store_n(&sums->store, access->store, __ATOMIC_RELAXED);
    __atomic_store_n(&sums->atomic, access->atomic, __ATOMIC_RELAXED);
    __atomic_store_n(&sums->past_l1, access->fills != NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&sums->bytes, access->bytes, __ATOMIC_RELAXED);
    add_up(&sums->requests, 1);
    add_up(&sums->lanes, __builtin_popcount(access->lanes));
    if (access->shared) {
        add_up(&sums->wavefronts, at_request_wavefronts(access));
        add_up(&sums->least_wavefronts, at_request_least_wavefronts(access));
    } else {
        add_up(&sums->wanted_bytes, request_wanted_bytes(access));
        add_up(&sums->sectors, at_request_sectors(access));
        add_up(&sums->tag_sectors, at_request_tag_sectors(access));
        add_up(&sums->least_sectors, at_request_least_sectors(access));
        add_up(&sums->lines, at_request_lines(access));
    }
}

static void count_local(void *context, uint64_t block, const struct at_emu_access *access)
{
    struct at_counts *counts = context;

    (void)block;
    add_up(&counts->local.requests, 1);
    add_up(&counts->local.sectors, at_request_local_sectors(access));
}

struct at_counts *at_counts_new(size_t instructions)
{
    struct at_counts *counts = at_alloc(sizeof *counts + instructions * sizeof counts->accesses[0]);

    counts->observer =
        (struct at_emu_observer){.context = counts, .access = count_access, .local = count_local};
    return counts;
}
