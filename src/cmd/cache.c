/* SPDX-License-Identifier: Apache-2.0 */
/* autotune cache: show or clear the cache of compiled kernels. */
#include "cmd/cmd.h"
#include "kernel/cubin_cache.h"

#include <inttypes.h>
#include <stdio.h>

struct cache_options {
    bool clear;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cache_options *options = state->input;

    switch (key) {
    case 'c':
        options->clear = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options_table[] = {
    {"clear", 'c', NULL, 0, "Remove all compiled kernels", 0},
    {0},
};
static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .doc = "Shows where compiled kernels are kept, how many, and how much space they take.",
};

static void print_usage(const struct at_cubin_cache *cache, const struct at_cubin_usage *usage)
{
    printf("%s\n", at_cubin_cache_folder(cache)->path);
    printf("  kernels   %zu in %zu programs\n", usage->kernels, usage->programs);
    printf("  size      %.1f MiB, of at most %" PRId64 " MiB\n", (double)usage->bytes / 0x1p20,
           AT_CUBIN_CACHE_BYTES_MAX >> 20);
}

static enum at_status run_cache(int argc, char **argv, struct at_error *err)
{
    struct cache_options options = {0};
    struct at_cubin_cache *cache;
    struct at_cubin_usage usage;
    enum at_status status;

    argp_parse(&argp, argc, argv, 0, NULL, &options);
    status = at_cubin_cache_open(&cache, NULL, err);
    if (status != AT_OK)
        return status;
    if (options.clear)
        status = at_cubin_folder_clear(at_cubin_cache_folder(cache), err);
    if (status == AT_OK)
        status = at_cubin_folder_usage(at_cubin_cache_folder(cache), &usage, err);
    if (status == AT_OK)
        print_usage(cache, &usage);
    at_cubin_cache_close(cache);
    return status;
}

const struct at_command at_command_cache = {
    .name = "cache",
    .summary = "show or clear the compiled kernels that are kept",
    .run = run_cache,
};
