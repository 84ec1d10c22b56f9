/* SPDX-License-Identifier: Apache-2.0 */
/* Times one config, verified and in a shoot-out of its own, and reads the GPU's counters of it. */
#ifndef AT_TUNE_TIME_CONFIG_H
#define AT_TUNE_TIME_CONFIG_H

#include "pipeline/session.h"

struct at_config_time {
    double ns; /* median */
    int64_t spread_permille;
    int64_t samples;
};

/* counters: NULL if they are not wanted. AT_DEVICE: they may not be read here; the message says
 * what to do. AT_FAILED: it does not compile, or its result is wrong on some problem; the message
 * says which. On an emulated device the time is a prediction. */
enum at_status at_time_config(struct at_session *session, const struct at_config *config,
                              const struct at_problem *problem, struct at_config_time *time,
                              struct at_counters *counters, struct at_error *err);

#endif
