/* SPDX-License-Identifier: Apache-2.0 */
/* What the problems of a device reach together, in geometric means. Small problems have means of
 * their own: L2 holds their data, or the launch is most of their time, so a copy limits them
 * little. */
#ifndef AT_PROFILE_MEANS_H
#define AT_PROFILE_MEANS_H

#include "profile/profile.h"

/* Begins zeroed. The sums are of logarithms. */
struct at_means {
    size_t large, small, defaults;
    double large_sum, small_sum, default_sum;
};

/* Is the entry's problem small on the device? */
bool at_entry_is_small(const struct at_entry *entry, const struct at_device_info *device);

void at_means_add(struct at_means *means, const struct at_entry *entry,
                  const struct at_device_info *device);

/* The mean share of the copy limit, 1 for all of it: of the problems that are not small, or of all
 * if all are small; of the small ones; and how many times as fast as the default configs all are. 0
 * where there are none. */
double at_means_of_copy(const struct at_means *means);
double at_means_of_small(const struct at_means *means);
double at_means_over_default(const struct at_means *means);

/* How many small problems at_means_of_copy leaves out. */
size_t at_means_left_out(const struct at_means *means);

#endif
