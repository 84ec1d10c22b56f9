/* SPDX-License-Identifier: Apache-2.0 */
/* Which config, on which problem, a command line means. */
#ifndef AT_CMD_CONFIG_CHOICE_H
#define AT_CMD_CONFIG_CHOICE_H

#include "pipeline/session.h"

struct at_config_choice {
    const char *family;    /* whose default it is; NULL: what the profile has, or else a lookup */
    const char *problem;   /* NULL: one that suits the config */
    const char *profile;   /* path; NULL: none */
    const char **settings; /* "PAD=0" */
    size_t setting_count;
};

/* Make the config and the problem, which are legal on the device. A note tells what a lookup gave.
 * AT_FAILED if they are not legal; the message names a problem that would be, if one is known. */
enum at_status at_config_choose(const struct at_config_choice *choice,
                                const struct at_session_options *known,
                                const struct at_device_info *device, struct at_config *config,
                                struct at_problem *problem, struct at_error *err);

/* Give parameters of the config other values: "PAD=0". AT_USAGE if one is given twice. */
enum at_status at_config_apply(struct at_config *config, const char *const *settings, size_t count,
                               struct at_error *err);

#endif
