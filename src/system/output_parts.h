/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by output.c and output_lock.c. */
#ifndef AT_SYSTEM_OUTPUT_PARTS_H
#define AT_SYSTEM_OUTPUT_PARTS_H

#include "system/output.h"

struct at_output {
    char *path;      /* as given */
    char *target;    /* path with links followed */
    char *temporary; /* in the target's folder */
    int fd;          /* of the temporary file; -1: none */
    bool unlocked;   /* the file system has no locks */
};

/* Fail with AT_USAGE, "cannot write PATH" and the reason of an errno value. */
enum at_status at_output_cannot(const struct at_output *output, int error, struct at_error *err);

/* Create and lock the temporary file. */
enum at_status at_output_take(struct at_output *output, enum at_output_wait wait,
                              struct at_progress *progress, struct at_error *err);

/* Is fd still the file that the temporary name names? Other processes rename and remove it. */
bool at_output_is_named(const struct at_output *output, int fd);

#endif
