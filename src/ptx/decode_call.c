/* SPDX-License-Identifier: Apache-2.0 */
/* call (PTX ISA, "Control Flow Instructions: call"), of functions of the program and of the few
 * that CUDA provides. */
#include "base/memory.h"
#include "emu/ops.h"
#include "ptx/reader.h"

#include <string.h>

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

/* Decode a call of a provided function; op->row are not used: its arguments' places in the frame
 * are in immediate (the first), source_offset (the second) and to_offset (the third). */
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
        op->immediate = offset[0];
        op->source_offset = offset[1];
        op->to_offset = arguments > 2 ? offset[2] : 0;
        op->target = call->result_count ? call->offset[0] : 0;
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
