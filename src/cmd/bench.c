/* SPDX-License-Identifier: Apache-2.0 */
/* autotune bench: the textbook's kernels beside the copy limit and the tuned one, all timed against
 * each other in one shoot-out. */
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/stats.h"
#include "cmd/cmd.h"
#include "cmd/run_options.h"
#include "cmd/textbook.h"
#include "measure/select.h"
#include "search/copy_limit.h"
#include "search/shootout.h"
#include "search/tune.h"
#include "space/named.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_PROFILE = 0x200 };

static const char *const default_problems[] = {"8192x8192:f32", "8192x8192:f64"};

struct bench_options {
    struct at_run_options run;
    const char *profile; /* NULL: tune */
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
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"; a problem goes with --problem", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options_table[] = {
    {"profile", KEY_PROFILE, "FILE", 0, "Take the tuned configs from there instead of tuning", 0},
    {0},
};
static const struct argp_child children[] = {{&at_run_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .doc = "Times the textbook's transpose kernels beside the copy limit and the tuned kernel."
           "\vWithout --problem: 8192x8192:f32 and 8192x8192:f64.",
    .children = children,
};

/* The work of one command. */
struct bench_run {
    const struct bench_options *options;
    struct at_problem *problems;
    size_t problem_count;
    struct at_textbook textbook;
    struct at_profile profile; /* of --profile */
    struct at_session *session;
};

/* One line of the table; the contestant of the same index is its kernel. */
struct line {
    const char *label;
    struct at_config config;
};

/* ---- which kernels ---- */

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
    const struct at_budget no_budget = {0};
    struct at_entry entry = {0};
    enum at_status status =
        at_tune_problem(run->session, problem, &no_budget,
                        (struct at_tune_place){index + 1, run->problem_count}, &entry, err);

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

/* ---- timing ---- */

enum { LINES_MAX = AT_TEXTBOOK_ROWS_MAX + 1 };

/* The lines of one problem: the textbook's, then the tuned one. After their contestants come the
 * copies that make the copy limit. */
struct table {
    struct at_problem problem;
    struct line lines[LINES_MAX];
    size_t line_count;
    struct at_copies copies;
    struct at_contestant contestants[AT_CONTESTANTS_MAX];
    size_t contestant_count;
};

_Static_assert(LINES_MAX + AT_COPIES_MAX + 1 <= AT_CONTESTANTS_MAX, "all fit one shoot-out");

/* What a config works on here: the problem itself, or, for a copy, the vector of as many bytes. */
static enum at_status choose_problem(const struct bench_run *run, const struct table *table,
                                     const struct line *line, struct at_problem *problem,
                                     struct at_error *err)
{
    const struct at_device_info *device = at_gpu_info(run->session->gpu);
    bool legal;
    enum at_status status;

    *problem = table->problem;
    status = at_config_legal(&line->config, problem, device, &legal, NULL, err);
    if (status != AT_OK || legal)
        return status;
    *problem = at_problem_copy_of(problem);
    status = at_config_legal(&line->config, problem, device, &legal, NULL, err);
    if (status == AT_OK && !legal)
        status = at_fail(err, AT_FAILED, "%s is not legal on this problem", line->label);
    return status;
}

static enum at_status line_up(const struct bench_run *run, struct table *table, size_t index,
                              struct at_error *err)
{
    const struct at_textbook_row *rows = run->textbook.rows.items;
    const struct at_session_options *session = &run->options->run.session;
    const struct at_progress_state progress = {.index = index + 1, .of = run->problem_count};
    struct line *tuned = &table->lines[run->textbook.rows.count];
    enum at_status status = find_tuned(run, &table->problem, index, &tuned->config, err);

    tuned->label = "tuned";
    for (size_t i = 0; i < run->textbook.rows.count && status == AT_OK; i++) {
        table->lines[i].label = rows[i].label;
        status = at_textbook_config(&rows[i], session->families, session->family_count,
                                    &table->lines[i].config, err);
    }
    table->line_count = run->textbook.rows.count + 1;
    if (status == AT_OK)
        status = at_copies_find(run->session, &table->problem, &progress, &table->copies, err);
    for (size_t i = 0; i < table->line_count && status == AT_OK; i++) {
        struct at_contestant *contestant = &table->contestants[table->contestant_count++];

        contestant->config = &table->lines[i].config;
        status = choose_problem(run, table, &table->lines[i], &contestant->problem, err);
    }
    for (size_t i = 0; i <= table->copies.count && status == AT_OK; i++)
        table->contestants[table->contestant_count++] = (struct at_contestant){
            .config = i < table->copies.count ? &table->copies.configs[i] : NULL,
            .problem = table->copies.problem,
        };
    return status;
}

/* Each line's kernel on its own problem, before its time may be shown. */
static enum at_status verify(const struct bench_run *run, const struct table *table,
                             struct at_error *err)
{
    enum at_status status = AT_OK;

    for (size_t i = 0; i < table->line_count && status == AT_OK; i++) {
        struct at_measurement measurement = {0};

        status = at_shootout_prepare(run->session, &table->contestants[i].problem, err);
        if (status == AT_OK)
            status = at_shootout_verify(run->session, &table->contestants[i], &measurement, err);
        if (status == AT_OK && measurement.outcome != AT_CORRECT)
            status = at_fail(err, AT_FAILED, "%s: %s: %s", table->lines[i].label,
                             at_outcome_names[measurement.outcome], measurement.message);
        at_measurement_clear(&measurement);
    }
    return status;
}

static double copy_limit_ns(const struct table *table)
{
    double best_ns = INFINITY;

    for (size_t i = table->line_count; i < table->contestant_count; i++)
        best_ns = fmin(best_ns, table->contestants[i].time_ns);
    return best_ns;
}

/* Faster than DRAM can be. */
static bool is_from_l2(const struct bench_run *run, const struct table *table, double ns)
{
    int64_t peak_mbps = at_gpu_info(run->session->gpu)->peak_bandwidth_mbps;

    return peak_mbps > 0 &&
           1000 * (double)at_problem_bytes(&table->problem) / ns > (double)peak_mbps;
}

static void print_line(const struct bench_run *run, const struct table *table, const char *label,
                       const struct at_contestant *contestant)
{
    size_t samples = (size_t)run->options->run.session.policy->shootout_samples;
    double ns = contestant->time_ns;

    printf("  %-28s %11.2f %9.0f %9.1f %8.1f%s\n", label, ns / 1000,
           (double)at_problem_bytes(&table->problem) / ns, 100 * copy_limit_ns(table) / ns,
           0.1 * (double)at_spread_permille(contestant->samples_ns, samples),
           is_from_l2(run, table, ns) ? "  *" : "");
}

static void print_table(const struct bench_run *run, const struct table *table)
{
    const struct at_contestant *driver = &table->contestants[table->contestant_count - 1];
    const struct at_contestant *limit = driver;
    const struct line *tuned = &table->lines[table->line_count - 1];
    char *problem = at_problem_format(&table->problem);
    char *config = at_config_format(&tuned->config);
    bool any_from_l2 = false;

    for (size_t i = 0; i < table->contestant_count; i++)
        any_from_l2 |= is_from_l2(run, table, table->contestants[i].time_ns);
    for (size_t i = table->line_count; i < table->contestant_count; i++)
        if (table->contestants[i].time_ns < limit->time_ns)
            limit = &table->contestants[i];
    printf("%s on %s, %s\n  %-28s %11s %9s %9s %8s\n", problem,
           at_gpu_info(run->session->gpu)->name, run->options->run.session.policy->name, "kernel",
           "time us", "GB/s", "% of copy", "spread %");
    print_line(run, table, "copy limit", limit);
    print_line(run, table, "memcpy by the driver", driver);
    for (size_t i = 0; i < table->line_count; i++)
        print_line(run, table, table->lines[i].label, &table->contestants[i]);
    printf("  tuned is %s %s\n", tuned->config.family->name, config);
    if (any_from_l2)
        puts("  * faster than DRAM can be: from L2");
    putchar('\n');
    free(config);
    free(problem);
}

static enum at_status bench_problem(const struct bench_run *run, size_t index, struct at_error *err)
{
    struct table *table = at_alloc(sizeof *table);
    enum at_status status;

    table->problem = run->problems[index];
    status = line_up(run, table, index, err);
    if (status == AT_OK)
        status = at_shootout_build(run->session, table->contestants, table->contestant_count, err);
    if (status == AT_OK)
        status = verify(run, table, err);
    if (status == AT_OK)
        status = at_shootout_prepare(run->session, &table->problem, err);
    if (status == AT_OK)
        status = at_shootout_time(run->session, table->contestants, table->contestant_count, err);
    if (status == AT_OK)
        print_table(run, table);
    at_shootout_end(table->contestants, table->contestant_count);
    free(table);
    return status;
}

/* ---- the whole ---- */

static enum at_status bench_all(struct bench_run *run, struct at_error *err)
{
    struct at_device_info *devices = NULL;
    size_t count = 0;
    enum at_status status = at_select_devices(run->options->run.gpu, &devices, &count, err);

    for (size_t i = 0; i < count && status == AT_OK; i++) {
        status = at_session_open(&run->session, devices[i].kind, devices[i].ordinal,
                                 &run->options->run.session, err);
        for (size_t j = 0; j < run->problem_count && status == AT_OK; j++)
            status = at_session_check_memory(run->session, &run->problems[j], err);
        for (size_t j = 0; j < run->problem_count && status == AT_OK; j++)
            status = at_interrupt_seen() ? at_fail(err, AT_INTERRUPTED, "interrupted")
                                         : bench_problem(run, j, err);
        at_session_close(run->session);
        run->session = NULL;
    }
    free(devices);
    return status;
}

static enum at_status prepare(struct bench_run *run, struct bench_options *options,
                              struct at_error *err)
{
    enum at_status status =
        at_run_problems(&options->run, &run->problems, &run->problem_count, err);

    if (status == AT_OK)
        status = at_run_families(&options->run, err);
    if (status == AT_OK)
        status = at_textbook_read(&run->textbook, err);
    if (status == AT_OK && run->options->profile)
        status = at_profile_read(&run->profile, run->options->profile, err);
    return status;
}

static enum at_status run_bench(int argc, char **argv, struct at_error *err)
{
    struct bench_options options = {0};
    struct bench_run run = {.options = &options};
    enum at_status status;

    at_run_options_init(&options.run);
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    at_run_options_finish(&options.run);
    if (options.run.problem_count == 0)
        for (size_t i = 0; i < AT_COUNT(default_problems); i++)
            AT_PUSH(options.run.problems, options.run.problem_count, options.run.problem_capacity,
                    default_problems[i]);
    at_interrupt_catch();
    status = prepare(&run, &options, err);
    if (status == AT_OK)
        status = bench_all(&run, err);
    at_profile_clear(&run.profile);
    at_textbook_clear(&run.textbook);
    free(run.problems);
    at_run_options_clear(&options.run);
    return status;
}

const struct at_command at_command_bench = {
    .name = "bench",
    .summary = "the textbook's kernels beside the copy limit and the tuned one",
    .run = run_bench,
};
