/* SPDX-License-Identifier: Apache-2.0 */
/* Variables for a Makefile or a CMakeLists.txt to include. Only their syntax differs:
 *   DEVICE, ARCH (sm_90, or a list), PROBLEMS (the keys; of several devices, KEY_SM90), and for
 * each KEY_PROBLEM, KEY_ARCH, KEY_TIER (1 to 6), KEY_GUESS (1: it is one), KEY_FAMILY, KEY_DEFINES,
 * KEY_GRID, KEY_BLOCK, KEY_SHARED_BYTES, KEY_CARVEOUT, KEY_WORD_COUNTS (of the kernel's arguments
 * after dst and src), KEY_WORDS, KEY_TAKES_NUMBERS, KEY_LAUNCHES (in a row; 0: one, without an
 * argument that says which it is), KEY_GROUPS (0, or which struct of groups.h.in the words begin
 * with: 1 of a list, 2 of rows). */
#include "base/memory.h"
#include "base/text_stream.h"
#include "export/export.h"

#include <stdarg.h>
#include <stdlib.h>

/* What stands around the name and the value of a variable, and between the words of a list. */
static const struct syntax {
    const char *before, *between, *after;
    char blank;
} make = {"", " := ", "\n", ' '}, cmake = {"set(", " \"", "\")\n", ';'};

struct target {
    const struct syntax *syntax;
    FILE *out;
    const char *prefix, *key; /* key NULL: a variable of the whole export */
};

/* Write a variable. Its value needs no quoting; only a list has blanks that separate words. */
static void put(const struct target *target, const char *name, bool is_list, const char *format,
                ...) __attribute__((format(printf, 4, 5)));
static void put(const struct target *target, const char *name, bool is_list, const char *format,
                ...)
{
    const struct syntax *syntax = target->syntax;
    va_list args;
    char *value;

    va_start(args, format);
    value = at_vformat(format, args);
    va_end(args);
    for (char *c = value; *c; c++)
        if (is_list && *c == ' ')
            *c = syntax->blank;
    fprintf(target->out, "%s%s_%s%s%s%s%s%s", syntax->before, target->prefix,
            target->key ? target->key : "", target->key ? "_" : "", name, syntax->between, value,
            syntax->after);
    free(value);
}

static void put_extents(const struct target *target, const char *name, const int64_t extents[3])
{
    put(target, name, true, "%jd %jd %jd", (intmax_t)extents[0], (intmax_t)extents[1],
        (intmax_t)extents[2]);
}

static void put_arguments(const struct target *target, const struct at_export_item *item)
{
    const struct at_export_arguments arguments = at_export_arguments(item);
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *counts, *words = at_export_words(&arguments, " ");

    for (size_t i = 0; i < arguments.count; i++)
        fprintf(out, "%s%d", i ? " " : "", arguments.word_counts[i]);
    counts = at_text_close(&stream, NULL);
    put(target, "WORD_COUNTS", true, "%s", counts);
    put(target, "WORDS", true, "%s", words);
    put(target, "TAKES_NUMBERS", false, "%d", at_export_takes_numbers(item));
    put(target, "GROUPS", false, "%d", (int)at_export_groups(item));
    put(target, "SCALE_BYTES", true, "%jd %jd",
        (intmax_t)at_problem_scale_bytes(&item->problem, AT_DESTINATION),
        (intmax_t)at_problem_scale_bytes(&item->problem, AT_SOURCE));
    put(target, "LAUNCHES", false, "%jd", (intmax_t)item->answer.launch.field[AT_LAUNCHES]);
    put(target, "SCRATCH_BYTES", false, "%jd", (intmax_t)at_export_scratch_bytes(item));
    free(counts);
    free(words);
}

static void put_item(const struct target *target, const struct at_export_item *item)
{
    const int64_t *launch = item->answer.launch.field;
    char *guess = at_export_guess(item);

    put(target, "PROBLEM", false, "%s", item->spec);
    put(target, "ARCH", false, "sm_%d", (int)item->target->device.compute_capability);
    put(target, "TIER", false, "%d", (int)item->answer.tier + 1);
    put(target, "GUESS", false, "%d", guess != NULL);
    put(target, "FAMILY", false, "%s", item->answer.config.family->name);
    put(target, "DEFINES", true, "%s", item->defines);
    put_extents(target, "GRID", &launch[AT_GRID_X]);
    put_extents(target, "BLOCK", &launch[AT_BLOCK_X]);
    put(target, "SHARED_BYTES", false, "%jd", (intmax_t)launch[AT_SHARED_BYTES]);
    put(target, "CARVEOUT", false, "%jd", (intmax_t)launch[AT_CARVEOUT_PERCENT]);
    put_arguments(target, item);
    free(guess);
}

static enum at_status write_all(const struct at_export *export, const struct syntax *syntax,
                                FILE *out)
{
    struct target target = {.syntax = syntax, .out = out, .prefix = export->macro_prefix};
    struct at_text_stream devices, architectures, names;
    FILE *list = at_text_open(&names), *all = at_text_open(&architectures);
    char *texts[3];

    for (size_t i = 0; i < export->count; i++)
        fprintf(list, "%s%s", i ? " " : "", export->items[i].name);
    for (size_t i = 0; i < export->target_count; i++)
        fprintf(all, "%ssm_%d", i ? " " : "", (int)export->targets[i].device.compute_capability);
    at_export_write_devices(export, at_text_open(&devices));
    texts[0] = at_text_close(&devices, NULL);
    texts[1] = at_text_close(&architectures, NULL);
    texts[2] = at_text_close(&names, NULL);
    at_export_write_origin(export, "# ", out);
    put(&target, "DEVICE", false, "%s", texts[0]);
    put(&target, "ARCH", true, "%s", texts[1]);
    put(&target, "PROBLEMS", true, "%s", texts[2]);
    for (size_t i = 0; i < export->count; i++) {
        target.key = export->items[i].name;
        put_item(&target, &export->items[i]);
    }
    for (size_t i = 0; i < AT_COUNT(texts); i++)
        free(texts[i]);
    return AT_OK;
}

static enum at_status write_make(const struct at_export *export, FILE *out, struct at_error *err)
{
    (void)err;
    return write_all(export, &make, out);
}

static enum at_status write_cmake(const struct at_export *export, FILE *out, struct at_error *err)
{
    (void)err;
    return write_all(export, &cmake, out);
}

const struct at_export_format at_export_make_file = {
    .name = "make",
    .summary = "variables for a Makefile to include",
    .has_names = true,
    .write = write_make,
};

const struct at_export_format at_export_cmake = {
    .name = "cmake",
    .summary = "variables for a CMakeLists.txt to include, lists as CMake has them",
    .has_names = true,
    .write = write_cmake,
};
