/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/copy_limit.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/kind.h"
#include "pipeline/pipeline.h"
#include "system/interrupt.h"

#include <stdlib.h>
#include <string.h>

const char at_copy_family[] = "copy";

/* How many copies the guided search measures. Copies differ little, so it needs few; fewer if the
 * best copies of another size are known, or of this size. Emulating takes long. */
enum {
    COPY_SPACE_MAX = 4096,
    COPIES = 48,
    COPIES_WARM = 16,
    COPIES_CONFIRMING = 8,
    EMULATED_COPIES = 24
};

/* The element size does not matter: bytes are bytes. But on an emulated device only the very same
 * copies are taken, which another process would find too (tune.c has why). */
static bool is_as_good(const struct at_session *session, const struct at_problem *known,
                       const struct at_problem *problem)
{
    return session->kind->isolated ? at_problem_equal(known, problem)
                                   : at_problem_bytes(known) == at_problem_bytes(problem);
}

static const struct at_copies *remembered(const struct at_session *session,
                                          const struct at_problem *problem)
{
    for (size_t i = 0; i < session->copy_count; i++)
        if (is_as_good(session, &session->copies[i].problem, problem))
            return &session->copies[i];
    return NULL;
}

static void remember(struct at_session *session, const struct at_copies *copies)
{
    AT_PUSH(session->copies, session->copy_count, session->copy_capacity, *copies);
    if (session->kind->isolated)
        return;
    for (size_t i = 0; i < copies->count; i++)
        at_warm_start_add(
            &session->copy_warm_start,
            &(struct at_winner){.problem = copies->problem, .config = copies->configs[i]});
}

/* Has an earlier run found the best copies of as many bytes, and is nothing changed since? */
static bool is_known(const struct at_session *session, const struct at_problem *problem)
{
    const struct at_warm_start *warm_start = &session->copy_warm_start;

    for (size_t i = 0; i < warm_start->count; i++)
        if (warm_start->winners[i].time_ns > 0 &&
            at_problem_bytes(&warm_start->winners[i].problem) == at_problem_bytes(problem))
            return true;
    return false;
}

/* How many copies to measure. */
static int64_t count_wanted(const struct at_session *session, const struct at_problem *problem)
{
    if (session->kind->slow)
        return EMULATED_COPIES;
    return is_known(session, problem)           ? COPIES_CONFIRMING
           : session->copy_warm_start.count > 0 ? COPIES_WARM
                                                : COPIES;
}

static enum at_status search_copies(struct at_session *session, struct at_family *const *family,
                                    const struct at_budget *budget,
                                    const struct at_progress_state *progress,
                                    struct at_copies *copies, struct at_error *err)
{
    int64_t wanted = count_wanted(session, &copies->problem);
    bool enough = budget->evaluations == 0 || budget->evaluations >= wanted;
    struct at_search search = {
        .session = session,
        .problem = copies->problem,
        .strategy = &at_strategy_guided,
        .start = {.seed = session->options.seed},
        .budget = {budget->ends_ns, enough ? wanted : budget->evaluations},
        .progress = *progress,
        .for_copies = true,
    };
    size_t best[AT_COPIES_MAX], *likely = NULL;
    enum at_status status = at_space_build(&search.space, family, 1, &search.problem,
                                           at_gpu_info(session->gpu), COPY_SPACE_MAX, err);

    if (status == AT_OK) {
        search.start.likely_count = at_warm_start_likely(&session->copy_warm_start, &search.problem,
                                                         &search.space, &likely);
        search.start.likely = likely;
        status = at_pipeline_run(&search, SIZE_MAX, err);
    }
    if (status == AT_OK) {
        copies->count = at_rank_best(&search, best, AT_COPIES_MAX);
        for (size_t i = 0; i < copies->count; i++)
            copies->configs[i] = search.space.configs[best[i]];
        copies->complete = (enough || search.complete) && !at_interrupt_seen() &&
                           (budget->ends_ns == 0 || at_now_ns() < budget->ends_ns);
        if (copies->count > 0)
            copies->best_ns = search.results[best[0]].time_ns;
    }
    free(likely);
    at_search_clear(&search);
    return status;
}

enum at_status at_copies_find(struct at_session *session, const struct at_problem *problem,
                              const struct at_budget *budget,
                              const struct at_progress_state *progress, struct at_copies *copies,
                              struct at_error *err)
{
    struct at_copies found = {.problem = at_problem_copy_of(problem)};
    const struct at_copies *known = remembered(session, &found.problem);
    /* A session without it only has the driver's copy. */
    struct at_family *family =
        at_family_find(session->options.families, session->options.family_count, at_copy_family);
    struct at_progress_state copy_progress = *progress;
    enum at_status status = AT_OK;

    if (known) {
        *copies = *known;
        return AT_OK;
    }
    copy_progress.what = "copy limit";
    if (family)
        status = search_copies(session, &family, budget, &copy_progress, &found, err);
    if (status != AT_OK)
        return status;
    if (found.complete || !family) /* a search that was cut short is not remembered */
        remember(session, &found);
    *copies = found;
    return AT_OK;
}
