/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/device.h"
#include "device/kind.h"
#include "measure/gpu_protocol.h"
#include "measure/host_kernels.h"
#include "measure/policy.h"
#include "problem/arguments.h"
#include "problem/problem.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { CHECKS_MAX = 2 * AT_CASES_MAX + 4 };

/* ---- the harness ---- */

enum { HARNESS_THREADS = 256, HARNESS_BLOCKS_PER_MULTIPROCESSOR = 32 };

static const struct at_device_base *base_of(const struct at_device *device)
{
    return (const struct at_device_base *)device;
}

enum at_outcome at_harness_load(struct at_harness *harness, struct at_device *device,
                                const void *image, size_t size, struct at_error *err)
{
    const struct at_device_ops *ops = base_of(device)->ops;
    static const char *const entries[AT_HARNESS_KERNELS] = {
        [AT_POISON] = "at_poison",
        [AT_FILL_SOURCE] = "at_fill_source",
        [AT_CHECK] = "at_check",
        [AT_CHECK_TENSOR] = "at_check_tensor",
        [AT_CHECK_SOURCE] = "at_check_source",
    };
    enum at_outcome outcome = ops->load(device, image, size, &harness->module, err);

    for (size_t i = 0; i < AT_COUNT(entries) && outcome == AT_CORRECT; i++)
        outcome = ops->find(device, harness->module, entries[i], &harness->kernels[i], err);
    return outcome;
}

/* Start one of the harness's kernels over this many items; it works with any number of threads. A
 * device whose memory the host can reach gets the host's function of the same name at once. */
static enum at_outcome start(struct at_device *device, const struct at_harness *harness,
                             enum at_harness_kernel kernel, int64_t items, struct at_call call,
                             struct at_error *err)
{
    int64_t blocks = (items + HARNESS_THREADS - 1) / HARNESS_THREADS;
    int64_t most = base_of(device)->info.multiprocessors * HARNESS_BLOCKS_PER_MULTIPROCESSOR;

    if (base_of(device)->ops->view)
        return at_host_kernels[kernel](device, call.args, err);
    call.kernel = &harness->kernels[kernel];
    call.launch = (struct at_launch){{
        [AT_GRID_X] = blocks < 1      ? 1
                      : blocks < most ? blocks
                                      : most,
        [AT_GRID_Y] = 1,
        [AT_GRID_Z] = 1,
        [AT_BLOCK_X] = HARNESS_THREADS,
        [AT_BLOCK_Y] = 1,
        [AT_BLOCK_Z] = 1,
        [AT_CARVEOUT_PERCENT] = -1,
    }};
    return base_of(device)->ops->start(device, &call, err);
}

/* ---- buffers ---- */

int64_t at_red_zone_bytes(int64_t buffer_bytes, const struct at_device_info *device)
{
    static const int64_t least = 64 << 10, most = 8 << 20;
    int64_t share = buffer_bytes / 16 & ~INT64_C(255);

    if (at_device_kind(device)->finds_faults) /* there an access beyond its allocation is a fault */
        return 256;
    return share < least ? least : share > most ? most : share;
}

int64_t at_buffer_bytes_with_zones(int64_t buffer_bytes, int64_t offset_bytes,
                                   const struct at_device_info *device)
{
    return ((buffer_bytes + 2 * offset_bytes + 255) & ~INT64_C(255)) +
           2 * at_red_zone_bytes(buffer_bytes, device);
}

int64_t at_buffers_bytes(const struct at_problem *problem, int64_t sets,
                         const struct at_device_info *device)
{
    int64_t src = at_problem_src_extent(problem) * problem->elem_size;
    int64_t dst = at_problem_dst_extent(problem) * problem->elem_size;
    int64_t set =
        at_buffer_bytes_with_zones(src, problem->offset_src * problem->elem_size, device) +
        at_buffer_bytes_with_zones(dst, problem->offset_dst * problem->elem_size, device);
    int64_t bytes;

    /* A problem has at most 2^62 bytes, so the sum fits; the product may not. */
    return __builtin_mul_overflow(sets, set, &bytes) ? INT64_MAX : bytes;
}

static enum at_outcome poison(struct at_device *device, const struct at_harness *harness,
                              at_address address, int64_t bytes, struct at_error *err)
{
    return start(device, harness, AT_POISON, bytes / 16,
                 (struct at_call){.args = {address, (uint64_t)bytes}}, err);
}

/* Fill the source's buffer with a source's values; in place, the destination's buffer. */
static enum at_outcome fill(const struct at_buffers *buffers, struct at_device *device,
                            const struct at_harness *harness, at_address extent,
                            struct at_error *err)
{
    int64_t elements = at_problem_src_extent(&buffers->problem);

    return start(device, harness, AT_FILL_SOURCE, elements,
                 (struct at_call){
                     .args = {extent, (uint64_t)elements, (uint64_t)buffers->problem.elem_size}},
                 err);
}

enum at_outcome at_buffers_fill(const struct at_buffers *buffers, struct at_device *device,
                                const struct at_harness *harness, struct at_error *err)
{
    enum at_outcome outcome =
        poison(device, harness, buffers->src, buffers->sets * buffers->src_pitch, err);

    if (outcome == AT_CORRECT)
        outcome = poison(device, harness, buffers->dst, buffers->sets * buffers->dst_pitch, err);
    for (int64_t set = 0; set < buffers->sets && outcome == AT_CORRECT; set++)
        outcome = fill(buffers, device, harness, at_buffers_src(buffers, set), err);
    for (int64_t set = 0; buffers->problem.in_place && set < buffers->sets; set++)
        if (outcome == AT_CORRECT)
            outcome = fill(buffers, device, harness, at_buffers_dst(buffers, set), err);
    return outcome;
}

enum at_outcome at_buffers_make(struct at_buffers *buffers, struct at_device *device,
                                const struct at_harness *harness, const struct at_gpu_case *wanted,
                                struct at_error *err)
{
    const struct at_device_ops *ops = base_of(device)->ops;
    const struct at_device_info *info = &base_of(device)->info;
    const struct at_problem *problem = &wanted->problem;
    int64_t src_bytes = at_problem_src_extent(problem) * problem->elem_size;
    int64_t dst_bytes = at_problem_dst_extent(problem) * problem->elem_size;
    /* An offset lengthens both red zones. */
    int64_t src_offset = problem->offset_src * problem->elem_size;
    int64_t dst_offset = problem->offset_dst * problem->elem_size;
    struct at_buffers made = {
        .problem = *problem,
        .sets = wanted->sets,
        .src_zone = at_red_zone_bytes(src_bytes, info) + src_offset,
        .dst_zone = at_red_zone_bytes(dst_bytes, info) + dst_offset,
        .src_pitch = at_buffer_bytes_with_zones(src_bytes, src_offset, info),
        .dst_pitch = at_buffer_bytes_with_zones(dst_bytes, dst_offset, info),
    };
    enum at_outcome outcome = ops->allocate(device, made.sets * made.src_pitch, &made.src, err);

    if (outcome == AT_CORRECT)
        outcome = ops->allocate(device, made.sets * made.dst_pitch, &made.dst, err);
    if (outcome == AT_CORRECT)
        outcome = at_buffers_fill(&made, device, harness, err);
    if (outcome == AT_CORRECT)
        *buffers = made;
    else if (!at_outcome_loses_device(outcome)) /* a lost device releases nothing */
        at_buffers_release(&made, device);
    return outcome;
}

void at_buffers_release(struct at_buffers *buffers, struct at_device *device)
{
    base_of(device)->ops->release(device, buffers->src);
    base_of(device)->ops->release(device, buffers->dst);
    *buffers = (struct at_buffers){0};
}

at_address at_buffers_src(const struct at_buffers *buffers, int64_t set)
{
    return buffers->src + (uint64_t)(set * buffers->src_pitch + buffers->src_zone);
}

at_address at_buffers_dst(const struct at_buffers *buffers, int64_t set)
{
    return buffers->dst + (uint64_t)(set * buffers->dst_pitch + buffers->dst_zone);
}

/* Start restoring the destination of a set to its first content. */
static enum at_outcome buffers_reset(const struct at_buffers *buffers, struct at_device *device,
                                     const struct at_harness *harness, int64_t set,
                                     struct at_error *err)
{
    enum at_outcome outcome =
        poison(device, harness, buffers->dst + (uint64_t)(set * buffers->dst_pitch),
               buffers->dst_pitch, err);

    if (outcome == AT_CORRECT && buffers->problem.in_place)
        outcome = fill(buffers, device, harness, at_buffers_dst(buffers, set), err);
    return outcome;
}

/* The same for batches of any axes. The kernel has its own struct `tensor_axes`, with the axes that
 * are farthest apart in the destination first. */
static enum at_outcome check_tensor(const struct at_buffers *buffers, struct at_device *device,
                                    const struct at_harness *harness, int64_t set,
                                    at_address result, struct at_error *err)
{
    const struct at_problem *p = &buffers->problem;
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_axes_merge(axes, at_problem_axes(p, axes)), word = 0;
    struct at_call call = {.args = {
                               buffers->dst + (uint64_t)(set * buffers->dst_pitch),
                               (uint64_t)buffers->dst_zone,
                               (uint64_t)at_problem_dst_extent(p),
                               (uint64_t)p->elem_size,
                               result,
                           }};
    uint64_t *words = call.args + 5;
    int64_t span = 0;

    at_axes_sort(axes, count, AT_DESTINATION);
    for (size_t i = 0; i < count; i++) { /* from the last word on, for the span of inner axes */
        const uint64_t entry[] = {(uint64_t)axes[i].extent, (uint64_t)axes[i].stride_src,
                                  (uint64_t)axes[i].stride_dst, (uint64_t)span};

        memcpy(words + 4 * (AT_AXES_MAX - 1 - i), entry, sizeof entry);
        span += (axes[i].extent - 1) * axes[i].stride_dst;
    }
    for (size_t i = 0; i < 4 * count; i++)
        words[word++] = words[4 * (AT_AXES_MAX - count) + i];
    words[4 * AT_AXES_MAX] = (uint64_t)count;
    call.arg_words[5] = 4 * AT_AXES_MAX + 1;
    return start(device, harness, AT_CHECK_TENSOR, buffers->dst_pitch / p->elem_size, call, err);
}

enum at_outcome at_buffers_check(const struct at_buffers *buffers, struct at_device *device,
                                 const struct at_harness *harness, int64_t set, at_address result,
                                 struct at_error *err)
{
    const struct at_problem *p = &buffers->problem;

    if (at_problem_is_tensor(p))
        return check_tensor(buffers, device, harness, set, result, err);

    struct at_call call = {.args = {
                               buffers->dst + (uint64_t)(set * buffers->dst_pitch),
                               (uint64_t)buffers->dst_zone,
                               (uint64_t)p->rows,
                               (uint64_t)p->cols,
                               (uint64_t)p->ld_src,
                               (uint64_t)p->ld_dst,
                               (uint64_t)p->batch,
                               (uint64_t)p->stride_src,
                               (uint64_t)p->stride_dst,
                               (uint64_t)p->in_place,
                               (uint64_t)p->elem_size,
                               result,
                           }};

    return start(device, harness, AT_CHECK, buffers->dst_pitch / p->elem_size, call, err);
}

/* One set's source or destination. */
struct region {
    at_address base; /* of the front red zone */
    int64_t zone, pitch;
};

/* Is a buffer still filled like a source? */
static enum at_outcome check_filled(const struct at_buffers *buffers, struct at_device *device,
                                    const struct at_harness *harness, struct region region,
                                    at_address result, struct at_error *err)
{
    const struct at_problem *p = &buffers->problem;
    struct at_call call = {.args = {
                               region.base,
                               (uint64_t)region.zone,
                               (uint64_t)at_problem_src_extent(p),
                               (uint64_t)p->elem_size,
                               result,
                           }};

    return start(device, harness, AT_CHECK_SOURCE, region.pitch / p->elem_size, call, err);
}

enum at_outcome at_buffers_check_source(const struct at_buffers *buffers, struct at_device *device,
                                        const struct at_harness *harness, int64_t set,
                                        at_address result, struct at_error *err)
{
    struct region region = {buffers->src + (uint64_t)(set * buffers->src_pitch), buffers->src_zone,
                            buffers->src_pitch};

    return check_filled(buffers, device, harness, region, result, err);
}

enum at_outcome at_buffers_check_restored(const struct at_buffers *buffers,
                                          struct at_device *device,
                                          const struct at_harness *harness, int64_t set,
                                          at_address result, struct at_error *err)
{
    struct region region = {buffers->dst + (uint64_t)(set * buffers->dst_pitch), buffers->dst_zone,
                            buffers->dst_pitch};

    return check_filled(buffers, device, harness, region, result, err);
}

/* ---- cases and runs ---- */

enum at_outcome at_bench_harness(struct at_bench *bench, const void *image, size_t size,
                                 struct at_error *err)
{
    enum at_outcome outcome = at_harness_load(&bench->harness, bench->device, image, size, err);

    if (outcome == AT_CORRECT && !bench->results)
        outcome = bench->ops->allocate(bench->device, CHECKS_MAX * sizeof(struct at_check_result),
                                       &bench->results, err);
    return outcome;
}

/* Are these cases prepared already? A shoot-out's are, after its search. */
static bool is_prepared(const struct at_bench *bench, const struct at_gpu_case *cases, size_t count)
{
    bool same = count > 0 && count == bench->case_count;

    for (size_t i = 0; i < count && same; i++)
        same = bench->cases[i].sets == cases[i].sets &&
               at_problem_equal(&bench->cases[i].problem, &cases[i].problem);
    return same;
}

enum at_outcome at_bench_prepare(struct at_bench *bench, const struct at_gpu_case *cases,
                                 size_t count, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    if (is_prepared(bench, cases, count)) {
        outcome = at_bench_refill(bench, err);
        return outcome == AT_CORRECT ? bench->ops->wait(bench->device, err) : outcome;
    }
    while (bench->case_count > 0)
        at_buffers_release(&bench->cases[--bench->case_count], bench->device);
    while (bench->case_count < count && outcome == AT_CORRECT) {
        outcome = at_buffers_make(&bench->cases[bench->case_count], bench->device, &bench->harness,
                                  &cases[bench->case_count], err);
        if (outcome == AT_CORRECT)
            bench->case_count++;
    }
    return outcome == AT_CORRECT ? bench->ops->wait(bench->device, err) : outcome;
}

int64_t at_bench_sets(const struct at_bench *bench, const struct at_gpu_run *run)
{
    int64_t all = bench->cases[0].sets;

    return run->sets > 0 && run->sets < all ? run->sets : all;
}

/* Is little of a run's data in L2 when a launch begins, whatever ran before it? */
static bool bench_is_large(const struct at_bench *bench, const struct at_gpu_run *run)
{
    int64_t l2_bytes = ((const struct at_device_base *)bench->device)->info.l2_bytes;

    return at_problem_bytes(&run->problem) >= 2 * l2_bytes;
}

enum at_outcome at_bench_refill(struct at_bench *bench, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < bench->case_count && outcome == AT_CORRECT; i++)
        outcome = at_buffers_fill(&bench->cases[i], bench->device, &bench->harness, err);
    return outcome;
}

static uint64_t offset_bytes(const struct at_problem *problem, int64_t offset)
{
    return (uint64_t)(offset * problem->elem_size);
}

struct at_call at_bench_call(const struct at_bench *bench, const struct at_kernel *kernel,
                             const struct at_gpu_run *run, int64_t set)
{
    const struct at_buffers *tuned = &bench->cases[0];
    /* A copy's problem has no offset and may have another element size. It starts inside the red
     * zones, which are longer by the transpose's offset. */
    at_address dst = at_buffers_dst(tuned, set) +
                     offset_bytes(&run->problem, run->problem.offset_dst) -
                     offset_bytes(&tuned->problem, tuned->problem.offset_dst);
    at_address src = at_buffers_src(tuned, set) +
                     offset_bytes(&run->problem, run->problem.offset_src) -
                     offset_bytes(&tuned->problem, tuned->problem.offset_src);
    struct at_call call = {.kernel = kernel, .launch = run->launch, .cold = run->cold != 0};

    if (kernel)
        at_problem_args(&run->problem, &call.launch, dst, src, call.args, call.arg_words);
    else
        call.args[0] = dst, call.args[1] = src,
        call.args[2] = (uint64_t)(at_problem_bytes(&run->problem) / 2);
    return call;
}

/* ---- verification ---- */

/* A transpose is exact, so every bit of the result is compared, and every byte that the kernel must
 * not change. */

enum check_kind {
    CHECK_DESTINATION,
    CHECK_SOURCE,
    CHECK_RESTORED, /* in place: either this check or the preceding one of the destination must hold
                     */
};

static enum at_outcome (*const start_kind[])(const struct at_buffers *, struct at_device *,
                                             const struct at_harness *, int64_t, at_address,
                                             struct at_error *) = {
    [CHECK_DESTINATION] = at_buffers_check,
    [CHECK_SOURCE] = at_buffers_check_source,
    [CHECK_RESTORED] = at_buffers_check_restored,
};

/* A started check; its result has the same index on the device. */
struct started_check {
    const struct at_buffers *buffers;
    enum check_kind kind;
};

struct verification {
    struct at_bench *bench;
    struct started_check checks[CHECKS_MAX];
    size_t count;
};

/* Clear the results: no mismatch, and the first one at the largest index. */
static enum at_outcome clear_results(struct at_bench *bench, struct at_error *err)
{
    static const struct at_check_result none = {0, UINT64_MAX};
    struct at_check_result cleared[CHECKS_MAX];

    for (size_t i = 0; i < CHECKS_MAX; i++)
        cleared[i] = none;
    return bench->ops->write(bench->device, bench->results, cleared, sizeof cleared, err);
}

static enum at_outcome start_check(struct verification *verification,
                                   const struct at_buffers *buffers, int64_t set,
                                   enum check_kind kind, struct at_error *err)
{
    struct at_bench *bench = verification->bench;
    at_address result = bench->results + verification->count * sizeof(struct at_check_result);

    verification->checks[verification->count++] = (struct started_check){buffers, kind};
    return start_kind[kind](buffers, bench->device, &bench->harness, set, result, err);
}

/* Start a call between two marks. */
static enum at_outcome start_timed(struct at_bench *bench, const struct at_call *call,
                                   struct at_error *err)
{
    enum at_outcome outcome = bench->ops->mark(bench->device, AT_BEFORE, err);

    if (outcome == AT_CORRECT)
        outcome = bench->ops->start(bench->device, call, err);
    return outcome == AT_CORRECT ? bench->ops->mark(bench->device, AT_AFTER, err) : outcome;
}

/* Start a trial: reset the destination, run the kernel, check. */
static enum at_outcome start_trial(struct verification *verification,
                                   const struct at_kernel *kernel, const struct at_launch *launch,
                                   const struct at_buffers *buffers, int64_t set, bool timed,
                                   struct at_error *err)
{
    struct at_bench *bench = verification->bench;
    struct at_call call = {.kernel = kernel, .launch = *launch};
    enum at_outcome outcome = buffers_reset(buffers, bench->device, &bench->harness, set, err);

    at_problem_args(&buffers->problem, &call.launch, at_buffers_dst(buffers, set),
                    at_buffers_src(buffers, set), call.args, call.arg_words);
    if (outcome == AT_CORRECT)
        outcome =
            timed ? start_timed(bench, &call, err) : bench->ops->start(bench->device, &call, err);
    if (outcome == AT_CORRECT)
        outcome = start_check(verification, buffers, set, CHECK_DESTINATION, err);
    return outcome;
}

static enum at_outcome report(const struct started_check *check,
                              const struct at_check_result *result, struct at_error *err)
{
    const struct at_buffers *buffers = check->buffers;
    bool source = check->kind == CHECK_SOURCE;
    int64_t zone = source ? buffers->src_zone : buffers->dst_zone;
    char *problem = at_problem_format(&buffers->problem);

    at_fail(err, AT_FAILED, "%s: %ju wrong elements in the %s, the first at %jd", problem,
            (uintmax_t)result->mismatches, source ? "source" : "destination",
            (intmax_t)result->first - (intmax_t)(zone / buffers->problem.elem_size));
    at_free(problem);
    return AT_WRONG;
}

/* Wait for all checks and read their results. */
static enum at_outcome finish(struct verification *verification, struct at_error *err)
{
    struct at_bench *bench = verification->bench;
    struct at_check_result results[CHECKS_MAX];
    enum at_outcome outcome = bench->ops->read(bench->device, results, bench->results,
                                               verification->count * sizeof *results, err);

    for (size_t i = 0; i < verification->count && outcome == AT_CORRECT; i++) {
        bool two =
            i + 1 < verification->count && verification->checks[i + 1].kind == CHECK_RESTORED;

        if (results[i].mismatches != 0 && !(two && results[i + 1].mismatches == 0))
            outcome = report(&verification->checks[i], &results[i], err);
        i += two;
    }
    return outcome;
}

/* The run's sets to check: the first and the last. Sets differ only in their address; checking a
 * thousand of them would take longer than timing them. */
static size_t checked_sets(const struct at_bench *bench, const struct at_gpu_run *run,
                           int64_t sets[2])
{
    sets[0] = 0;
    sets[1] = at_bench_sets(bench, run) - 1;
    return sets[1] > 0 ? 2 : 1;
}

/* A launch this long is timed accurately in a queue of others. */
static const double long_ns = 50000;

enum at_outcome at_verify_before(struct at_bench *bench, const struct at_kernel *kernel,
                                 const struct at_gpu_run *run, const struct at_gpu_trial *trials,
                                 size_t trial_count, struct at_verified_launch *launch,
                                 struct at_error *err)
{
    struct verification verification = {.bench = bench};
    const struct at_buffers *tuned = &bench->cases[0];
    bool timed = launch && bench->ops->mark && bench_is_large(bench, run);
    int64_t sets[2];
    size_t set_count = checked_sets(bench, run, sets);
    enum at_outcome outcome = clear_results(bench, err);

    for (size_t i = 0; i < trial_count && outcome == AT_CORRECT; i++) {
        const struct at_buffers *buffers = &bench->cases[trials[i].case_index];

        outcome = start_trial(&verification, kernel, &trials[i].launch, buffers, 0, false, err);
        if (outcome == AT_CORRECT)
            outcome = start_check(&verification, buffers, 0, CHECK_SOURCE, err);
    }
    for (size_t i = 0; i < set_count && outcome == AT_CORRECT; i++) {
        outcome = start_trial(&verification, kernel, &run->launch, tuned, sets[i], timed, err);
        if (!timed || outcome != AT_CORRECT)
            continue;
        outcome = finish(&verification, err);
        if (outcome == AT_CORRECT)
            outcome = bench->ops->between(bench->device, &launch->ns, err);
        if (launch->give_up_ns > 0 && launch->ns > launch->give_up_ns)
            break;
    }
    if (timed && launch->ns < long_ns)
        launch->ns = 0;
    return outcome == AT_CORRECT && !timed ? finish(&verification, err) : outcome;
}

/* Check what launches have left in the run's sets: the sources, and the destinations if asked to.
 */
static enum at_outcome verify_left(struct at_bench *bench, const struct at_gpu_run *run,
                                   bool destinations, struct at_error *err)
{
    struct verification verification = {.bench = bench};
    const struct at_buffers *tuned = &bench->cases[0];
    int64_t sets[2];
    size_t set_count = checked_sets(bench, run, sets);
    enum at_outcome outcome = clear_results(bench, err);

    for (size_t i = 0; i < set_count && outcome == AT_CORRECT; i++) {
        if (destinations)
            outcome = start_check(&verification, tuned, sets[i], CHECK_DESTINATION, err);
        /* The number of timed launches is unknown here; after an even number the matrix is
         * restored. */
        if (outcome == AT_CORRECT && destinations && tuned->problem.in_place)
            outcome = start_check(&verification, tuned, sets[i], CHECK_RESTORED, err);
        if (outcome == AT_CORRECT)
            outcome = start_check(&verification, tuned, sets[i], CHECK_SOURCE, err);
    }
    return outcome == AT_CORRECT ? finish(&verification, err) : outcome;
}

enum at_outcome at_verify_after(struct at_bench *bench, const struct at_gpu_run *run,
                                struct at_error *err)
{
    return verify_left(bench, run, true, err);
}

enum at_outcome at_verify_sources(struct at_bench *bench, const struct at_gpu_run *run,
                                  struct at_error *err)
{
    return verify_left(bench, run, false, err);
}

/* Launches whose results are read together. */
enum { ROUND_LAUNCHES = 8 };

enum at_outcome at_verify_often(struct at_bench *bench, const struct at_kernel *kernel,
                                const struct at_gpu_run *run, int64_t times, int64_t limit_ns,
                                struct at_error *err)
{
    const struct at_buffers *tuned = &bench->cases[0];
    int64_t ends_ns = at_now_ns() + limit_ns;
    enum at_outcome outcome = AT_CORRECT;

    for (int64_t done = 0; outcome == AT_CORRECT && done < times && at_now_ns() < ends_ns;) {
        struct verification verification = {.bench = bench};

        outcome = clear_results(bench, err);
        for (int i = 0; i < ROUND_LAUNCHES && outcome == AT_CORRECT; i++, done++)
            outcome = start_trial(&verification, kernel, &run->launch, tuned, done % tuned->sets,
                                  false, err);
        if (outcome == AT_CORRECT)
            outcome = finish(&verification, err);
    }
    return outcome;
}
