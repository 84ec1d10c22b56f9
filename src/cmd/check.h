/* SPDX-License-Identifier: Apache-2.0 */
/* Which entries of a profile are stale: made with other software, or another kernel, than there is
 * now. */
#ifndef AT_CMD_CHECK_H
#define AT_CMD_CHECK_H

#include "cmd/run_options.h"

struct at_stale_request {
    const char *file;           /* the profile */
    struct at_run_options *run; /* with its families */
    const struct at_device_info *devices;
    size_t device_count;
};

struct at_stale_list {
    struct at_problem *problems; /* the caller frees them */
    size_t count, capacity;
    size_t elsewhere; /* stale entries of other devices or policies */
};

/* List the problems whose entries for one of the devices, under the run's policy, are stale: the
 * driver, NVRTC or kernel is another one, or a GPU takes longer than recorded. A note tells why. */
enum at_status at_stale_find(struct at_stale_list *list, const struct at_stale_request *request,
                             struct at_error *err);

#endif
