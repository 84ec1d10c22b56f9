/* SPDX-License-Identifier: Apache-2.0 */
#include "torture.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#define NAMED(name) #name, __NR_##name

const struct call calls[] = {
#ifdef __NR_access
    {NAMED(access), ABOUT_PATH, {EACCES}, 0},
#endif
    {NAMED(brk), ABOUT_MEMORY, {ENOMEM}, STAYING},
    {NAMED(clone), ABOUT_PROCESS, {EAGAIN}, LASTING},
    {NAMED(clone3), ABOUT_PROCESS, {EAGAIN}, LASTING | STAYING},
    {NAMED(close), ABOUT_DESCRIPTOR, {EIO}, LASTING},
    {NAMED(dup), ABOUT_DESCRIPTOR, {EMFILE}, 0},
#ifdef __NR_dup2
    {NAMED(dup2), ABOUT_DESCRIPTOR, {EMFILE}, 0},
#endif
    {NAMED(dup3), ABOUT_DESCRIPTOR, {EMFILE}, 0},
    {NAMED(execve), ABOUT_PATH, {ENOMEM, EACCES}, 0},
    {NAMED(faccessat), ABOUT_PATH_AT, {EACCES}, 0},
    {NAMED(faccessat2), ABOUT_PATH_AT, {EACCES}, 0},
    {NAMED(fallocate), ABOUT_DESCRIPTOR, {ENOSPC}, LASTING},
    {NAMED(fchmod), ABOUT_DESCRIPTOR, {EPERM}, LASTING},
    {NAMED(fchown), ABOUT_DESCRIPTOR, {EPERM}, LASTING},
    {NAMED(fcntl), ABOUT_DESCRIPTOR, {ENOLCK, EMFILE}, 0},
    {NAMED(fdatasync), ABOUT_DESCRIPTOR, {EIO, ENOSPC}, LASTING | STAYING},
    {NAMED(flock), ABOUT_DESCRIPTOR, {ENOLCK, EINTR}, LASTING},
    {NAMED(fstat), ABOUT_DESCRIPTOR, {EIO}, 0},
    {NAMED(fsync), ABOUT_DESCRIPTOR, {EIO, ENOSPC}, LASTING},
    {NAMED(ftruncate), ABOUT_DESCRIPTOR, {EIO}, LASTING},
    {NAMED(getcwd), ABOUT_PROCESS, {ENOENT}, 0},
    {NAMED(getdents64), ABOUT_DESCRIPTOR, {EIO}, 0},
    {NAMED(kill), ABOUT_PROCESS, {EPERM}, LASTING},
#ifdef __NR_link
    {NAMED(link), ABOUT_PATH, {EPERM}, LASTING},
#endif
    {NAMED(linkat), ABOUT_PATH_AT, {EPERM}, LASTING},
    {NAMED(lseek), ABOUT_DESCRIPTOR, {EIO}, 0},
#ifdef __NR_mkdir
    {NAMED(mkdir), ABOUT_PATH, {ENOSPC}, LASTING},
#endif
    {NAMED(mkdirat), ABOUT_PATH_AT, {ENOSPC}, LASTING},
    {NAMED(mmap), ABOUT_MAPPING, {ENOMEM}, STAYING},
    {NAMED(mprotect), ABOUT_MEMORY, {ENOMEM}, 0},
    {NAMED(newfstatat), ABOUT_PATH_AT, {EIO}, 0},
#ifdef __NR_open
    {NAMED(open), ABOUT_PATH, {EACCES, EMFILE}, LASTING},
#endif
    {NAMED(openat), ABOUT_PATH_AT, {EACCES, EMFILE}, LASTING | STAYING},
    {NAMED(pipe2), ABOUT_PROCESS, {EMFILE}, 0},
#ifdef __NR_poll
    {NAMED(poll), ABOUT_SOCKETS, {EINTR, ENOMEM}, 0},
#endif
    {NAMED(ppoll), ABOUT_SOCKETS, {EINTR, ENOMEM}, 0},
    {NAMED(pread64), ABOUT_DESCRIPTOR, {EIO}, PARTIAL},
    {NAMED(pwrite64), ABOUT_DESCRIPTOR, {ENOSPC, EIO}, PARTIAL | LASTING | STAYING},
    {NAMED(read), ABOUT_DESCRIPTOR, {EIO, EINTR}, PARTIAL},
#ifdef __NR_readlink
    {NAMED(readlink), ABOUT_PATH, {EACCES}, 0},
#endif
    {NAMED(readlinkat), ABOUT_PATH_AT, {EACCES}, 0},
    {NAMED(recvfrom), ABOUT_DESCRIPTOR, {ENOMEM, EINTR}, PARTIAL},
    {NAMED(recvmsg), ABOUT_DESCRIPTOR, {ENOMEM, EINTR}, 0},
#ifdef __NR_rename
    {NAMED(rename), ABOUT_PATH, {EACCES, ENOSPC}, LASTING},
#endif
    {NAMED(renameat), ABOUT_PATH_AT, {EACCES, ENOSPC}, LASTING},
    {NAMED(renameat2), ABOUT_PATH_AT, {EACCES, ENOSPC}, LASTING},
#ifdef __NR_rmdir
    {NAMED(rmdir), ABOUT_PATH, {EACCES}, LASTING},
#endif
    {NAMED(sendmsg), ABOUT_DESCRIPTOR, {ENOBUFS, EINTR}, LASTING},
    {NAMED(sendto), ABOUT_DESCRIPTOR, {ENOBUFS, EINTR}, PARTIAL | LASTING},
    {NAMED(setpgid), ABOUT_PROCESS, {EPERM}, 0},
    {NAMED(socketpair), ABOUT_PROCESS, {EMFILE}, LASTING | STAYING},
#ifdef __NR_stat
    {NAMED(stat), ABOUT_PATH, {EIO}, 0},
#endif
    {NAMED(statx), ABOUT_PATH_AT, {EIO}, 0},
#ifdef __NR_symlink
    {NAMED(symlink), ABOUT_PATH, {EPERM}, LASTING},
#endif
#ifdef __NR_unlink
    {NAMED(unlink), ABOUT_PATH, {EACCES}, LASTING},
#endif
    {NAMED(unlinkat), ABOUT_PATH_AT, {EACCES}, LASTING},
    {NAMED(utimensat), ABOUT_PATH_AT, {EACCES}, LASTING},
#ifdef __NR_vfork
    {NAMED(vfork), ABOUT_PROCESS, {EAGAIN}, LASTING},
#endif
    {NAMED(wait4), ABOUT_PROCESS, {EINTR, ECHILD}, LASTING},
    {NAMED(write), ABOUT_DESCRIPTOR, {ENOSPC, EIO}, PARTIAL | LASTING | STAYING},
};

const size_t call_count = AT_COUNT(calls);

static const struct {
    const char *name;
    int error;
} errors[] = {
    {"EACCES", EACCES}, {"EAGAIN", EAGAIN}, {"ECHILD", ECHILD},   {"EINTR", EINTR},
    {"EIO", EIO},       {"EMFILE", EMFILE}, {"ENOBUFS", ENOBUFS}, {"ENOENT", ENOENT},
    {"ENOLCK", ENOLCK}, {"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC},   {"EPERM", EPERM},
};

const struct call *call_find(int number)
{
    for (size_t i = 0; i < call_count; i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

const struct call *call_named(const char *name)
{
    for (size_t i = 0; i < call_count; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}

const char *error_name(int error)
{
    for (size_t i = 0; i < AT_COUNT(errors); i++)
        if (errors[i].error == error)
            return errors[i].name;
    return NULL;
}

int error_named(const char *name)
{
    for (size_t i = 0; i < AT_COUNT(errors); i++)
        if (strcmp(errors[i].name, name) == 0)
            return errors[i].error;
    return 0;
}
