/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/precompile.h"

#include "tune/tune.h"

#include <stdlib.h>

/* More than the guided search asks for before its first result. */
enum { ASKED_MAX = 32 };

static void ask_ahead(struct at_session *session, const struct at_problem *problem,
                      int64_t evaluations, const struct at_space *space)
{
    const struct at_strategy *strategy = session->options.strategy;
    size_t *likely, index,
        count = at_warm_start_likely(&session->warm_start, problem, space, &likely);
    const struct at_start start = {
        .seed = session->options.seed, .likely = likely, .likely_count = count};
    void *state = strategy->create(space, &start);
    int64_t most = evaluations > 0 && evaluations < ASKED_MAX ? evaluations : ASKED_MAX;

    for (int64_t i = 0; i < most && strategy->ask(state, &index); i++)
        at_builder_precompile(session->builder, &space->configs[index], at_problem_kind(problem));
    strategy->destroy(state);
    free(likely);
}

void at_precompile(struct at_session *session, const struct at_problem *problem,
                   int64_t evaluations)
{
    const struct at_session_options *options = &session->options;
    struct at_space space = {0};

    /* On a resumed run the journal's configs are not compiled. A failure is reported when the
     * problem is tuned. */
    if (options->resume)
        return;
    if (at_space_build(&space, options->tuned, options->tuned_count, problem,
                       at_gpu_info(session->gpu), AT_SPACE_MAX, NULL) == AT_OK)
        ask_ahead(session, problem, evaluations, &space);
    at_space_clear(&space);
    at_builder_step(session->builder, NULL);
}
