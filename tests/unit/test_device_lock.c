/* SPDX-License-Identifier: Apache-2.0 */
/* src/device/device_lock: one run at a time on a device; other runs are other processes. Plain
 * files stand in for the special files of GPUs: flock(2) treats them alike. */
#include "base/memory.h"
#include "device/device_lock.h"
#include "device/gpu_node.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"

static const struct at_device_info gpu = {
    .name = "NVIDIA X", .kind = "cuda", .uuid = "GPU-1", .pci_bus_id = "1"};
static const struct at_device_info other_gpu = {
    .name = "NVIDIA X", .kind = "cuda", .uuid = "GPU-2", .pci_bus_id = "2"};
static const struct at_device_info unknown_gpu = {
    .name = "NVIDIA X", .kind = "cuda", .uuid = "GPU-3"};
static const struct at_device_info closed_gpu = {
    .name = "NVIDIA X", .kind = "cuda", .uuid = "GPU-4", .pci_bus_id = "none/4"};
static const struct at_device_info emulated = {.kind = AT_KIND_EMULATED, .uuid = "emu:x"};

static struct at_progress progress = {.quiet = true};
static char *folder;

/* Replaces the program's own. */
enum at_status at_gpu_node(char **path, const char *root, const char *pci_bus_id,
                           struct at_error *err)
{
    (void)root;
    if (!pci_bus_id[0])
        return at_fail(err, AT_DEVICE, "not told");
    *path = at_format("%s/%s", folder, pci_bus_id);
    return AT_OK;
}

static enum at_status take(struct at_device_lock **lock, const struct at_device_info *info,
                           bool wait, struct at_error *err)
{
    return at_device_lock_take(lock, info, wait, &progress, err);
}

/* Another process that holds the lock until it is killed. */
static pid_t start_holder(void)
{
    int ends[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct at_device_lock *lock;

        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
        if (take(&lock, &gpu, false, NULL) != AT_OK || write(ends[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

static void end_holder(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_refused(void **state)
{
    struct at_device_lock *lock = NULL, *second = NULL;
    struct at_error err;
    pid_t holder = start_holder();
    char *named = at_format("process %d: ", (int)holder);

    (void)state;
    assert_int_equal(take(&lock, &gpu, false, &err), AT_DEVICE);
    assert_non_null(strstr(err.message, "NVIDIA X (GPU-1) is in use by another run of autotune"));
    assert_non_null(strstr(err.message, named));
    assert_non_null(strstr(err.message, "--wait"));
    assert_null(lock);
    /* Another device is free. So is this one after the other run, however it ended. */
    assert_int_equal(take(&second, &other_gpu, false, &err), AT_OK);
    end_holder(holder);
    assert_int_equal(take(&lock, &gpu, false, &err), AT_OK);
    at_device_lock_release(lock);
    at_device_lock_release(second);
    free(named);
}

/* A process that was killed while it started another, which inherits the lock until its exec; here
 * for 50 ms. */
static void test_inherited_by_a_starting_child(void **state)
{
    struct at_device_lock *lock = NULL;
    int ends[2];
    char byte;
    pid_t holder;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    holder = fork();
    assert_true(holder >= 0);
    if (holder == 0) {
        if (take(&lock, &gpu, false, NULL) != AT_OK || fork() < 0 || write(ends[1], "x", 1) != 1)
            _exit(1);
        usleep(50000); /* both processes */
        _exit(0);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    end_holder(holder);
    assert_int_equal(take(&lock, &gpu, false, NULL), AT_OK);
    at_device_lock_release(lock);
    close(ends[0]);
    close(ends[1]);
}

/* A worker that outlives its main process for a moment does not hold the lock. */
static void test_not_inherited(void **state)
{
    char name[] = "cat", *const arguments[] = {name, NULL}, byte;
    struct at_device_lock *lock = NULL;
    int to[2], from[2], status;
    posix_spawn_file_actions_t actions;
    pid_t child;

    (void)state;
    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from, O_CLOEXEC), 0);
    assert_int_equal(take(&lock, &gpu, false, NULL), AT_OK);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    assert_int_equal(posix_spawnp(&child, name, &actions, NULL, arguments, NULL), 0);
    posix_spawn_file_actions_destroy(&actions);
    assert_int_equal(write(to[1], "x", 1), 1); /* its answer shows that it is loaded */
    assert_int_equal(read(from[0], &byte, 1), 1);
    at_device_lock_release(lock);
    assert_int_equal(take(&lock, &gpu, false, NULL), AT_OK);
    at_device_lock_release(lock);
    close(to[1]); /* it existed until now */
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(to[0]);
    close(from[0]);
    close(from[1]);
}

static void test_released(void **state)
{
    struct at_device_lock *lock = NULL;

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(take(&lock, &gpu, false, NULL), AT_OK);
        at_device_lock_release(lock);
    }
    at_device_lock_release(NULL);
}

/* The alarm ends the holder while this process waits. Without waiting it would not get the lock. */
static pid_t to_be_ended;

static void end_it(int signal_number)
{
    (void)signal_number;
    kill(to_be_ended, SIGKILL);
}

static void test_waits(void **state)
{
    struct sigaction action = {.sa_handler = end_it, .sa_flags = SA_RESTART};
    struct at_device_lock *lock = NULL;

    (void)state;
    to_be_ended = start_holder();
    sigaction(SIGALRM, &action, NULL);
    ualarm(50000, 0);
    assert_int_equal(take(&lock, &gpu, true, NULL), AT_OK);
    assert_int_equal(waitpid(to_be_ended, NULL, 0), to_be_ended);
    at_device_lock_release(lock);
}

static void note_only(int signal_number)
{
    (void)signal_number;
}

static void test_waiting_is_interrupted(void **state)
{
    struct sigaction action = {.sa_handler = note_only}; /* no SA_RESTART, as in the program */
    struct at_device_lock *lock = NULL;
    struct at_error err;
    pid_t holder = start_holder();

    (void)state;
    sigaction(SIGALRM, &action, NULL);
    ualarm(50000, 50000); /* again, in case the first comes too early */
    assert_int_equal(take(&lock, &gpu, true, &err), AT_INTERRUPTED);
    ualarm(0, 0);
    assert_null(lock);
    end_holder(holder);
}

static void test_emulated(void **state)
{
    struct at_device_lock *first, *second;

    (void)state;
    assert_int_equal(take(&first, &emulated, false, NULL), AT_OK);
    assert_int_equal(take(&second, &emulated, false, NULL), AT_OK);
    assert_null(first);
}

/* A device that cannot be locked is used all the same. */
static void test_no_node(void **state)
{
    const struct at_device_info *infos[] = {&unknown_gpu, &closed_gpu};
    struct at_device_lock *lock;

    (void)state;
    for (size_t i = 0; i < AT_COUNT(infos); i++) {
        assert_int_equal(take(&lock, infos[i], false, NULL), AT_OK);
        assert_null(lock);
    }
}

/* The lock works between users: root's file, readable by others, can be locked by them. */
static void test_other_user(void **state)
{
    struct at_device_lock *lock = NULL;
    struct at_error err;
    char *path = at_format("%s/1", folder);
    pid_t holder = start_holder();
    int status;
    pid_t other;

    (void)state;
    if (geteuid() != 0) {
        end_holder(holder);
        free(path);
        skip();
    }
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(path, 0444), 0);
    other = fork();
    assert_true(other >= 0);
    if (other == 0) {
        enum { NOBODY = 65534 };

        if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
            _exit(1);
        _exit(take(&lock, &gpu, false, &err) == AT_DEVICE && strstr(err.message, "process ") ? 0
                                                                                             : 2);
    }
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    end_holder(holder);
    free(path);
}

static int make_files(void **state)
{
    int failed = make_folder(state);

    folder = *state;
    for (char name = '1'; name <= '2' && !failed; name++) {
        char *path = at_format("%s/%c", folder, name);

        failed = close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        free(path);
    }
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_inherited_by_a_starting_child),
        cmocka_unit_test(test_not_inherited), cmocka_unit_test(test_released),
        cmocka_unit_test(test_waits),         cmocka_unit_test(test_waiting_is_interrupted),
        cmocka_unit_test(test_emulated),      cmocka_unit_test(test_no_node),
        cmocka_unit_test(test_other_user),
    };

    return cmocka_run_group_tests(tests, make_files, remove_folder);
}
