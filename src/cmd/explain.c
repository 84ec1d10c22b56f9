/* SPDX-License-Identifier: Apache-2.0 */
/* autotune explain: print what each source line of a kernel costs in memory transactions, and how
 * long the kernel takes: predicted, and on a GPU also measured. */
#include "explain/explain.h"
#include "base/memory.h"
#include "cmd/command_line.h"
#include "cmd/config_choice.h"
#include "cmd/files.h"
#include "cmd/guess.h"
#include "cmd/own_options.h"
#include "cmd/run_options.h"
#include "device/kind.h"
#include "emulated/time/description.h"
#include "kernel/render.h"
#include "pipeline/cases.h"
#include "pipeline/session.h"
#include "pipeline/shootout.h"
#include "space/named.h"
#include "study/study_run.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 1000000 };

struct explain_options {
    struct at_run_options run; /* for its --gpu and --space, and the session on a GPU */
    struct at_texts words;     /* a family or CUDA file, and settings */
    struct at_config_choice choice;
    const char *own_file; /* NULL: a family's config */
    struct at_own_options own;
    bool params;
    bool counters;
    bool ncu;
    struct at_texts with; /* what the config beside it has: settings, a family or a profile */
    int64_t blocks;
    struct at_explained_view view;
    enum at_output_format format;
};

static enum at_status take_problem(void *to, const struct at_option *option, const char *text,
                                   struct at_error *err)
{
    struct explain_options *options = to;

    (void)option;
    if (options->choice.problem)
        return at_fail(err, AT_USAGE, "one problem at a time");
    options->choice.problem = text;
    return AT_OK;
}

static enum at_status take_argument(void *to, const struct at_option *option, const char *text,
                                    struct at_error *err)
{
    struct explain_options *options = to;

    if (at_guess_is_problem(text))
        return take_problem(to, option, text, err);
    at_texts_add(&options->words, text);
    return AT_OK;
}

static const struct at_option options_table[] = {
    AT_TABLE(explain_options, own, at_own_table),
    AT_GROUP(1, "What to explain:"),
    AT_GROUP(2, "What to count and print:"),
    AT_ARGUMENT("family", NULL, AT_CALLS(take_argument)),
    {"problem", 'p', "SPEC", 1,
     "Problem, also without this option (default: one that suits the family, such as "
     "1024x1024:f32)",
     AT_CALLS(take_problem)},
    {"profile", 0, "FILE", 1,
     "Explain the winner of --problem in a profile, instead of a family's default config",
     AT_SETS_TEXT(explain_options, choice.profile)},
    {"with", 0, "PARAM=VALUE|FAMILY|PROFILE", 1,
     "Compare with a second config: this one with another value of a parameter, a family's default "
     "or a profile's winner; may be repeated",
     AT_ADDS_TEXT(explain_options, with)},
    {"params", 0, NULL, 2,
     "Only list the family's parameters: what they mean, their values and defaults",
     AT_SETS_FLAG(explain_options, params)},
    AT_GPU(1, explain_options, run.gpu, "Device, as for tune (default: emu)"),
    {"blocks", 0, "N", 2, "Count over at most N blocks of the grid (default: 256)",
     AT_SETS_INTEGER(explain_options, blocks, int64_t, 1, BLOCKS_MAX)},
    {"counters", 0, NULL, 2, "Also read the GPU's own counters, with --gpu 0",
     AT_SETS_FLAG(explain_options, counters)},
    {"source", 0, NULL, 2,
     "Print the source around the lines that access memory, ranked by what they cost",
     AT_SETS_FLAG(explain_options, view.listing)},
    {"draw", 0, "LINE", 2,
     "Draw a request of each access at this line of the source: which lane wants which word of "
     "which sector or bank",
     AT_SETS_INTEGER(explain_options, view.draw, int64_t, 1, INT32_MAX)},
    {"ncu", 0, NULL, 2,
     "Print the command with which Nsight Compute profiles this config, and what to look at",
     AT_SETS_FLAG(explain_options, ncu)},
    AT_SPACE(1, explain_options, run.spaces),
    AT_FORMAT(2, explain_options, format),
    AT_TIMEOUT(2, explain_options, run.session.timeout_ns, "Time limit on a GPU, as for tune"),
    {0},
};

static enum at_status check_own(const struct explain_options *options, struct at_error *err)
{
    const struct at_config_choice *choice = &options->choice;

    if (choice->problem || choice->profile || options->params || options->run.spaces.count > 0 ||
        options->with.count > 0 || options->ncu)
        return at_fail(
            err, AT_USAGE,
            "--problem, --profile, --params, --with, --ncu and --space are for families, "
            "not for %s",
            options->own_file);
    if (choice->setting_count > 0)
        return at_fail(err, AT_USAGE,
                       "\"%s\" is one too many: a CUDA file has no parameters, but --arg",
                       choice->settings[0]);
    if (options->counters)
        return at_fail(err, AT_USAGE,
                       "--counters is for families; ncu reads the counters of a program that "
                       "launches the kernel of %s",
                       options->own_file);
    if (options->own.count > 2)
        return at_fail(err, AT_USAGE,
                       "explain takes one kernel, so one --entry; study takes several");
    return AT_OK;
}

static enum at_status check_counters(const struct explain_options *options, struct at_error *err)
{
    if (options->counters && options->format != AT_FORMAT_TABLE &&
        options->format != AT_FORMAT_JSON)
        return at_fail(err, AT_USAGE, "--counters are printed by --format table and --format json");
    if (options->counters && options->params)
        return at_fail(err, AT_USAGE,
                       "--params only lists parameters, so --counters is one too many");
    return AT_OK;
}

/* The first word is the family or a CUDA file, unless a profile or a lookup gives the config. The
 * others are settings. */
static enum at_status take_family(struct explain_options *options, struct at_error *err)
{
    struct at_config_choice *choice = &options->choice;
    const struct at_texts *words = &options->words;
    const char *first = words->count > 0 ? words->items[0] : NULL;
    bool own = first && at_is_own_file(first), named = own || (first && !strchr(first, '='));
    enum at_status status;

    choice->settings = words->items + named;
    choice->setting_count = words->count - named;
    if (own) {
        options->own_file = first;
        return check_own(options, err);
    }
    status = at_own_options_refuse(&options->own, "explain", err);
    if (status != AT_OK)
        return status;
    if (named && choice->profile)
        return at_fail(err, AT_USAGE, "--profile has the family, so \"%s\" is one too many", first);
    if (!named && (options->params || !(choice->profile || choice->problem)))
        return at_fail(err, AT_USAGE, "which family%s? autotune list --families names them",
                       options->params ? "" : ", or which problem");
    choice->family = named ? first : NULL;
    return AT_OK;
}

static enum at_status check_view(const struct explain_options *options, struct at_error *err)
{
    if (options->view.draw > 0 && options->format != AT_FORMAT_TABLE)
        return at_fail(err, AT_USAGE, "--draw is for --format table");
    if ((options->view.draw > 0 || options->view.listing) &&
        (options->with.count > 0 || options->params || options->ncu))
        return at_fail(err, AT_USAGE, "--source and --draw show one config that runs");
    return AT_OK;
}

static enum at_status check(void *given, struct at_error *err)
{
    struct explain_options *options = given;
    enum at_status status = check_counters(options, err);

    if (status == AT_OK)
        status = check_view(options, err);
    if (status == AT_OK)
        status = take_family(options, err);
    at_own_options_settle(&options->own);
    return status;
}

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
    enum at_status status = at_one_device(&target->device, gpu, err);

    return status == AT_OK ? at_description_find(&target->description, &target->rates,
                                                 &target->described, &target->device, err)
                           : status;
}

/* An emulated device has no hardware, and its counts are printed anyway. */
static enum at_status check_target(const struct explain_options *options,
                                   const struct target *target, struct at_error *err)
{
    if (!options->counters || at_device_kind(&target->device)->hardware)
        return AT_OK;
    return at_fail(
        err, AT_USAGE,
        "--counters are a GPU's own, and this is an emulated %s: name a GPU with --gpu 0; "
        "without --counters, the model's are printed",
        target->device.name);
}

/* CUPTI reads the counters of one launch, which are none of a transpose that takes several. */
static enum at_status check_one_launch(const struct explain_options *options,
                                       const struct at_config *config,
                                       const struct at_problem *problem,
                                       const struct at_device_info *device, struct at_error *err)
{
    struct at_launch launch;
    enum at_status status = at_config_launch(config, problem, device, &launch, err);

    if (status == AT_OK && options->counters && at_launch_passes(&launch) > 1)
        status = at_fail(err, AT_USAGE,
                         "--counters are those of one launch, and %s is launched %jd times for a "
                         "transpose: --ncu prints how Nsight Compute counts each",
                         config->family->name, (intmax_t)at_launch_passes(&launch));
    return status;
}

/* Measure the time, and read the counters that are wanted, unless the device is emulated. */
static enum at_status measure(const struct explain_options *options, const struct target *target,
                              const struct at_config *config, const struct at_problem *problem,
                              struct at_explanation *explanation, struct at_error *err)
{
    struct at_session *session = NULL;
    struct at_config_time time;
    enum at_status status;

    if (at_device_kind(&target->device)->predicted)
        return AT_OK;
    at_progress_step(options->run.session.progress, "measuring", 0, 1);
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

/* Explain a config of a family; source: its template. */
static enum at_status explain_config(const struct explain_options *options,
                                     const struct target *target,
                                     struct at_explanation *explanation,
                                     struct at_explained_text *source, struct at_error *err)
{
    struct at_problem problem;
    struct at_config config;
    char *header = NULL;
    enum at_status status = check_target(options, target, err);

    if (status == AT_OK)
        status = at_config_choose(&options->choice, &options->run.session, &target->device, &config,
                                  &problem, err);
    if (status == AT_OK)
        status = check_one_launch(options, &config, &problem, &target->device, err);
    if (status == AT_OK)
        status = at_template_header_read(&header, err);
    if (status == AT_OK)
        status = at_explain(&config, &problem, &target->device,
                            target->described ? &target->rates : NULL, header, options->blocks,
                            options->run.session.progress, explanation, err);
    if (status == AT_OK)
        status = measure(options, target, &config, &problem, explanation, err);
    if (status == AT_OK)
        *source = (struct at_explained_text){config.family->template_path, config.family->source};
    free(header);
    return status;
}

/* ---- two configs side by side ---- */

/* Make the second config. Without another family or profile it is the first one, changed. */
static enum at_status choose_other(const struct explain_options *options,
                                   const struct at_device_info *device,
                                   const struct at_config *first, const struct at_problem *problem,
                                   struct at_config *config, struct at_error *err)
{
    const struct at_texts *with = &options->with;
    char *name = at_problem_format(problem);
    const char **settings = at_alloc_array(with->count, sizeof *settings);
    struct at_config_choice other = {.problem = name, .settings = settings};
    struct at_problem same = *problem;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < with->count; i++) {
        if (at_problem_is_spec(with->items[i]))
            status = at_fail(err, AT_USAGE,
                             "--with takes PARAM=VALUE, a family or a profile: the problem %s "
                             "is that of both",
                             name);
        else if (at_file_is(with->items[i], AT_KIND_PROFILE))
            other.profile = with->items[i];
        else if (strchr(with->items[i], '='))
            settings[other.setting_count++] = with->items[i];
        else
            other.family = with->items[i];
    }
    *config = *first;
    if (status == AT_OK && (other.family || other.profile))
        status = at_config_choose(&other, &options->run.session, device, config, &same, err);
    else if (status == AT_OK)
        status = at_config_apply(config, settings, other.setting_count, err);
    if (status == AT_OK)
        status = at_config_require(config, problem, device, "not legal for this problem", err);
    free(settings);
    free(name);
    return status;
}

/* Write what a config has and the other has not: "tile PAD=0". */
static void label_row(struct at_study_row *row, const struct at_config *config,
                      const struct at_config *other)
{
    const struct at_family *family = config->family;
    size_t used = 0, size = sizeof row->kernel.label;
    char *label = row->kernel.label;

    used += (size_t)snprintf(label, size, "%s", family->name);
    for (size_t i = 0; i < family->param_count && family == other->family && used < size; i++)
        if (config->values[i] != other->values[i])
            used += (size_t)snprintf(label + used, size - used, " %s=%d", family->params[i].name,
                                     (int)config->values[i]);
    snprintf(row->kernel.family, sizeof row->kernel.family, "%s", family->name);
    row->kernel.parameters = at_config_to_names(config);
}

static enum at_status compare(const struct explain_options *options, const struct target *target,
                              struct at_error *err)
{
    struct at_config configs[2];
    struct at_problem problem;
    struct at_study study = {.title = "two configs; what differs has a column", .differing = true};
    struct at_study_result result = {0};
    struct at_study_row *rows = at_alloc_array(2, sizeof *rows);
    enum at_status status = at_config_choose(&options->choice, &options->run.session,
                                             &target->device, &configs[0], &problem, err);

    if (status == AT_OK)
        status = choose_other(options, &target->device, &configs[0], &problem, &configs[1], err);
    if (status == AT_OK && configs[0].family == configs[1].family &&
        memcmp(configs[0].values, configs[1].values, sizeof configs[0].values) == 0)
        status = at_fail(err, AT_USAGE, "both configs are the same: --with names what differs");
    if (status != AT_OK) {
        free(rows);
        return status;
    }
    for (int i = 0; i < 2; i++)
        label_row(&rows[i], &configs[i], &configs[1 - i]);
    study.rows = (struct at_list){rows, 2};
    study.columns.items = at_alloc_array(AT_STUDY_COLUMNS, sizeof(struct at_located));
    for (; study.columns.count < AT_STUDY_COLUMNS; study.columns.count++)
        ((struct at_located *)study.columns.items)[study.columns.count].text =
            at_strdup(at_study_column_names[study.columns.count]);
    study.problem.text = at_problem_format(&problem);
    study.reading = at_strdup("");
    status = at_study_run(&study, "explain", "--with", &target->device, &options->run.session,
                          &result, err);
    if (status == AT_OK)
        status = at_study_print(&study, &result, options->format, err);
    at_schema_clear(&at_study_result_schema, &result);
    at_study_clear(&study);
    return status;
}

/* ---- with Nsight Compute ---- */

/* What to look at: sections of Nsight Compute, and what they show. */
static const struct {
    const char *section, *shows;
} ncu_sections[] = {
    {"SpeedOfLight", "DRAM and L2 throughput against their peaks: what binds"},
    {"MemoryWorkloadAnalysis_Tables", "sectors per request, bank conflicts, hit rates"},
    {"Occupancy", "achieved occupancy beside the theoretical one, and its limiter"},
    {"LaunchStats", "waves per multiprocessor: how large the tail is"},
    {"SourceCounters", "excessive sectors and wavefronts of each line"},
};

/* Print text that a shell reads as one word. */
static void print_word(const char *text)
{
    putchar(' ');
    if (!strpbrk(text, " '\"$\\*?&;()<>|`") && *text) {
        fputs(text, stdout);
        return;
    }
    putchar('\'');
    for (; *text; text++)
        fputs(*text == '\'' ? "'\\''" : (const char[]){*text, '\0'}, stdout);
    putchar('\'');
}

static enum at_status print_ncu(const struct explain_options *options, const struct target *target,
                                struct at_error *err)
{
    struct at_problem problem;
    struct at_config config;
    struct at_launch launch;
    intmax_t passes;
    char *name;
    enum at_status status = at_config_choose(&options->choice, &options->run.session,
                                             &target->device, &config, &problem, err);

    if (status == AT_OK)
        status = at_config_launch(&config, &problem, &target->device, &launch, err);
    if (status != AT_OK)
        return status;
    name = at_problem_format(&problem);
    passes = at_launch_passes(&launch);
    /* The kernels of configs are called k_ and their key. First they are launched on small cases.
     */
    printf("ncu --target-processes all --kernel-name regex:^k_ --launch-skip %jd --launch-count "
           "%jd",
           AT_VERIFICATION_CASES_MAX * passes, passes);
    for (size_t i = 0; i < AT_COUNT(ncu_sections); i++)
        printf(" --section %s", ncu_sections[i].section);
    fputs(" \\\n    autotune explain", stdout);
    print_word(config.family->name);
    for (size_t i = 0; i < config.family->param_count; i++)
        if (at_param_is_told(&config.family->params[i], config.values[i]))
            printf(" %s=%d", config.family->params[i].name, (int)config.values[i]);
    fputs(" \\\n    --problem", stdout);
    print_word(name);
    for (size_t i = 0; i < options->run.spaces.count; i++) {
        fputs(" --space", stdout);
        print_word(options->run.spaces.items[i]);
    }
    puts(" --timeout 60s --gpu 0\n\nwhat to look at:");
    for (size_t i = 0; i < AT_COUNT(ncu_sections); i++)
        printf("  %-30s %s\n", ncu_sections[i].section, ncu_sections[i].shows);
    puts("autotune explain --counters reads some of these counters without Nsight Compute.");
    free(name);
    return AT_OK;
}

/* Explain a kernel of the user's file. */
static enum at_status explain_own(const struct explain_options *options,
                                  const struct target *target, struct at_own_file *file,
                                  struct at_explanation *explanation, struct at_error *err)
{
    const struct at_own_launch *launch = &options->own.rows[options->own.count - 1].launch;
    enum at_status status = at_own_file_read(file, at_given_file(options->own_file),
                                             &options->own.source, &target->device, err);

    if (status != AT_OK)
        return status;
    at_detail(options->run.session.progress, "read %s", options->own_file);
    if (launch->check) {
        status = at_own_kernel_check(file, launch, NULL, &target->device, err);
        if (status != AT_OK)
            return status;
        at_detail(options->run.session.progress, "the results are those of %s", launch->check);
    }
    return at_own_kernel_explain(file, launch, &target->device,
                                 target->described ? &target->rates : NULL, options->blocks,
                                 options->run.session.progress, explanation, err);
}

static enum at_status explain(const struct explain_options *options, struct at_error *err)
{
    struct target target = {0};
    struct at_own_file file = {0};
    struct at_explanation explanation = {0};
    struct at_explained_text source;
    enum at_status status = find_target(options->run.gpu, &target, err);

    if (status == AT_OK && options->ncu)
        return print_ncu(options, &target, err);
    if (status == AT_OK && options->with.count > 0)
        return compare(options, &target, err);
    if (status == AT_OK && options->own_file) {
        status = explain_own(options, &target, &file, &explanation, err);
        source = (struct at_explained_text){file.path, file.text};
    } else if (status == AT_OK) {
        status = explain_config(options, &target, &explanation, &source, err);
    }
    at_progress_clear(options->run.session.progress);
    if (status == AT_OK) {
        memcpy(explanation.predictions, target.description.predictions,
               sizeof explanation.predictions);
        if (explanation.predicted_ns > 0)
            explanation.predicted_within_percent =
                at_predictions_of(explanation.predictions)->within_percent;
        status = at_explanation_print(&explanation, &source, &options->view, options->format, err);
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

/* A second family is that of the config beside the first. The words after it are its settings. */
static void take_second_family(struct explain_options *options)
{
    struct at_config_choice *choice = &options->choice;
    const struct at_family *family;
    size_t first = 0;

    while (first < choice->setting_count &&
           (strchr(choice->settings[first], '=') ||
            at_run_family(&family, &options->run.session, choice->settings[first], NULL) != AT_OK))
        first++;
    for (size_t i = first; i < choice->setting_count; i++)
        at_texts_add(&options->with, choice->settings[i]);
    choice->setting_count = first;
}

static enum at_status run_explain(void *given, struct at_error *err)
{
    struct explain_options *options = given;
    enum at_status status = options->own_file ? AT_OK : at_run_families(&options->run, err);

    if (status == AT_OK)
        take_second_family(options);
    if (status == AT_OK)
        status = options->params ? list_params(options, err) : explain(options, err);
    free(options->words.items);
    at_own_options_clear(&options->own);
    return status;
}

const struct at_command at_command_explain = {
    .name = "explain",
    .summary = "what a config does to the memory system",
    .options = options_table,
    .arguments = "FAMILY [PROBLEM] [PARAM=VALUE]... [FAMILY [PARAM=VALUE]...]\n"
                 "PROBLEM [PARAM=VALUE]...\n"
                 "--profile=FILE [PROBLEM] [PARAM=VALUE]...\nFILE.cu",
    .help =
        "Runs a config on the emulated device and prints what the memory accesses of each source "
        "line cost: sectors for global memory, wavefronts for shared memory, and the least "
        "number that the same bytes need. It also predicts the time, which needs no GPU; on a GPU "
        "(--gpu 0) it measures the time too.\vA problem alone is explained with the kernel that "
        "lookup gives. Parameters that are not given have their default, or the value that the "
        "profile or the lookup gives. A CUDA file is compiled as it stands, and one of its kernels "
        "is run with "
        "the grid, block and arguments that are given; its time is only predicted."
        "\n\nExample:\n  autotune explain --profile best.yaml 8192x8192:f32",
    .check = check,
    .size = sizeof(struct explain_options),
    .defaults = &(const struct explain_options){.run.gpu = "emu", .blocks = 256},
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_explain,
};
