/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/session.h"

#include "base/memory.h"
#include "device/kind.h"
#include "journal/journal.h"
#include "pipeline/cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void at_session_hash_kernel(char hash[AT_SHORT_HASH_CHARS], const struct at_session *session,
                            const struct at_config *config, const struct at_problem *problem)
{
    char *macros = at_render_macros(config, at_problem_kind(problem)),
         *text = at_format("%s\n%s", at_session_family_hash(session, config->family), macros),
         whole[AT_HASH_CHARS];

    at_hash(whole, text, strlen(text));
    memcpy(hash, whole, AT_SHORT_HASH_CHARS - 1);
    hash[AT_SHORT_HASH_CHARS - 1] = '\0';
    free(text);
    free(macros);
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
    };
    char note[512];
    enum at_status status = at_builder_open(&session->builder, &options, note, sizeof note, err);

    if (status == AT_OK && note[0])
        at_warn(session->options.progress, "%s", note);
    return status;
}

/* The harness is compiled like a family without parameters; only its own entries matter. */
static enum at_status start_harness(struct at_session *session, struct at_family *harness,
                                    struct at_error *err)
{
    const struct at_config config = {.family = harness};
    enum at_status status = at_template_read(&harness->source, "harness.cu", err);

    if (status != AT_OK)
        return status;
    at_builder_add(session->builder, &config, (struct at_problem_kind){1, 1, 1}, NULL);
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
        at_session_check_driver(at_gpu_cuda_version(session->gpu),
                                at_builder_compiler(session->builder), err);
    at_program_release(built.program);
    return status;
}

static char *describe_setting(const struct at_session *session)
{
    const struct at_compiler *compiler = at_builder_compiler(session->builder);
    const struct at_device_info *info = at_gpu_info(session->gpu);
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
    snprintf(driver, sizeof driver, "%s cuda %s", at_gpu_driver_version(session->gpu),
             at_gpu_cuda_version(session->gpu));
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

enum at_status at_session_open(struct at_session **session, const struct at_device_info *info,
                               const struct at_session_options *options, struct at_error *err)
{
    struct at_family harness = {.name = (char[]){"harness"},
                                .template_path = (char[]){"harness.cu"}};
    struct at_session *opened = at_alloc(sizeof *opened);
    enum at_status status;

    opened->options = *options;
    opened->kind = at_device_kind(info);
    opened->compile_failure_shown = at_alloc_array(options->family_count, sizeof(bool));
    status = at_template_read(&opened->header, AT_TEMPLATE_HEADER, err);
    if (status == AT_OK && !options->turn.turns)
        status = at_device_lock_take(&opened->lock, info, options->wait, options->progress, err);
    if (status == AT_OK) {
        hash_families(opened);
        status = open_builder(opened, info, err);
    }
    if (status == AT_OK) /* it is compiled while the device opens */
        status = start_harness(opened, &harness, err);
    if (status == AT_OK)
        status = at_gpu_open(&opened->gpu, info->kind, info->ordinal, options->turn, err);
    if (status == AT_OK)
        status = open_journal(opened, err);
    if (status == AT_OK)
        status = load_harness(opened, err);
    if (status == AT_OK)
        *session = opened;
    else
        at_session_close(opened);
    free(harness.source);
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
    free(session->compile_failure_shown);
    free(session->family_hashes);
    free(session->header);
    free(session->setting);
    at_warm_start_clear(&session->warm_start);
    at_warm_start_clear(&session->copy_warm_start);
    at_warm_start_clear(&session->incumbents);
    free(session);
}

struct at_gpu_run at_session_run(const struct at_session *session, const struct at_built *built,
                                 const struct at_problem *problem, const struct at_launch *launch)
{
    struct at_gpu_run run = {
        .problem = *problem,
        .launch = *launch,
        .sets = at_policy_search_sets(session->options.policy, problem, at_gpu_info(session->gpu)),
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
    int64_t needed =
        at_cases_memory_bytes(problem, session->options.policy, at_gpu_info(session->gpu));
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
    const struct at_gpu_conditions *seen = at_gpu_conditions(session->gpu);
    const char *device = at_gpu_info(session->gpu)->name;

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
    int64_t peak_MB_per_s = at_gpu_info(session->gpu)->peak_bandwidth_MB_per_s;
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
