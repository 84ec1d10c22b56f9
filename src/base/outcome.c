/* SPDX-License-Identifier: Apache-2.0 */
#include "base/outcome.h"

const char *const at_outcome_names[AT_OUTCOMES] = {
    [AT_CORRECT] = "correct", [AT_CONSTRAINT] = "constraint",
    [AT_COMPILE] = "compile", [AT_LAUNCH] = "launch",
    [AT_TIMEOUT] = "timeout", [AT_CRASH] = "crash",
    [AT_WRONG] = "wrong",     [AT_OOM] = "oom",
};
