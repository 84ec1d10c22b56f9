/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT (Ctrl-C), SIGTERM and SIGHUP: the first asks the run to end and keep its results. Another
 * one, more than half a second later, ends the process at once. */
#ifndef AT_SYSTEM_INTERRUPT_H
#define AT_SYSTEM_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

void at_interrupt_catch(void);
bool at_interrupt_seen(void);

/* In a process that the main one has forked: ignore those signals, because a terminal or a batch
 * system sends them to every process of a run. The main process passes an interrupt on with its
 * own. */
enum { AT_INTERRUPT_FOLLOWED = SIGUSR1 };
void at_interrupt_follow(void);

#endif
