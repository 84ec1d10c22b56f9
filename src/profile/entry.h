/* SPDX-License-Identifier: Apache-2.0 */
/* Makes records of a profile from what was measured. */
#ifndef AT_PROFILE_ENTRY_H
#define AT_PROFILE_ENTRY_H

#include "kernel/nvrtc.h"
#include "measure/measurement.h"
#include "profile/profile.h"
#include "space/space.h"

/* A config that was timed. All is borrowed. */
struct at_timed {
    const struct at_config *config; /* NULL: the driver's copy */
    const struct at_problem *problem;
    const struct at_launch *launch;
    struct at_gpu_kernel kernel;
    char hash[AT_SHORT_HASH_CHARS]; /* at_kernel_hash; "": unknown */
    const double *samples_ns;       /* of one launch; the time is their median */
    size_t samples;
    bool predicted; /* a prediction has no confidence interval */
};

/* Return the record of a config. Its lists are the caller's. copy_ns: the copy limit's time. */
struct at_result_record at_result_of(const struct at_timed *timed, int64_t copy_ns);

/* Return the record of the best copy, which may be the driver's. */
struct at_copy_record at_copy_of(const struct at_timed *best, const struct at_timed *driver);

/* Return the record of what made the times; texts may be "", and the compiler NULL, if unknown. */
struct at_environment at_environment_of(const char *driver, const char *cuda_driver,
                                        const struct at_compiler *compiler);

/* Return the extents of a grid or a block as a list, which is the caller's. */
struct at_list at_extents_list(const int64_t extents[3]);

/* Round a time; one that was measured is never 0, which means that there is none. */
int64_t at_whole_ns(double ns);

/* Did the winner's data come from L2? Its bandwidth is above the memory's peak. */
bool at_result_is_from_l2(const struct at_result_record *winner,
                          const struct at_device_info *device);

#endif
