/* SPDX-License-Identifier: Apache-2.0 */
/* src/pipeline: what a killed main process leaves behind, on the emulated device. The main process
 * is another process of this program, as are its workers. */
#include "base/memory.h"
#include "measure/gpu_protocol.h"
#include "tune/tune.h"

#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "session.h"

/* This process kills itself after this many evaluation requests; 0: never. */
static int fatal_evaluation;

/* Replaces the C library's function. A frame begins with its header: magic number, type, size. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static int evaluations;
    int32_t header[4] = {0};
    ssize_t sent;

    if (message->msg_iov[0].iov_len == sizeof header)
        memcpy(header, message->msg_iov[0].iov_base, sizeof header);
    sent = syscall(SYS_sendmsg, fd, message, flags);
    if (fatal_evaluation && header[1] == AT_GPU_EVALUATE && ++evaluations == fatal_evaluation)
        kill(getpid(), SIGKILL);
    return sent;
}

/* Tune as `autotune tune --gpu emu --family tile --problem 8x8:f32 --budget 4` does. */
static enum at_status tune(const char *journal)
{
    struct at_problem problem;
    struct at_entry entry = {0};
    const struct at_budget budget = {.evaluations = 4};
    struct at_error err = {AT_OK, ""};
    enum at_status status;

    begin_options();
    options.session.journal = journal;
    options.session.use_cache = false;
    status = open_session();
    if (status != AT_OK)
        return status;
    status = at_problem_parse(&problem, "8x8:f32", &err);
    if (status == AT_OK)
        status = at_tune_problem(session, &problem, &budget,
                                 (struct at_tune_place){.index = 1, .of = 1}, &entry, &err);
    if (status != AT_OK)
        fprintf(stderr, "%s\n", err.message);
    close_session(NULL);
    return status;
}

static int64_t count_filed(const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    int64_t count;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT count(*) FROM measurements", -1, &statement, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return count;
}

/* Killed during an evaluation, the main process has filed all evaluations before it. */
static void test_killed(void **state)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    char folder[] = "/tmp/autotune-test-pipeline-XXXXXX", *path;

    (void)state;
    assert_non_null(mkdtemp(folder));
    path = at_format("%s/journal", folder);
    for (int fatal = 1; fatal <= 5; fatal++) {
        int status;
        pid_t main_process = fork();

        if (main_process == 0) {
            fatal_evaluation = fatal;
            _exit(tune(path));
        }
        assert_int_equal(waitpid(main_process, &status, 0), main_process);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        assert_int_equal(count_filed(path), fatal - 1);
        for (size_t i = 0; i < AT_COUNT(endings); i++) {
            char *file = at_format("%s%s", path, endings[i]);

            unlink(file);
            free(file);
        }
    }
    assert_int_equal(rmdir(folder), 0);
    free(path);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_killed)};
    int exit_code;

    if (ends_before_tests(argc, argv, &exit_code))
        return exit_code;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
