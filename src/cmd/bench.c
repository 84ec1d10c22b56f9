/* SPDX-License-Identifier: Apache-2.0 */
/* autotune bench: time the textbook's kernels, the default config and the tuned config against the
 * copy limit, all in one shoot-out. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "base/text_stream.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/run_options.h"
#include "device/kind.h"
#include "lookup/lookup.h"
#include "pipeline/shootout.h"
#include "profile/newest.h"
#include "report/report.h"
#include "schema/table.h"
#include "space/named.h"
#include "study/study_run.h"
#include "system/interrupt.h"
#include "system/paths.h"
#include "tune/tune.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* On a GPU, and on an emulated device. */
static const char *const default_problems[][2] = {{"8192x8192:f32", "8192x8192:f64"},
                                                  {"1024x1024:f32", "1024x1024:f64"}};

struct bench_options {
    struct at_run_options run;
    const char *profile; /* NULL: tune */
    const char *lookup;  /* NULL: no row for it */
    const char *out;     /* of the page; NULL: none */
    bool peers;
    enum at_output_format format;
};

static struct at_choice bench_format(size_t index)
{
    struct at_choice choice = at_format_choice(index);

    if (index == AT_FORMAT_JSON)
        choice.note = "a line per problem";
    return choice;
}

static const struct at_option options_table[] = {
    AT_TABLE(bench_options, run, at_run_table),
    {"profile", 0, "FILE", 1, "Take tuned configs from FILE instead of tuning",
     AT_SETS_TEXT(bench_options, profile)},
    {"lookup", 0, "FILE", 1,
     "Also time the config that lookup chooses from FILE, which need not have the problem",
     AT_SETS_TEXT(bench_options, lookup)},
    {"peers", 0, NULL, 1,
     "Also time the transposes of cuBLAS and PyTorch on a GPU, where python3 finds them",
     AT_SETS_FLAG(bench_options, peers)},
    AT_OUT(3, bench_options, out, "Also write an HTML page with bars to FILE"),
    AT_FORMATS(3, bench_options, format, bench_format),
    {0},
};

struct bench_run {
    const struct bench_options *options;
    struct at_problem *problems;
    size_t problem_count;
    struct at_device_info *devices;
    size_t device_count;
    struct at_textbook textbook;
    struct at_profile profile;   /* of --profile */
    struct at_profiles profiles; /* of --lookup */
    struct at_lookup *lookup;
    struct at_session *session;
    struct at_bench_report *reports; /* for the page, and for formats that are one table */
    size_t report_count, report_capacity;
};

/* ---- a race for one problem: kernels against each other and against copies ---- */

enum { LINES_MAX = AT_TEXTBOOK_ROWS_MAX + 3 };
_Static_assert(LINES_MAX + AT_COPIES_MAX + 1 <= AT_CONTESTANTS_MAX, "all fit one shoot-out");

struct line {
    const char *label; /* borrowed */
    struct at_config config;
    const struct at_contestant *contestant; /* NULL: illegal for this problem */
};

/* What a library takes for the problem. */
struct peer {
    char name[64], what[512];
    int64_t time_ns, spread_permille;
};
enum { PEERS_MAX = 4 };

struct race {
    struct at_problem problem;
    struct peer peers[PEERS_MAX]; /* those that could do it */
    size_t peer_count;
    struct line lines[LINES_MAX]; /* the last is the tuned kernel */
    size_t line_count;
    struct at_copies copies;
    /* First the lines' contestants; from copies_first on the copies that give the copy limit, with
     * the driver's copy last. */
    struct at_contestant contestants[AT_CONTESTANTS_MAX];
    size_t contestant_count, copies_first;
};

/* Return the problem that a config runs on. Kernels of the copy family copy a vector of as many
 * bytes. */
static struct at_problem problem_for(const struct race *race, const struct at_config *config)
{
    return strcmp(config->family->name, at_copy_family) == 0 ? at_problem_copy_of(&race->problem)
                                                             : race->problem;
}

/* Copies have no label. */
static struct at_contestant *add_contestant(struct race *race, const char *label,
                                            const struct at_config *config,
                                            const struct at_problem *problem)
{
    struct at_contestant *contestant = &race->contestants[race->contestant_count++];

    *contestant = (struct at_contestant){.config = config, .problem = *problem, .label = label};
    return contestant;
}

static enum at_status add_line(struct race *race, struct at_session *session, const char *label,
                               const struct at_config *config, struct at_error *err)
{
    struct line *line = &race->lines[race->line_count++];
    struct at_problem problem = problem_for(race, config);
    bool legal;
    enum at_status status =
        at_config_legal(config, &problem, &session->gpu->info, &legal, NULL, err);

    *line = (struct line){.label = label, .config = *config};
    if (status == AT_OK && legal)
        line->contestant = add_contestant(race, label, &line->config, &problem);
    return status;
}

static enum at_status add_copies(struct race *race, struct at_session *session,
                                 const struct at_progress_state *progress, struct at_error *err)
{
    struct at_copies *copies = &race->copies;
    const struct at_budget unlimited = {0};
    enum at_status status =
        at_copies_find(session, &race->problem, &unlimited, progress, copies, err);

    race->copies_first = race->contestant_count;
    for (size_t i = 0; i < copies->count && status == AT_OK; i++)
        add_contestant(race, NULL, &copies->configs[i], &copies->problem);
    if (status == AT_OK)
        add_contestant(race, NULL, NULL, &copies->problem);
    return status;
}

/* ---- the report ---- */

static const struct at_field row_fields[] = {
    AT_COUNTER(at_bench_row, bandwidth_MB_per_s, AT_COLUMN(6, "GB/s", 1000)),
    AT_COUNTER(at_bench_row, from_l2),
    AT_CHARS(at_bench_row, kernel),
    AT_CHARS(at_bench_row, label, AT_COLUMN(4, "kernel")),
    AT_COUNTER(at_bench_row, of_copy_permille, AT_COLUMN(7, "% of copy", 10, 1)),
    AT_COUNTER(at_bench_row, spread_permille, AT_COLUMN(8, "spread %", 10, 1)),
    AT_COUNTER(at_bench_row, time_ns, AT_COLUMN(5, "time us", 1000, 2)),
};
static const struct at_schema row_schema = AT_SCHEMA("a row", at_bench_row, row_fields);
static const struct at_field report_fields[] = {
    AT_CHARS(at_bench_report, device, AT_COLUMN(1, "device")),
    AT_CHARS(at_bench_report, note),
    AT_CHARS(at_bench_report, policy),
    AT_COUNTER(at_bench_report, predicted),
    AT_CHARS(at_bench_report, problem, AT_COLUMN(3, "problem")),
    AT_OBJECTS(at_bench_report, rows, 0, 64, row_schema),
    AT_ONLY_COLUMN(at_bench_report, times, AT_FIELD_CHARS, AT_COLUMN(2, "times")),
};
static const struct at_schema report_schema = AT_SCHEMA("a report", at_bench_report, report_fields);

static const struct at_contestant *copy_limit(const struct race *race)
{
    const struct at_contestant *best = &race->contestants[race->copies_first];

    for (size_t i = race->copies_first; i < race->contestant_count; i++)
        if (race->contestants[i].time_ns < best->time_ns)
            best = &race->contestants[i];
    return best;
}

/* ---- other libraries ---- */

/* Start python3 with a script of the data folder; its output comes from *file. */
static enum at_status start_python(char *const argv[], FILE **file, pid_t *child,
                                   struct at_error *err)
{
    posix_spawn_file_actions_t actions;
    int ends[2], failed;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return at_fail(err, AT_INTERNAL, "cannot make a pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    failed = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return at_fail(err, AT_FAILED, "cannot start %s: %s", argv[0], strerror(failed));
    }
    *file = fdopen(ends[0], "r");
    return AT_OK;
}

/* Keep the libraries that could do the problem, and tell of the others. */
static void read_peers(struct race *race, FILE *from, struct at_progress *progress)
{
    char text[1024];
    struct peer peer;

    while (race->peer_count < PEERS_MAX && fgets(text, sizeof text, from)) {
        if (sscanf(text, "%63[^\t]\t%jd\t%jd\t%511[^\n]", peer.name, (intmax_t *)&peer.time_ns,
                   (intmax_t *)&peer.spread_permille, peer.what) != 4)
            continue;
        if (peer.time_ns > 0)
            race->peers[race->peer_count++] = peer;
        else
            at_note(progress, "no row for %s: %s", peer.name, peer.what);
    }
}

/* Time other libraries, by a script in a process of its own. What cannot be timed has no row. */
static void time_peers(struct race *race, const struct at_session *session)
{
    enum { NUMBERS = 9 };
    const struct at_problem problem = at_problem_as_given(&race->problem);
    struct at_progress *progress = session->options.progress;
    const int64_t numbers[NUMBERS] = {
        problem.rows,       problem.cols,      problem.ld_src,
        problem.ld_dst,     problem.batch,     problem.stride_src,
        problem.stride_dst, problem.elem_size, session->options.policy->l2_multiple};
    char texts[NUMBERS][24], uuid[sizeof session->gpu->info.uuid];
    char *argv[NUMBERS + 4] = {"python3", at_path_data_file("tuning/peers.py"), uuid};
    struct at_error err;
    FILE *from = NULL;
    pid_t child = 0;

    memcpy(uuid, session->gpu->info.uuid, sizeof uuid);
    for (int i = 0; i < NUMBERS; i++) {
        snprintf(texts[i], sizeof texts[i], "%jd", (intmax_t)numbers[i]);
        argv[3 + i] = texts[i];
    }
    if (!session->kind->hardware)
        at_note(progress, "--peers needs a GPU: cuBLAS and PyTorch do not run on an emulated one");
    else if (problem.in_place || problem.offset_src || problem.offset_dst ||
             problem.outer_count > 0 || problem.groups.count > 0)
        at_note(progress,
                "--peers has matrices and batches alone, neither in place nor at offsets");
    else if (start_python(argv, &from, &child, &err) != AT_OK)
        at_note(progress, "--peers: %s", err.message);
    else {
        read_peers(race, from, progress);
        fclose(from);
        waitpid(child, NULL, 0);
    }
    free(argv[1]);
}

/* The rows of a report, while it is filled. */
struct rows {
    const struct race *race;
    const struct at_session *session;
    struct at_bench_row *items;
    size_t count;
};

static void set_time(struct at_bench_row *row, const struct race *race, double time_ns)
{
    row->time_ns = llround(time_ns);
    row->bandwidth_MB_per_s = llround(1000 * (double)at_problem_bytes(&race->problem) / time_ns);
    row->of_copy_permille = llround(1000 * copy_limit(race)->time_ns / time_ns);
}

static void add_row(struct rows *rows, const char *label, const struct at_contestant *contestant)
{
    struct at_bench_row *row = &rows->items[rows->count++];
    int64_t peak_MB_per_s = rows->session->gpu->info.peak_bandwidth_MB_per_s;

    snprintf(row->label, sizeof row->label, "%s", label);
    if (!contestant)
        return;
    if (contestant->config) {
        char *config = at_config_format(contestant->config);

        snprintf(row->kernel, sizeof row->kernel, "%s %s", contestant->config->family->name,
                 config);
        free(config);
    } else {
        snprintf(row->kernel, sizeof row->kernel, "memcpy");
    }
    set_time(row, rows->race, contestant->time_ns);
    row->spread_permille = at_spread_permille(
        contestant->samples_ns, (size_t)rows->session->options.policy->shootout_samples);
    row->from_l2 = peak_MB_per_s > 0 && row->bandwidth_MB_per_s > peak_MB_per_s;
}

static void add_peers(struct rows *rows, const struct race *race)
{
    for (size_t i = 0; i < race->peer_count; i++) {
        const struct peer *peer = &race->peers[i];
        struct at_bench_row *row = &rows->items[rows->count++];

        snprintf(row->label, sizeof row->label, "%s", peer->name);
        snprintf(row->kernel, sizeof row->kernel, "%s", peer->what);
        set_time(row, race, (double)peer->time_ns);
        row->spread_permille = peer->spread_permille;
    }
}

static void make_report(const struct race *race, const struct at_session *session,
                        struct at_bench_report *report)
{
    const struct at_device_info *device = &session->gpu->info;
    struct rows rows = {
        race, session,
        at_alloc_array(race->line_count + race->peer_count + 2, sizeof(struct at_bench_row)), 0};
    const struct line *tuned = &race->lines[race->line_count - 1];
    char *problem = at_problem_format(&race->problem);

    *report = (struct at_bench_report){.predicted = at_device_kind(device)->predicted};
    if (report->predicted)
        snprintf(report->note, sizeof report->note, "%s", at_emulated_times(device));
    snprintf(report->device, sizeof report->device, "%s", device->name);
    snprintf(report->policy, sizeof report->policy, "%s", session->options.policy->name);
    snprintf(report->times, sizeof report->times, "%s",
             report->predicted ? at_device_kind(device)->times : report->policy);
    snprintf(report->problem, sizeof report->problem, "%s", problem);
    free(problem);
    add_row(&rows, "copy limit", copy_limit(race));
    add_row(&rows, "memcpy by the driver", &race->contestants[race->contestant_count - 1]);
    for (size_t i = 0; i + 1 < race->line_count; i++)
        add_row(&rows, race->lines[i].label, race->lines[i].contestant);
    add_peers(&rows, race);
    add_row(&rows, tuned->label, tuned->contestant);
    report->rows = (struct at_list){rows.items, rows.count};
}

static void print_row(const struct at_bench_row *row)
{
    if (row->time_ns == 0)
        printf("  %-28s %11s\n", row->label, "not legal here");
    else
        printf("  %-28s %11.2f %9.0f %9.1f %8.1f%s\n", row->label, (double)row->time_ns / 1000,
               (double)row->bandwidth_MB_per_s / 1000, (double)row->of_copy_permille / 10,
               (double)row->spread_permille / 10, row->from_l2 ? "  *" : "");
}

static void print_report(const struct at_bench_report *report)
{
    const struct at_bench_row *rows = report->rows.items;
    bool any_from_l2 = false;

    printf("%s on %s, %s\n", report->problem, report->device, report->policy);
    if (report->predicted)
        printf("  emulated: %s\n", report->note);
    printf("  %-27s %12s %9s %9s %8s\n", "kernel", report->predicted ? "predicted us" : "time us",
           "GB/s", "% of copy", "spread %");
    for (size_t i = 0; i < report->rows.count; i++) {
        print_row(&rows[i]);
        any_from_l2 |= rows[i].from_l2;
    }
    printf("  tuned is %s\n", rows[report->rows.count - 1].kernel);
    if (any_from_l2)
        puts("  * faster than DRAM allows: from L2");
    putchar('\n');
}

/* Print all reports as one table, without the kernels that are not legal. */
static void print_together(const struct bench_run *run)
{
    for (size_t i = 0; i < run->report_count; i++) {
        struct at_list *list = &run->reports[i].rows;
        struct at_bench_row *rows = list->items;
        size_t kept = 0;

        for (size_t j = 0; j < list->count; j++)
            if (rows[j].time_ns > 0)
                rows[kept++] = rows[j];
        list->count = kept;
    }
    (void)at_print_list("reports", &report_schema, run->reports, run->report_count,
                        run->options->format, stdout, NULL);
}

/* ---- the tuned kernel ---- */

static const struct at_entry *find_entry(const struct at_profile *profile,
                                         const struct at_device_info *device, const char *problem)
{
    for (struct at_placed_entry at = {0}; at_profile_next(profile, &at);)
        if (strcmp(at.record->device.name, device->name) == 0 &&
            strcmp(at.entry->problem, problem) == 0)
            return at.entry;
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
    known = find_entry(&run->profile, &run->session->gpu->info, name);
    status = known ? config_of(run, &known->winner, config, err)
                   : at_fail(err, AT_MISMATCH, "%s has no %s for this device",
                             run->options->profile, name);
    free(name);
    return status;
}

/* ---- one problem ---- */

static enum at_status add_default(const struct bench_run *run, struct race *race,
                                  struct at_error *err)
{
    const struct at_session_options *session = &run->options->run.session;
    struct at_config config;
    enum at_status status = at_space_default(&config, session->tuned, session->tuned_count,
                                             &race->problem, &run->session->gpu->info, err);

    return status == AT_OK ? add_line(race, run->session, "default", &config, err) : status;
}

static enum at_status add_looked_up(const struct bench_run *run, struct race *race,
                                    struct at_error *err)
{
    static const struct at_environment environment = {.autotune = PACKAGE_VERSION};
    struct at_answer answer;
    enum at_status status =
        at_lookup_find(run->lookup,
                       &(struct at_query){.problem = &race->problem,
                                          .device = &run->session->gpu->info,
                                          .environment = &environment,
                                          .policy = run->options->run.session.policy->name},
                       &answer, err);

    return status == AT_OK ? add_line(race, run->session, "looked up", &answer.config, err)
                           : status;
}

static enum at_status finals(const struct bench_run *run, struct race *race, size_t index,
                             struct at_error *err)
{
    const struct at_session_options *session = &run->options->run.session;
    const struct at_kernel_row *rows = run->textbook.rows.items;
    const struct at_progress_state progress = {.what = "copy limit",
                                               .index = index + 1,
                                               .of = run->problem_count,
                                               .predicted = run->session->kind->predicted};
    struct at_config config;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < run->textbook.rows.count && status == AT_OK; i++) {
        status = at_kernel_row_config(&rows[i], AT_TEXTBOOK_FILE, session->families,
                                      session->family_count, &config, err);
        if (status == AT_OK)
            status = add_line(race, run->session, rows[i].label, &config, err);
    }
    if (status == AT_OK)
        status = add_default(run, race, err);
    if (status == AT_OK && run->options->lookup)
        status = add_looked_up(run, race, err);
    if (status == AT_OK)
        status = find_tuned(run, &race->problem, index, &config, err);
    if (status == AT_OK)
        status = add_line(race, run->session, "tuned", &config, err);
    return status == AT_OK ? add_copies(race, run->session, &progress, err) : status;
}

static void print_one(struct bench_run *run, const struct race *race)
{
    struct at_bench_report report;

    make_report(race, run->session, &report);
    if (run->options->format == AT_FORMAT_JSON)
        (void)at_schema_write_json_line(&report_schema, &report, stdout, NULL);
    else if (run->options->format == AT_FORMAT_TABLE)
        print_report(&report);
    AT_PUSH(run->reports, run->report_count, run->report_capacity, report);
}

static enum at_status bench_problem(struct bench_run *run, size_t index, struct at_error *err)
{
    struct race *race = at_alloc(sizeof *race);
    const struct at_device_info *device = &run->session->gpu->info;
    double waiting = 0;
    enum at_status status;

    race->problem = run->problems[index];
    for (size_t i = index + 1; i < run->problem_count; i++)
        waiting += at_tune_weight(&run->problems[i], device);
    at_forecast_begin(&run->session->forecast, at_tune_weight(&race->problem, device), waiting,
                      at_now_ns());
    status = finals(run, race, index, err);
    /* An interrupted search has found neither the tuned kernel nor the copy limit. */
    if (status == AT_OK && at_interrupt_seen())
        status = at_fail(err, AT_INTERRUPTED, "interrupted");
    if (status == AT_OK)
        status = at_shootout_hold(run->session, &race->problem, race->contestants,
                                  race->contestant_count, err);
    if (status == AT_OK && run->options->peers)
        time_peers(race, run->session);
    if (status == AT_OK) {
        at_forecast_end(&run->session->forecast, at_now_ns());
        print_one(run, race);
    }
    at_shootout_end(race->contestants, race->contestant_count);
    free(race);
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

static enum at_status write_page(struct bench_run *run, struct bench_options *options,
                                 struct at_error *err)
{
    struct at_text_stream stream;

    at_report_bench(run->reports, run->report_count, at_text_open(&stream));
    return at_out_write(options->out, &stream, AT_OK, &options->run.progress, err);
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
        status = at_profiles_add(&run->profiles, options->lookup, err);
    if (status == AT_OK && options->lookup)
        status = at_lookup_open(&run->lookup, &run->profiles, options->run.families,
                                options->run.session.family_count, err);
    if (status == AT_OK)
        status = at_run_devices(&options->run, &run->devices, &run->device_count, err);
    if (status != AT_OK || given)
        return status;
    for (size_t i = 0; i < AT_COUNT(default_problems[0]); i++)
        at_texts_add(&options->run.problems,
                     default_problems[at_device_kind(&run->devices[0])->slow][i]);
    return at_run_problems(&options->run, NULL, &run->problems, &run->problem_count, err);
}

static enum at_status run_bench(void *given, struct at_error *err)
{
    struct bench_options *options = given;
    struct bench_run run = {.options = options};
    enum at_status status;

    at_interrupt_catch();
    status = prepare(&run, options, err);
    if (status == AT_OK)
        status = bench_all(&run, err);
    if (status == AT_OK && options->out)
        status = write_page(&run, options, err);
    if (run.report_count > 0 && options->format != AT_FORMAT_TABLE &&
        options->format != AT_FORMAT_JSON)
        print_together(&run);
    at_schema_clear_records(&report_schema, run.reports, run.report_count);
    at_lookup_close(run.lookup);
    at_profiles_clear(&run.profiles);
    at_profile_clear(&run.profile);
    at_textbook_clear(&run.textbook);
    free(run.problems);
    free(run.devices);
    return status;
}

const struct at_command at_command_bench = {
    .name = "bench",
    .summary = "the textbook's kernels beside the copy limit and the tuned one",
    .options = options_table,
    .arguments = "[PROBLEM...]",
    .help = "Times the textbook's transpose kernels, the default config and the tuned kernel, and "
            "compares them with the copy limit."
            "\vWithout --problem it uses 8192x8192:f32 and 8192x8192:f64; on an emulated device "
            "1024x1024:f32 and 1024x1024:f64."
            "\n\nExample:\n  autotune bench 8192x8192:f32 --profile best.yaml",
    .size = sizeof(struct bench_options),
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_bench,
};
