/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/info.h"

#include "base/memory.h"
#include "lib/adapt.h"

#include <stdatomic.h>
#include <string.h>

/* The first number is the size of the first version. It never changes. */
static const struct autotune_layout layout = {"autotune_info", offsetof(autotune_info, struct_size),
                                              96, sizeof(autotune_info), true};

/* Tell of an answer. The texts are the answer's and its profile's, but for the config, which is the
 * caller's. */
static void tell_all(autotune_info *info, const struct autotune_answer *answer, const char *config)
{
    const struct at_answer *found = &answer->answer;

    *info = (autotune_info){
        .struct_size = sizeof *info,
        .tier = (int64_t)found->tier,
        .is_uncertain = at_answer_is_uncertain(found),
        .is_predicted = found->predicted,
        .expected_permille = found->expected_of_copy_permille,
        .distance = found->distance.total,
        .bytes = at_problem_bytes(&answer->problem),
        .tuned_ns = found->entry ? found->entry->winner.time_ns : 0,
        .family = found->config.family->name,
        .tuned_problem = found->tuned_problem,
        .path = found->path,
        .config = config,
    };
}

void autotune_tell_own(autotune_info *info, const struct autotune_answer *answer)
{
    tell_all(info, answer, at_config_format(&answer->answer.config));
    info->family = at_strdup(info->family);
    info->tuned_problem = info->tuned_problem ? at_strdup(info->tuned_problem) : NULL;
    info->path = info->path ? at_strdup(info->path) : NULL;
}

void autotune_info_clear(autotune_info *info)
{
    at_free((char *)info->family);
    at_free((char *)info->tuned_problem);
    at_free((char *)info->path);
    at_free((char *)info->config);
}

/* The config's text belongs to the answer, from the first time that it is wanted. Several threads
 * may want it at once. */
static const char *config_of(const autotune_answer *answer)
{
    _Atomic(char *) *kept = &((autotune_answer *)answer)->config;
    char *none = NULL, *made;

    if (*kept)
        return *kept;
    made = at_config_format(&answer->answer.config);
    if (atomic_compare_exchange_strong(kept, &none, made))
        return made;
    at_free(made);
    return none;
}

static autotune_info info_of(const autotune_plan *plan)
{
    autotune_info info;
    int64_t rivals;

    if (!plan->adaptation)
        return plan->info;
    info = *autotune_adaptation_info(plan->adaptation, &rivals);
    info.adapts = rivals;
    return info;
}

struct telling {
    const autotune_answer *answer; /* or, if NULL, the plan */
    const autotune_plan *plan;
    autotune_info *info;
};

/* Write as much as the caller's struct has. */
static enum at_status tell(void *data, struct at_error *err)
{
    struct telling *telling = data;
    autotune_info told;
    size_t size = telling->info->struct_size;
    enum at_status status = autotune_take_struct(&layout, &told, telling->info, err);

    if (status != AT_OK)
        return status;
    if (telling->answer)
        tell_all(&told, telling->answer, config_of(telling->answer));
    else
        told = info_of(telling->plan);
    told.struct_size = size;
    memcpy(telling->info, &told, size < sizeof told ? size : sizeof told);
    return AT_OK;
}

autotune_status autotune_answer_info(const autotune_answer *answer, autotune_info *info,
                                     autotune_error **error)
{
    struct telling telling = {.answer = answer, .info = info};

    return answer && info ? autotune_call(tell, &telling, error)
                          : autotune_fail_null(error, answer ? "info" : "answer");
}

autotune_status autotune_plan_info(const autotune_plan *plan, autotune_info *info,
                                   autotune_error **error)
{
    struct telling telling = {.plan = plan, .info = info};

    return plan && info ? autotune_call(tell, &telling, error)
                        : autotune_fail_null(error, plan ? "info" : "plan");
}
