/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow (PTX ISA, "Control Flow Instructions"), barriers and fences. */
#include "base/memory.h"
#include "emu/lanes.h"
#include "emu/ops.h"
#include "ptx/reader.h"

static bool is_one_of(const struct at_ptx_opcode *opcode, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(opcode->text, names[i]) == 0)
            return true;
    return false;
}

bool at_ptx_decode_branch(struct at_ptx_reader *reader, struct at_emu_op *op,
                          const struct at_ptx_opcode *opcode)
{
    static const char *const known[] = {"bra", "bra.uni"};
    struct at_ptx_label jump = {.op = reader->kernel->op_count, .line = reader->token.line};

    if (!is_one_of(opcode, known, AT_COUNT(known)))
        return at_ptx_unknown(reader, opcode);
    if (!at_ptx_expect_name(reader, &jump.name))
        return false;
    op->flow = AT_EMU_BRANCH;
    AT_PUSH(reader->jumps, reader->jump_count, reader->jump_capacity, jump);
    return true;
}

/* In a kernel, ret and exit both end the thread. */
bool at_ptx_decode_exit(struct at_ptx_reader *reader, struct at_emu_op *op,
                        const struct at_ptx_opcode *opcode)
{
    static const char *const known[] = {"ret", "ret.uni", "exit"};

    if (!is_one_of(opcode, known, AT_COUNT(known)))
        return at_ptx_unknown(reader, opcode);
    op->flow = AT_EMU_EXIT;
    return true;
}

AT_RUN(trap)
{
    at_emu_raise(warp, op, AT_EMU_TRAP, __builtin_ctz(lanes), 0, NULL);
}

bool at_ptx_decode_trap(struct at_ptx_reader *reader, struct at_emu_op *op,
                        const struct at_ptx_opcode *opcode)
{
    if (opcode->part_count != 1)
        return at_ptx_unknown(reader, opcode);
    op->run = trap;
    return true;
}

/* "bar.sync 0" and its other spellings. No template uses a number of threads, which would let a
 * part of the block pass, nor a barrier's number in a register. */
bool at_ptx_decode_barrier(struct at_ptx_reader *reader, struct at_emu_op *op,
                           const struct at_ptx_opcode *opcode)
{
    static const char *const known[] = {
        "bar.sync",         "bar.cta.sync",
        "barrier.sync",     "barrier.sync.aligned",
        "barrier.cta.sync", "barrier.cta.sync.aligned",
    };
    uint64_t number;

    if (strcmp(opcode->text, "bar.warp.sync") == 0)
        return at_ptx_decode_row(reader, op, opcode->text);
    if (!is_one_of(opcode, known, AT_COUNT(known)))
        return at_ptx_unknown(reader, opcode);
    /* PTX ISA, bar: "each CTA has 16 barriers, numbered 0..15". */
    if (!at_ptx_expect_integer(reader, 15, &number))
        return false;
    op->flow = AT_EMU_BARRIER_WAIT;
    op->immediate = (int64_t)number;
    return true;
}

bool at_ptx_decode_fence(struct at_ptx_reader *reader, struct at_emu_op *op,
                         const struct at_ptx_opcode *opcode)
{
    static const char *const known[] = {
        "membar.cta",        "membar.gl",         "membar.sys",
        "fence.cta",         "fence.cluster",     "fence.gpu",
        "fence.sys",         "fence.sc.cta",      "fence.sc.cluster",
        "fence.sc.gpu",      "fence.sc.sys",      "fence.acq_rel.cta",
        "fence.acq_rel.gpu", "fence.acq_rel.sys", "fence.acq_rel.cluster",
    };
    static const char *const proxies[] = {"fence.proxy.async", "fence.proxy.async.shared::cta"};

    if (is_one_of(opcode, known, AT_COUNT(known)))
        op->run = at_emu_run_nothing;
    else if (is_one_of(opcode, proxies, AT_COUNT(proxies)))
        op->run = at_emu_run_proxy_fence;
    return op->run || at_ptx_unknown(reader, opcode);
}
