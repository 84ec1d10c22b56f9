/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of base/output share. */
#ifndef AT_SYSTEM_OUTPUT_PARTS_H
#define AT_SYSTEM_OUTPUT_PARTS_H

#include "system/output.h"

struct at_output {
    char *path;      /* as it was given */
    char *target;    /* that it names */
    char *temporary; /* beside the target */
    int fd;          /* of the temporary file; -1: there is none */
    bool unlocked;   /* the file system has no locks */
};

enum at_status at_output_cannot(const struct at_output *output, int error, struct at_error *err);

/* Makes and locks the temporary file. */
enum at_status at_output_take(struct at_output *output, enum at_output_wait wait,
                              struct at_progress *progress, struct at_error *err);

/* Does the temporary file's name still name the one that fd is? Others rename and remove it. */
bool at_output_is_named(const struct at_output *output, int fd);

#endif
