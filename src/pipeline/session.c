/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/session.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/kind.h"
#include "measure/bench.h"
#include "pipeline/cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the time that is left ---- */

/* Before anything is learnt: a search that stops by itself measures about as many configs
 * (doc/search.md). The copies take this part of the time before the shoot-out, and that as much
 * more.
 */
static const double usual_configs = 100, usual_copies_part = 0.4, usual_finals_part = 0.2;

/* What a new problem counts for in a mean. */
static const double newest = 0.5;

/* A search that has reached the expected number of configs goes on for this part of them. */
static const double overtime = 0.1;

static void learn(double *mean, double value)
{
    *mean = *mean == 0 ? value : *mean + newest * (value - *mean);
}

static double since_s(const struct at_forecast *forecast, int64_t now_ns)
{
    return (double)(now_ns - forecast->began_ns) / 1e9;
}

void at_forecast_begin(struct at_forecast *forecast, double weight, double waiting, int64_t now_ns)
{
    forecast->began_ns = now_ns;
    forecast->weight = weight;
    forecast->waiting = waiting;
    forecast->copies_ended_s = 0;
    forecast->search_ended_s = 0;
    forecast->resumed = false;
}

void at_forecast_end(struct at_forecast *forecast, int64_t now_ns)
{
    double took_s = since_s(forecast, now_ns), before_s = forecast->search_ended_s;

    forecast->began_ns = 0;
    if (forecast->resumed) /* the rate counts only what this run did */
        return;
    learn(&forecast->seconds_per_weight, took_s / forecast->weight);
    if (before_s > 0)
        learn(&forecast->finals_part, (took_s - before_s) / before_s);
}

void at_forecast_searched(struct at_forecast *forecast, const struct at_forecast_search *search,
                          int64_t now_ns)
{
    forecast->resumed |= search->found > 0;
    if (search->copies) {
        forecast->copies_ended_s = search->found == 0 ? since_s(forecast, now_ns) : 0;
        return;
    }
    forecast->search_ended_s = since_s(forecast, now_ns);
    if (forecast->copies_ended_s > 0 && search->found == 0)
        learn(&forecast->copies_part, forecast->copies_ended_s / forecast->search_ended_s);
    if (search->stops && search->done < search->most)
        learn(&forecast->configs, (double)search->done);
}

size_t at_forecast_configs(const struct at_forecast *forecast,
                           const struct at_forecast_search *search)
{
    double configs = forecast->configs > 0 ? forecast->configs : usual_configs;
    double least = (1 + overtime) * (double)search->done;

    if (!search->stops || search->copies)
        return search->most;
    if (configs < least)
        configs = least;
    return configs < (double)search->most ? (size_t)configs : search->most;
}

static double mean_or(double mean, double usual)
{
    return mean > 0 ? mean : usual;
}

/* Return which part of the problem's time is over, 0 to 1: of its copies, its search and its
 * shoot-out. */
static double part_done(const struct at_forecast *forecast, const struct at_forecast_search *search)
{
    double copies_part = mean_or(forecast->copies_part, usual_copies_part);
    double finals_part = mean_or(forecast->finals_part, usual_finals_part);
    size_t all = at_forecast_configs(forecast, search);
    double part = all > search->found
                      ? (double)(search->done - search->found) / (double)(all - search->found)
                      : 1;

    if (search->copies)
        part *= copies_part;
    else if (forecast->copies_ended_s > 0)
        part = copies_part + part * (1 - copies_part);
    return part / (1 + finals_part);
}

struct at_time_left at_forecast_left(const struct at_forecast *forecast,
                                     const struct at_forecast_search *search, int64_t now_ns)
{
    struct at_time_left left = {-1, -1};
    double past_s = since_s(forecast, now_ns), part = part_done(forecast, search);
    double rate = forecast->seconds_per_weight,
           whole = (double)at_forecast_configs(forecast, search);
    /* What a journal had took no time. */
    double fresh = whole > 0 ? (whole - (double)search->found) / whole : 0;
    double learnt_s = rate * forecast->weight * fresh, pace;
    bool has_pace = search->done > search->found;

    if (forecast->began_ns == 0 || (rate == 0 && (part <= 0 || !has_pace)))
        return left;
    /* What is learnt gives way to this problem's own pace. */
    left.problem =
        rate > 0 ? (1 - part) * ((1 - part) * learnt_s + past_s) : past_s * (1 - part) / part;
    if (has_pace) {
        pace = (past_s + left.problem) / forecast->weight / fresh;
        rate = rate == 0 ? pace : rate + newest * part * (pace - rate);
    }
    left.run = left.problem + forecast->waiting * rate;
    return left;
}

/* ---- the session ---- */

static void hash_families(struct at_session *session)
{
    session->family_hashes = at_alloc_array(session->options.family_count, AT_HASH_CHARS);
    for (size_t i = 0; i < session->options.family_count; i++)
        at_family_hash(session->family_hashes[i], session->options.families[i], session->header);
}

const char *at_session_family_hash(const struct at_session *session, const struct at_family *family)
{
    size_t number = 0;

    while (session->options.families[number] != family)
        number++;
    return session->family_hashes[number];
}

static enum at_status open_builder(struct at_session *session, const struct at_device_info *info,
                                   struct at_error *err)
{
    const struct at_builder_options options = {
        .compute_capability = info->compute_capability,
        .image = at_device_kind(info)->runs_ptx ? AT_IMAGE_PTX : AT_IMAGE_CUBIN,
        .workers = session->options.jobs,
        .cpu_limit_s = 3 * session->options.timeout_ns / 1000000000,
        .header = session->header,
        .use_cache = session->options.use_cache,
        .saves_time = session->options.turn.turns,
    };
    char note[512];
    enum at_status status = at_builder_open(&session->builder, &options, note, sizeof note, err);

    if (status == AT_OK && note[0])
        at_warn(session->options.progress, "%s", note);
    return status;
}

/* Only the harness's own entries matter. */
static enum at_status start_harness(struct at_session *session, struct at_error *err)
{
    static char name[] = "harness", path[] = "harness.cu";
    struct at_family *harness = &session->harness;
    const struct at_config config = {.family = harness};
    enum at_status status = at_template_read(&harness->source, "harness.cu", err);

    if (status != AT_OK)
        return status;
    harness->name = name;
    harness->template_path = path;
    at_builder_add(session->builder, &config,
                   (struct at_problem_kind){.elem_size = 1, .axes = 1, .rows = 1}, NULL);
    return at_builder_start_workers(session->builder, err);
}

enum at_status at_session_check_driver(const char *cuda, const struct at_compiler *compiler,
                                       struct at_error *err)
{
    int driver[2] = {0}, nvrtc[2] = {0};

    if (sscanf(cuda, "%d.%d", &driver[0], &driver[1]) != 2 ||
        sscanf(compiler->version, "%d.%d", &nvrtc[0], &nvrtc[1]) != 2 || driver[0] > nvrtc[0] ||
        (driver[0] == nvrtc[0] && (!compiler->ptx || driver[1] >= nvrtc[1])))
        return AT_OK;
    return at_fail(err, AT_DEVICE,
                   "the driver supports CUDA %s, and NVRTC is of CUDA %s; update the driver, or "
                   "install an NVRTC of CUDA %d and name it in AUTOTUNE_NVRTC",
                   cuda, compiler->version, driver[0]);
}

static enum at_status load_harness(struct at_session *session, struct at_error *err)
{
    struct at_built built;
    enum at_status status = at_builder_wait(session->builder, &built, err);

    if (status != AT_OK)
        return status;
    if (built.outcome != AT_CORRECT)
        status =
            at_fail(err, AT_INTERNAL, "the kernels that verify do not compile: %s", built.message);
    else
        status = at_gpu_set_harness(session->gpu, built.program->image, built.program->size, err);
    if (status == AT_DEVICE) /* a driver that is too old refuses the first kernel that it gets */
        at_session_check_driver(session->gpu->cuda, at_builder_compiler(session->builder), err);
    at_program_release(built.program);
    return status;
}

static char *describe_setting(const struct at_session *session)
{
    const struct at_compiler *compiler = at_builder_compiler(session->builder);
    const struct at_device_info *info = &session->gpu->info;
    const struct at_policy *policy = session->options.policy;
    char device[256], driver[64], nvrtc[128], times[96];
    const char *const parts[AT_SETTING_PARTS] = {
        [AT_SETTING_PROGRAM] = PACKAGE_VERSION,
        [AT_SETTING_DEVICE] = device,
        [AT_SETTING_DRIVER] = driver,
        [AT_SETTING_COMPILER] = nvrtc,
        [AT_SETTING_OPTIONS] = compiler->options,
        [AT_SETTING_POLICY] = times,
    };

    snprintf(device, sizeof device, "%s %s %s", info->kind, info->uuid, info->name);
    snprintf(driver, sizeof driver, "%s cuda %s", session->gpu->driver, session->gpu->cuda);
    snprintf(nvrtc, sizeof nvrtc, "nvrtc %s %s", compiler->version, compiler->identity);
    snprintf(times, sizeof times, "%s l2 x%" PRId64 " train %" PRId64 " ns", policy->name,
             policy->l2_multiple, policy->search_train_ns);
    return at_setting_format(parts);
}

/* Warn of measurements of other templates: they stay in the journal and are not used. */
static enum at_status warn_of_other_families(struct at_session *session, struct at_error *err)
{
    enum at_status status = AT_OK;

    for (size_t i = 0; i < session->options.family_count && status == AT_OK; i++) {
        const char *name = session->options.families[i]->name;
        int64_t count = 0;

        status =
            at_journal_count_others(session->journal, name, session->family_hashes[i], &count, err);
        if (status == AT_OK && count > 0)
            at_warn(session->options.progress,
                    "the template or launch of %s has changed: its %" PRId64
                    " measurements in %s are kept but not used",
                    name, count, session->options.journal);
    }
    return status;
}

static enum at_status open_journal(struct at_session *session, struct at_error *err)
{
    enum at_status status;

    session->setting = describe_setting(session);
    if (!session->options.journal)
        return AT_OK;
    status = at_journal_open(&session->journal, session->options.journal, session->setting,
                             session->options.resume, err);
    if (status == AT_OK)
        at_detail(session->options.progress, "the journal is %s", session->options.journal);
    return status == AT_OK ? warn_of_other_families(session, err) : status;
}

enum at_status at_session_begin(struct at_session **session, const struct at_device_info *info,
                                const struct at_session_options *options, struct at_error *err)
{
    struct at_session *begun = at_alloc(sizeof *begun);
    enum at_status status;

    begun->options = *options;
    begun->opening = at_phase_begin(begun);
    begun->forecast.seconds_per_weight = options->problem_s;
    begun->kind = at_device_kind(info);
    begun->failure_shown = at_alloc_array(options->family_count, sizeof *begun->failure_shown);
    status = at_template_header_read(&begun->header, err);
    if (status == AT_OK && !options->turn.turns)
        status = at_device_lock_take(&begun->lock, info, options->wait, options->progress, err);
    if (status == AT_OK) {
        hash_families(begun);
        status = open_builder(begun, info, err);
    }
    if (status == AT_OK && !begun->kind->host_checks) /* it is compiled while the device opens */
        status = start_harness(begun, err);
    if (status == AT_OK)
        *session = begun;
    else
        at_session_close(begun);
    return status;
}

static void build_meanwhile(void *builder, int fd, int64_t deadline_ns)
{
    at_builder_work_until(builder, fd, deadline_ns);
}

enum at_status at_session_open_device(struct at_session *session, const struct at_device_info *info,
                                      struct at_error *err)
{
    const struct at_meanwhile meanwhile = {build_meanwhile, session->builder};
    enum at_status status = at_gpu_open(&session->gpu, info->kind, info->ordinal,
                                        session->options.turn, meanwhile, err);

    if (status == AT_OK)
        status = open_journal(session, err);
    if (status == AT_OK && !session->kind->host_checks)
        status = load_harness(session, err);
    if (status == AT_OK)
        at_phase_end(session, AT_PHASE_OPEN, session->opening);
    return status;
}

enum at_status at_session_open(struct at_session **session, const struct at_device_info *info,
                               const struct at_session_options *options, struct at_error *err)
{
    struct at_session *opened;
    enum at_status status = at_session_begin(&opened, info, options, err);

    if (status != AT_OK)
        return status;
    status = at_session_open_device(opened, info, err);
    if (status == AT_OK)
        *session = opened;
    else
        at_session_close(opened);
    return status;
}

void at_session_close(struct at_session *session)
{
    if (!session)
        return;
    if (session->gpu) {
        at_session_warn(session);
        at_gpu_end(session->gpu);
    }
    at_builder_close(session->builder);
    at_gpu_close(session->gpu);
    at_journal_close(session->journal);
    at_device_lock_release(session->lock);
    free(session->copies);
    free(session->failure_shown);
    free(session->family_hashes);
    free(session->harness.source);
    free(session->header);
    free(session->setting);
    at_warm_start_clear(&session->warm_start);
    at_warm_start_clear(&session->copy_warm_start);
    at_warm_start_clear(&session->incumbents);
    free(session);
}

struct at_phase_time at_phase_begin(const struct at_session *session)
{
    return (struct at_phase_time){at_now_ns(), session->gpu ? session->gpu->conditions.busy_ns : 0};
}

struct at_phase_time at_phase_end(struct at_session *session, enum at_phase phase,
                                  struct at_phase_time began)
{
    const struct at_phase_time now = at_phase_begin(session),
                               took = {now.ns - began.ns, now.busy_ns - began.busy_ns};

    session->phases[session->phase_count++] = (struct at_ended_phase){phase, took, now.ns};
    return took;
}

static enum at_status file_phase(const struct at_session *session,
                                 const struct at_ended_phase *ended, const char *problem,
                                 struct at_error *err)
{
    const struct at_journal_phase phase = {.phase = ended->phase,
                                           .tuner = (int64_t)session->options.turn.place,
                                           .took_ms = ended->took.ns / 1000000,
                                           .gpu_ms = ended->took.busy_ns / 1000000,
                                           .ago_ms = (at_now_ns() - ended->ended_ns) / 1000000};

    return at_journal_add_phase(session->journal, ended->phase == AT_PHASE_OPEN ? "" : problem,
                                session->gpu->info.uuid, &phase, err);
}

void at_phases_file(struct at_session *session, const char *problem)
{
    struct at_error err = {AT_OK, ""};

    for (size_t i = 0; i < session->phase_count && session->journal; i++)
        at_session_warn_of_journal(session, file_phase(session, &session->phases[i], problem, &err),
                                   &err);
    session->phase_count = 0;
}

void at_session_warn_of_journal(struct at_session *session, enum at_status status,
                                const struct at_error *err)
{
    if (status == AT_OK || session->journal_failed)
        return;
    session->journal_failed = true;
    at_warn(session->options.progress,
            "%s; the run goes on, and --resume will measure anew what is not in the journal",
            err->message);
}

struct at_gpu_run at_session_run(const struct at_session *session, const struct at_built *built,
                                 const struct at_problem *problem, const struct at_launch *launch)
{
    struct at_gpu_run run = {
        .problem = *problem,
        .launch = *launch,
        .sets = at_policy_search_sets(session->options.policy, problem, &session->gpu->info),
        .cold = session->options.policy->l2_multiple > 0,
    };

    if (built) {
        memcpy(run.program, built->program->hash, AT_HASH_CHARS);
        memcpy(run.entry, built->entry, sizeof run.entry);
        run.compiled = (struct at_gpu_kernel){
            .registers = built->resources.registers,
            .spill_bytes = built->resources.spill_bytes,
            .shared_bytes = built->resources.shared_bytes,
        };
    }
    return run;
}

static enum at_status check_elements(const struct at_session *session,
                                     const struct at_problem *problem, struct at_error *err)
{
    int64_t elements = at_problem_src_extent(problem) > at_problem_dst_extent(problem)
                           ? at_problem_src_extent(problem)
                           : at_problem_dst_extent(problem);
    int64_t most = session->kind->elements_max;
    char *text;

    if (most == 0 || elements <= most)
        return AT_OK;
    text = at_problem_format(problem);
    at_fail(err, AT_USAGE,
            "%s is too large for an emulated device, which takes at most %" PRId64 " elements",
            text, most);
    free(text);
    return AT_USAGE;
}

static enum at_status check_memory(const struct at_session *session,
                                   const struct at_problem *problem, int64_t free_bytes,
                                   int64_t total_bytes, struct at_error *err)
{
    int64_t needed = at_cases_memory_bytes(problem, session->options.policy, &session->gpu->info);
    enum at_status status = check_elements(session, problem, err);
    char *text;

    if (status != AT_OK || needed <= free_bytes)
        return status;
    text = at_problem_format(problem);
    at_fail(err, AT_USAGE,
            "%s needs %.2f GiB of device memory under the %s policy; %.2f GiB of %.2f GiB are free",
            text, (double)needed / 0x1p30, session->options.policy->name,
            (double)free_bytes / 0x1p30, (double)total_bytes / 0x1p30);
    free(text);
    return AT_USAGE;
}

enum at_status at_session_check_memory(struct at_session *session,
                                       const struct at_problem *problems, size_t count,
                                       struct at_error *err)
{
    int64_t free_bytes, total_bytes;
    enum at_status status = at_gpu_memory(session->gpu, &free_bytes, &total_bytes, err);

    free_bytes /= (int64_t)session->options.turn.place + 1;
    for (size_t i = 0; i < count && status == AT_OK; i++)
        status = check_memory(session, &problems[i], free_bytes, total_bytes, err);
    return status;
}

void at_session_warn(struct at_session *session)
{
    const struct at_gpu_conditions *seen = &session->gpu->conditions;
    const char *device = session->gpu->info.name;

    if (seen->other_processes > 0 && !session->told_of_others) {
        session->told_of_others = true;
        at_warn(session->options.progress,
                "%" PRId64 " other process%s on the %s: times may be unreliable",
                seen->other_processes, seen->other_processes > 1 ? "es are" : " is", device);
    }
    if (seen->slowed_ns > 0 && !session->told_of_slowing) {
        session->told_of_slowing = true;
        at_warn(session->options.progress,
                "heat or the power supply slows the %s down: times may not repeat", device);
    }
}

/* Emulating takes a fraction of a second for the small cases, and tens of milliseconds per megabyte
 * of the problem. This leaves room for a host a hundred times slower or busier. An endless loop
 * ends long before, by the number of its instructions. */
static int64_t emulated_allowance_ns(const struct at_problem *problem)
{
    static const int64_t cases_ns = 300 * INT64_C(1000000000);

    return cases_ns + 1000 * at_problem_bytes(problem);
}

int64_t at_evaluation_limit_ns(const struct at_session *session, const struct at_problem *problem)
{
    /* An evaluation passes over the buffers some twenty times, checks included. A config a hundred
     * times slower than the memory should still get a result. */
    static const int64_t passes = 2000;
    int64_t peak_MB_per_s = session->gpu->info.peak_bandwidth_MB_per_s;
    int64_t MB_per_s = peak_MB_per_s > 0 ? peak_MB_per_s : 100000;
    int64_t pass_ns = at_problem_bytes(problem) / MB_per_s * 1000;

    if (session->kind->slow)
        return session->options.timeout_ns + emulated_allowance_ns(problem);
    return session->options.timeout_ns + passes * pass_ns;
}

int64_t at_verify_more(const struct at_session *session, int64_t times)
{
    return session->kind->predicted ? 0 : times;
}
