/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/memory.h"
#include "worker/worker.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

static const uint32_t frame_magic = 0x61746672; /* "atfr" */

struct frame_header {
    uint32_t magic;
    int32_t type;
    uint64_t size;
};

/* Waits until fd can be read (POLLIN) or written (POLLOUT). */
static enum at_frame_result wait_for(int fd, short event, int64_t deadline_ns)
{
    struct pollfd poll_fd = {.fd = fd, .events = event};
    int ready;

    do {
        int64_t left_ns = deadline_ns - at_now_ns();
        int timeout_ms = deadline_ns == 0 ? -1 : left_ns <= 0 ? 0 : (int)(left_ns / 1000000 + 1);

        ready = poll(&poll_fd, 1, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    return ready > 0 ? AT_FRAME_OK : ready == 0 ? AT_FRAME_TIMEOUT : AT_FRAME_CLOSED;
}

static enum at_frame_result send_all(int fd, const void *bytes, size_t size, int64_t deadline_ns)
{
    const char *next = bytes;

    while (size > 0) {
        enum at_frame_result result = wait_for(fd, POLLOUT, deadline_ns);
        ssize_t sent;

        if (result != AT_FRAME_OK)
            return result;
        /* MSG_NOSIGNAL: a dead worker is a result, not a SIGPIPE. */
        sent = send(fd, next, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (sent < 0)
            return AT_FRAME_CLOSED;
        next += sent;
        size -= (size_t)sent;
    }
    return AT_FRAME_OK;
}

/* A worker that has not read it all by then is not going to, on however busy a machine. */
static const int64_t send_limit_ns = 60 * INT64_C(1000000000);

enum at_frame_result at_frame_send(int fd, int32_t type, const struct at_wire *message)
{
    struct frame_header header = {frame_magic, type, message->size};
    int64_t deadline_ns = at_now_ns() + send_limit_ns;
    enum at_frame_result result = send_all(fd, &header, sizeof header, deadline_ns);

    return result == AT_FRAME_OK ? send_all(fd, message->bytes, message->size, deadline_ns)
                                 : result;
}

static enum at_frame_result receive_all(int fd, void *bytes, size_t size, int64_t deadline_ns)
{
    char *next = bytes;

    while (size > 0) {
        enum at_frame_result result = wait_for(fd, POLLIN, deadline_ns);
        ssize_t got;

        if (result != AT_FRAME_OK)
            return result;
        got = recv(fd, next, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return AT_FRAME_CLOSED;
        next += got;
        size -= (size_t)got;
    }
    return AT_FRAME_OK;
}

enum at_frame_result at_frame_receive(int fd, int32_t *type, struct at_wire *message,
                                      int64_t deadline_ns)
{
    struct frame_header header;
    enum at_frame_result result = receive_all(fd, &header, sizeof header, deadline_ns);

    if (result != AT_FRAME_OK)
        return result;
    if (header.magic != frame_magic || header.size > AT_FRAME_BYTES_MAX)
        return AT_FRAME_BAD;
    message->bytes = at_alloc(header.size);
    message->size = message->capacity = header.size;
    result = receive_all(fd, message->bytes, message->size, deadline_ns);
    if (result == AT_FRAME_OK)
        *type = header.type;
    else
        at_wire_clear(message);
    return result;
}
