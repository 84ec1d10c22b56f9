/* SPDX-License-Identifier: Apache-2.0 */
/* A header for C99, C++ and nvcc: macros for each problem, a table, and a function that finds a
 * problem in it. */
#include "base/memory.h"
#include "export/export.h"

#include <stdlib.h>

static const char beginning[] =
    "#ifndef AUTOTUNE_TUNED_H\n"
    "#define AUTOTUNE_TUNED_H\n"
    "\n"
    "/* How the kernel of a problem is made and launched. */\n"
    "struct autotune_tuned {\n"
    "    long long rows, cols, ld_src, ld_dst, batch, stride_src, stride_dst; /* in elements */\n"
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
    "};\n"
    "\n";

static const char ending[] =
    "/* The entry of exactly this problem, or a null pointer. */\n"
    "static inline const struct autotune_tuned *autotune_tuned_find(\n"
    "    int elem_size, long long rows, long long cols, long long ld_src, long long ld_dst,\n"
    "    long long batch, long long stride_src, long long stride_dst, int in_place)\n"
    "{\n"
    "    int i;\n"
    "\n"
    "    for (i = 0; i < AUTOTUNE_TUNED_COUNT; i++) {\n"
    "        const struct autotune_tuned *t = &autotune_tuned_entries[i];\n"
    "\n"
    "        if (t->elem_size == elem_size && t->rows == rows && t->cols == cols &&\n"
    "            t->ld_src == ld_src && t->ld_dst == ld_dst && t->batch == batch &&\n"
    "            t->in_place == in_place &&\n"
    "            (batch == 1 || (t->stride_src == stride_src && t->stride_dst == stride_dst)))\n"
    "            return t;\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "#endif\n";

static void write_macros(const struct at_export_item *item, FILE *out)
{
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

    /* LAUNCH and PARAM: a parameter may be called GRID_X, or like the end of a key. */
    for (size_t i = 0; i < AT_COUNT(launched); i++)
        fprintf(out, "#define AUTOTUNE_%s_LAUNCH_%s %jd\n", item->key, launched[i].name,
                (intmax_t)launch[launched[i].field]);
    for (size_t i = 0; i < config->family->param_count; i++)
        fprintf(out, "#define AUTOTUNE_%s_PARAM_%s (%d)\n", item->key,
                config->family->params[i].name, (int)config->values[i]);
    fputc('\n', out);
}

static void write_entry(const struct at_export_item *item, FILE *out)
{
    const struct at_problem *problem = &item->problem;
    const int64_t *launch = item->answer.launch.field;
    char *defines = at_export_defines(item);

    fprintf(out, "    {%jdLL, %jdLL, %jdLL, %jdLL, %jdLL, %jdLL, %jdLL, %d, %d, %d,\n",
            (intmax_t)problem->rows, (intmax_t)problem->cols, (intmax_t)problem->ld_src,
            (intmax_t)problem->ld_dst, (intmax_t)problem->batch, (intmax_t)problem->stride_src,
            (intmax_t)problem->stride_dst, (int)problem->elem_size, (int)problem->in_place,
            (int)item->answer.expected_of_copy_permille);
    fprintf(out, "     \"%s\",\n     \"%s\",\n", item->answer.config.family->name, defines);
    fprintf(out, "     {%ju, %ju, %ju}, {%ju, %ju, %ju}, %ju, %jd, \"autotune_transpose_%s\"},\n",
            (uintmax_t)launch[AT_GRID_X], (uintmax_t)launch[AT_GRID_Y],
            (uintmax_t)launch[AT_GRID_Z], (uintmax_t)launch[AT_BLOCK_X],
            (uintmax_t)launch[AT_BLOCK_Y], (uintmax_t)launch[AT_BLOCK_Z],
            (uintmax_t)launch[AT_SHARED_BYTES], (intmax_t)launch[AT_CARVEOUT_PERCENT], item->key);
    free(defines);
}

static enum at_status write(const struct at_export *export, FILE *out, struct at_error *err)
{
    char *device = at_export_plain(export->device->name);

    (void)err;
    fputs("/*\n", out);
    at_export_write_origin(export, " * ", out);
    fputs(" */\n", out);
    fputs(beginning, out);
    fprintf(out, "#define AUTOTUNE_TUNED_DEVICE \"%s\"\n", device);
    fprintf(out, "#define AUTOTUNE_TUNED_COMPUTE_CAPABILITY %jd\n",
            (intmax_t) export->device->compute_capability);
    fprintf(out, "#define AUTOTUNE_TUNED_COUNT %zu\n\n", export->count);
    for (size_t i = 0; i < export->count; i++)
        write_macros(&export->items[i], out);
    fputs("static const struct autotune_tuned autotune_tuned_entries[AUTOTUNE_TUNED_COUNT] = {\n",
          out);
    for (size_t i = 0; i < export->count; i++)
        write_entry(&export->items[i], out);
    fputs("};\n\n", out);
    fputs(ending, out);
    free(device);
    return AT_OK;
}

const struct at_export_format at_export_header = {
    .name = "header",
    .summary =
        "a header for C99, C++ and nvcc. It has macros with the parameters and the launch of each "
        "problem, a table of them, and autotune_tuned_find(), which finds a problem in the table.",
    .write = write,
};
