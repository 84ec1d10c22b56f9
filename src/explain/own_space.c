/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/own_space.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "explain/host_tokens.h"
#include "system/paths.h"

#include <stdlib.h>
#include <string.h>

/* ---- the template ---- */

/* Leave out blanks at the ends of lines, and lines that follow an empty one and are empty too. */
static void write_trimmed(FILE *out, const char *text)
{
    int empty = 0;

    while (*text) {
        size_t length = strcspn(text, "\n"), kept = length;

        while (kept > 0 && strchr(" \t\r", text[kept - 1]))
            kept--;
        empty = kept == 0 ? empty + 1 : 0;
        if (empty < 2)
            fprintf(out, "%.*s\n", (int)kept, text);
        text += length + (text[length] == '\n');
    }
}

/* Copy the file: kernels become functions that the template's kernel calls. */
static void write_code(FILE *to, const struct at_draft *draft)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *text;
    const char *at = draft->text, *done = at;
    struct at_host_token token = at_host_token_next(&at), next;

    for (; token.kind != AT_HOST_END; token = at_host_token_next(&at)) {
        const char *ahead = at;

        fwrite(done, 1, (size_t)(token.text - done), out);
        done = at;
        next = at_host_token_next(&ahead);
        if (at_host_token_is(&token, "__global__")) {
            fputs("__device__ __forceinline__", out);
        } else if (at_host_token_is(&token, "__launch_bounds__") && at_host_token_is(&next, "(")) {
            at_host_skip_brackets(&ahead, '(', ')');
            done = at = ahead;
        } else if (at_host_token_is(&token, "extern") && next.kind == AT_HOST_TEXT) {
            done = at = ahead;
            next = at_host_token_next(&ahead);
            if (at_host_token_is(&next, "{"))
                fputs("namespace ", out);
        } else if (at_host_token_is(&token, "transpose")) {
            fputs("transpose_of_the_file", out);
        } else {
            fwrite(token.text, 1, token.size, out);
        }
    }
    fputs(done, out);
    text = at_text_close(&stream, NULL);
    write_trimmed(to, text);
    free(text);
}

static void write_undefines(FILE *out, const struct at_draft *draft)
{
    const char *at = draft->text;
    struct at_host_token token = at_host_token_next(&at);

    for (; token.kind != AT_HOST_END; token = at_host_token_next(&at)) {
        char *line;
        const char *rest;
        struct at_host_token word = at_host_directive(&token, &line, &rest);

        if (at_host_token_is(&word, "define")) {
            word = at_host_token_next(&rest);
            fprintf(out, "#undef %.*s\n", (int)word.size, word.text);
        }
        free(line);
    }
}

static void write_kernel(FILE *out, const struct at_draft *draft,
                         const struct at_draft_request *request)
{
    const struct at_texts *defines = &request->source.defines;
    size_t plain = strcspn(draft->kernel, "<");
    bool renamed = plain == strlen("transpose") && strncmp(draft->kernel, "transpose", plain) == 0;

    fprintf(out, "/* %s of %s, for a space file. Written by autotune space. */\n", draft->kernel,
            at_path_name(request->path));
    at_source_defines_write(out, defines);
    for (size_t i = 0; i < draft->macro_count; i++)
        if (strcmp(draft->macros[i].name, draft->macros[i].param) != 0)
            fprintf(out, "#define %s %s\n", draft->macros[i].name, draft->macros[i].param);
    write_code(out, draft);
    fprintf(out,
            "\nextern \"C\" __global__ void transpose(void *dst, const void *src, long long rows,\n"
            "    long long cols, long long ld_src, long long ld_dst, long long batch,\n"
            "    long long stride_src, long long stride_dst)\n{\n    %s%s(",
            renamed ? "transpose_of_the_file" : draft->kernel,
            renamed ? draft->kernel + plain : "");
    for (size_t i = 0; i < draft->argument_count; i++)
        fprintf(out, "%s(%s%s)%s", i > 0 ? ", " : "", draft->arguments[i].type,
                draft->arguments[i].pointer ? " *" : "", draft->arguments[i].meaning);
    fputs(");\n}\n", out);
    write_undefines(out, draft);
    for (size_t i = 0; i < defines->count; i++)
        fprintf(out, "#undef %.*s\n", (int)strcspn(defines->items[i], "="), defines->items[i]);
    for (size_t i = 0; i < draft->macro_count; i++)
        if (strcmp(draft->macros[i].name, draft->macros[i].param) != 0)
            fprintf(out, "#undef %s\n", draft->macros[i].name);
}

/* ---- the space file ---- */

static const struct at_draft_macro *macro_for(const struct at_draft *draft, enum at_draft_role role,
                                              char axis)
{
    for (size_t i = 0; i < draft->macro_count; i++)
        if (draft->macros[i].convention->role == role && draft->macros[i].axis == axis)
            return &draft->macros[i];
    return NULL;
}

static void write_values(FILE *out, const struct at_draft_macro *macro)
{
    const int *values = macro->values;
    const char *separator = "";
    bool held = false;

    fputs("    values: [", out);
    for (size_t i = 0; i < AT_DRAFT_VALUES && (i == 0 || values[i] > 0); i++) {
        if (!held && macro->value <= values[i]) {
            fprintf(out, "%s%jd", separator, (intmax_t)macro->value);
            separator = ", ";
            held = true;
        }
        if (values[i] != macro->value)
            fprintf(out, "%s%d", separator, values[i]);
        separator = ", ";
    }
    if (!held)
        fprintf(out, ", %jd", (intmax_t)macro->value);
    fputs("]\n", out);
}

/* Threads of a block and elements of a tile, along an axis, as expressions. */
struct extent {
    char *threads, *elements;
};

/* The step with the block's threads. */
static char *step_of(const char *step, const char *threads)
{
    const char *at = strchr(step, '@');

    return at ? at_format("%.*s%s%s", (int)(at - step), step, threads, at + 2) : at_strdup(step);
}

static struct extent extent_of(const struct at_draft *draft, char axis)
{
    const struct at_draft_macro *threads = macro_for(draft, AT_DRAFT_THREADS, axis);
    const struct at_draft_macro *factor = macro_for(draft, AT_DRAFT_FACTOR, axis);
    const struct at_draft_macro *tile = macro_for(draft, AT_DRAFT_TILE, 'x'),
                                *rows = macro_for(draft, AT_DRAFT_ROWS, 'x');
    struct extent extent = {0};

    if (threads)
        extent.threads = at_strdup(threads->param);
    else if (tile)
        extent.threads = at_strdup(axis == 'y' && rows ? rows->param : tile->param);
    else
        extent.threads = at_strdup(axis == 'x' ? "32" : "8");
    if (draft->steps[axis - 'x'])
        extent.elements = step_of(draft->steps[axis - 'x'], extent.threads);
    else if (tile)
        extent.elements = at_strdup(tile->param);
    else if (factor)
        extent.elements = at_format("%s * %s", extent.threads, factor->param);
    else
        extent.elements = at_strdup(extent.threads);
    return extent;
}

/* sides: how many of rows and cols the kernel gets. */
static void write_launch(FILE *out, const struct at_draft *draft, int sides)
{
    struct extent x = extent_of(draft, 'x'), y = extent_of(draft, 'y');
    const struct at_draft_macro *tile = macro_for(draft, AT_DRAFT_TILE, 'x'),
                                *rows = macro_for(draft, AT_DRAFT_ROWS, 'x');

    if (sides < 2)
        fputs("  - rows == cols\n", out);
    if (sides == 0 || !draft->guarded)
        fprintf(out, "  - cols %% (%s) == 0 && rows %% (%s) == 0\n", x.elements, y.elements);
    if (draft->macro_count > 0)
        fprintf(out, "constraints:\n  - %s%s%s >= 32\n  - %s%s%s <= 1024\n", x.threads,
                draft->plane ? " * " : "", draft->plane ? y.threads : "", x.threads,
                draft->plane ? " * " : "", draft->plane ? y.threads : "");
    if (tile && rows)
        fprintf(out, "  - %s %% %s == 0\n", tile->param, rows->param);
    fputs("launch:\n", out);
    if (draft->plane)
        fprintf(out,
                "  grid_x: ceil_div(cols, %s)\n  grid_y: ceil_div(rows, %s)\n  block_x: %s\n"
                "  block_y: %s\n",
                x.elements, y.elements, x.threads, y.threads);
    else
        fprintf(out, "  grid_x: ceil_div(rows * cols, %s)\n  block_x: %s\n", x.elements, x.threads);
    free(x.threads);
    free(x.elements);
    free(y.threads);
    free(y.elements);
}

static bool passes(const struct at_draft *draft, const char *what)
{
    for (size_t i = 0; i < draft->argument_count; i++)
        if (strcmp(draft->arguments[i].meaning, what) == 0)
            return true;
    return false;
}

static void write_space(FILE *out, const struct at_draft *draft, const char *path,
                        const char *family, const char *template_name)
{
    fprintf(
        out,
        "# A first space for %s of %s, from its macros: look over values and launch.\n"
        "schema: 1\nfamily: %s\nsummary: %s of %s\ntemplate: %s\npreference: 9\nparameters:%s\n",
        draft->kernel, at_path_name(path), family, draft->kernel, at_path_name(path), template_name,
        draft->macro_count > 0 ? "" : " []");
    for (size_t i = 0; i < draft->macro_count; i++) {
        const struct at_draft_macro *macro = &draft->macros[i];
        enum at_draft_role role = macro->convention->role;

        fprintf(out, "  - name: %s\n    summary: %s%s\n", macro->param, macro->convention->summary,
                role != AT_DRAFT_THREADS && role != AT_DRAFT_FACTOR ? ""
                : macro->axis == 'x'                                ? " along a row"
                                                                    : " along a column");
        write_values(out, macro);
        fprintf(out, "    default: %jd\n", (intmax_t)macro->value);
    }
    fprintf(out, "needs:\n  - elem_size == %jd\n", (intmax_t)draft->element_bytes);
    if (!passes(draft, "batch"))
        fputs("  - batch == 1\n", out);
    if (!passes(draft, "ld_src"))
        fputs("  - ld_src == cols\n", out);
    if (!passes(draft, "ld_dst"))
        fputs("  - ld_dst == rows\n", out);
    write_launch(out, draft, passes(draft, "rows") + passes(draft, "cols"));
}

void at_own_space_write(FILE *space, FILE *kernel, const struct at_draft *draft,
                        const struct at_draft_request *request, const char *family,
                        const char *template_name)
{
    write_kernel(kernel, draft, request);
    write_space(space, draft, request->path, family, template_name);
}
