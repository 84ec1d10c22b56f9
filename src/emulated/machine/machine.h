/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that runs PTX. It runs grids of blocks of warps and checks every memory access. An
 * observer sees what the memory system of a GPU would see, except constant memory.
 *
 * An instruction runs for all 32 lanes of a warp at once; diverged lanes run at the lowest address
 * first. The warps of a block run one after the other, from barrier to barrier. Blocks run on
 * several host threads. */
#ifndef AT_EMULATED_MACHINE_MACHINE_H
#define AT_EMULATED_MACHINE_MACHINE_H

#include "base/error.h"
#include "device/launch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_ptx_kernel; /* emulated/machine/op.h */

enum { AT_WARP = 32 };

/* The lowest lane of a mask from lane i on; AT_WARP if there is none. */
static inline int at_lane_from(uint32_t lanes, int i)
{
    uint64_t rest = (uint64_t)lanes >> i;

    return rest ? i + __builtin_ctzll(rest) : AT_WARP;
}

/* Loops over all lanes, and over the lanes of a mask. .clang-format lists their names. */
#define AT_EACH_LANE(i) for (int i = 0; i < AT_WARP; i++)
#define AT_EACH_OF(i, lanes)                                                                       \
    for (int i = at_lane_from(lanes, 0); i < AT_WARP; i = at_lane_from(lanes, i + 1))

/* Global memory: allocations at addresses that are multiples of 512, with unmapped space between.
 */
struct at_emu_memory;

struct at_emu_memory *at_emu_memory_new(void);

void at_emu_memory_free(struct at_emu_memory *memory);

/* Save the memory at the beginning of the next launch. Every later launch begins with this state,
 * so a kernel that increments a counter runs again as if for the first time. A second call saves
 * what the last launch left. */
void at_emu_memory_rewind(struct at_emu_memory *memory);

/* Returns the address, or 0 if the host has too little memory. The host provides a page when it is
 * first touched. */
uint64_t at_emu_memory_allocate(struct at_emu_memory *memory, int64_t bytes);

void at_emu_memory_release(struct at_emu_memory *memory, uint64_t address);

/* The host's address of these bytes; NULL if they are not all within one allocation. */
void *at_emu_memory_host(const struct at_emu_memory *memory, uint64_t address, size_t size);

/* The faults of a kernel; at_emu_fault_names has the words. */
enum at_emu_fault_kind {
    AT_EMU_NO_FAULT,
    AT_EMU_GLOBAL_BOUNDS,    /* global access outside every allocation */
    AT_EMU_SHARED_BOUNDS,    /* shared access outside the block's */
    AT_EMU_LOCAL_BOUNDS,     /* local access outside the thread's */
    AT_EMU_PARAM_BOUNDS,     /* load outside the kernel's parameters */
    AT_EMU_MISALIGNED,       /* address not a multiple of the access's size */
    AT_EMU_SHARED_UNWRITTEN, /* a value read from unwritten shared memory was used */
    AT_EMU_LOCAL_UNWRITTEN,  /* the same of local memory */
    AT_EMU_LANE_ABSENT,      /* a shuffle's value from a lane that does not take part was used */
    AT_EMU_COPY_RACE,        /* a copy's source changes under way, or nothing waits for the copy */
    AT_EMU_GLOBAL_RACE,      /* the same in global memory, without any order */
    AT_EMU_READ_ONLY,        /* ld.global.nc of a byte that the kernel writes */
    AT_EMU_SHARED_RACE,      /* two threads access a shared byte between barriers, and one writes */
    AT_EMU_BARRIER,          /* a barrier that only a part of the block reaches */
    AT_EMU_LIMIT,            /* more instructions than allowed: an endless loop */
    AT_EMU_WAIT,             /* a loop waits for what no other thread will write */
    AT_EMU_TRAP,             /* trap */
    AT_EMU_DIVISION,         /* integer division by zero: undefined in PTX */
    AT_EMU_ASSERTION,        /* assert() */
};

extern const char *const at_emu_fault_names[];

struct at_emu_fault {
    enum at_emu_fault_kind kind;
    size_t instruction;
    int line; /* of the PTX */
    uint32_t block[3], thread[3];
    uint64_t address;  /* of a memory access; for shared memory the offset */
    char message[512]; /* kernel, line, block, thread and fault, on one line */
};

/* One access by one warp: a request to the memory system. */
struct at_emu_access {
    size_t instruction;
    uint32_t warp;              /* its number in the block */
    bool shared, store, atomic; /* an atomic operation is a store too */
    int bytes;                  /* per lane: 1, 2, 4, 8 or 16; of the whole vector */
    uint32_t lanes;             /* mask of the lanes that take part, not 0 */
    uint64_t address[AT_WARP];  /* valid where the mask has a bit; for shared and local memory the
                                   offset */
    const uint64_t *fills;      /* for both accesses of a copy past L1 (cp.async.cg): its offsets in
                                   shared memory, valid during the call; else NULL */
};

struct at_emu_observer {
    void *context;
    /* Each function may be NULL. The host thread that runs the block calls them, so calls for
     * several blocks may come at the same time. */
    void (*access)(void *context, uint64_t block, const struct at_emu_access *access);
    /* A warp has run an instruction; lanes is 0 if its guard let no lane take part. */
    void (*executed)(void *context, uint64_t block, size_t instruction, uint32_t lanes);
    /* The same as access, for local memory. */
    void (*local)(void *context, uint64_t block, const struct at_emu_access *access);
};

/* Gets the output of a launch, once, in the order of the blocks: AT_EMU_PRINTED_LINES and
 * AT_EMU_PRINTED_BYTES at most, and a last line that says how many lines are missing. The text is
 * the kernel's, and may hold control characters. */
struct at_emu_printer {
    void *context;
    void (*print)(void *context, const char *text);
};

enum {
    AT_EMU_PRINTED_LINES = 1000,
    AT_EMU_PRINTED_BYTES = 1 << 20,    /* as many as CUDA keeps between two synchronizations */
    AT_EMU_PRINTED_OF_BLOCK = 1 << 14, /* bytes of one block */
    /* A limit for the steps of all warps of a block together: an endless loop ends within seconds,
     * and a loop that is not has room. An instruction of a warp is a step; a slow one is several.
     * printf takes a step for each byte. */
    AT_EMU_BLOCK_STEPS = 48000000,
    AT_EMU_SLOW_STEPS = 16, /* of an access to memory; of arithmetic in formats or roundings that
                               the host has not */
};

struct at_emu_launch {
    const struct at_ptx_kernel *kernel;
    uint32_t grid[3], block[3];
    int64_t dynamic_shared_bytes;
    int64_t carveout_percent; /* of L1, preferred as shared memory; less than 1: the driver's
                                 choice. Only models use it: the machine has no L1 */
    const uint64_t *args;     /* of each parameter as many words as it takes */
    size_t arg_count;
    size_t arg_words;                       /* of all parameters together at most; 0: arg_count */
    uint64_t instruction_limit;             /* per thread; 0: none */
    uint64_t block_limit;                   /* steps of the warps of a block; 0: none */
    int threads;                            /* of the host, at least 1 */
    const struct at_emu_observer *observer; /* NULL: none */
    const struct at_emu_printer *printer;   /* NULL: the output of printf is dropped */
    const char *name;                       /* in messages; NULL: the kernel's */
    int multiprocessors;                    /* %nsmid; less than 1: 1 */
    uint64_t resident; /* blocks that the device holds at once; 0: any number. Only these can wait
                          for each other */
    bool find_races;   /* in global memory: records of accesses take time */
    bool alone;        /* activemask names the lane alone: lanes may come there one by one */
    /* Run only these blocks, given by linear index; NULL: all. If blocks may wait for each other
     * (at_ptx_kernel.polls), all run, and the observer and the printer see only these. */
    const uint64_t *only_blocks;
    size_t only_block_count;
};

static inline uint64_t at_emu_blocks(const struct at_emu_launch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

/* Per block. */
static inline uint32_t at_emu_threads(const struct at_emu_launch *launch)
{
    return launch->block[0] * launch->block[1] * launch->block[2];
}

/* Sets grid, block, shared memory and carveout to a launch's. */
void at_emu_launch_take(struct at_emu_launch *emu, const struct at_launch *launch);

/* Runs a launch to its end or to its first fault: the first fault of the lowest block that has one,
 * or of the earliest such block in only_blocks. AT_OK sets *fault; its kind is AT_EMU_NO_FAULT if
 * the launch ran. AT_USAGE: it could not start (geometry, shared memory, number of arguments). */
enum at_status at_emu_run(struct at_emu_memory *memory, const struct at_emu_launch *launch,
                          struct at_emu_fault *fault, struct at_error *err);

#endif
