/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C, SIGTERM and SIGHUP: the first asks the run to end with what it has; another one, half a
 * second later or more, ends it at once. */
#ifndef AT_SYSTEM_INTERRUPT_H
#define AT_SYSTEM_INTERRUPT_H

#include <stdbool.h>

void at_interrupt_catch(void);
bool at_interrupt_seen(void);

#endif
