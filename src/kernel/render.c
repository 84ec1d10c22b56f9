/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/render.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "kernel/nvrtc.h"
#include "system/file.h"
#include "system/paths.h"

#include <stdio.h>
#include <string.h>

/* ---- #include directives ---- */

/* One directive: a line of the text, not terminated. */
struct include {
    const char *text;
    size_t size;
    int line; /* from 1 */
};

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* The word of a directive, after "#" and blanks; NULL: the line is none. */
static const char *directive(const char *line)
{
    line = skip_blanks(line);
    return *line == '#' ? skip_blanks(line + 1) : NULL;
}

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static bool is_include(const char *word)
{
    static const char include[] = "include";

    return begins(word, include) &&
           !begins(skip_blanks(word + strlen(include)), "\"" AT_TEMPLATE_HEADER "\"");
}

/* Find the next directive; among those in #if too, if wanted. */
static bool find_in(struct include *include, const char *from, int line, bool conditional)
{
    int depth = 0;

    for (; *from; line++) {
        size_t size = strcspn(from, "\n");
        const char *word = directive(from);

        if (word && begins(word, "if"))
            depth++;
        else if (word && begins(word, "endif"))
            depth--;
        else if (word && (conditional || depth == 0) && is_include(word)) {
            *include = (struct include){from, size, line};
            return true;
        }
        from += size + (from[size] == '\n');
    }
    return false;
}

/* Find the next directive at or after `from`, which is the beginning of line `line`, outside of
 * #if: which of those inside count, only the compiler knows. */
static bool find_include(struct include *include, const char *from, int line)
{
    return find_in(include, from, line, false);
}

bool at_source_includes(const char *source)
{
    struct include include;

    return find_in(&include, source, 1, true);
}

/* ---- programs ---- */

enum { TEMPLATE_BYTES_MAX = 256 * 1024 };

enum at_status at_template_read(char **text, const char *name, struct at_error *err)
{
    char *below = at_format("templates/%s", name), *path = at_path_data_file(below);
    size_t size;
    enum at_status status = at_file_read_text(text, &size, path, TEMPLATE_BYTES_MAX, err);

    at_free(path);
    at_free(below);
    return status;
}

/* Compiler messages and debuggers name files and lines as they were written. */
static void write_line(FILE *out, int line, const char *name)
{
    fprintf(out, "#line %d \"%s\"\n", line, name);
}

/* Write the header, with the text of a part in place of each directive that includes one. */
static enum at_status write_header(FILE *out, const char *header, struct at_error *err)
{
    enum at_status status = AT_OK;

    write_line(out, 1, AT_TEMPLATE_HEADER);
    for (int line = 1; status == AT_OK && *header; line++) {
        size_t size = strcspn(header, "\n");
        char name[64], *part;

        if (sscanf(header, "#include \"%63[^\"\n]\"", name) == 1) {
            status = at_template_read(&part, name, err);
            if (status == AT_OK) {
                write_line(out, 1, name);
                fputs(part, out);
                write_line(out, line + 1, AT_TEMPLATE_HEADER);
                at_free(part);
            }
        } else {
            fprintf(out, "%.*s\n", (int)size, header);
        }
        header += size + (header[size] == '\n');
    }
    return status;
}

enum at_status at_template_header_read(char **text, struct at_error *err)
{
    struct at_text_stream stream;
    char *header, *whole;
    enum at_status status = at_template_read(&header, AT_TEMPLATE_HEADER, err);
    FILE *out;

    if (status != AT_OK)
        return status;
    out = at_text_open(&stream);
    status = write_header(out, header, err);
    whole = at_text_close(&stream, NULL);
    at_free(header);
    if (status == AT_OK)
        *text = whole;
    else
        at_free(whole);
    return status;
}

bool at_template_header_has(const char *header, const char *file)
{
    char *line = at_format("#line 1 \"%s\"\n", file);
    bool has = strstr(header, line) != NULL;

    at_free(line);
    return has;
}

/* How macros are written: as lines of source, or as a compiler's options. */
struct syntax {
    const char *before, *between, *after;
};

static const struct syntax lines = {"#define ", " ", "\n"}, options = {"-D", "=", " "};

static void write_macro(FILE *out, const struct syntax *syntax, const char *name, int64_t value)
{
    fprintf(out, "%s%s%s%jd%s", syntax->before, name, syntax->between, (intmax_t)value,
            syntax->after);
}

/* Of blocks: both results, and the rule of their scales. */
static void write_block_macros(FILE *out, const struct syntax *syntax, const struct at_step *step)
{
    struct at_scaled_result own = at_step_scaled(step, true), kept = at_step_scaled(step, false);
    bool has_kept = at_step_has(step, AT_BOTH);

    write_macro(out, syntax, "FROM", (int64_t)step->from);
    write_macro(out, syntax, "RULE", (int64_t)step->blocks.rule);
    write_macro(out, syntax, "TO", (int64_t)own.to);
    write_macro(out, syntax, "SCALE_LAYOUT", (int64_t)own.layout);
    write_macro(out, syntax, "SCALE_ROWS", own.block_rows);
    write_macro(out, syntax, "SCALE_COLS", own.block_cols);
    write_macro(out, syntax, "KEPT_TO", (int64_t)kept.to);
    write_macro(out, syntax, "KEPT_LAYOUT", (int64_t)kept.layout);
    write_macro(out, syntax, "KEPT_ROWS", has_kept ? kept.block_rows : 0);
    write_macro(out, syntax, "KEPT_COLS", has_kept ? kept.block_cols : 0);
    if (at_step_has(step, AT_SUMS))
        write_macro(out, syntax, "SUMS", 1);
}

static void write_macros(FILE *out, const struct syntax *syntax, const struct at_config *config,
                         struct at_problem_kind kind)
{
    const struct at_family *family = config->family;

    write_macro(out, syntax, "ELEM_SIZE", kind.elem_size);
    if (kind.axes > 1)
        write_macro(out, syntax, "AXES", kind.axes);
    if (at_step_has(&kind.step, AT_BLOCKS)) {
        write_block_macros(out, syntax, &kind.step);
    } else if (kind.step.given) {
        write_macro(out, syntax, "RESULT_SIZE", at_number_formats[kind.step.to].bytes);
        write_macro(out, syntax, "STEP", at_step_code(&kind.step));
        write_macro(out, syntax, "STEP_NUMBERS",
                    at_step_takes_numbers(&kind.step) +
                        at_step_has(&kind.step, AT_AFFINE) * (1 + (kind.groups != AT_NO_GROUPS)));
    }
    if (kind.groups != AT_NO_GROUPS)
        write_macro(out, syntax, "GROUPED", kind.groups);
    if (family->tall_rows > 0 && kind.rows >= family->tall_rows)
        write_macro(out, syntax, "TALL", 1);
    for (size_t i = 0; i < family->param_count; i++)
        if (!family->params[i].host)
            write_macro(out, syntax, family->params[i].name, config->values[i]);
}

static void write_kernel(FILE *out, const struct at_rendering *rendering)
{
    const struct at_family *family = rendering->config->family;

    write_macros(out, &lines, rendering->config, rendering->kind);
    fprintf(out, "#define transpose %s\n", rendering->entry);
    fprintf(out, "namespace %s_source {\n", rendering->entry);
    write_line(out, 1, at_path_name(family->template_path));
    fprintf(out, "%s\n}\n#undef transpose\n", family->source);
    for (size_t i = 0; i < AT_TEMPLATE_MACROS; i++)
        fprintf(out, "#undef %s\n", at_template_macros[i]);
    for (size_t i = 0; i < family->param_count; i++)
        fprintf(out, "#undef %s\n", family->params[i].name);
}

/* What a template includes comes before all namespaces, so that it is declared once for all. */
static void write_includes(FILE *out, const struct at_family *family)
{
    struct include include = {family->source, 0, 1};

    while (find_include(&include, include.text + include.size, include.line)) {
        write_line(out, include.line, at_path_name(family->template_path));
        fprintf(out, "%.*s\n", (int)include.size, include.text);
    }
}

char *at_render_macros(const struct at_config *config, struct at_problem_kind kind)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    write_macros(out, &lines, config, kind);
    return at_text_close(&stream, NULL);
}

char *at_render_options(const struct at_config *config, struct at_problem_kind kind)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *text;
    size_t size;

    write_macros(out, &options, config, kind);
    text = at_text_close(&stream, &size);
    text[size - 1] = '\0'; /* no space after the last */
    return text;
}

/* Return what follows the comment that begins here; NULL: none does. */
static const char *after_comment(const char *text)
{
    const char *end;

    if (text[0] != '/' || (text[1] != '/' && text[1] != '*'))
        return NULL;
    end = text[1] == '/' ? strchr(text, '\n') : strstr(text + 2, "*/");
    if (!end)
        return text + strlen(text);
    return text[1] == '/' ? end : end + 2;
}

/* Return what follows the string or character that begins here. */
static const char *after_literal(const char *text)
{
    char quote = *text++;

    while (*text && *text != quote && *text != '\n')
        text += text[0] == '\\' && text[1] ? 2 : 1;
    return *text ? text + 1 : text;
}

/* Write a source without its comments, indentation and empty lines. */
static void write_code(FILE *out, const char *source)
{
    bool blank = false, empty = true; /* before this character; the line so far */

    while (*source) {
        const char *next = after_comment(source);
        bool ends = *source == '\n';

        if (next || *source == ' ' || *source == '\t') {
            blank = true;
            source = next ? next : source + 1;
            continue;
        }
        next = *source == '"' || *source == '\'' ? after_literal(source) : source + 1;
        if (blank && !empty && !ends)
            fputc(' ', out);
        if (!empty || !ends)
            fwrite(source, 1, (size_t)(next - source), out);
        blank = false;
        empty = ends;
        source = next;
    }
}

char *at_source_code(const char *source)
{
    struct at_text_stream stream;

    write_code(at_text_open(&stream), source);
    return at_text_close(&stream, NULL);
}

void at_family_hash(char hash[AT_HASH_CHARS], const struct at_family *family, const char *header)
{
    struct at_text_stream stream;
    char *text;
    size_t size;
    FILE *out = at_text_open(&stream);

    write_code(out, header);
    write_code(out, family->source);
    for (int i = 0; i < AT_LAUNCH_FIELDS; i++)
        fprintf(out, "%s\n", family->launch[i] ? at_expr_text(family->launch[i]) : "");
    text = at_text_close(&stream, &size);
    at_hash(hash, text, size);
    at_free(text);
}

void at_kernel_hash(char hash[AT_SHORT_HASH_CHARS], const char *family_hash,
                    const struct at_config *config, struct at_problem_kind kind)
{
    char *macros = at_render_macros(config, kind), *text = at_format("%s\n%s", family_hash, macros),
         whole[AT_HASH_CHARS];

    at_hash(whole, text, strlen(text));
    memcpy(hash, whole, AT_SHORT_HASH_CHARS - 1);
    hash[AT_SHORT_HASH_CHARS - 1] = '\0';
    at_free(text);
    at_free(macros);
}

void at_kernel_key(char key[AT_HASH_CHARS], const struct at_compiler *compiler, const char *header,
                   const struct at_config *config, struct at_problem_kind kind)
{
    char *macros = at_render_macros(config, kind);
    /* Only where they are used: other kernels keep their key wherever CUDA's headers are. */
    const char *headers = at_source_includes(config->family->source) ? compiler->headers : "";
    const char *const parts[] = {compiler->identity,
                                 compiler->version,
                                 compiler->options,
                                 compiler->ptx ? "ptx" : "cubin",
                                 header,
                                 macros,
                                 config->family->source};
    size_t size = strlen(headers);
    char *text, *end;

    for (size_t i = 0; i < AT_COUNT(parts); i++)
        size += strlen(parts[i]) + 1;
    text = end = at_alloc_raw(size + 1);
    for (size_t i = 0; i < AT_COUNT(parts); i++) {
        end = stpcpy(end, parts[i]);
        *end++ = '\n';
    }
    strcpy(end - 1, headers); /* the last part goes on */
    at_hash(key, text, size - 1);
    at_free(text);
    at_free(macros);
}

bool at_kind_only_moves(struct at_problem_kind kind)
{
    return !kind.step.given && kind.groups == AT_NO_GROUPS;
}

char *at_render_program(const struct at_rendering *renderings, size_t count)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    bool moves = true;

    for (size_t i = 0; i < count; i++)
        moves = moves && at_kind_only_moves(renderings[i].kind);
    if (moves)
        write_macro(out, &lines, "AT_MOVES_ONLY", 1);
    fprintf(out, "#include \"%s\"\n", AT_TEMPLATE_HEADER);
    for (size_t i = 0; i < count; i++)
        write_includes(out, renderings[i].config->family);
    for (size_t i = 0; i < count; i++)
        write_kernel(out, &renderings[i]);
    return at_text_close(&stream, NULL);
}
