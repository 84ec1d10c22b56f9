/* SPDX-License-Identifier: Apache-2.0 */
/* A header for C99, C++ and nvcc: macros for each problem, a table, and a function that finds a
 * problem in it. */
#include "base/memory.h"
#include "export/export.h"

#include <stdlib.h>

static const char beginning[] =
    "/* How the kernel of a problem is made and launched. */\n"
    "struct @p_tuned {\n"
    "    const char *problem;         /* as autotune spells it */\n"
    "    /* In elements. All are 0 for a tensor of several batch axes: its index is a macro. */\n"
    "    long long rows, cols, ld_src, ld_dst, batch, stride_src, stride_dst;\n"
    "    int elem_size;               /* bytes */\n"
    "    int in_place;                /* 1: dst is src */\n"
    "    int expected_permille;       /* of the copy limit; 0: not known */\n"
    "    const char *family;          /* of kernels: templates/FAMILY.cu */\n"
    "    const char *defines;         /* what the template is compiled with */\n"
    "    unsigned grid[3], block[3];  /* x, y, z */\n"
    "    unsigned shared_bytes;       /* dynamic shared memory of a block */\n"
    "    int carveout_percent;        /* preferred share of shared memory in L1; -1: the driver's "
    "*/\n"
    "    const char *launcher;        /* the function in what --as cu exports */\n"
    "    /* The kernel's arguments after dst and src: the words of one follow those of another. "
    "*/\n"
    "    const unsigned long long *words;\n"
    "    int argument_count;\n"
    "    unsigned char word_counts[10];\n"
    "};\n"
    "\n";

static const char ending[] =
    "/* The entry of exactly this matrix or batch, or a null pointer. */\n"
    "static inline const struct @p_tuned *@p_tuned_find(\n"
    "    int elem_size, long long rows, long long cols, long long ld_src, long long ld_dst,\n"
    "    long long batch, long long stride_src, long long stride_dst, int in_place)\n"
    "{\n"
    "    int i;\n"
    "\n"
    "    for (i = 0; i < @P_TUNED_COUNT; i++) {\n"
    "        const struct @p_tuned *t = &@p_tuned_entries[i];\n"
    "\n"
    "        if (t->rows > 0 && t->elem_size == elem_size && t->rows == rows && t->cols == cols "
    "&&\n"
    "            t->ld_src == ld_src && t->ld_dst == ld_dst && t->batch == batch &&\n"
    "            t->in_place == in_place &&\n"
    "            (batch == 1 || (t->stride_src == stride_src && t->stride_dst == stride_dst)))\n"
    "            return t;\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "#endif\n";

/* The struct's word_counts. */
_Static_assert(AT_CALL_ARGS == 10 + 2, "room for all arguments but dst and src");

static void write_macros(const struct at_export *export, size_t index, FILE *out)
{
    const struct at_export_item *item = &export->items[index];
    const struct at_config *config = &item->answer.config;
    const int64_t *launch = item->answer.launch.field;
    static const struct {
        const char *name;
        enum at_launch_field field;
    } launched[] = {
        {"GRID_X", AT_GRID_X},
        {"GRID_Y", AT_GRID_Y},
        {"GRID_Z", AT_GRID_Z},
        {"BLOCK_X", AT_BLOCK_X},
        {"BLOCK_Y", AT_BLOCK_Y},
        {"BLOCK_Z", AT_BLOCK_Z},
        {"SHARED_BYTES", AT_SHARED_BYTES},
    };

    fprintf(out, "#define %s_%s_INDEX %zu\n", export->macro_prefix, item->key, index);
    /* LAUNCH and PARAM: a parameter may be called GRID_X, or like the end of a key. */
    for (size_t i = 0; i < AT_COUNT(launched); i++)
        fprintf(out, "#define %s_%s_LAUNCH_%s %jd\n", export->macro_prefix, item->key,
                launched[i].name, (intmax_t)launch[launched[i].field]);
    for (size_t i = 0; i < config->family->param_count; i++)
        if (!config->family->params[i].host) /* it is in the launch and the arguments */
            fprintf(out, "#define %s_%s_PARAM_%s (%d)\n", export->macro_prefix, item->key,
                    config->family->params[i].name, (int)config->values[i]);
    fputc('\n', out);
}

/* `first` words of other problems come before its own. Returns the number of its own. */
static size_t write_entry(const struct at_export *export, const struct at_export_item *item,
                          size_t first, FILE *out)
{
    const struct at_problem *problem = &item->problem;
    const int64_t *launch = item->answer.launch.field;
    const struct at_export_arguments arguments = at_export_arguments(item);

    fprintf(out, "    {\"%s\",\n     ", item->spec);
    at_export_write_sizes(item, out);
    fprintf(out, ", %d, %d, %d,\n", (int)problem->elem_size, (int)problem->in_place,
            (int)item->answer.expected_of_copy_permille);
    fprintf(out, "     \"%s\",\n     \"%s\",\n", item->answer.config.family->name, item->defines);
    fprintf(out, "     {%ju, %ju, %ju}, {%ju, %ju, %ju}, %ju, %jd, \"%s_transpose_%s\",\n",
            (uintmax_t)launch[AT_GRID_X], (uintmax_t)launch[AT_GRID_Y],
            (uintmax_t)launch[AT_GRID_Z], (uintmax_t)launch[AT_BLOCK_X],
            (uintmax_t)launch[AT_BLOCK_Y], (uintmax_t)launch[AT_BLOCK_Z],
            (uintmax_t)launch[AT_SHARED_BYTES], (intmax_t)launch[AT_CARVEOUT_PERCENT],
            export->prefix, item->key);
    fprintf(out, "     %s_tuned_words + %zu, ", export->prefix, first);
    at_export_write_word_counts(&arguments, out);
    fputs("},\n", out);
    return arguments.word_count;
}

static enum at_status write(const struct at_export *export, FILE *out, struct at_error *err)
{
    char *device = at_export_plain(export->device->name);
    size_t words = 0;

    (void)err;
    fputs("/*\n", out);
    at_export_write_origin(export, " * ", out);
    fputs(" */\n", out);
    at_export_write_guard(export, "TUNED", out);
    at_export_write_named(export, beginning, out);
    fprintf(out, "#define %s_TUNED_DEVICE \"%s\"\n", export->macro_prefix, device);
    fprintf(out, "#define %s_TUNED_COMPUTE_CAPABILITY %jd\n", export->macro_prefix,
            (intmax_t) export->device->compute_capability);
    fprintf(out, "#define %s_TUNED_COUNT %zu\n\n", export->macro_prefix, export->count);
    for (size_t i = 0; i < export->count; i++)
        write_macros(export, i, out);
    at_export_write_named(export, "static const unsigned long long @p_tuned_words[] = {\n", out);
    at_export_write_words(export, out);
    at_export_write_named(
        export, "};\n\nstatic const struct @p_tuned @p_tuned_entries[@P_TUNED_COUNT] = {\n", out);
    for (size_t i = 0; i < export->count; i++)
        words += write_entry(export, &export->items[i], words, out);
    fputs("};\n\n", out);
    at_export_write_named(export, ending, out);
    free(device);
    return AT_OK;
}

const struct at_export_format at_export_header = {
    .name = "header",
    .summary =
        "a header for C99, C++ and nvcc. It has macros with the parameters and the launch of each "
        "problem, a table of them, and autotune_tuned_find(), which finds a matrix or a batch in "
        "the table. The index of any problem is a macro too.",
    .has_names = true,
    .write = write,
};
