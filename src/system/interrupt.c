/* SPDX-License-Identifier: Apache-2.0 */
#include "system/interrupt.h"

#include "base/clock.h"
#include "base/error.h"

#include <signal.h>
#include <unistd.h>

/* timeout(1) and batch systems signal a process and then its group: that is a single request. */
static const int64_t same_request_ns = 500000000;

static volatile sig_atomic_t seen;
static volatile int64_t first_ns; /* written before `seen`, read after it */

static void note_signal(int signal_number)
{
    (void)signal_number;
    if (!seen) {
        first_ns = at_now_ns(); /* clock_gettime is safe in a handler (signal-safety(7)) */
        seen = 1;
    } else if (at_now_ns() - first_ns > same_request_ns) {
        _exit(AT_INTERRUPTED);
    }
}

void at_interrupt_catch(void)
{
    /* No SA_RESTART: poll must return for the run to notice the signal. */
    struct sigaction action = {.sa_handler = note_signal};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

bool at_interrupt_seen(void)
{
    return seen;
}
