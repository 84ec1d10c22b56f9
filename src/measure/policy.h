/* SPDX-License-Identifier: Apache-2.0 */
/* How times are taken. Two policies with two names, because they answer two questions: what a
 * transpose of data that comes from DRAM costs (cold), and what one of data that may still be in L2
 * costs (warm). A time is only ever compared with times of the same policy. */
#ifndef AT_MEASURE_POLICY_H
#define AT_MEASURE_POLICY_H

#include "base/choice.h"
#include "device/info.h"
#include "problem/problem.h"

#include <stdint.h>

struct at_policy {
    const char *name;
    const char *summary;
    int64_t l2_multiple;       /* launches cycle through buffers of at least so many times L2; */
    int64_t spread_sets;       /* those of the finalists through so many pairs of them, too, */
    int64_t spread_bytes;      /* as long as all take no more than this */
    int64_t search_train_ns;   /* least time of a train while searching */
    int64_t search_samples;    /* trains a config */
    int64_t shootout_train_ns; /* the same for the finalists, whose times are reported */
    int64_t shootout_samples;
};

enum { AT_POLICIES = 2 };
extern const struct at_policy at_policies[AT_POLICIES]; /* the first is the default */
at_choice_fn at_policy_choice;

/* AT_USAGE for an unknown name, with those that are known. */
enum at_status at_policy_find(const struct at_policy **policy, const char *name,
                              struct at_error *err);

/* How many pairs of source and destination the launches cycle through: those of the finalists, and
 * those of a search, which are no more. */
int64_t at_policy_buffer_sets(const struct at_policy *policy, const struct at_problem *problem,
                              const struct at_device_info *device);
int64_t at_policy_search_sets(const struct at_policy *policy, const struct at_problem *problem,
                              const struct at_device_info *device);

/* Device memory that so many sets of a problem's buffers take, red zones included; INT64_MAX if it
 * does not fit. */
int64_t at_buffers_bytes(const struct at_problem *problem, int64_t sets,
                         const struct at_device_info *device);

/* The poisoned margin before and after each buffer, in bytes: a multiple of 256, so that buffers
 * keep the alignment of their allocation. */
int64_t at_red_zone_bytes(int64_t buffer_bytes, const struct at_device_info *device);

/* A buffer with both margins, each of them longer by the offset at which a matrix is to begin. */
int64_t at_buffer_bytes_with_zones(int64_t buffer_bytes, int64_t offset_bytes,
                                   const struct at_device_info *device);

#endif
