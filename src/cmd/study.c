/* SPDX-License-Identifier: Apache-2.0 */
/* autotune study: run a classic experiment on memory accesses and print it as a table. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/own_options.h"
#include "cmd/run_options.h"
#include "emulated/time/description.h"
#include "report/report.h"
#include "schema/table.h"
#include "study/study_run.h"
#include "system/file.h"
#include "system/interrupt.h"
#include "system/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct study_options {
    struct at_run_options run; /* for its --gpu and what a session needs */
    struct at_own_options own;
    const char *name; /* or a file; NULL: list the studies */
    const char *out;  /* of the page; NULL: none */
    enum at_output_format format;
};

static const struct at_option options_table[] = {
    AT_ARGUMENT("study", NULL, AT_SETS_TEXT(study_options, name)),
    AT_GPU(0, study_options, run.gpu,
           "Device: an index, words of its name (h100), the beginning of a UUID, a PCI bus id, emu "
           "or emu:NAME for an emulated one, or auto (the default): the first GPU, else an "
           "emulated one"),
    AT_FORMAT(0, study_options, format),
    AT_OUT(0, study_options, out, "Also write an HTML page with bars to FILE"),
    AT_SPACE(0, study_options, run.spaces),
    AT_TIMEOUT(0, study_options, run.session.timeout_ns, "Time limit of one kernel, as for tune"),
    AT_TABLE(study_options, own, at_own_table),
    {0},
};

static enum at_status check(void *given, struct at_error *err)
{
    struct study_options *options = given;
    enum at_status status = AT_OK;

    if (options->out && !options->name)
        return at_fail(err, AT_USAGE, "--out needs the name of a study");
    if (!options->name || !at_is_own_file(options->name))
        status = at_own_options_refuse(&options->own, "study", err);
    at_own_options_settle(&options->own);
    return status;
}

/* ---- finding studies ---- */

static const char suffix[] = ".yaml";

/* The studies that come with the program. */
struct study_names {
    char *path;
    struct at_folder files;
    const char **items; /* without suffix */
};

static enum at_status find_studies(struct study_names *names, struct at_error *err)
{
    *names = (struct study_names){.path = at_path_data_file("tuning/study")};
    (void)at_folder_list(&names->files, names->path, suffix);
    names->items = at_alloc_array(names->files.count, sizeof *names->items);
    for (size_t i = 0; i < names->files.count; i++)
        names->items[i] =
            at_strndup(names->files.names[i], strlen(names->files.names[i]) - strlen(suffix));
    if (names->files.count > 0)
        return AT_OK;
    return at_fail(err, AT_USAGE,
                   "there is no study: expected %s/*%s; AUTOTUNE_DATADIR names the folder that "
                   "holds tuning, templates and results",
                   names->path, suffix);
}

static void free_names(struct study_names *names)
{
    for (size_t i = 0; i < names->files.count; i++)
        free((char *)names->items[i]);
    free(names->items);
    at_folder_clear(&names->files);
    free(names->path);
}

static char *path_of(const struct study_names *names, size_t index)
{
    return at_format("%s/%s", names->path, names->files.names[index]);
}

/* Set *path to the file of a study, which the caller frees. A file of the user's is its own. */
static enum at_status find_study(const struct study_names *names, const char *name, char **path,
                                 struct at_error *err)
{
    const char *end = strrchr(name, '.');

    if (end && strcmp(end, suffix) == 0) {
        *path = at_strdup(at_given_file(name));
        return AT_OK;
    }
    for (size_t i = 0; i < names->files.count; i++)
        if (strcmp(names->items[i], name) == 0) {
            *path = path_of(names, i);
            return AT_OK;
        }
    return at_fail_unknown(err, AT_USAGE, "there is no study", name, names->items,
                           names->files.count);
}

/* A study as it is listed. */
struct listed_study {
    char *name, *title;
};

static const struct at_field listed_fields[] = {
    AT_WRITTEN(listed_study, name, AT_FIELD_TEXT, AT_COLUMN(0, "study")),
    AT_WRITTEN(listed_study, title, AT_FIELD_TEXT, AT_COLUMN(0, "title")),
};
static const struct at_schema listed_schema =
    AT_SCHEMA("a listed study", listed_study, listed_fields);

static enum at_status print_studies(const struct listed_study *studies, size_t count,
                                    enum at_output_format format, struct at_error *err)
{
    if (format != AT_FORMAT_TABLE)
        return at_print_list("studies", &listed_schema, studies, count, format, stdout, err);
    for (size_t i = 0; i < count; i++)
        printf("%-12s  %s\n", studies[i].name, studies[i].title);
    return AT_OK;
}

static enum at_status list_studies(const struct study_names *names, struct study_options *options,
                                   struct at_error *err)
{
    size_t count = names->files.count;
    struct listed_study *studies = at_alloc_array(count, sizeof *studies);
    enum at_status status = AT_OK;

    for (size_t i = 0; i < count && status == AT_OK; i++) {
        struct at_study study = {0};
        char *path = path_of(names, i);

        status = at_study_read(&study, path, err);
        if (status == AT_OK) {
            at_detail(&options->run.progress, "read %s", path);
            studies[i] = (struct listed_study){at_strdup(names->items[i]), at_strdup(study.title)};
        }
        at_study_clear(&study);
        free(path);
    }
    if (status == AT_OK)
        status = print_studies(studies, count, options->format, err);
    at_schema_clear_records(&listed_schema, studies, count);
    return status;
}

/* ---- one study ---- */

/* Add the families that only studies use. */
static enum at_status add_families(struct at_run_options *run, struct at_error *err)
{
    char *folder = at_path_data_file("templates/study");
    size_t count, capacity = run->session.family_count;
    struct at_family **own;
    enum at_status status = at_families_read(&own, &count, folder, folder, err);

    free(folder);
    if (status != AT_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        AT_PUSH(run->families, run->session.family_count, capacity, own[i]);
    free(own);
    run->session.families = run->families;
    return at_families_check_unique(run->families, run->session.family_count, err);
}

static enum at_status print_result(struct study_options *options, const struct at_study *study,
                                   const struct at_study_result *result, struct at_error *err)
{
    struct at_text_stream stream;
    enum at_status status = at_study_print(study, result, options->format, err);

    if (status != AT_OK || !options->out)
        return status;
    at_report_study(result, at_text_open(&stream));
    return at_out_write(options->out, &stream, AT_OK, &options->run.progress, err);
}

static enum at_status run_one(struct study_options *options, const char *path, struct at_error *err)
{
    struct at_study study = {0};
    struct at_study_result result = {0};
    struct at_device_info device;
    enum at_status status = at_study_read(&study, path, err);

    if (status == AT_OK)
        at_detail(&options->run.progress, "read %s", path);
    else
        at_advise_kind(err, path, AT_KIND_STUDY);
    if (status == AT_OK)
        status = at_out_check(options->out, NULL, err);
    if (status == AT_OK)
        status = at_run_families(&options->run, err);
    if (status == AT_OK)
        status = add_families(&options->run, err);
    if (status == AT_OK)
        status = at_run_device(&options->run, &device, err);
    if (status == AT_OK)
        status =
            at_study_run(&study, options->name, path, &device, &options->run.session, &result, err);
    if (status == AT_OK)
        status = print_result(options, &study, &result, err);
    at_schema_clear(&at_study_result_schema, &result);
    at_study_clear(&study);
    return status;
}

/* ---- kernels of a CUDA file ---- */

static enum at_status run_launches(struct study_options *options, const struct at_own_file *file,
                                   const struct at_device_info *device, struct at_error *err)
{
    const struct at_own_options *own = &options->own;
    size_t first = own->count > 1, count = own->count - first;
    struct at_own_launch *launches = at_alloc_array(count, sizeof *launches);
    struct at_study study = {0};
    struct at_study_result result = {0};
    struct at_device_info described;
    struct at_rates rates;
    size_t left_out = 0;
    bool found;
    enum at_status status = at_description_find(&described, &rates, &found, device, err);

    for (size_t i = 0; i < count; i++)
        launches[i] = own->rows[first + i].launch;
    if (status == AT_OK && !found)
        status = at_fail(err, AT_USAGE,
                         "no time can be predicted: tuning/devices does not "
                         "describe this GPU; --gpu emu:h200 takes one that it does");
    if (status == AT_OK)
        status = at_own_study(file, launches, count, device, &rates, &options->run.progress, &study,
                              &result, &left_out, err);
    if (status == AT_OK)
        status = print_result(options, &study, &result, err);
    if (status == AT_OK && left_out > 0)
        status = at_fail(err, AT_FAILED, "%zu of %zu kernels %s left out", left_out,
                         left_out + result.lines.count, left_out == 1 ? "is" : "are");
    at_schema_clear(&at_study_result_schema, &result);
    at_study_clear(&study);
    free(launches);
    return status;
}

static enum at_status run_own(struct study_options *options, struct at_error *err)
{
    struct at_own_file file = {0};
    struct at_device_info device;
    enum at_status status = at_run_device(&options->run, &device, err);

    if (status == AT_OK)
        status = at_out_check(options->out, NULL, err);
    if (status == AT_OK)
        status = at_own_file_read(&file, at_given_file(options->name), &options->own.source,
                                  &device, err);
    if (status == AT_OK)
        at_detail(&options->run.progress, "read %s", options->name);
    if (status == AT_OK)
        status = run_launches(options, &file, &device, err);
    at_own_file_clear(&file);
    return status;
}

static enum at_status run_shipped(struct study_options *options, struct at_error *err)
{
    struct study_names names;
    char *path = NULL;
    enum at_status status = find_studies(&names, err);

    if (status == AT_OK && options->name)
        status = find_study(&names, options->name, &path, err);
    if (status == AT_OK)
        status = options->name ? run_one(options, path, err) : list_studies(&names, options, err);
    free(path);
    free_names(&names);
    return status;
}

static enum at_status run_study(void *given, struct at_error *err)
{
    struct study_options *options = given;
    enum at_status status;

    at_interrupt_catch();
    if (options->name && at_is_own_file(options->name))
        status = run_own(options, err);
    else
        status = run_shipped(options, err);
    at_own_options_clear(&options->own);
    return status;
}

const struct at_command at_command_study = {
    .name = "study",
    .summary = "the classic experiments on memory accesses",
    .options = options_table,
    .arguments = "[NAME]\nFILE.yaml\nFILE.cu",
    .help =
        "Runs an experiment on memory accesses and prints its kernels side by side. Sectors and "
        "bank conflicts are counted on the emulated device. Times are measured on a GPU, or "
        "predicted for an emulated one. Without NAME it lists the studies."
        "\vFILE.yaml is a study of your own. A CUDA file shows its kernels, with predicted times: "
        "all of them, or one for each "
        "--entry. Options before the first --entry are for all kernels, those after an --entry "
        "for this one."
        "\n\nExample:\n  autotune study coalescing --gpu emu:h200",
    .check = check,
    .size = sizeof(struct study_options),
    /* No search, so no limit and no note about one. */
    .defaults = &(const struct study_options){.run.search_given = true},
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_study,
};
