/* SPDX-License-Identifier: Apache-2.0 */
/* Options of commands that choose configs from profiles: for which problems and which device, and
 * where to look. The device is present, or only described in tuning/devices. */
#ifndef AT_OPTIONS_LOOKUP_OPTIONS_H
#define AT_OPTIONS_LOOKUP_OPTIONS_H

#include "options/run_options.h"
#include "profile/profile.h"

struct at_lookup_options {
    const char *gpu;    /* selector; NULL: auto */
    const char *device; /* name of a description; NULL: use gpu */
    const char *file;   /* the only profile to search; NULL: those on the search path */
    const struct at_policy *policy;
    struct at_run_options run; /* for its --space, problems and progress */
};

/* A child of a command's argp. Its input is a struct at_lookup_options. */
extern const struct argp at_lookup_argp;

void at_lookup_options_init(struct at_lookup_options *options);
void at_lookup_options_clear(struct at_lookup_options *options);

/* A device and the versions of its software, which are unknown for a description. */
struct at_target {
    struct at_device_info device;
    struct at_environment environment;
};

/* Find the device that the options name. Warn if `auto` found no GPU. */
enum at_status at_target_find(struct at_target *target, struct at_lookup_options *options,
                              struct at_error *err);

#endif
