/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/memory.h"
#include "worker/worker.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

static const uint32_t frame_magic = 0x61746672; /* "atfr" */

struct frame_header {
    uint32_t magic;
    int32_t type;
    uint64_t size;
};

/* Wait until fd can be read (POLLIN) or written (POLLOUT). */
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

/* Skip the bytes that have been sent. */
static void skip(struct iovec *parts, size_t count, size_t size)
{
    for (size_t i = 0; i < count && size > 0; i++) {
        size_t skipped = size < parts[i].iov_len ? size : parts[i].iov_len;

        parts[i].iov_base = (char *)parts[i].iov_base + skipped;
        parts[i].iov_len -= skipped;
        size -= skipped;
    }
}

/* Send all parts with one call, so that the receiver wakes up once. Wait only if the socket is
 * full: most frames fit. */
static enum at_frame_result send_all(int fd, struct iovec *parts, size_t count, size_t size,
                                     int64_t deadline_ns)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};

    while (size > 0) {
        enum at_frame_result result = AT_FRAME_OK;
        /* MSG_NOSIGNAL: a dead worker is a result here, not a SIGPIPE. */
        ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno == EAGAIN)
            result = wait_for(fd, POLLOUT, deadline_ns);
        else if (sent < 0 && errno != EINTR)
            result = AT_FRAME_CLOSED;
        if (result != AT_FRAME_OK)
            return result;
        if (sent > 0) {
            skip(parts, count, (size_t)sent);
            size -= (size_t)sent;
        }
    }
    return AT_FRAME_OK;
}

/* A worker that has not read a frame by then hangs, even on a busy machine. */
static const int64_t send_limit_ns = 60 * INT64_C(1000000000);

enum at_frame_result at_frame_send(int fd, int32_t type, const struct at_wire *message)
{
    struct frame_header header = {frame_magic, type, message->size};
    struct iovec parts[] = {{&header, sizeof header}, {message->bytes, message->size}};
    enum at_frame_result result = send_all(
        fd, parts, AT_COUNT(parts), sizeof header + message->size, at_now_ns() + send_limit_ns);

    /* The other end may live on, but it will never answer a frame that it did not get: receiving
     * must find the connection closed. */
    if (result != AT_FRAME_OK)
        shutdown(fd, SHUT_RD);
    return result;
}

static enum at_frame_result receive_all(int fd, void *bytes, size_t size, int64_t deadline_ns)
{
    char *next = bytes;

    while (size > 0) {
        enum at_frame_result result = AT_FRAME_OK;
        ssize_t got = recv(fd, next, size, MSG_DONTWAIT);

        if (got < 0 && errno == EAGAIN)
            result = wait_for(fd, POLLIN, deadline_ns);
        else if (got == 0 || (got < 0 && errno != EINTR))
            result = AT_FRAME_CLOSED;
        if (result != AT_FRAME_OK)
            return result;
        if (got > 0) {
            next += got;
            size -= (size_t)got;
        }
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
