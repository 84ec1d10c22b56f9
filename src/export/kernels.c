/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of an export as source. Kernels of a family mostly differ in the values of macros
 * alone, so the text that they share becomes one macro with these as its parameters:
 *
 *     #define AUTOTUNE_BODY_0(transpose, ELEM_SIZE, LOAD_BYTES) \
 *     using element = word<ELEM_SIZE>; \
 *     ...
 *     namespace autotune_kernel_0_source { AUTOTUNE_BODY_0(autotune_kernel_0, 4, 16) }
 *
 * A macro has no directives in it. Those of templates are few: defaults, #if NAME, #if !NAME, #else
 * and #pragma. A template with others, such as a user's own, is written anew for each kernel. */
#include "export/kernels.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "kernel/render.h"

#include <stdlib.h>
#include <string.h>

/* ---- macros ---- */

/* A macro of a template: a config gives its value, or a default does. */
struct macro {
    char *name, *value;
    bool given;
};

struct macros {
    struct macro *items;
    size_t count, capacity;
};

static void add_macro(struct macros *macros, char *name, char *value, bool given)
{
    struct macro macro = {name, value, given};

    AT_PUSH(macros->items, macros->count, macros->capacity, macro);
}

static const struct macro *find_macro(const struct macros *macros, const char *name, size_t chars)
{
    for (size_t i = 0; i < macros->count; i++)
        if (strlen(macros->items[i].name) == chars &&
            strncmp(macros->items[i].name, name, chars) == 0)
            return &macros->items[i];
    return NULL;
}

static void clear_macros(struct macros *macros)
{
    for (size_t i = 0; i < macros->count; i++) {
        free(macros->items[i].name);
        free(macros->items[i].value);
    }
    free(macros->items);
}

/* Read "-DELEM_SIZE=4 -DTILE_COLS=64". */
static struct macros read_defines(const char *defines)
{
    struct macros macros = {0};

    for (const char *at = defines; *at; at += *at == ' ') {
        size_t name = strcspn(at += 2, "="), value = strcspn(at + name + 1, " ");

        add_macro(&macros, at_strndup(at, name), at_strndup(at + name + 1, value), true);
        at += name + 1 + value;
    }
    return macros;
}

/* ---- from a template's code to a body ---- */

enum { DEPTH_MAX = 16 };

struct reader {
    struct macros *macros;
    const char *next; /* line */
    FILE *out;
    bool skips[DEPTH_MAX]; /* the lines of each #if that is open */
    size_t depth;
};

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* The characters of the name, number, or text in quotes that begins here; 1 of anything else. */
static size_t token_chars(const char *text)
{
    static const char in_names[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    size_t chars = strspn(text, in_names);

    if (*text != '"' && *text != '\'')
        return chars > 0 ? chars : 1;
    chars = 1;
    while (text[chars] && text[chars] != *text && text[chars] != '\n')
        chars += text[chars] == '\\' && text[chars + 1] ? 2 : 1;
    return chars + (text[chars] == *text);
}

/* Write code with the values of defaults in place of their names. */
static void write_tokens(const struct macros *macros, const char *text, size_t size, FILE *out)
{
    for (const char *end = text + size; text < end;) {
        size_t chars = token_chars(text);
        const struct macro *macro = find_macro(macros, text, chars);

        if (macro && !macro->given)
            fputs(macro->value, out);
        else
            fwrite(text, 1, chars, out);
        text += chars;
    }
}

/* Is the condition of an #if NAME or #if !NAME true? */
static bool read_condition(const struct macros *macros, const char *text, size_t size, bool *holds)
{
    bool negated = *text == '!';
    const struct macro *macro = find_macro(macros, text + negated, size - negated);

    if (!macro || !macro->value[0] || macro->value[strspn(macro->value, "0123456789")])
        return false;
    *holds = (strtoll(macro->value, NULL, 10) != 0) != negated;
    return true;
}

/* Read "#ifndef NAME", "#define NAME VALUE", "#endif". */
static bool read_default(struct reader *reader, const char *name, size_t chars)
{
    char *begin = at_format("#define %.*s ", (int)chars, name);
    const char *value = reader->next + strlen(begin);
    size_t size = strcspn(value, "\n");
    bool is_default = begins(reader->next, begin) && begins(value + size, "\n#endif\n");

    free(begin);
    if (!is_default)
        return false;
    reader->next = value + size + strlen("\n#endif\n");
    if (!find_macro(reader->macros, name, chars)) {
        struct at_text_stream stream;

        write_tokens(reader->macros, value, size, at_text_open(&stream));
        add_macro(reader->macros, at_strndup(name, chars), at_text_close(&stream, NULL), false);
    }
    return true;
}

static bool is_skipping(const struct reader *reader)
{
    return reader->depth > 0 && reader->skips[reader->depth - 1];
}

/* Within lines that are skipped, all conditions are. */
static bool read_if(struct reader *reader, const char *condition, size_t size)
{
    bool holds = false;

    if (reader->depth == DEPTH_MAX)
        return false;
    if (is_skipping(reader)) {
        reader->skips[reader->depth++] = true;
        return true;
    }
    if (!read_condition(reader->macros, condition, size, &holds))
        return false;
    reader->skips[reader->depth++] = !holds;
    return true;
}

/* Read a directive. False: a macro cannot do without it. */
static bool read_directive(struct reader *reader, const char *line, size_t size)
{
    static const char include[] = "#include \"" AT_TEMPLATE_HEADER "\"", if_[] = "#if ",
                      ifndef[] = "#ifndef ", else_[] = "#else", endif[] = "#endif",
                      pragma[] = "#pragma ";
    bool is_inside = reader->depth > 1 && reader->skips[reader->depth - 2];

    if (begins(line, if_))
        return read_if(reader, line + strlen(if_), size - strlen(if_));
    if (size == strlen(else_) && begins(line, else_) && reader->depth > 0) {
        reader->skips[reader->depth - 1] = is_inside || !is_skipping(reader);
        return true;
    }
    if (size == strlen(endif) && begins(line, endif) && reader->depth > 0) {
        reader->depth--;
        return true;
    }
    if (is_skipping(reader) || begins(line, include))
        return true;
    if (begins(line, ifndef))
        return read_default(reader, line + strlen(ifndef), size - strlen(ifndef));
    if (!begins(line, pragma) || memchr(line, '"', size))
        return false;
    fputs("_Pragma(\"", reader->out);
    fwrite(line + strlen(pragma), 1, size - strlen(pragma), reader->out);
    fputs("\") \\\n", reader->out);
    return true;
}

/* Return a template's code as the lines of a macro; NULL: it has other directives. */
static char *make_body(struct macros *macros, const char *code)
{
    struct at_text_stream stream;
    struct reader reader = {.macros = macros, .next = code, .out = at_text_open(&stream)};
    bool is_possible = true;
    char *body;

    while (is_possible && *reader.next) {
        const char *line = reader.next;
        size_t size = strcspn(line, "\n");

        reader.next += size + (line[size] == '\n');
        if (*line == '#') {
            is_possible = line[size - 1] != '\\' && read_directive(&reader, line, size);
        } else if (!is_skipping(&reader)) {
            write_tokens(macros, line, size, reader.out);
            fputs(" \\\n", reader.out);
        }
    }
    body = at_text_close(&stream, NULL);
    if (is_possible)
        return body;
    free(body);
    return NULL;
}

/* ---- kernels ---- */

/* What kernels of a family share, with the number of the first one. */
struct body {
    const struct at_family *family;
    char *parameters, *text;
    size_t kernel;
};

struct writing {
    const struct at_export *export;
    FILE *out;
    struct body *bodies;
    size_t count, capacity;
};

void at_export_name_kernel(char name[AT_ENTRY_NAME_CHARS], size_t kernel)
{
    snprintf(name, AT_ENTRY_NAME_CHARS, "autotune_kernel_%zu", kernel);
}

/* Macros of the header read STEP_NUMBERS, so that it has to be a macro, too. */
static bool is_parameter(const struct macro *macro)
{
    return macro->given && strcmp(macro->name, "STEP_NUMBERS") != 0;
}

/* Write the names of parameters, or what a kernel has for them, after the kernel's own. */
static char *list_of(const struct macros *macros, const char *first, bool values)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    fputs(first, out);
    for (size_t i = 0; i < macros->count; i++)
        if (is_parameter(&macros->items[i]))
            fprintf(out, ", %s", values ? macros->items[i].value : macros->items[i].name);
    return at_text_close(&stream, NULL);
}

/* Copy code with the linkage that entry points have in an exported file. With several targets, only
 * the architectures of a kernel's own compile its body; all of them have to have the kernel. */
static void write_adapted(const struct at_export *export, const char *text, FILE *out)
{
    static const char include[] = "#include \"" AT_TEMPLATE_HEADER "\"\n",
                      entry[] = "extern \"C\" __global__";
    bool is_entry = false; /* before its body */

    while (*text) {
        if (begins(text, include)) {
            text += strlen(include);
        } else if (begins(text, entry)) {
            fputs("AUTOTUNE_ENTRY __global__", out);
            text += strlen(entry);
            is_entry = export->target_count > 1;
        } else if (is_entry && *text == '{') {
            fputs("{ if (!has_body(AUTOTUNE_HAS_BODY)) return;", out);
            text++;
            is_entry = false;
        } else {
            fputc(*text++, out);
        }
    }
}

/* Find the body, or write it as a macro. */
static size_t use_body(struct writing *writing, struct body *made)
{
    size_t i = 0;

    while (i < writing->count && (writing->bodies[i].family != made->family ||
                                  strcmp(writing->bodies[i].parameters, made->parameters) != 0 ||
                                  strcmp(writing->bodies[i].text, made->text) != 0))
        i++;
    if (i < writing->count) {
        free(made->parameters);
        free(made->text);
        return writing->bodies[i].kernel;
    }
    AT_PUSH(writing->bodies, writing->count, writing->capacity, *made);
    fprintf(writing->out, "/* %s */\n#define AUTOTUNE_BODY_%zu(%s) \\\n", made->family->name,
            made->kernel, made->parameters);
    write_adapted(writing->export, made->text, writing->out);
    fputc('\n', writing->out);
    return made->kernel;
}

/* Does an item for this target have the kernel? */
static bool is_for(const struct at_export *export, size_t kernel, const struct at_target *target)
{
    for (size_t i = kernel; i < export->count; i++)
        if (export->items[i].kernel == kernel && export->items[i].target == target)
            return true;
    return false;
}

/* Say which architectures compile a kernel's body. Each target stands for those from its own to the
 * next one's, and the first one for older ones, too. */
static void write_condition(const struct writing *writing, size_t kernel)
{
    const struct at_export *export = writing->export;

    if (export->target_count == 1)
        return;
    fputs("#undef AUTOTUNE_HAS_BODY\n#define AUTOTUNE_HAS_BODY (0", writing->out);
    for (size_t i = 0; i < export->target_count; i++) {
        const int least = (int)export->targets[i].device.compute_capability * 10;

        if (!is_for(export, kernel, &export->targets[i]))
            continue;
        if (i + 1 == export->target_count)
            fprintf(writing->out, " || AUTOTUNE_ARCH >= %d", least);
        else
            fprintf(writing->out, " || (AUTOTUNE_ARCH >= %d && AUTOTUNE_ARCH < %d)",
                    i > 0 ? least : 0, (int)export->targets[i + 1].device.compute_capability * 10);
    }
    fputs(")\n", writing->out);
}

/* What the conditions need. */
static void write_architecture(const struct at_export *export, FILE *out)
{
    if (export->target_count > 1)
        fputs("#ifdef __CUDA_ARCH__\n#define AUTOTUNE_ARCH __CUDA_ARCH__\n#else\n"
              "#define AUTOTUNE_ARCH 0\n#endif\n"
              "__device__ __forceinline__ bool has_body(bool has) { return has; }\n",
              out);
}

/* Write a kernel with the text of its body, which is written if it is the first one. */
static void write_with_body(struct writing *writing, const char *name, struct body *body,
                            const struct macros *macros)
{
    const struct macro *numbers = find_macro(macros, "STEP_NUMBERS", strlen("STEP_NUMBERS"));
    char *values = list_of(macros, name, true);
    const size_t kernel = body->kernel, used = use_body(writing, body);

    write_condition(writing, kernel);
    fprintf(writing->out,
            "#define STEP_NUMBERS %s\nnamespace %s_source { AUTOTUNE_BODY_%zu(%s) }\n"
            "#undef STEP_NUMBERS\n",
            numbers ? numbers->value : "0", name, used, values);
    free(values);
}

/* Write a kernel whose template no macro can have. */
static void write_whole(const struct writing *writing, const char *name, size_t kernel)
{
    const struct at_export_item *item = &writing->export->items[kernel];
    struct at_rendering rendering = {.config = &item->answer.config,
                                     .kind = at_problem_kind(&item->problem)};
    char *program;

    write_condition(writing, kernel);
    snprintf(rendering.entry, sizeof rendering.entry, "%s", name);
    program = at_render_program(&rendering, 1);
    write_adapted(writing->export, program, writing->out);
    free(program);
}

static void write_kernel(struct writing *writing, size_t kernel)
{
    const struct at_export_item *item = &writing->export->items[kernel];
    const struct at_family *family = item->answer.config.family;
    struct macros macros = read_defines(item->defines);
    struct body body = {.family = family, .kernel = kernel};
    char name[AT_ENTRY_NAME_CHARS], *code = at_source_code(family->source);

    at_export_name_kernel(name, kernel);
    if (!at_source_includes(family->source))
        body.text = make_body(&macros, code);
    if (body.text) {
        body.parameters = list_of(&macros, "transpose", false);
        write_with_body(writing, name, &body, &macros);
    } else {
        write_whole(writing, name, kernel);
    }
    free(code);
    clear_macros(&macros);
}

void at_export_write_kernels(const struct at_export *export, FILE *out)
{
    struct writing writing = {.export = export, .out = out};

    write_architecture(export, out);
    for (size_t i = 0; i < export->count; i++)
        if (at_export_is_kernel(export, i))
            write_kernel(&writing, i);
    for (size_t i = 0; i < writing.count; i++) {
        fprintf(out, "#undef AUTOTUNE_BODY_%zu\n", writing.bodies[i].kernel);
        free(writing.bodies[i].parameters);
        free(writing.bodies[i].text);
    }
    if (export->target_count > 1)
        fputs("#undef AUTOTUNE_HAS_BODY\n#undef AUTOTUNE_ARCH\n", out);
    free(writing.bodies);
}

/* ---- the header ---- */

static bool moves_only(const struct at_export *export)
{
    for (size_t i = 0; i < export->count; i++)
        if (!at_kind_only_moves(at_problem_kind(&export->items[i].problem)))
            return false;
    return true;
}

/* Is this a line of what only other programs need? Counts the #if that are open in it. */
static bool is_left_out(const char *line, size_t *depth)
{
    if (*depth == 0) {
        *depth = begins(line, "#if !AT_MOVES_ONLY\n") ? 1 : 0;
        return *depth > 0;
    }
    *depth += begins(line, "#if") ? 1 : 0;
    *depth -= begins(line, "#endif") ? 1 : 0;
    return true;
}

enum at_status at_export_write_header(const struct at_export *export, FILE *out,
                                      struct at_error *err)
{
    char *header, *code;
    bool less = moves_only(export);
    size_t depth = 0;
    enum at_status status = at_template_header_read(&header, err);

    if (status != AT_OK)
        return status;
    code = at_source_code(header);
    if (less)
        fputs("#define AT_MOVES_ONLY 1\n", out);
    for (const char *line = code, *end; (end = strchr(line, '\n')); line = end + 1)
        if (!begins(line, "#line") && !(less && is_left_out(line, &depth)))
            fwrite(line, 1, (size_t)(end + 1 - line), out);
    if (less)
        fputs("#undef AT_MOVES_ONLY\n", out);
    free(code);
    free(header);
    return AT_OK;
}
