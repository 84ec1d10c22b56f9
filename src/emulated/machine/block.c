/* SPDX-License-Identifier: Apache-2.0 */
/* A block: its warps run in turn, each from barrier to barrier. A barrier is of all its threads, or
 * a named one of a number of threads. */
#include "base/memory.h"
#include "emulated/machine/flow.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/races.h"

/* ---- undefined values ---- */

/* Undefined values: values from unwritten shared or local memory, from lanes that take no part in a
 * shuffle, and quotients by zero.
 *
 * It is no bug to read them: at the edge of a matrix, a kernel may load a whole column of a tile
 * that is only partly filled, and store only the filled part. That is cheaper than a check before
 * each load. It is a bug to use them in an address, a branch or global memory. So each row has a
 * mask of undefined lanes, and instructions propagate it. A use is reported at the load that the
 * value came from. (Valgrind's Memcheck does the same, by bit instead of by register: Seward and
 * Nethercote, "Using Valgrind to detect undefined value errors with bit-precision", USENIX 2005.)
 *
 * Instructions of a warp without undefined rows skip all of this. */

static void undefined_clear(struct at_emu_warp *warp)
{
    if (warp->undefined_rows)
        memset(warp->undefined, 0,
               warp->block->kernel->file_bytes / AT_EMU_ROW_ALIGN * sizeof *warp->undefined);
    warp->undefined_rows = 0;
}

static enum at_emu_fault_kind fault_of(const struct at_emu_op *origin, bool local)
{
    if (origin->undefined == AT_EMU_MOVES)
        return AT_EMU_LANE_ABSENT;
    if (origin->undefined != AT_EMU_LOADS)
        return AT_EMU_DIVISION;
    return local ? AT_EMU_LOCAL_UNWRITTEN : AT_EMU_SHARED_UNWRITTEN;
}

static bool require(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                    uint32_t row)
{
    uint32_t undefined = at_emu_undefined(warp, row) & lanes;
    uint32_t origin = warp->origin[row / AT_EMU_ROW_ALIGN];
    const struct at_emu_op *from;

    if (!undefined)
        return true;
    from = &warp->block->kernel->ops[origin & ~AT_EMU_ORIGIN_LOCAL];
    at_emu_raise(warp, from, fault_of(from, origin & AT_EMU_ORIGIN_LOCAL), __builtin_ctz(undefined),
                 0, "the value is used at line %d", op->line);
    return false;
}

/* The lanes whose results are undefined because of the sources; *origin: the load to report. */
static uint32_t spread(const struct at_emu_op *op, const struct at_emu_warp *warp, uint32_t *origin)
{
    uint32_t all = 0;

    for (int k = op->result_count; k < op->row_count; k++) {
        uint32_t undefined = at_emu_undefined(warp, op->row[k]);

        if (op->undefined == AT_EMU_SELECTS && k < 3) {
            uint32_t chosen = *AT_EMU_ROW(uint32_t, warp, op->row[3]);

            undefined &= k == 1 ? chosen : ~chosen;
        }
        if (undefined)
            *origin = warp->origin[op->row[k] / AT_EMU_ROW_ALIGN];
        all |= undefined;
    }
    return all;
}

/* To be called before each instruction of a warp with undefined rows. False if a fault was raised.
 */
static bool undefined_step(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    uint32_t undefined = 0, origin = 0;

    if (!require(op, warp, warp->active, op->guard))
        return false;
    switch ((enum at_emu_undefined)op->undefined) {
    case AT_EMU_USES:
        for (int k = op->result_count; k < op->row_count; k++)
            if (!require(op, warp, lanes, op->row[k]))
                return false;
        break;
    case AT_EMU_LOADS:
    case AT_EMU_STORES:
        if (!require(op, warp, lanes, op->address))
            return false;
        break;
    case AT_EMU_MOVES:
        return true;
    case AT_EMU_SPREADS:
    case AT_EMU_SELECTS:
        undefined = spread(op, warp, &origin);
        break;
    }
    for (int k = 0; k < op->result_count; k++)
        at_emu_undefined_mark(warp, op->row[k], lanes, undefined, origin);
    return true;
}

/* ---- barriers ---- */

/* Order all earlier accesses of the block before all later ones. */
static void order_all(struct at_emu_block *block)
{
    block->shared.synced = at_emu_order_pass_tick(block);
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->warps[i].synced = block->shared.tick;
}

/* Each warp knows of the others' accesses before a tick (vector clocks). The one that arrives
 * passes on what it knows. */
static void order_arrival(struct at_emu_warp *warp, struct at_emu_named *barrier)
{
    uint32_t *own = &barrier->known[warp->first_thread / AT_WARP];

    *own = at_emu_order_pass_tick(warp->block);
    for (uint32_t i = 0; warp->knows && i < AT_EMU_WARPS_MAX; i++)
        barrier->known[i] = at_emu_later(barrier->known[i], warp->knows[i]);
}

static void order_leaving(struct at_emu_warp *warp, const struct at_emu_named *barrier)
{
    if (!warp->knows)
        warp->knows = at_alloc_array(AT_EMU_WARPS_MAX, sizeof *warp->knows);
    for (uint32_t i = 0; i < AT_EMU_WARPS_MAX; i++)
        warp->knows[i] = at_emu_later(warp->knows[i], barrier->known[i]);
    warp->synced = at_emu_order_pass_tick(warp->block);
}

static const struct at_emu_op *barrier_of(const struct at_emu_warp *warp)
{
    return &warp->block->kernel->ops[warp->pc - 1];
}

static bool is_named(const struct at_emu_op *barrier)
{
    return barrier->barrier.threads != AT_EMU_TRUE_ROW;
}

static void leave(struct at_emu_warp *warp)
{
    warp->waiting = false;
    warp->last_lanes = 0;
    warp->left_at = NULL;
}

/* bar.red: all threads of these warps get the result of the votes. */
static void give_votes(struct at_emu_block *block, uint32_t warps)
{
    uint32_t count = 0;
    bool all = true;

    AT_EACH_OF (k, warps) {
        uint32_t alive = block->warps[k].alive, yes = block->warps[k].yes & alive;

        count += (uint32_t)__builtin_popcount(yes);
        all &= yes == alive;
    }
    AT_EACH_OF (k, warps) {
        struct at_emu_warp *warp = &block->warps[k];
        const struct at_emu_op *op = warp->waiting ? barrier_of(warp) : NULL;

        if (!op)
            continue;
        if (op->vote == AT_EMU_VOTE_COUNT)
            AT_EACH_OF (i, warp->alive)
                AT_EMU_ROW(u32, warp, op->row[0])[i] = count;
        else if (op->vote != AT_EMU_NO_VOTE)
            at_keep_predicate(warp, op->row[0],
                              (op->vote == AT_EMU_VOTE_ALL ? all : count > 0) ? UINT32_MAX : 0,
                              warp->alive);
    }
}

/* Can a thread come from here to the barrier, or to a copy of it? */
static bool comes_again(const struct at_ptx_kernel *kernel, const struct at_emu_op *from,
                        const struct at_emu_op *barrier)
{
    for (size_t i = 0; i < kernel->op_count; i++)
        if (kernel->ops[i].flow == AT_EMU_BARRIER_WAIT &&
            at_emu_flow_copies(kernel, &kernel->ops[i], barrier) &&
            at_emu_flow_leads(kernel, from, NULL, &kernel->ops[i]))
            return true;
    return false;
}

/* A thread that exited is not waited for. But did threads of this warp run past the barrier, to
 * what all threads run after it? Their last access tells: if it lies on each way from the barrier
 * to the end, and not before the barrier in a loop. */
static bool ran_past(const struct at_emu_warp *warp, const struct at_emu_op *barrier)
{
    const struct at_ptx_kernel *kernel = warp->block->kernel;

    return warp->left_at && !at_emu_flow_leads(kernel, barrier, warp->left_at, NULL) &&
           (warp->left_held || !comes_again(kernel, warp->left_at, barrier));
}

/* Raise a fault if not all threads come to the barrier of the first waiting warp. Two barriers that
 * both have threads stand in a branch whose condition differs between threads (CUDA C++ Programming
 * Guide, "Synchronization Functions"). */
static void check_release(struct at_emu_block *block, struct at_emu_warp *first)
{
    const struct at_emu_op *barrier = barrier_of(first);
    int lane = __builtin_ctz(first->active);

    for (uint32_t i = 0; i < block->warp_count; i++) {
        const struct at_emu_warp *warp = &block->warps[i];
        const struct at_emu_op *other = warp->waiting ? barrier_of(warp) : barrier;

        if (warp->waiting &&
            (warp->barrier != first->barrier || !at_emu_flow_copies(block->kernel, other, barrier)))
            at_emu_raise(first, barrier, AT_EMU_BARRIER, lane, 0,
                         "other threads of the block wait at another one, at line %d",
                         at_emu_line(other));
        else if (ran_past(warp, barrier))
            at_emu_raise(first, barrier, AT_EMU_BARRIER, lane, 0,
                         "other threads of the block have run past it and exited");
    }
}

/* No warp can go on, and this one waits at a named barrier. */
static void raise_named(struct at_emu_warp *warp)
{
    const struct at_emu_named *named = &warp->block->named[warp->barrier];

    at_emu_raise(warp, barrier_of(warp), AT_EMU_BARRIER, __builtin_ctz(warp->active), 0,
                 "barrier %u waits for %u threads, %u have come", warp->barrier, named->threads,
                 named->arrived);
}

/* All warps wait or have ended. True: they wait at the same barrier, and continue. */
static bool release_barrier(struct at_emu_block *block)
{
    struct at_emu_warp *first = NULL;

    for (uint32_t i = block->warp_count; i-- > 0;) {
        first = block->warps[i].waiting ? &block->warps[i] : first;
        if (block->warps[i].waiting && is_named(barrier_of(&block->warps[i])))
            raise_named(&block->warps[i]);
    }
    if (!first || block->fault.kind)
        return false;
    check_release(block, first);
    if (block->fault.kind)
        return false;
    give_votes(block, UINT32_MAX >> (AT_EMU_WARPS_MAX - block->warp_count));
    for (uint32_t i = 0; i < block->warp_count; i++)
        leave(&block->warps[i]);
    order_all(block);
    return true;
}

/* Arrivals at a named barrier are counted by warps: "as if all the threads in the warp have
 * executed" it (PTX ISA, bar). False if a fault was raised. */
static bool arrive(struct at_emu_warp *warp, struct at_emu_named *named)
{
    const struct at_emu_op *op = barrier_of(warp);
    int lane = __builtin_ctz(warp->active);
    uint32_t threads = AT_EMU_ROW(u32, warp, op->barrier.threads)[lane];

    if (threads == 0 || threads % AT_WARP != 0)
        at_emu_raise(warp, op, AT_EMU_BARRIER, lane, 0,
                     "a number of threads, %u, that is no multiple of %d", threads, AT_WARP);
    else if (named->arrived && named->came >> warp->first_thread / AT_WARP & 1)
        at_emu_raise(warp, op, AT_EMU_BARRIER, lane, 0,
                     "its warp has arrived at barrier %u before, which still waits for others",
                     warp->barrier);
    else if (named->arrived && named->threads != threads)
        at_emu_raise(warp, op, AT_EMU_BARRIER, lane, 0,
                     "barrier %u for %u threads, and others wait there for %u", warp->barrier,
                     threads, named->threads);
    else if (named->arrived && named->vote != op->vote)
        at_emu_raise(warp, op, AT_EMU_BARRIER, lane, 0,
                     "barrier %u, where others vote otherwise or not at all", warp->barrier);
    if (warp->block->fault.kind)
        return false;
    if (named->arrived == 0)
        *named = (struct at_emu_named){.threads = threads, .vote = op->vote};
    named->arrived += AT_WARP;
    named->came |= 1u << warp->first_thread / AT_WARP;
    order_arrival(warp, named);
    return true;
}

/* Let the warps that wait at a named barrier go on. */
static void complete(struct at_emu_block *block, struct at_emu_named *named)
{
    give_votes(block, named->waiting);
    AT_EACH_OF (i, named->waiting) {
        leave(&block->warps[i]);
        order_leaving(&block->warps[i], named);
    }
    named->arrived = 0;
    block->barrier_events++;
}

/* All lanes of a warp have come to a barrier. True: the warp goes on at once. */
static bool reach_barrier(struct at_emu_warp *warp)
{
    struct at_emu_block *block = warp->block;
    const struct at_emu_op *op = barrier_of(warp);
    struct at_emu_named *named;

    if (warp->barrier >= AT_EMU_NAMED) {
        at_emu_raise(warp, op, AT_EMU_BARRIER, __builtin_ctz(warp->active), 0,
                     "barrier %u; a block has %d of them", warp->barrier, AT_EMU_NAMED);
        return false;
    }
    if (!is_named(op))
        return false;
    named = &block->named[warp->barrier];
    if (!arrive(warp, named))
        return false;
    if (op->barrier.arrives)
        warp->waiting = false;
    else
        named->waiting |= 1u << warp->first_thread / AT_WARP;
    if (named->arrived == named->threads)
        complete(block, named);
    return !warp->waiting;
}

/* ---- warps ---- */

static void start_warp(struct at_emu_warp *warp)
{
    undefined_clear(warp);
    warp->alive = warp->active = warp->lanes;
    warp->pc = 0;
    warp->stop = UINT32_MAX;
    warp->next = UINT64_MAX;
    at_emu_call_drop(warp, UINT32_MAX);
    warp->waiting = false;
    warp->held = warp->gathered = warp->last_lanes = 0;
    warp->left_at = NULL;
    warp->stalled = NULL;
    warp->synced = warp->acquired = warp->joined = warp->block->shared.synced;
    warp->copy_count = 0;
    warp->polled = (struct at_emu_poll){0};
    warp->carry = 0;
    memset(warp->executed, 0, sizeof warp->executed);
    memset(warp->groups, 0, sizeof warp->groups);
    memset(warp->bulk_groups, 0, sizeof warp->bulk_groups);
}

/* Instructions after which the limits are looked at again; and by a warp that may wait. */
enum { SLICE = 4096, POLLING_SLICE = 256 };

/* How many instructions the active lanes may now execute. */
static uint64_t budget_of(const struct at_emu_warp *warp)
{
    uint64_t limit = warp->block->launch->instruction_limit, most = 0;
    uint64_t slice = warp->block->polls > 0 ? POLLING_SLICE : SLICE;

    AT_EACH_OF (i, warp->active)
        if (warp->executed[i] > most)
            most = warp->executed[i];
    limit = limit == 0 ? UINT64_MAX : limit > most ? limit - most : 0;
    limit = limit < warp->block->left ? limit : warp->block->left;
    return limit < slice ? limit : slice;
}

static void raise_limit(struct at_emu_warp *warp, const struct at_emu_op *op)
{
    const struct at_emu_launch *launch = warp->block->launch;
    bool of_block = warp->block->left == 0;

    at_emu_raise(warp, op, AT_EMU_LIMIT, __builtin_ctz(warp->active), 0,
                 "more than %ju %s; is this loop endless?",
                 (uintmax_t)(of_block ? launch->block_limit : launch->instruction_limit),
                 of_block ? "steps of the warps of a block" : "a thread");
}

bool at_emu_pay(const struct at_emu_op *op, struct at_emu_warp *warp, uint64_t steps)
{
    struct at_emu_block *block = warp->block;

    block->left -= block->left < steps ? block->left : steps;
    if (block->left == 0)
        raise_limit(warp, op);
    return block->left > 0;
}

static void count_executed(struct at_emu_warp *warp, uint32_t lanes, uint64_t count)
{
    AT_EACH_OF (i, lanes)
        warp->executed[i] += count;
}

static void spend(struct at_emu_block *block, uint64_t instructions)
{
    uint64_t steps = instructions + block->slow * (AT_EMU_SLOW_STEPS - 1);

    block->left -= block->left < steps ? block->left : steps;
    block->slow = 0;
}

/* Execute an instruction; each mask of one that gathers lanes, for itself. */
static void execute(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    if (op->flow != AT_EMU_GATHER) {
        op->run(op, warp, lanes);
        return;
    }
    for (uint32_t group; lanes; lanes &= ~group) {
        group = lanes & warp->named[__builtin_ctz(lanes)];
        op->run(op, warp, group);
    }
}

/* The same if some lanes wait at copies of the instruction. False if a fault was raised. */
static bool execute_copies(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_brought brought;
    bool good;

    at_emu_flow_bring(&brought, op, warp);
    good = !warp->undefined_rows || undefined_step(op, warp, lanes);
    if (good)
        execute(op, warp, lanes);
    at_emu_flow_give(&brought, op, warp);
    return good;
}

/* Run until the set of active lanes changes or the warp stops. False: it stopped. */
static bool run_lanes(struct at_emu_warp *warp)
{
    struct at_emu_block *block = warp->block;
    const struct at_emu_op *ops = block->kernel->ops;
    const struct at_emu_observer *observer = block->observer;
    uint32_t active = warp->active;
    uint64_t budget = budget_of(warp), left = budget;
    bool going = true;

    if (budget == 0) {
        raise_limit(warp, &ops[warp->pc]);
        return false;
    }
    while (going && warp->active == active && left > 0) {
        const struct at_emu_op *op = &ops[warp->pc];
        uint32_t lanes = active & (*AT_EMU_ROW(uint32_t, warp, op->guard) ^ op->guard_flip);

        left--;
        if (op->flow == AT_EMU_GATHER && lanes) {
            lanes = at_emu_flow_gather(warp, op, lanes);
            if (!lanes)
                continue;
        }
        if (op->flow == AT_EMU_GATHER && warp->away) {
            if (!execute_copies(op, warp, lanes))
                return false;
        } else {
            if (warp->undefined_rows && !undefined_step(op, warp, lanes))
                return false;
            if (op->run && lanes)
                execute(op, warp, lanes);
        }
        if (block->fault.kind)
            return false;
        if (observer && observer->executed)
            observer->executed(observer->context, block->index, (size_t)(op - ops), lanes);
        if (op->flow == AT_EMU_NEXT && warp->pc + 1 != warp->stop) {
            warp->pc++;
        } else {
            warp->spent = budget - left;
            going = at_emu_flow_follow(warp, op, lanes);
        }
        going = going && !warp->stalled;
    }
    count_executed(warp, active, budget - left);
    spend(block, budget - left);
    return going && !block->fault.kind;
}

/* Reads without a change of memory after which a warp's turn ends: it seems to wait. */
enum { TURN_POLLS = 64 };

/* Run a warp until it stops. True: it has not stopped, but waits for memory to change. */
static bool run_warp(struct at_emu_warp *warp)
{
    bool waits = false;

    warp->stalled = NULL;
    warp->block->polls = 0;
    do {
        while (!waits && run_lanes(warp))
            waits = warp->block->polls >= TURN_POLLS;
    } while (warp->waiting && !warp->block->fault.kind && reach_barrier(warp));
    if (waits)
        at_emu_flow_pass_turn(warp);
    return waits;
}

/* Run each warp as far as it can go. True: some wait for an mbarrier or for memory, or may go on
 * behind a named barrier. *idle: none can go on without another block. */
static bool run_warps(struct at_emu_block *block, bool *idle)
{
    uint32_t events = block->barrier_events;
    uint64_t changes = block->changes;
    struct at_emu_warp *stalled = NULL;
    bool moved = false, polls = false;

    for (uint32_t i = 0; i < block->warp_count && !block->fault.kind; i++) {
        struct at_emu_warp *warp = &block->warps[i];

        if (warp->waiting || !warp->alive)
            continue;
        if (run_warp(warp))
            polls = true;
        else if (warp->stalled)
            stalled = stalled ? stalled : warp;
        else
            moved = true;
    }
    moved |= changes != block->changes || events != block->barrier_events;
    *idle = polls && !moved;
    if (stalled && !moved && !polls)
        at_emu_raise(stalled, stalled->stalled, AT_EMU_BARRIER, __builtin_ctz(stalled->active), 0,
                     "an mbarrier's phase never completes");
    return stalled || polls || events != block->barrier_events;
}

void at_emu_block_raise_wait(struct at_emu_block *block, const char *why)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct at_emu_warp *warp = &block->warps[i];

        if (warp->alive && !warp->waiting && warp->polled.op) {
            at_emu_raise(warp, warp->polled.op, AT_EMU_WAIT, __builtin_ctz(warp->active),
                         warp->polled.address, "%s", why);
            return;
        }
    }
}

/* Each byte of local memory has the turn of the block that wrote it: nothing is cleared between
 * blocks. */
static void begin_local(struct at_emu_block *block)
{
    if (++block->turn == 0) {
        memset(block->local_written, 0,
               (size_t)block->warp_count * AT_WARP * block->kernel->local_bytes);
        block->turn = 1;
    }
}

void at_emu_block_begin(struct at_emu_block *block)
{
    at_emu_order_begin_block(block);
    begin_local(block);
    for (uint32_t i = 0; i < block->warp_count; i++)
        start_warp(&block->warps[i]);
    block->mbarrier_count = block->bulk_count = 0;
    block->left = block->launch->block_limit ? block->launch->block_limit : UINT64_MAX;
    block->changes = 0;
    block->arrived = false;
    memset(block->named, 0, sizeof block->named);
}

bool at_emu_block_run(struct at_emu_block *block)
{
    uint64_t left = block->left;
    bool idle = false;

    while (run_warps(block, &idle) || release_barrier(block)) {
        if (block->fault.kind || idle)
            break;
        left = block->left;
    }
    if (idle)
        block->left = left; /* a wait takes no steps */
    else
        at_emu_bulk_end_block(block);
    return idle && !block->fault.kind;
}
