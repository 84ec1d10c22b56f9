/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/render.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "kernel/includes.h"
#include "system/file.h"
#include "system/paths.h"

#include <stdio.h>

enum { TEMPLATE_BYTES_MAX = 256 * 1024 };

enum at_status at_template_read(char **text, const char *name, struct at_error *err)
{
    char *below = at_format("templates/%s", name), *path = at_path_data_file(below);
    size_t size;
    enum at_status status = at_file_read(text, &size, path, TEMPLATE_BYTES_MAX, err);

    at_free(path);
    at_free(below);
    return status;
}

static void write_macros(FILE *out, const struct at_config *config, struct at_problem_kind kind)
{
    fprintf(out, "#define ELEM_SIZE %d\n", (int)kind.elem_size);
    if (kind.axes > 1)
        fprintf(out, "#define AXES %d\n", (int)kind.axes);
    if (config->family->tall_rows > 0 && kind.rows >= config->family->tall_rows)
        fprintf(out, "#define TALL 1\n");
    for (size_t i = 0; i < config->family->param_count; i++)
        if (!config->family->params[i].host)
            fprintf(out, "#define %s %d\n", config->family->params[i].name, (int)config->values[i]);
}

static void write_kernel(FILE *out, const struct at_rendering *rendering)
{
    const struct at_family *family = rendering->config->family;

    write_macros(out, rendering->config, rendering->kind);
    fprintf(out, "#define transpose %s\n", rendering->entry);
    fprintf(out, "namespace %s_source {\n", rendering->entry);
    /* So that compiler messages name the template and its lines. */
    fprintf(out, "#line 1 \"%s\"\n", at_path_name(family->template_path));
    fprintf(out, "%s\n}\n#undef transpose\n#undef ELEM_SIZE\n#undef AXES\n#undef TALL\n",
            family->source);
    for (size_t i = 0; i < family->param_count; i++)
        fprintf(out, "#undef %s\n", family->params[i].name);
}

/* What a template includes comes before all namespaces, so that it is declared once for all. */
static void write_includes(FILE *out, const struct at_family *family)
{
    struct at_include include = {family->source, 0, 1};

    while (at_include_find(&include, include.text + include.size, include.line)) {
        fprintf(out, "#line %d \"%s\"\n", include.line, at_path_name(family->template_path));
        fprintf(out, "%.*s\n", (int)include.size, include.text);
    }
}

char *at_render_macros(const struct at_config *config, struct at_problem_kind kind)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    write_macros(out, config, kind);
    return at_text_close(&stream, NULL);
}

char *at_render_program(const struct at_rendering *renderings, size_t count)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    fprintf(out, "#include \"%s\"\n", AT_TEMPLATE_HEADER);
    for (size_t i = 0; i < count; i++)
        write_includes(out, renderings[i].config->family);
    for (size_t i = 0; i < count; i++)
        write_kernel(out, &renderings[i]);
    return at_text_close(&stream, NULL);
}
