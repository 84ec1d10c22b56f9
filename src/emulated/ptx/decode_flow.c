/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow (PTX ISA, "Control Flow Instructions"), barriers and fences. */
#include "base/memory.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"
#include "emulated/ptx/reader.h"

/* _ZN5outer4nameEi, _Z4namei and _ZL4namei are called "name": each part has its length before it
 * (Itanium C++ ABI, "Mangling"). */
static struct at_ptx_name plain_name(struct at_ptx_name name)
{
    const char *next = name.text, *end = name.text + name.size;

    if (name.size < 3 || memcmp(next, "_Z", 2) != 0)
        return name;
    next += 2;
    while (next < end && strchr("NLK", *next))
        next++;
    while (next < end && *next >= '1' && *next <= '9') {
        size_t length = 0;

        while (next < end && *next >= '0' && *next <= '9' && length <= name.size)
            length = 10 * length + (size_t)(*next++ - '0');
        if (length > (size_t)(end - next))
            break;
        name = (struct at_ptx_name){next, length};
        next += length;
        next += next < end && *next == 'L'; /* the next part is static */
    }
    return name;
}

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
        if (call->count == AT_EMU_ARGUMENTS_MAX)
            return at_ptx_fail(reader, "a call with more than %d arguments", AT_EMU_ARGUMENTS_MAX);
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
    const char *why = at_ptx_refused(name->text, name->size);
    struct at_ptx_name plain = plain_name(*name);
    int i = AT_PTX_INDEX_OF(provided, name->text, name->size);

    if (why)
        return at_ptx_fail(reader, "%s", why);
    if (i < 0)
        return at_ptx_fail(reader, "a call of the function %.*s, whose body is not in the program",
                           AT_PTX_SHOWN(plain));
    if (arguments != provided[i].arguments || call->result_count != provided[i].results)
        return at_ptx_fail(reader, "a call of %s with other arguments", provided[i].name);
    op->run = provided[i].run;
    for (int k = 0; k < arguments && k < 3; k++)
        op->call.argument[k] = offset[k];
    op->call.result = call->result_count ? call->offset[0] : 0;
    return true;
}

/* A call within the body of the same function goes to the beginning of that body. */
static bool decode_recursion(struct at_ptx_reader *reader, struct at_emu_op *op,
                             const struct at_ptx_call *call)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    struct at_ptx_call *open = call->function->open;
    struct at_ptx_name plain = plain_name(call->function->name);
    struct at_emu_call made = {
        .first = (uint32_t)open->op + 1, .result_count = call->result_count, .count = call->count};

    if (call->count != open->count || call->result_count != open->result_count ||
        memcmp(call->bytes, open->bytes, sizeof call->bytes) != 0)
        return at_ptx_fail(reader, "a call of %.*s with other arguments", AT_PTX_SHOWN(plain));
    memcpy(made.outside, call->offset, sizeof made.outside);
    memcpy(made.inside, open->offset, sizeof made.inside);
    memcpy(made.bytes, call->bytes, sizeof made.bytes);
    op->flow = AT_EMU_CALL;
    op->target = (uint32_t)kernel->call_count;
    AT_PUSH(kernel->calls, kernel->call_count, kernel->call_capacity, made);
    open->is_recursed = true;
    return true;
}

/* A call is an instruction that jumps behind the function's body where its guard does not hold;
 * without a guard it does nothing. */
static bool decode_function(struct at_ptx_reader *reader, struct at_emu_op *op,
                            struct at_ptx_call *call)
{
    if (call->function->open)
        return decode_recursion(reader, op, call);
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

/* The instruction that is being read jumps to this label; without a name, behind the body of the
 * function. */
static void add_jump(struct at_ptx_reader *reader, struct at_ptx_name name, int line)
{
    const struct at_ptx_label jump = {name, reader->kernel->op_count, line, 0};

    AT_PUSH(reader->jumps, reader->jump_count, reader->jump_capacity, jump);
}

static bool read_jump(struct at_ptx_reader *reader)
{
    int line = reader->token.line;
    struct at_ptx_name name;

    if (!at_ptx_expect_name(reader, &name))
        return false;
    add_jump(reader, name, line);
    return true;
}

bool at_ptx_decode_branch(struct at_ptx_reader *reader, struct at_emu_op *op,
                          const struct at_ptx_opcode *opcode)
{
    static const char *const known[] = {"bra", "bra.uni"};

    if (AT_PTX_INDEX(known, opcode->text) < 0)
        return at_ptx_unknown(reader, opcode);
    op->flow = AT_EMU_BRANCH;
    return read_jump(reader);
}

/* brx.idx{.uni} index, table */
bool at_ptx_decode_switch(struct at_ptx_reader *reader, struct at_emu_op *op,
                          const struct at_ptx_opcode *opcode)
{
    static const char *const known[] = {"brx.idx", "brx.idx.uni"};

    if (AT_PTX_INDEX(known, opcode->text) < 0)
        return at_ptx_unknown(reader, opcode);
    op->flow = AT_EMU_SWITCH;
    op->undefined = AT_EMU_USES;
    return at_ptx_read_source(reader, op, 4) && at_ptx_expect(reader, ",") && read_jump(reader);
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

    if (AT_PTX_INDEX(known, opcode->text) < 0)
        return at_ptx_unknown(reader, opcode);
    op->flow = reader->call_depth > 0 ? AT_EMU_BRANCH : AT_EMU_EXIT;
    if (op->flow == AT_EMU_BRANCH)
        add_jump(reader, (struct at_ptx_name){0}, 0);
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

/* bar.red.{popc.u32,and.pred,or.pred} d, barrier{, threads}, {!}p: a barrier whose result is of all
 * threads' predicates. */
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

/* A number of threads follows. What votes has one more operand behind it. */
static bool take_threads(struct at_ptx_reader *reader, bool votes)
{
    struct at_ptx_lexer ahead = reader->lexer;
    struct at_ptx_token after;

    if (!votes)
        return at_ptx_take(reader, ",");
    at_ptx_lex(&ahead); /* an operand, behind the comma */
    after = at_ptx_lex(&ahead);
    return at_ptx_token_is(&after, ",") && at_ptx_take(reader, ",");
}

/* Read a barrier's number and, if there is one, the number of threads. */
static bool read_barrier(struct at_ptx_reader *reader, struct at_emu_op *op)
{
    op->flow = AT_EMU_BARRIER_WAIT;
    op->undefined = AT_EMU_USES;
    op->barrier.threads = AT_EMU_TRUE_ROW;
    if (!at_ptx_read_source(reader, op, 4))
        return false;
    op->barrier.number = op->row[op->row_count - 1];
    if (!take_threads(reader, op->vote != AT_EMU_NO_VOTE))
        return true;
    if (!at_ptx_read_source(reader, op, 4))
        return false;
    op->barrier.threads = op->row[op->row_count - 1];
    return true;
}

static bool decode_reduction(struct at_ptx_reader *reader, struct at_emu_op *op, int k)
{
    uint32_t row;

    op->vote = reductions[k].vote;
    if (!at_ptx_read_result(reader, op, reductions[k].bytes) || !at_ptx_expect(reader, ",") ||
        !read_barrier(reader, op) || !at_ptx_expect(reader, ",") ||
        !at_ptx_read_predicate(reader, true, &row, &op->source_flip))
        return false;
    at_ptx_add_row(op, row, false);
    return true;
}

/* "bar.sync 0", "bar.sync 1, 64", "bar.arrive 1, 64" and their other spellings. */
bool at_ptx_decode_barrier(struct at_ptx_reader *reader, struct at_emu_op *op,
                           const struct at_ptx_opcode *opcode)
{
    static const char *const waits[] = {
        "bar.sync",         "bar.cta.sync",
        "barrier.sync",     "barrier.sync.aligned",
        "barrier.cta.sync", "barrier.cta.sync.aligned",
    };
    static const char *const arrives[] = {
        "bar.arrive",         "bar.cta.arrive",
        "barrier.arrive",     "barrier.arrive.aligned",
        "barrier.cta.arrive", "barrier.cta.arrive.aligned",
    };
    int k = AT_PTX_INDEX(reductions, opcode->text);

    if (strcmp(opcode->text, "bar.warp.sync") == 0)
        return at_ptx_decode_row(reader, op, opcode->text);
    if (k >= 0)
        return decode_reduction(reader, op, k);
    op->barrier.arrives = AT_PTX_INDEX(arrives, opcode->text) >= 0;
    if (!op->barrier.arrives && AT_PTX_INDEX(waits, opcode->text) < 0)
        return at_ptx_unknown(reader, opcode);
    return read_barrier(reader, op) &&
           (!op->barrier.arrives || op->barrier.threads != AT_EMU_TRUE_ROW ||
            at_ptx_unexpected(reader, "a number of threads"));
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

    if (AT_PTX_INDEX(known, opcode->text) >= 0) {
        op->run = at_emu_run_fence;
        op->order = AT_EMU_RELEASES | (strstr(opcode->text, ".cta") ? AT_EMU_OF_BLOCK : 0);
    } else if (AT_PTX_INDEX(proxies, opcode->text) >= 0)
        op->run = at_emu_run_proxy_fence;
    return op->run || at_ptx_unknown(reader, opcode);
}

/* A grid that other launches wait for, or that waits for them. It is the only one here, so all
 * before it have ended. */
bool at_ptx_decode_dependency(struct at_ptx_reader *reader, struct at_emu_op *op,
                              const struct at_ptx_opcode *opcode)
{
    static const char *const known[] = {"griddepcontrol.wait", "griddepcontrol.launch_dependents"};

    op->run = at_emu_run_nothing;
    return AT_PTX_INDEX(known, opcode->text) >= 0 || at_ptx_unknown(reader, opcode);
}
