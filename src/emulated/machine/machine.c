/* SPDX-License-Identifier: Apache-2.0 */
/* Grids: each host thread has the state of one block, and runs one block after the other. */
#include "emulated/machine/machine.h"

#include "base/memory.h"
#include "emulated/machine/flow.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/print.h"
#include "emulated/machine/races.h"
#include "system/threads.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct run {
    struct at_emu_memory *memory;
    const struct at_emu_launch *launch;
    char *params;
    uint64_t next;        /* the next block, counted in the order of the launch */
    uint64_t count;       /* of blocks */
    bool runs_all;        /* and the launch's choice is only for the observer */
    pthread_mutex_t lock; /* for the two below */
    uint64_t fault_turn;  /* of the first block known to have a fault; count: none */
    struct at_emu_fault fault;
    const uint64_t *variables; /* of the kernel's module; NULL: it uses none */
    struct at_emu_prints prints;
    struct at_emu_races *races;
};

/* Behind the static arrays, with a gap as there is one between them. */
static uint32_t dynamic_shared_offset(const struct at_emu_launch *launch)
{
    const struct at_ptx_kernel *kernel = launch->kernel;
    uint32_t align = kernel->dynamic_align;

    if (kernel->shared_bytes == 0 || launch->dynamic_shared_bytes == 0)
        return kernel->shared_bytes;
    return (kernel->shared_bytes + align - 1) / align * align + AT_EMU_SHARED_GAP;
}

static uint64_t multiprocessors_of(const struct at_emu_launch *launch)
{
    return launch->multiprocessors < 1 ? 1 : (uint64_t)launch->multiprocessors;
}

/* A GPU has no gaps between arrays. */
static uint32_t gap_bytes(const struct at_emu_block *block)
{
    const struct at_ptx_kernel *kernel = block->kernel;
    uint32_t gaps = kernel->array_count ? (uint32_t)kernel->array_count - 1 : 0;

    if (kernel->array_count && block->launch->dynamic_shared_bytes)
        gaps++;
    return gaps * AT_EMU_SHARED_GAP;
}

static uint64_t preset_value(const struct at_emu_preset *preset, const struct at_emu_warp *warp,
                             uint32_t lane)
{
    const struct at_emu_block *block = warp->block;
    const uint32_t *size = block->launch->block;
    uint32_t thread = warp->first_thread + lane, below = (1u << lane) - 1, own = 1u << lane;

    switch (preset->kind) {
    case AT_EMU_CONSTANT:
    case AT_EMU_IN_LOCAL:
        return preset->value;
    case AT_EMU_DYNAMIC_SHARED:
        return dynamic_shared_offset(block->launch) + preset->value;
    case AT_EMU_TID:
        return thread % size[0];
    case AT_EMU_TID + 1:
        return thread / size[0] % size[1];
    case AT_EMU_TID + 2:
        return thread / size[0] / size[1];
    case AT_EMU_LANEID:
        return lane;
    case AT_EMU_WARPID:
        return warp->first_thread / AT_WARP;
    case AT_EMU_NWARPID:
        return block->warp_count;
    case AT_EMU_LANEMASK_EQ:
        return own;
    case AT_EMU_LANEMASK_LT:
        return below;
    case AT_EMU_LANEMASK_LE:
        return below | own;
    case AT_EMU_LANEMASK_GT:
        return ~(below | own);
    case AT_EMU_LANEMASK_GE:
        return ~below;
    case AT_EMU_SMID:
        return block->index % multiprocessors_of(block->launch);
    case AT_EMU_NSMID:
        return multiprocessors_of(block->launch);
    case AT_EMU_DYNAMIC_BYTES:
        return (uint64_t)block->launch->dynamic_shared_bytes;
    case AT_EMU_TOTAL_SHARED_BYTES:
        return block->shared.size - gap_bytes(block);
    case AT_EMU_VARIABLE:
        return block->variables[preset->variable] + preset->value;
    default:
        break;
    }
    if (preset->kind < AT_EMU_CTAID)
        return size[preset->kind - AT_EMU_NTID];
    if (preset->kind < AT_EMU_NCTAID)
        return block->id[preset->kind - AT_EMU_CTAID];
    return block->launch->grid[preset->kind - AT_EMU_NCTAID];
}

static bool changes(const struct at_emu_preset *preset)
{
    return (preset->kind >= AT_EMU_CTAID && preset->kind < AT_EMU_NCTAID) ||
           preset->kind == AT_EMU_SMID;
}

/* Fill the rows that change from block to block, or all others. */
static void fill_presets(struct at_emu_block *block, bool of_block)
{
    const struct at_ptx_kernel *kernel = block->kernel;

    for (size_t k = 0; k < kernel->preset_count; k++) {
        const struct at_emu_preset *preset = &kernel->presets[k];

        if (changes(preset) != of_block)
            continue;
        for (uint32_t w = 0; w < block->warp_count; w++)
            for (uint32_t lane = 0; lane < AT_WARP; lane++) {
                struct at_emu_warp *warp = &block->warps[w];
                uint64_t value = preset_value(preset, warp, lane);

                if (preset->bytes == AT_EMU_PREDICATE)
                    *AT_EMU_ROW(u32, warp, preset->row) = value ? UINT32_MAX : 0;
                else
                    at_write_lane(warp, preset->row, preset->bytes, (int)lane, value);
            }
    }
}

static uint32_t shared_bytes_of(const struct at_emu_launch *launch)
{
    return dynamic_shared_offset(launch) + (uint32_t)launch->dynamic_shared_bytes;
}

static void make_warps(struct at_emu_block *block)
{
    const struct at_ptx_kernel *kernel = block->kernel;
    uint32_t threads = at_emu_threads(block->launch), rows = kernel->file_bytes / AT_EMU_ROW_ALIGN;

    block->warp_count = (threads + AT_WARP - 1) / AT_WARP;
    block->warps = at_alloc_array(block->warp_count, sizeof *block->warps);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct at_emu_warp *warp = &block->warps[i];
        uint32_t left = threads - i * AT_WARP;

        warp->block = block;
        warp->first_thread = i * AT_WARP;
        warp->lanes = left < AT_WARP ? (1u << left) - 1 : UINT32_MAX;
        warp->file = at_alloc(kernel->file_bytes);
        warp->undefined = at_alloc_array(rows, sizeof *warp->undefined);
        warp->origin = at_alloc_array(rows, sizeof *warp->origin);
        *AT_EMU_ROW(u32, warp, AT_EMU_TRUE_ROW) = UINT32_MAX;
    }
}

/* Mark the bytes of shared memory that lie between arrays. */
static void mark_outside(struct at_emu_block *block)
{
    const struct at_ptx_kernel *kernel = block->kernel;
    uint32_t end = 0, dynamic = dynamic_shared_offset(block->launch);

    for (size_t k = 0; k <= kernel->array_count; k++) {
        bool last = k == kernel->array_count;

        for (; end < (last ? dynamic : kernel->arrays[k].offset); end++)
            block->shared.written[end] = AT_EMU_OUTSIDE;
        end += last ? 0 : kernel->arrays[k].bytes;
    }
}

static void make_block(struct at_emu_block *block, const struct run *run)
{
    const struct at_emu_launch *launch = run->launch;
    uint32_t shared = shared_bytes_of(launch);

    *block = (struct at_emu_block){
        .launch = launch,
        .memory = run->memory,
        .kernel = launch->kernel,
        .observer = launch->observer,
        .params = run->params,
        .variables = run->variables,
        .races = run->races,
        .shared = {.bytes = at_alloc(shared),
                   .size = shared,
                   .written = at_alloc_array(shared, sizeof(uint32_t)),
                   .read = at_alloc_array(shared, sizeof(uint32_t)),
                   .readers = at_alloc_array(shared, sizeof(uint32_t))},
    };
    mark_outside(block);
    make_warps(block);
    block->local = at_alloc_array(block->warp_count * AT_WARP, launch->kernel->local_bytes);
    block->local_written = at_alloc_array(block->warp_count * AT_WARP, launch->kernel->local_bytes);
    block->frames = at_alloc_array(block->warp_count * AT_WARP, launch->kernel->frame_bytes);
    fill_presets(block, false);
}

static void clear_block(struct at_emu_block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        at_emu_call_drop(&block->warps[i], UINT32_MAX);
        free(block->warps[i].file);
        free(block->warps[i].undefined);
        free(block->warps[i].origin);
        free(block->warps[i].copies);
        free(block->warps[i].heard);
        free(block->warps[i].knows);
    }
    free(block->warps);
    free(block->local);
    free(block->local_written);
    free(block->frames);
    free(block->printed.items);
    free(block->mbarriers);
    free(block->bulk);
    free(block->shared.bytes);
    free(block->shared.written);
    free(block->shared.read);
    free(block->shared.readers);
}

/* ---- blocks that wait for others ---- */

/* The blocks of a host thread that wait for memory to change, by turn. A kernel whose loops may
 * wait runs on one host thread, so that its blocks start in order. */
struct waiting {
    struct at_emu_block *block;
    uint64_t turn;
};
struct waitings {
    struct waiting *items;
    size_t count, capacity;
    int quiet; /* rounds since one of them, or a new block, changed memory or ended */
};

/* Turns of all waiting blocks after which no wait will end: a loop with an end of its own has
 * room. Each block has some. */
enum { QUIET_TURNS = 256, QUIET_ROUNDS = 16 };

/* For the blocks that wait. */
static const uint64_t WAITING_BYTES = UINT64_C(2) << 30;

static uint64_t block_bytes(const struct at_emu_block *block)
{
    const struct at_ptx_kernel *kernel = block->kernel;
    uint64_t of_thread = (uint64_t)kernel->local_bytes + kernel->frame_bytes;

    return block->warp_count * (kernel->file_bytes + AT_WARP * of_thread) +
           UINT64_C(9) * block->shared.size;
}

static bool is_hopeless(const struct waitings *waitings)
{
    return waitings->quiet >= QUIET_ROUNDS &&
           (uint64_t)waitings->quiet * waitings->count >= QUIET_TURNS;
}

/* May another block start? */
static bool has_room(const struct run *run, const struct waitings *waitings,
                     const struct at_emu_block *block)
{
    return (run->launch->resident == 0 || waitings->count < run->launch->resident) &&
           (waitings->count + 1) * block_bytes(block) <= WAITING_BYTES;
}

/* Take the next block. Blocks start in order and run to their end, so every block before one with
 * a fault has run: the reported fault is the first one. */
static bool take(struct run *run, uint64_t *turn)
{
    *turn = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
    return *turn < run->count && *turn < __atomic_load_n(&run->fault_turn, __ATOMIC_RELAXED);
}

/* A block of which all runs, or that is among the chosen ones. */
static bool is_chosen(const struct run *run, uint64_t index)
{
    const struct at_emu_launch *launch = run->launch;

    if (!run->runs_all)
        return true;
    for (size_t i = 0; i < launch->only_block_count; i++)
        if (launch->only_blocks[i] == index)
            return true;
    return false;
}

static void begin_block(const struct run *run, struct at_emu_block *block, uint64_t turn)
{
    const struct at_emu_launch *launch = run->launch;

    block->index = launch->only_blocks && !run->runs_all ? launch->only_blocks[turn] : turn;
    block->observer = is_chosen(run, block->index) ? launch->observer : NULL;
    at_emu_index(block->id, launch->grid, block->index);
    fill_presets(block, true);
    at_emu_block_begin(block);
}

static void end_block(struct run *run, struct at_emu_block *block, uint64_t turn)
{
    pthread_mutex_lock(&run->lock);
    if (is_chosen(run, block->index))
        at_emu_print_take(&run->prints, block, turn);
    block->printed.count = 0;
    if (block->fault.kind && turn < run->fault_turn) {
        __atomic_store_n(&run->fault_turn, turn, __ATOMIC_RELAXED);
        run->fault = block->fault;
    }
    pthread_mutex_unlock(&run->lock);
}

static void drop_waiting(struct waitings *waitings, size_t i)
{
    clear_block(waitings->items[i].block);
    free(waitings->items[i].block);
    waitings->count--;
    for (; i < waitings->count; i++)
        waitings->items[i] = waitings->items[i + 1];
}

/* Let each waiting block look again. */
static void run_waiting(struct run *run, struct waitings *waitings)
{
    bool moved = false;

    for (size_t i = 0; i < waitings->count;) {
        struct waiting *waiting = &waitings->items[i];
        uint64_t changes = waiting->block->changes;
        bool waits = at_emu_block_run(waiting->block);

        moved |= !waits || changes != waiting->block->changes;
        if (waits) {
            i++;
            continue;
        }
        end_block(run, waiting->block, waiting->turn);
        drop_waiting(waitings, i);
    }
    waitings->quiet = moved ? 0 : waitings->quiet + 1;
}

/* Keep a block that waits; *block becomes a new one. A block whose wait only a later block can end
 * is right if it takes part in a barrier of the grid: it has written that it is there. Otherwise it
 * takes an order of blocks for granted (CUDA C++ Programming Guide, "Thread Hierarchy": blocks must
 * be able to run in any order). */
static void keep_waiting(struct run *run, struct waitings *waitings, struct at_emu_block *block,
                         uint64_t turn)
{
    struct waiting kept = {at_alloc(sizeof *kept.block), turn};

    if (run->launch->kernel->polls && waitings->count == 0 && !block->arrived &&
        turn + 1 < run->count)
        at_emu_block_raise_wait(block, "only a later block can end it, which a GPU may start "
                                       "when this one has ended");
    if (block->fault.kind) {
        end_block(run, block, turn);
        free(kept.block);
        return;
    }
    *kept.block = *block;
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->warps[i].block = kept.block;
    AT_PUSH(waitings->items, waitings->count, waitings->capacity, kept);
    waitings->quiet = 0;
    make_block(block, run);
}

static bool has_fault(const struct run *run)
{
    return __atomic_load_n(&run->fault_turn, __ATOMIC_RELAXED) < run->count;
}

static void *work(void *argument)
{
    struct run *run = argument;
    struct waitings waitings = {0};
    struct at_emu_block block;
    uint64_t turn;

    make_block(&block, run);
    while (!block.fault.kind) {
        /* The waiting blocks look when no other can start: mostly all wait for the last one. */
        if (has_room(run, &waitings, &block) && take(run, &turn)) {
            begin_block(run, &block, turn);
            if (at_emu_block_run(&block))
                keep_waiting(run, &waitings, &block, turn);
            else
                end_block(run, &block, turn);
            continue;
        }
        run_waiting(run, &waitings);
        if (waitings.count == 0 || has_fault(run)) {
            if (has_fault(run) || run->next >= run->count)
                break;
        } else if (is_hopeless(&waitings)) {
            at_emu_block_raise_wait(waitings.items[0].block,
                                    "no running thread can change what it reads");
            end_block(run, waitings.items[0].block, waitings.items[0].turn);
            break;
        }
    }
    while (waitings.count > 0)
        drop_waiting(&waitings, waitings.count - 1);
    free(waitings.items);
    clear_block(&block);
    return NULL;
}

static enum at_status check_blocks(const struct at_emu_launch *launch, uint64_t *count,
                                   struct at_error *err)
{
    static const uint64_t grid_max[] = {INT32_MAX, 65535, 65535};
    static const uint32_t block_max[] = {1024, 1024, 64};
    uint64_t blocks = 1, threads = 1;

    for (int i = 0; i < 3; i++) {
        if (launch->grid[i] < 1 || launch->grid[i] > grid_max[i] || launch->block[i] < 1 ||
            launch->block[i] > block_max[i])
            return at_fail(err, AT_USAGE, "a grid of %u x %u x %u blocks of %u x %u x %u threads",
                           launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                           launch->block[1], launch->block[2]);
        blocks *= launch->grid[i];
        threads *= launch->block[i];
    }
    if (threads > AT_EMU_WARPS_MAX * AT_WARP)
        return at_fail(err, AT_USAGE, "%" PRIu64 " threads per block; at most 1024 are possible",
                       threads);
    for (size_t i = 0; launch->only_blocks && i < launch->only_block_count; i++)
        if (launch->only_blocks[i] >= blocks)
            return at_fail(err, AT_USAGE, "block %" PRIu64 " of a grid of %" PRIu64,
                           launch->only_blocks[i], blocks);
    *count = launch->only_blocks && !launch->kernel->polls ? launch->only_block_count : blocks;
    return AT_OK;
}

void at_emu_launch_take(struct at_emu_launch *emu, const struct at_launch *launch)
{
    for (int i = 0; i < 3; i++) {
        emu->grid[i] = (uint32_t)launch->field[AT_GRID_X + i];
        emu->block[i] = (uint32_t)launch->field[AT_BLOCK_X + i];
    }
    emu->dynamic_shared_bytes = launch->field[AT_SHARED_BYTES];
    emu->carveout_percent = launch->field[AT_CARVEOUT_PERCENT];
}

static size_t words_of(const struct at_emu_param *param)
{
    return (param->bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

static enum at_status check_kernel(const struct at_emu_launch *launch, struct at_error *err)
{
    const struct at_ptx_kernel *kernel = launch->kernel;
    const char *name = launch->name ? launch->name : kernel->name;
    size_t words = 0;

    if (kernel->max_threads && at_emu_threads(launch) > kernel->max_threads)
        return at_fail(err, AT_USAGE,
                       "%s: a block of %u threads, which __launch_bounds__(%" PRIu64
                       ") does not allow",
                       name, at_emu_threads(launch), kernel->max_threads);
    for (int i = 0; i < 3; i++)
        if (kernel->required[i] && launch->block[i] != kernel->required[i])
            return at_fail(
                err, AT_USAGE,
                "%s: a block of %u x %u x %u threads; its __block_size__ requires others", name,
                launch->block[0], launch->block[1], launch->block[2]);
    if (launch->dynamic_shared_bytes < 0 || launch->dynamic_shared_bytes > AT_EMU_SHARED_MAX ||
        shared_bytes_of(launch) > AT_EMU_SHARED_MAX)
        return at_fail(err, AT_USAGE, "%s: more than %d bytes of shared memory", name,
                       AT_EMU_SHARED_MAX);
    if (launch->arg_count != kernel->param_count)
        return at_fail(err, AT_USAGE, "%s takes %zu arguments, not %zu", name, kernel->param_count,
                       launch->arg_count);
    for (size_t i = 0; i < kernel->param_count; i++)
        words += words_of(&kernel->params[i]);
    if (words > (launch->arg_words ? launch->arg_words : launch->arg_count))
        return at_fail(err, AT_USAGE, "%s takes %zu words of arguments", name, words);
    return AT_OK;
}

/* For the local memory of the blocks that run at a time; one block may have 512 MiB. */
static const uint64_t LOCAL_BYTES = UINT64_C(1) << 30;

static size_t threads_wanted(const struct run *run)
{
    const struct at_emu_launch *launch = run->launch;
    uint64_t wanted = launch->threads < 1 || launch->kernel->polls ? 1 : (uint64_t)launch->threads;
    uint64_t most =
        LOCAL_BYTES / (1 + (uint64_t)at_emu_threads(launch) * launch->kernel->local_bytes);

    most = most < run->count ? most : run->count;
    return (size_t)(wanted < most ? wanted : most);
}

static bool uses_variables(const struct at_ptx_kernel *kernel)
{
    for (size_t i = 0; i < kernel->preset_count; i++)
        if (kernel->presets[i].kind == AT_EMU_VARIABLE)
            return true;
    return false;
}

enum at_status at_emu_run(struct at_emu_memory *memory, const struct at_emu_launch *launch,
                          struct at_emu_fault *fault, struct at_error *err)
{
    const struct at_ptx_kernel *kernel = launch->kernel;
    struct run run = {.memory = memory, .launch = launch};
    enum at_status status = check_blocks(launch, &run.count, err);

    if (status == AT_OK)
        status = check_kernel(launch, err);
    if (status != AT_OK)
        return status;
    if (uses_variables(kernel)) {
        run.variables = at_emu_memory_place(memory, kernel->image);
        if (!run.variables)
            return at_fail(err, AT_FAILED,
                           "this machine has too little memory for the variables "
                           "of the program");
    }
    run.fault_turn = run.count;
    run.runs_all = launch->only_blocks && kernel->polls;
    run.params = at_alloc(kernel->param_bytes);
    for (size_t i = 0, word = 0; i < kernel->param_count; i++) {
        memcpy(run.params + kernel->params[i].offset, &launch->args[word], kernel->params[i].bytes);
        word += words_of(&kernel->params[i]);
    }
    if (!at_emu_memory_begin(memory)) {
        free(run.params);
        return at_fail(err, AT_FAILED, "this machine has too little memory for the launch");
    }
    pthread_mutex_init(&run.lock, NULL);
    if (launch->find_races)
        run.races = at_emu_races_new(memory, at_emu_memory_bytes(memory), at_emu_blocks(launch));
    at_on_threads(threads_wanted(&run), work, &run);
    at_emu_races_free(run.races);
    pthread_mutex_destroy(&run.lock);
    free(run.params);
    at_emu_print_all(launch->printer, &run.prints);
    *fault = run.fault;
    return AT_OK;
}
