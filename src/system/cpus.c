/* SPDX-License-Identifier: Apache-2.0 */
#include "system/cpus.h"

#include <sched.h>

int at_usable_cpus(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return count < 1 ? 1 : count;
}
