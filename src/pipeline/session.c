/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/session.h"

#include "base/memory.h"
#include "device/kind.h"
#include "measure/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- verification cases ---- */

/* In elements, padding too. Odd padding puts rows at any offset from a vector; padding by 32 keeps
 * every vector of up to 16 bytes aligned. */
static const struct {
    int rows, cols;
    int pad_src, pad_dst; /* leading dimension beyond the row */
    int batch;
    int gap_src, gap_dst; /* stride beyond the matrix */
    int offset_src, offset_dst;
} shapes[] = {
    {1, 1, 0, 0, 1, 0, 0, 0, 0},         /* one element */
    {1, 37, 0, 0, 1, 0, 0, 0, 0},        /* vectors, shorter and longer than a block's tile */
    {37, 1, 2, 0, 1, 0, 0, 0, 0},        /* single elements */
    {1, 37, 0, 0, 3, 2, 5, 0, 1},        /* odd runs with gaps */
    {1, 65543, 0, 0, 1, 0, 0, 0, 0},     /* more than 16 bits of index */
    {33, 65, 0, 0, 1, 0, 0, 0, 0},       /* one more than a tile */
    {127, 129, 0, 0, 1, 0, 0, 0, 0},     /* one less and one more than a tile */
    {131, 67, 3, 5, 1, 0, 0, 0, 0},      /* odd padding on both sides */
    {67, 130, 2, 1, 1, 0, 0, 3, 1},      /* odd padding and odd addresses */
    {3, 1000, 0, 1, 1, 0, 0, 0, 0},      /* few rows */
    {1000, 3, 1, 0, 1, 0, 0, 0, 0},      /* few columns */
    {17, 19, 2, 3, 5, 7, 11, 0, 0},      /* an odd batch with odd gaps */
    {128, 256, 0, 0, 1, 0, 0, 0, 0},     /* aligned, rectangular */
    {256, 64, 32, 64, 1, 0, 0, 0, 0},    /* aligned padding */
    {160, 96, 0, 0, 3, 0, 0, 0, 0},      /* aligned batch, sizes not powers of two */
    {64, 128, 32, 32, 2, 64, 128, 0, 0}, /* aligned, padded, batched */
    {288, 544, 0, 0, 1, 0, 0, 0, 0},     /* several tiles each way, the last one partial */
};

/* Tensors, for problems of at least as many axes. A kernel is compiled for a number of axes: the
 * rest of them gets an extent of 1. Small ones, because there are many axes to go through. */
static const struct {
    const char *extents, *keys;
} tensors[] = {
    {"37x5x41", "perm=210"},                    /* matrices inside each other */
    {"64x3x96", "perm=210"},                    /* the same, aligned */
    {"67x2x130", "perm=210,offset_src=3"},      /* and odd addresses */
    {"6x5x48", "perm=102"},                     /* runs of whole vectors */
    {"11x13x7", "perm=102"},                    /* and odd ones */
    {"3x5x640", "perm=102"},                    /* and longer than a block of threads */
    {"3x4x64x128", "perm=1032"},                /* a batch of two axes, aligned */
    {"4x3x33x65", "perm=1032"},                 /* and odd */
    {"9x4x33x35", "perm=3021"},                 /* its axes inside the rows */
    {"35x2x3x2x70", "perm=41320"},              /* three of them */
    {"16x2x3x2x32", "perm=43210"},              /* small tiles, aligned */
    {"3x3x3x3x3x3x3", "perm=6543210"},          /* short axes */
    {"5x2x3x7x2x5", "perm=531420"},             /* */
    {"2x2x2x2x2x2x2x2x2x2", "perm=9876543210"}, /* */
    {"7x6x4x10", "perm=0213,strides_src=271x45x11x1,strides_dst=395x95x15x1"}, /* padded */
    {"5x6x9x8", "perm=3120,strides_src=500x80x8x1,offset_dst=1"},              /* */
};

/* Many matrices: empty ones, single elements, more than a block has threads, aligned ones and many
 * of these; and groups of rows, empty ones among them, with padding. */
static const struct {
    enum at_groups_kind kind;
    const char *group;
} groups[] = {
    {AT_GROUP_LIST, "group=7,rows=0..40,cols=0..150"},
    {AT_GROUP_LIST, "group=1,rows=300,cols=7"},
    {AT_GROUP_LIST, "group=2,rows=1,cols=1"},
    {AT_GROUP_LIST, "group=1100,rows=1..3,cols=1..5"},
    {AT_GROUP_LIST, "group=40,rows=16..144,cols=16..144,multiple=16"},
    {AT_GROUP_LIST, "group=1100,rows=0..16,cols=16,multiple=16"},
    {AT_RAGGED_GROUPS, "group=9,total=500,cols=70,law=zipf"},
    {AT_RAGGED_GROUPS, "group=1,total=77,cols=1"},
    {AT_RAGGED_GROUPS, "group=1200,total=900,cols=3,law=sparse"},
    {AT_RAGGED_GROUPS, "group=30,total=100,cols=64,law=sparse,pad=32"},
    {AT_RAGGED_GROUPS, "group=1200,total=1920,cols=16,law=zipf,pad=16"},
    {AT_RAGGED_GROUPS, "group=5,total=640,cols=128,law=zipf,multiple=16,pad=16,stack=1"},
};

_Static_assert(AT_COUNT(tensors) < AT_VERIFICATION_CASES_MAX,
               "every one and the tuned problem fit");
_Static_assert(AT_COUNT(shapes) < AT_VERIFICATION_CASES_MAX &&
                   AT_VERIFICATION_CASES_MAX <= 32 /* AT_CASES_MAX of the worker */,
               "every shape and the tuned problem fit");

/* Make a problem in place: a square with the shape's shorter side, and the padding and gap of its
 * source. */
static void make_square(struct at_problem *problem)
{
    int64_t pad = problem->ld_src - problem->cols;
    int64_t gap = problem->stride_src - problem->rows * problem->ld_src;
    int64_t side = problem->rows < problem->cols ? problem->rows : problem->cols;

    problem->rows = problem->cols = side;
    problem->ld_src = problem->ld_dst = side + pad;
    problem->stride_src = problem->stride_dst = side * problem->ld_src + gap;
    problem->offset_dst = problem->offset_src;
    problem->in_place = 1;
}

/* Channels along one axis or another: that of this number, or the next one whose strides nest. A
 * kernel that mixes channels takes only problems that do, and one that mixes none only the others.
 * False if no axis has such channels. */
static bool place_channels(struct at_problem *problem, size_t number, const struct at_problem *like)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes);
    bool placed = !at_step_has(&problem->step, AT_AFFINE);

    for (size_t i = 0; i < count && !placed; i++)
        placed = at_channels_place(&problem->step.channels, axes, count, (number + i) % count, "",
                                   NULL) == AT_OK &&
                 at_problem_mixes_channels(like) == at_problem_mixes_channels(problem);
    return placed;
}

/* 1, if results on this side are two in a byte: each row then begins in a whole one. */
static int64_t odd_on(const struct at_step *step, enum at_side side)
{
    return step->given && (side == AT_DESTINATION ? step->to : step->kept) == AT_E2M1;
}

/* Make a problem of this shape. False if no axis of it has channels like the problem's. */
static bool make_problem(struct at_problem *made, size_t shape, const struct at_problem *like)
{
    int64_t odd_src = odd_on(&like->step, AT_SOURCE), odd_dst = odd_on(&like->step, AT_DESTINATION);
    struct at_problem problem = {
        .elem_size = like->elem_size,
        .rows = shapes[shape].rows,
        .cols = shapes[shape].cols,
        .ld_src = shapes[shape].cols + shapes[shape].pad_src,
        .ld_dst = shapes[shape].rows + shapes[shape].pad_dst,
        .batch = shapes[shape].batch,
        .offset_src = shapes[shape].offset_src & ~odd_src,
        .offset_dst = shapes[shape].offset_dst & ~odd_dst,
        .step = like->step,
    };

    memcpy(problem.type, like->type, sizeof problem.type);
    problem.ld_src += problem.ld_src & odd_src;
    problem.ld_dst += problem.ld_dst & odd_dst;
    problem.stride_src = problem.rows * problem.ld_src + (shapes[shape].gap_src & ~odd_src);
    problem.stride_dst = problem.cols * problem.ld_dst + (shapes[shape].gap_dst & ~odd_dst);
    if (!place_channels(&problem, shape, like))
        return false;
    if (like->in_place)
        make_square(&problem);
    else
        at_problem_reduce(&problem);
    *made = problem;
    return true;
}

/* An axis of extent 1 that is the slowest on both sides: families tell axes by the order of their
 * strides. */
static struct at_axis make_last_axis(const struct at_problem *problem)
{
    struct at_axis axes[AT_AXES_MAX], last = {1, 1, 1};
    size_t count = at_problem_axes(problem, axes);

    for (size_t i = 0; i < count; i++) {
        if (axes[i].extent * axes[i].stride_src > last.stride_src)
            last.stride_src = axes[i].extent * axes[i].stride_src;
        if (axes[i].extent * axes[i].stride_dst > last.stride_dst)
            last.stride_dst = axes[i].extent * axes[i].stride_dst;
    }
    return last;
}

/* Make a tensor with as many axes as this problem. False if it has more, or no such channels. */
static bool make_tensor(struct at_problem *problem, size_t tensor, const struct at_problem *like)
{
    char *spec =
        at_format("%s:b%d,%s", tensors[tensor].extents, (int)like->elem_size, tensors[tensor].keys);
    enum at_status status = at_problem_parse(problem, spec, NULL);
    struct at_axis last;

    free(spec);
    if (status != AT_OK || problem->outer_count > like->outer_count)
        return false;
    memcpy(problem->type, like->type, sizeof problem->type);
    problem->step = like->step;
    if (!place_channels(problem, tensor, like))
        return false;
    last = make_last_axis(problem);
    while (problem->outer_count < like->outer_count)
        problem->outer[problem->outer_count++] = last;
    return true;
}

/* Make groups with the types and operations of this problem. */
static bool make_groups(struct at_problem *problem, size_t number, const struct at_problem *like)
{
    char *own = at_problem_format(like), *spec;
    bool made = groups[number].kind == at_groups_kind(&like->groups);

    spec = at_format("%s%s", groups[number].group, strchr(own, ':'));
    made = made && at_problem_parse(problem, spec, NULL) == AT_OK;
    free(spec);
    free(own);
    return made;
}

static bool is_among(const struct at_problem *problem, const struct at_gpu_case *cases,
                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (at_problem_equal(&cases[i].problem, problem))
            return true;
    return false;
}

size_t at_cases_for(const struct at_problem *problem, const struct at_policy *policy,
                    const struct at_device_info *device,
                    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX])
{
    size_t count = 0;

    cases[count++] = (struct at_gpu_case){*problem, at_policy_buffer_sets(policy, problem, device)};
    for (size_t i = 0; i < AT_COUNT(groups) && problem->groups.count > 0; i++) {
        struct at_gpu_case *made = &cases[count];

        made->sets = 1;
        count += make_groups(&made->problem, i, problem);
    }
    if (problem->groups.count > 0)
        return count;
    for (size_t i = 0; i < AT_COUNT(tensors) && at_problem_is_tensor(problem); i++) {
        struct at_gpu_case *made = &cases[count];

        made->sets = 1;
        count += make_tensor(&made->problem, i, problem);
    }
    for (size_t i = 0; i < AT_COUNT(shapes) && !at_problem_is_tensor(problem); i++) {
        struct at_gpu_case made = {.sets = 1};

        if (make_problem(&made.problem, i, problem) &&
            !is_among(&made.problem, cases + 1, count - 1)) /* some squares repeat */
            cases[count++] = made;
    }
    return count;
}

int64_t at_cases_memory_bytes(const struct at_problem *problem, const struct at_policy *policy,
                              const struct at_device_info *device)
{
    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX];
    size_t count = at_cases_for(problem, policy, device, cases);
    int64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(
                bytes, at_buffers_bytes(&cases[i].problem, cases[i].sets, device), &bytes))
            return INT64_MAX;
    return bytes;
}

/* A kernel has so many blocks then that emulating them takes longer than all other cases. */
static bool has_long_side(const struct at_problem *problem)
{
    return problem->rows > UINT16_MAX || problem->cols > UINT16_MAX;
}

enum at_status at_cases_trials(const struct at_config *config, const struct at_device_info *device,
                               const struct at_gpu_case *cases, size_t case_count, bool winner,
                               struct at_gpu_trial trials[AT_VERIFICATION_CASES_MAX],
                               size_t *trial_count, struct at_error *err)
{
    bool all = winner || !at_device_kind(device)->slow;
    enum at_status status = AT_OK;
    size_t count = 0;

    for (size_t i = 1; i < case_count && status == AT_OK; i++) {
        bool legal = false;

        if (!all && has_long_side(&cases[i].problem))
            continue;
        status = at_config_legal(config, &cases[i].problem, device, &legal, NULL, err);
        if (status != AT_OK || !legal)
            continue;
        trials[count].case_index = (int64_t)i;
        status = at_config_launch(config, &cases[i].problem, device, &trials[count++].launch, err);
    }
    *trial_count = count;
    return status;
}

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

enum at_status at_session_open(struct at_session **session, const struct at_device_info *info,
                               const struct at_session_options *options, struct at_error *err)
{
    struct at_family harness = {.name = (char[]){"harness"},
                                .template_path = (char[]){"harness.cu"}};
    struct at_session *opened = at_alloc(sizeof *opened);
    enum at_status status;

    opened->options = *options;
    opened->forecast.seconds_per_weight = options->problem_s;
    opened->kind = at_device_kind(info);
    opened->failure_shown = at_alloc_array(options->family_count, sizeof *opened->failure_shown);
    status = at_template_header_read(&opened->header, err);
    if (status == AT_OK && !options->turn.turns)
        status = at_device_lock_take(&opened->lock, info, options->wait, options->progress, err);
    if (status == AT_OK) {
        hash_families(opened);
        status = open_builder(opened, info, err);
    }
    if (status == AT_OK && !opened->kind->host_checks) /* it is compiled while the device opens */
        status = start_harness(opened, &harness, err);
    if (status == AT_OK)
        status = at_gpu_open(&opened->gpu, info->kind, info->ordinal, options->turn, err);
    if (status == AT_OK)
        status = open_journal(opened, err);
    if (status == AT_OK && !opened->kind->host_checks)
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
    free(session->failure_shown);
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
