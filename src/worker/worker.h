/* SPDX-License-Identifier: Apache-2.0 */
/* Worker processes: the same executable, started with posix_spawn, at the other end of a socket
 * pair. A worker does what may crash, hang or leak (NVRTC, the CUDA driver, the kernels under
 * test), so that the driver process never does. It dies with its parent, and the parent may kill it
 * at any time. */
#ifndef AT_WORKER_WORKER_H
#define AT_WORKER_WORKER_H

#include "base/error.h"
#include "worker/wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A role that a worker process can be started in. */
struct at_worker_role {
    const char *name;
    int (*serve)(int fd); /* answers frames until end of file; returns the exit code */
};

/* If this process was started as a worker, serves in its role and returns true with the exit code.
 * main calls it before anything else. roles: NULL-ended. */
int at_worker_serve(const struct at_worker_role *const *roles, int argc, char **argv,
                    int *exit_code);

struct at_worker {
    pid_t pid; /* 0: not running */
    int fd;    /* valid while it runs */
};

enum at_status at_worker_start(struct at_worker *worker, const char *role, struct at_error *err);

/* How a worker ended: by itself, or by at_worker_stop. */
struct at_worker_end {
    bool stays;    /* it has not ended, killed as it is: a driver holds it, and it the device */
    pid_t pid;     /* that it had, or has */
    int signal;    /* 0: it ended with an exit code */
    char text[64]; /* "signal 11 (Segmentation fault)", "exit code 3" */
};

/* Kills the process, which is to be stopped later; legal on one not running. */
void at_worker_kill(const struct at_worker *worker);

/* Kills the process and reaps it, waiting ten seconds at most; *end may be NULL. Legal on one not
 * running, of which *end says nothing. */
void at_worker_stop(struct at_worker *worker, struct at_worker_end *end);

/* Frames: a header with a magic number, the type and the length, then the message. */
enum { AT_FRAME_BYTES_MAX = 64 << 20 };

enum at_frame_result {
    AT_FRAME_OK,
    AT_FRAME_CLOSED,  /* the other end is gone */
    AT_FRAME_TIMEOUT, /* nothing, or not all of it, before the deadline */
    AT_FRAME_BAD,     /* not a frame */
};

/* Sends one frame, waiting until the other end has read it or is gone; a minute at most. A failure
 * also shows on receiving: the connection is then closed. */
enum at_frame_result at_frame_send(int fd, int32_t type, const struct at_wire *message);

/* Receives one frame into the cleared wire. deadline_ns is on at_now_ns's clock; 0: no limit. */
enum at_frame_result at_frame_receive(int fd, int32_t *type, struct at_wire *message,
                                      int64_t deadline_ns);

#endif
