/* SPDX-License-Identifier: Apache-2.0 */
/* Which config `autotune explain` explains, on which problem. */
#ifndef AT_CMD_EXPLAIN_CONFIG_H
#define AT_CMD_EXPLAIN_CONFIG_H

#include "pipeline/session.h"

struct at_explain_choice {
    const char *family;    /* NULL: the winner of the profile */
    const char *problem;   /* NULL: one that suits the config */
    const char *profile;   /* path; NULL: none */
    const char **settings; /* "PAD=0" */
    size_t setting_count;
};

/* Make the config and the problem, which are legal on the device. AT_FAILED if they are not; the
 * message names a problem that would be, if one is known. */
enum at_status at_explain_choose(const struct at_explain_choice *choice,
                                 const struct at_session_options *known,
                                 const struct at_device_info *device, struct at_config *config,
                                 struct at_problem *problem, struct at_error *err);

#endif
