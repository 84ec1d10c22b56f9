/* SPDX-License-Identifier: Apache-2.0 */
/* Worker processes: the same executable, started with posix_spawn and connected by a socket pair. A
 * worker runs code that may crash, hang or leak (NVRTC, the CUDA driver, the kernels under test),
 * to protect the process that started it: the main process. A worker dies with its parent, and
 * the parent may kill it at any time.
 *
 * What it writes is anyone's text: the driver prints what kernels do. Its standard output is
 * dropped, since a kernel that is tuned runs thousands of times. The beginning of its standard
 * error (assertions, sanitisers) is shown when it has ended, without control characters. */
#ifndef AT_WORKER_WORKER_H
#define AT_WORKER_WORKER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Messages between the processes of one run, in native byte order: both ends are the same
 * executable on the same machine. Reading past the end, or a length that does not fit, sets `bad`
 * and yields zeroes. So a reader checks once, at the end. */
struct at_wire {
    unsigned char *bytes; /* owned */
    size_t size, capacity;
    size_t position; /* of the next read */
    bool bad;
};

void at_wire_clear(struct at_wire *wire);

void at_wire_put_int(struct at_wire *wire, int64_t value);
void at_wire_put_real(struct at_wire *wire, double value);
void at_wire_put_bytes(struct at_wire *wire, const void *bytes, size_t size);
void at_wire_put_text(struct at_wire *wire, const char *text);

int64_t at_wire_get_int(struct at_wire *wire);
double at_wire_get_real(struct at_wire *wire);

/* Read a count of items of at least item_size encoded bytes each. A count that does not fit the
 * rest of the message is bad. */
size_t at_wire_get_count(struct at_wire *wire, size_t item_size);

/* Returns a view into the wire, valid until it is cleared. */
const void *at_wire_get_bytes(struct at_wire *wire, size_t *size);

/* Copy text into a buffer; text that does not fit is truncated. */
void at_wire_get_text(struct at_wire *wire, char *text, size_t capacity);

/* Copy exactly size bytes; another length is bad. For plain structs without pointers. */
void at_wire_get_struct(struct at_wire *wire, void *record, size_t size);

/* Was everything read, and nothing bad? */
bool at_wire_done(const struct at_wire *wire);

/* ---- processes ---- */

/* A role that a worker process can be started in. */
struct at_worker_role {
    const char *name;
    int (*serve)(int fd); /* answer frames until end of file; return the exit code */
};

/* If this process was started as a worker, serve in its role and return 1 with the exit code; else
 * return 0. main calls it first. roles is NULL-ended. */
int at_worker_serve(const struct at_worker_role *const *roles, int argc, char **argv,
                    int *exit_code);

struct at_worker {
    pid_t pid; /* 0: not running */
    int fd;    /* valid while running, as is: */
    int said;  /* its standard error; -1: that is dropped */
};

/* Give workers that start from now on a variable, "NAME=value", in place of the environment's. The
 * text is borrowed for good; there is one such variable. NULL: no more. */
void at_worker_give(const char *variable);

enum at_status at_worker_start(struct at_worker *worker, const char *role, struct at_error *err);

/* The descriptor of what a worker shares with its parent. */
enum { AT_WORKER_SHARED_FD = 3 };

/* The same. The worker gets a copy of `shared` as AT_WORKER_SHARED_FD; -1: nothing. */
enum at_status at_worker_start_sharing(struct at_worker *worker, const char *role, int shared,
                                       struct at_error *err);

/* The same with another executable, which has to be this version of the program; NULL: this one. */
enum at_status at_worker_start_program(struct at_worker *worker, const char *program,
                                       const char *role, struct at_error *err);

/* How a worker ended: by itself, or killed by at_worker_stop. */
struct at_worker_end {
    bool stays;    /* killed but not ended: it waits in a kernel driver and keeps the device busy */
    pid_t pid;     /* its process id */
    int signal;    /* 0: it ended with an exit code */
    char text[64]; /* "signal 11 (Segmentation fault)", "exit code 3" */
};

/* Kill the process, without reaping it: at_worker_stop must follow. Legal if it is not running. */
void at_worker_kill(const struct at_worker *worker);

/* Kill the process and reap it, waiting at most ten seconds. end may be NULL. If the worker is not
 * running, does nothing and leaves *end alone. */
void at_worker_stop(struct at_worker *worker, struct at_worker_end *end);

/* ---- frames ---- */

/* A frame is a header with a magic number, the type and the length, then the message. */
enum { AT_FRAME_BYTES_MAX = 64 << 20 };

enum at_frame_result {
    AT_FRAME_OK,
    AT_FRAME_CLOSED,  /* the other end is gone */
    AT_FRAME_TIMEOUT, /* nothing, or not all of it, before the deadline */
    AT_FRAME_BAD,     /* not a frame */
};

/* Send one frame. If the socket is full, wait at most a minute for the other end to read. After a
 * failure, receiving reports a closed connection. */
enum at_frame_result at_frame_send(int fd, int32_t type, const struct at_wire *message);

/* Receive one frame into the cleared wire. deadline_ns is on at_now_ns's clock; 0: no limit. */
enum at_frame_result at_frame_receive(int fd, int32_t *type, struct at_wire *message,
                                      int64_t deadline_ns);

#endif
