/* SPDX-License-Identifier: Apache-2.0 */
/* From an instruction's text to the function that executes it. */
#include "base/memory.h"
#include "emu/ops.h"
#include "ptx/reader.h"

#include <string.h>

static bool split(struct at_ptx_reader *reader, struct at_ptx_opcode *opcode)
{
    const struct at_ptx_token *token = &reader->token;
    char *next;

    if (token->kind != AT_PTX_WORD)
        return at_ptx_unexpected(reader, "an instruction");
    if (token->size >= AT_PTX_OPCODE_MAX)
        return at_ptx_fail(reader, "unknown instruction, more than %d characters long",
                           AT_PTX_OPCODE_MAX - 1);
    memcpy(opcode->text, token->text, token->size);
    opcode->text[token->size] = '\0';
    memcpy(opcode->split, opcode->text, sizeof opcode->split);
    opcode->part_count = 0;
    for (next = opcode->split; next; opcode->part_count++) {
        if (opcode->part_count == AT_PTX_PARTS_MAX)
            return at_ptx_unknown(reader, opcode);
        opcode->part[opcode->part_count] = next;
        next = strchr(next, '.');
        if (next)
            *next++ = '\0';
    }
    return true;
}

/* Instructions with a decoder of their own, by the first part of the opcode. All others are in the
 * table of emu/ops.h by their whole name. */
static const struct {
    const char *name;
    at_ptx_decoder *decode;
} decoders[] = {
    {"mov", at_ptx_decode_move},
    {"cvt", at_ptx_decode_convert},
    {"cvta", at_ptx_decode_to_space},
    {"isspacep", at_ptx_decode_is_space},
    {"setp", at_ptx_decode_compare},
    {"set", at_ptx_decode_compare_to_register},
    {"ld", at_ptx_decode_load},
    {"ldu", at_ptx_decode_load},
    {"st", at_ptx_decode_store},
    {"atom", at_ptx_decode_atomic},
    {"red", at_ptx_decode_atomic},
    {"prefetch", at_ptx_decode_prefetch},
    {"prefetchu", at_ptx_decode_prefetch},
    {"applypriority", at_ptx_decode_prefetch},
    {"discard", at_ptx_decode_prefetch},
    {"cp", at_ptx_decode_copy},
    {"bra", at_ptx_decode_branch},
    {"brx", at_ptx_decode_switch},
    {"call", at_ptx_decode_call},
    {"ret", at_ptx_decode_return},
    {"exit", at_ptx_decode_exit},
    {"trap", at_ptx_decode_trap},
    {"bar", at_ptx_decode_barrier},
    {"barrier", at_ptx_decode_barrier},
    {"membar", at_ptx_decode_fence},
    {"fence", at_ptx_decode_fence},
    {"mbarrier", at_ptx_decode_mbarrier},
};

static bool read_guard(struct at_ptx_reader *reader, struct at_emu_op *op)
{
    return !at_ptx_take(reader, "@") ||
           at_ptx_read_predicate(reader, true, &op->guard, &op->guard_flip);
}

bool at_ptx_decode(struct at_ptx_reader *reader, struct at_emu_op *op)
{
    struct at_ptx_opcode opcode;

    if (!read_guard(reader, op) || !split(reader, &opcode))
        return false;
    for (size_t i = 0; i < AT_COUNT(decoders); i++)
        if (strcmp(opcode.part[0], decoders[i].name) == 0) {
            at_ptx_next(reader);
            return decoders[i].decode(reader, op, &opcode);
        }
    at_ptx_next(reader);
    if (!at_emu_row_find(opcode.text))
        return at_ptx_decode_float(reader, op, &opcode);
    return at_ptx_decode_row(reader, op, opcode.text);
}
