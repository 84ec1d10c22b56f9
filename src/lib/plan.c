/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: making and freeing them. tests/gpu/plan.bats runs them; tests/unit/test_library.c tests
 * what needs no GPU. */
#include "lib/plan.h"

#include "base/hash.h"
#include "base/integer.h"
#include "base/memory.h"
#include "kernel/cache.h"
#include "lib/adapt.h"
#include "lib/execution.h"
#include "lib/info.h"
#include "lib/kernels.h"
#include "lib/learnt.h"
#include "lib/log.h"
#include "lib/planner.h"
#include "lib/process.h"
#include "space/space.h"

#include <stdio.h>
#include <string.h>

/* ---- the kernels ---- */

/* Is the config legal wherever the matrices begin? */
static bool takes_any_address(const struct at_config *config, const struct at_problem *anywhere,
                              const struct at_device_info *device)
{
    bool legal;

    return at_config_legal(config, anywhere, device, &legal, NULL, NULL) == AT_OK && legal;
}

/* Choose the tuned config. If it needs the problem's alignment, also choose the default config for
 * other addresses. */
static enum at_status choose_configs(struct at_config configs[AUTOTUNE_KERNELS], size_t *count,
                                     const autotune_profile *profile,
                                     const struct autotune_answer *answer, struct at_error *err)
{
    struct at_problem anywhere = autotune_groups_anywhere(&answer->problem);
    enum at_status status;

    anywhere.offset_src = anywhere.offset_dst = 1;
    configs[AUTOTUNE_TUNED] = answer->answer.config;
    *count = 1;
    if (takes_any_address(&configs[AUTOTUNE_TUNED], &anywhere, &answer->device))
        return AT_OK;
    *count = AUTOTUNE_KERNELS;
    status = at_space_default(&configs[AUTOTUNE_ANY_ADDRESS], profile->families,
                              profile->family_count, &anywhere, &answer->device, err);
    /* It is launched for the problem itself, whose matrices are better aligned. */
    return status == AT_OK ? at_config_require(&configs[AUTOTUNE_ANY_ADDRESS], &answer->problem,
                                               &answer->device, "no config takes any address", err)
                           : status;
}

struct precompiling {
    const struct autotune_answer *answer;
    const autotune_profile *profile;
};

/* Plans go on without a cache; here it is all that is wanted. */
static enum at_status require_cache(struct at_error *err)
{
    struct at_cubin_cache *cache = NULL;
    enum at_status status = at_cubin_cache_open(&cache, NULL, err);

    at_cubin_cache_close(cache);
    return status;
}

static enum at_status precompile(void *data, struct at_error *err)
{
    const struct precompiling *precompiling = data;
    const struct autotune_answer *answer = precompiling->answer;
    struct at_config configs[AUTOTUNE_KERNELS];
    struct autotune_wanted wanted[AUTOTUNE_KERNELS] = {{0}};
    size_t count = 0;
    enum at_status status = require_cache(err);

    if (status == AT_OK)
        status = choose_configs(configs, &count, precompiling->profile, answer, err);
    for (size_t i = 0; i < count; i++)
        wanted[i] = (struct autotune_wanted){.config = &configs[i],
                                             .kind = at_problem_kind(&answer->problem)};
    if (status == AT_OK)
        status = autotune_compile(wanted, count, answer->device.compute_capability, err);
    for (size_t i = 0; i < count; i++)
        at_free(wanted[i].image.bytes);
    return status;
}

autotune_status autotune_precompile(const autotune_answer *answer, const autotune_profile *profile,
                                    autotune_error **error)
{
    struct precompiling precompiling = {answer, profile};

    if (!answer || !profile)
        return autotune_fail_null(error, answer ? "profile" : "answer");
    return autotune_call(precompile, &precompiling, error);
}

/* ---- loading ---- */

/* Allocate the scratch. Of a step it is cleared for the first launch, and each launch clears it for
 * the next one. */
static enum at_status make_scratch(autotune_plan *plan, struct at_error *err)
{
    unsigned char *zeros;
    CUresult result;

    if (plan->scratch || plan->scratch_bytes == 0)
        return AT_OK;
    if (plan->problem.in_place)
        return autotune_check_cuda(at_cuda.cuMemAlloc(&plan->scratch, (size_t)plan->scratch_bytes),
                                   "making scratch", err);
    zeros = at_alloc((size_t)plan->scratch_bytes);
    result = at_cuda.cuMemAlloc(&plan->scratch, (size_t)plan->scratch_bytes);
    if (result == CUDA_SUCCESS)
        result = at_cuda.cuMemcpyHtoDAsync(plan->scratch, zeros, (size_t)plan->scratch_bytes, NULL);
    if (result == CUDA_SUCCESS)
        result = at_cuda.cuStreamSynchronize(NULL);
    at_free(zeros);
    return autotune_check_cuda(result, "making scratch", err);
}

/* Find how much scratch the launches need; or a list of as many matrices as the plan is made for.
 */
static void count_scratch(autotune_plan *plan)
{
    plan->scratch_bytes = at_groups_kind(&plan->problem.groups) == AT_GROUP_LIST
                              ? plan->problem.groups.count * (int64_t)sizeof(autotune_matrix)
                              : 0;
    for (size_t i = 0; i < plan->kernel_count; i++)
        plan->scratch_bytes =
            at_max(plan->scratch_bytes,
                   at_problem_scratch_bytes(&plan->problem, &plan->kernels[i].call.launch));
}

enum at_status autotune_kernels_load(struct autotune_kernel *kernels,
                                     const struct at_config *configs, size_t count,
                                     const struct autotune_answer *asked,
                                     const struct autotune_context *context, struct at_error *err)
{
    struct autotune_want wants[AUTOTUNE_VERIFIED_MAX] = {{0}};
    enum at_status status = AT_OK;

    for (size_t i = 0; i < count && status == AT_OK; i++) {
        struct at_launch *launch = &kernels[i].call.launch;

        wants[i] = (struct autotune_want){.config = &configs[i],
                                          .kind = at_problem_kind(&asked->problem),
                                          .launch = launch,
                                          .module = &kernels[i].module};
        status = at_config_launch(&configs[i], &asked->problem, &asked->device, launch, err);
    }
    if (status == AT_OK)
        status =
            autotune_modules_hold(wants, count, context, asked->device.compute_capability, err);
    for (size_t i = 0; i < count && status == AT_OK; i++) {
        struct at_call *call = &kernels[i].call;

        call->kernel = &kernels[i].module->kernel;
        if (asked->problem.groups.count == 0)
            kernels[i].arg_count = at_problem_args(&asked->problem, &call->launch, 0, 0, NULL,
                                                   call->args, call->arg_words);
    }
    return status;
}

static enum at_status load_all(autotune_plan *plan, const struct at_config *configs,
                               const struct autotune_answer *answer, struct at_error *err)
{
    enum at_status status = autotune_kernels_load(plan->kernels, configs, plan->kernel_count,
                                                  answer, &plan->context, err);

    if (status != AT_OK)
        return status;
    count_scratch(plan);
    return make_scratch(plan, err);
}

/* ---- options ---- */

/* A day. */
enum { MEASURE_MS_MAX = 24 * 60 * 60 * 1000 };

/* As the driver aligns what it allocates. */
enum { SCRATCH_ALIGN = 256 };

/* The first number is the size of the first version. It never changes. */
static const struct autotune_layout options_layout = {"autotune_plan_options",
                                                      offsetof(autotune_plan_options, struct_size),
                                                      40, sizeof(autotune_plan_options), false};

/* What a plan that adapts may take to compile and verify, if it is not told. */
enum { ADAPT_MS = 5000 };

static enum at_status check_scratch(const autotune_plan_options *options, struct at_error *err)
{
    if (options->scratch_bytes >= 0 && (!options->scratch) == (options->scratch_bytes == 0) &&
        (uintptr_t)options->scratch % SCRATCH_ALIGN == 0)
        return AT_OK;
    return at_fail(err, AT_USAGE,
                   "scratch has to be a device address that is a multiple of %d, with its length "
                   "in scratch_bytes; or both have to be 0",
                   SCRATCH_ALIGN);
}

/* Convert a caller's options; NULL is the default. AT_USAGE if they make no sense. */
static enum at_status take_options(struct autotune_budget *budget,
                                   const autotune_plan_options *given, struct at_error *err)
{
    autotune_plan_options options = {0};
    enum at_status status =
        given ? autotune_take_struct(&options_layout, &options, given, err) : AT_OK;

    if (status == AT_OK && (options.measure_ms < 0 || options.measure_ms > MEASURE_MS_MAX))
        status = at_fail(err, AT_USAGE, "measure_ms is %lld, and has to be 0 to %d",
                         (long long)options.measure_ms, MEASURE_MS_MAX);
    if (status == AT_OK && (options.flags & ~(int64_t)AUTOTUNE_ADAPT) != 0)
        status = at_fail(err, AT_USAGE, "flags is %lld, and has to be AUTOTUNE_ADAPT, %d, or 0",
                         (long long)options.flags, AUTOTUNE_ADAPT);
    if (status == AT_OK)
        status = check_scratch(&options, err);
    budget->policy = &at_policies[0];
    if (status == AT_OK && options.policy)
        status = at_policy_find(&budget->policy, options.policy, err);
    budget->adapts = options.flags == AUTOTUNE_ADAPT;
    if (budget->adapts && options.measure_ms == 0)
        options.measure_ms = ADAPT_MS;
    budget->limit_ns = status == AT_OK ? options.measure_ms * 1000000 : 0;
    budget->scratch = (uint64_t)(uintptr_t)options.scratch;
    budget->scratch_bytes = options.scratch_bytes;
    return status;
}

/* ---- making ---- */

struct creating {
    const autotune_profile *profile;
    struct autotune_asked asked;
    const autotune_plan_options *options; /* NULL: none */
    autotune_plan *made;
    /* Until it is made. */
    bool entered; /* the plan's context was not current */
    struct autotune_answer answer;
    struct autotune_budget budget;
    struct autotune_learnt *known;     /* what the answer borrows from; NULL: the profile */
    struct autotune_learnt *learnt;    /* what was measured; NULL: nothing */
    struct autotune_verified verified; /* what launches are to time */
    char note[AUTOTUNE_NOTE_CHARS];    /* about that */
};

/* A forked child does not own the kernels, and what was in a destroyed context is gone. A graph
 * that has captured the plan goes on using its scratch. */
static void unload(autotune_plan *plan)
{
    bool captured = *plan->captured, entered;

    if (autotune_check_process(NULL) != AT_OK)
        return;
    autotune_adaptation_unload(plan->adaptation, captured);
    for (size_t i = 0; i < AUTOTUNE_KERNELS; i++) {
        autotune_module_drop(plan->kernels[i].module, captured);
        plan->kernels[i].module = NULL;
    }
    if (plan->scratch && !captured && autotune_context_exists(&plan->context) &&
        autotune_enter(&plan->context, &entered, NULL) == AT_OK) {
        at_cuda.cuMemFree(plan->scratch);
        autotune_leave(entered);
    }
    plan->scratch = 0;
}

/* What the call has taken besides memory. */
static void release(void *data)
{
    struct creating *creating = data;

    unload(creating->made);
    autotune_learnt_drop(creating->known);
    autotune_learnt_drop(creating->learnt);
    autotune_leave(creating->entered);
}

/* Why can no time be taken of it, or not by launches in turn? NULL: it can. */
static const char *why_untimed(const struct at_problem *problem, bool adapts)
{
    const struct at_step *step = &problem->step;

    if (problem->is_view)
        return "the source has strides below 1, or elements that overlap";
    if (!adapts)
        return NULL;
    if (problem->in_place)
        return "plans in place do not adapt";
    if (at_step_has(step, AT_BETA))
        return "plans that add to something do not adapt";
    return at_step_has(step, AT_AMAX) || at_step_has(step, AT_SUMS)
               ? "plans with scratch do not adapt"
               : NULL;
}

/* Check what is asked, and look it up. */
static enum at_status look_up(struct creating *creating, struct at_error *err)
{
    struct autotune_answer *answer = &creating->answer;
    autotune_plan *plan = creating->made;
    const char *untimed;
    enum at_status status =
        autotune_take_problem(&answer->problem, &plan->align_bytes, &creating->asked, err);

    if (status == AT_OK)
        status = take_options(&creating->budget, creating->options, err);
    if (status != AT_OK || autotune_is_empty(&answer->problem))
        return status;
    untimed = why_untimed(&answer->problem, creating->budget.adapts);
    if (creating->budget.limit_ns > 0 && untimed) {
        creating->budget.limit_ns = 0;
        snprintf(creating->note, sizeof creating->note, "nothing: %s", untimed);
    }
    status = autotune_find_current(&answer->device, &plan->context, err);
    if (status == AT_OK)
        status = autotune_enter(&plan->context, &creating->entered, err);
    if (status != AT_OK)
        return status;
    snprintf(answer->policy, sizeof answer->policy, "%s", creating->budget.policy->name);
    if (creating->budget.limit_ns > 0)
        creating->known = autotune_learnt_find(answer, creating->profile);
    return creating->known ? AT_OK : autotune_ask(answer, creating->profile, err);
}

/* Load the kernels of the answer. */
static enum at_status take(struct creating *creating, struct at_error *err)
{
    autotune_plan *plan = creating->made;
    struct at_config configs[AUTOTUNE_KERNELS];
    enum at_status status =
        choose_configs(configs, &plan->kernel_count, creating->profile, &creating->answer, err);

    return status == AT_OK ? load_all(plan, configs, &creating->answer, err) : status;
}

/* Describe the answer, and what was measured. */
static enum at_status describe(struct creating *creating, struct at_error *err)
{
    char *answer;
    enum at_status status = autotune_write_answer(&answer, &creating->answer, false, err);

    if (status != AT_OK)
        return status;
    creating->made->description = answer;
    autotune_info_clear(&creating->made->info);
    autotune_tell_own(&creating->made->info, &creating->answer);
    if (!creating->note[0])
        return AT_OK;
    creating->made->description = at_format("%s  measured   %s\n", answer, creating->note);
    at_free(answer);
    return AT_OK;
}

/* Measure, or verify what launches are to time. */
static enum at_status try_rivals(struct creating *creating, struct at_error *err)
{
    return creating->budget.adapts
               ? autotune_verify(&creating->answer, creating->profile, &creating->budget,
                                 &creating->verified, creating->note, err)
               : autotune_measure(&creating->answer, creating->profile, &creating->budget,
                                  &creating->learnt, creating->note, err);
}

/* Try the rivals, unless another thread has measured meanwhile, and take the winner, which is in
 * the cache. */
static enum at_status improve(struct creating *creating, struct at_error *err)
{
    struct autotune_answer *answer = &creating->answer;
    struct at_config before = answer->answer.config;
    autotune_plan *plan = creating->made;
    enum at_status status = AT_OK;

    creating->known = autotune_learnt_find(answer, creating->profile);
    if (!creating->known)
        status = try_rivals(creating, err);
    if (status == AT_OK && !at_config_equal(&answer->answer.config, &before)) {
        unload(plan);
        status = take(creating, err);
    }
    if (status != AT_OK || creating->verified.count < 2)
        return status;
    return autotune_adaptation_new(&plan->adaptation, answer, &creating->verified, &plan->context,
                                   err);
}

/* What is asked: the same for devices of one model. */
static void name_question(char name[AT_HASH_CHARS], const struct autotune_answer *answer)
{
    char *problem = at_problem_format(&answer->problem);
    char *text = at_format("%s %s %lld %lld", problem, answer->policy,
                           (long long)answer->device.compute_capability,
                           (long long)answer->device.multiprocessors);

    at_hash(name, text, strlen(text));
    at_free(text);
    at_free(problem);
}

/* Only one plan at a time looks for the answer of a question, on whatever device of a model. Plans
 * that measure on one device take turns, so that none falsifies the times of another. The turns end
 * when others can take what was learnt. */
static enum at_status improve_in_turn(struct creating *creating, struct at_error *err)
{
    struct autotune_turn of_question, of_device;
    char question[AT_HASH_CHARS];
    enum at_status status;

    name_question(question, &creating->answer);
    autotune_turn_take(&of_question, question);
    autotune_turn_take(&of_device, creating->answer.device.uuid);
    status = improve(creating, err);
    if (status == AT_OK)
        status = describe(creating, err);
    if (status == AT_OK && creating->learnt)
        autotune_learnt_keep(creating->learnt);
    autotune_turn_end(&of_device);
    autotune_turn_end(&of_question);
    return status;
}

static enum at_status fill(struct creating *creating, struct at_error *err)
{
    enum at_status status = look_up(creating, err);

    creating->made->problem = creating->answer.problem;
    if (status == AT_OK && autotune_is_empty(&creating->answer.problem)) {
        creating->made->description = at_strdup("there are no elements, and nothing to do\n");
        return AT_OK;
    }
    if (status == AT_OK)
        status = take(creating, err);
    if (status != AT_OK)
        return status;
    if (creating->answer.problem.groups.count == 0)
        at_problem_near(&creating->answer.problem, creating->made->near);
    if (creating->asked.groups)
        creating->made->rows = autotune_rows_of(creating->asked.groups);
    creating->made->words = autotune_execution_words(&creating->answer.problem);
    return creating->budget.limit_ns > 0 && !autotune_is_settled(&creating->answer)
               ? improve_in_turn(creating, err)
               : describe(creating, err);
}

/* Tell what the plan runs, why, and what was measured for it. */
static void log_made(const struct creating *creating)
{
    const struct autotune_answer *answer = &creating->answer;
    const autotune_info *info = &creating->made->info;
    char *problem;

    if (!autotune_logs(AUTOTUNE_LOG_INFO) || creating->made->kernel_count == 0)
        return;
    problem = at_problem_format(&answer->problem);
    autotune_log(AUTOTUNE_LOG_INFO, "made a plan for %s on %s: %s %s, from tier %s%s%s", problem,
                 answer->device.name, info->family, info->config,
                 at_tier_names[answer->answer.tier], creating->note[0] ? "; measured: " : "",
                 creating->note);
    if (answer->answer.measured.configs > 0)
        autotune_log(AUTOTUNE_LOG_INFO,
                     "that is the best of %lld configs: it took %lld ns, the looked-up one %lld ns",
                     (long long)answer->answer.measured.configs,
                     (long long)answer->answer.measured.time_ns,
                     (long long)answer->answer.measured.looked_up_ns);
    at_free(problem);
}

static enum at_status create(void *data, struct at_error *err)
{
    struct creating *creating = data;
    struct at_cleanup cleanup;
    enum at_status status;

    creating->made = at_alloc(sizeof *creating->made);
    creating->made->captured = at_alloc(sizeof *creating->made->captured);
    at_cleanup_push(&cleanup, release, creating);
    status = fill(creating, err);
    if (status == AT_OK)
        log_made(creating);
    if (status == AT_OK && creating->budget.limit_ns == 0 && creating->made->kernel_count > 0)
        autotune_remember(creating->profile, &creating->answer);
    at_cleanup_pop(&cleanup);
    autotune_leave(creating->entered);
    autotune_learnt_drop(creating->known);
    autotune_learnt_drop(creating->learnt);
    if (status != AT_OK)
        autotune_plan_free(creating->made);
    return status;
}

static autotune_status create_asked(autotune_plan **plan, struct creating *creating,
                                    autotune_error **error)
{
    autotune_status status;

    if (!plan || !creating->profile ||
        (!creating->asked.problem && !creating->asked.tensor && !creating->asked.groups))
        return autotune_fail_null(error, !plan                ? "plan"
                                         : !creating->profile ? "profile"
                                                              : "problem");
    status = autotune_call(create, creating, error);
    if (status == AUTOTUNE_OK)
        *plan = creating->made;
    return status;
}

autotune_status autotune_plan_create(autotune_plan **plan, const autotune_profile *profile,
                                     const autotune_problem *problem, autotune_error **error)
{
    return autotune_plan_create_with(plan, profile, problem, NULL, error);
}

autotune_status autotune_plan_create_with(autotune_plan **plan, const autotune_profile *profile,
                                          const autotune_problem *problem,
                                          const autotune_plan_options *options,
                                          autotune_error **error)
{
    struct creating creating = {
        .profile = profile, .asked = {problem, NULL, NULL}, .options = options};

    return create_asked(plan, &creating, error);
}

autotune_status autotune_tensor_plan_create(autotune_plan **plan, const autotune_profile *profile,
                                            const autotune_tensor *tensor, autotune_error **error)
{
    return autotune_tensor_plan_create_with(plan, profile, tensor, NULL, error);
}

autotune_status autotune_tensor_plan_create_with(autotune_plan **plan,
                                                 const autotune_profile *profile,
                                                 const autotune_tensor *tensor,
                                                 const autotune_plan_options *options,
                                                 autotune_error **error)
{
    struct creating creating = {
        .profile = profile, .asked = {NULL, tensor, NULL}, .options = options};

    return create_asked(plan, &creating, error);
}

autotune_status autotune_groups_plan_create(autotune_plan **plan, const autotune_profile *profile,
                                            const autotune_groups *groups, autotune_error **error)
{
    struct creating creating = {.profile = profile, .asked = {NULL, NULL, groups}};

    return create_asked(plan, &creating, error);
}

int64_t autotune_plan_scratch_bytes(const autotune_plan *plan)
{
    return plan ? plan->scratch_bytes : 0;
}

size_t autotune_plan_describe(const autotune_plan *plan, char *text, size_t capacity)
{
    if (plan && plan->adaptation)
        return autotune_adaptation_describe(plan->adaptation, text, capacity);
    return autotune_copy_text(plan ? plan->description : "", text, capacity);
}

void autotune_plan_free(autotune_plan *plan)
{
    if (!plan)
        return;
    unload(plan);
    autotune_adaptation_free(plan->adaptation);
    at_free(plan->description);
    autotune_info_clear(&plan->info);
    at_free(plan->captured);
    at_free(plan);
}
