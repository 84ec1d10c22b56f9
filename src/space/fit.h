/* SPDX-License-Identifier: Apache-2.0 */
/* A config made ready to be asked for which problems it is legal: a lookup asks that of many, and
 * has to be quick. Of the rules only few look at a problem's shape; the others say of a config the
 * same for all problems with elements of one size on one device, and are asked once. */
#ifndef AT_SPACE_FIT_H
#define AT_SPACE_FIT_H

#include "space/point.h"

/* Sizes of an element: 1, 2, 4, 8 and 16 bytes. */
enum { AT_FIT_SIZES = 5 };

struct at_fit {
    struct at_config config;
    struct {
        bool legal;              /* as far as rules do not look at the shape */
        struct at_launch launch; /* where it does not depend on the shape */
    } of_size[AT_FIT_SIZES];     /* on the device at home */
};

/* Of a config for the problem `home` on a device. Fails where its launch there cannot be evaluated.
 */
enum at_status at_fit_make(struct at_fit *fit, const struct at_config *config,
                           const struct at_problem *home, const struct at_device_info *device,
                           struct at_launch *launch, struct at_error *err);

/* Is the config legal for the problem, with parameters that the problem alone determines ("K ==
 * min(rows, cols)") changed to what it says? Then *config and *launch are what to take. `alike`:
 * the device has the same numbers as that at home (at_point_devices_alike). */
bool at_fit_try(const struct at_fit *fit, const struct at_problem *problem,
                const struct at_device_info *device, bool alike, struct at_config *config,
                struct at_launch *launch);

#endif
