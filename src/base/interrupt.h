/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C and SIGTERM: the first asks the run to end with what it has, the second ends it at once.
 */
#ifndef AT_BASE_INTERRUPT_H
#define AT_BASE_INTERRUPT_H

#include <stdbool.h>

void at_interrupt_catch(void);
bool at_interrupt_seen(void);

#endif
