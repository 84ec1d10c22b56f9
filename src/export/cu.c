/* SPDX-License-Identifier: Apache-2.0 */
/* One self-contained .cu: the kernels, and functions that launch them. NVRTC takes the same file
 * too; it skips the functions, which need nvcc.
 *
 * Only the functions that the format cu-header declares are visible outside, so that programs can
 * have several such files: everything else is static or in a namespace of the file's prefix. NVRTC
 * finds kernels by their names, so there they are not static. Another such file may follow in the
 * same program. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "export/kernels.h"

#include <stdlib.h>

/* The struct's word_counts. */
_Static_assert(AT_CALL_ARGS == 10 + 2, "room for all arguments but dst and src");

/* `first` words of other problems come before its own. Returns the number of its own. */
static size_t write_launch(const struct at_export_item *item, size_t first, FILE *out)
{
    const struct at_problem *problem = &item->problem;
    const int64_t *launch = item->answer.launch.field;
    const struct at_export_arguments arguments = at_export_arguments(item);
    char kernel[AT_ENTRY_NAME_CHARS];

    at_export_name_kernel(kernel, item->kernel);
    fputs("    {", out);
    at_export_write_sizes(item, out);
    fprintf(out, ", %d, %d,\n     (const void *)%s_source::%s,\n", (int)problem->elem_size,
            (int)problem->in_place, kernel, kernel);
    fprintf(out, "     {%ju, %ju, %ju}, {%ju, %ju, %ju}, %ju, %jd, words + %zu, ",
            (uintmax_t)launch[AT_GRID_X], (uintmax_t)launch[AT_GRID_Y],
            (uintmax_t)launch[AT_GRID_Z], (uintmax_t)launch[AT_BLOCK_X],
            (uintmax_t)launch[AT_BLOCK_Y], (uintmax_t)launch[AT_BLOCK_Z],
            (uintmax_t)launch[AT_SHARED_BYTES], (intmax_t)launch[AT_CARVEOUT_PERCENT], first);
    at_export_write_word_counts(&arguments, out);
    fputs("},\n", out);
    return arguments.word_count;
}

static void write_launches(const struct at_export *export, FILE *out)
{
    size_t words = 0;

    for (size_t i = 0; i < export->count; i++)
        words += write_launch(&export->items[i], words, out);
}

/* ---- the functions ---- */

/* Write "cudaError_t autotune_transpose_KEY(...)" without what follows. */
static void write_signature(const struct at_export *export, const struct at_export_item *item,
                            FILE *out)
{
    enum at_groups_kind groups = at_export_groups(item);

    fprintf(out, "cudaError_t %s_transpose_%s(", export->prefix, item->key);
    if (groups != AT_GROUP_LIST)
        fputs("void *dst, const void *src, ", out);
    if (groups != AT_NO_GROUPS)
        fprintf(out, "const struct %s_%s, ", export->prefix,
                groups == AT_GROUP_LIST ? "list *list" : "rows *rows");
    if (at_export_takes_numbers(item))
        fprintf(out, "const struct %s_numbers *numbers, ", export->prefix);
    fputs("cudaStream_t stream)", out);
}

static void declare_functions(const struct at_export *export, FILE *out)
{
    for (size_t i = 0; i < export->count; i++) {
        const struct at_problem *problem = &export->items[i].problem;
        const int64_t scales = at_problem_scale_bytes(problem, AT_DESTINATION),
                      kept_scales = at_problem_scale_bytes(problem, AT_SOURCE);

        fprintf(out, "/* %s", export->items[i].spec);
        if (scales > 0)
            fprintf(out, "\n * numbers->scales gets %jd bytes", (intmax_t)scales);
        if (kept_scales > 0)
            fprintf(out, ", numbers->kept_scales %jd", (intmax_t)kept_scales);
        if (at_problem_sum_bytes(problem) > 0)
            fprintf(out, "\n * numbers->sums gets %jd bytes, numbers->scratch has %jd",
                    (intmax_t)at_problem_sum_bytes(problem),
                    (intmax_t)at_export_scratch_bytes(&export->items[i]));
        fputs(" */\n", out);
        write_signature(export, &export->items[i], out);
        fputs(";\n", out);
    }
}

static void write_prototypes(const struct at_export *export, FILE *out)
{
    static const struct at_export_lines lines[] = {{'F', declare_functions, NULL}, {0}};

    at_export_write_text(export, at_asset_prototypes_h, lines, out);
}

/* What only many matrices need. */
static void write_group_launchers(const struct at_export *export, FILE *out)
{
    static const struct at_export_lines none[] = {{0}};
    bool some = false;

    for (size_t i = 0; i < export->count; i++)
        some = some || at_export_groups(&export->items[i]);
    if (some)
        at_export_write_text(export, at_asset_group_launchers_cu, none, out);
}

static void write_functions(const struct at_export *export, FILE *out)
{
    static const struct {
        const char *name, *given;
    } starts[] = {[AT_NO_GROUPS] = {"start", "dst, src, nullptr"},
                  [AT_GROUP_LIST] = {"start_list", "list"},
                  [AT_RAGGED_GROUPS] = {"start_rows", "dst, src, rows"}};

    for (size_t i = 0; i < export->count; i++) {
        bool numbers = at_export_takes_numbers(&export->items[i]);
        enum at_groups_kind groups = at_export_groups(&export->items[i]);

        fputs("extern \"C\" ", out);
        write_signature(export, &export->items[i], out);
        fputs("\n{\n", out);
        if (numbers)
            fputs("    if (!numbers)\n        return cudaErrorInvalidValue;\n"
                  "    if (((uintptr_t)numbers->second | (uintptr_t)numbers->kept |\n"
                  "         (uintptr_t)numbers->scales | (uintptr_t)numbers->kept_scales) % 16 != "
                  "0)\n"
                  "        return cudaErrorMisalignedAddress;\n",
                  out);
        fprintf(out, "    return %s_kernels::%s(%s_kernels::launches[%zu], %s, %s, stream);\n}\n",
                export->prefix, starts[groups].name, export->prefix, i, starts[groups].given,
                numbers ? "numbers" : "nullptr");
    }
}

/* ---- the formats ---- */

static enum at_status write_header(const struct at_export *export, FILE *out, struct at_error *err)
{
    static const struct at_export_lines lines[] = {{'T', write_prototypes, NULL}, {0}};

    (void)err;
    at_export_write_text(export, at_asset_launchers_h, lines, out);
    return AT_OK;
}

static enum at_status write(const struct at_export *export, FILE *out, struct at_error *err)
{
    struct at_text_stream stream;
    enum at_status status = at_export_write_header(export, at_text_open(&stream), err);
    char *header = at_text_close(&stream, NULL);
    const struct at_export_lines lines[] = {{'H', NULL, header},
                                            {'K', at_export_write_kernels, NULL},
                                            {'L', write_launches, NULL},
                                            {'T', write_prototypes, NULL},
                                            {'G', write_group_launchers, NULL},
                                            {'F', write_functions, NULL},
                                            {0}};

    if (status == AT_OK)
        at_export_write_text(export, at_asset_launchers_cu, lines, out);
    free(header);
    return status;
}

const struct at_export_format at_export_cu_header = {
    .name = "cu-header",
    .summary = "a header for C and C++ with the prototypes of the functions in cu",
    .has_names = true,
    .write = write_header,
};

const struct at_export_format at_export_cu = {
    .name = "cu",
    .summary =
        "the kernels as one self-contained file, for NVRTC and nvcc. For nvcc it also has "
        "autotune_transpose() for matrices and batches, and one function per problem, which launch "
        "the kernels. Source and destination must begin at multiples of 16 bytes.",
    .has_names = true,
    .write = write,
};
