/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TORTURE_WORK_H
#define TORTURE_WORK_H

#include "scenario.h"

#include <stdint.h>

enum { EXIT_SKIP = 77 };

struct options {
    size_t sample; /* points of a scenario; 0: all */
    uint64_t seed;
    bool every, list, verbose, keep;
    int jobs;
};

/* Takes a scenario's points, or the one that is named, and prints its line of the table. Returns an
 * exit code. */
int torture(const struct options *options, const struct scenario *scenario, const char *folder,
            const char *name);

#endif
