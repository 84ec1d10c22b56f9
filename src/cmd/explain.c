/* SPDX-License-Identifier: Apache-2.0 */
/* autotune explain: print what each source line of a kernel costs in memory transactions, and how
 * long the kernel takes: predicted, and on a GPU also measured. */
#include "explain/explain.h"
#include "base/memory.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/explain_config.h"
#include "cmd/family_table.h"
#include "cmd/format.h"
#include "cmd/own_options.h"
#include "cmd/run_options.h"
#include "explain/table.h"
#include "kernel/render.h"
#include "measure/select.h"
#include "model/description.h"
#include "system/paths.h"
#include "tune/time_config.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_SPACE = 0x100,
    KEY_BLOCKS,
    KEY_COUNTERS,
    KEY_TIMEOUT,
    KEY_PROFILE,
    KEY_PARAMS,
    BLOCKS_MAX = 1000000
};

static const struct argp_option options_table[] = {
    {NULL, 0, NULL, 0, "What to explain:", 1},
    {NULL, 0, NULL, 0, "What to count and print:", 2},
    {"problem", 'p', "SPEC", 0,
     "Problem, also without this option (default: one that suits the family, such as "
     "1024x1024:f32)",
     1},
    {"profile", KEY_PROFILE, "FILE", 0,
     "Explain the winner of --problem in a profile, instead of a family's default config", 1},
    {"params", KEY_PARAMS, NULL, 0,
     "Only list the family's parameters: what they mean, their values and defaults", 2},
    {"gpu", 'g', "SEL", 0, "Device, as for tune (default: emu)", 1},
    {"blocks", KEY_BLOCKS, "N", 0, "Count over at most N blocks of the grid (default: 256)", 2},
    {"counters", KEY_COUNTERS, NULL, 0, "Also read the GPU's own counters, with --gpu 0", 2},
    {"space", KEY_SPACE, "FILE", 0,
     "Add a family: a space file with its template beside it; may be repeated", 1},
    {"format", 'f', "NAME", 0, "How to print the result; the first is the default {formats}", 2},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "Time limit on a GPU, as for tune", 2},
    {0},
};

struct explain_options {
    struct at_run_options run; /* for its --gpu and --space, and the session on a GPU */
    struct at_explain_choice choice;
    const char *own_file; /* NULL: a family's config */
    struct at_own_options own;
    bool params;
    bool counters;
    int64_t blocks;
    enum at_output_format format;
};

static void check_own(struct argp_state *state, const struct explain_options *options)
{
    const struct at_explain_choice *choice = &options->choice;

    if (choice->problem || choice->profile || options->params || options->run.space_count > 0)
        argp_error(state, "--problem, --profile, --params and --space are for families, not for %s",
                   options->own_file);
    if (choice->setting_count > 0)
        argp_error(state, "\"%s\" is one too many: a CUDA file has no parameters, but --arg",
                   choice->settings[0]);
    if (options->counters)
        argp_error(state,
                   "--counters is for families; ncu reads the counters of a program that "
                   "launches the kernel of %s",
                   options->own_file);
    if (options->own.count > 2)
        argp_error(state, "explain takes one kernel, so one --entry; study takes several");
}

static void check_counters(struct argp_state *state, const struct explain_options *options)
{
    if (options->counters && options->format != AT_FORMAT_TABLE &&
        options->format != AT_FORMAT_JSON)
        argp_error(state, "--counters are printed by --format table and --format json");
    if (options->counters && options->params)
        argp_error(state, "--params only lists parameters, so --counters is one too many");
}

/* The first argument is the family or a CUDA file, unless a profile has the family. */
static void take_family(struct argp_state *state, struct explain_options *options)
{
    struct at_explain_choice *choice = &options->choice;

    if (choice->setting_count > 0 && at_is_own_file(choice->settings[0])) {
        options->own_file = *choice->settings++;
        choice->setting_count--;
        check_own(state, options);
        return;
    }
    at_own_options_refuse(state, &options->own);
    if (choice->setting_count > 0 && !strchr(choice->settings[0], '=')) {
        if (choice->profile)
            argp_error(state, "--profile has the family, so \"%s\" is one too many",
                       choice->settings[0]);
        choice->family = *choice->settings++;
        choice->setting_count--;
    }
    if (!choice->family && (options->params || !choice->profile))
        argp_error(state, "which family? autotune list --families names them");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct explain_options *options = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->own;
        return 0;
    case 'p':
        at_parse_only(state, &options->choice.problem, arg, "problem");
        return 0;
    case 'g':
        options->run.gpu = arg;
        return 0;
    case KEY_BLOCKS:
        options->blocks = at_parse_integer(state, "blocks", arg, 1, BLOCKS_MAX);
        return 0;
    case KEY_COUNTERS:
        options->counters = true;
        return 0;
    case KEY_SPACE:
        AT_PUSH(options->run.spaces, options->run.space_count, options->run.space_capacity, arg);
        return 0;
    case 'f':
        options->format = at_parse_format(state, arg);
        return 0;
    case KEY_TIMEOUT:
        options->run.session.timeout_ns = at_parse_timeout(state, arg);
        return 0;
    case KEY_PROFILE:
        options->choice.profile = arg;
        return 0;
    case KEY_PARAMS:
        options->params = true;
        return 0;
    case ARGP_KEY_ARGS:
        options->choice.settings = &state->argv[state->next];
        for (; state->next < state->argc; state->next++) {
            char *word = state->argv[state->next];

            if (at_problem_is_spec(word))
                at_parse_only(state, &options->choice.problem, word, "problem");
            else
                options->choice.settings[options->choice.setting_count++] = word;
        }
        return 0;
    case ARGP_KEY_END:
        check_counters(state, options);
        take_family(state, options);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&at_own_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .children = children,
    .help_filter = at_help_filter,
    .args_doc = "FAMILY [PROBLEM] [PARAM=VALUE]...\n--profile=FILE [PROBLEM] [PARAM=VALUE]...\n"
                "FILE.cu",
    .doc =
        "Runs a config on the emulated device and prints what the memory accesses of each source "
        "line cost: sectors for global memory, wavefronts for shared memory, and the least "
        "number that the same bytes need. It also predicts the time, which needs no GPU; on a GPU "
        "(--gpu 0) it measures the time too.\vParameters that are not given have their default, or "
        "with --profile the "
        "winner's value. A CUDA file is compiled as it stands, and one of its kernels is run with "
        "the grid, block and arguments that are given; its time is only predicted."
        "\n\nExample:\n  autotune explain --profile best.yaml 8192x8192:f32",
};

/* ---- on which device ---- */

/* A device and, if its model is described in tuning/devices, its rates. */
struct target {
    struct at_device_info device;
    bool described;
    struct at_device_info description;
    struct at_rates rates;
};

static enum at_status find_target(const char *gpu, struct target *target, struct at_error *err)
{
    struct at_device_info *devices;
    size_t count;
    enum at_status status = at_select_devices(gpu, &devices, &count, err);

    if (status != AT_OK)
        return status;
    target->device = devices[0];
    free(devices);
    if (count > 1)
        return at_fail(err, AT_USAGE, "\"%s\" means %zu devices; explain takes one", gpu, count);
    return at_description_find(&target->description, &target->rates, &target->described,
                               &target->device, err);
}

/* An emulated device has no hardware, and its counts are printed anyway. */
static enum at_status check_target(const struct explain_options *options,
                                   const struct target *target, struct at_error *err)
{
    if (!options->counters || !at_device_is_emulated(&target->device))
        return AT_OK;
    return at_fail(
        err, AT_USAGE,
        "--counters are a GPU's own, and this is an emulated %s: name a GPU with --gpu 0; "
        "without --counters, the model's are printed",
        target->device.name);
}

/* Measure the time, and read the counters that are wanted, unless the device is emulated. */
static enum at_status measure(const struct explain_options *options, const struct target *target,
                              const struct at_config *config, const struct at_problem *problem,
                              struct at_explanation *explanation, struct at_error *err)
{
    struct at_session *session = NULL;
    struct at_config_time time;
    enum at_status status;

    if (at_device_is_emulated(&target->device))
        return AT_OK;
    status = at_session_open(&session, &target->device, &options->run.session, err);
    if (status == AT_OK)
        status = at_time_config(session, config, problem, &time,
                                options->counters ? &explanation->counters : NULL, err);
    if (status == AT_OK) {
        explanation->measured_ns = (int64_t)(time.ns + 0.5);
        explanation->measured_spread_permille = time.spread_permille;
    }
    at_session_close(session);
    return status;
}

/* ---- running ---- */

static enum at_status explain(const struct explain_options *options, struct at_error *err)
{
    struct at_problem problem;
    struct target target = {0};
    struct at_config config;
    struct at_explanation explanation = {0};
    char *header = NULL;
    enum at_status status = find_target(options->run.gpu, &target, err);

    if (status == AT_OK)
        status = check_target(options, &target, err);
    if (status == AT_OK)
        status = at_explain_choose(&options->choice, &options->run.session, &target.device, &config,
                                   &problem, err);
    if (status == AT_OK)
        status = at_template_read(&header, AT_TEMPLATE_HEADER, err);
    if (status == AT_OK)
        status =
            at_explain(&config, &problem, &target.device, target.described ? &target.rates : NULL,
                       header, options->blocks, &explanation, err);
    if (status == AT_OK) {
        memcpy(explanation.predictions, target.description.predictions,
               sizeof explanation.predictions);
        status = measure(options, &target, &config, &problem, &explanation, err);
    }
    if (status == AT_OK) {
        const struct at_explained_text source = {config.family->template_path,
                                                 config.family->source};

        status = at_explanation_print(&explanation, &source, options->format, err);
    }
    at_schema_clear(&at_explanation_schema, &explanation);
    free(header);
    return status;
}

static enum at_status explain_own(struct explain_options *options, struct at_error *err)
{
    const struct at_own_launch *launch = &options->own.rows[options->own.count - 1].launch;
    struct target target = {0};
    struct at_own_file file = {0};
    struct at_explanation explanation = {0};
    enum at_status status = find_target(options->run.gpu, &target, err);

    if (status == AT_OK)
        status =
            at_own_file_read(&file, options->own_file, &options->own.dirs, &target.device, err);
    if (status == AT_OK)
        at_detail(&options->run.progress, "read %s", options->own_file);
    if (status == AT_OK)
        status = at_own_kernel_explain(&file, launch, &target.device,
                                       target.described ? &target.rates : NULL, options->blocks,
                                       &explanation, err);
    if (status == AT_OK) {
        const struct at_explained_text source = {file.path, file.text};

        memcpy(explanation.predictions, target.description.predictions,
               sizeof explanation.predictions);
        status = at_explanation_print(&explanation, &source, options->format, err);
    }
    at_schema_clear(&at_explanation_schema, &explanation);
    at_own_file_clear(&file);
    return status;
}

static enum at_status list_params(const struct explain_options *options, struct at_error *err)
{
    const struct at_family *family;
    enum at_status status =
        at_run_family(&family, &options->run.session, options->choice.family, err);

    return status == AT_OK ? at_print_params(family, options->format, err) : status;
}

static enum at_status run_explain(int argc, char **argv, struct at_error *err)
{
    struct explain_options options = {.blocks = 256};
    enum at_status status;

    at_run_options_init(&options.run);
    options.run.gpu = "emu";
    at_command_line(&argp, 0, argc, argv, &options, &options.run.progress);
    status = options.own_file ? explain_own(&options, err) : at_run_families(&options.run, err);
    if (status == AT_OK && !options.own_file)
        status = options.params ? list_params(&options, err) : explain(&options, err);
    at_own_options_clear(&options.own);
    at_run_options_clear(&options.run);
    return status;
}

const struct at_command at_command_explain = {
    .name = "explain",
    .summary = "what a config does to the memory system",
    .run = run_explain,
};
