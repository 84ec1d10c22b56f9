/* SPDX-License-Identifier: Apache-2.0 */
/* A process forks while its threads are inside libautotune. In the child everything that needs no
 * GPU works; the rest fails because CUDA does not survive a fork. An alarm ends a child that hangs.
 */
#include "fake_cuda.h"
#include "lib/autotune.h"
#include "skipped.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sample.h"
#include "source_tree.h"

enum {
    THREADS = 4,
    ROUNDS = 50,
    WHOLE = 200,
    HANGS_AFTER_S = 300,
    SEED_TAKES_US = 200000,
    LACKS_NVRTC = 77
};

static const autotune_problem problem = {.elem_size = 4, .rows = 4096, .cols = 4096};
static char small[4096], cache[] = "/tmp/autotune-test-fork-XXXXXX";
static autotune_profile *profile;
static autotune_device *device;
static autotune_plan *plan;

/* Replaces the C library's open and makes seeds slow to come. A fork while a thread waits for one
 * is then certain, not rare. */
int open(const char *name, int flags, ...)
{
    va_list modes;
    mode_t mode;

    va_start(modes, flags);
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(modes, mode_t) : 0;
    va_end(modes);
    if (strcmp(name, "/dev/urandom") == 0)
        usleep(SEED_TAKES_US);
    return openat(AT_FDCWD, name, flags, mode);
}

/* Return the number of the step that failed; 0: none. */
static int use_without_gpu(void)
{
    autotune_profile *opened = NULL;
    autotune_device *described = NULL;
    autotune_answer *answer = NULL;
    char text[4096];

    if (autotune_lookup(&answer, profile, device, &problem, NULL, NULL) != AUTOTUNE_OK)
        return 1;
    if (autotune_answer_describe(answer, text, sizeof text) == 0)
        return 2;
    if (autotune_answer_json(answer, text, sizeof text) == 0)
        return 3;
    autotune_answer_free(answer);
    if (autotune_profile_open(&opened, small, NULL) != AUTOTUNE_OK)
        return 4;
    autotune_profile_free(opened);
    if (autotune_device_described(&described, "h200", NULL) != AUTOTUNE_OK)
        return 5;
    autotune_device_free(described);
    return 0;
}

/* Calls that need a GPU tell why there is none, every time. */
static bool tells_of_fork(autotune_status status, autotune_error *error)
{
    bool tells = status == AUTOTUNE_NO_DEVICE && strstr(autotune_error_message(error), "fork");

    autotune_error_free(error);
    return tells;
}

static int use_gpu(void)
{
    autotune_plan *made = NULL;
    autotune_device *current = NULL;
    autotune_error *error = NULL;
    autotune_status status = autotune_plan_create(&made, profile, &problem, &error);

    if (!tells_of_fork(status, error))
        return 11;
    status = autotune_device_current(&current, &error);
    if (!tells_of_fork(status, error))
        return 12;
    status = autotune_plan_execute(plan, (void *)4096, (void *)0x10000000000, NULL, &error);
    if (!tells_of_fork(status, error))
        return 13;
    autotune_plan_free(plan);
    return fake_cuda_launches != 0;
}

/* ---- in the parent ---- */

static atomic_bool done;

/* Half of the threads are making plans most of the time. */
static void *work(void *number)
{
    while (!done) {
        autotune_plan *made = NULL;

        if (use_without_gpu() != 0)
            return "a lookup failed";
        if ((uintptr_t)number % 2 == 0)
            continue;
        if (autotune_plan_create(&made, profile, &problem, NULL) != AUTOTUNE_OK)
            return "a plan failed";
        autotune_plan_free(made);
    }
    return NULL;
}

static int run_child(int (*use)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        alarm(HANGS_AFTER_S);
        _exit(use());
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static int use_all(void)
{
    int failed = use_without_gpu();

    return failed ? failed : use_gpu();
}

static int create_plan(void)
{
    autotune_error *error = NULL;
    autotune_status status = autotune_plan_create(&plan, profile, &problem, &error);
    bool lacks_nvrtc =
        status == AUTOTUNE_NO_DEVICE && strstr(autotune_error_message(error), "NVRTC");

    if (status != AUTOTUNE_OK)
        fprintf(stderr, "%s%s\n", lacks_nvrtc ? "skipped: " : "", autotune_error_message(error));
    autotune_error_free(error);
    return status == AUTOTUNE_OK ? 0 : lacks_nvrtc ? LACKS_NVRTC : 1;
}

/* A child forked before CUDA is used may use it. */
static void test_fork_before_cuda(void **state)
{
    int status;

    (void)state;
    assert_int_equal(run_child(use_without_gpu), 0);
    status = run_child(create_plan);
    if (WIFEXITED(status) && WEXITSTATUS(status) == LACKS_NVRTC)
        skip();
    assert_int_equal(status, 0);
}

static void test_with_threads_inside(void **state)
{
    pthread_t threads[THREADS];
    int lacking;

    (void)state;
    if (WITH_ADDRESS_SANITIZER) {
        fprintf(stderr, "skipped: a fork may find the address sanitiser's allocator locked\n");
        skip();
    }
    lacking = create_plan();
    if (lacking == LACKS_NVRTC)
        skip();
    assert_int_equal(lacking, 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    usleep(SEED_TAKES_US / 2); /* a thread that needs a seed now waits for it */
    for (int round = 0; round < (runs_whole() ? WHOLE : ROUNDS); round++) {
        int status = run_child(use_all);

        if (status != 0)
            fail_msg("round %d: the child ended with %x", round, (unsigned)status);
    }
    done = true;
    for (int i = 0; i < THREADS; i++) {
        void *failure;

        pthread_join(threads[i], &failure);
        if (failure)
            fail_msg("in the parent, %s", (const char *)failure);
    }
    autotune_plan_free(plan);
}

static int set_up(void **state)
{
    (void)state;
    use_source_tree();
    snprintf(small, sizeof small, "%s/tests/data/small-profile.yaml", source_tree());
    assert_non_null(mkdtemp(cache));
    setenv("XDG_CACHE_HOME", cache, 1);
    fake_cuda_is_there = true;
    return autotune_profile_open(&profile, small, NULL) != AUTOTUNE_OK ||
           autotune_device_described(&device, "h200", NULL) != AUTOTUNE_OK;
}

static int tear_down(void **state)
{
    char command[4096];

    (void)state;
    autotune_device_free(device);
    autotune_profile_free(profile);
    snprintf(command, sizeof command, "rm -r %s", cache);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fork_before_cuda),
        cmocka_unit_test(test_with_threads_inside),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
