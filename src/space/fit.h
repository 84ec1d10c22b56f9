/* SPDX-License-Identifier: Apache-2.0 */
/* A config that is legal for some problem, its home, made ready to be asked about others: a lookup
 * asks that of many, and has to be quick. Of the rules only few look at a problem's shape; the
 * others say of a config the same for all problems with elements of one size on one device. */
#ifndef AT_SPACE_FIT_H
#define AT_SPACE_FIT_H

#include "space/point.h"

struct at_fit {
    struct at_config config;
    struct at_launch launch; /* at home */
    int64_t elem_size;
    bool legal; /* at home; else every rule is asked each time */
};

/* Fails where a launch expression cannot be evaluated. */
enum at_status at_fit_make(struct at_fit *fit, const struct at_config *config,
                           const struct at_problem *home, const struct at_device_info *device,
                           struct at_error *err);

/* Is the config legal for the problem, with parameters that the problem alone determines ("K ==
 * min(rows, cols)") changed to what it says? Then *config and *launch are what to take. `alike`:
 * the device has the same numbers as that at home (at_point_devices_alike). */
bool at_fit_try(const struct at_fit *fit, const struct at_problem *problem,
                const struct at_device_info *device, bool alike, struct at_config *config,
                struct at_launch *launch);

#endif
