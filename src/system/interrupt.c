/* SPDX-License-Identifier: Apache-2.0 */
#include "system/interrupt.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

#include <stddef.h>
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
    } else if (signal_number != SIGXCPU && at_now_ns() - first_ns > same_request_ns) {
        _exit(AT_INTERRUPTED);
    }
}

static const int interrupts[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                 SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

/* Without SA_RESTART: poll must return for the run to notice the signal. */
static void handle(int signal_number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};

    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

void at_interrupt_catch(void)
{
    for (size_t i = 0; i < AT_COUNT(interrupts); i++)
        handle(interrupts[i], note_signal);
}

void at_interrupt_ignore(void)
{
    for (size_t i = 0; i < AT_COUNT(interrupts); i++)
        handle(interrupts[i], SIG_IGN);
}

void at_interrupt_follow(void)
{
    at_interrupt_ignore();
    handle(AT_INTERRUPT_FOLLOWED, note_signal);
}

bool at_interrupt_seen(void)
{
    return seen;
}
