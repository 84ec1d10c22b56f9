/* SPDX-License-Identifier: Apache-2.0 */
/* autotune cache: show, clear or fill the cache of compiled kernels. */
#include "kernel/cache.h"
#include "cmd/chosen.h"
#include "cmd/command_line.h"
#include "device/kind.h"
#include "kernel/builder.h"
#include "schema/table.h"

#include <stdio.h>
#include <stdlib.h>

struct cache_options {
    struct at_lookup_options common; /* of --fill */
    bool clear, fill;
    enum at_output_format format;
};

static const struct at_option options_table[] = {
    {"clear", 'c', NULL, 0, "Remove all compiled kernels", AT_SETS_FLAG(cache_options, clear)},
    {"fill", 0, NULL, 0,
     "Compile the kernels that lookup chooses from FILE, also for a device that is not present",
     AT_SETS_FLAG(cache_options, fill)},
    AT_FORMAT(0, cache_options, format),
    AT_TABLE(cache_options, common, at_lookup_table),
    {0},
};

static enum at_status check(void *given, struct at_error *err)
{
    const struct cache_options *options = given;
    const struct at_lookup_options *common = &options->common;

    if (options->fill && !common->file && !at_run_problems_given(&common->run))
        return at_fail(err, AT_USAGE, "which kernels? Name a profile, or problems");
    if (options->fill && options->clear)
        return at_fail(err, AT_USAGE, "--fill and --clear do not go together");
    if (!options->fill && (common->file || common->devices.count > 0 || common->run.gpu ||
                           at_run_problems_given(&common->run)))
        return at_fail(
            err, AT_USAGE,
            "only --fill takes a profile, a device and problems; --clear empties the cache");
    return at_lookup_options_check(common, false, err);
}

struct cache_record {
    char *folder; /* borrowed */
    int64_t kernels, programs, bytes, bytes_max;
};

static const struct at_field cache_fields[] = {
    AT_WRITTEN(cache_record, bytes, AT_FIELD_INT, AT_COLUMN(4, "bytes")),
    AT_WRITTEN(cache_record, bytes_max, AT_FIELD_INT, AT_COLUMN(5, "at most")),
    AT_WRITTEN(cache_record, folder, AT_FIELD_TEXT, AT_COLUMN(1, "folder")),
    AT_WRITTEN(cache_record, kernels, AT_FIELD_INT, AT_COLUMN(2, "kernels")),
    AT_WRITTEN(cache_record, programs, AT_FIELD_INT, AT_COLUMN(3, "programs")),
};
static const struct at_schema cache_schema = AT_SCHEMA("the cache", cache_record, cache_fields);

static enum at_status clear_cache(const struct at_cubin_cache *cache, struct at_progress *progress,
                                  struct at_error *err)
{
    struct at_cubin_usage usage;
    enum at_status status = at_cubin_cache_usage(cache, &usage, err);

    if (status == AT_OK)
        status = at_cubin_cache_clear(cache, err);
    if (status == AT_OK)
        at_detail(progress, "removed %zu kernels in %zu programs", usage.kernels, usage.programs);
    return status;
}

/* ---- filling ---- */

/* Wait for all kernels; those that do not compile end it. */
static enum at_status wait_for_all(struct at_builder *builder, size_t total,
                                   struct at_progress *progress, struct at_error *err)
{
    enum at_status status = AT_OK;

    for (size_t done = 0; done < total && status == AT_OK; done++) {
        const struct at_export_item *item;
        struct at_built built;

        at_progress_step(progress, "kernels", done, total);
        status = at_builder_wait(builder, &built, err);
        if (status != AT_OK)
            break;
        item = built.owner;
        if (built.outcome != AT_CORRECT)
            status = at_fail(err, AT_FAILED, "%s does not compile: %s", item->spec, built.message);
        at_program_release(built.program);
    }
    at_progress_clear(progress);
    return status;
}

/* Compile the chosen kernels that are not in the cache. */
static enum at_status build(struct at_builder *builder, const struct at_export *export,
                            struct at_progress *progress, struct at_error *err)
{
    size_t kernels = 0, missing = 0;
    enum at_status status;

    for (size_t i = 0; i < export->count; i++) {
        const struct at_config *config = &export->items[i].answer.config;
        struct at_problem_kind kind = at_problem_kind(&export->items[i].problem);

        if (!at_export_is_kernel(export, i))
            continue;
        kernels++;
        if (at_builder_has(builder, config, kind))
            continue;
        missing++;
        at_builder_add(builder, config, kind, &export->items[i]);
    }
    status = wait_for_all(builder, missing, progress, err);
    if (status == AT_OK)
        at_note(progress, "compiled %zu kernel%s for %s; %zu were there", missing,
                missing == 1 ? "" : "s", export->targets[0].device.name, kernels - missing);
    return status;
}

static enum at_status fill_cache(struct at_lookup_options *options, struct at_error *err)
{
    struct at_chosen chosen = {0};
    struct at_builder *builder = NULL;
    struct at_builder_options build_options = {.workers = options->run.session.jobs,
                                               .use_cache = true};
    char *header = NULL;
    enum at_status status = at_chosen_find(&chosen, options, err);

    if (status == AT_OK)
        status = at_template_header_read(&header, err);
    if (status == AT_OK) {
        const struct at_device_info *device = &chosen.targets[0].device;

        build_options.compute_capability = device->compute_capability;
        /* What --device names is a GPU elsewhere; an emulated one is named by --gpu. */
        build_options.image =
            options->run.gpu && at_device_kind(device)->runs_ptx ? AT_IMAGE_PTX : AT_IMAGE_CUBIN;
        build_options.header = header;
        status = at_builder_open(&builder, &build_options, NULL, 0, err);
    }
    if (status == AT_OK)
        status = build(builder, &chosen.export, &options->run.progress, err);
    at_builder_close(builder);
    free(header);
    at_chosen_clear(&chosen);
    return status;
}

/* ---- the command ---- */

static void print_usage(const struct at_cubin_cache *cache, const struct at_cubin_usage *usage)
{
    char *size = at_cubin_usage_text(usage);

    printf("%s\n  %s\n", at_cubin_cache_path(cache), size);
    free(size);
}

static enum at_status run_cache(void *given, struct at_error *err)
{
    struct cache_options *options = given;
    struct at_cubin_cache *cache = NULL;
    struct at_cubin_usage usage;
    enum at_status status = at_cubin_cache_open(&cache, NULL, err);

    if (status == AT_OK && options->clear)
        status = clear_cache(cache, &options->common.run.progress, err);
    if (status == AT_OK && options->fill)
        status = fill_cache(&options->common, err);
    if (status == AT_OK)
        status = at_cubin_cache_usage(cache, &usage, err);
    if (status == AT_OK && options->format == AT_FORMAT_TABLE)
        print_usage(cache, &usage);
    else if (status == AT_OK)
        status = at_print(&cache_schema,
                          &(struct cache_record){
                              .folder = (char *)at_cubin_cache_path(cache),
                              .kernels = (int64_t)usage.kernels,
                              .programs = (int64_t)usage.programs,
                              .bytes = (int64_t)usage.bytes,
                              .bytes_max = AT_CUBIN_CACHE_BYTES_MAX,
                          },
                          options->format, stdout, err);
    at_cubin_cache_close(cache);
    return status;
}

const struct at_command at_command_cache = {
    .name = "cache",
    .summary = "show, clear or fill the compiled kernels that are kept",
    .options = options_table,
    .arguments = "[PROBLEM...] [FILE]",
    .help = "Shows where compiled kernels are kept, how many, and how much space they take. With "
            "--fill it first compiles all kernels of a profile into the cache: when an image is "
            "built, say, for the GPU that it will run on.\vThe kernels are those of export: for "
            "the device that is named, or else for the one that FILE is about."
            "\n\nExample:\n  autotune cache --fill --device h200 best.yaml",
    .check = check,
    .size = sizeof(struct cache_options),
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_cache,
};
