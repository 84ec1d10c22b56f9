/* SPDX-License-Identifier: Apache-2.0 */
/* autotune bench: time the textbook's kernels, the default config and the tuned config against the
 * copy limit, all in one shoot-out. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "bench/bench_lookup.h"
#include "bench/bench_table.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/format.h"
#include "cmd/run_options.h"
#include "report/report.h"
#include "space/named.h"
#include "study/textbook.h"
#include "system/interrupt.h"
#include "system/output.h"
#include "tune/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_PROFILE = 0x200, KEY_LOOKUP };

static const char *const default_problems[] = {"8192x8192:f32", "8192x8192:f64"};
static const char *const emulated_problems[] = {"1024x1024:f32", "1024x1024:f64"};

struct bench_options {
    struct at_run_options run;
    const char *profile; /* NULL: tune */
    const char *lookup;  /* NULL: no row for it */
    const char *out;     /* of the page; NULL: none */
    enum at_output_format format;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct bench_options *options = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->run;
        return 0;
    case KEY_PROFILE:
        options->profile = arg;
        return 0;
    case KEY_LOOKUP:
        options->lookup = arg;
        return 0;
    case 'o':
        options->out = arg;
        return 0;
    case 'f':
        options->format = at_parse_format(state, arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options_table[] = {
    {"profile", KEY_PROFILE, "FILE", 0, "Take tuned configs from FILE instead of tuning", 1},
    {"lookup", KEY_LOOKUP, "FILE", 0,
     "Also time the config that lookup chooses from FILE, which need not have the problem", 1},
    {"out", 'o', "FILE", 0, "Also write an HTML page with a picture to FILE", 3},
    {"format", 'f', "NAME", 0,
     "How to print the result, json as one line per problem; the first is the default {formats}",
     3},
    {0},
};
static const struct argp_child children[] = {{&at_run_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .help_filter = at_help_filter,
    .args_doc = "[PROBLEM...]",
    .doc = "Times the textbook's transpose kernels, the default config and the tuned kernel, and "
           "compares them with the copy limit."
           "\vWithout --problem it uses 8192x8192:f32 and 8192x8192:f64; on an emulated device "
           "1024x1024:f32 and 1024x1024:f64."
           "\n\nExample:\n  autotune bench 8192x8192:f32 --profile best.yaml",
    .children = children,
};

struct bench_run {
    const struct bench_options *options;
    struct at_problem *problems;
    size_t problem_count;
    struct at_device_info *devices;
    size_t device_count;
    struct at_textbook textbook;
    struct at_profile profile;     /* of --profile */
    struct at_bench_lookup lookup; /* of --lookup */
    struct at_session *session;
    struct at_bench_report *reports; /* for the page */
    size_t report_count, report_capacity;
    struct at_table table; /* of all problems, for formats that are one table */
};

/* ---- the tuned kernel ---- */

static const struct at_entry *find_entry(const struct at_profile *profile,
                                         const struct at_device_info *device, const char *problem)
{
    const struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct at_entry *entries = records[i].problems.items;

        if (strcmp(records[i].device.name, device->name) != 0)
            continue;
        for (size_t j = 0; j < records[i].problems.count; j++)
            if (strcmp(entries[j].problem, problem) == 0)
                return &entries[j];
    }
    return NULL;
}

static enum at_status config_of(const struct bench_run *run, const struct at_result_record *result,
                                struct at_config *config, struct at_error *err)
{
    const struct at_session_options *session = &run->options->run.session;

    return at_config_from_names(config, session->families, session->family_count, result->family,
                                &result->parameters, err);
}

static enum at_status tune_now(const struct bench_run *run, const struct at_problem *problem,
                               size_t index, struct at_config *config, struct at_error *err)
{
    const struct at_budget budget = {.evaluations = run->options->run.problem_configs};
    struct at_entry entry = {0};
    enum at_status status = at_tune_problem(
        run->session, problem, &budget,
        (struct at_tune_place){.index = index + 1, .of = run->problem_count}, &entry, err);

    if (status == AT_OK)
        status = config_of(run, &entry.winner, config, err);
    at_schema_clear(&at_entry_schema, &entry);
    return status;
}

static enum at_status find_tuned(const struct bench_run *run, const struct at_problem *problem,
                                 size_t index, struct at_config *config, struct at_error *err)
{
    const struct at_entry *known;
    char *name;
    enum at_status status;

    if (!run->options->profile)
        return tune_now(run, problem, index, config, err);
    name = at_problem_format(problem);
    known = find_entry(&run->profile, at_gpu_info(run->session->gpu), name);
    status = known ? config_of(run, &known->winner, config, err)
                   : at_fail(err, AT_MISMATCH, "%s has no %s for this device",
                             run->options->profile, name);
    free(name);
    return status;
}

/* ---- one problem ---- */

static enum at_status add_default(const struct bench_run *run, struct at_bench_table *table,
                                  struct at_error *err)
{
    const struct at_session_options *session = &run->options->run.session;
    struct at_config config;
    enum at_status status = at_space_default(&config, session->tuned, session->tuned_count,
                                             &table->problem, at_gpu_info(run->session->gpu), err);

    return status == AT_OK ? at_bench_table_add(table, run->session, "default", &config, err)
                           : status;
}

static enum at_status add_looked_up(const struct bench_run *run, struct at_bench_table *table,
                                    struct at_error *err)
{
    struct at_config config;
    enum at_status status =
        at_bench_lookup_config(&run->lookup, &table->problem, at_gpu_info(run->session->gpu),
                               run->options->run.session.policy->name, &config, err);

    return status == AT_OK ? at_bench_table_add(table, run->session, "looked up", &config, err)
                           : status;
}

static enum at_status finals(const struct bench_run *run, struct at_bench_table *table,
                             size_t index, struct at_error *err)
{
    const struct at_session_options *session = &run->options->run.session;
    const struct at_kernel_row *rows = run->textbook.rows.items;
    const struct at_progress_state progress = {
        .what = "copy limit",
        .index = index + 1,
        .of = run->problem_count,
        .predicted = at_device_is_emulated(at_gpu_info(run->session->gpu))};
    struct at_config config;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < run->textbook.rows.count && status == AT_OK; i++) {
        status = at_kernel_row_config(&rows[i], AT_TEXTBOOK_FILE, session->families,
                                      session->family_count, &config, err);
        if (status == AT_OK)
            status = at_bench_table_add(table, run->session, rows[i].label, &config, err);
    }
    if (status == AT_OK)
        status = add_default(run, table, err);
    if (status == AT_OK && run->options->lookup)
        status = add_looked_up(run, table, err);
    if (status == AT_OK)
        status = find_tuned(run, &table->problem, index, &config, err);
    if (status == AT_OK)
        status = at_bench_table_add(table, run->session, "tuned", &config, err);
    return status == AT_OK ? at_bench_table_add_copies(table, run->session, &progress, err)
                           : status;
}

static enum at_status bench_problem(struct bench_run *run, size_t index, struct at_error *err)
{
    struct at_bench_table *table = at_alloc(sizeof *table);
    enum at_status status;

    table->problem = run->problems[index];
    status = finals(run, table, index, err);
    /* An interrupted search has found neither the tuned kernel nor the copy limit. */
    if (status == AT_OK && at_interrupt_seen())
        status = at_fail(err, AT_INTERRUPTED, "interrupted");
    if (status == AT_OK)
        status = at_bench_table_time(table, run->session, err);
    if (status == AT_OK) {
        struct at_bench_report report;

        at_bench_table_report(table, run->session, &report);
        if (run->options->format == AT_FORMAT_JSON)
            at_bench_report_print_json(&report);
        else if (run->options->format == AT_FORMAT_TABLE)
            at_bench_report_print(&report);
        else
            at_bench_report_tabulate(&report, &run->table);
        if (run->options->out)
            AT_PUSH(run->reports, run->report_count, run->report_capacity, report);
        else
            at_bench_report_clear(&report);
    }
    at_shootout_end(table->contestants, table->contestant_count);
    free(table);
    return status;
}

/* ---- all problems ---- */

static enum at_status bench_all(struct bench_run *run, struct at_error *err)
{
    enum at_status status = AT_OK;

    for (size_t i = 0; i < run->device_count && status == AT_OK; i++) {
        status = at_session_open(&run->session, &run->devices[i], &run->options->run.session, err);
        if (status == AT_OK)
            status = at_session_check_memory(run->session, run->problems, run->problem_count, err);
        for (size_t j = 0; j < run->problem_count && status == AT_OK; j++)
            status = at_interrupt_seen() ? at_fail(err, AT_INTERRUPTED, "interrupted")
                                         : bench_problem(run, j, err);
        at_session_close(run->session);
        run->session = NULL;
    }
    return status;
}

static enum at_status write_page(const struct bench_run *run, struct at_error *err)
{
    struct at_text_stream stream;

    at_report_bench(run->reports, run->report_count, at_text_open(&stream));
    return at_output_replace_text(run->options->out, &stream, AT_OK, err);
}

_Static_assert(AT_COUNT(default_problems) == AT_COUNT(emulated_problems),
               "each default problem has an emulated one");

static void name_default_problems(struct bench_options *options, bool emulated)
{
    struct at_run_options *run = &options->run;

    for (size_t i = 0; i < AT_COUNT(default_problems); i++)
        AT_PUSH(run->problems, run->problem_count, run->problem_capacity,
                (emulated ? emulated_problems : default_problems)[i]);
}

static enum at_status prepare(struct bench_run *run, struct bench_options *options,
                              struct at_error *err)
{
    bool given = at_run_problems_given(&options->run);
    enum at_status status = at_out_check(options->out, NULL, err);

    if (status == AT_OK && given)
        status = at_run_problems(&options->run, NULL, &run->problems, &run->problem_count, err);
    if (status == AT_OK)
        status = at_run_families(&options->run, err);
    if (status == AT_OK)
        status = at_textbook_read(&run->textbook, err);
    if (status == AT_OK && run->options->profile)
        status = at_read_profile(&run->profile, run->options->profile, &options->run.progress, err);
    if (status == AT_OK && options->lookup)
        status = at_bench_lookup_open(&run->lookup, options->lookup, options->run.families,
                                      options->run.session.family_count, err);
    if (status == AT_OK)
        status = at_run_devices(&options->run, &run->devices, &run->device_count, err);
    if (status != AT_OK || given)
        return status;
    name_default_problems(options, at_device_is_emulated(&run->devices[0]));
    return at_run_problems(&options->run, NULL, &run->problems, &run->problem_count, err);
}

static enum at_status run_bench(int argc, char **argv, struct at_error *err)
{
    struct bench_options options = {0};
    struct bench_run run = {.options = &options,
                            .table = {at_bench_columns, AT_BENCH_COLUMNS, NULL, 0, 0}};
    enum at_status status;

    at_run_options_init(&options.run);
    at_command_line(&argp, ARGP_IN_ORDER, argc, argv, &options, &options.run.progress);
    at_interrupt_catch();
    status = prepare(&run, &options, err);
    if (status == AT_OK)
        status = bench_all(&run, err);
    if (status == AT_OK && options.out)
        status = write_page(&run, err);
    if (status == AT_OK && options.out)
        at_detail(&options.run.progress, "wrote %s", options.out);
    if (run.table.count > 0)
        at_print_table(&run.table, options.format);
    for (size_t i = 0; i < run.report_count; i++)
        at_bench_report_clear(&run.reports[i]);
    free(run.reports);
    at_bench_lookup_close(&run.lookup);
    at_profile_clear(&run.profile);
    at_textbook_clear(&run.textbook);
    free(run.problems);
    free(run.devices);
    at_run_options_clear(&options.run);
    return status;
}

const struct at_command at_command_bench = {
    .name = "bench",
    .summary = "the textbook's kernels beside the copy limit and the tuned one",
    .run = run_bench,
};
