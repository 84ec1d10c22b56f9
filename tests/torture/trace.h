/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command whose calls for files, processes and memory each wait for the tracer's answer.
 *
 * The kernel does this (seccomp_unotify(2)): in the command and all its processes, a filter stops
 * the calls in calls.c until this process answers. Other calls run at full speed. This reaches the
 * calls inside glibc and SQLite. It needs no ptrace, which would change how processes wait for each
 * other. */
#ifndef TORTURE_TRACE_H
#define TORTURE_TRACE_H

#include "point.h"

struct trace_end {
    bool possible; /* false: this machine has no such filters, or does not allow them */
    int status;    /* of the command, as waitpid gives it */
    bool injected; /* the effect was applied */
    bool hung;     /* the command had to be killed */
    int left;      /* processes that did not end after it */
};

/* Run argv in the folder `place`, with its output in the files stdout and stderr there. Counts each
 * call in tallies. point may be NULL. */
void trace_run(char *const argv[], const char *place, const struct point *point,
               struct tallies *tallies, struct trace_end *end);

#endif
