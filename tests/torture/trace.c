/* SPDX-License-Identifier: Apache-2.0 */
#include "torture.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined __x86_64__
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define THIS_ARCH AUDIT_ARCH_AARCH64
#else
#define THIS_ARCH 0 /* matches nothing: no call stops, and the program reports that */
#endif

/* A run takes a second. It waits ten for workers that cannot be killed. */
static const int64_t run_limit_ns = INT64_C(90000000000), left_limit_ns = INT64_C(15000000000);

struct trace {
    int listener;
    pid_t main;
    bool in_main; /* the loader has finished */
    const struct point *point;
    struct tallies *tallies;
    struct sockets sockets;
    pid_t doomed; /* this process is killed at its next call */
    struct trace_end *end;
};

/* ---- in the child, before it becomes the command ---- */

/* Make the calls of the table, and munmap, wait for an answer. Return the descriptor for answers.
 */
static int install_filter(void)
{
    struct sock_filter program[8 + 2 * 128];
    unsigned short size = 0;
    const struct sock_filter ask = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);

    program[size++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    program[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0);
    program[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[size++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i <= call_count; i++) {
        unsigned number = i < call_count ? (unsigned)calls[i].number : __NR_munmap;

        program[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
        program[size++] = ask;
    }
    program[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &(struct sock_fprog){size, program});
}

/* Uses sendmmsg: the filter stops sendmsg until the receiver of this descriptor answers. */
static void send_descriptor(int channel, int fd)
{
    char byte = 0, control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec bytes = {&byte, 1};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &bytes,
                                          .msg_iovlen = 1,
                                          .msg_control = control,
                                          .msg_controllen = sizeof control}};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message.msg_hdr);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    sendmmsg(channel, &message, 1, 0);
}

static int receive_descriptor(int channel)
{
    int fd = -1;
    char byte, control[CMSG_SPACE(sizeof fd)];
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};

    if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

static void execute(char *const argv[], const char *place, int channel)
{
    int out, listener;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (chdir(place) != 0 || (out = open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600)) < 0 ||
        dup2(out, STDOUT_FILENO) < 0 ||
        (out = open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0600)) < 0 ||
        dup2(out, STDERR_FILENO) < 0 || dup2(channel, 3) < 0 ||
        syscall(SYS_close_range, 4, ~0U, 0) != 0 || fcntl(3, F_SETFD, FD_CLOEXEC) != 0)
        _exit(127);
    listener = install_filter();
    if (listener >= 0) {
        send_descriptor(3, listener);
        execv(argv[0], argv);
    }
    _exit(127);
}

/* ---- in the tracer ---- */

static bool start(struct trace *trace, char *const argv[], const char *place)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* adopt workers whose parent ends */
    trace->main = fork();
    if (trace->main == 0)
        execute(argv, place, ends[1]);
    close(ends[1]);
    trace->listener = trace->main > 0 ? receive_descriptor(ends[0]) : -1;
    close(ends[0]);
    if (trace->listener < 0 && trace->main > 0)
        waitpid(trace->main, NULL, 0);
    return trace->listener >= 0;
}

/* Return whether the point is at this call. Once memory is exhausted, all calls for memory fail. */
static bool is_point(const struct trace *trace, const struct stopped *stopped, int count)
{
    const struct point *point = trace->point;
    bool same_call;

    if (!point || trace->doomed != 0 || strcmp(point->call.role, stopped->role) != 0 ||
        strcmp(point->call.kind, stopped->kind) != 0)
        return false;
    same_call = strcmp(point->call.call, stopped->call->name) == 0;
    if (trace->end->injected)
        return point->effect == EFFECT_ERRORS &&
               (same_call || strcmp(stopped->kind, "memory") == 0);
    return same_call && count == point->call.count;
}

/* Count the call and apply the point's effect. The loader's calls before main are skipped. Its last
 * one unmaps the list of libraries: the first munmap. */
static void handle(struct trace *trace, const struct seccomp_notif *request,
                   struct seccomp_notif_resp *response)
{
    struct stopped stopped = {.listener = trace->listener,
                              .main = trace->main,
                              .request = request,
                              .call = call_find(request->data.nr)};
    int count;

    if (trace->doomed == (pid_t)request->pid) {
        kill(trace->doomed, SIGKILL);
        trace->end->injected = true;
        return;
    }
    if (!stopped.call)
        trace->in_main = true;
    if (!stopped.call || !trace->in_main)
        return;
    stopped_describe(&stopped, &trace->sockets);
    count = tallies_add(trace->tallies, stopped.role, stopped.call->name, stopped.kind);
    if (!is_point(trace, &stopped, count))
        return;
    if (trace->point->effect == EFFECT_KILL_AFTER)
        trace->doomed = (pid_t)request->pid;
    else
        trace->end->injected |= stopped_apply(&stopped, trace->point, response);
}

static void answer(struct trace *trace)
{
    struct seccomp_notif request = {0};
    struct seccomp_notif_resp response = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

    if (ioctl(trace->listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0)
        return;
    response.id = request.id;
    handle(trace, &request, &response);
    ioctl(trace->listener, SECCOMP_IOCTL_NOTIF_SEND,
          &response); /* fails if the process was killed */
}

/* Kill all children of this process. Return their number. */
static int kill_children(void)
{
    char *path = at_format("/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re");
    int pid, count = 0;

    free(path);
    while (file && fscanf(file, "%d", &pid) == 1) {
        kill(pid, SIGKILL);
        count++;
    }
    if (file)
        fclose(file);
    return count;
}

/* Wait for ended children; false if none is left. */
static bool reap(struct trace *trace, bool *main_ended)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == trace->main) {
            trace->end->status = status;
            *main_ended = true;
        }
    return pid == 0;
}

static void serve(struct trace *trace)
{
    struct pollfd sources[] = {{trace->listener, POLLIN, 0},
                               {(int)syscall(SYS_pidfd_open, trace->main, 0), POLLIN, 0}};
    int64_t deadline_ns = at_now_ns() + run_limit_ns;
    bool ended = false;

    while (true) {
        poll(sources, 2, ended ? 1 : 1000);
        if (sources[0].revents & POLLIN)
            answer(trace);
        else if (sources[0].revents)
            sources[0].fd = -1;
        if (!ended && (sources[1].revents & POLLIN)) {
            deadline_ns = at_now_ns() + left_limit_ns;
            close(sources[1].fd);
            sources[1].fd = -1;
        }
        if (sources[1].fd < 0 && !reap(trace, &ended))
            break;
        if (at_now_ns() > deadline_ns) {
            trace->end->hung |= !ended;
            trace->end->left += kill_children() - !ended;
            deadline_ns = INT64_MAX;
        }
    }
    if (sources[1].fd >= 0)
        close(sources[1].fd);
}

void trace_run(char *const argv[], const char *place, const struct point *point,
               struct tallies *tallies, struct trace_end *end)
{
    struct trace trace = {.point = point, .tallies = tallies, .end = end};

    *end = (struct trace_end){0};
    end->possible = start(&trace, argv, place);
    if (!end->possible)
        return;
    serve(&trace);
    close(trace.listener);
}
