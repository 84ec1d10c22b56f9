/* SPDX-License-Identifier: Apache-2.0 */
/* How the evaluation of a config ended. Journals and profiles contain the names. */
#ifndef AT_BASE_OUTCOME_H
#define AT_BASE_OUTCOME_H

#include <stdbool.h>

enum at_outcome {
    AT_CORRECT,    /* ran, verified, timed */
    AT_CONSTRAINT, /* illegal: never compiled */
    AT_COMPILE,    /* NVRTC or ptxas refused it */
    AT_LAUNCH,     /* the driver refused to load or launch it */
    AT_TIMEOUT,    /* did not end in time; its worker was killed */
    AT_CRASH,      /* illegal access, trap, or the worker died */
    AT_WRONG,      /* wrong result, or a write outside the destination */
    AT_OOM,        /* device memory ran out */
    AT_OUTCOMES,
};

extern const char *const at_outcome_names[AT_OUTCOMES];

/* After these outcomes the process cannot use the device any more: cuda.h says that it must be
 * terminated and relaunched. */
static inline bool at_outcome_loses_device(enum at_outcome outcome)
{
    return outcome == AT_CRASH || outcome == AT_TIMEOUT;
}

#endif
