/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TORTURE_WORK_H
#define TORTURE_WORK_H

#include "scenario.h"

#include <stdint.h>

enum { EXIT_SKIP = 77 };

struct options {
    size_t sample; /* points per scenario; 0: all */
    uint64_t seed;
    bool every, list, verbose, keep;
    int jobs;
};

/* Run a scenario at its points, or at the named one, and print its line of the table. Return an
 * exit code. */
int torture(const struct options *options, const struct scenario *scenario, const char *folder,
            const char *name);

#endif
