/* SPDX-License-Identifier: Apache-2.0 */
#include "system/cpus.h"

#include "base/memory.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>

int at_usable_cpus(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return count < 1 ? 1 : count;
}

/* Read "0-31,64-95", the list format of cpuset(7). */
static void read_list(FILE *file, cpu_set_t *set)
{
    int first, last;

    CPU_ZERO(set);
    while (fscanf(file, "%d", &first) == 1) {
        last = first;
        if (fscanf(file, "-%d", &last) == 1 && last < first)
            return;
        for (int i = first; i <= last && i >= 0 && i < CPU_SETSIZE; i++)
            CPU_SET(i, set);
        if (getc(file) != ',')
            return;
    }
}

void at_cpus_stay_near(const char *pci_bus_id)
{
    char *path = at_format("/sys/bus/pci/devices/%s/local_cpulist", pci_bus_id);
    cpu_set_t usable, near;
    FILE *file;

    for (char *c = path; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    file = fopen(path, "re");
    at_free(path);
    if (!file)
        return;
    read_list(file, &near);
    fclose(file);
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        return;
    CPU_AND(&near, &near, &usable);
    if (CPU_COUNT(&near) > 0)
        sched_setaffinity(0, sizeof near, &near);
}
