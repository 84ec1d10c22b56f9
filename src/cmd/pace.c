/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/pace.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "device/kind.h"
#include "kernel/cache.h"
#include "profile/newest.h"
#include "schema/table.h"
#include "space/space.h"
#include "tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A search that stops by itself tries about as many configs (doc/search.md). */
enum { USUAL_CONFIGS = 100 };

/* A problem's copies and shoot-out take as long as so many configs, and no longer than its search.
 */
static const double fixed_configs = 24;

/* Figures for a device that the cache does not know, so that its kernels are compiled, too: 50
 * problems on an H200 took 28 s, and six on the emulated one 45 s with two CPUs. There compiling
 * takes much of it, whatever the problem's size. */
static const double usual_seconds = 0.0045, usual_seconds_slow = 0.05, usual_compile_slow = 0.12;

/* How long one config takes that a search tries on a problem of weight 1. */
struct pace {
    double seconds, compile; /* `compile` is what the weight does not change */
    bool known;              /* earlier runs here tell; else these are figures of another machine */
};

/* A GPU and its emulation differ by the kind's label. */
static void key_of(char key[AT_HASH_CHARS], const struct at_device_info *device)
{
    char *text = at_format("pace\n%s%s", at_device_kind(device)->label, device->name);

    at_hash(key, text, strlen(text));
    free(text);
}

static double read_seconds(struct at_cubin_cache *cache, const struct at_device_info *device)
{
    char key[AT_HASH_CHARS];
    double seconds;

    key_of(key, device);
    return at_cubin_cache_recall(cache, key, &seconds, sizeof seconds) && seconds > 0 ? seconds : 0;
}

/* Read what the cache of compiled kernels knows of a device. */
static struct pace read_pace(const struct at_tuning_options *run,
                             const struct at_device_info *device)
{
    struct at_cubin_cache *cache = NULL;
    struct pace pace = {.seconds = usual_seconds};
    double known = 0;

    if (at_device_kind(device)->slow)
        pace = (struct pace){usual_seconds_slow, usual_compile_slow / run->session->jobs, false};

    if (at_cubin_cache_open(&cache, NULL, NULL) == AT_OK)
        known = read_seconds(cache, device);
    at_cubin_cache_close(cache);
    return known > 0 ? (struct pace){known, 0, true} : pace;
}

/* Seconds that a problem takes if its search tries this many configs. */
static double seconds_of(const struct pace *pace, const struct at_problem *problem,
                         const struct at_device_info *device, double configs)
{
    return (pace->seconds * at_tune_weight(problem, device) + pace->compile) *
           (configs + fmin(configs, fixed_configs));
}

/* ---- how long a run takes ---- */

static double at_most(double seconds, int64_t limit_ns)
{
    return limit_ns > 0 ? fmin(seconds, (double)limit_ns / 1e9) : seconds;
}

static enum at_status build_space(const struct at_tuning_options *run, struct at_space *space,
                                  const struct at_device_info *device,
                                  const struct at_problem *problem, struct at_error *err)
{
    const struct at_session_options *session = run->session;

    return at_space_build(space, session->tuned, session->tuned_count, problem, device,
                          AT_SPACE_MAX, err);
}

/* How many configs the search of a problem may try; 0: any number. */
static double configs_at_most(const struct at_tuning_options *run)
{
    const struct at_run_budget *budget = &run->budget;
    double shared = (double)budget->evaluations / (double)run->problem_count;
    double own = (double)budget->problem_evaluations;

    return own > 0 && (shared == 0 || own < shared) ? own : shared;
}

/* Does the run's search try all legal configs of a problem? */
static bool tries_all(const struct at_tuning_options *run)
{
    return !run->session->strategy->reason && configs_at_most(run) == 0;
}

/* Seconds that a problem takes of a device's time. `legal`: its configs, which count if all are
 * tried. */
static double expect_problem(const struct at_tuning_options *run, const struct pace *pace,
                             const struct at_device_info *device, const struct at_problem *problem,
                             size_t legal)
{
    double most = configs_at_most(run), configs = tries_all(run) ? (double)legal : USUAL_CONFIGS;

    return at_most(seconds_of(pace, problem, device, most > 0 && most < configs ? most : configs),
                   run->budget.problem_ns);
}

/* How many configs all are, where they are tried. */
static size_t count_tried(const struct at_tuning_options *run, const struct at_device_info *device,
                          const struct at_problem *problem)
{
    struct at_space space = {0};
    size_t count = USUAL_CONFIGS;

    if (tries_all(run) && build_space(run, &space, device, problem, NULL) == AT_OK)
        count = space.count;
    at_space_clear(&space);
    return count;
}

/* Return how long the run takes. `seconds` is the sum of what each device needs for all problems.
 * The devices of a model share them. */
static double share_out(const struct at_tuning_options *run, double seconds)
{
    seconds *= (double)at_tuning_models(run->devices, run->device_count) /
               (double)run->device_count / (double)run->device_count;
    return at_most(seconds, run->budget.ns);
}

struct at_expectation at_pace_expect(const struct at_tuning_options *run)
{
    struct at_expectation expected = {.known = true};
    double sum = 0;

    for (size_t i = 0; i < run->device_count; i++) {
        const struct at_device_info *device = &run->devices[i];
        struct pace pace = read_pace(run, device);

        expected.known = expected.known && pace.known;
        for (size_t j = 0; j < run->problem_count; j++) {
            const struct at_problem *problem = &run->problems[j];
            double seconds =
                expect_problem(run, &pace, device, problem, count_tried(run, device, problem));

            sum += seconds;
            if (i == 0 && j == 0 && pace.known)
                expected.problem_s =
                    seconds / at_tune_weight(problem, device) * (double)run->tuners;
        }
    }
    expected.run_s = share_out(run, sum);
    return expected;
}

char *at_pace_describe(const struct at_tuning_options *run, const struct at_expectation *expected)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    fprintf(out, "%zu problem%s: %s", run->problem_count, run->problem_count == 1 ? "" : "s",
            expected->run_s < 5 ? "" : "about ");
    at_print_duration(out, expected->run_s);
    fputs(expected->known ? ", as earlier runs here took" : ", by figures of another machine", out);
    return at_text_close(&stream, NULL);
}

/* ---- how many configs ---- */

struct space_record {
    char *device, *problem;
    int64_t configs, points;
    int64_t seconds; /* that tuning it probably takes */
};

static const struct at_field space_fields[] = {
    AT_WRITTEN(space_record, device, AT_FIELD_TEXT, AT_COLUMN(0, "device")),
    AT_WRITTEN(space_record, problem, AT_FIELD_TEXT, AT_COLUMN(0, "problem")),
    AT_WRITTEN(space_record, configs, AT_FIELD_INT, AT_COLUMN(0, "configs")),
    AT_WRITTEN(space_record, points, AT_FIELD_INT, AT_COLUMN(0, "points")),
    AT_WRITTEN(space_record, seconds, AT_FIELD_INT, AT_COLUMN(0, "about s")),
};
static const struct at_schema space_schema = AT_SCHEMA("a space", space_record, space_fields);

/* Count a device's configs for each problem, and add up what they take. *made grows by each record.
 */
static enum at_status count_configs(const struct at_tuning_options *run,
                                    const struct at_device_info *device, const struct pace *pace,
                                    struct space_record *records, size_t *made, double *sum,
                                    struct at_error *err)
{
    enum at_status status = AT_OK;

    for (size_t i = 0; i < run->problem_count && status == AT_OK; i++) {
        const struct at_problem *problem = &run->problems[i];
        struct at_space space = {0};

        status = build_space(run, &space, device, problem, err);
        if (status == AT_OK) {
            double seconds = expect_problem(run, pace, device, problem, space.count);

            records[(*made)++] =
                (struct space_record){at_strdup(device->name), at_problem_format(problem),
                                      (int64_t)space.count, space.raw, llround(ceil(seconds))};
            *sum += seconds;
        }
        at_space_clear(&space);
    }
    return status;
}

static void print_text(const struct at_tuning_options *run, const struct at_expectation *expected,
                       const struct space_record *records)
{
    size_t problems = run->problem_count;
    char *length = problems > 0 ? at_pace_describe(run, expected) : at_strdup("no problems");

    for (size_t i = 0; i < run->device_count * problems; i++) {
        if (i % problems == 0)
            printf("%s\n  %-40s %13s  %15s\n", records[i].device, "problem", "legal configs",
                   "of combinations");
        printf("  %-40s %13jd  %15jd\n", records[i].problem, (intmax_t)records[i].configs,
               (intmax_t)records[i].points);
    }
    printf("%s\n", length);
    free(length);
}

enum at_status at_pace_print_spaces(const struct at_tuning_options *run,
                                    enum at_output_format format, struct at_error *err)
{
    size_t all = run->device_count * run->problem_count, made = 0;
    struct space_record *records = at_alloc_array(all, sizeof *records);
    struct at_expectation expected = {.known = true};
    double sum = 0;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < run->device_count && status == AT_OK; i++) {
        struct pace pace = read_pace(run, &run->devices[i]);

        expected.known = expected.known && pace.known;
        status = count_configs(run, &run->devices[i], &pace, records, &made, &sum, err);
    }
    expected.run_s = share_out(run, sum);
    if (status == AT_OK && format == AT_FORMAT_TABLE)
        print_text(run, &expected, records);
    else if (status == AT_OK)
        status = at_print_list("spaces", &space_schema, records, all, format, stdout, err);
    at_schema_clear_records(&space_schema, records, made);
    return status;
}

/* ---- what a run took ---- */

/* The seconds of the records' problems at a pace of 1. */
static double sum_up(const struct at_list *records)
{
    const struct pace unit = {.seconds = 1};
    const struct at_profile results = {.devices = *records};
    double sum = 0;

    for (struct at_placed_entry at = {0}; at_profile_next(&results, &at);) {
        struct at_problem problem;

        if (at_problem_parse(&problem, at.entry->problem, NULL) == AT_OK)
            sum += seconds_of(&unit, &problem, &at.record->device,
                              (double)at_evaluations_total(&at.entry->evaluations));
    }
    return sum;
}

void at_pace_keep(const struct at_list *records, size_t devices, double seconds)
{
    const struct at_device_record *record = records->items;
    struct at_cubin_cache *cache = NULL;
    double sum = sum_up(records), pace = seconds * (double)devices / sum;
    char key[AT_HASH_CHARS];

    if (sum == 0 || at_cubin_cache_open(&cache, NULL, NULL) != AT_OK)
        return;
    for (size_t i = 0; i < records->count; i++) {
        double before = read_seconds(cache, &record[i].device);
        double mean = before > 0 ? (before + pace) / 2 : pace;

        key_of(key, &record[i].device);
        at_cubin_cache_note(cache, key, &mean, sizeof mean);
    }
    at_cubin_cache_close(cache);
}
