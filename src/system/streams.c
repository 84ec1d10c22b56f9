/* SPDX-License-Identifier: Apache-2.0 */
#include "system/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool at_streams_prepare(void)
{
    /* The opposite mode of each stream, so that using it fails. Workers inherit them. */
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    signal(SIGPIPE, SIG_IGN);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            return false; /* open returns the lowest free number, and all below fd are open */
    return true;
}

bool at_streams_reader_is_gone(int fd)
{
    struct pollfd end = {.fd = fd}; /* poll always reports POLLERR and POLLHUP */

    return poll(&end, 1, 0) == 1 && (end.revents & (POLLERR | POLLHUP)) != 0;
}

int at_streams_width(int fd)
{
    struct winsize window;

    return ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 ? window.ws_col : 0;
}

int at_streams_text_width(int most)
{
    int width = at_streams_width(STDOUT_FILENO);

    return width > 0 && width < most ? width : most;
}
