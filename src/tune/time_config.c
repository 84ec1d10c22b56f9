/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/time_config.h"

#include "base/stats.h"
#include "pipeline/shootout.h"

enum at_status at_time_config(struct at_session *session, const struct at_config *config,
                              const struct at_problem *problem, struct at_config_time *time,
                              struct at_counters *counters, struct at_error *err)
{
    size_t samples = (size_t)session->options.policy->shootout_samples;
    struct at_contestant contestant = {.config = config, .problem = *problem};
    enum at_status status = at_session_check_memory(session, problem, 1, err);

    if (status == AT_OK)
        status = at_shootout_build(session, &contestant, 1, err);
    if (status == AT_OK)
        status = at_shootout_prepare(session, problem, err);
    if (status == AT_OK)
        status = at_shootout_require(session, &contestant, config->family->name, err);
    if (status == AT_OK)
        status = at_shootout_time(session, &contestant, 1, err);
    if (status == AT_OK && counters)
        status = at_shootout_count(session, &contestant, counters, err);
    if (status == AT_OK)
        *time = (struct at_config_time){
            .ns = contestant.time_ns,
            .spread_permille = at_spread_permille(contestant.samples_ns, samples),
            .samples = (int64_t)samples,
        };
    at_shootout_end(&contestant, 1);
    return status;
}
