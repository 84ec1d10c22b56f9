/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of variables and parameters (PTX ISA, "State Spaces, Types, and Variables"). */
#include "emulated/ptx/reader.h"

/* Initial values of variables (PTX ISA, "Initializers"): numbers, lists of them, and addresses of
 * other variables. */

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
                       AT_PTX_SHOWN(name));
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
static bool read_initial(struct at_ptx_reader *reader, struct at_emu_variable *variable,
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

enum { ALIGN_MAX = 1024 };

static bool expect_align(struct at_ptx_reader *reader, uint32_t *align)
{
    uint64_t value;

    at_ptx_next(reader);
    if (reader->token.kind == AT_PTX_INTEGER && (reader->token.value & (reader->token.value - 1)))
        return at_ptx_fail(reader, "the alignment is not a power of 2");
    if (!at_ptx_expect_integer(reader, ALIGN_MAX, &value))
        return false;
    *align = value ? (uint32_t)value : 1;
    return true;
}

/* Read the dimensions of an array; a scalar has none. A dimension without a number is 0. */
static bool read_dimensions(struct at_ptx_reader *reader, uint32_t *bytes, uint32_t max)
{
    uint64_t count, total = *bytes;

    while (at_ptx_take(reader, "[")) {
        count = 0;
        if (!at_ptx_at(reader, "]") && !at_ptx_expect_integer(reader, UINT32_MAX, &count))
            return false;
        if (!at_ptx_expect(reader, "]"))
            return false;
        total *= count;
        if (total > max)
            return at_ptx_fail(reader, "the array has more than %u bytes", max);
    }
    *bytes = (uint32_t)total;
    return true;
}

static uint32_t space_max(enum at_emu_space space)
{
    switch (space) {
    case AT_EMU_SHARED:
        return AT_EMU_SHARED_MAX;
    case AT_EMU_LOCAL:
        return AT_EMU_LOCAL_MAX;
    case AT_EMU_FRAME:
        return AT_PTX_FRAME_MAX;
    default:
        return INT32_MAX;
    }
}

/* Read the alignment and the type, with its vector length. */
static bool read_type(struct at_ptx_reader *reader, struct at_ptx_variable *variable)
{
    uint32_t align = 0;
    int bytes, lanes = 1;

    if (at_ptx_at(reader, ".attribute")) /* .managed: memory of the host too */
        while (!at_ptx_take(reader, ")") && reader->token.kind != AT_PTX_END)
            at_ptx_next(reader);
    if (at_ptx_at(reader, ".align") && !expect_align(reader, &align))
        return false;
    if (at_ptx_at(reader, ".texref") || at_ptx_at(reader, ".surfref") ||
        at_ptx_at(reader, ".samplerref"))
        return at_ptx_fail(reader, "%s", at_ptx_refused("tex.", 4));
    if (at_ptx_take(reader, ".v2"))
        lanes = 2;
    else if (at_ptx_take(reader, ".v4"))
        lanes = 4;
    if (!at_ptx_expect_type(reader, &bytes))
        return false;
    if (bytes == 0)
        return at_ptx_fail(reader, "a predicate cannot be in memory");
    variable->bytes = (uint32_t)(bytes * lanes);
    variable->align = align ? align : variable->bytes;
    return true;
}

static enum at_emu_space space_of(const struct at_ptx_reader *reader)
{
    static const struct {
        const char *name;
        enum at_emu_space space;
    } spaces[] = {
        {".shared", AT_EMU_SHARED},
        {".local", AT_EMU_LOCAL},
        {".param", AT_EMU_FRAME},
        {".const", AT_EMU_CONST},
    };

    int i = AT_PTX_INDEX_OF(spaces, reader->token.text, reader->token.size);

    return i < 0 ? AT_EMU_GLOBAL : spaces[i].space;
}

/* Add a variable outside of kernels. In global and constant memory it is one of the image, with its
 * initial values. */
static bool declare_global(struct at_ptx_reader *reader, struct at_ptx_variable *variable,
                           uint32_t element_bytes)
{
    struct at_emu_image *image = &reader->module->image;
    struct at_emu_variable made = {.bytes = variable->bytes,
                                   .constant = variable->space == AT_EMU_CONST};

    if (variable->space != AT_EMU_GLOBAL && variable->space != AT_EMU_CONST) {
        AT_PUSH(reader->globals, reader->global_count, reader->global_capacity, *variable);
        return true;
    }
    variable->number = (uint32_t)image->count;
    AT_PUSH(reader->globals, reader->global_count, reader->global_capacity, *variable);
    AT_PUSH(image->variables, image->count, image->capacity, made);
    return !at_ptx_at(reader, "=") ||
           read_initial(reader, &image->variables[variable->number], (int)element_bytes);
}

bool at_ptx_declare_variable(struct at_ptx_reader *reader, bool is_extern)
{
    struct at_ptx_variable variable = {.space = space_of(reader), .is_extern = is_extern};
    uint32_t scalar;

    at_ptx_next(reader);
    if (!read_type(reader, &variable))
        return false;
    scalar = variable.bytes;
    do {
        variable.bytes = scalar;
        if (reader->global_count == AT_PTX_DECLARATIONS_MAX)
            return at_ptx_fail(reader, "more than %d variables", AT_PTX_DECLARATIONS_MAX);
        if (!at_ptx_expect_name(reader, &variable.name) ||
            !read_dimensions(reader, &variable.bytes, space_max(variable.space)))
            return false;
        variable.dynamic = is_extern && variable.space == AT_EMU_SHARED;
        if (!(reader->kernel ? at_ptx_place_variable(reader, &variable)
                             : declare_global(reader, &variable, scalar)))
            return false;
    } while (at_ptx_take(reader, ","));
    return at_ptx_expect(reader, ";");
}

/* ".param .u64 .ptr .global .align 1 name": the space of a pointer does not matter. */
bool at_ptx_read_param(struct at_ptx_reader *reader, struct at_ptx_variable *variable)
{
    uint32_t align;

    *variable = (struct at_ptx_variable){0};
    if (!at_ptx_expect(reader, ".param") || !read_type(reader, variable))
        return false;
    if (at_ptx_take(reader, ".ptr")) {
        if (at_ptx_at(reader, ".global") || at_ptx_at(reader, ".shared") ||
            at_ptx_at(reader, ".const") || at_ptx_at(reader, ".local"))
            at_ptx_next(reader);
        if (at_ptx_at(reader, ".align") && !expect_align(reader, &align))
            return false;
    }
    return at_ptx_expect_name(reader, &variable->name) &&
           read_dimensions(reader, &variable->bytes, AT_EMU_PARAM_BYTES_MAX);
}

static bool declare_param(struct at_ptx_reader *reader)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    struct at_ptx_variable variable;
    struct at_emu_param param;

    if (!at_ptx_read_param(reader, &variable))
        return false;
    param.bytes = variable.bytes;
    param.offset = (kernel->param_bytes + variable.align - 1) / variable.align * variable.align;
    if (kernel->param_count == AT_EMU_PARAMS_MAX ||
        param.offset + param.bytes > AT_EMU_PARAM_BYTES_MAX)
        return at_ptx_fail(reader, "more than %d parameters or %d bytes of them", AT_EMU_PARAMS_MAX,
                           AT_EMU_PARAM_BYTES_MAX);
    param.name = at_strndup(variable.name.text, variable.name.size);
    kernel->param_bytes = param.offset + param.bytes;
    AT_PUSH(kernel->params, kernel->param_count, kernel->param_capacity, param);
    return true;
}

bool at_ptx_declare_params(struct at_ptx_reader *reader)
{
    if (!at_ptx_take(reader, "("))
        return true;
    if (at_ptx_take(reader, ")"))
        return true;
    do {
        if (!declare_param(reader))
            return false;
    } while (at_ptx_take(reader, ","));
    return at_ptx_expect(reader, ")");
}
