/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/planner.h"

#include "base/clock.h"
#include "base/memory.h"
#include "lib/gather.h"
#include "profile/entry.h"

#include <stdio.h>

/* What is measured. Image number 0 is the harness's. */
struct planning {
    struct autotune_answer *answer;
    const struct autotune_budget *budget;
    int64_t deadline_ns;
    struct at_answer answers[AUTOTUNE_CONTESTANTS_MAX]; /* the looked-up one first */
    size_t count;
    struct at_family harness;
    struct at_config harness_config;
    struct autotune_wanted wanted[1 + AUTOTUNE_CONTESTANTS_MAX];
    struct at_compiler compiler;
    struct autotune_contestant contestants[AUTOTUNE_CONTESTANTS_MAX];
    struct autotune_trial trial;
};

_Static_assert(1 + AUTOTUNE_CONTESTANTS_MAX <= AUTOTUNE_WANTED_MAX, "all are gathered at once");

/* The harness is compiled like a family without parameters, as the command does it. */
static enum at_status want_all(struct planning *planning, struct at_error *err)
{
    static char name[] = "harness", file[] = "harness.cu";

    planning->harness.name = name;
    planning->harness.template_path = file;
    planning->harness_config.family = &planning->harness;
    planning->wanted[0].config = &planning->harness_config;
    planning->wanted[0].kind = (struct at_problem_kind){1, 1, 1};
    for (size_t i = 0; i < planning->count; i++) {
        planning->wanted[1 + i].config = &planning->answers[i].config;
        planning->wanted[1 + i].kind = at_problem_kind(&planning->answer->problem);
    }
    return at_template_read(&planning->harness.source, file, err);
}

/* Compiling takes at most half of the time that is left. */
static enum at_status gather(struct planning *planning, struct at_error *err)
{
    int64_t now_ns = at_now_ns();
    char *header = NULL;
    enum at_status status = want_all(planning, err);

    if (status == AT_OK)
        status = at_template_read(&header, AT_TEMPLATE_HEADER, err);
    if (status == AT_OK)
        status = autotune_gather(
            planning->wanted, 1 + planning->count, planning->answer->device.compute_capability,
            header, now_ns + (planning->deadline_ns - now_ns) / 2, &planning->compiler, err);
    at_free(header);
    return status;
}

static enum at_status hold_trial(struct planning *planning, struct at_error *err)
{
    for (size_t i = 0; i < planning->count; i++)
        planning->contestants[i] = (struct autotune_contestant){
            .answer = &planning->answers[i],
            .image = &planning->wanted[1 + i].image,
            .resources = planning->wanted[1 + i].resources,
        };
    planning->trial = (struct autotune_trial){
        .problem = &planning->answer->problem,
        .device = &planning->answer->device,
        .policy = planning->budget->policy,
        .harness = &planning->wanted[0].image,
        .scratch = planning->budget->scratch,
        .scratch_bytes = planning->budget->scratch_bytes,
        .deadline_ns = planning->deadline_ns,
        .contestants = planning->contestants,
        .count = planning->count,
    };
    return autotune_trial_run(&planning->trial, err);
}

/* ---- what came of it ---- */

static struct at_answer answer_of(const struct planning *planning)
{
    const struct autotune_trial *trial = &planning->trial;
    const struct autotune_contestant *all = trial->contestants;
    struct at_answer answer = planning->answers[trial->winner];

    for (size_t i = 0; i < trial->count; i++)
        answer.measured.configs += all[i].tried && all[i].outcome == AT_CORRECT;
    answer.measured.time_ns = at_whole_ns(all[trial->winner].time_ns);
    answer.measured.looked_up_ns = all[0].timed ? at_whole_ns(all[0].time_ns) : 0;
    return answer;
}

/* Whether a trial makes sense; else the note says why not. */
static bool is_ready(const struct planning *planning, char note[AUTOTUNE_NOTE_CHARS])
{
    size_t rivals = 0;

    for (size_t i = 1; i < planning->count; i++)
        rivals += planning->wanted[1 + i].image.bytes != NULL;
    if (planning->wanted[0].image.bytes && planning->wanted[1].image.bytes && rivals > 0)
        return true;
    snprintf(note, AUTOTUNE_NOTE_CHARS,
             "nothing: of %zu rivals and the kernels that verify, %s is in the cache or was "
             "compiled in time",
             planning->count - 1, rivals > 0 ? "not all that is needed" : "none");
    return false;
}

static enum at_status try_all(struct planning *planning, struct autotune_learnt **learnt,
                              char note[AUTOTUNE_NOTE_CHARS], struct at_error *err)
{
    const struct autotune_trial *trial = &planning->trial;
    enum at_status status = gather(planning, err);

    if (status != AT_OK || !is_ready(planning, note))
        return status;
    status = hold_trial(planning, err);
    if (status != AT_OK)
        return status;
    if (trial->rounds == 0 && trial->contestants[0].outcome == AT_WRONG)
        return at_fail(err, AT_FAILED,
                       "the looked-up config gives wrong results on this device, and no other "
                       "was found right in time: run autotune check --gpu, and tune this device");
    if (trial->rounds == 0) {
        snprintf(note, AUTOTUNE_NOTE_CHARS, "nothing: too little time or device memory");
        return AT_OK;
    }
    planning->answer->answer = answer_of(planning);
    *learnt = autotune_learnt_make(trial, &planning->compiler);
    return AT_OK;
}

enum at_status autotune_measure(struct autotune_answer *answer, const autotune_profile *profile,
                                const struct autotune_budget *budget,
                                struct autotune_learnt **learnt, char note[AUTOTUNE_NOTE_CHARS],
                                struct at_error *err)
{
    struct planning *planning = at_alloc(sizeof *planning);
    enum at_status status = AT_OK;

    planning->answer = answer;
    planning->budget = budget;
    planning->deadline_ns = at_now_ns() + budget->limit_ns;
    planning->answers[0] = answer->answer;
    planning->count = 1 + autotune_rivals(answer, profile, &planning->answers[1]);
    if (planning->count > 1)
        status = try_all(planning, learnt, note, err);
    else
        snprintf(note, AUTOTUNE_NOTE_CHARS,
                 "nothing: no other config has been correct on this model of device");
    for (size_t i = 0; i < 1 + planning->count; i++)
        at_free(planning->wanted[i].image.bytes);
    at_free(planning->harness.source);
    at_free(planning);
    return status;
}
