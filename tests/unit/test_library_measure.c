/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that measure, with a driver whose kernels take the times that a test gives them. */
#include "fake_cuda.h"
#include "library_measure.h"

#include <dlfcn.h>
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "sample.h"

/* Replaces the C library's clock: with `clock_follows`, only what kernels take passes. */
static bool clock_follows;

int clock_gettime(clockid_t which, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    if (!clock_follows || which != CLOCK_MONOTONIC)
        return real(which, now);
    now->tv_sec = 1000 + fake_cuda_now_ns / 1000000000;
    now->tv_nsec = fake_cuda_now_ns % 1000000000;
    return 0;
}

static autotune_profile *profile;

/* ---- scripts: kernels in the order in which a plan finds them ---- */

static int kernels; /* that the ample plan finds */
static int others;  /* the number of the first that is not the looked-up one or its stand-in for any
                     * address */

static void begin(void)
{
    autotune_wisdom_forget();
    autotune_clear();
    fake_cuda_forget();
    for (int i = 0; i < FAKE_CUDA_KERNELS_MAX; i++)
        fake_cuda_kernels[i] = (struct fake_cuda_kernel){.ns = 20000};
}

static void end(autotune_plan *plan)
{
    autotune_plan_free(plan);
    autotune_clear();
    assert_int_equal(fake_cuda_modules, 0);
    assert_int_equal(fake_cuda_held, 0);
}

/* Which kernel does the plan start? */
static int started(const autotune_plan *plan)
{
    int before[FAKE_CUDA_KERNELS_MAX];

    for (int i = 0; i < kernels; i++)
        before[i] = fake_cuda_kernels[i].launches;
    assert_int_equal(autotune_plan_execute(plan, (void *)4096, (void *)0x10000000000, NULL, NULL),
                     AUTOTUNE_OK);
    for (int i = 0; i < kernels; i++)
        if (fake_cuda_kernels[i].launches != before[i])
            return i;
    return -1;
}

/* Does the profile that what was learnt makes have the words? */
static bool wisdom_says(const char *words)
{
    char path[4096], text[16384];
    FILE *file;
    size_t size;

    snprintf(path, sizeof path, "%s/said.yaml", measure_folder);
    assert_int_equal(autotune_wisdom_save(path, NULL), AUTOTUNE_OK);
    file = fopen(path, "r");
    assert_non_null(file);
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    fclose(file);
    unlink(path);
    if (strstr(text, words))
        return true;
    fprintf(stderr, "\"%s\" is not in:\n%s", words, text);
    return false;
}

/* The first plan: compiles all kernels. Finds out how many there are. */
static void test_all(void **state)
{
    autotune_plan *plan;

    (void)state;
    begin();
    plan = measure_plan(profile, NULL);
    others = fake_cuda_kernel_count;
    assert_int_equal(fake_cuda_allocations, 0);
    end(plan);
    begin();
    plan = measure_plan(profile, &measure_amply);
    kernels = fake_cuda_kernel_count;
    assert_true(kernels >= others + 3);
    assert_int_equal(started(plan), 0); /* all are alike, so the looked-up one stays */
    assert_true(measure_says(plan, "  measured   20.000 us, the best of "));
    end(plan);
}

static void test_fastest(void **state)
{
    (void)state;
    for (int fastest = others; fastest < kernels; fastest++) {
        autotune_plan *plan;

        begin();
        fake_cuda_kernels[fastest].ns = 15000;
        fake_cuda_kernels[fastest == others ? kernels - 1 : others].ns = 16000;
        plan = measure_plan(profile, &measure_amply);
        assert_int_equal(started(plan), fastest);
        assert_true(measure_says(plan, "  measured   15.000 us"));
        assert_true(measure_says(plan, "the looked-up one took 20.000 us"));
        end(plan);
    }
}

/* Problems with steps are measured, too: their tables of values lie in device memory. The driver
 * cannot compute, so what is learnt has the copy of a kernel. */
static void test_steps(void **state)
{
    static const char *const steps[] = {"f32:bf16", "f32,alpha,beta"};

    (void)state;
    for (size_t i = runs_whole() ? 0 : 1; i < sizeof steps / sizeof *steps; i++) {
        const autotune_problem problem = {.elem_size = 4,
                                          .rows = 6000,
                                          .cols = 6000,
                                          .struct_size = sizeof problem,
                                          .step = steps[i]};
        autotune_plan *plan = NULL;
        autotune_error *error = NULL;
        int allocations = fake_cuda_allocations;

        begin();
        if (autotune_plan_create_with(&plan, profile, &problem, &measure_amply, &error) !=
            AUTOTUNE_OK)
            fail_msg("%s", autotune_error_message(error));
        assert_true(fake_cuda_allocations > allocations);
        assert_true(measure_says(plan, "  measured   20.000 us, the best of "));
        assert_true(wisdom_says("method: copy ITEMS="));
        end(plan);
    }
}

/* Blocks are measured, too, unless the CPUs would take longer for the expected results than there
 * is time. */
static void test_blocks(void **state)
{
    static const struct {
        int64_t rows, measure_ms;
        bool measures;
        const char *says;
    } cases[] = {
        {1024, 100000, true, "  measured   20.000 us, the best of "},
        {30720, 500, false, "nothing: too little time or device memory"},
    };
    char path[4096];
    autotune_profile *tuned;

    (void)state;
    snprintf(path, sizeof path, "%s/tests/data/blocks-profile.yaml", getenv("AUTOTUNE_DATADIR"));
    tuned = measure_open(path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const autotune_problem problem = {.elem_size = 2,
                                          .rows = cases[i].rows,
                                          .cols = 1024,
                                          .struct_size = sizeof problem,
                                          .step = "bf16:e4m3,both,blocks=1x128"};
        const autotune_plan_options options = {.measure_ms = cases[i].measure_ms};
        autotune_plan *plan = NULL;
        autotune_error *error = NULL;
        int allocations = fake_cuda_allocations;

        begin();
        if (autotune_plan_create_with(&plan, tuned, &problem, &options, &error) != AUTOTUNE_OK)
            fail_msg("%s", autotune_error_message(error));
        assert_true(measure_says(plan, cases[i].says));
        assert_int_equal(fake_cuda_allocations > allocations, cases[i].measures);
        end(plan);
    }
    autotune_profile_free(tuned);
}

/* A rival that is faster by a fifth of a percent does not win; by one percent it does. */
static void test_tie(void **state)
{
    static const int64_t ns[][2] = {{19960, 0}, {19800, 1}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        autotune_plan *plan;

        begin();
        fake_cuda_kernels[others].ns = ns[i][0];
        plan = measure_plan(profile, &measure_amply);
        assert_int_equal(started(plan), ns[i][1] ? others : 0);
        end(plan);
    }
}

/* The fastest is wrong, so the next wins; a wrong kernel is not timed. */
static void test_wrong(void **state)
{
    autotune_plan *plan;

    (void)state;
    begin();
    fake_cuda_kernels[others].ns = 5000;
    fake_cuda_kernels[others].wrong = true;
    fake_cuda_kernels[others + 1].ns = 10000;
    plan = measure_plan(profile, &measure_amply);
    assert_int_equal(started(plan), others + 1);
    assert_in_range(fake_cuda_kernels[others].launches, 1, 2); /* the checks' */
    end(plan);
}

static void test_looked_up_wrong(void **state)
{
    autotune_plan *plan = NULL;
    autotune_error *error = NULL;

    (void)state;
    begin();
    fake_cuda_kernels[0].wrong = true;
    plan = measure_plan(profile, &measure_amply);
    assert_true(started(plan) > 0);
    end(plan);
    begin();
    for (int i = 0; i < kernels; i++)
        fake_cuda_kernels[i].wrong = true;
    assert_int_equal(
        autotune_plan_create_with(&plan, profile, &measure_problem, &measure_amply, &error),
        AUTOTUNE_FAILED);
    assert_non_null(strstr(autotune_error_message(error), "wrong results"));
    autotune_error_free(error);
    end(NULL);
}

static void test_lost_context(void **state)
{
    autotune_plan *plan = NULL;
    autotune_error *error = NULL;

    (void)state;
    begin();
    fake_cuda_kernels[others].crashes = 700; /* CUDA_ERROR_ILLEGAL_ADDRESS */
    assert_int_equal(
        autotune_plan_create_with(&plan, profile, &measure_problem, &measure_amply, &error),
        AUTOTUNE_NO_DEVICE);
    assert_null(plan);
    autotune_error_free(error);
    end(NULL);
}

/* Without a budget a plan does exactly what autotune_plan_create does. */
static void test_no_budget(void **state)
{
    static const autotune_plan_options none = {.measure_ms = 0};
    autotune_plan *plan = NULL;
    int calls[2], before;

    (void)state;
    for (int i = 0; i < 2; i++) {
        begin();
        fake_cuda_kernels[others].ns = 1000;
        before = fake_cuda_calls;
        if (i == 0)
            assert_int_equal(autotune_plan_create(&plan, profile, &measure_problem, NULL),
                             AUTOTUNE_OK);
        else
            plan = measure_plan(profile, &none);
        calls[i] = fake_cuda_calls - before;
        assert_int_equal(fake_cuda_kernel_count, others);
        assert_int_equal(fake_cuda_kernels[0].launches, 0);
        assert_int_equal(started(plan), 0);
        end(plan);
    }
    assert_int_equal(calls[0], calls[1]);
}

/* A second plan with a budget takes what the first has found; one without looks up as ever. */
static void test_remembered(void **state)
{
    autotune_plan *plan;
    int launches, fastest = others + 1;

    (void)state;
    begin();
    fake_cuda_kernels[fastest].ns = 10000;
    end(measure_plan(profile, &measure_amply));
    launches = fake_cuda_launches;
    plan = measure_plan(profile, &measure_amply);
    assert_int_equal(fake_cuda_launches, launches);
    assert_int_equal(started(plan), fastest);
    assert_true(measure_says(plan, "measured in this process"));
    end(plan);
    plan = measure_plan(profile, NULL);
    assert_int_equal(started(plan), 0);
    end(plan);
    autotune_wisdom_forget();
    launches = fake_cuda_launches;
    end(measure_plan(profile, &measure_amply));
    assert_true(fake_cuda_launches > launches);
}

/* ---- budgets ---- */

/* With kernels of a second, 1.5 s are over after the first; 1000 s suffice for all. */
static void test_clock(void **state)
{
    static const struct {
        int64_t budget_ms;
        const char *says;
        int most_launches; /* of the looked-up kernel */
    } cases[] = {
        {1500, "  measured   nothing: too little time or device memory", 8},
        {40000, "  measured   ", 100}, /* it ends between two rounds */
        {1000000, "  measured   1000000.000 us, the best of ", 100},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const autotune_plan_options options = {.measure_ms = cases[i].budget_ms, .policy = "warm"};
        int64_t began_ns = fake_cuda_now_ns;
        autotune_plan *plan;

        begin();
        for (int k = 0; k < kernels; k++)
            fake_cuda_kernels[k].ns = 1000000000;
        clock_follows = true;
        plan = measure_plan(profile, &options);
        clock_follows = false;
        assert_true(measure_says(plan, cases[i].says));
        assert_in_range(fake_cuda_kernels[0].launches, 1, cases[i].most_launches);
        /* a kernel that has begun is not stopped: the first one is verified and estimated */
        assert_true(fake_cuda_now_ns - began_ns < (cases[i].budget_ms + 8000) * 1000000);
        end(plan);
    }
}

/* With kernels of a second, five rounds of all would take longer than this. Slower ones leave, so
 * the last one is found to be the fastest. */
static void test_halving(void **state)
{
    const autotune_plan_options options = {.measure_ms = 10000 * kernels, .policy = "warm"};
    int64_t began_ns = fake_cuda_now_ns;
    int slowest = others;
    autotune_plan *plan;

    (void)state;
    begin();
    for (int i = 0; i < kernels; i++)
        fake_cuda_kernels[i].ns = 1000000000 - (int64_t)i * 10000000;
    clock_follows = true;
    plan = measure_plan(profile, &options);
    clock_follows = false;
    assert_true(fake_cuda_now_ns - began_ns < options.measure_ms * 1000000);
    assert_int_equal(started(plan), kernels - 1);
    assert_in_range(fake_cuda_kernels[slowest].launches, 1,
                    fake_cuda_kernels[kernels - 1].launches / 2);
    end(plan);
}

/* Not even the buffers could be filled in this time, so they are not allocated. */
static void test_no_time(void **state)
{
    const autotune_plan_options options = {.measure_ms = 1};
    int allocations = fake_cuda_allocations;
    autotune_plan *plan;

    (void)state;
    begin();
    clock_follows = true;
    plan = measure_plan(profile, &options);
    clock_follows = false;
    assert_true(measure_says(plan, "  measured   nothing: too little time or device memory"));
    assert_int_equal(fake_cuda_allocations, allocations);
    end(plan);
}

static void use_cache(const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", measure_folder, name);
    setenv("XDG_CACHE_HOME", path, 1);
}

/* Compilers that never answer are killed; the plan is as without a budget. */
static void test_hanging_compiler(void **state)
{
    static const char *const scripts[] = {"exec sleep 1000", "exit 1", "echo nonsense >&0"};
    const autotune_plan_options options = {.measure_ms = 400};
    char program[4096], *usual = strdup(getenv("AUTOTUNE_PROGRAM"));

    (void)state;
    snprintf(program, sizeof program, "%s/compiler", measure_folder);
    setenv("AUTOTUNE_PROGRAM", program, 1);
    use_cache("another-cache");
    for (size_t i = 0; i <= sizeof scripts / sizeof *scripts; i++) {
        FILE *out = i > 0 ? fopen(program, "w") : NULL; /* at first there is none */
        struct timespec began, ended;
        autotune_plan *plan;

        if (out) {
            fprintf(out, "#!/bin/sh\n%s\n", scripts[i - 1]);
            fclose(out);
            chmod(program, 0755);
        }
        begin();
        end(measure_plan(profile, NULL)); /* compiles what every plan compiles */
        clock_gettime(CLOCK_MONOTONIC, &began);
        plan = measure_plan(profile, &options);
        clock_gettime(CLOCK_MONOTONIC, &ended);
        assert_true(ended.tv_sec - began.tv_sec < 60); /* not the 1000 s of the compiler */
        assert_true(measure_says(plan, "  measured   nothing: of "));
        assert_int_equal(started(plan), 0);
        end(plan);
    }
    setenv("AUTOTUNE_PROGRAM", usual, 1);
    use_cache("cache");
    free(usual);
}

/* ---- memory ---- */

/* In the caller's memory nothing is allocated; where it is too small, nothing is measured. */
static void test_scratch(void **state)
{
    enum { LARGE = 512 << 20, SMALL = 4096 };
    void *scratch = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    static const struct {
        int64_t bytes;
        const char *says;
    } cases[] = {{LARGE, "  measured   20.000 us"}, {SMALL, "  measured   nothing: too little"}};

    (void)state;
    assert_ptr_not_equal(scratch, MAP_FAILED);
    for (size_t i = 0; i < 2; i++) {
        const autotune_plan_options options = {
            .measure_ms = 600000, .scratch = scratch, .scratch_bytes = cases[i].bytes};
        int allocations = fake_cuda_allocations;
        autotune_plan *plan;

        begin();
        plan = measure_plan(profile, &options);
        assert_int_equal(fake_cuda_allocations, allocations);
        assert_true(measure_says(plan, cases[i].says));
        end(plan);
    }
    munmap(scratch, LARGE);
}

static void test_bad_options(void **state)
{
    static const struct {
        autotune_plan_options options;
        const char *words;
    } cases[] = {
        {{.measure_ms = -1}, "measure_ms is -1"},
        {{.measure_ms = INT64_MAX}, "measure_ms"},
        {{.policy = "tepid"}, "cold, warm"},
        {{.scratch = (void *)4096}, "scratch_bytes"},
        {{.scratch_bytes = 4096}, "scratch_bytes"},
        {{.scratch = (void *)4097, .scratch_bytes = 4096}, "multiple of 256"},
        {{.struct_size = 8}, "struct_size of autotune_plan_options"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_plan *plan = NULL;
        autotune_error *error = NULL;

        assert_int_equal(
            autotune_plan_create_with(&plan, profile, &measure_problem, &cases[i].options, &error),
            AUTOTUNE_INVALID);
        assert_null(plan);
        if (!strstr(autotune_error_message(error), cases[i].words))
            fail_msg("%s", autotune_error_message(error));
        autotune_error_free(error);
    }
}

/* ---- threads ---- */

/* A plan that a thread makes. */
struct order {
    int device;
    int64_t rows;
    const autotune_plan_options *options;
    pthread_t thread;
    autotune_plan *plan; /* NULL: not made */
};

static void *make_plan(void *data)
{
    struct order *order = data;
    const autotune_problem problem = {.elem_size = 4, .rows = order->rows, .cols = 6000};
    autotune_error *error = NULL;

    fake_cuda_device = order->device;
    fake_cuda_context = &fake_cuda_contexts[order->device];
    if (autotune_plan_create_with(&order->plan, profile, &problem, order->options, &error) !=
        AUTOTUNE_OK)
        fprintf(stderr, "%s\n", autotune_error_message(error));
    autotune_error_free(error);
    return NULL;
}

static void start(struct order *order)
{
    assert_int_equal(pthread_create(&order->thread, NULL, make_plan, order), 0);
}

static void finish(struct order *order, const char *says)
{
    pthread_join(order->thread, NULL);
    assert_non_null(order->plan);
    assert_true(measure_says(order->plan, says));
    autotune_plan_free(order->plan);
}

static const char says_measured[] = "  measured   20.000 us", says_known[] = "in this process";

/* While a thread measures, all plans are made but those that measure on the same device. */
static void test_meanwhile(void **state)
{
    struct order measuring = {.rows = 6016, .options = &measure_amply},
                 waiting = {.rows = 6032, .options = &measure_amply},
                 plain[] = {{.rows = 6016}, {.rows = 8192}, {.device = 1, .rows = 6016}},
                 known = {.rows = 6000, .options = &measure_amply},
                 elsewhere = {.device = 1, .rows = 6048, .options = &measure_amply};
    autotune_device *device = NULL;
    char path[4096];

    (void)state;
    begin();
    end(measure_plan(profile, &measure_amply));
    fake_cuda_stop(0, FAKE_CUDA_RUN);
    start(&measuring);
    fake_cuda_await();
    start(&waiting);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        start(&plain[i]);
        finish(&plain[i], "launch");
    }
    start(&known);
    finish(&known, says_known);
    start(&elsewhere);
    finish(&elsewhere, says_measured);
    assert_int_equal(autotune_device_current(&device, NULL), AUTOTUNE_OK);
    autotune_device_free(device);
    snprintf(path, sizeof path, "%s/meanwhile.yaml", measure_folder);
    assert_int_equal(autotune_wisdom_save(path, NULL), AUTOTUNE_OK);
    assert_int_equal(fake_cuda_go(), 1); /* only one thread ran a kernel there */
    finish(&measuring, says_measured);
    finish(&waiting, says_measured);
    end(NULL);
}

/* What a plan takes from those before it stays until the plan is made. */
static void test_forgotten_meanwhile(void **state)
{
    struct order known = {.rows = 6000, .options = &measure_amply};

    (void)state;
    begin();
    end(measure_plan(profile, &measure_amply));
    fake_cuda_stop(0, FAKE_CUDA_LOAD);
    start(&known);
    fake_cuda_await();
    autotune_wisdom_forget();
    assert_int_equal(fake_cuda_go(), 1);
    finish(&known, says_known);
    end(NULL);
}

enum { THREADS = 4 };

/* One thread measures, and all others wait and take what it found, on devices of that model. */
static void test_measured_once(void **state)
{
    struct order orders[3 * THREADS],
        other = {.device = FAKE_CUDA_OTHER_MODEL, .rows = 6000, .options = &measure_amply};
    const size_t count = sizeof orders / sizeof *orders;
    autotune_plan *plan;
    int once, fastest = others;

    (void)state;
    begin();
    fake_cuda_kernels[fastest].ns = 10000;
    end(measure_plan(profile, &measure_amply));
    once = fake_cuda_kernels[fastest].launches;
    begin();
    fake_cuda_kernels[fastest].ns = 10000;
    for (size_t i = 0; i < count; i++) {
        orders[i] = (struct order){
            .device = (int)i % FAKE_CUDA_OTHER_MODEL, .rows = 6000, .options = &measure_amply};
        start(&orders[i]);
    }
    for (size_t i = 0; i < count; i++)
        finish(&orders[i], "launch");
    assert_int_equal(fake_cuda_kernels[fastest].launches, once);
    plan = measure_plan(profile, &measure_amply);
    assert_int_equal(started(plan), fastest);
    start(&other);
    finish(&other, "  tier       3 of 6");
    end(plan);
}

/* Replaces the C library's function, with which a compiled kernel comes into the cache. */
static atomic_int cached;

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    cached += strstr(to, ".kernel") != NULL;
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

/* One thread compiles, and all others wait and take its kernels from the cache. */
static void test_compiled_once(void **state)
{
    struct order orders[THREADS] = {{.device = 0}};

    (void)state;
    use_cache("cold-cache");
    begin();
    cached = 0;
    for (int i = 0; i < THREADS; i++) {
        orders[i].rows = 6000;
        start(&orders[i]);
    }
    for (int i = 0; i < THREADS; i++)
        finish(&orders[i], "launch");
    assert_int_equal(cached, others);
    use_cache("cache");
    end(NULL);
}

/* ---- all at once; AUTOTUNE_TEST_ROUNDS says for how long ---- */

static atomic_int failures;
static int rounds = 10;

static void *do_all(void *number)
{
    static const char *const policies[] = {"cold", "warm"};
    int thread = (int)(intptr_t)number;
    char path[4096], text[8192];

    snprintf(path, sizeof path, "%s/all-at-once.yaml", measure_folder);
    for (int i = 0; i < rounds; i++) {
        const autotune_plan_options options = {.measure_ms = (thread + i) % 3 ? 100000 : 0,
                                               .policy = policies[i % 2]};
        struct order order = {
            .device = thread % 2, .rows = 6000 + 16 * (i % 4), .options = &options};

        make_plan(&order);
        failures += !order.plan || autotune_plan_describe(order.plan, text, sizeof text) == 0 ||
                    autotune_plan_execute(order.plan, (void *)4096, (void *)0x10000000000, NULL,
                                          NULL) != AUTOTUNE_OK;
        autotune_plan_free(order.plan);
        if (i % 5 == thread % 5)
            failures += autotune_wisdom_save(path, NULL) != AUTOTUNE_OK;
        if (i % 8 == thread)
            autotune_wisdom_forget();
    }
    return NULL;
}

static void test_all_at_once(void **state)
{
    const char *asked = getenv("AUTOTUNE_TEST_ROUNDS");
    pthread_t threads[2 * THREADS];

    (void)state;
    if (asked)
        rounds = atoi(asked);
    begin();
    for (intptr_t i = 0; i < 2 * THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, do_all, (void *)i), 0);
    for (int i = 0; i < 2 * THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failures, 0);
    end(NULL);
}

static int set_up(void **state)
{
    measure_set_up();
    *state = profile = measure_open(NULL);
    return 0;
}

/* The others need what the first finds out. */
static int need_kernels(void **state)
{
    (void)state;
    if (kernels == 0)
        fprintf(stderr, "skipped: no kernels were compiled\n");
    return kernels == 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test_setup(test_fastest, need_kernels),
        cmocka_unit_test_setup(test_steps, need_kernels),
        cmocka_unit_test_setup(test_blocks, need_kernels),
        cmocka_unit_test_setup(test_tie, need_kernels),
        cmocka_unit_test_setup(test_wrong, need_kernels),
        cmocka_unit_test_setup(test_looked_up_wrong, need_kernels),
        cmocka_unit_test_setup(test_lost_context, need_kernels),
        cmocka_unit_test_setup(test_no_budget, need_kernels),
        cmocka_unit_test_setup(test_remembered, need_kernels),
        cmocka_unit_test_setup(test_clock, need_kernels),
        cmocka_unit_test_setup(test_halving, need_kernels),
        cmocka_unit_test_setup(test_no_time, need_kernels),
        cmocka_unit_test_setup(test_hanging_compiler, need_kernels),
        cmocka_unit_test_setup(test_scratch, need_kernels),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test_setup(test_meanwhile, need_kernels),
        cmocka_unit_test_setup(test_forgotten_meanwhile, need_kernels),
        cmocka_unit_test_setup(test_measured_once, need_kernels),
        cmocka_unit_test_setup(test_compiled_once, need_kernels),
        cmocka_unit_test_setup(test_all_at_once, need_kernels),
    };

    return cmocka_run_group_tests(tests, set_up, measure_tear_down);
}
