/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of output.c. */
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

#endif
