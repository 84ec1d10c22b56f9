/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a block while it runs, and what the functions that execute instructions call. */
#ifndef AT_EMU_WARP_H
#define AT_EMU_WARP_H

#include "emu/op.h"

enum { AT_EMU_WARPS_MAX = 32 };

/* A copy that cp.async began: done when its group is waited for, so that who reads before the wait
 * finds what was there before. */
struct at_emu_copy {
    const struct at_emu_op *op;
    uint32_t lanes; /* that still wait */
    uint32_t group[AT_WARP];
    uint32_t size[AT_WARP]; /* bytes that come from the source; the rest is zeros */
    uint64_t from[AT_WARP], to[AT_WARP];
};

/* An mbarrier object (PTX ISA, "Parallel Synchronization and Communication Instructions:
 * mbarrier"): a phase is complete when nobody has still to arrive and no byte is on its way. */
struct at_emu_mbarrier {
    uint32_t offset; /* in shared memory */
    uint32_t expected, pending;
    int64_t bytes;
    uint32_t phase;
};

/* A bulk copy under way. One to shared memory lands when its phase of an mbarrier is waited for;
 * one to global memory is made when its group is. */
struct at_emu_bulk {
    const struct at_emu_op *op;
    struct at_emu_warp *warp;
    uint32_t lane;
    uint32_t bytes;
    uint32_t mbarrier, phase; /* to shared memory: an index of the block's, */
    uint32_t group, tick;     /* to global memory: and when it was begun */
    uint64_t from, to;
};

struct at_emu_warp {
    struct at_emu_block *block;
    char *file; /* the rows */
    uint32_t
        *undefined;   /* for each row, by its offset / AT_EMU_ROW_ALIGN: lanes; see undefined.c */
    uint32_t *origin; /* the instruction that loaded what is undefined there */
    size_t undefined_rows;
    uint32_t first_thread; /* of the block */
    uint32_t lanes;        /* that exist: the last warp of a block may have fewer */
    uint32_t alive;        /* have not exited */
    uint32_t active;       /* are at pc */
    uint32_t pc;
    uint32_t stop;             /* the lowest pc of the other lanes; UINT32_MAX: there are none */
    uint32_t lane_pc[AT_WARP]; /* of lanes alive but not active */
    uint64_t executed[AT_WARP];
    bool waiting;                         /* at the barrier of instruction pc - 1, */
    uint32_t barrier;                     /* which has this number */
    const struct at_emu_op *stalled;      /* waits for an mbarrier here; NULL: does not */
    uint32_t synced;                      /* shared memory's tick at the last bar.warp.sync */
    uint32_t acquired;                    /* and at the last wait for an mbarrier */
    const struct at_emu_allocation *near; /* where the last access fell */
    struct at_emu_copy *copies;
    size_t copy_count, copy_capacity;
    uint32_t groups[AT_WARP];      /* of copies that each lane has committed, */
    uint32_t bulk_groups[AT_WARP]; /* and of bulk copies */
};

/* Shared memory with what is known of each of its bytes; see shared.c. */
struct at_emu_shared {
    char *bytes;
    uint32_t size;
    uint32_t *written, *read;                    /* records, one a byte */
    uint32_t tick;                               /* grows at each barrier */
    uint32_t first;                              /* its value when the block began, */
    uint32_t synced;                             /* and at the last barrier of the block */
    uint32_t fenced[AT_EMU_WARPS_MAX * AT_WARP]; /* and at each thread's last fence.proxy.async */
};

struct at_emu_block {
    const struct at_emu_launch *launch;
    const struct at_emu_memory *memory;
    const struct at_ptx_kernel *kernel;
    const struct at_emu_observer *observer; /* NULL: none */
    uint64_t index;
    uint32_t id[3];
    struct at_emu_warp *warps;
    uint32_t warp_count;
    struct at_emu_shared shared;
    char *params;
    char *local; /* thread by thread */
    struct at_emu_mbarrier *mbarriers;
    size_t mbarrier_count, mbarrier_capacity;
    struct at_emu_bulk *bulk;
    size_t bulk_count, bulk_capacity;
    uint32_t mbarrier_events; /* phases completed, and waits that found one: whether warps get on */
    struct at_emu_fault fault;
};

/* A row as an array of the type that fits it. */
#define AT_EMU_ROW(type, warp, offset) ((type *)(void *)((warp)->file + (offset)))

/* faults.c. The first fault of a block stands; detail (printf-like) may say more. */
void at_emu_raise(struct at_emu_warp *warp, const struct at_emu_op *op, enum at_emu_fault_kind kind,
                  int lane, uint64_t address, const char *detail, ...)
    __attribute__((format(printf, 6, 7)));

/* memory.c. The allocation that has this address, or NULL. */
struct at_emu_allocation {
    uint64_t address;
    uint64_t size;
    char *bytes;
};
const struct at_emu_allocation *at_emu_memory_find(const struct at_emu_memory *memory,
                                                   uint64_t address);

/* access.c. The addresses of the lanes: a row of registers of 4 or 8 bytes, and an offset. */
void at_emu_access_addresses(const struct at_emu_warp *warp, uint32_t row, int register_bytes,
                             int64_t offset, uint64_t address[AT_WARP]);

/* The lanes of an access by the space that they fall in: one part, or of generic addresses up to
 * three, whose addresses are then those within their spaces. Returns how many. */
struct at_emu_part {
    enum at_emu_space space;
    uint32_t lanes;
};
int at_emu_access_split(const struct at_emu_op *op, uint32_t lanes, uint64_t address[AT_WARP],
                        struct at_emu_part parts[3]);

/* Where in the host's memory the lanes' accesses of `bytes` bytes go, checked: within one
 * allocation (or block, or thread) and aligned. False if a fault was raised. */
bool at_emu_access_resolve(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                           enum at_emu_space space, uint32_t bytes, const uint64_t address[AT_WARP],
                           char *host[AT_WARP]);
/* Tells the observer, if there is one. fills: as in struct at_emu_access. */
void at_emu_access_report(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                          enum at_emu_space space, bool store, uint32_t bytes,
                          const uint64_t address[AT_WARP], const uint64_t *fills);

/* shared.c */
void at_emu_shared_begin_block(struct at_emu_shared *shared);
/* Everything before is ordered before everything after: for the whole block, or for a warp. */
void at_emu_shared_barrier(struct at_emu_block *block);
void at_emu_shared_warp_barrier(struct at_emu_warp *warp);
/* Notes an access and looks for races. *unwritten gets the lanes that read what nobody wrote; of
 * the lanes in `undefined` a store leaves its bytes unwritten. False if a fault was raised. */
bool at_emu_shared_note(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                        bool store, bool atomic, uint32_t bytes, const uint64_t address[AT_WARP],
                        uint32_t undefined, uint32_t *unwritten);

/* The same for bulk copies, which read and write beside the threads: what one to shared memory will
 * overwrite is not there from its beginning until it lands; what one to global memory reads must be
 * there, be known to the asynchronous proxy, and stay. False if a fault was raised. */
bool at_emu_shared_expect(const struct at_emu_bulk *bulk);
bool at_emu_shared_land(const struct at_emu_bulk *bulk);
bool at_emu_shared_lend(const struct at_emu_bulk *bulk);
bool at_emu_shared_lent(const struct at_emu_bulk *bulk);
/* A warp has waited for an mbarrier. */
void at_emu_shared_acquire(struct at_emu_warp *warp);
/* Bulk copies have landed: what follows is later. */
void at_emu_shared_landed(struct at_emu_block *block);

/* mbarrier.c. The one there, or NULL; the lanes' addresses of mbarriers, checked; and after a
 * change, whether its phase is complete. False if a fault was raised. */
struct at_emu_mbarrier *at_emu_mbarrier_find(struct at_emu_block *block, uint64_t offset);
bool at_emu_mbarrier_reach(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                           bool operation, uint64_t address[AT_WARP]);
bool at_emu_mbarrier_settle(const struct at_emu_op *op, struct at_emu_warp *warp, int lane,
                            struct at_emu_mbarrier *mbarrier);

/* bulk.c. Moves the bytes of the bulk copies to shared memory that belong to completed phases of an
 * mbarrier. False if a fault was raised. */
bool at_emu_bulk_land(struct at_emu_block *block, uint32_t mbarrier);

/* undefined.c. Before an instruction of a warp with undefined rows; false if a fault was raised. */
bool at_emu_undefined_step(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes);
void at_emu_undefined_mark(struct at_emu_warp *warp, uint32_t row, uint32_t lanes,
                           uint32_t undefined, uint32_t origin);
void at_emu_undefined_clear(struct at_emu_warp *warp);

static inline uint32_t at_emu_undefined(const struct at_emu_warp *warp, uint32_t row)
{
    return warp->undefined[row / AT_EMU_ROW_ALIGN];
}

/* block.c. Runs a block to its end or its first fault, block->fault. */
void at_emu_block_run(struct at_emu_block *block);

#endif
