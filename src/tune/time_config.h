/* SPDX-License-Identifier: Apache-2.0 */
/* One config's time, verified and taken as in a shoot-out that it has for itself. */
#ifndef AT_TUNE_TIME_CONFIG_H
#define AT_TUNE_TIME_CONFIG_H

#include "pipeline/session.h"

struct at_config_time {
    double ns; /* median */
    int64_t spread_permille;
    int64_t samples;
};

/* AT_FAILED: it does not compile, or its result is not correct on some problem; the message tells.
 * On an emulated device the time is a prediction. */
enum at_status at_time_config(struct at_session *session, const struct at_config *config,
                              const struct at_problem *problem, struct at_config_time *time,
                              struct at_error *err);

#endif
