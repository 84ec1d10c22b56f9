/* SPDX-License-Identifier: Apache-2.0 */
/* Configs made ready to be asked for which problems they are legal: a lookup asks that of many, and
 * has to be quick.
 *
 * Of the rules only few look at a problem's shape; the others say of a config the same for all
 * problems with elements of one size on one device, and are asked once for all times. Of those few,
 * one says the same of all configs with the same values of the parameters that it looks at, and is
 * asked once a problem. */
#ifndef AT_SPACE_FIT_H
#define AT_SPACE_FIT_H

#include "space/family.h"

struct at_fits;      /* the configs, each different one once, numbered from 0 as they come */
struct at_fit_query; /* a problem on a device, with what has been found out about it */

struct at_fits *at_fits_new(void);
void at_fits_free(struct at_fits *fits);

/* Adds a config for the problem `home` on a device, which is borrowed, unless it is there already,
 * from another problem on a device with the same numbers. Gives its number, and its launch at home;
 * fails where that cannot be evaluated. */
enum at_status at_fits_add(struct at_fits *fits, const struct at_config *config,
                           const struct at_problem *home, const struct at_device_info *device,
                           size_t *number, struct at_launch *launch, struct at_error *err);

const struct at_config *at_fits_config(const struct at_fits *fits, size_t number);

/* Everything is borrowed. Several queries of the same configs may be there at once. */
struct at_fit_query *at_fit_query_new(const struct at_fits *fits, const struct at_problem *problem,
                                      const struct at_device_info *device);
void at_fit_query_free(struct at_fit_query *query);

/* Is the config legal for the problem, with parameters that the problem alone determines ("K ==
 * min(rows, cols)") changed to what it says? Then *config and *launch are what to take, and else
 * nothing. `alike`: the device has the same numbers as that at home (at_point_devices_alike). */
bool at_fit_try(struct at_fit_query *query, size_t number, bool alike, struct at_config *config,
                struct at_launch *launch);

#endif
