/* SPDX-License-Identifier: Apache-2.0 */
/* A header for C99, C++ and nvcc: macros for each problem, a table, and a function that finds a
 * problem in it. */
#include "base/memory.h"
#include "export/export.h"

#include <stdlib.h>

/* The struct's word_counts. */
_Static_assert(AT_CALL_ARGS == 10 + 2, "room for all arguments but dst and src");

static void write_macros_of(const struct at_export *export, size_t index, FILE *out)
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

    if (at_export_is_problem(export, index))
        fprintf(out, "#define %s_%s_INDEX %zu\n", export->macro_prefix, item->key, index);
    /* LAUNCH and PARAM: a parameter may be called GRID_X, or like the end of a key. */
    for (size_t i = 0; i < AT_COUNT(launched); i++)
        fprintf(out, "#define %s_%s_LAUNCH_%s %jd\n", export->macro_prefix, item->name,
                launched[i].name, (intmax_t)launch[launched[i].field]);
    for (size_t i = 0; i < config->family->param_count; i++)
        if (!config->family->params[i].host) /* it is in the launch and the arguments */
            fprintf(out, "#define %s_%s_PARAM_%s (%d)\n", export->macro_prefix, item->name,
                    config->family->params[i].name, (int)config->values[i]);
    fputc('\n', out);
}

/* Write whose config an entry has; a profile's text is written anew. */
static void write_tuned_problem(const struct at_answer *answer, FILE *out)
{
    struct at_problem problem;
    char *spec;

    if (!answer->tuned_problem ||
        at_problem_parse(&problem, answer->tuned_problem, NULL) != AT_OK) {
        fputs("NULL", out);
        return;
    }
    spec = at_problem_format(&problem);
    fprintf(out, "\"%s\"", spec);
    free(spec);
}

/* `first` words of other problems come before its own. Returns the number of its own. */
static size_t write_entry(const struct at_export *export, size_t index, size_t first, FILE *out)
{
    const struct at_export_item *item = &export->items[index];
    const struct at_problem *problem = &item->problem;
    const int64_t *launch = item->answer.launch.field;
    const struct at_export_arguments arguments = at_export_arguments(item);
    char *guess = at_export_guess(item);

    fprintf(out, "    {\"%s\",\n     ", item->spec);
    at_export_write_sizes(item, out);
    fprintf(out, ", %d, %d, %d, %d, {%jdLL, %jdLL}, %jdLL, %jd, %d, %d, %zu,\n",
            (int)problem->elem_size, (int)at_problem_elem_size(problem, AT_DESTINATION),
            at_export_takes_numbers(item), (int)at_export_groups(item),
            (intmax_t)at_problem_scale_bytes(problem, AT_DESTINATION),
            (intmax_t)at_problem_scale_bytes(problem, AT_SOURCE),
            (intmax_t)at_export_scratch_bytes(item), (intmax_t)launch[AT_LAUNCHES],
            (int)problem->in_place, (int)item->target->device.compute_capability,
            at_export_variants(export, index));
    fprintf(out, "     {%d, %d}, {%d, %d}, %d, %d, %d, ", (int)item->align[AT_SOURCE],
            (int)item->align[AT_DESTINATION], (int)item->offset[AT_SOURCE],
            (int)item->offset[AT_DESTINATION], (int)item->answer.expected_of_copy_permille,
            (int)item->answer.tier + 1, guess != NULL);
    write_tuned_problem(&item->answer, out);
    fprintf(out, ",\n     \"%s\",\n     \"%s\",\n", item->answer.config.family->name,
            item->defines);
    fprintf(out, "     {%ju, %ju, %ju}, {%ju, %ju, %ju}, %ju, %jd, \"%s_transpose_%s\",\n",
            (uintmax_t)launch[AT_GRID_X], (uintmax_t)launch[AT_GRID_Y],
            (uintmax_t)launch[AT_GRID_Z], (uintmax_t)launch[AT_BLOCK_X],
            (uintmax_t)launch[AT_BLOCK_Y], (uintmax_t)launch[AT_BLOCK_Z],
            (uintmax_t)launch[AT_SHARED_BYTES], (intmax_t)launch[AT_CARVEOUT_PERCENT],
            export->prefix, item->key);
    fprintf(out, "     %s_tuned_words + %zu, ", export->prefix, first);
    at_export_write_word_counts(&arguments, out);
    fputs("},\n", out);
    free(guess);
    return arguments.word_count;
}

static void write_macros(const struct at_export *export, FILE *out)
{
    for (size_t i = 0; i < export->count; i++)
        write_macros_of(export, i, out);
}

static void write_entries(const struct at_export *export, FILE *out)
{
    size_t words = 0;

    for (size_t i = 0; i < export->count; i++)
        words += write_entry(export, i, words, out);
}

void at_export_write_table(const struct at_export *export, FILE *out)
{
    static const struct at_export_lines lines[] = {
        {'M', write_macros, NULL}, {'E', write_entries, NULL}, {0}};

    at_export_write_text(export, at_asset_tuned_h, lines, out);
}

static enum at_status write(const struct at_export *export, FILE *out, struct at_error *err)
{
    (void)err;
    at_export_write_table(export, out);
    return AT_OK;
}

const struct at_export_format at_export_header = {
    .name = "header",
    .summary =
        "a header for C99, C++ and nvcc. It has macros with the parameters and the launch of each "
        "problem, a table of them, and autotune_tuned_find(), which finds a matrix or a batch in "
        "the table. The index of any problem is a macro too, and "
        "autotune_tuned_named() finds any by its name. autotune_tuned_choose() chooses among "
        "several devices.",
    .has_names = true,
    .write = write,
};
