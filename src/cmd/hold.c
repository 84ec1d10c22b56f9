/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/hold.h"

#include "base/memory.h"
#include "base/stats.h"
#include "device/kind.h"
#include "device/relation.h"
#include "measure/select.h"
#include "pipeline/shootout.h"
#include "profile/entry.h"
#include "schema/table.h"
#include "space/named.h"
#include "system/interrupt.h"
#include "tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the report ---- */

static const char *const verdict_names[AT_VERDICTS] = {
    [AT_HELD] = "held",       [AT_DRIFTED] = "drifted", [AT_BROKEN] = "broken",
    [AT_ILLEGAL] = "illegal", [AT_SOUND] = "sound",     [AT_STALE] = "stale",
};

static const struct at_field row_fields[] = {
    AT_WRITTEN(at_check_row, config, AT_FIELD_TEXT, AT_COLUMN(3, "config")),
    AT_WRITTEN(at_check_row, device, AT_FIELD_TEXT, AT_COLUMN(2, "device")),
    AT_WRITTEN(at_check_row, message, AT_FIELD_TEXT, AT_OPTIONAL, AT_COLUMN(7, "reason")),
    AT_WRITTEN(at_check_row, now_ns, AT_FIELD_INT, AT_OPTIONAL, AT_COLUMN(6, "us", 1000, 2)),
    AT_WRITTEN(at_check_row, problem, AT_FIELD_TEXT, AT_COLUMN(1, "problem")),
    AT_WRITTEN(at_check_row, recorded_ns, AT_FIELD_INT, AT_OPTIONAL,
               AT_COLUMN(5, "recorded us", 1000, 2)),
    AT_CHOICE(at_check_row, verdict, verdict_names, AT_COLUMN(4, "verdict")),
};
static const struct at_schema row_schema = AT_SCHEMA("a check", at_check_row, row_fields);

void at_check_add(struct at_check_report *report, const struct at_check_row *row)
{
    const struct at_check_row copy = {
        .problem = at_strdup(row->problem),
        .device = at_strdup(row->device),
        .config = at_strdup(row->config),
        .verdict = row->verdict,
        .message = at_strdup(row->message),
        .recorded_ns = row->recorded_ns,
        .now_ns = row->now_ns,
    };

    AT_PUSH(report->rows, report->count, report->capacity, copy);
}

enum at_status at_check_print(const struct at_check_report *report, struct at_error *err)
{
    if (report->format == AT_FORMAT_TABLE)
        return AT_OK;
    return at_print_list("checks", &row_schema, report->rows, report->count, report->format, stdout,
                         err);
}

void at_check_clear(struct at_check_report *report)
{
    at_schema_clear_records(&row_schema, report->rows, report->count);
    *report = (struct at_check_report){.format = report->format};
}

/* ---- does it still hold? ---- */

/* Times of one kernel from two periods differ by 1 to 3 % (doc/measurement.md). */
static const double drift = 0.03;

struct recheck {
    struct at_profile *profile;
    struct at_session_options session_options;
    struct at_session *session;
    const struct at_device_info *device; /* that is checked now */
    size_t matched;                      /* records of the profile for one of the devices */
    bool foreign;     /* none is for them, so winners of other models are tried */
    bool predictions; /* these are their model's, and are measured now */
    double logs;      /* of a prediction's time over the default's, summed up */
    size_t faster;    /* predictions that the default beats */
    size_t counts[AT_VERDICTS];
    struct at_check_report *report;
};

/* The kernels of an entry, timed again. */
struct rematch {
    const struct at_entry *entry;
    struct at_problem problem;
    struct at_config configs[2];         /* the winner's and the default's */
    struct at_contestant contestants[3]; /* with the driver's copy, for a prediction */
    size_t count; /* of configs; 1: the default has no recorded time, or is the winner */
    bool foreign, prediction;
};

static enum at_status add(struct rematch *rematch, const struct at_result_record *result,
                          const struct at_session *session, struct at_error *err)
{
    const struct at_session_options *known = &session->options;
    struct at_config *config = &rematch->configs[rematch->count];
    enum at_status status = at_config_from_names(config, known->families, known->family_count,
                                                 result->family, &result->parameters, err);

    if (status == AT_OK && (rematch->foreign || rematch->prediction))
        status =
            at_config_require(config, &rematch->problem, &session->gpu->info, "illegal here", err);
    if (status == AT_OK)
        rematch->contestants[rematch->count++] =
            (struct at_contestant){.config = config, .problem = rematch->problem};
    return status;
}

/* Is the default faster, beyond the noise and by more than tune treats as equal? */
static bool loses_to_default(const struct rematch *rematch, size_t samples)
{
    const struct at_contestant *winner = &rematch->contestants[0], *usual = winner + 1;
    double low, high;

    if (rematch->count < 2)
        return false;
    at_median_ratio_interval(winner->samples_ns, usual->samples_ns, samples, &low, &high);
    return low > 1 && winner->time_ns > at_equal_at_most * usual->time_ns;
}

/* Is there a time to compare with? Not from another model, nor a prediction. */
static bool has_recorded(const struct rematch *rematch)
{
    return !rematch->foreign && !rematch->prediction && at_entry_is_measured(rematch->entry);
}

/* The default's time over the winner's; 1 if that is the default. */
static double over_default(const struct rematch *rematch)
{
    return rematch->count < 2 ? 1
                              : rematch->contestants[1].time_ns / rematch->contestants[0].time_ns;
}

/* Add the driver's copy, which is the copy limit of a prediction that is measured. */
static size_t add_copy(struct rematch *rematch)
{
    if (!rematch->prediction)
        return rematch->count;
    rematch->contestants[rematch->count] =
        (struct at_contestant){.problem = at_problem_copy_of(&rematch->problem)};
    return rematch->count + 1;
}

static enum at_status hold(struct rematch *rematch, struct at_session *session,
                           enum at_verdict *verdict, struct at_error *err)
{
    const struct at_entry *entry = rematch->entry;
    struct at_contestant *winner = &rematch->contestants[0];
    enum at_status status = add(rematch, &entry->winner, session, err);

    winner->label = "";
    if (status != AT_OK && rematch->foreign) /* on its own device it is legal */
        *verdict = AT_ILLEGAL;
    if (status == AT_OK && entry->fallback.time_ns > 0)
        status = add(rematch, &entry->fallback, session, err);
    if (rematch->prediction) /* the default may be the faster one */
        rematch->contestants[1].label = "";
    if (status == AT_OK)
        status = at_session_check_memory(session, &rematch->problem, 1, err);
    if (status == AT_OK)
        status = at_shootout_hold(session, &rematch->problem, rematch->contestants,
                                  add_copy(rematch), err);
    if (status != AT_OK)
        return status;
    if (rematch->prediction) {
        *verdict = AT_HELD;
        return AT_OK;
    }
    if (loses_to_default(rematch, (size_t)session->options.policy->shootout_samples))
        return at_fail(err, AT_FAILED, "slower than the default, by %.1f %%",
                       100 * (winner->time_ns / rematch->contestants[1].time_ns - 1));
    *verdict =
        !has_recorded(rematch) || fabs(winner->time_ns / (double)entry->winner.time_ns - 1) < drift
            ? AT_HELD
            : AT_DRIFTED;
    return AT_OK;
}

static void print_times(const struct rematch *rematch, enum at_verdict verdict)
{
    const struct at_entry *entry = rematch->entry;
    /* Round like the recorded time. */
    double time_ns = round(rematch->contestants[0].time_ns);
    double recorded_ns = (double)entry->winner.time_ns;

    if (rematch->prediction) {
        printf("  %-40s %-8s %12.2f %11.2f %7.2fx\n", entry->problem, verdict_names[verdict],
               recorded_ns / 1000, time_ns / 1000, over_default(rematch));
        return;
    }
    if (!has_recorded(rematch)) {
        printf("  %-40s %-8s %12s %11.2f\n", entry->problem, verdict_names[verdict], "-",
               time_ns / 1000);
        return;
    }
    printf("  %-40s %-8s %12.2f %11.2f %+8.1f\n", entry->problem, verdict_names[verdict],
           recorded_ns / 1000, time_ns / 1000, 100 * (time_ns / recorded_ns - 1));
}

/* Print a verdict for people, and keep it for programs. `why`: the message, or "". */
static void print_verdict(struct recheck *recheck, const struct rematch *rematch,
                          enum at_verdict verdict, const char *why)
{
    const struct at_entry *entry = rematch->entry;
    int64_t now_ns = verdict >= AT_BROKEN ? 0 : llround(rematch->contestants[0].time_ns);

    at_check_add(recheck->report, &(struct at_check_row){.problem = entry->problem,
                                                         .device = (char *)recheck->device->name,
                                                         .config = "winner",
                                                         .verdict = verdict,
                                                         .message = (char *)why,
                                                         .recorded_ns = entry->winner.time_ns,
                                                         .now_ns = now_ns});
    if (recheck->report->format != AT_FORMAT_TABLE)
        return;
    at_progress_clear(recheck->session_options.progress);
    if (verdict >= AT_BROKEN)
        printf("  %-40s %-8s %s\n", entry->problem, verdict_names[verdict], why);
    else
        print_times(rematch, verdict);
}

/* Make the entry of a prediction one of what was measured: the faster of its winner and the
 * default. */
static void take_measured(struct recheck *recheck, const struct rematch *rematch,
                          struct at_entry *entry)
{
    const struct at_session *session = recheck->session;
    const struct at_contestant *all = rematch->contestants;
    size_t best = over_default(rematch) < 1;
    struct at_timed copy = at_tune_timed(&all[rematch->count], session),
                    winner = at_tune_timed(&all[best], session),
                    usual = at_tune_timed(&all[1], session);
    struct at_entry measured = {
        .problem = at_strdup(entry->problem),
        .search = "check",
        .ended = AT_ENDED_BUDGET,
        .copy = at_copy_of(&copy, &copy),
        .evaluations = {entry->evaluations.points, entry->evaluations.configs, {0}},
    };

    measured.evaluations.counts[AT_CORRECT] = (int64_t)rematch->count;
    measured.winner = at_result_of(&winner, measured.copy.time_ns);
    if (rematch->count > 1)
        measured.fallback = at_result_of(&usual, measured.copy.time_ns);
    measured.from_l2 = at_result_is_from_l2(&measured.winner, recheck->device);
    recheck->logs += log(over_default(rematch));
    recheck->faster += best;
    at_schema_clear(&at_entry_schema, entry);
    *entry = measured;
}

static enum at_status recheck_entry(struct recheck *recheck, struct at_entry *entry,
                                    struct at_error *err)
{
    struct rematch *rematch = at_alloc(sizeof *rematch);
    enum at_verdict verdict = AT_BROKEN;
    enum at_status status = at_problem_parse(&rematch->problem, entry->problem, err);

    rematch->entry = entry;
    rematch->foreign = recheck->foreign;
    rematch->prediction = recheck->predictions;
    if (status == AT_OK)
        status = hold(rematch, recheck->session, &verdict, err);
    if (status == AT_OK && at_interrupt_seen())
        status = at_fail(err, AT_INTERRUPTED, "interrupted");
    if (status == AT_OK)
        print_verdict(recheck, rematch, verdict, "");
    else if (status == AT_FAILED || status == AT_USAGE)
        print_verdict(recheck, rematch, verdict, err->message);
    if (status == AT_OK && rematch->prediction)
        take_measured(recheck, rematch, entry);
    at_shootout_end(rematch->contestants, AT_COUNT(rematch->contestants));
    free(rematch);
    if (status != AT_OK && status != AT_FAILED && status != AT_USAGE)
        return status;
    recheck->counts[verdict]++;
    return AT_OK;
}

static void print_titles(const struct recheck *recheck, const struct at_device_record *record)
{
    const struct at_device_info *device = recheck->device;
    const struct at_device_kind *kind = at_device_kind(device);

    printf("%s, %s\n", device->name, record->policy.name);
    if (recheck->foreign)
        printf("  answers of another model: %s with %jd multiprocessors\n", record->device.name,
               (intmax_t)record->device.multiprocessors);
    if (kind->predicted)
        printf("  emulated: %s\n", at_emulated_times(device));
    printf("  %-40s %-8s %12s %11s %8s\n", "problem", "",
           recheck->predictions ? "predicted us" : "recorded us",
           kind->predicted ? kind->times : "now us", recheck->predictions ? "default" : "change %");
}

/* The record of predictions is now one of the GPU that has measured them. */
static void end_predictions(const struct recheck *recheck, struct at_device_record *record)
{
    at_tune_record_device(record, recheck->session);
    if (recheck->report->format == AT_FORMAT_TABLE)
        printf("  the defaults take %.2f times as long in the geometric mean; faster than what was "
               "predicted: %zu of %zu\n",
               exp(recheck->logs / (double)record->problems.count), recheck->faster,
               record->problems.count);
}

static enum at_status recheck_record(struct recheck *recheck, struct at_device_record *record,
                                     const struct at_device_info *device, struct at_error *err)
{
    struct at_entry *entries = record->problems.items;
    size_t broken = recheck->counts[AT_BROKEN];
    enum at_status status =
        at_policy_find(&recheck->session_options.policy, record->policy.name, err);

    if (status == AT_OK)
        status = at_session_open(&recheck->session, device, &recheck->session_options, err);
    if (status != AT_OK)
        return status;
    recheck->device = device;
    recheck->logs = 0;
    recheck->faster = 0;
    if (recheck->report->format == AT_FORMAT_TABLE)
        print_titles(recheck, record);
    for (size_t i = 0; i < record->problems.count && status == AT_OK; i++) {
        at_progress_step(recheck->session_options.progress, entries[i].problem, i,
                         record->problems.count);
        status = recheck_entry(recheck, &entries[i], err);
    }
    at_progress_clear(recheck->session_options.progress);
    if (status == AT_OK && recheck->predictions)
        end_predictions(recheck, record);
    at_session_close(recheck->session);
    if (status == AT_OK && recheck->foreign && recheck->counts[AT_BROKEN] == broken)
        at_models_add(&record->also_correct_on, device);
    return status;
}

/* Predicted times cannot be compared with measured ones: they are replaced by these. */
static bool is_for(const struct recheck *recheck, const struct at_device_info *recorded,
                   const struct at_device_info *device)
{
    bool replaced = at_device_kind(recorded)->predicted && !at_device_kind(device)->predicted;
    bool alike = at_device_kind(recorded)->predicted == at_device_kind(device)->predicted;

    return (recheck->predictions ? replaced : alike) &&
           (recheck->foreign || at_device_relation(recorded, device) == AT_SAME_DEVICE);
}

static enum at_status recheck_device(struct recheck *recheck, const struct at_device_info *device,
                                     struct at_error *err)
{
    struct at_device_record *records = recheck->profile->devices.items;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < recheck->profile->devices.count && status == AT_OK; i++)
        if (is_for(recheck, &records[i].device, device)) {
            recheck->matched++;
            status = recheck_record(recheck, &records[i], device, err);
        }
    return status;
}

enum at_status at_check_times(struct at_profile *profile, const char *file,
                              struct at_run_options *options, struct at_check_report *report,
                              struct at_error *err)
{
    struct recheck recheck = {
        .profile = profile, .session_options = options->session, .report = report};
    struct at_device_info *devices;
    size_t count, failed;
    enum at_status status =
        at_select_devices(options->gpu ? options->gpu : "auto", &devices, &count, err);

    if (status != AT_OK)
        return status;
    for (int pass = 0; pass < 3 && status == AT_OK && recheck.matched == 0; pass++) {
        recheck.predictions = pass == 1;
        recheck.foreign = pass == 2;
        for (size_t i = 0; i < count && status == AT_OK; i++)
            status = recheck_device(&recheck, &devices[i], err);
    }
    if (status == AT_OK && recheck.matched == 0)
        status =
            at_fail(err, AT_MISMATCH, "%s has no entry for %s%s", file,
                    at_device_kind(&devices[0])->predicted ? "an emulated " : "", devices[0].name);
    free(devices);
    failed = recheck.counts[AT_DRIFTED] + recheck.counts[AT_BROKEN];
    if (status == AT_OK && failed > 0)
        status =
            at_fail(err, AT_FAILED, "%s: %zu held, %zu drifted, %zu broken", file,
                    recheck.counts[AT_HELD], recheck.counts[AT_DRIFTED], recheck.counts[AT_BROKEN]);
    return status;
}
