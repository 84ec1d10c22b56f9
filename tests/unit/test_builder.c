/* SPDX-License-Identifier: Apache-2.0 */
/* The builder with the real NVRTC: kernels are built, a bad kernel does not fail the good ones in
 * its program, and the cache returns what was compiled. */
#include "base/clock.h"
#include "base/memory.h"
#include "kernel/builder.h"
#include "kernel/cache.h"
#include "kernel/compile_process.h"
#include "roles.h"
#include "space/space.h"
#include "system/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"

static const struct at_problem_kind kind = {.elem_size = 4, .axes = 1, .rows = 1};

static const char header[] = "// shared\n";

/* A family with one parameter N. Its kernel does not compile for N == 13. */
static const char source[] =
    "#if N == 13\n"
    "#error \"thirteen\"\n"
    "#endif\n"
    "extern \"C\" __global__ void transpose(float *dst, const float *src)\n"
    "{\n"
    "    __shared__ float tile[N];\n"
    "    tile[threadIdx.x % N] = src[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    dst[threadIdx.x] = tile[(threadIdx.x + 1) % N];\n"
    "}\n";

static struct at_param param = {.name = (char[]){"N"}};
static struct at_family family = {.name = (char[]){"sample"},
                                  .template_path = (char[]){"dir/sample.cu"},
                                  .source = (char *)source,
                                  .params = &param,
                                  .param_count = 1};

static char *folder;

static struct at_builder *open_builder(bool use_cache)
{
    const struct at_builder_options options = {.compute_capability = 90,
                                               .workers = 2,
                                               .header = header,
                                               .cache_folder = folder,
                                               .use_cache = use_cache};
    struct at_builder *builder;
    struct at_error err = {AT_OK, ""};
    char note[512];

    if (at_builder_open(&builder, &options, note, sizeof note, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_string_equal(note, "");
    return builder;
}

enum { FIRST = 8, LAST = 40 };

/* Build all values of N. Return how many compiled. */
static size_t build_all(struct at_builder *builder)
{
    size_t compiled = 0;
    int owners[LAST + 1];

    for (int n = FIRST; n <= LAST; n++) {
        const struct at_config config = {&family, {n}};

        owners[n] = n;
        at_builder_add(builder, &config, kind, &owners[n]);
    }
    while (at_builder_pending(builder) > 0) {
        struct at_built built;
        int n;

        assert_int_equal(at_builder_wait(builder, &built, NULL), AT_OK);
        n = *(int *)built.owner;
        if (n == 13) {
            assert_int_equal(built.outcome, AT_COMPILE);
            assert_null(built.program);
            assert_string_equal(built.message, "sample.cu(2): catastrophic error: #error "
                                               "directive: \"thirteen\"");
        } else {
            assert_int_equal(built.outcome, AT_CORRECT);
            assert_int_equal(built.resources.shared_bytes, 4 * n);
            assert_true(built.resources.registers > 0);
            assert_int_equal(built.resources.spill_bytes, 0);
            assert_non_null(memmem(built.program->image, built.program->size, built.entry,
                                   strlen(built.entry)));
            compiled++;
        }
        at_program_release(built.program);
    }
    return compiled;
}

/* ptxas has errors of its own; they must reach the user. */
static void test_refused_by_ptxas(void **state)
{
    struct at_builder *builder = open_builder(false);
    const struct at_config config = {&family, {1 << 20}};
    struct at_built built;

    (void)state;
    at_builder_add(builder, &config, kind, NULL);
    assert_int_equal(at_builder_wait(builder, &built, NULL), AT_OK);
    assert_int_equal(built.outcome, AT_COMPILE);
    assert_non_null(strstr(built.message, "ptxas error"));
    assert_non_null(strstr(built.message, "uses too much shared data"));
    at_builder_close(builder);
}

static void test_build(void **state)
{
    struct at_builder *builder = open_builder(false);

    (void)state;
    assert_int_equal(build_all(builder), LAST - FIRST);
    at_builder_close(builder);
}

/* A few configs share a program only if that is to save processor time. */
static void test_few_share(void **state)
{
    enum { FEW = 3 };
    static const struct {
        bool saves_time;
        size_t programs;
    } cases[] = {{false, FEW}, {true, 1}};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        const struct at_builder_options options = {.compute_capability = 90,
                                                   .workers = 2,
                                                   .header = header,
                                                   .saves_time = cases[i].saves_time};
        struct at_program *programs[FEW] = {NULL};
        struct at_builder *builder;
        size_t count = 0;

        assert_int_equal(at_builder_open(&builder, &options, NULL, 0, NULL), AT_OK);
        for (int n = 0; n < FEW; n++)
            at_builder_add(builder, &(struct at_config){&family, {FIRST + n}}, kind, NULL);
        for (size_t j = 0; j < FEW; j++) {
            struct at_built built;
            bool known = false;

            assert_int_equal(at_builder_wait(builder, &built, NULL), AT_OK);
            for (size_t k = 0; k < j; k++)
                known |= programs[k] == built.program;
            programs[j] = built.program;
            count += !known;
        }
        assert_int_equal(count, cases[i].programs);
        for (size_t j = 0; j < FEW; j++)
            at_program_release(programs[j]);
        at_builder_close(builder);
    }
}

/* The process is ended because it stands still, not because it computes for too long. */
static void test_compiler_stands_still(void **state)
{
    struct at_compile_process process = {.compute_capability = 90,
                                         .cpu_limit_s = 60,
                                         .idle_limit_ns = INT64_C(60000000000),
                                         .header = header};
    struct at_batch batch = {0};
    struct at_compile_reply reply;
    struct at_compiler compiler;

    (void)state;
    assert_int_equal(at_compile_process_hello(&process, &compiler, NULL), AT_OK);
    assert_int_equal(kill(process.worker.pid, SIGSTOP), 0);
    process.idle_limit_ns = 1000000;
    at_compile_process_give(&process, &batch);
    while (!at_compile_process_ready(&process))
        continue;
    assert_true(at_compile_process_take(&process, &batch, &reply));
    assert_int_equal(reply.end, AT_TOOK_LONG);
    assert_non_null(strstr(reply.message, "the compiler stood still"));
    assert_int_equal(process.worker.pid, 0);
}

static enum at_status open_nvrtc(struct at_nvrtc **nvrtc, int64_t compute_capability,
                                 struct at_error *err)
{
    return at_nvrtc_open(nvrtc, compute_capability, AT_IMAGE_CUBIN, err);
}

/* Wait until the deadline for two kernels, each in its own program, from another program's workers.
 * Return how many compiled. */
static size_t build_until(int64_t deadline_ns, const char *program)
{
    const struct at_builder_options options = {
        .compute_capability = 90,
        .workers = 1,
        .header = header,
        .batch_max = 1,
        .open_nvrtc = open_nvrtc,
        .program = program,
    };
    const struct at_config config[2] = {{&family, {8}}, {&family, {9}}};
    struct at_builder *builder;
    struct at_built built, first = {0};
    size_t compiled = 0;

    assert_int_equal(at_builder_open(&builder, &options, NULL, 0, NULL), AT_OK);
    for (size_t i = 0; i < AT_COUNT(config); i++)
        at_builder_add(builder, &config[i], kind, NULL);
    while (at_builder_wait_until(builder, &built, deadline_ns)) {
        assert_int_equal(built.outcome, AT_CORRECT);
        assert_ptr_not_equal(built.program, first.program);
        if (compiled++ == 0)
            first = built;
        else
            at_program_release(built.program);
    }
    at_program_release(first.program);
    at_builder_close(builder);
    return compiled;
}

static void test_deadline(void **state)
{
    int64_t late_ns = at_now_ns() + 60 * INT64_C(1000000000);

    (void)state;
    assert_int_equal(build_until(late_ns, "/proc/self/exe"), 2);
    assert_int_equal(build_until(1, "/proc/self/exe"), 0);
    assert_int_equal(build_until(late_ns, "/nowhere"), 0);
    assert_true(at_now_ns() < late_ns);
}

static size_t count_entries(const char *suffix)
{
    DIR *opened = opendir(folder);
    struct dirent *entry;
    size_t count = 0;

    while ((entry = readdir(opened)))
        count += strstr(entry->d_name, suffix) != NULL;
    closedir(opened);
    return count;
}

static void test_cache(void **state)
{
    struct at_builder *builder = open_builder(true);

    (void)state;
    assert_int_equal(build_all(builder), LAST - FIRST);
    at_builder_close(builder);
    assert_int_equal(count_entries(".kernel"), LAST - FIRST);
    assert_int_equal(count_entries(".aside"), 0);

    /* From the cache they are finished at once, without a step. */
    builder = open_builder(true);
    for (int n = FIRST; n <= LAST; n++) {
        const struct at_config config = {&family, {n}};
        struct at_built built;

        at_builder_add(builder, &config, kind, NULL);
        assert_int_equal(at_builder_take(builder, &built), n != 13);
        if (n != 13)
            at_program_release(built.program);
    }
    at_builder_close(builder); /* N == 13 is still waiting */
}

static bool is_cached(int n)
{
    struct at_builder *builder = open_builder(true);
    const struct at_config config = {&family, {n}};
    struct at_built built;
    bool cached;

    at_builder_add(builder, &config, kind, NULL);
    cached = at_builder_take(builder, &built);
    if (!cached)
        assert_int_equal(at_builder_wait(builder, &built, NULL), AT_OK);
    at_program_release(built.program);
    at_builder_close(builder);
    return cached;
}

/* Step until all workers are idle. */
static void settle(struct at_builder *builder)
{
    struct pollfd fds[2];

    do {
        poll(fds, at_builder_poll(builder, fds, AT_COUNT(fds)), 1000);
        assert_int_equal(at_builder_step(builder, NULL), AT_OK);
    } while (at_builder_idle(builder) < AT_COUNT(fds));
}

/* A precompiled config belongs to no owner. When it is added, it comes from the cache or from the
 * worker that compiles it. A failure counts only then. */
static void test_precompile(void **state)
{
    const struct at_config ready = {&family, {41}}, bad = {&family, {13}}, late = {&family, {42}},
                           dropped = {&family, {43}};
    struct at_builder *builder = open_builder(true);
    struct at_built built;
    int owner;

    (void)state;
    at_builder_precompile(builder, &ready, kind);
    at_builder_precompile(builder, &bad, kind);
    assert_int_equal(at_builder_idle(builder), 0);
    settle(builder);
    assert_int_equal(at_builder_pending(builder), 0);
    assert_false(at_builder_take(builder, &built));
    at_builder_add(builder, &ready, kind, &owner);
    assert_true(at_builder_take(builder, &built));
    assert_ptr_equal(built.owner, &owner);
    at_program_release(built.program);

    at_builder_precompile(builder, &late, kind);
    assert_int_equal(at_builder_step(builder, NULL), AT_OK); /* a worker is compiling it */
    at_builder_add(builder, &late, kind, &owner);
    assert_int_equal(at_builder_idle(builder), 1);
    assert_int_equal(at_builder_wait(builder, &built, NULL), AT_OK);
    assert_ptr_equal(built.owner, &owner);
    assert_int_equal(built.outcome, AT_CORRECT);
    at_program_release(built.program);
    assert_int_equal(at_builder_pending(builder), 0);

    at_builder_precompile(builder, &dropped, kind);
    at_builder_drop(builder);
    settle(builder);
    at_builder_close(builder);
    assert_false(is_cached(43));
}

enum { AHEAD = 6 };

struct watch {
    size_t wanted;
    int fd;
};

/* Write to the descriptor once the cache has the wanted number of kernels. */
static void *watch_cache(void *data)
{
    const struct watch *watch = data;

    while (count_entries(".kernel") < watch->wanted)
        usleep(10000);
    assert_int_equal(write(watch->fd, "", 1), 1);
    return NULL;
}

/* While something else is waited for, all that waits is compiled, not just one config a worker. */
static void test_work_until(void **state)
{
    struct at_builder *builder = open_builder(true);
    struct watch watch = {.wanted = count_entries(".kernel") + AHEAD};
    pthread_t watcher;
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    watch.fd = fds[1];
    assert_int_equal(pthread_create(&watcher, NULL, watch_cache, &watch), 0);
    for (int n = 61; n < 61 + AHEAD; n++)
        at_builder_precompile(builder, &(struct at_config){&family, {n}}, kind);
    at_builder_work_until(builder, fds[0], at_now_ns() + 60 * INT64_C(1000000000));
    for (int n = 61; n < 61 + AHEAD; n++)
        assert_true(at_builder_has(builder, &(struct at_config){&family, {n}}, kind));
    assert_int_equal(pthread_join(watcher, NULL), 0);
    close(fds[0]);
    close(fds[1]);
    at_builder_close(builder);
}

/* A config that was let go is no longer pending. A worker that is compiling it still puts it into
 * the cache. */
static void test_let_go(void **state)
{
    enum { CONFIGS = 6 };
    struct at_builder *builder = open_builder(true);
    struct at_config configs[CONFIGS];
    struct at_built built;
    size_t compiled = 0;

    (void)state;
    for (size_t i = 0; i < CONFIGS; i++) {
        configs[i] = (struct at_config){&family, {(int32_t)(51 + i)}};
        assert_false(at_builder_has(builder, &configs[i], kind));
        at_builder_add(builder, &configs[i], kind, NULL);
        if (i == 1) /* the workers compile the first ones, one each */
            assert_int_equal(at_builder_step(builder, NULL), AT_OK);
    }
    assert_int_equal(at_builder_let_go(builder), CONFIGS);
    assert_int_equal(at_builder_pending(builder), 0);
    settle(builder);
    assert_false(at_builder_take(builder, &built));
    for (size_t i = 0; i < CONFIGS; i++)
        compiled += at_builder_has(builder, &configs[i], kind);
    assert_int_equal(compiled, 2);
    at_builder_close(builder);
}

static void damage_files(const char *suffix, void (*damage)(const char *path))
{
    DIR *opened = opendir(folder);
    struct dirent *entry;

    while ((entry = readdir(opened))) {
        char *path = at_format("%s/%s", folder, entry->d_name);

        if (strstr(entry->d_name, suffix))
            damage(path);
        free(path);
    }
    closedir(opened);
}

static void flip_a_bit(const char *path)
{
    struct stat info;
    char byte;
    int fd = open(path, O_RDWR);

    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(pread(fd, &byte, 1, info.st_size - 1), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, info.st_size - 1), 1);
    close(fd);
}

static void cut_off(const char *path)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, info.st_size - 1), 0);
}

static void test_damaged_cache(void **state)
{
    static void (*const damages[])(const char *) = {flip_a_bit, cut_off};
    static const char *const suffixes[] = {".kernel", ".program"};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(damages); i++)
        for (size_t j = 0; j < AT_COUNT(suffixes); j++) {
            is_cached(20);
            assert_true(is_cached(20));
            damage_files(suffixes[j], damages[i]);
            assert_false(is_cached(20));
        }
}

/* A folder that other users can write could contain their code. */
static void test_open_folder(void **state)
{
    struct at_cubin_cache *cache = NULL;
    struct at_error err;

    (void)state;
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(at_cubin_cache_open(&cache, folder, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "another user"));
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(at_cubin_cache_open(&cache, folder, &err), AT_OK);
    at_cubin_cache_close(cache);
}

/* The key depends on the source: another source has another key. */
static void test_key(void **state)
{
    struct at_family other = family;

    (void)state;
    assert_true(is_cached(20) || is_cached(20));
    other.source = at_format("%s// changed\n", source);
    {
        struct at_builder *builder = open_builder(true);
        const struct at_config config = {&other, {20}};
        struct at_built built;

        at_builder_add(builder, &config, kind, NULL);
        assert_false(at_builder_take(builder, &built));
        at_builder_close(builder);
    }
    free(other.source);
}

static int open_folder(void **state)
{
    int failed = make_folder(state);

    folder = *state;
    return failed;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build),
        cmocka_unit_test(test_few_share),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_compiler_stands_still),
        cmocka_unit_test(test_refused_by_ptxas),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_precompile),
        cmocka_unit_test(test_work_until),
        cmocka_unit_test(test_let_go),
        cmocka_unit_test(test_damaged_cache),
        cmocka_unit_test(test_open_folder),
        cmocka_unit_test(test_key),
    };
    int exit_code;

    /* The builder starts its workers from this program. */
    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
