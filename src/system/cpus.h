/* SPDX-License-Identifier: Apache-2.0 */
/* The CPUs that this process may use, and those close to a device. */
#ifndef AT_SYSTEM_CPUS_H
#define AT_SYSTEM_CPUS_H

/* Return the number of CPUs that this process may use, at least 1. A container or taskset may allow
 * fewer than the machine has. */
int at_usable_cpus(void);

/* Let this process and its children run only on those of its CPUs that are close to a PCI device
 * ("0000:0f:00.0"), if the system tells which are. */
void at_cpus_stay_near(const char *pci_bus_id);

#endif
