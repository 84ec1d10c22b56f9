/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/compile_limits.h"

#include "base/memory.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sixteen kernels take 0.2 GB. At the limit NVRTC reports an error in the source, or nothing. */
static const rlim_t memory_bytes = (rlim_t)2 << 30;

/* The stack is not counted in that. 64 MiB is eight times the usual limit. With no limit, deep
 * nesting could use all memory. */
static const rlim_t stack_bytes = (rlim_t)64 << 20;

/* Timing and feeding the GPU have priority over compiling. */
enum { NICER_BY = 5 };

static void lower(__rlimit_resource_t resource, rlim_t most)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) != 0)
        return;
    if (limit.rlim_cur > most)
        limit.rlim_cur = most;
    if (limit.rlim_max > most)
        limit.rlim_max = most;
    setrlimit(resource, &limit);
}

void at_compile_limit_process(void)
{
    if (!AT_COMPILE_LIMITS)
        return;
    signal(SIGXFSZ, SIG_IGN); /* failing the write is enough */
    signal(SIGXCPU, SIG_DFL); /* at_compile_limit_time ends the process by it */
    setpriority(PRIO_PROCESS, 0, NICER_BY);
    lower(RLIMIT_DATA, memory_bytes);
    lower(RLIMIT_STACK, stack_bytes);
    lower(RLIMIT_FSIZE, 0);
}

/* NVRTC may load more of the system's libraries while it compiles. */
static const char *const library_folders[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64"};

static void allow(int rules, const char *folder)
{
    struct landlock_path_beneath_attr rule = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
        .parent_fd = open(folder, O_PATH | O_CLOEXEC),
    };

    if (rule.parent_fd < 0) /* a folder that is not there needs no rule */
        return;
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

bool at_compile_limit_files(const char *const *folders, size_t count)
{
    const struct landlock_ruleset_attr handled = {.handled_access_fs =
                                                      LANDLOCK_ACCESS_FS_READ_FILE};
    bool limited = false;
    int rules;

    if (!AT_COMPILE_LIMITS)
        return false;
    rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    if (rules < 0)
        return false;
    for (size_t i = 0; i < count; i++)
        allow(rules, folders[i]);
    for (size_t i = 0; i < AT_COUNT(library_folders); i++)
        allow(rules, library_folders[i]);
    limited = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return limited;
}

void at_compile_limit_time(int64_t seconds)
{
    struct rusage used;
    struct rlimit limit;

    if (getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0)
        return;
    limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 + seconds);
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CPU, &limit);
}
