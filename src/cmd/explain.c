/* SPDX-License-Identifier: Apache-2.0 */
/* autotune explain: what a config does to the memory system, line by line of its source. */
#include "model/explain.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/paths.h"
#include "cmd/cmd.h"
#include "cmd/run_options.h"
#include "kernel/render.h"
#include "model/description.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SPACE = 0x100, KEY_BLOCKS, BLOCKS_MAX = 1000000 };

static const struct argp_option options_table[] = {
    {"problem", 'p', "SPEC", 0, "Problem (default: 1024x1024:f32)", 0},
    {"device", 'd', "NAME", 0, "Described in tuning/devices (default: h200)", 0},
    {"blocks", KEY_BLOCKS, "N", 0, "Count over at most N blocks of the grid (default: 256)", 0},
    {"space", KEY_SPACE, "FILE", 0, "Know this family too; may be repeated", 0},
    {"format", 'f', "NAME", 0, "table (the default) or json", 0},
    {0},
};

struct explain_options {
    struct at_run_options run; /* for its --space */
    const char *family, *problem, *device;
    char **settings; /* "PAD=0" */
    int setting_count;
    int64_t blocks;
    enum at_output_format format;
};

static int64_t parse_blocks(struct argp_state *state, const char *text)
{
    int64_t blocks = 0;

    if (!at_integer_parse(text, strlen(text), &blocks) || blocks < 1 || blocks > BLOCKS_MAX)
        argp_error(state, "--blocks takes a whole number from 1 to %d, not \"%s\"", BLOCKS_MAX,
                   text);
    return blocks;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct explain_options *options = state->input;

    switch (key) {
    case 'p':
        options->problem = arg;
        return 0;
    case 'd':
        options->device = arg;
        return 0;
    case KEY_BLOCKS:
        options->blocks = parse_blocks(state, arg);
        return 0;
    case KEY_SPACE:
        AT_PUSH(options->run.spaces, options->run.space_count, options->run.space_capacity, arg);
        return 0;
    case 'f':
        options->format = at_parse_format(state, arg);
        return 0;
    case ARGP_KEY_ARGS:
        options->family = state->argv[state->next];
        options->settings = &state->argv[state->next + 1];
        options->setting_count = state->argc - state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which family?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .args_doc = "FAMILY [PARAM=VALUE]...",
    .doc = "Runs a config on the emulated device and tells, for each line of its source, what its "
           "memory accesses cost: sectors for global memory, wavefronts for shared memory, and how "
           "many the same bytes would take at best; and it predicts the time. No GPU is needed."
           "\vParameters that are not given have their default.",
};

/* ---- which config ---- */

static enum at_status apply_setting(struct at_config *config, const char *setting,
                                    struct at_error *err)
{
    const struct at_family *family = config->family;
    size_t name = strcspn(setting, "=");
    int64_t value;

    if (!setting[name] || !at_integer_parse(setting + name + 1, strlen(setting + name + 1), &value))
        return at_fail(err, AT_USAGE, "\"%s\" is not PARAM=VALUE", setting);
    for (size_t i = 0; i < family->param_count; i++) {
        if (strlen(family->params[i].name) != name ||
            strncmp(family->params[i].name, setting, name) != 0)
            continue;
        if (!at_param_has_value(&family->params[i], value))
            return at_fail(err, AT_USAGE, "%s is not in the space of family %s", setting,
                           family->name);
        config->values[i] = (int32_t)value;
        return AT_OK;
    }
    return at_fail(err, AT_USAGE, "family %s has no parameter %.*s", family->name, (int)name,
                   setting);
}

static enum at_status choose_config(const struct explain_options *options, struct at_config *config,
                                    struct at_error *err)
{
    const struct at_session_options *known = &options->run.session;
    enum at_status status = AT_OK;

    config->family = NULL;
    for (size_t i = 0; i < known->family_count; i++)
        if (strcmp(known->families[i]->name, options->family) == 0)
            *config = at_family_default(known->families[i]);
    if (!config->family)
        return at_fail(err, AT_USAGE, "there is no family \"%s\"", options->family);
    for (int i = 0; i < options->setting_count && status == AT_OK; i++)
        status = apply_setting(config, options->settings[i], err);
    return status;
}

static enum at_status check_legal(const struct at_config *config, const struct at_problem *problem,
                                  const struct at_device_info *device, struct at_error *err)
{
    bool legal;
    char *why = NULL;
    enum at_status status = at_config_legal(config, problem, device, &legal, &why, err);

    if (status == AT_OK && !legal)
        status = at_fail(err, AT_FAILED, "not legal for this problem: %s", why);
    free(why);
    return status;
}

/* ---- the table ---- */

/* The source's text at a line of the family's template, without its indentation; "" elsewhere. The
 * caller frees it. */
static char *source_text(const struct at_family *family, const struct at_explained_line *line)
{
    const char *text = family->source;

    if (line->line < 1 || strcmp(at_path_name(family->template_path), line->file) != 0)
        return at_strdup("");
    for (int64_t i = 1; i < line->line && *text; i++) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    text += strspn(text, " ");
    return at_strndup(text, strcspn(text, "\n"));
}

static void print_line(const struct at_family *family, const struct at_explained_line *line)
{
    bool shared = line->wavefronts > 0;
    double requests = (double)line->requests;
    double cost = (double)(shared ? line->wavefronts : line->sectors);
    double least = (double)(shared ? line->least_wavefronts : line->least_sectors);
    char *text = source_text(family, line), place[96];

    snprintf(place, sizeof place, "%s:%jd", line->file, (intmax_t)line->line);
    printf("  %-18s %-13s %3jd B %10jd %8.2f %8.2f %6.1f%%  %.60s\n", place, line->access,
           (intmax_t)line->bytes, (intmax_t)line->requests, cost / requests, least / requests,
           100 * least / cost, text);
    free(text);
}

/* Bytes that sectors move, against those of the elements. */
static void print_traffic(const struct at_explanation *e)
{
    const struct at_explained_line *lines = e->lines.items;
    int64_t sectors = 0, least = 0, wavefronts = 0, least_wavefronts = 0;

    for (size_t i = 0; i < e->lines.count; i++) {
        sectors += lines[i].sectors;
        least += lines[i].least_sectors;
        wavefronts += lines[i].wavefronts;
        least_wavefronts += lines[i].least_wavefronts;
    }
    printf("\n  global: %jd sectors, %.2f times the least\n", (intmax_t)sectors,
           least ? (double)sectors / (double)least : 0);
    if (wavefronts > 0)
        printf("  shared: %jd wavefronts, of which %jd are bank conflicts\n", (intmax_t)wavefronts,
               (intmax_t)(wavefronts - least_wavefronts));
}

static void print_explanation(const struct at_explanation *e, const struct at_family *family)
{
    const struct at_explained_line *lines = e->lines.items;

    printf("%s %s\non %s, %s (emulated)\n\n", e->family, e->config, e->problem, e->device);
    printf("  %jd blocks of %jd threads, %jd registers, %jd B static and %jd B dynamic shared "
           "memory\n",
           (intmax_t)e->blocks, (intmax_t)e->threads, (intmax_t)e->registers,
           (intmax_t)e->static_shared_bytes, (intmax_t)e->dynamic_shared_bytes);
    printf("  occupancy %jd%%: %jd blocks a multiprocessor, limited by %s\n",
           (intmax_t)e->occupancy_percent, (intmax_t)e->occupancy_blocks, e->occupancy_limiter);
    printf("  predicted %.1f us, bound by %s (a prediction, not a measurement)\n",
           (double)e->predicted_ns / 1e3, e->bound);
    if (e->blocks_counted < e->blocks)
        printf("  counted in %jd of the blocks, evenly spread\n", (intmax_t)e->blocks_counted);
    printf("\n  %-18s %-13s %5s %10s %8s %8s %7s  %s\n", "line", "access", "lane", "requests",
           "cost", "least", "good", "source");
    for (size_t i = 0; i < e->lines.count; i++)
        print_line(family, &lines[i]);
    puts("  cost and least: sectors a request (global), wavefronts a request (shared)");
    print_traffic(e);
}

/* ---- the whole ---- */

static enum at_status explain(const struct explain_options *options, struct at_error *err)
{
    struct at_problem problem;
    struct at_device_info device;
    struct at_rates rates;
    struct at_config config;
    struct at_explanation explanation = {0};
    char *header = NULL;
    enum at_status status = at_problem_parse(&problem, options->problem, err);

    if (status == AT_OK)
        status = at_description_read(&device, &rates, options->device, err);
    if (status == AT_OK)
        status = choose_config(options, &config, err);
    if (status == AT_OK)
        status = check_legal(&config, &problem, &device, err);
    if (status == AT_OK)
        status = at_template_read(&header, AT_TEMPLATE_HEADER, err);
    if (status == AT_OK)
        status = at_explain(&config, &problem, &device, &rates, header, options->blocks,
                            &explanation, err);
    if (status == AT_OK && options->format == AT_FORMAT_JSON)
        at_print_json(&at_explanation_schema, &explanation);
    else if (status == AT_OK)
        print_explanation(&explanation, config.family);
    at_schema_clear(&at_explanation_schema, &explanation);
    free(header);
    return status;
}

static enum at_status run_explain(int argc, char **argv, struct at_error *err)
{
    struct explain_options options = {.problem = "1024x1024:f32", .device = "h200", .blocks = 256};
    enum at_status status;

    argp_parse(&argp, argc, argv, 0, NULL, &options);
    status = at_run_families(&options.run, err);
    if (status == AT_OK)
        status = explain(&options, err);
    at_run_options_clear(&options.run);
    return status;
}

const struct at_command at_command_explain = {
    .name = "explain",
    .summary = "what a config does to the memory system",
    .run = run_explain,
};
