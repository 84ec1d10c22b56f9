/* SPDX-License-Identifier: Apache-2.0 */
/* For which device: one that is here, or one that is only described. The options of the commands
 * that choose a config and run nothing. */
#ifndef AT_OPTIONS_DEVICE_OPTIONS_H
#define AT_OPTIONS_DEVICE_OPTIONS_H

#include "profile/profile.h"
#include "system/progress.h"

#include <argp.h>

struct at_device_options {
    const char *gpu;    /* selector; NULL: auto */
    const char *device; /* name of a description */
};

/* To be named in the children of a command's argp; its input is a struct at_device_options. */
extern const struct argp at_device_argp;

/* A device and what is known of its software: nothing, for a description. */
struct at_target {
    struct at_device_info device;
    struct at_environment environment;
};

/* Finds the one that is meant. Says so where `auto` found no GPU. */
enum at_status at_target_find(struct at_target *target, const struct at_device_options *options,
                              struct at_progress *progress, struct at_error *err);

#endif
