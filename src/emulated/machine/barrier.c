/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/machine/barrier.h"

#include "emulated/machine/flow.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/order.h"

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

bool at_emu_barrier_release(struct at_emu_block *block)
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
    at_emu_order_barrier(block);
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
    at_emu_order_arrive(warp, named);
    return true;
}

/* Let the warps that wait at a named barrier go on. */
static void complete(struct at_emu_block *block, struct at_emu_named *named)
{
    give_votes(block, named->waiting);
    AT_EACH_OF (i, named->waiting) {
        leave(&block->warps[i]);
        at_emu_order_leave(&block->warps[i], named);
    }
    named->arrived = 0;
    block->barrier_events++;
}

bool at_emu_barrier_reach(struct at_emu_warp *warp)
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
