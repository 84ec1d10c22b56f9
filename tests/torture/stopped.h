/* SPDX-License-Identifier: Apache-2.0 */
/* A call that waits for the tracer: its description, and effects on it. */
#ifndef TORTURE_STOPPED_H
#define TORTURE_STOPPED_H

#include "calls.h"
#include "point.h"

#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/types.h>

/* The driver's ends of socket pairs, with the kind of the other end. */
enum { SOCKETS_MAX = 32 };

struct sockets {
    uint64_t pair_at; /* address of the last pair in the driver's memory */
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

/* Fill role and kind. */
void stopped_describe(struct stopped *stopped, struct sockets *sockets);

/* Apply the point's effect: answer the call instead of the kernel, or kill the process. False if
 * that is not possible for this call, which should then go on. */
bool stopped_apply(const struct stopped *stopped, const struct point *point,
                   struct seccomp_notif_resp *response);

/* Copy between this and the stopped process; false if not all of it is mapped there. */
bool stopped_peek(pid_t pid, uint64_t address, void *bytes, size_t size);
bool stopped_poke(pid_t pid, uint64_t address, const void *bytes, size_t size);

#endif
