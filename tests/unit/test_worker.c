/* SPDX-License-Identifier: Apache-2.0 */
/* src/worker: real worker processes, which run this program. They serve, their end is noticed, and
 * they never outlive the process that started them. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "folder.h"
#include "kernel/compile_worker.h"
#include "roles.h"
#include "worker/worker.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const int64_t long_ns = INT64_C(60000000000); /* reached only if a test fails */

static void start(struct at_worker *worker)
{
    struct at_error err = {AT_OK, ""};

    if (at_worker_start(worker, at_compile_worker.name, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_true(worker->pid > 0);
}

/* Send a request that a compile worker answers on any machine: compute capability 0.0 fails with or
 * without NVRTC. Returns false if there is no answer. */
static bool answers(const struct at_worker *worker)
{
    struct at_wire request = {0}, reply = {0};
    int32_t type = 0;
    bool answered;

    for (int i = 0; i < 3; i++)
        at_wire_put_int(&request, 0);
    at_wire_put_text(&request, "");
    at_frame_send(worker->fd, AT_COMPILE_HELLO, &request);
    at_wire_clear(&request);
    answered = at_frame_receive(worker->fd, &type, &reply, at_now_ns() + long_ns) == AT_FRAME_OK &&
               type == AT_COMPILE_HELLO && at_wire_get_int(&reply) == AT_DEVICE;
    at_wire_clear(&reply);
    return answered;
}

/* Wait for end of file: the worker has ended. */
static void assert_closed(const struct at_worker *worker)
{
    struct at_wire message = {0};
    int32_t type;

    assert_int_equal(at_frame_receive(worker->fd, &type, &message, at_now_ns() + long_ns),
                     AT_FRAME_CLOSED);
}

static void test_worker_serves(void **state)
{
    struct at_worker worker = {0};
    struct at_worker_end how;
    char path[64], name[32] = "";
    FILE *file;

    (void)state;
    start(&worker);
    assert_true(answers(&worker));
    assert_true(answers(&worker)); /* and a second time */
    /* Workers have their own process group: a terminal's Ctrl-C must not reach them. */
    assert_int_equal(getpgid(worker.pid), worker.pid);
    snprintf(path, sizeof path, "/proc/%d/comm", (int)worker.pid);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(name, sizeof name, file));
    fclose(file);
    assert_string_equal(name, "compile\n");
    at_worker_stop(&worker, &how);
    assert_string_equal(how.text, "signal 9 (Killed)");
    assert_int_equal(worker.pid, 0);
    strcpy(how.text, "as before");
    at_worker_stop(&worker, &how); /* legal, and leaves `how` alone */
    assert_string_equal(how.text, "as before");
}

/* Read /proc/PID/NAME, which may contain NULs; the caller frees it. */
static char *proc_file(pid_t pid, const char *name, size_t *size)
{
    struct at_text_stream stream;
    char *path = at_format("/proc/%d/%s", (int)pid, name), *text, buffer[4096];
    FILE *in = fopen(path, "r"), *out = at_text_open(&stream);
    size_t got;

    assert_non_null(in);
    while ((got = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, got, out);
    fclose(in);
    text = at_text_close(&stream, size);
    free(path);
    return text;
}

static bool has_variable(const char *environment, size_t size, const char *variable)
{
    for (size_t at = 0; at < size; at += strlen(environment + at) + 1)
        if (strcmp(environment + at, variable) == 0)
            return true;
    return false;
}

/* Unknown variables, and those that change what is compiled or measured, are not passed on. */
static void test_worker_environment(void **state)
{
    static const struct {
        const char *name;
        bool passed;
    } variables[] = {
        {"CUDA_VISIBLE_DEVICES", true},
        {"LD_LIBRARY_PATH", true},
        {"AUTOTUNE_DATADIR", true},
        {"NV_SOMETHING", true},
        {"CUDA_LAUNCH_BLOCKING", false},
        {"NVRTC_SOMETHING", false},
        {"CUDA_FORCE_PTX_JIT", false},
        {"SECRET", false},
        {"HOMES", false},
        {"NV_", false},
    };
    /* LD_LIBRARY_PATH stays, because the worker may need libraries from there. */
    const char *folders = getenv("LD_LIBRARY_PATH");
    char *usual = at_strdup(folders ? folders : ""), *value = at_format("/none:%s", usual);
    struct at_worker worker = {0};
    char *environment;
    size_t size;

    (void)state;
    for (size_t i = 0; i < AT_COUNT(variables); i++)
        setenv(variables[i].name, value, 1);
    start(&worker);
    assert_true(answers(&worker));
    environment = proc_file(worker.pid, "environ", &size);
    for (size_t i = 0; i < AT_COUNT(variables); i++) {
        char *variable = at_format("%s=%s", variables[i].name, value);

        if (has_variable(environment, size, variable) != variables[i].passed)
            fail_msg("%s", variables[i].name);
        free(variable);
        unsetenv(variables[i].name);
    }
    setenv("LD_LIBRARY_PATH", usual, 1);
    at_worker_stop(&worker, NULL);
    free(environment);
    free(value);
    free(usual);
}

/* It takes the place of what the environment has, which stays. */
static void test_worker_gets_variable(void **state)
{
    struct at_worker worker = {0};
    char *environment;
    size_t size;

    (void)state;
    setenv("AUTOTUNE_NVRTC", "/environment", 1);
    at_worker_give("AUTOTUNE_NVRTC=/given");
    start(&worker);
    assert_true(answers(&worker));
    environment = proc_file(worker.pid, "environ", &size);
    assert_true(has_variable(environment, size, "AUTOTUNE_NVRTC=/given"));
    assert_false(has_variable(environment, size, "AUTOTUNE_NVRTC=/environment"));
    assert_string_equal(getenv("AUTOTUNE_NVRTC"), "/environment");
    at_worker_stop(&worker, NULL);
    free(environment);
    at_worker_give(NULL);
    unsetenv("AUTOTUNE_NVRTC");
}

static void test_worker_limits(void **state)
{
    static const char *const lines[] = {
        "Max core file size        0                    0 ",
        "Max data size             2147483648           2147483648 ",
        "Max file size             0                    0 ",
    };
    struct at_worker worker = {0};
    char *limits, *status;
    size_t size;

    (void)state;
    start(&worker);
    assert_true(answers(&worker));
    limits = proc_file(worker.pid, "limits", &size);
    status = proc_file(worker.pid, "status", &size);
    for (size_t i = 0; i < (AT_COMPILE_LIMITS ? AT_COUNT(lines) : 1); i++)
        if (!strstr(limits, lines[i]))
            fail_msg("not there: %s\n%s", lines[i], limits);
    assert_non_null(strstr(status, "NoNewPrivs:\t1"));
    at_worker_stop(&worker, NULL);
    free(limits);
    free(status);
}

static void test_worker_crash_is_reported(void **state)
{
    struct at_worker worker = {0};
    struct at_worker_end how;

    (void)state;
    start(&worker);
    assert_true(answers(&worker));
    assert_int_equal(kill(worker.pid, SIGABRT), 0);
    assert_closed(&worker);
    assert_false(answers(&worker));
    at_worker_stop(&worker, &how);
    assert_string_equal(how.text, "signal 6 (Aborted)");
}

/* A worker ends when its socket closes, or after a malformed request. */
static void test_worker_ends_by_itself(void **state)
{
    (void)state;
    for (int nonsense = 0; nonsense < 2; nonsense++) {
        struct at_worker worker = {0};
        struct at_wire message = {0};
        struct at_worker_end how;

        start(&worker);
        if (nonsense)
            at_frame_send(worker.fd, 12345, &message);
        else
            assert_int_equal(shutdown(worker.fd, SHUT_WR), 0);
        assert_closed(&worker);
        at_worker_stop(&worker, &how);
        assert_string_equal(how.text, "exit code 0");
    }
}

/* Wait for the process, at most a minute. If it still runs, kill it and return false. */
static bool ends(pid_t pid, int *status)
{
    const struct timespec pause_time = {0, 10000000};
    pid_t ended = 0;

    for (int i = 0; i < 6000 && ended == 0; i++) {
        ended = waitpid(pid, status, WNOHANG);
        if (ended == 0)
            nanosleep(&pause_time, NULL);
    }
    if (ended == 0)
        kill(pid, SIGKILL);
    return ended == pid;
}

/* If the second worker also held the first one's socket, the first would never see its end. */
static void test_workers_share_nothing(void **state)
{
    struct at_worker first = {0}, second = {0};
    int status, filler = dup(STDERR_FILENO); /* takes the number of a worker's own socket */

    (void)state;
    assert_true(filler >= 3);
    start(&first);
    assert_true(first.fd > 3);
    start(&second);
    assert_true(answers(&first));
    assert_true(answers(&second));
    close(first.fd);
    assert_true(ends(first.pid, &status));
    assert_true(WIFEXITED(status));
    assert_true(answers(&second));
    at_worker_stop(&second, NULL);
    close(filler);
}

/* Run work(argument) in another process, which exits with its return value. */
static pid_t start_process(int (*work)(void *), void *argument)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(work(argument));
    return pid;
}

static void assert_process_ended_well(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* In a program that is started without standard streams, sockets may get their numbers. */
static int start_without_streams(void *argument)
{
    struct at_worker worker = {0};
    bool well;

    (void)argument;
    close(STDIN_FILENO);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    if (at_worker_start(&worker, at_compile_worker.name, NULL) != AT_OK)
        return 1;
    well = answers(&worker);
    at_worker_stop(&worker, NULL);
    return well ? 0 : 2;
}

static void test_worker_without_streams(void **state)
{
    (void)state;
    assert_process_ended_well(start_process(start_without_streams, NULL));
}

/* A worker that says more than is kept, as a driver does for a kernel's printf and assert. */
static int serve_talk(int fd)
{
    (void)fd;
    printf("\033]0;printed\a");
    fflush(stdout);
    fprintf(stderr, "\033[31masserted\n\tred\n");
    for (int i = 0; i < 10000; i++)
        fprintf(stderr, "more text of a kernel\n");
    return 0;
}

static const struct at_worker_role talk_role = {"talk", serve_talk};
static const struct at_worker_role *const roles[] = {&at_compile_worker, &talk_role, NULL};

/* Run the worker, with files as standard output and standard error. */
static int talk(void *argument)
{
    const char *const *paths = argument;
    struct at_worker worker = {0};

    if (!freopen(paths[0], "w", stdout) || !freopen(paths[1], "w", stderr) ||
        at_worker_start(&worker, talk_role.name, NULL) != AT_OK)
        return 1;
    assert_closed(&worker);
    at_worker_stop(&worker, NULL);
    return fflush(stderr);
}

static void test_worker_that_talks(void **state)
{
    static const char begin[] = "\\x1b[31masserted\n\tred\nmore text of a kernel\n";
    char *out = at_format("%s/out", (char *)*state), *err = at_format("%s/err", (char *)*state);
    const char *const paths[] = {out, err};
    char *text;
    size_t size;

    assert_process_ended_well(start_process(talk, (void *)(uintptr_t)paths));
    assert_int_equal(at_file_read(&text, &size, out, 1 << 20, NULL), AT_OK);
    assert_int_equal(size, 0);
    free(text);
    assert_int_equal(at_file_read(&text, &size, err, 1 << 20, NULL), AT_OK);
    assert_memory_equal(text, begin, strlen(begin));
    assert_in_range(size, 8 << 10, 17 << 10);
    free(text);
    free(err);
    free(out);
}

/* Start a worker, send its process id through the pipe, and wait to be killed. */
static int hold_worker(void *argument)
{
    struct at_worker worker = {0};

    if (at_worker_start(&worker, at_compile_worker.name, NULL) != AT_OK || !answers(&worker) ||
        write(*(int *)argument, &worker.pid, sizeof worker.pid) != sizeof worker.pid)
        return 1;
    for (;;)
        pause();
}

/* Meanwhile the worker is stopped by a signal, so that it cannot notice the parent's end itself: it
 * could also hang in a driver. */
static void test_worker_dies_with_parent(void **state)
{
    int pipe_ends[2], status = 0;
    pid_t parent, worker = 0;

    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1),
                     0); /* the orphan becomes this process's child */
    assert_int_equal(pipe(pipe_ends), 0);
    parent = start_process(hold_worker, &pipe_ends[1]);
    close(pipe_ends[1]);
    assert_int_equal(read(pipe_ends[0], &worker, sizeof worker), sizeof worker);
    close(pipe_ends[0]);
    assert_int_equal(kill(worker, SIGSTOP), 0);
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_true(ends(worker, &status));
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* Other command lines are left to the program. */
static void test_worker_arguments(void **state)
{
    static const char *const lines[][4] = {
        {"autotune"},
        {"autotune", "tune"},
        {"autotune", "--worker="},
        {"autotune", "--worker=nonsense"},
        {"autotune", "--worker=compiler"},
        {"autotune", "--worker=compile", "more"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(lines); i++) {
        char *argv[4];
        int argc = 0, exit_code = -1;

        memcpy(argv, lines[i], sizeof argv);
        while (argv[argc])
            argc++;
        assert_false(at_worker_serve(at_worker_roles, argc, argv, &exit_code));
        assert_int_equal(exit_code, -1);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worker_serves),
        cmocka_unit_test(test_worker_environment),
        cmocka_unit_test(test_worker_gets_variable),
        cmocka_unit_test(test_worker_limits),
        cmocka_unit_test(test_worker_crash_is_reported),
        cmocka_unit_test(test_worker_ends_by_itself),
        cmocka_unit_test(test_workers_share_nothing),
        cmocka_unit_test(test_worker_without_streams),
        cmocka_unit_test_setup_teardown(test_worker_that_talks, make_folder, remove_folder),
        cmocka_unit_test(test_worker_dies_with_parent),
        cmocka_unit_test(test_worker_arguments),
    };
    int exit_code;

    if (at_worker_serve(roles, argc, argv, &exit_code))
        return exit_code;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
