/* SPDX-License-Identifier: Apache-2.0 */
/* Configs prepared for the question for which problems they are legal. A lookup asks it for many
 * configs, and has to be quick.
 *
 * Most rules do not use a problem's shape. For one config, element size and device they always have
 * the same result, so they are evaluated once, when the config is added. A rule that uses the shape
 * has the same result for all configs with the same values of the parameters that it uses, so it is
 * evaluated once per problem for all of them. */
#ifndef AT_SPACE_FIT_H
#define AT_SPACE_FIT_H

#include "space/family.h"

struct at_fits;      /* configs without duplicates, numbered from 0 in the order of adding */
struct at_fit_query; /* a problem on a device, with the answers found so far */

struct at_fits *at_fits_new(void);
void at_fits_free(struct at_fits *fits);

/* Add a config that was tuned for the problem `home` on a device (borrowed), unless it is there
 * already, from a device with the same limits. Returns its number, and its launch for the home
 * problem. Fails if that cannot be evaluated. */
enum at_status at_fits_add(struct at_fits *fits, const struct at_config *config,
                           const struct at_problem *home, const struct at_device_info *device,
                           size_t *number, struct at_launch *launch, struct at_error *err);

const struct at_config *at_fits_config(const struct at_fits *fits, size_t number);

/* All arguments are borrowed. Several queries of the same configs may exist at once. */
struct at_fit_query *at_fit_query_new(const struct at_fits *fits, const struct at_problem *problem,
                                      const struct at_device_info *device);
void at_fit_query_free(struct at_fit_query *query);

/* Is the config legal for the problem? Parameters that the problem determines ("K == min(rows,
 * cols)") are changed for it first. If legal, *config and *launch are the changed config and its
 * launch; else they are undefined. `alike`: the device has the same limits as the config's home
 * device (at_point_devices_alike). */
bool at_fit_try(struct at_fit_query *query, size_t number, bool alike, struct at_config *config,
                struct at_launch *launch);

#endif
