/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow (PTX ISA, "Control Flow Instructions"), barriers and fences. */
#include "base/memory.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"
#include "emulated/ptx/reader.h"

#include <string.h>

/* call (PTX ISA, "Control Flow Instructions: call"), of functions of the program and of the few
 * that CUDA provides. */

/* Functions of CUDA's device runtime, by the number of their arguments. */
static const struct {
    const char *name;
    int results, arguments;
    at_emu_run_op *run;
} provided[] = {
    {"vprintf", 1, 2, at_emu_run_printf},
    {"__assertfail", 0, 5, at_emu_run_assert},
    {"__assert_fail", 0, 4, at_emu_run_assert},
};

/* "(a, b)": variables for arguments or results. */
static bool read_list(struct at_ptx_reader *reader, struct at_ptx_call *call)
{
    bool first = true;

    if (!at_ptx_expect(reader, "("))
        return false;
    while (!at_ptx_take(reader, ")")) {
        struct at_ptx_name name;
        const struct at_ptx_variable *variable;

        if ((!first && !at_ptx_expect(reader, ",")) || !at_ptx_expect_name(reader, &name))
            return false;
        first = false;
        variable = at_ptx_find_variable(reader, &name);
        if (!variable)
            return false;
        if (variable->space != AT_EMU_FRAME)
            return at_ptx_fail(reader, "a call with an argument that is no .param variable");
        if (call->count == AT_PTX_ARGUMENTS_MAX)
            return at_ptx_fail(reader, "a call with more than %d arguments", AT_PTX_ARGUMENTS_MAX);
        call->offset[call->count] = variable->offset;
        call->bytes[call->count++] = variable->bytes;
    }
    return true;
}

/* Decode a call of a provided function. */
static bool decode_provided(struct at_ptx_reader *reader, struct at_emu_op *op,
                            const struct at_ptx_name *name, const struct at_ptx_call *call)
{
    int arguments = call->count - call->result_count;
    const uint32_t *offset = call->offset + call->result_count;
    const char *refused = at_ptx_refused_function(name);
    struct at_ptx_name plain = at_ptx_plain_name(*name);

    if (refused)
        return at_ptx_fail(reader, "%s", refused);
    for (size_t i = 0; i < AT_COUNT(provided); i++) {
        if (name->size != strlen(provided[i].name) ||
            memcmp(name->text, provided[i].name, name->size) != 0)
            continue;
        if (arguments != provided[i].arguments || call->result_count != provided[i].results)
            return at_ptx_fail(reader, "a call of %s with other arguments", provided[i].name);
        op->run = provided[i].run;
        for (int k = 0; k < arguments && k < 3; k++)
            op->call.argument[k] = offset[k];
        op->call.result = call->result_count ? call->offset[0] : 0;
        return true;
    }
    return at_ptx_fail(reader, "a call of the function %.*s, whose body is not in the program",
                       plain.size < 64 ? (int)plain.size : 64, plain.text);
}

/* A call is an instruction that jumps behind the function's body where its guard does not hold;
 * without a guard it does nothing. */
static bool decode_function(struct at_ptx_reader *reader, struct at_emu_op *op,
                            struct at_ptx_call *call)
{
    struct at_ptx_name plain = at_ptx_plain_name(call->function->name);

    if (call->function->open)
        return at_ptx_fail(reader,
                           "recursion: the function %.*s calls itself, which the emulated device "
                           "does not run",
                           plain.size < 64 ? (int)plain.size : 64, plain.text);
    if (op->guard != AT_EMU_TRUE_ROW) {
        op->flow = AT_EMU_BRANCH;
        op->guard_flip = ~op->guard_flip;
    }
    call->op = reader->kernel->op_count;
    reader->call = *call;
    return true;
}

/* call{.uni} {(results),} function {, (arguments)} */
bool at_ptx_decode_call(struct at_ptx_reader *reader, struct at_emu_op *op,
                        const struct at_ptx_opcode *opcode)
{
    struct at_ptx_call call = {0};
    struct at_ptx_name name;
    int bytes;
    uint32_t row;
    bool found;

    if (strcmp(opcode->text, "call") != 0 && strcmp(opcode->text, "call.uni") != 0)
        return at_ptx_unknown(reader, opcode);
    if (at_ptx_at(reader, "(")) {
        if (!read_list(reader, &call) || !at_ptx_expect(reader, ","))
            return false;
        call.result_count = call.count;
    }
    if (!at_ptx_expect_name(reader, &name))
        return false;
    if (!at_ptx_find_register(reader, &name, &bytes, &row, &found))
        return false;
    if (found)
        return at_ptx_fail(reader, "a call through a function pointer (or of a virtual function), "
                                   "which the emulated device does not run");
    if (at_ptx_take(reader, ",") && !read_list(reader, &call))
        return false;
    call.function = at_ptx_find_function(reader, &name);
    return call.function ? decode_function(reader, op, &call)
                         : decode_provided(reader, op, &name, &call);
}

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

/* brx.idx{.uni} index, table */
bool at_ptx_decode_switch(struct at_ptx_reader *reader, struct at_emu_op *op,
                          const struct at_ptx_opcode *opcode)
{
    static const char *const known[] = {"brx.idx", "brx.idx.uni"};
    struct at_ptx_label jump = {.op = reader->kernel->op_count, .line = reader->token.line};

    if (!is_one_of(opcode, known, AT_COUNT(known)))
        return at_ptx_unknown(reader, opcode);
    if (!at_ptx_read_source(reader, op, 4) || !at_ptx_expect(reader, ",") ||
        !at_ptx_expect_name(reader, &jump.name))
        return false;
    op->flow = AT_EMU_SWITCH;
    op->undefined = AT_EMU_USES;
    AT_PUSH(reader->jumps, reader->jump_count, reader->jump_capacity, jump);
    return true;
}

bool at_ptx_decode_exit(struct at_ptx_reader *reader, struct at_emu_op *op,
                        const struct at_ptx_opcode *opcode)
{
    if (opcode->part_count != 1)
        return at_ptx_unknown(reader, opcode);
    op->flow = AT_EMU_EXIT;
    return true;
}

/* In a kernel, ret ends the thread as exit does. In a function it is a jump behind the body. */
bool at_ptx_decode_return(struct at_ptx_reader *reader, struct at_emu_op *op,
                          const struct at_ptx_opcode *opcode)
{
    static const char *const known[] = {"ret", "ret.uni"};
    struct at_ptx_label jump = {.op = reader->kernel->op_count, .line = reader->token.line};

    if (!is_one_of(opcode, known, AT_COUNT(known)))
        return at_ptx_unknown(reader, opcode);
    op->flow = reader->call_depth > 0 ? AT_EMU_BRANCH : AT_EMU_EXIT;
    if (op->flow == AT_EMU_BRANCH)
        AT_PUSH(reader->jumps, reader->jump_count, reader->jump_capacity, jump);
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

/* bar.red.{popc.u32,and.pred,or.pred} d, barrier, {!}p: a barrier whose result is of all threads'
 * predicates. */
static const struct {
    const char *name;
    uint8_t vote; /* at_emu_vote */
    int bytes;    /* of the result */
} reductions[] = {
    {"bar.red.popc.u32", AT_EMU_VOTE_COUNT, 4},
    {"bar.red.and.pred", AT_EMU_VOTE_ALL, AT_EMU_PREDICATE},
    {"bar.red.or.pred", AT_EMU_VOTE_ANY, AT_EMU_PREDICATE},
    {"bar.cta.red.popc.u32", AT_EMU_VOTE_COUNT, 4},
    {"bar.cta.red.and.pred", AT_EMU_VOTE_ALL, AT_EMU_PREDICATE},
    {"bar.cta.red.or.pred", AT_EMU_VOTE_ANY, AT_EMU_PREDICATE},
    {"barrier.red.popc.u32", AT_EMU_VOTE_COUNT, 4},
    {"barrier.red.and.pred", AT_EMU_VOTE_ALL, AT_EMU_PREDICATE},
    {"barrier.red.or.pred", AT_EMU_VOTE_ANY, AT_EMU_PREDICATE},
    {"barrier.cta.red.popc.u32", AT_EMU_VOTE_COUNT, 4},
    {"barrier.cta.red.and.pred", AT_EMU_VOTE_ALL, AT_EMU_PREDICATE},
    {"barrier.cta.red.or.pred", AT_EMU_VOTE_ANY, AT_EMU_PREDICATE},
    {"barrier.cta.red.popc.aligned.u32", AT_EMU_VOTE_COUNT, 4},
    {"barrier.cta.red.and.aligned.pred", AT_EMU_VOTE_ALL, AT_EMU_PREDICATE},
    {"barrier.cta.red.or.aligned.pred", AT_EMU_VOTE_ANY, AT_EMU_PREDICATE},
};

/* PTX ISA, bar: "each CTA has 16 barriers, numbered 0..15". */
static bool read_barrier(struct at_ptx_reader *reader, struct at_emu_op *op)
{
    uint64_t number;

    if (!at_ptx_expect_integer(reader, 15, &number))
        return false;
    op->flow = AT_EMU_BARRIER_WAIT;
    op->immediate = (int64_t)number;
    if (at_ptx_at(reader, ",") && !op->vote)
        return at_ptx_fail(reader, "a barrier of a part of the block, which the emulated device "
                                   "does not run");
    return true;
}

static bool decode_reduction(struct at_ptx_reader *reader, struct at_emu_op *op, size_t k)
{
    uint32_t row;

    op->vote = reductions[k].vote;
    op->undefined = AT_EMU_USES;
    if (!at_ptx_read_result(reader, op, reductions[k].bytes) || !at_ptx_expect(reader, ",") ||
        !read_barrier(reader, op) || !at_ptx_expect(reader, ",") ||
        !at_ptx_read_predicate(reader, true, &row, &op->source_flip))
        return false;
    at_ptx_add_row(op, row, false);
    return true;
}

/* "bar.sync 0" and its other spellings. A number of threads, which would let a part of
 * the block pass, is refused, as is a barrier's number in a register. */
bool at_ptx_decode_barrier(struct at_ptx_reader *reader, struct at_emu_op *op,
                           const struct at_ptx_opcode *opcode)
{
    static const char *const known[] = {
        "bar.sync",         "bar.cta.sync",
        "barrier.sync",     "barrier.sync.aligned",
        "barrier.cta.sync", "barrier.cta.sync.aligned",
    };

    if (strcmp(opcode->text, "bar.warp.sync") == 0)
        return at_ptx_decode_row(reader, op, opcode->text);
    for (size_t k = 0; k < AT_COUNT(reductions); k++)
        if (strcmp(opcode->text, reductions[k].name) == 0)
            return decode_reduction(reader, op, k);
    return is_one_of(opcode, known, AT_COUNT(known)) ? read_barrier(reader, op)
                                                     : at_ptx_unknown(reader, opcode);
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
