/* SPDX-License-Identifier: Apache-2.0 */
/* The module and its kernels, and questions about a module that has been read. */
#include "base/error.h"
#include "base/memory.h"
#include "emulated/ptx/reader.h"

#include <stdlib.h>

/* A kernel: its directives, labels and instructions. */

/* Threads per block: .maxntid and .reqntid X, Y, Z; Y and Z are optional. */
static bool read_block_size(struct at_ptx_reader *reader, uint32_t dimensions[3])
{
    uint64_t value;

    at_ptx_next(reader);
    for (int i = 0; i < 3; i++)
        dimensions[i] = 1;
    for (int i = 0; i < 3; i++) {
        if (!at_ptx_expect_integer(reader, 1 << 20, &value))
            return false;
        dimensions[i] = (uint32_t)value;
        if (!at_ptx_take(reader, ","))
            return true;
    }
    return at_ptx_unexpected(reader, "the end of the dimensions");
}

static bool read_performance(struct at_ptx_reader *reader)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    uint32_t dimensions[3];
    uint64_t ignored;

    while (!at_ptx_at(reader, "{")) {
        if (at_ptx_at(reader, ".maxntid")) {
            if (!read_block_size(reader, dimensions))
                return false;
            kernel->max_threads = (uint64_t)dimensions[0] * dimensions[1] * dimensions[2];
        } else if (at_ptx_at(reader, ".reqntid")) {
            if (!read_block_size(reader, kernel->required))
                return false;
        } else if (at_ptx_at(reader, ".minnctapersm") || at_ptx_at(reader, ".maxnreg")) {
            at_ptx_next(reader);
            if (!at_ptx_expect_integer(reader, UINT32_MAX, &ignored))
                return false;
        } else if (at_ptx_at(reader, ".pragma")) {
            if (!at_ptx_skip_statement(reader))
                return false;
        } else {
            return at_ptx_unexpected(reader, "a directive of the kernel or its body");
        }
    }
    return true;
}

/* A thread ends at the end of the kernel's text. */
static void add_end(struct at_ptx_reader *reader)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    size_t count = kernel->op_count;
    const struct at_emu_op end = {
        .flow = AT_EMU_EXIT, .guard = AT_EMU_TRUE_ROW, .line = reader->token.line, .text = "}"};

    AT_PUSH(kernel->ops, count, kernel->op_capacity, end);
}

/* Each recursive call has local memory of its own. */
static void make_stack(struct at_ptx_kernel *kernel)
{
    uint32_t step = (kernel->local_bytes + 15) / 16 * 16, most;

    if (kernel->call_count == 0)
        return;
    most = step ? AT_EMU_STACK_MAX / step : AT_EMU_DEPTH_MAX;
    kernel->depth_max = most < AT_EMU_DEPTH_MAX ? most : AT_EMU_DEPTH_MAX;
    kernel->local_step = step;
    kernel->local_bytes = step * (kernel->depth_max + 1);
}

static void forget_kernel(struct at_ptx_reader *reader)
{
    at_ptx_close_to(reader, (struct at_ptx_scope){0});
    reader->base = (struct at_ptx_scope){0};
    reader->label_count = reader->jump_count = reader->table_count = 0;
    reader->table_entry_count = reader->scope_count = reader->static_count = 0;
    reader->inlined_count = 0;
    for (size_t i = 0; i < AT_COUNT(reader->free_rows); i++)
        reader->free_row_count[i] = 0;
    for (size_t i = 0; i < reader->global_count; i++)
        reader->globals[i].placed = false;
    for (size_t i = 0; i < reader->function_count; i++)
        reader->functions[i].open = NULL;
    reader->call = (struct at_ptx_call){0};
    reader->call_count = reader->call_depth = 0;
    reader->places = (struct at_emu_places){0};
}

/* The next token is .entry. Forgetting frees what belongs to one kernel only.
 */
static bool read_kernel(struct at_ptx_reader *reader)
{
    struct at_ptx_module *module = reader->module;
    struct at_ptx_kernel *kernel;
    struct at_ptx_name name = {0};

    at_ptx_next(reader);
    if (!at_ptx_expect_name(reader, &name))
        return false;
    kernel = at_alloc(sizeof *kernel);
    kernel->module = module;
    kernel->image = &module->image;
    kernel->name = at_strndup(name.text, name.size);
    kernel->file_bytes = (AT_EMU_FIRST_ROW + AT_EMU_ROW_ALIGN - 1) & ~(AT_EMU_ROW_ALIGN - 1);
    kernel->dynamic_align = 1;
    AT_PUSH(module->kernels, module->kernel_count, module->kernel_capacity, kernel);
    reader->kernel = kernel;
    forget_kernel(reader);
    if (!at_ptx_declare_params(reader))
        return false;
    if (at_ptx_take(reader, ";")) { /* a declaration only */
        kernel->problem = at_strdup("the kernel has no body");
        add_end(reader);
        return true;
    }
    if (!read_performance(reader) || !at_ptx_read_body(reader))
        return false;
    if (!at_ptx_resolve_jumps(reader, &(struct at_ptx_labels){0}) && !kernel->problem)
        kernel->problem = at_strdup(reader->err->message);
    add_end(reader);
    make_stack(kernel);
    return at_ptx_expect(reader, "}");
}

static bool skip_parentheses(struct at_ptx_reader *reader)
{
    if (!at_ptx_take(reader, "("))
        return true;
    while (!at_ptx_take(reader, ")")) {
        if (reader->token.kind == AT_PTX_END || reader->token.kind == AT_PTX_BAD)
            return at_ptx_unexpected(reader, ")");
        at_ptx_next(reader);
    }
    return true;
}

/* Skip up to the body of a kernel or function, and behind it. *body: it has one. */
static bool skip_body(struct at_ptx_reader *reader, const char *what, bool *body)
{
    *body = true;
    while (!at_ptx_at(reader, "{")) {
        if (at_ptx_take(reader, ";")) { /* a declaration */
            *body = false;
            return true;
        }
        if (reader->token.kind == AT_PTX_END || reader->token.kind == AT_PTX_BAD)
            return at_ptx_unexpected(reader, what);
        at_ptx_next(reader);
    }
    return at_ptx_skip_braces(reader);
}

/* .func {(result)} name {(parameters)} {directives} { body } or ; */
static bool note_function(struct at_ptx_reader *reader)
{
    struct at_ptx_function function = {{0}, {{0}, {0}}, NULL};
    bool body;

    at_ptx_next(reader);
    function.text = (struct at_ptx_text){reader->lexer, reader->token};
    if (!skip_parentheses(reader) || !at_ptx_expect_name(reader, &function.name) ||
        !skip_body(reader, "a function", &body))
        return false;
    if (body && reader->function_count == AT_PTX_DECLARATIONS_MAX)
        return at_ptx_fail(reader, "more than %d functions", AT_PTX_DECLARATIONS_MAX);
    if (body)
        AT_PUSH(reader->functions, reader->function_count, reader->function_capacity, function);
    return true;
}

/* Kernels are read last, because a function may be defined behind the kernel that calls it. */
static bool note_entry(struct at_ptx_reader *reader)
{
    const struct at_ptx_text entry = {reader->lexer, reader->token};
    struct at_ptx_name name;
    bool body;

    at_ptx_next(reader);
    if (!at_ptx_expect_name(reader, &name) || !skip_parentheses(reader))
        return false;
    AT_PUSH(reader->entries, reader->entry_count, reader->entry_capacity, entry);
    return skip_body(reader, "a kernel", &body);
}

static bool read_entries(struct at_ptx_reader *reader)
{
    for (size_t i = 0; i < reader->entry_count; i++) {
        reader->lexer = reader->entries[i].lexer;
        reader->token = reader->entries[i].token;
        if (!read_kernel(reader))
            return false;
    }
    return true;
}

static bool read_address_size(struct at_ptx_reader *reader)
{
    uint64_t bits;

    at_ptx_next(reader);
    if (reader->token.kind == AT_PTX_INTEGER && reader->token.value != 64)
        return at_ptx_fail(reader, "addresses must have 64 bits");
    return at_ptx_expect_integer(reader, 64, &bits);
}

static const struct {
    const char *name;
    bool (*read)(struct at_ptx_reader *reader);
} module_directives[] = {
    /* A newer version shows by instructions that are unknown. */
    {".version", at_ptx_skip_line},
    {".target", at_ptx_skip_line},
    {".address_size", read_address_size},
    {".entry", note_entry},
    {".func", note_function},
    {".file", at_ptx_read_source_file},
    {".section", at_ptx_skip_section},
    {".pragma", at_ptx_skip_statement},
    {".loc", at_ptx_read_location},
};

static bool read_directive(struct at_ptx_reader *reader)
{
    bool is_extern = false;
    int i;

    while (at_ptx_at(reader, ".visible") || at_ptx_at(reader, ".extern") ||
           at_ptx_at(reader, ".weak") || at_ptx_at(reader, ".common")) {
        is_extern |= at_ptx_at(reader, ".extern");
        at_ptx_next(reader);
    }
    i = AT_PTX_INDEX_OF(module_directives, reader->token.text, reader->token.size);
    if (i >= 0)
        return module_directives[i].read(reader);
    if (at_ptx_at(reader, ".shared") || at_ptx_at(reader, ".global") || at_ptx_at(reader, ".const"))
        return at_ptx_declare_variable(reader, is_extern);
    return at_ptx_unexpected(reader, "a known directive");
}

/* The text of a string: NVRTC writes other characters than printable ASCII as \ooo. */
static char *unquote(const char *text, size_t size)
{
    char *plain = at_alloc(size + 1), *to = plain;

    for (size_t i = 0; i < size; i++) {
        int digits = 0, value = 0;

        while (text[i] == '\\' && digits < 3 && i + 1 + (size_t)digits < size &&
               text[i + 1 + (size_t)digits] >= '0' && text[i + 1 + (size_t)digits] <= '7')
            value = 8 * value + text[i + 1 + (size_t)digits++] - '0';
        if (digits > 0)
            *to = (char)value;
        else if (text[i] == '\\' && i + 1 < size)
            *to = text[++i];
        else
            *to = text[i];
        i += (size_t)digits;
        to++;
    }
    at_text_make_printable(plain); /* #line can give a file any name */
    return plain;
}

static void keep_source_files(struct at_ptx_reader *reader)
{
    struct at_ptx_module *module = reader->module;

    for (size_t i = 0; i < reader->source_file_count; i++)
        if ((size_t)reader->source_files[i].number >= module->source_file_count)
            module->source_file_count = (size_t)reader->source_files[i].number + 1;
    module->source_files = at_alloc_array(module->source_file_count, sizeof(char *));
    for (size_t i = 0; i < reader->source_file_count; i++) {
        char **file = &module->source_files[reader->source_files[i].number];

        free(*file);
        *file = unquote(reader->source_files[i].name.text, reader->source_files[i].name.size);
    }
}

/* The last steps, which need the whole text: end the text of each instruction, and name the source
 * files. */
static void finish(struct at_ptx_reader *reader)
{
    struct at_ptx_module *module = reader->module;

    keep_source_files(reader);
    for (size_t k = 0; k < module->kernel_count; k++) {
        struct at_ptx_kernel *kernel = module->kernels[k];

        kernel->source_files = (const char *const *)module->source_files;
        kernel->source_file_count = module->source_file_count;
        for (size_t i = 0; i < kernel->op_count; i++)
            module->text[kernel->ops[i].text + kernel->ops[i].text_bytes - module->text] = '\0';
    }
}

static void free_reader(struct at_ptx_reader *reader)
{
    forget_kernel(reader);
    for (size_t i = 0; i < AT_COUNT(reader->free_rows); i++)
        free(reader->free_rows[i]);
    free(reader->source_files);
    free(reader->inlined);
    free(reader->globals);
    free(reader->functions);
    free(reader->entries);
    free(reader->registers);
    free(reader->variables);
    free(reader->statics);
    free(reader->labels);
    free(reader->jumps);
    free(reader->tables);
    free(reader->table_entries);
    free(reader->scopes);
}

static uint64_t next_image(void)
{
    static uint64_t count;

    return __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

enum at_status at_ptx_read(struct at_ptx_module **module, const char *text, size_t size,
                           struct at_error *err)
{
    struct at_error own = {AT_OK, ""};
    struct at_ptx_reader reader = {.module = at_alloc(sizeof **module), .err = err ? err : &own};
    bool good = true;

    if (size > AT_PTX_TEXT_MAX) {
        at_ptx_free(reader.module);
        return at_fail(err, AT_USAGE, "the PTX has more than %d bytes", AT_PTX_TEXT_MAX);
    }
    /* NVRTC counts the NUL at the end. */
    while (size > 0 && text[size - 1] == '\0')
        size--;
    reader.module->image.number = next_image();
    reader.module->text = at_alloc(size + 1);
    if (size)
        memcpy(reader.module->text, text, size);
    reader.lexer = (struct at_ptx_lexer){reader.module->text, reader.module->text + size, 1};
    at_ptx_next(&reader);
    while (good && reader.token.kind != AT_PTX_END)
        good = read_directive(&reader);
    good = good && read_entries(&reader);
    if (good)
        finish(&reader);
    free_reader(&reader);
    if (!good) {
        at_ptx_free(reader.module);
        return AT_USAGE;
    }
    *module = reader.module;
    return AT_OK;
}

/* Questions about a module that has been read. */

static void free_kernel(struct at_ptx_kernel *kernel)
{
    for (size_t i = 0; i < kernel->param_count; i++)
        free(kernel->params[i].name);
    free(kernel->params);
    free(kernel->presets);
    free(kernel->targets);
    free(kernel->calls);
    free(kernel->row_bytes);
    free(kernel->arrays);
    free(kernel->ops);
    free(kernel->problem);
    free(kernel->name);
    free(kernel);
}

void at_ptx_free(struct at_ptx_module *module)
{
    if (!module)
        return;
    for (size_t i = 0; i < module->kernel_count; i++)
        free_kernel(module->kernels[i]);
    for (size_t i = 0; i < module->source_file_count; i++)
        free(module->source_files[i]);
    for (size_t i = 0; i < module->image.count; i++) {
        free(module->image.variables[i].initial);
        free(module->image.variables[i].pointers);
    }
    free(module->image.variables);
    free(module->kernels);
    free(module->source_files);
    free(module->text);
    free(module);
}

static struct at_ptx_source source_of(const struct at_ptx_module *module, int file, int line)
{
    const char *name = (size_t)file < module->source_file_count ? module->source_files[file] : NULL;

    return (struct at_ptx_source){name ? name : "", line};
}

/* Why a kernel cannot run, and where it says so: in the source, if the compiler told. */
static enum at_status refuse(const struct at_ptx_kernel *kernel, struct at_error *err)
{
    const struct at_emu_places *places = &kernel->problem_places;
    struct at_ptx_source place =
        source_of(kernel->module, places->caller_file, places->caller_line);

    const char *slash = strrchr(place.file, '/');

    if (place.line > 0 && place.file[0])
        return at_fail(err, AT_USAGE, "%s line %d: %s", slash ? slash + 1 : place.file, place.line,
                       kernel->problem);
    return at_fail(err, AT_USAGE, "kernel %s: %s", kernel->name, kernel->problem);
}

enum at_status at_ptx_find(const struct at_ptx_module *module, const char *name,
                           const struct at_ptx_kernel **kernel, struct at_error *err)
{
    for (size_t i = 0; i < module->kernel_count; i++) {
        const struct at_ptx_kernel *found = module->kernels[i];

        if (strcmp(found->name, name) != 0)
            continue;
        if (found->problem)
            return refuse(found, err);
        *kernel = found;
        return AT_OK;
    }
    return at_fail(err, AT_USAGE, "the PTX has no kernel %s", name);
}

void at_ptx_instruction_source(const struct at_ptx_kernel *kernel, size_t index,
                               struct at_ptx_source *here, struct at_ptx_source *caller)
{
    const struct at_emu_places *places = &kernel->ops[index].places;

    *here = source_of(kernel->module, places->file, places->line);
    *caller = source_of(kernel->module, places->caller_file, places->caller_line);
}
