/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT (Ctrl-C), SIGTERM and SIGHUP: the first asks the run to end and keep its results. Another
 * one, more than half a second later, ends the process at once. */
#ifndef AT_SYSTEM_INTERRUPT_H
#define AT_SYSTEM_INTERRUPT_H

#include <stdbool.h>

void at_interrupt_catch(void);
bool at_interrupt_seen(void);

#endif
