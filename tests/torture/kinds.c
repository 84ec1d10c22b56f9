/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which process makes a call, and the kind of file that it works on. */
#include "base/memory.h"
#include "torture.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* The first match counts; '*' matches '/' as well. A run's folder is .../place. */
static const struct {
    const char *pattern, *kind;
} kinds[] = {
    {"*/place/stdout", "stdout"},
    {"*/place/stderr", "stderr"},
    {"*.journal-wal", "journal-wal"},
    {"*.journal-shm", "journal-shm"},
    {"*.journal-journal", "journal-journal"},
    {"*.journal", "journal"},
    {"*/place/cache/autotune/*.aside", "cache-temporary"},
    {"*/place/cache/autotune/?*", "cache-entry"},
    {"*/place/cache/autotune*", "cache-folder"},
    {"*/place/*.autotune-*", "temporary"},
    {"*/place/*.yaml", "profile"},
    {"*/place/kernels*", "exported"},
    {"*/place/", "folder"},
    {"*/place/.", "folder"},
    {"*/place", "folder"},
    {"*/place/*", "beside"},
    {"*/templates/*", "data"},
    {"*/tuning*", "data"},
    {"*/results*", "data"},
    {"*.so", "library"},
    {"*.so.*", "library"},
    {"*/autotune", "program"},
    {"/proc/self/exe", "program"},
    {"/proc*", "proc"},
    {"/sys*", "sys"},
    {"/dev*", "dev"},
    {"/etc*", "etc"},
    {"socket:*", "socket"},
    {"pipe:*", "pipe"},
    {"*", "other"},
};

bool stopped_peek(pid_t pid, uint64_t address, void *bytes, size_t size)
{
    struct iovec here = {bytes, size}, there = {(void *)(uintptr_t)address, size};

    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool stopped_poke(pid_t pid, uint64_t address, const void *bytes, size_t size)
{
    struct iovec here = {(void *)(uintptr_t)bytes, size},
                 there = {(void *)(uintptr_t)address, size};

    return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* Copy a string, cut off if it does not fit. Byte by byte, because the next page may be unmapped.
 */
static bool peek_text(pid_t pid, uint64_t address, char *text, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (!stopped_peek(pid, address + i, text + i, 1))
            return false;
        if (!text[i])
            return true;
    }
    text[size - 1] = '\0';
    return true;
}

/* Read a link in /proc/PID, such as "cwd" or "fd/3"; "" if there is none. */
static void read_link(pid_t pid, const char *name, char text[PATH_MAX])
{
    char *path = at_format("/proc/%d/%s", (int)pid, name);
    ssize_t size = readlink(path, text, PATH_MAX - 1);

    text[size > 0 ? size : 0] = '\0';
    free(path);
}

static void read_descriptor(pid_t pid, int fd, char text[PATH_MAX])
{
    char name[32];

    snprintf(name, sizeof name, "fd/%d", fd);
    read_link(pid, name, text);
}

/* The process name is "autotune", then "exe" until a worker's main begins, then the role's. */
static void find_role(struct stopped *stopped)
{
    pid_t pid = (pid_t)stopped->request->pid;
    char *path = at_format("/proc/%d/comm", (int)pid), name[WORD_CHARS] = "";
    FILE *file = fopen(path, "re");

    free(path);
    if (file) {
        if (!fgets(name, sizeof name, file))
            name[0] = '\0';
        fclose(file);
    }
    name[strcspn(name, "\n")] = '\0';
    if (pid == stopped->main)
        strcpy(stopped->role, "main");
    else if (strcmp(name, "autotune") == 0)
        strcpy(stopped->role, "spawn");
    else if (strcmp(name, "exe") == 0)
        strcpy(stopped->role, "loader");
    else
        strcpy(stopped->role, name);
}

/* Remember the main process's last socket pair, and which worker gets it. */
static void follow_sockets(const struct stopped *stopped, struct sockets *sockets)
{
    const struct seccomp_data *data = &stopped->request->data;
    pid_t pid = (pid_t)stopped->request->pid;
    uint64_t argument;
    char worker[WORD_CHARS], link[PATH_MAX];
    int ends[2];

    if (strcmp(stopped->call->name, "socketpair") == 0)
        sockets->pair_at = data->args[3];
    if (strcmp(stopped->call->name, "execve") != 0 || sockets->count == SOCKETS_MAX ||
        !stopped_peek(pid, data->args[1] + sizeof argument, &argument, sizeof argument) ||
        !argument || !peek_text(pid, argument, worker, sizeof worker) ||
        strncmp(worker, "--worker=", 9) != 0 ||
        !stopped_peek(pid, sockets->pair_at, ends, sizeof ends))
        return;
    read_descriptor(stopped->main, ends[0], link);
    snprintf(sockets->items[sockets->count].link, WORD_CHARS, "%s", link);
    snprintf(sockets->items[sockets->count++].kind, WORD_CHARS, "socket-%s", worker + 9);
}

/* Return the kind of a path or of a descriptor's link. */
static const char *kind_of(const char *name, const struct sockets *sockets)
{
    char path[PATH_MAX];
    char *deleted;

    for (size_t i = sockets->count; i > 0; i--) /* inode numbers are reused: the newest counts */
        if (strcmp(sockets->items[i - 1].link, name) == 0)
            return sockets->items[i - 1].kind;
    snprintf(path, sizeof path, "%s", name);
    deleted = strstr(path, " (deleted)");
    if (deleted)
        *deleted = '\0';
    for (size_t i = 0; i < AT_COUNT(kinds); i++)
        if (fnmatch(kinds[i].pattern, path, 0) == 0)
            return kinds[i].kind;
    return "other";
}

/* Read a path of the call and make it absolute. */
static void read_path(pid_t pid, int folder, uint64_t address, char text[PATH_MAX])
{
    char base[PATH_MAX] = "", name[PATH_MAX] = "";

    if (address != 0 && !peek_text(pid, address, name, sizeof name))
        name[0] = '\0';
    if (name[0] != '/' && folder == AT_FDCWD)
        read_link(pid, "cwd", base);
    else if (name[0] != '/')
        read_descriptor(pid, folder, base);
    if (snprintf(text, PATH_MAX, "%s%s%s", base, base[0] && name[0] ? "/" : "", name) >= PATH_MAX)
        text[PATH_MAX - 1] = '\0';
}

void stopped_describe(struct stopped *stopped, struct sockets *sockets)
{
    const struct seccomp_data *data = &stopped->request->data;
    pid_t pid = (pid_t)stopped->request->pid;
    const char *kind = NULL;
    char name[PATH_MAX] = "";

    find_role(stopped);
    follow_sockets(stopped, sockets);
    switch (stopped->call->about) {
    case ABOUT_PROCESS:
        kind = "process";
        break;
    case ABOUT_SOCKETS:
        kind = "sockets";
        break;
    case ABOUT_MEMORY:
        kind = "memory";
        break;
    case ABOUT_MAPPING:
        if (data->args[3] & MAP_ANONYMOUS)
            kind = "memory";
        else
            read_descriptor(pid, (int)data->args[4], name);
        break;
    case ABOUT_DESCRIPTOR:
        read_descriptor(pid, (int)data->args[0], name);
        break;
    case ABOUT_PATH:
        read_path(pid, AT_FDCWD, data->args[0], name);
        break;
    case ABOUT_PATH_AT:
        read_path(pid, (int)data->args[0], data->args[1], name);
        break;
    }
    snprintf(stopped->kind, sizeof stopped->kind, "%s", kind ? kind : kind_of(name, sockets));
}
