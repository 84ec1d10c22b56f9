/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/printable.h"
#include "ptx/reader.h"

#include <stdlib.h>
#include <string.h>

/* .func {(result)} name {(parameters)} {directives} { body } or ; */
static bool note_function(struct at_ptx_reader *reader)
{
    struct at_ptx_function function = {{0}, {{0}, {0}}, false};

    at_ptx_next(reader);
    function.text = (struct at_ptx_text){reader->lexer, reader->token};
    if (!at_ptx_skip_parentheses(reader) || !at_ptx_expect_name(reader, &function.name))
        return false;
    while (!at_ptx_at(reader, "{")) {
        if (at_ptx_take(reader, ";")) /* a declaration */
            return true;
        if (reader->token.kind == AT_PTX_END || reader->token.kind == AT_PTX_BAD)
            return at_ptx_unexpected(reader, "a function");
        at_ptx_next(reader);
    }
    if (reader->function_count == AT_PTX_DECLARATIONS_MAX)
        return at_ptx_fail(reader, "more than %d functions", AT_PTX_DECLARATIONS_MAX);
    AT_PUSH(reader->functions, reader->function_count, reader->function_capacity, function);
    return at_ptx_skip_braces(reader);
}

/* Kernels are read last, because a function may be defined behind the kernel that calls it. */
static bool note_entry(struct at_ptx_reader *reader)
{
    struct at_ptx_text entry = {reader->lexer, reader->token};
    struct at_ptx_name name;

    at_ptx_next(reader);
    if (!at_ptx_expect_name(reader, &name) || !at_ptx_skip_parentheses(reader))
        return false;
    AT_PUSH(reader->entries, reader->entry_count, reader->entry_capacity, entry);
    while (!at_ptx_at(reader, "{")) {
        if (at_ptx_take(reader, ";"))
            return true;
        if (reader->token.kind == AT_PTX_END || reader->token.kind == AT_PTX_BAD)
            return at_ptx_unexpected(reader, "a kernel");
        at_ptx_next(reader);
    }
    return at_ptx_skip_braces(reader);
}

static bool read_entries(struct at_ptx_reader *reader)
{
    for (size_t i = 0; i < reader->entry_count; i++) {
        reader->lexer = reader->entries[i].lexer;
        reader->token = reader->entries[i].token;
        if (!at_ptx_read_kernel(reader))
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

/* .version and .target: a newer version shows by instructions that are unknown. */
static bool skip_line_directive(struct at_ptx_reader *reader)
{
    at_ptx_skip_line(reader);
    return true;
}

static const struct {
    const char *name;
    bool (*read)(struct at_ptx_reader *reader);
} module_directives[] = {
    {".version", skip_line_directive},
    {".target", skip_line_directive},
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

    while (at_ptx_at(reader, ".visible") || at_ptx_at(reader, ".extern") ||
           at_ptx_at(reader, ".weak") || at_ptx_at(reader, ".common")) {
        is_extern |= at_ptx_at(reader, ".extern");
        at_ptx_next(reader);
    }
    for (size_t i = 0; i < AT_COUNT(module_directives); i++)
        if (at_ptx_at(reader, module_directives[i].name))
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
    at_ptx_forget_kernel(reader);
    for (size_t i = 0; i < AT_COUNT(reader->free_rows); i++)
        free(reader->free_rows[i]);
    free(reader->source_files);
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
