/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/means.h"

#include "problem/problem.h"

#include <math.h>

/* Where even the copy reaches less than half of the peak, the fixed cost of a launch weighs. */
bool at_entry_is_small(const struct at_entry *entry, const struct at_device_info *device)
{
    int64_t copy_MB_per_s = entry->copy.bandwidth_MB_per_s;
    struct at_problem problem;

    return entry->from_l2 ||
           (copy_MB_per_s > 0 && 2 * copy_MB_per_s < device->peak_bandwidth_MB_per_s) ||
           (at_problem_parse(&problem, entry->problem, NULL) == AT_OK &&
            at_problem_bytes(&problem) <= device->l2_bytes);
}

void at_means_add(struct at_means *means, const struct at_entry *entry,
                  const struct at_device_info *device)
{
    const struct at_result_record *winner = &entry->winner;
    double share = (double)(winner->of_copy_permille > 0 ? winner->of_copy_permille : 1) / 1000;
    bool small = at_entry_is_small(entry, device);

    *(small ? &means->small_sum : &means->large_sum) += log(share);
    *(small ? &means->small : &means->large) += 1;
    if (entry->fallback.time_ns == 0)
        return;
    means->default_sum += log((double)entry->fallback.time_ns / (double)winner->time_ns);
    means->defaults++;
}

static double mean(double sum, size_t count)
{
    return count > 0 ? exp(sum / (double)count) : 0;
}

double at_means_of_copy(const struct at_means *means)
{
    return means->large > 0 ? mean(means->large_sum, means->large) : at_means_of_small(means);
}

double at_means_of_small(const struct at_means *means)
{
    return mean(means->small_sum, means->small);
}

double at_means_over_default(const struct at_means *means)
{
    return mean(means->default_sum, means->defaults);
}

size_t at_means_left_out(const struct at_means *means)
{
    return means->large > 0 ? means->small : 0;
}
