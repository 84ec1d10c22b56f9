/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a running block, and helpers for the functions that execute instructions. */
#ifndef AT_EMULATED_MACHINE_WARP_H
#define AT_EMULATED_MACHINE_WARP_H

#include "emulated/machine/op.h"

enum { AT_EMU_WARPS_MAX = 32 };

/* A copy that cp.async began. It is done at the wait for its group, so a kernel that reads earlier
 * finds the old bytes. */
struct at_emu_copy {
    const struct at_emu_op *op;
    uint32_t lanes; /* whose copies are not done */
    uint32_t group[AT_WARP];
    uint32_t size[AT_WARP]; /* bytes copied from the source; the rest is zeros */
    uint64_t from[AT_WARP], to[AT_WARP];
    char source[AT_WARP][16]; /* what was there when the copy began */
};

/* An mbarrier object (PTX ISA, "Parallel Synchronization and Communication Instructions:
 * mbarrier"). A phase is complete when no arrival and no byte is pending. */
struct at_emu_mbarrier {
    uint32_t offset; /* in shared memory; UINT32_MAX: it is no more */
    uint32_t expected, pending;
    int64_t bytes;
    uint32_t phase;
    uint32_t completed; /* the tick when the last phase was complete */
};

/* A bulk copy under way. A copy to shared memory (a fill) is done at the wait for its phase of an
 * mbarrier; a copy to global memory (a drain) at the wait for its group. */
struct at_emu_bulk {
    const struct at_emu_op *op;
    struct at_emu_warp *warp;
    uint32_t lane;
    uint32_t bytes;
    uint32_t mbarrier, phase; /* fill: the mbarrier's index within the block */
    uint32_t group, tick;     /* drain: tick is the time when it began */
    bool due;                 /* it ends now */
    uint64_t sum;             /* fill: of the source's bytes when it began */
    uint64_t from, to;
};

/* A record of an access to a byte of shared memory (shared.c): the tick, three flags, and the
 * number of the thread within the block. */
enum {
    AT_EMU_THREAD_MASK = 1023,
    /* Of a write: by an atomic operation, which others may follow; by a bulk copy of the thread. */
    AT_EMU_BY_ATOMIC = 1 << 10,
    AT_EMU_BY_BULK = 1 << 11,
    /* Of a read: other threads of the same warp, or of other warps, read it too. */
    AT_EMU_MORE_LANES = 1 << 10,
    AT_EMU_MORE_WARPS = 1 << 11,
    AT_EMU_STRONG_ACCESS = 1 << 12, /* volatile or atomic; all of them, if others read too */
    AT_EMU_TICK_SHIFT = 13,
    AT_EMU_TICK_MAX = (1 << 19) - 1,
};

/* The written record of a byte that belongs to no array. */
#define AT_EMU_OUTSIDE UINT32_MAX

/* Of an origin: an undefined value is from local memory. */
#define AT_EMU_ORIGIN_LOCAL (1u << 31)

static inline uint32_t at_emu_tick_of(uint32_t record)
{
    return record >> AT_EMU_TICK_SHIFT;
}

static inline uint32_t at_emu_later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

struct at_emu_warp {
    struct at_emu_block *block;
    char *file; /* the rows */
    /* Both by a row's offset / AT_EMU_ROW_ALIGN; see block.c. */
    uint32_t *undefined; /* the lanes whose values are undefined */
    uint32_t *origin;    /* the instruction that loaded them */
    size_t undefined_rows;
    uint32_t first_thread; /* its number within the block */
    uint32_t lanes;        /* the last warp of a block may have fewer than 32 */
    uint32_t alive;        /* lanes that have not exited */
    uint32_t active;       /* lanes at pc */
    uint32_t pc;
    uint32_t stop; /* the lowest pc of the other lanes as deep; UINT32_MAX: none */
    uint64_t next; /* the place of the lanes that come next; UINT64_MAX: none (flow.c) */
    uint32_t lane_pc[AT_WARP]; /* of lanes that are alive but not active */
    uint32_t depth[AT_WARP];   /* recursive calls that have not returned, and what they saved */
    struct at_emu_saved *saved[AT_WARP];
    uint64_t executed[AT_WARP];
    uint64_t spent;   /* by the active lanes beyond `executed`, where the flow is not to the next */
    uint32_t carry;   /* of extended-precision arithmetic */
    bool waiting;     /* at the barrier of instruction pc - 1 */
    uint32_t barrier; /* the number of that barrier */
    uint32_t yes;     /* the lanes that vote for it there */
    uint32_t held;    /* lanes that wait there for others of the warp */
    uint32_t gathered;            /* lanes that wait for those of their masks (flow.c) */
    uint32_t away;                /* lanes that run an instruction now at a copy of it */
    uint32_t named[AT_WARP];      /* their masks */
    const struct at_emu_op *last; /* the last access to memory, and its lanes since a barrier */
    uint32_t last_lanes, last_waiting; /* lanes that waited for others then */
    const struct at_emu_op *left_at;   /* that of lanes that exited since a barrier; NULL: none */
    bool left_held;                    /* it ran while other lanes waited at the barrier */
    const struct at_emu_op *stalled;   /* waits for an mbarrier here; NULL: no */
    uint32_t synced;                   /* the tick of the last barrier, of the warp or the block */
    uint32_t acquired;                 /* the tick of the last wait for an mbarrier */
    uint32_t joined;                   /* the tick when the phase that it waited for was complete */
    /* [i][j]: a barrier of lanes orders lane j's accesses before this tick before all that lane i
     * does now. NULL: there was no barrier of a part of the warp. */
    uint32_t (*heard)[AT_WARP];
    /* By warp of the block: named barriers order its accesses before this tick before all that this
     * warp does now. NULL: it has waited at none. */
    uint32_t *knows;
    const struct at_emu_allocation *near; /* where the last access was */
    /* The last read by a loop that may wait: its instruction, first address and value. */
    struct at_emu_poll {
        const struct at_emu_op *op;
        uint64_t address, value;
    } polled;
    struct at_emu_copy *copies;
    size_t copy_count, copy_capacity;
    uint32_t groups[AT_WARP];      /* of copies, committed by each lane */
    uint32_t bulk_groups[AT_WARP]; /* of bulk copies */
};

/* Shared memory, with a record of the accesses of each byte; see shared.c. */
struct at_emu_shared {
    char *bytes;
    uint32_t size;
    uint32_t *written, *read; /* a record per byte */
    uint32_t *readers;        /* per byte: the lanes of a read with AT_EMU_MORE_LANES */
    uint32_t tick;            /* grows at each barrier */
    uint32_t first;           /* the tick when the block began */
    uint32_t synced;          /* the tick of the block's last barrier */
    uint32_t
        fenced[AT_EMU_WARPS_MAX * AT_WARP]; /* the tick of each thread's last fence.proxy.async */
};

/* Ticks of each thread; and of a thread of each warp and of the block, for the others behind a
 * barrier. */
struct at_emu_ticks {
    uint32_t of_thread[AT_EMU_WARPS_MAX * AT_WARP];
    uint32_t of_warp[AT_EMU_WARPS_MAX], of_block;
};

/* A barrier for a number of threads (PTX ISA, bar). */
enum { AT_EMU_NAMED = 16 };
struct at_emu_named {
    uint32_t threads, arrived; /* arrived is 0: nobody has come, and the rest means nothing */
    uint8_t vote;              /* at_emu_vote */
    uint32_t came, waiting;    /* warps */
    uint32_t known[AT_EMU_WARPS_MAX]; /* what its warps know of others when they arrive (races.c) */
};

/* A growing text. */
struct at_emu_text {
    char *items;
    size_t count, capacity;
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
    char *local;            /* thread by thread */
    uint8_t *local_written; /* the same: for each byte the turn of the block that wrote it */
    uint8_t turn;
    char *frames;              /* the same: arguments and results of functions */
    const uint64_t *variables; /* addresses of the module's variables; NULL: none is used */
    uint64_t left;             /* steps of all warps, up to the limit */
    uint64_t slow;             /* slow instructions that are not yet taken from them */
    struct at_emu_text printed;
    struct at_emu_mbarrier *mbarriers;
    size_t mbarrier_count, mbarrier_capacity;
    struct at_emu_bulk *bulk;
    size_t bulk_count, bulk_capacity;
    uint32_t
        barrier_events; /* phases and named barriers completed, and waits that ended: progress */
    uint32_t polls;     /* reads that may wait, since a warp's turn began or changed memory */
    struct at_emu_races *races;           /* records of accesses of global memory; NULL: none */
    struct at_emu_ticks fences, acquired; /* fences; strong reads, the first ones */
    struct at_emu_named named[AT_EMU_NAMED];
    uint64_t changes; /* of memory, by threads of this block */
    bool arrived;     /* a strong access has changed global memory */
    struct at_emu_fault fault;
};

/* The three indices of a block or thread with this linear one. */
static inline void at_emu_index(uint32_t index[3], const uint32_t size[3], uint64_t linear)
{
    index[0] = (uint32_t)(linear % size[0]);
    index[1] = (uint32_t)(linear / size[0] % size[1]);
    index[2] = (uint32_t)(linear / size[0] / size[1]);
}

/* Count the steps of a slow instruction; it counts as one already. */
static inline void at_emu_spend(struct at_emu_block *block)
{
    block->slow++;
}

/* The line of the source, if the compiler told it, else of the PTX. */
static inline int at_emu_line(const struct at_emu_op *op)
{
    return op->places.caller_line > 0 ? op->places.caller_line : op->line;
}

/* A row as an array; type must have its width. */
#define AT_EMU_ROW(type, warp, offset) ((type *)(void *)((warp)->file + (offset)))

/* memory.c. Set the block's fault, unless it has one. detail, like printf's format, may be NULL. */
void at_emu_raise(struct at_emu_warp *warp, const struct at_emu_op *op, enum at_emu_fault_kind kind,
                  int lane, uint64_t address, const char *detail, ...)
    __attribute__((format(printf, 6, 7)));

/* memory.c. The allocation that contains this address, or NULL. */
struct at_emu_allocation {
    uint64_t address;
    uint64_t size;
    char *bytes;
    bool kept; /* at_emu_memory_begin restores it */
};
const struct at_emu_allocation *at_emu_memory_find(const struct at_emu_memory *memory,
                                                   uint64_t address);
/* The addresses of an image's variables, which get their initial values at the first call. NULL:
 * the host has too little memory. They belong to the memory. */
const uint64_t *at_emu_memory_place(struct at_emu_memory *memory, const struct at_emu_image *image);

/* Of all allocations. */
uint64_t at_emu_memory_bytes(const struct at_emu_memory *memory);

/* Begin a launch: see at_emu_memory_rewind. False: the host has too little memory. */
bool at_emu_memory_begin(struct at_emu_memory *memory);

/* access.c. The addresses of the lanes: a row of registers of 4 or 8 bytes, and an offset. */
void at_emu_access_addresses(const struct at_emu_warp *warp, uint32_t row, int register_bytes,
                             int64_t offset, uint64_t address[AT_WARP]);

/* Split the lanes of an access by state space. Generic addresses may give some parts and become
 * addresses within their spaces. Returns the number of parts. */
enum { AT_EMU_PARTS = 4 };
struct at_emu_part {
    enum at_emu_space space;
    uint32_t lanes;
};
int at_emu_access_split(const struct at_emu_op *op, uint32_t lanes, uint64_t address[AT_WARP],
                        struct at_emu_part parts[AT_EMU_PARTS]);
/* Find the lanes' `bytes` bytes in the host's memory. Each access must be aligned and within one
 * allocation, or the memory of its block or thread. False if a fault was raised. */
bool at_emu_access_resolve(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                           enum at_emu_space space, uint32_t bytes, const uint64_t address[AT_WARP],
                           char *host[AT_WARP]);
/* Count an access that changes memory. */
static inline void at_emu_access_change(const struct at_emu_op *op, struct at_emu_warp *warp)
{
    warp->block->arrived |= op->order & AT_EMU_STRONG && op->space != AT_EMU_SHARED;
    warp->block->changes++;
    warp->block->polls = 0;
}

/* Count a read that a loop may repeat until another thread changes memory. False: the warp did the
 * same one just before, and found the same. */
bool at_emu_access_poll(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                        uint32_t bytes, const uint64_t address[AT_WARP], char *const host[AT_WARP]);

/* Tell the observer, if there is one. fills: see struct at_emu_access. */
void at_emu_access_report(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                          enum at_emu_space space, bool store, uint32_t bytes,
                          const uint64_t address[AT_WARP], const uint64_t *fills);

/* shared.c. Record an access and look for races. *unwritten gets the lanes that read unwritten
 * bytes. A store leaves the bytes of the lanes in `undefined` unwritten. False if a fault was
 * raised. */
bool at_emu_shared_note(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                        bool store, bool atomic, uint32_t bytes, const uint64_t address[AT_WARP],
                        uint32_t undefined, uint32_t *unwritten);

/* The lanes that have unwritten ones among these bytes, from `first_byte` after their address on.
 */
uint32_t at_emu_shared_unwritten(const struct at_emu_warp *warp, uint32_t lanes, uint32_t bytes,
                                 const uint64_t address[AT_WARP], uint32_t first_byte);
/* The same for a store, unit by unit. */
bool at_emu_shared_note_store(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                              uint32_t bytes, const uint64_t address[AT_WARP]);

/* Set which of the lanes are undefined in a row. */
void at_emu_undefined_mark(struct at_emu_warp *warp, uint32_t row, uint32_t lanes,
                           uint32_t undefined, uint32_t origin);

/* The origin of an undefined value: this instruction. */
static inline uint32_t at_emu_origin(const struct at_emu_warp *warp, const struct at_emu_op *op)
{
    return (uint32_t)(op - warp->block->kernel->ops);
}

static inline uint32_t at_emu_undefined(const struct at_emu_warp *warp, uint32_t row)
{
    return warp->undefined[row / AT_EMU_ROW_ALIGN];
}

/* bulk.c. A bulk copy from shared memory must have been waited for when its block ends. */
void at_emu_bulk_end_block(struct at_emu_block *block);

/* block.c. Take steps from the block's limit at once: a call that takes long is not followed by
 * thousands more before the limit is looked at. False if a fault was raised. */
bool at_emu_pay(const struct at_emu_op *op, struct at_emu_warp *warp, uint64_t steps);

/* Begin a block. */
void at_emu_block_begin(struct at_emu_block *block);
/* Run a block to its end or to its first fault, block->fault. True: it did not end, because its
 * threads wait for memory that other blocks may change; call again later. */
bool at_emu_block_run(struct at_emu_block *block);
/* The fault of a block whose wait has no end. */
void at_emu_block_raise_wait(struct at_emu_block *block, const char *why);

#endif
