/* SPDX-License-Identifier: Apache-2.0 */
/* The number of CPUs that this process may use, at least 1. A container or taskset may allow fewer
 * than the machine has. */
#ifndef AT_SYSTEM_CPUS_H
#define AT_SYSTEM_CPUS_H

int at_usable_cpus(void);

#endif
