/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations end with their pair of braces or function: hidden names are visible again, and
 * memory and rows may be reused. A register has no value where its scope begins (PTX ISA,
 * "Variables"), so it may have the row of an earlier one. */
#include "base/memory.h"
#include "ptx/reader.h"

#include <stdlib.h>

static int kind_of(int bytes)
{
    return bytes == AT_EMU_PREDICATE ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

bool at_ptx_take_free_row(struct at_ptx_reader *reader, int bytes, uint32_t *row)
{
    int kind = kind_of(bytes);

    if (reader->free_row_count[kind] == 0)
        return false;
    *row = reader->free_rows[kind][--reader->free_row_count[kind]];
    return true;
}

struct at_ptx_scope at_ptx_scope_now(const struct at_ptx_reader *reader)
{
    return (struct at_ptx_scope){reader->register_count, reader->variable_count, reader->local,
                                 reader->frame};
}

void at_ptx_close_to(struct at_ptx_reader *reader, struct at_ptx_scope scope)
{
    while (reader->register_count > scope.registers) {
        struct at_ptx_registers *ended = &reader->registers[--reader->register_count];
        int kind = kind_of(ended->bytes);

        for (uint32_t i = 0; i < ended->count; i++)
            if (ended->rows[i])
                AT_PUSH(reader->free_rows[kind], reader->free_row_count[kind],
                        reader->free_row_capacity[kind], ended->rows[i]);
        reader->register_total -= ended->count;
        free(ended->rows);
    }
    reader->variable_count = scope.variables;
    reader->local = scope.local;
    reader->frame = scope.frame;
}

void at_ptx_open_scope(struct at_ptx_reader *reader)
{
    struct at_ptx_scope now = at_ptx_scope_now(reader);

    AT_PUSH(reader->scopes, reader->scope_count, reader->scope_capacity, now);
}

void at_ptx_close_scope(struct at_ptx_reader *reader)
{
    at_ptx_close_to(reader, reader->scopes[--reader->scope_count]);
}
