/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/precompile.h"

#include "tune/tune.h"

#include <stdlib.h>

/* More than the guided search asks for before it has a result to go by. */
enum { ASKED_MAX = 32 };

static void ask_ahead(const struct at_foresight *foresight, const struct at_space *space)
{
    const struct at_session *session = foresight->session;
    const struct at_strategy *strategy = session->options.strategy;
    size_t *likely, index,
        count = at_knowledge_likely(&session->knowledge, foresight->problem, space, &likely);
    const struct at_start start = {
        .seed = session->options.seed, .likely = likely, .likely_count = count};
    void *state = strategy->create(space, &start);
    int64_t most = foresight->evaluations > 0 && foresight->evaluations < ASKED_MAX
                       ? foresight->evaluations
                       : ASKED_MAX;

    for (int64_t i = 0; i < most && strategy->ask(state, &index); i++)
        at_builder_foresee(session->builder, &space->configs[index], foresight->problem->elem_size);
    strategy->destroy(state);
    free(likely);
}

void at_foresee(void *state)
{
    const struct at_foresight *foresight = state;
    const struct at_session_options *options = &foresight->session->options;
    struct at_space space = {0};

    /* What the journal has is not compiled; and a failure shows when the problem is tuned. */
    if (!foresight->problem || options->resume)
        return;
    if (at_space_build(&space, options->tuned, options->tuned_count, foresight->problem,
                       at_gpu_info(foresight->session->gpu), AT_SPACE_MAX, NULL) == AT_OK)
        ask_ahead(foresight, &space);
    at_space_clear(&space);
    at_builder_step(foresight->session->builder, NULL);
}
