/* SPDX-License-Identifier: Apache-2.0 */
/* --gpu and --device, for commands that choose a config and run nothing: the device is present, or
 * only described in tuning/devices. */
#ifndef AT_OPTIONS_DEVICE_OPTIONS_H
#define AT_OPTIONS_DEVICE_OPTIONS_H

#include "profile/profile.h"
#include "system/progress.h"

#include <argp.h>

struct at_device_options {
    const char *gpu;    /* selector; NULL: auto */
    const char *device; /* name of a description; NULL: use gpu */
};

/* A child of a command's argp. Its input is a struct at_device_options. */
extern const struct argp at_device_argp;

/* A device and the versions of its software, which are unknown for a description. */
struct at_target {
    struct at_device_info device;
    struct at_environment environment;
};

/* Find the device that the options name. Warn if `auto` found no GPU. */
enum at_status at_target_find(struct at_target *target, const struct at_device_options *options,
                              struct at_progress *progress, struct at_error *err);

#endif
