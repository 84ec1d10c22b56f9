/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that runs PTX: grids of blocks of warps, memory whose every access is checked, and an
 * observer that sees what the memory system of a GPU would see (of local memory nothing).
 *
 * Warps run in lockstep, 32 lanes an instruction, diverged lanes at the lowest address first; warps
 * of a block in turn, from barrier to barrier; blocks on as many host threads as are asked for. */
#ifndef AT_EMU_MACHINE_H
#define AT_EMU_MACHINE_H

#include "base/error.h"
#include "device/launch.h"

#include <stdbool.h>
#include <stddef.h>

struct at_ptx_kernel; /* emu/op.h */

enum { AT_WARP = 32 };

/* Global memory: allocations at addresses that are multiples of 512, with unmapped space between.
 */
struct at_emu_memory;

struct at_emu_memory *at_emu_memory_new(void);
void at_emu_memory_free(struct at_emu_memory *memory);

/* 0 when the host has not so much memory. Pages are taken from the host when they are touched. */
uint64_t at_emu_memory_allocate(struct at_emu_memory *memory, int64_t bytes);
void at_emu_memory_release(struct at_emu_memory *memory, uint64_t address);

/* The host's view of bytes of one allocation; NULL if they are not all within one. */
void *at_emu_memory_host(const struct at_emu_memory *memory, uint64_t address, size_t size);

/* What can be wrong with a kernel. One table gives each its words. */
enum at_emu_fault_kind {
    AT_EMU_NO_FAULT,
    AT_EMU_GLOBAL_BOUNDS,    /* global access outside every allocation */
    AT_EMU_SHARED_BOUNDS,    /* shared access outside the block's */
    AT_EMU_LOCAL_BOUNDS,     /* local access outside the thread's */
    AT_EMU_MISALIGNED,       /* address not a multiple of the access's size */
    AT_EMU_SHARED_UNWRITTEN, /* shared memory that nobody wrote was read, and its value mattered */
    AT_EMU_SHARED_RACE, /* two threads at one shared byte between barriers, one of them writing */
    AT_EMU_BARRIER,     /* a barrier that a part of the block reaches */
    AT_EMU_LIMIT,       /* more instructions than allowed: an endless loop */
    AT_EMU_TRAP,        /* trap */
    AT_EMU_DIVISION,    /* integer division by zero: undefined in PTX */
};

extern const char *const at_emu_fault_names[];

struct at_emu_fault {
    enum at_emu_fault_kind kind;
    size_t instruction;
    int line; /* of the PTX */
    uint32_t block[3], thread[3];
    uint64_t address;  /* of a memory access; for shared memory the offset */
    char message[256]; /* kernel, line, block, thread, and what was wrong, on one line */
};

/* One access of one warp: one request to the memory system. */
struct at_emu_access {
    size_t instruction;
    bool shared, store, atomic; /* an atomic operation is a store too */
    int bytes;                  /* a lane: 1, 2, 4, 8, 16; vectors count whole */
    uint32_t lanes;             /* mask of those that take part, not 0 */
    uint64_t address[AT_WARP];  /* valid where the mask has a bit; for shared memory the offset */
    const uint64_t *fills;      /* of a copy past L1 (cp.async.cg), on both its sides: the offsets
                                   in shared memory, valid during the call; else NULL */
};

struct at_emu_observer {
    void *context;
    /* Called by the thread that runs the block; the blocks of one grid may run at the same time. */
    void (*access)(void *context, uint64_t block, const struct at_emu_access *access);
    /* One warp instruction of any kind, after it ran: the lanes that took part, which may be none
     * where it has a guard. Either function may be NULL. */
    void (*executed)(void *context, uint64_t block, size_t instruction, uint32_t lanes);
};

struct at_emu_launch {
    const struct at_ptx_kernel *kernel;
    uint32_t grid[3], block[3];
    int64_t dynamic_shared_bytes;
    int64_t carveout_percent; /* of L1, preferred as shared memory; less than 1: the driver's
                                 choice. The machine has no L1; a prediction asks for it */
    const uint64_t *args;     /* one for each parameter, in its low bytes */
    size_t arg_count;
    uint64_t instruction_limit;             /* a thread; 0: none */
    int threads;                            /* of the host, at least 1 */
    const struct at_emu_observer *observer; /* NULL: none */
    /* Runs only these blocks, by linear index; NULL: all. For counting without a whole grid. */
    const uint64_t *only_blocks;
    size_t only_block_count;
};

/* Takes grid, blocks, shared memory and carveout from what a GPU would be given. */
void at_emu_launch_take(struct at_emu_launch *emu, const struct at_launch *launch);

/* Runs it to its end, or to the first fault (the one with the lowest block, and in it the first to
 * happen, among those that were found; with only_blocks, the first of that list), which fills
 * *fault. AT_OK with fault->kind AT_EMU_NO_FAULT: it ran. Not AT_OK: it could not be started
 * (geometry, shared memory, number of arguments). */
enum at_status at_emu_run(struct at_emu_memory *memory, const struct at_emu_launch *launch,
                          struct at_emu_fault *fault, struct at_error *err);

#endif
