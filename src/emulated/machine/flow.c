/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a warp share one pc most of the time. When they diverge, the lanes at the lowest pc
 * run first, until they reach the pc of other lanes and join them. This works because compilers lay
 * code out so that lanes meet again further down, and a loop is left only at its end. Lanes that
 * are deeper in recursive calls run before the others, until they return to them.
 *
 * Lanes that wait for others do not run: `held` ones at a barrier of the block, `gathered` ones at
 * an instruction with a mask. */
#include "emulated/machine/flow.h"

#include "base/memory.h"

#include <stdlib.h>

/* ---- recursive calls ---- */

/* Other calls are inlined (emulated/ptx/body.c). A function that calls itself has one body, and the
 * thread enters it again: its registers and its frame are saved, and its local memory lies behind
 * the caller's. */

/* What a thread has saved: its registers, one per row, and the frame behind them. */
struct at_emu_saved {
    struct at_emu_saved *below;
    const struct at_emu_op *call;
    struct at_emu_value registers[];
};

static char *frame_of(const struct at_emu_warp *warp, int lane)
{
    return warp->block->frames +
           (size_t)(warp->first_thread + (uint32_t)lane) * warp->block->kernel->frame_bytes;
}

static char *saved_frame(const struct at_ptx_kernel *kernel, struct at_emu_saved *saved)
{
    return (char *)(saved->registers + kernel->row_count);
}

static const struct at_emu_call *call_of(const struct at_ptx_kernel *kernel,
                                         const struct at_emu_op *op)
{
    return &kernel->calls[op->target];
}

static void drop_saved(struct at_emu_warp *warp, int lane)
{
    struct at_emu_saved *saved = warp->saved[lane];

    warp->saved[lane] = saved->below;
    warp->depth[lane]--;
    free(saved);
}

static void save_registers(struct at_emu_warp *warp, const struct at_emu_op *op, int lane)
{
    const struct at_ptx_kernel *kernel = warp->block->kernel;
    struct at_emu_saved *saved = at_alloc(
        sizeof *saved + kernel->row_count * sizeof *saved->registers + kernel->frame_bytes);

    saved->below = warp->saved[lane];
    saved->call = op;
    for (uint32_t k = 0; k < kernel->row_count; k++)
        if (kernel->row_bytes[k] != AT_EMU_NO_ROW)
            saved->registers[k] =
                at_take_lane(warp, k * AT_EMU_ROW_ALIGN, kernel->row_bytes[k], lane);
    memcpy(saved_frame(kernel, saved), frame_of(warp, lane), kernel->frame_bytes);
    warp->saved[lane] = saved;
    warp->depth[lane]++;
}

/* Local memory of the body begins behind that of the caller. */
static void move_local(struct at_emu_warp *warp, int lane)
{
    const struct at_ptx_kernel *kernel = warp->block->kernel;

    for (size_t k = 0; k < kernel->preset_count; k++) {
        const struct at_emu_preset *preset = &kernel->presets[k];

        if (preset->kind == AT_EMU_IN_LOCAL)
            at_write_lane(warp, preset->row, preset->bytes, lane,
                          preset->value + (uint64_t)warp->depth[lane] * kernel->local_step);
    }
}

void at_emu_call_drop(struct at_emu_warp *warp, uint32_t lanes)
{
    AT_EACH_OF (i, lanes) {
        if (warp->depth[i] == 0)
            continue;
        while (warp->depth[i] > 0)
            drop_saved(warp, i);
        move_local(warp, i);
    }
}

/* Enter the body with these lanes. False if a fault was raised: the recursion is too deep. The
 * caller places the lanes at the body's first instruction. */
static bool enter_call(struct at_emu_warp *warp, const struct at_emu_op *op, uint32_t lanes)
{
    const struct at_ptx_kernel *kernel = warp->block->kernel;
    const struct at_emu_call *call = call_of(kernel, op);

    AT_EACH_OF (i, lanes) {
        char *frame = frame_of(warp, i);

        if (warp->depth[i] == kernel->depth_max) {
            at_emu_raise(warp, op, AT_EMU_LIMIT, i, 0,
                         "more than %u calls, each within the other; does this recursion end?",
                         kernel->depth_max);
            return false;
        }
        save_registers(warp, op, i);
        for (int k = call->result_count; k < call->count; k++)
            memcpy(frame + call->inside[k], saved_frame(kernel, warp->saved[i]) + call->outside[k],
                   call->bytes[k]);
        move_local(warp, i);
    }
    return true;
}

static void restore_registers(struct at_emu_warp *warp, struct at_emu_saved *saved, int lane)
{
    const struct at_ptx_kernel *kernel = warp->block->kernel;

    for (uint32_t k = 0; k < kernel->row_count; k++)
        if (kernel->row_bytes[k] != AT_EMU_NO_ROW)
            at_put_lane(warp, k * AT_EMU_ROW_ALIGN, kernel->row_bytes[k], lane,
                        saved->registers[k]);
}

static void leave_body(struct at_emu_warp *warp, int lane)
{
    const struct at_ptx_kernel *kernel = warp->block->kernel;
    struct at_emu_saved *saved = warp->saved[lane];
    const struct at_emu_call *call = call_of(kernel, saved->call);
    char *frame = frame_of(warp, lane), *before = saved_frame(kernel, saved);

    restore_registers(warp, saved, lane);
    for (int k = 0; k < call->result_count; k++)
        memcpy(before + call->outside[k], frame + call->inside[k], call->bytes[k]);
    memcpy(frame, before, kernel->frame_bytes);
    warp->lane_pc[lane] = (uint32_t)(saved->call - kernel->ops) + 1;
    drop_saved(warp, lane);
}

/* These lanes are at pc, the end of a body. Some have entered it by a recursive call. They are
 * placed behind that call, and returned. */
static uint32_t leave_call(struct at_emu_warp *warp, uint32_t lanes)
{
    uint32_t returned = 0;

    AT_EACH_OF (i, lanes)
        if (warp->saved[i] && call_of(warp->block->kernel, warp->saved[i]->call)->end == warp->pc) {
            leave_body(warp, i);
            returned |= at_lane_bit[i];
        }
    return returned;
}

/* ---- which lanes run ---- */

static const struct at_emu_op *op_of_lane(const struct at_emu_warp *warp, int lane)
{
    return &warp->block->kernel->ops[warp->lane_pc[lane]];
}

/* All lanes that are left wait at a barrier: the warp waits there. */
static void stop_at_barrier(struct at_emu_warp *warp)
{
    const struct at_emu_op *ops = warp->block->kernel->ops;
    int first = __builtin_ctz(warp->held);

    warp->active = warp->held;
    warp->held = 0;
    warp->waiting = true;
    warp->pc = warp->lane_pc[first];
    warp->stop = UINT32_MAX;
    warp->next = UINT64_MAX;
    warp->barrier = AT_EMU_ROW(u32, warp, ops[warp->pc - 1].barrier.number)[first];
    AT_EACH_OF (i, warp->active)
        if (warp->lane_pc[i] != warp->pc) {
            at_emu_raise(warp, &ops[warp->pc - 1], AT_EMU_BARRIER, first, 0,
                         "other lanes of its warp wait at another one");
            return;
        }
}

/* No lane can run, because gathered lanes wait for lanes that wait elsewhere. */
static void raise_stuck(struct at_emu_warp *warp)
{
    int first = __builtin_ctz(warp->gathered);
    uint32_t missing = warp->named[first] & warp->alive;
    int other;

    AT_EACH_OF (i, warp->gathered)
        if (warp->lane_pc[i] == warp->lane_pc[first])
            missing &= ~at_lane_bit[i];
    other = __builtin_ctz(missing);
    at_emu_raise(warp, op_of_lane(warp, first), AT_EMU_BARRIER, first, 0,
                 "the mask %#x names lanes %#x; lanes of these wait at line %d", warp->named[first],
                 missing, at_emu_line(op_of_lane(warp, other) - (warp->held >> other & 1)));
}

/* Where a lane is, in the order in which lanes run: its depth, the deepest first, and its pc. */
static uint64_t place_of_lane(const struct at_emu_warp *warp, int lane)
{
    return (uint64_t)(AT_EMU_DEPTH_MAX - warp->depth[lane]) << 32 | warp->lane_pc[lane];
}

/* Activate the lanes at the first place; they stop at the next place of another lane that is as
 * deep. Lanes before `least` stay where they are. */
static void choose_lanes_from(struct at_emu_warp *warp, uint64_t least)
{
    uint64_t first = UINT64_MAX, next = UINT64_MAX;

    warp->active = 0;
    AT_EACH_OF (i, warp->alive & ~warp->held & ~warp->gathered) {
        uint64_t place = place_of_lane(warp, i);

        if (place >= least && place < first)
            first = place;
    }
    AT_EACH_OF (i, first < UINT64_MAX ? warp->alive & ~warp->held : 0) {
        uint64_t place = place_of_lane(warp, i);

        if (place == first)
            warp->active |= at_lane_bit[i];
        else if (place > first && place < next)
            next = place;
    }
    warp->gathered &= ~warp->active;
    warp->pc = (uint32_t)first;
    warp->next = next;
    warp->stop = next >> 32 == first >> 32 ? (uint32_t)next : UINT32_MAX;
}

static void choose_lanes(struct at_emu_warp *warp)
{
    choose_lanes_from(warp, 0);
    if (warp->active || !warp->alive)
        return;
    if (warp->held == warp->alive)
        stop_at_barrier(warp);
    else
        raise_stuck(warp);
}

static void place_lanes(struct at_emu_warp *warp, uint32_t lanes, uint32_t pc)
{
    AT_EACH_OF (i, lanes)
        warp->lane_pc[i] = pc;
}

bool at_emu_flow_leads(const struct at_ptx_kernel *kernel, const struct at_emu_op *from,
                       const struct at_emu_op *avoided, const struct at_emu_op *goal)
{
    uint32_t *open = at_alloc_array(kernel->op_count, sizeof *open);
    bool *seen = at_alloc_array(kernel->op_count, sizeof *seen), found = false;
    size_t count = 0;

#define AT_OPEN(index)                                                                             \
    do {                                                                                           \
        found |= goal == &kernel->ops[index];                                                      \
        if (!seen[index] && avoided != &kernel->ops[index])                                        \
            seen[open[count++] = (index)] = true;                                                  \
    } while (0)
    AT_OPEN((uint32_t)(from - kernel->ops));
    found = false;
    while (count > 0 && !found) {
        uint32_t at = open[--count];
        const struct at_emu_op *op = &kernel->ops[at];
        bool always = op->guard == AT_EMU_TRUE_ROW;

        found |= op->flow == AT_EMU_EXIT && !goal;
        if (op->flow == AT_EMU_BRANCH)
            AT_OPEN(op->target);
        if (op->flow == AT_EMU_CALL)
            AT_OPEN(kernel->calls[op->target].first);
        for (uint32_t k = 0; op->flow == AT_EMU_RETURN && k < kernel->op_count; k++)
            if (kernel->ops[k].flow == AT_EMU_CALL &&
                kernel->calls[kernel->ops[k].target].end == at)
                AT_OPEN(k + 1);
        for (int64_t k = 0; op->flow == AT_EMU_SWITCH && k < op->immediate; k++)
            AT_OPEN(kernel->targets[op->target + k]);
        if (at + 1 < kernel->op_count &&
            !(always && (op->flow == AT_EMU_BRANCH || op->flow == AT_EMU_EXIT ||
                         op->flow == AT_EMU_SWITCH || op->flow == AT_EMU_CALL)))
            AT_OPEN(at + 1);
    }
#undef AT_OPEN
    free(open);
    free(seen);
    return found;
}

bool at_emu_flow_copies(const struct at_ptx_kernel *kernel, const struct at_emu_op *a,
                        const struct at_emu_op *b)
{
    return a == b ||
           (a->run == b->run && a->vote == b->vote &&
            memcmp(&a->places, &b->places, sizeof a->places) == 0 &&
            (at_emu_flow_leads(kernel, a, NULL, b) || at_emu_flow_leads(kernel, b, NULL, a)));
}

/* Lanes exit while others wait for them. Lanes that have exited are not waited for. But did these
 * run past the instruction, to an access that all lanes come to after it? */
static void leave_gathered(struct at_emu_warp *warp, uint32_t lanes)
{
    uint32_t gathered = warp->gathered;

    warp->gathered = 0; /* these look again */
    if (!(warp->last_lanes & lanes))
        return;
    AT_EACH_OF (i, gathered & warp->last_waiting)
        if (warp->named[i] & lanes &&
            !at_emu_flow_leads(warp->block->kernel, op_of_lane(warp, i), warp->last, NULL)) {
            at_emu_raise(warp, op_of_lane(warp, i), AT_EMU_BARRIER, i, 0,
                         "the mask %#x names lanes %#x, which have run past it and exited",
                         warp->named[i], warp->named[i] & lanes);
            return;
        }
}

static void exit_lanes(struct at_emu_warp *warp, uint32_t lanes)
{
    if (warp->last_lanes & lanes) {
        warp->left_at = warp->last;
        warp->left_held = (warp->last_waiting & warp->held) != 0;
    }
    warp->alive &= ~lanes;
    at_emu_call_drop(warp, lanes);
    place_lanes(warp, warp->active & ~lanes, warp->pc + 1);
    if (warp->gathered)
        leave_gathered(warp, lanes);
    choose_lanes(warp);
}

/* Branch; `taken` are the active lanes that jump, and op is the instruction at pc. */
static void branch(struct at_emu_warp *warp, const struct at_emu_op *op, uint32_t taken)
{
    /* All lanes jump together: nothing to choose. */
    if (taken == warp->active && warp->stop == UINT32_MAX) {
        warp->pc = op->target;
        return;
    }
    place_lanes(warp, taken, op->target);
    place_lanes(warp, warp->active & ~taken, warp->pc + 1);
    choose_lanes(warp);
}

/* brx.idx: each lane takes the target of its index. */
static void switch_lanes(struct at_emu_warp *warp, const struct at_emu_op *op, uint32_t lanes)
{
    const struct at_ptx_kernel *kernel = warp->block->kernel;
    AT_SOURCE(u32, index, 0);

    place_lanes(warp, warp->active & ~lanes, warp->pc + 1);
    AT_EACH_OF (i, lanes) {
        if (index[i] >= op->immediate) { /* undefined (PTX ISA, brx.idx) */
            at_emu_raise(warp, op, AT_EMU_TRAP, i, 0, "index %u of a table of %d", index[i],
                         (int)op->immediate);
            return;
        }
        warp->lane_pc[i] = kernel->targets[op->target + index[i]];
    }
    choose_lanes(warp);
}

/* A function calls itself. */
static void call(struct at_emu_warp *warp, const struct at_emu_op *op, uint32_t lanes)
{
    if (!enter_call(warp, op, lanes))
        return;
    place_lanes(warp, lanes, warp->block->kernel->calls[op->target].first);
    place_lanes(warp, warp->active & ~lanes, warp->pc + 1);
    choose_lanes(warp);
}

static void return_lanes(struct at_emu_warp *warp)
{
    uint32_t returned = leave_call(warp, warp->active);

    place_lanes(warp, warp->active & ~returned, warp->pc + 1);
    choose_lanes(warp);
}

/* The clock counts the instructions of the thread. */
static void read_clock(struct at_emu_warp *warp, const struct at_emu_op *op, uint32_t lanes)
{
    AT_EACH_OF (i, lanes)
        at_write_lane(warp, op->row[0], op->value_bytes, i, warp->executed[i] + warp->spent);
}

/* A barrier waits for all threads of the block that have not exited (CUDA C++ Programming Guide,
 * "Compute Capability 7.x: Independent Thread Scheduling"). Lanes of a warp may come one after the
 * other, while others exit. */
static void arrive(struct at_emu_warp *warp, const struct at_emu_op *op, uint32_t lanes)
{
    if (op->vote)
        warp->yes =
            (warp->yes & ~lanes) |
            ((*AT_EMU_ROW(uint32_t, warp, op->row[op->row_count - 1]) ^ op->source_flip) & lanes);
    warp->held |= lanes;
    place_lanes(warp, warp->active, warp->pc + 1);
    choose_lanes(warp);
}

/* Do all lanes name these ones, which are all here? That is the usual case. */
static bool all_name(const uint32_t *members, uint32_t lanes, uint32_t alive)
{
    uint32_t named = members[__builtin_ctz(lanes)], differ = 0;

    AT_EACH_OF (i, lanes)
        differ |= members[i] ^ named;
    return !differ && (named & alive) == lanes;
}

/* The lanes that wait where lane i does, for the same lanes. A barrier may have several places, and
 * other instructions several copies. */
static uint32_t gathered_with(const struct at_emu_warp *warp, int lane)
{
    const struct at_emu_op *op = op_of_lane(warp, lane), *known = op;
    uint32_t lanes = 0;
    bool together = true;

    AT_EACH_OF (i, warp->gathered) {
        const struct at_emu_op *other = op_of_lane(warp, i);

        if (other != known)
            together = op->row_count == 1 ? other->run == op->run
                                          : at_emu_flow_copies(warp->block->kernel, op, other);
        known = other;
        if (together)
            lanes |= at_lane_bit[i];
    }
    return lanes;
}

/* Lanes with one mask wait together (PTX ISA, shfl.sync: "all non-exited threads corresponding to
 * membermask have executed shfl.sync with the same qualifiers and same membermask value"). False if
 * a fault was raised. */
static bool check_masks(struct at_emu_warp *warp, int lane, uint32_t together)
{
    uint32_t named = warp->named[lane];

    if (!(named & at_lane_bit[lane])) {
        at_emu_raise(warp, op_of_lane(warp, lane), AT_EMU_BARRIER, lane, 0,
                     "its mask %#x does not name the lane itself", named);
        return false;
    }
    AT_EACH_OF (i, named & together)
        if (warp->named[i] != named) {
            at_emu_raise(warp, op_of_lane(warp, lane), AT_EMU_BARRIER, lane, 0,
                         "its mask %#x names lane %d, which names %#x", named, i, warp->named[i]);
            return false;
        }
    return true;
}

uint32_t at_emu_flow_gather(struct at_emu_warp *warp, const struct at_emu_op *op, uint32_t lanes)
{
    AT_SOURCE(u32, members, op->row_count - 1);
    uint32_t ready = 0;

    warp->away = 0;
    if (lanes == warp->active && !warp->gathered && all_name(members, lanes, warp->alive)) {
        memcpy(warp->named, members, sizeof warp->named);
        return lanes;
    }
    place_lanes(warp, warp->active, warp->pc);
    AT_EACH_OF (i, lanes)
        warp->named[i] = members[i];
    warp->gathered |= lanes;
    AT_EACH_OF (i, lanes) {
        uint32_t together = gathered_with(warp, i);

        if (!check_masks(warp, i, together))
            return 0;
        if (!(warp->named[i] & warp->alive & ~together))
            ready |= warp->named[i] & warp->alive;
    }
    warp->gathered &= ~ready;
    AT_EACH_OF (i, op->row_count > 1 ? ready : 0)
        if (op_of_lane(warp, i) != op)
            warp->away |= at_lane_bit[i];
    if (!ready) {
        place_lanes(warp, warp->active & ~lanes, warp->pc + 1);
        choose_lanes(warp);
    }
    return ready;
}

static struct at_emu_value take(const struct at_emu_warp *warp, const struct at_emu_op *op, int k,
                                int lane)
{
    return at_take_lane(warp, op->row[k], op->operand_bytes[k], lane);
}

static void put(struct at_emu_warp *warp, const struct at_emu_op *op, int k, int lane,
                struct at_emu_value value)
{
    at_put_lane(warp, op->row[k], op->operand_bytes[k], lane, value);
}

void at_emu_flow_bring(struct at_emu_brought *brought, const struct at_emu_op *op,
                       struct at_emu_warp *warp)
{
    AT_EACH_OF (i, warp->away) {
        const struct at_emu_op *copy = op_of_lane(warp, i);
        struct at_emu_value own[AT_EMU_OPERANDS];

        for (int k = 0; k < op->row_count; k++) {
            own[k] = take(warp, copy, k, i);
            brought->before[i][k] = take(warp, op, k, i);
        }
        for (int k = op->result_count; k < op->row_count; k++)
            put(warp, op, k, i, own[k]);
    }
}

void at_emu_flow_give(const struct at_emu_brought *brought, const struct at_emu_op *op,
                      struct at_emu_warp *warp)
{
    AT_EACH_OF (i, warp->away) {
        const struct at_emu_op *copy = op_of_lane(warp, i);
        struct at_emu_value results[AT_EMU_OPERANDS];

        for (int k = 0; k < op->result_count; k++)
            results[k] = take(warp, op, k, i);
        for (int k = 0; k < op->row_count; k++)
            put(warp, op, k, i, brought->before[i][k]);
        for (int k = 0; k < op->result_count; k++)
            put(warp, copy, k, i, results[k]);
    }
    warp->away = 0;
}

/* Lanes have run an instruction with masks. Those of a barrier may have come from several places.
 */
static void scatter(struct at_emu_warp *warp, uint32_t ready)
{
    if (ready == warp->active && !warp->gathered) {
        warp->pc++;
        return;
    }
    AT_EACH_OF (i, (ready | warp->active) & ~warp->gathered)
        warp->lane_pc[i]++;
    choose_lanes(warp);
}

bool at_emu_flow_follow(struct at_emu_warp *warp, const struct at_emu_op *op, uint32_t lanes)
{
    switch (lanes ? (enum at_emu_flow)op->flow : AT_EMU_NEXT) {
    case AT_EMU_NEXT:
        warp->pc++;
        break;
    case AT_EMU_BRANCH:
        branch(warp, op, lanes);
        break;
    case AT_EMU_EXIT:
        exit_lanes(warp, lanes);
        break;
    case AT_EMU_BARRIER_WAIT:
        arrive(warp, op, lanes);
        break;
    case AT_EMU_SWITCH:
        switch_lanes(warp, op, lanes);
        break;
    case AT_EMU_CALL:
        call(warp, op, lanes);
        break;
    case AT_EMU_RETURN:
        return_lanes(warp);
        break;
    case AT_EMU_CLOCK:
        read_clock(warp, op, lanes);
        warp->pc++;
        break;
    case AT_EMU_GATHER:
        scatter(warp, lanes);
        break;
    }
    if (warp->pc == warp->stop) {
        place_lanes(warp, warp->active, warp->pc);
        choose_lanes(warp);
    }
    return !warp->waiting && warp->alive;
}

/* The lanes of a warp may wait for each other too (CUDA C++ Programming Guide, "Independent Thread
 * Scheduling"). So the lanes further down go on after a turn of those that wait. If these wait too,
 * the first ones look again. */
void at_emu_flow_pass_turn(struct at_emu_warp *warp)
{
    uint64_t further = warp->next;

    if (further == UINT64_MAX)
        return;
    place_lanes(warp, warp->active, warp->pc);
    choose_lanes_from(warp, further);
    if (!warp->active)
        choose_lanes(warp);
}
