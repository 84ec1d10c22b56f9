/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command whose calls for files, processes and memory each wait for our word.
 *
 * The kernel does it (seccomp_unotify(2)): a filter has the calls of calls.c, of the command and of
 * all that it starts, ask a descriptor of ours; the others run at full speed. So calls that glibc
 * and SQLite make inside are reached, nothing is traced with ptrace, and who waits for whom stays
 * as it is. */
#ifndef TORTURE_TRACE_H
#define TORTURE_TRACE_H

#include "point.h"

struct trace_end {
    bool possible; /* false: this machine has no such filters, or lets nobody have one */
    int status;    /* of the command, as waitpid gives it */
    bool injected; /* the point was reached */
    bool hung;     /* it had to be killed */
    int left;      /* processes that it left behind, and that did not end */
};

/* Runs argv in the folder `place`, with what it prints in the files stdout and stderr there. point
 * may be NULL; of the run's calls each is counted. */
void trace_run(char *const argv[], const char *place, const struct point *point,
               struct tallies *tallies, struct trace_end *end);

#endif
