/* SPDX-License-Identifier: Apache-2.0 */
#include "base/interrupt.h"

#include "base/error.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t signals_seen;

static void note_signal(int signal_number)
{
    (void)signal_number;
    if (signals_seen++ > 0)
        _exit(AT_INTERRUPTED);
}

void at_interrupt_catch(void)
{
    /* No SA_RESTART: poll must return, so that the run notices. */
    struct sigaction action = {.sa_handler = note_signal};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool at_interrupt_seen(void)
{
    return signals_seen > 0;
}
