/* SPDX-License-Identifier: Apache-2.0 */
/* Initial values of variables (PTX ISA, "Initializers"): numbers, lists of them, and addresses of
 * other variables. */
#include "base/memory.h"
#include "ptx/reader.h"

#include <string.h>

struct initial {
    struct at_ptx_reader *reader;
    struct at_emu_variable *variable;
    uint32_t element_bytes;
    uint32_t at; /* of the next element */
};

static bool read_offset(struct at_ptx_reader *reader, int64_t *offset)
{
    return !(at_ptx_take(reader, "+") || at_ptx_at(reader, "-")) ||
           at_ptx_read_integer(reader, offset);
}

/* "name", "name+8" or "generic(name)+8": a global address is a generic one too. */
static bool read_address(struct initial *initial)
{
    struct at_ptx_reader *reader = initial->reader;
    struct at_emu_variable *variable = initial->variable;
    bool generic = at_ptx_take(reader, "generic") && at_ptx_expect(reader, "(");
    struct at_emu_pointer pointer = {.at = initial->at};
    struct at_ptx_name name;

    if (!at_ptx_expect_name(reader, &name))
        return false;
    if (initial->element_bytes != 8)
        return at_ptx_fail(reader, "an address in a variable of another size than 64 bits");
    for (size_t i = 0; i < reader->global_count; i++) {
        const struct at_ptx_variable *known = &reader->globals[i];

        if (!at_ptx_same(&known->name, &name) ||
            (known->space != AT_EMU_GLOBAL && known->space != AT_EMU_CONST))
            continue;
        pointer.variable = known->number;
        if ((generic && !at_ptx_expect(reader, ")")) || !read_offset(reader, &pointer.offset))
            return false;
        AT_PUSH(variable->pointers, variable->pointer_count, variable->pointer_capacity, pointer);
        return true;
    }
    return at_ptx_fail(reader,
                       "the address of \"%.*s\" as an initial value: only variables before it may "
                       "be there, no functions (function pointers, virtual functions)",
                       name.size < 64 ? (int)name.size : 64, name.text);
}

static bool read_number(struct initial *initial)
{
    struct at_ptx_reader *reader = initial->reader;
    int64_t value;

    if (reader->token.kind == AT_PTX_F32 || reader->token.kind == AT_PTX_F64) {
        value = (int64_t)reader->token.value;
        at_ptx_next(reader);
    } else if (!at_ptx_read_integer(reader, &value)) {
        return false;
    }
    memcpy(initial->variable->initial + initial->at, &value, initial->element_bytes);
    return true;
}

static bool read_element(struct initial *initial)
{
    if (initial->at + initial->element_bytes > initial->variable->bytes)
        return at_ptx_fail(initial->reader, "more initial values than elements");
    if (!(initial->reader->token.kind == AT_PTX_WORD ? read_address(initial)
                                                     : read_number(initial)))
        return false;
    initial->at += initial->element_bytes;
    return true;
}

/* Lists may be nested; compilers fill each row of an array. */
bool at_ptx_read_initial(struct at_ptx_reader *reader, struct at_emu_variable *variable,
                         int element_bytes)
{
    struct initial initial = {reader, variable, (uint32_t)element_bytes, 0};
    uint32_t depth = 0;

    at_ptx_next(reader);
    variable->initial = at_alloc(variable->bytes);
    do {
        if (at_ptx_take(reader, "{"))
            depth++;
        else if (depth > 0 && at_ptx_take(reader, "}"))
            depth--;
        else if (!(depth > 0 && at_ptx_take(reader, ",")) && !read_element(&initial))
            return false;
    } while (depth > 0);
    return true;
}
