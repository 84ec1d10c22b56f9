/* SPDX-License-Identifier: Apache-2.0 */
/* A call that waits for the tracer's word: which one it is, and what can be done to it. */
#ifndef TORTURE_STOPPED_H
#define TORTURE_STOPPED_H

#include "calls.h"
#include "point.h"

#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/types.h>

/* The ends of socket pairs that the driver keeps, by what is at the other end. */
enum { SOCKETS_MAX = 32 };

struct sockets {
    uint64_t pair_at; /* where in the driver's memory the last pair was put */
    size_t count;
    struct {
        char link[WORD_CHARS]; /* "socket:[1234]" */
        char kind[WORD_CHARS]; /* "socket-gpu" */
    } items[SOCKETS_MAX];
};

struct stopped {
    int listener;
    pid_t main; /* the driver */
    const struct seccomp_notif *request;
    const struct call *call;
    char role[WORD_CHARS];
    char kind[WORD_CHARS];
};

/* Fills role and kind. */
void stopped_describe(struct stopped *stopped, struct sockets *sockets);

/* Gives the call's result in place of the kernel, or kills; false if that cannot be done here, and
 * the call should go on. */
bool stopped_apply(const struct stopped *stopped, const struct point *point,
                   struct seccomp_notif_resp *response);

/* Copies between here and the stopped process; false if not all is mapped there. */
bool stopped_peek(pid_t pid, uint64_t address, void *bytes, size_t size);
bool stopped_poke(pid_t pid, uint64_t address, const void *bytes, size_t size);

#endif
