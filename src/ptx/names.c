/* SPDX-License-Identifier: Apache-2.0 */
/* The names in a kernel's text: registers, constants, variables and labels. */
#include "base/memory.h"
#include "ptx/reader.h"

#include <stdlib.h>
#include <string.h>

enum { CONSTANTS_LOOKED_AT = 256 };

static bool new_row(struct at_ptx_reader *reader, int bytes, uint32_t *row)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    uint32_t size = bytes == AT_EMU_PREDICATE ? AT_EMU_ROW_ALIGN : (uint32_t)bytes * AT_WARP;

    if (kernel->file_bytes + size > AT_EMU_FILE_MAX)
        return at_ptx_fail(reader, "the registers need more than %d bytes per warp",
                           AT_EMU_FILE_MAX);
    *row = kernel->file_bytes;
    kernel->file_bytes += size;
    return true;
}

/* Get the number at the end of a register's name; 0 if it has none. False if the name is not
 * declared here. PTX writes numbers without leading zeros. */
static bool register_number(const struct at_ptx_registers *registers,
                            const struct at_ptx_name *name, uint32_t *number)
{
    size_t prefix = registers->name.size;
    uint64_t value = 0;

    if (!registers->numbered) {
        *number = 0;
        return at_ptx_same(&registers->name, name);
    }
    if (name->size <= prefix || name->size > prefix + 7 ||
        memcmp(name->text, registers->name.text, prefix) != 0)
        return false;
    if (name->text[prefix] == '0' && name->size > prefix + 1)
        return false;
    for (size_t i = prefix; i < name->size; i++) {
        if (name->text[i] < '0' || name->text[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(name->text[i] - '0');
    }
    *number = (uint32_t)value;
    return value < registers->count;
}

bool at_ptx_find_register(struct at_ptx_reader *reader, const struct at_ptx_name *name, int *bytes,
                          uint32_t *row, bool *found)
{
    uint32_t number;

    *found = false;
    /* The latest declaration first: inner braces hide names of outer ones. */
    for (size_t i = reader->register_count; i-- > 0;) {
        struct at_ptx_registers *registers = &reader->registers[i];

        if (!register_number(registers, name, &number))
            continue;
        if (registers->rows[number] == 0 &&
            !new_row(reader, registers->bytes, &registers->rows[number]))
            return false;
        *bytes = registers->bytes;
        *row = registers->rows[number];
        *found = true;
        return true;
    }
    return true;
}

static bool preset_row(struct at_ptx_reader *reader, struct at_emu_preset preset, uint32_t *row)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    size_t seen = 0;

    /* Most constants are used again soon. One that is not found costs another row. */
    for (size_t i = kernel->preset_count; i-- > 0 && seen++ < CONSTANTS_LOOKED_AT;) {
        const struct at_emu_preset *known = &kernel->presets[i];

        if (known->kind == preset.kind && known->bytes == preset.bytes &&
            known->value == preset.value) {
            *row = known->row;
            return true;
        }
    }
    if (!new_row(reader, preset.bytes, &preset.row))
        return false;
    AT_PUSH(kernel->presets, kernel->preset_count, kernel->preset_capacity, preset);
    *row = preset.row;
    return true;
}

bool at_ptx_constant_row(struct at_ptx_reader *reader, int bytes, uint64_t value, uint32_t *row)
{
    if (bytes > 0 && bytes < 8)
        value &= (UINT64_C(1) << 8 * bytes) - 1;
    return preset_row(reader, (struct at_emu_preset){0, AT_EMU_CONSTANT, (uint8_t)bytes, value},
                      row);
}

bool at_ptx_dynamic_row(struct at_ptx_reader *reader, int bytes, int64_t offset, uint32_t *row)
{
    return preset_row(
        reader, (struct at_emu_preset){0, AT_EMU_DYNAMIC_SHARED, (uint8_t)bytes, (uint64_t)offset},
        row);
}

/* PTX ISA, "Special Registers". All have 32 bits. */
static const struct {
    const char *name;
    enum at_emu_preset_kind kind;
} specials[] = {
    {"%tid.x", AT_EMU_TID},
    {"%tid.y", AT_EMU_TID + 1},
    {"%tid.z", AT_EMU_TID + 2},
    {"%ntid.x", AT_EMU_NTID},
    {"%ntid.y", AT_EMU_NTID + 1},
    {"%ntid.z", AT_EMU_NTID + 2},
    {"%ctaid.x", AT_EMU_CTAID},
    {"%ctaid.y", AT_EMU_CTAID + 1},
    {"%ctaid.z", AT_EMU_CTAID + 2},
    {"%nctaid.x", AT_EMU_NCTAID},
    {"%nctaid.y", AT_EMU_NCTAID + 1},
    {"%nctaid.z", AT_EMU_NCTAID + 2},
    {"%laneid", AT_EMU_LANEID},
    {"%warpid", AT_EMU_WARPID},
    {"%nwarpid", AT_EMU_NWARPID},
    {"%lanemask_eq", AT_EMU_LANEMASK_EQ},
    {"%lanemask_lt", AT_EMU_LANEMASK_LT},
    {"%lanemask_le", AT_EMU_LANEMASK_LE},
    {"%lanemask_gt", AT_EMU_LANEMASK_GT},
    {"%lanemask_ge", AT_EMU_LANEMASK_GE},
};

bool at_ptx_special_row(struct at_ptx_reader *reader, const struct at_ptx_name *name, int bytes,
                        uint32_t *row, bool *found)
{
    *found = false;
    for (size_t i = 0; i < AT_COUNT(specials); i++) {
        const struct at_ptx_name special = {specials[i].name, strlen(specials[i].name)};

        if (!at_ptx_same(&special, name))
            continue;
        if (bytes != 4)
            return at_ptx_fail(reader, "%s has 32 bits", specials[i].name);
        *found = true;
        return preset_row(
            reader, (struct at_emu_preset){0, (uint8_t)specials[i].kind, (uint8_t)bytes, 0}, row);
    }
    return true;
}

bool at_ptx_place_variable(struct at_ptx_reader *reader, const struct at_ptx_variable *variable)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    struct at_ptx_variable placed = *variable;
    bool local = variable->space == AT_EMU_LOCAL;
    uint32_t *end = local ? &kernel->local_bytes : &kernel->shared_bytes;
    uint32_t max = local ? AT_EMU_LOCAL_MAX : AT_EMU_SHARED_MAX;

    if (variable->space == AT_EMU_GLOBAL)
        return at_ptx_fail(reader, "variables in global memory are not supported");
    if (reader->variable_count == AT_PTX_DECLARATIONS_MAX)
        return at_ptx_fail(reader, "more than %d variables", AT_PTX_DECLARATIONS_MAX);
    if (variable->dynamic) {
        if (kernel->dynamic_align < variable->align)
            kernel->dynamic_align = variable->align;
    } else {
        placed.offset = (*end + variable->align - 1) / variable->align * variable->align;
        if (placed.bytes > max || placed.offset > max - placed.bytes)
            return at_ptx_fail(reader, "more than %u bytes of %s memory", max,
                               local ? "local" : "shared");
        *end = placed.offset + placed.bytes;
    }
    AT_PUSH(reader->variables, reader->variable_count, reader->variable_capacity, placed);
    return true;
}

const struct at_ptx_variable *at_ptx_find_variable(struct at_ptx_reader *reader,
                                                   const struct at_ptx_name *name)
{
    for (size_t i = reader->variable_count; i-- > 0;)
        if (at_ptx_same(&reader->variables[i].name, name))
            return &reader->variables[i];
    for (size_t i = 0; i < reader->global_count; i++)
        if (at_ptx_same(&reader->globals[i].name, name)) {
            if (!at_ptx_place_variable(reader, &reader->globals[i]))
                return NULL;
            return &reader->variables[reader->variable_count - 1];
        }
    at_ptx_fail(reader, "\"%.*s\" is not a known register or variable",
                name->size < 64 ? (int)name->size : 64, name->text);
    return NULL;
}

static int compare_labels(const void *a, const void *b)
{
    const struct at_ptx_name *x = &((const struct at_ptx_label *)a)->name;
    const struct at_ptx_name *y = &((const struct at_ptx_label *)b)->name;
    int order = memcmp(x->text, y->text, x->size < y->size ? x->size : y->size);

    return order ? order : (x->size > y->size) - (x->size < y->size);
}

bool at_ptx_resolve_jumps(struct at_ptx_reader *reader)
{
    struct at_ptx_label *labels = reader->labels;

    if (reader->label_count)
        qsort(labels, reader->label_count, sizeof *labels, compare_labels);
    for (size_t i = 1; i < reader->label_count; i++)
        if (compare_labels(&labels[i - 1], &labels[i]) == 0) {
            reader->token.line = labels[i].line;
            return at_ptx_fail(reader, "this label is defined twice");
        }
    for (size_t i = 0; i < reader->jump_count; i++) {
        const struct at_ptx_label *jump = &reader->jumps[i], *label = NULL;

        if (reader->label_count)
            label = bsearch(jump, labels, reader->label_count, sizeof *labels, compare_labels);
        if (!label) {
            reader->token.line = jump->line;
            return at_ptx_fail(reader, "there is no label \"%.*s\"",
                               jump->name.size < 64 ? (int)jump->name.size : 64, jump->name.text);
        }
        reader->kernel->ops[jump->op].target = (uint32_t)label->op;
    }
    return true;
}
