/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that ask a run to end and keep its results: SIGINT (Ctrl-C), SIGTERM, SIGHUP, SIGQUIT,
 * and the signals of batch systems and timers: SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU. Another one,
 * more than half a second later, ends the process at once. Not SIGXCPU, which comes each second
 * once a limit of processor time is reached. */
#ifndef AT_SYSTEM_INTERRUPT_H
#define AT_SYSTEM_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

void at_interrupt_catch(void);
bool at_interrupt_seen(void);

/* In another process of the run: ignore those signals, because a terminal or a batch system sends
 * them to all. Only the main process reacts, and decides when the others end. */
void at_interrupt_ignore(void);

/* Ignore them but for the one by which the main process passes an interrupt on. */
enum { AT_INTERRUPT_FOLLOWED = SIGUSR1 };
void at_interrupt_follow(void);

#endif
