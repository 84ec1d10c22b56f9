/* SPDX-License-Identifier: Apache-2.0 */
/* One self-contained .cu: the kernels, and functions that launch them. NVRTC takes the same file
 * too; it skips the functions, which need nvcc.
 *
 * Only the functions that the format cu-header declares are visible outside, so that programs can
 * have several such files: everything else is static or in a namespace of the file's prefix. NVRTC
 * finds kernels by their names, so there they are not static. Another such file may follow in the
 * same program. */
#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "export/kernels.h"

#include <stdlib.h>

/* The struct's word_counts. */
_Static_assert(AT_CALL_ARGS == 10 + 2, "room for all arguments but dst and src");

/* Where a kernel is in the table of kernels. */
static size_t kernel_index(const struct at_export *export, size_t kernel)
{
    size_t index = 0;

    for (size_t i = 0; i < kernel; i++)
        index += at_export_is_kernel(export, i);
    return index;
}

static void write_kernel_table(const struct at_export *export, FILE *out)
{
    for (size_t i = 0; i < export->count; i++) {
        char name[AT_ENTRY_NAME_CHARS];
        int64_t most = 0;

        if (!at_export_is_kernel(export, i))
            continue;
        for (size_t j = i; j < export->count; j++)
            if (export->items[j].kernel == i)
                most = at_max(most, export->items[j].answer.launch.field[AT_SHARED_BYTES]);
        at_export_name_kernel(name, i);
        fprintf(out, "    {(const void *)%s_source::%s, %jd, %jd, {0}},\n", name, name,
                (intmax_t)most,
                (intmax_t) export->items[i].answer.launch.field[AT_CARVEOUT_PERCENT]);
    }
}

/* `first` words of other problems come before its own. Returns the number of its own. */
static size_t write_launch(const struct at_export *export, size_t index, size_t first, FILE *out)
{
    const struct at_export_item *item = &export->items[index];
    const int64_t *launch = item->answer.launch.field;
    const struct at_export_arguments arguments = at_export_arguments(item);

    fputs("    {", out);
    at_export_write_sizes(item, out);
    fprintf(out, ", %d, %d, %d, %zu, {%d, %d}, {%d, %d}, kernels + %zu,\n",
            (int)item->problem.elem_size, (int)item->problem.in_place,
            (int)item->target->device.compute_capability, at_export_variants(export, index),
            (int)item->align[AT_SOURCE], (int)item->align[AT_DESTINATION],
            (int)item->offset[AT_SOURCE], (int)item->offset[AT_DESTINATION],
            kernel_index(export, item->kernel));
    fprintf(out, "     {%ju, %ju, %ju}, {%ju, %ju, %ju}, %ju, %jd, words + %zu, ",
            (uintmax_t)launch[AT_GRID_X], (uintmax_t)launch[AT_GRID_Y],
            (uintmax_t)launch[AT_GRID_Z], (uintmax_t)launch[AT_BLOCK_X],
            (uintmax_t)launch[AT_BLOCK_Y], (uintmax_t)launch[AT_BLOCK_Z],
            (uintmax_t)launch[AT_SHARED_BYTES], (intmax_t)launch[AT_LAUNCHES], first);
    at_export_write_word_counts(&arguments, out);
    fputs("},\n", out);
    return arguments.word_count;
}

static void write_launches(const struct at_export *export, FILE *out)
{
    size_t words = 0;

    for (size_t i = 0; i < export->count; i++)
        words += write_launch(export, i, words, out);
}

/* How nvcc compiles the file. */
static void write_command(const struct at_export *export, FILE *out)
{
    fputs(" * nvcc -std=c++17", out);
    for (size_t i = 0; i < export->target_count; i++) {
        const int capability = (int)export->targets[i].device.compute_capability;

        if (export->target_count == 1)
            fprintf(out, " -arch=sm_%d", capability);
        else
            fprintf(out, " -gencode arch=compute_%d,code=sm_%d", capability, capability);
    }
    fputs(" -c FILE.cu\n", out);
}

/* ---- the functions ---- */

/* Is a variant of the problem launched several times in a row? */
static bool takes_scratch(const struct at_export *export, size_t problem)
{
    for (size_t i = 0; i < at_export_variants(export, problem); i++)
        if (at_export_is_many(&export->items[problem + i]))
            return true;
    return false;
}

/* The scratch that is enough for all variants of a problem. */
static int64_t scratch_of(const struct at_export *export, size_t problem)
{
    int64_t most = 0;

    for (size_t i = 0; i < at_export_variants(export, problem); i++)
        most = at_max(most, at_export_scratch_bytes(&export->items[problem + i]));
    return most;
}

/* Write "cudaError_t autotune_transpose_KEY(...)" without what follows. */
static void write_signature(const struct at_export *export, size_t problem, FILE *out)
{
    const struct at_export_item *item = &export->items[problem];
    enum at_groups_kind groups = at_export_groups(item);

    fprintf(out, "cudaError_t %s_transpose_%s(", export->prefix, item->key);
    if (groups != AT_GROUP_LIST)
        fputs("void *dst, const void *src, ", out);
    if (groups != AT_NO_GROUPS)
        fprintf(out, "const struct %s_%s, ", export->prefix,
                groups == AT_GROUP_LIST ? "list *list" : "rows *rows");
    if (at_export_takes_numbers(item))
        fprintf(out, "const struct %s_numbers *numbers, ", export->prefix);
    if (takes_scratch(export, problem))
        fputs("void *scratch, ", out);
    fputs("cudaStream_t stream)", out);
}

static void declare_function(const struct at_export *export, size_t index, FILE *out)
{
    const struct at_problem *problem = &export->items[index].problem;
    const int64_t scales = at_problem_scale_bytes(problem, AT_DESTINATION),
                  kept_scales = at_problem_scale_bytes(problem, AT_SOURCE);
    const int64_t scratch = scratch_of(export, index);

    fprintf(out, "/* %s", export->items[index].spec);
    if (scales > 0)
        fprintf(out, "\n * numbers->scales gets %jd bytes", (intmax_t)scales);
    if (kept_scales > 0)
        fprintf(out, ", numbers->kept_scales %jd", (intmax_t)kept_scales);
    if (at_problem_sum_bytes(problem) > 0)
        fprintf(out, "\n * numbers->sums gets %jd bytes, numbers->scratch has %jd",
                (intmax_t)at_problem_sum_bytes(problem), (intmax_t)scratch);
    if (takes_scratch(export, index))
        fprintf(out, "\n * scratch has %jd bytes, of any value, from a multiple of 16 on",
                (intmax_t)scratch);
    fputs(" */\n", out);
    write_signature(export, index, out);
    fputs(";\n", out);
}

static void declare_functions(const struct at_export *export, FILE *out)
{
    for (size_t i = 0; i < export->count; i++)
        if (at_export_is_problem(export, i))
            declare_function(export, i, out);
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

static void write_function(const struct at_export *export, size_t index, FILE *out)
{
    static const struct {
        const char *name, *first, *more; /* more: what comes before `numbers` */
    } starts[] = {[AT_NO_GROUPS] = {"start", "dst, src", "{nullptr, "},
                  [AT_GROUP_LIST] = {"start_list", "list", ""},
                  [AT_RAGGED_GROUPS] = {"start_rows", "dst, src, rows", ""}};
    enum at_groups_kind groups = at_export_groups(&export->items[index]);
    const char *numbers = "nullptr";
    const bool is_many = takes_scratch(export, index);

    fputs("extern \"C\" ", out);
    write_signature(export, index, out);
    fputs("\n{\n", out);
    if (at_export_takes_numbers(&export->items[index])) {
        fputs("    if (!numbers)\n        return cudaErrorInvalidValue;\n"
              "    if (((uintptr_t)numbers->second | (uintptr_t)numbers->kept |\n"
              "         (uintptr_t)numbers->scales | (uintptr_t)numbers->kept_scales) % 16 != 0)\n"
              "        return cudaErrorMisalignedAddress;\n",
              out);
        numbers = "numbers";
    }
    if (is_many)
        fputs("    if (!scratch)\n        return cudaErrorInvalidValue;\n"
              "    if ((uintptr_t)scratch % 16 != 0)\n"
              "        return cudaErrorMisalignedAddress;\n",
              out);
    fprintf(out, "    return %s_kernels::%s(%s_kernels::launches + %zu, %s, %s%s%s, stream);\n}\n",
            export->prefix, starts[groups].name, export->prefix, index, starts[groups].first,
            starts[groups].more, numbers,
            groups != AT_NO_GROUPS ? ""
            : is_many              ? ", scratch}"
                                   : ", nullptr}");
}

static void write_functions(const struct at_export *export, FILE *out)
{
    for (size_t i = 0; i < export->count; i++)
        if (at_export_is_problem(export, i))
            write_function(export, i, out);
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
                                            {'A', write_command, NULL},
                                            {'Q', write_kernel_table, NULL},
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
        "the kernels. For most of them source and destination must begin at multiples of 16 bytes.",
    .has_names = true,
    .write = write,
};
