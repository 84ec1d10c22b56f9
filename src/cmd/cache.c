/* SPDX-License-Identifier: Apache-2.0 */
/* autotune cache: show or clear the cache of compiled kernels. */
#include "kernel/cache.h"
#include "base/memory.h"
#include "cmd/command_line.h"
#include "schema/table.h"

#include <inttypes.h>
#include <stdio.h>

struct cache_options {
    struct at_progress progress;
    bool clear;
    enum at_output_format format;
};

static const struct at_option options_table[] = {
    {"clear", 'c', NULL, 0, "Remove all compiled kernels", AT_SETS_FLAG(cache_options, clear)},
    AT_FORMAT(0, cache_options, format),
    {0},
};

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

static void print_usage(const struct at_cubin_cache *cache, const struct at_cubin_usage *usage)
{
    printf("%s\n", at_cubin_cache_path(cache));
    printf("  kernels   %zu in %zu programs\n", usage->kernels, usage->programs);
    printf("  size      %.1f MiB, of at most %" PRId64 " MiB\n", (double)usage->bytes / 0x1p20,
           AT_CUBIN_CACHE_BYTES_MAX >> 20);
}

static enum at_status run_cache(void *given, struct at_error *err)
{
    struct cache_options *options = given;
    struct at_cubin_cache *cache;
    struct at_cubin_usage usage;
    enum at_status status = at_cubin_cache_open(&cache, NULL, err);

    if (status != AT_OK)
        return status;
    if (options->clear)
        status = clear_cache(cache, &options->progress, err);
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
    .summary = "show or clear the compiled kernels that are kept",
    .options = options_table,
    .help = "Shows where compiled kernels are kept, how many, and how much space they take.",
    .size = sizeof(struct cache_options),
    .run = run_cache,
};
