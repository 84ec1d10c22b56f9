/* SPDX-License-Identifier: Apache-2.0 */
/* libautotune without memory: each allocation of each call fails in turn, alone and with all that
 * follow. The call must fail with the right status and leave nothing allocated; then it must work
 * again.
 *
 * AUTOTUNE_TEST_FAULTS is how many allocations of each scenario fail at least, if it has as many.
 */
#include "answer_info.h"
#include "base/rng.h"
#include "fail_alloc.h"
#include "fake_cuda.h"
#include "lib/autotune.h"
#include "sample.h"
#include "skipped.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "source_tree.h"

/* The result of a call: an answer as text, or an error's message. */
struct result {
    autotune_status status;
    char text[8192];
};

struct scenario {
    const char *name;
    void (*run)(const struct scenario *scenario, struct result *result);
    const char *subject;      /* a file, a device or a policy */
    autotune_problem problem; /* to look up */
    const char *profile;      /* to look it up in */
    autotune_status status;   /* without a fault */
    autotune_tier tier;       /* of the answer */
    size_t sampled; /* about as many allocations fail each way, in a sample half; 0: all */
    bool fresh;     /* every time in a process that has not called the library yet */
};

static char folder[] = "/tmp/autotune-test-memory-XXXXXX";
static char shipped[4096], small[4096], own_data[4096], source_data[4096], cache[4096];
static size_t failing;
static bool onwards;
static size_t counted; /* allocations of the last call */
static pid_t tester;

/* ---- a call with a fault ---- */

static void begin(void)
{
    fail_alloc_begin(failing, onwards);
}

static void end(void)
{
    counted = fail_alloc_end();
    dlerror(); /* The loader keeps its last message until the next call. */
    dlerror();
}

/* Outputs begin with this value, which shows whether a call has changed them. */
static char untouched;

static void take_failure(struct result *result, const void *output, autotune_error *error)
{
    assert_ptr_equal(output, &untouched);
    assert_non_null(error);
    assert_int_equal(autotune_error_status(error), result->status);
    snprintf(result->text, sizeof result->text, "%s", autotune_error_message(error));
    assert_true(strlen(result->text) > 0);
    autotune_error_free(error);
}

static autotune_profile *open_unharmed(const char *path)
{
    autotune_profile *profile = NULL;
    autotune_error *error = NULL;

    if (autotune_profile_open(&profile, path, &error) != AUTOTUNE_OK)
        fail_msg("%s", autotune_error_message(error));
    return profile;
}

/* Profiles are opened once, since no call changes them. */
static const autotune_profile *profile_at(const char *path)
{
    static autotune_profile *profiles[2];
    int which = path == small;

    if (!profiles[which])
        profiles[which] = open_unharmed(path);
    return profiles[which];
}

static autotune_device *device_called(const char *name)
{
    autotune_device *device = NULL;

    assert_int_equal(autotune_device_described(&device, name, NULL), AUTOTUNE_OK);
    return device;
}

/* ---- scenarios ---- */

static void open_path(const char *path, const struct scenario *scenario, struct result *result)
{
    autotune_profile *profile = (void *)&untouched;
    autotune_error *error = NULL;
    autotune_device *device;
    autotune_answer *answer;

    begin();
    result->status = autotune_profile_open(&profile, path, &error);
    end();
    if (result->status != AUTOTUNE_OK) {
        take_failure(result, profile, error);
        return;
    }
    assert_null(autotune_profile_skipped(profile, 0));
    device = device_called("h100");
    assert_int_equal(autotune_lookup(&answer, profile, device, &scenario->problem, NULL, NULL),
                     AUTOTUNE_OK);
    autotune_answer_describe(answer, result->text, sizeof result->text);
    autotune_answer_free(answer);
    autotune_device_free(device);
    autotune_profile_free(profile);
}

/* The subject is a file of the source tree. */
static void open_profile(const struct scenario *scenario, struct result *result)
{
    char path[8192];

    snprintf(path, sizeof path, "%s/%s", source_data, scenario->subject ? scenario->subject : "");
    open_path(scenario->subject ? path : NULL, scenario, result);
}

/* The subject is a file of the build tree. */
static void open_refused(const struct scenario *scenario, struct result *result)
{
    open_path(scenario->subject, scenario, result);
}

static void describe_device(const struct scenario *scenario, struct result *result)
{
    autotune_device *device = (void *)&untouched;
    autotune_error *error = NULL;

    begin();
    result->status = autotune_device_described(&device, scenario->subject, &error);
    end();
    if (result->status != AUTOTUNE_OK) {
        take_failure(result, device, error);
        return;
    }
    snprintf(result->text, sizeof result->text, "%s", autotune_device_name(device));
    autotune_device_free(device);
}

static void make_device(const struct scenario *scenario, struct result *result)
{
    autotune_device_numbers numbers = autotune_device_numbers_init();
    autotune_device *device = (void *)&untouched;
    autotune_error *error = NULL;

    numbers.name = scenario->subject;
    numbers.compute_capability = 90;
    numbers.multiprocessors = 132;
    numbers.memory_bytes = INT64_C(1) << 37;
    numbers.l2_bytes = INT64_C(1) << 26;
    begin();
    result->status = autotune_device_make(&device, &numbers, &error);
    end();
    if (result->status != AUTOTUNE_OK) {
        take_failure(result, device, error);
        return;
    }
    snprintf(result->text, sizeof result->text, "%s", autotune_device_name(device));
    autotune_device_free(device);
}

static void find_current_device(const struct scenario *scenario, struct result *result)
{
    autotune_device *device = (void *)&untouched;
    autotune_error *error = NULL;

    fake_cuda_is_there = scenario->subject != NULL;
    begin();
    result->status = autotune_device_current(&device, &error);
    end();
    if (result->status != AUTOTUNE_OK) {
        take_failure(result, device, error);
        return;
    }
    snprintf(result->text, sizeof result->text, "%s", autotune_device_name(device));
    autotune_device_free(device);
}

static void look_up(const struct scenario *scenario, struct result *result)
{
    const autotune_profile *profile = profile_at(scenario->profile);
    autotune_device *device = device_called(scenario->subject);
    autotune_answer *answer = (void *)&untouched;
    autotune_error *error = NULL;

    begin();
    result->status = autotune_lookup(&answer, profile, device, &scenario->problem, NULL, &error);
    end();
    if (result->status == AUTOTUNE_OK) {
        assert_int_equal(info_of(answer).tier, scenario->tier);
        autotune_answer_describe(answer, result->text, sizeof result->text);
        autotune_answer_free(answer);
    } else {
        take_failure(result, answer, error);
    }
    autotune_device_free(device);
}

static void check_answer(const struct scenario *scenario, struct result *result)
{
    autotune_device *device = device_called(scenario->subject);
    autotune_answer *answer = NULL;
    autotune_error *error = NULL;

    assert_int_equal(autotune_lookup(&answer, profile_at(scenario->profile), device,
                                     &scenario->problem, NULL, NULL),
                     AUTOTUNE_OK);
    begin();
    result->status = autotune_answer_check_device(answer, &error);
    end();
    if (result->status != AUTOTUNE_OK)
        take_failure(result, &untouched, error);
    autotune_answer_free(answer);
    autotune_device_free(device);
}

/* These have no status: without memory the text is "". */
static void write_answer(const struct scenario *scenario, struct result *result)
{
    size_t (*write)(const autotune_answer *, char *, size_t) =
        scenario->subject ? autotune_answer_json : autotune_answer_describe;
    autotune_device *device = device_called("h100");
    autotune_answer *answer = NULL;
    size_t length;

    assert_int_equal(autotune_lookup(&answer, profile_at(scenario->profile), device,
                                     &scenario->problem, NULL, NULL),
                     AUTOTUNE_OK);
    strcpy(result->text, "what was there before");
    begin();
    length = write(answer, result->text, sizeof result->text);
    end();
    assert_int_equal(length, strlen(result->text));
    if (length == 0) {
        result->status = AUTOTUNE_NO_MEMORY;
        strcpy(result->text, "out of memory");
    }
    autotune_answer_free(answer);
    autotune_device_free(device);
}

/* With or without a cache. The second call of a process finds the driver and NVRTC open. */
static void create_plan(const struct scenario *scenario, struct result *result)
{
    const autotune_profile *profile = profile_at(scenario->profile);
    autotune_plan *plan = (void *)&untouched;
    autotune_error *error = NULL;
    int launches = fake_cuda_launches;

    fake_cuda_is_there = true;
    setenv("XDG_CACHE_HOME", scenario->subject ? scenario->subject : "/proc/no-folder", 1);
    begin();
    result->status = autotune_plan_create(&plan, profile, &scenario->problem, &error);
    end();
    if (result->status != AUTOTUNE_OK) {
        take_failure(result, plan, error);
        autotune_clear();
        assert_int_equal(fake_cuda_modules, 0);
        return;
    }
    autotune_plan_describe(plan, result->text, sizeof result->text);
    assert_int_equal(autotune_plan_execute(plan, (void *)4096, (void *)0x10000000000, NULL, NULL),
                     AUTOTUNE_OK);
    assert_int_equal(autotune_plan_execute(plan, (void *)4100, (void *)0x10000000000, NULL, NULL),
                     AUTOTUNE_OK);
    assert_int_equal(fake_cuda_launches, launches + 2);
    autotune_plan_free(plan);
    autotune_clear();
    assert_int_equal(fake_cuda_modules, 0);
}

/* The kernels come from the cache, but for the first run. */
static const autotune_plan_options ample = {.measure_ms = 600000};
static const autotune_plan_options adapts = {
    .measure_ms = 600000, .struct_size = sizeof adapts, .flags = AUTOTUNE_ADAPT};

static void measure_plan(const struct scenario *scenario, struct result *result)
{
    const autotune_profile *profile = profile_at(scenario->profile);
    autotune_plan *plan = (void *)&untouched;
    autotune_error *error = NULL;

    fake_cuda_is_there = true;
    setenv("XDG_CACHE_HOME", cache, 1);
    begin();
    result->status = autotune_plan_create_with(&plan, profile, &scenario->problem,
                                               scenario->subject ? &adapts : &ample, &error);
    end();
    autotune_wisdom_forget();
    if (result->status == AUTOTUNE_OK) {
        autotune_plan_describe(plan, result->text, sizeof result->text);
        autotune_plan_free(plan);
    } else {
        take_failure(result, plan, error);
    }
    autotune_clear();
    if (fake_cuda_modules != 0 || fake_cuda_held != 0)
        fail_msg("allocation %zu: %d modules and %d other objects are left", failing,
                 fake_cuda_modules, fake_cuda_held);
}

static void save_wisdom(const struct scenario *scenario, struct result *result)
{
    autotune_plan *plan = NULL;
    autotune_error *error = NULL;
    char path[8192];

    fake_cuda_is_there = true;
    setenv("XDG_CACHE_HOME", cache, 1);
    snprintf(path, sizeof path, "%s/wisdom.yaml", folder);
    if (autotune_plan_create_with(&plan, profile_at(scenario->profile), &scenario->problem, &ample,
                                  NULL) == AUTOTUNE_OK)
        autotune_plan_free(plan);
    begin();
    result->status = autotune_wisdom_save(path, &error);
    end();
    autotune_wisdom_forget();
    if (result->status != AUTOTUNE_OK)
        take_failure(result, &untouched, error);
}

static void execute_plan(const struct scenario *scenario, struct result *result)
{
    static autotune_plan *plan;
    autotune_error *error = NULL;

    fake_cuda_is_there = true;
    setenv("XDG_CACHE_HOME", cache, 1);
    if (!plan)
        assert_int_equal(
            autotune_plan_create(&plan, profile_at(scenario->profile), &scenario->problem, NULL),
            AUTOTUNE_OK);
    begin();
    result->status = autotune_plan_execute(plan, NULL, (void *)0x10000000000, NULL, &error);
    end();
    take_failure(result, &untouched, error);
}

#define F32(side)                                                                                  \
    {                                                                                              \
        .elem_size = 4, .rows = (side), .cols = (side)                                             \
    }
#define LOOKUP(is_tier, in, device, ...)                                                           \
    {                                                                                              \
        .name = "lookup: " #is_tier, .run = look_up, .profile = (in), .subject = (device),         \
        .tier = AUTOTUNE_TIER_##is_tier, .problem = __VA_ARGS__                                    \
    }
#define BROKEN(what)                                                                               \
    {                                                                                              \
        .name = "open: broken, " what, .run = open_refused,                                        \
        .subject = "tests/golden/refused/" what ".yaml", .status = AUTOTUNE_INVALID, .sampled = 40 \
    }

/* Fresh scenarios come first: a child inherits what its parent has opened. */
static const struct scenario scenarios[] = {
    {.name = "plan: compiled, the first",
     .run = create_plan,
     .subject = cache,
     .profile = shipped,
     .problem = F32(8192),
     .sampled = 2,
     .fresh = true},
    {.name = "plan: cached, the first",
     .run = create_plan,
     .subject = cache,
     .profile = shipped,
     .problem = F32(8192),
     .sampled = 100,
     .fresh = true},
    {.name = "device: current, no driver",
     .run = find_current_device,
     .status = AUTOTUNE_NO_DEVICE,
     .fresh = true},
    {.name = "device: current, the first",
     .run = find_current_device,
     .subject = "a driver",
     .fresh = true},
    {.name = "device: current", .run = find_current_device, .subject = "a driver"},
    {.name = "device: by name", .run = describe_device, .subject = "h200"},
    {.name = "device: by another name",
     .run = describe_device,
     .subject = "RTX 4090",
     .sampled = 60},
    {.name = "device: unknown",
     .run = describe_device,
     .subject = "abacus",
     .status = AUTOTUNE_INVALID,
     .sampled = 60},
    {.name = "device: of numbers", .run = make_device, .subject = "abacus", .sampled = 60},
    {.name = "open: one profile",
     .run = open_profile,
     .subject = "tests/data/small-profile.yaml",
     .problem = F32(4096)},
    {.name = "open: the path", .run = open_profile, .problem = F32(4096), .sampled = 200},
    {.name = "open: the shipped profile",
     .run = open_profile,
     .subject = "results/nvidia-h200.yaml",
     .problem = F32(8192),
     .sampled = 20},
    {.name = "open: no such file",
     .run = open_profile,
     .subject = "nonexistent.yaml",
     .status = AUTOTUNE_INVALID},
    BROKEN("truncated"),
    BROKEN("binary"),
    BROKEN("duplicate-key"),
    BROKEN("problem-twice"),
    BROKEN("slower"),
    LOOKUP(EXACT, shipped, "h200", F32(8192)),
    LOOKUP(SHAPE, shipped, "h200", {.elem_size = 4, .rows = 6000, .cols = 6000, .ld_src = 6016}),
    LOOKUP(CHIP, shipped, "h100", F32(8192)),
    LOOKUP(ARCHITECTURE, small, "h200", F32(4096)),
    LOOKUP(OTHER, small, "rtx-4090", F32(4096)),
    LOOKUP(DEFAULT, small, "h200", {.elem_size = 4, .rows = 64, .cols = 64, .in_place = 1}),
    {.name = "lookup: no problem",
     .run = look_up,
     .profile = small,
     .subject = "h200",
     .problem = {.elem_size = 65, .rows = 8, .cols = 8},
     .status = AUTOTUNE_INVALID},
    {.name = "check: the same device",
     .run = check_answer,
     .profile = shipped,
     .subject = "h200",
     .problem = F32(8192)},
    {.name = "check: another device",
     .run = check_answer,
     .profile = shipped,
     .subject = "h100",
     .problem = F32(8192),
     .status = AUTOTUNE_MISMATCH},
    {.name = "describe", .run = write_answer, .profile = shipped, .problem = F32(5000)},
    {.name = "json",
     .run = write_answer,
     .subject = "json",
     .profile = shipped,
     .problem = F32(5000)},
    {.name = "plan: cached",
     .run = create_plan,
     .subject = cache,
     .profile = shipped,
     .problem = F32(8192)},
    {.name = "plan: measured",
     .run = measure_plan,
     .profile = shipped,
     .problem = F32(6000),
     .sampled = 60},
    {.name = "plan: adapts",
     .run = measure_plan,
     .subject = "adapts",
     .profile = shipped,
     .problem = F32(6000),
     .sampled = 60},
    {.name = "wisdom: saved",
     .run = save_wisdom,
     .profile = shipped,
     .problem = F32(6000),
     .sampled = 40},
    {.name = "plan: no problem",
     .run = create_plan,
     .subject = cache,
     .profile = small,
     .problem = {.elem_size = 4, .rows = -1, .cols = 8},
     .status = AUTOTUNE_INVALID},
    {.name = "plan: compiled",
     .run = create_plan,
     .profile = shipped,
     .problem = F32(8192),
     .sampled = 3},
    {.name = "execute: no address",
     .run = execute_plan,
     .profile = shipped,
     .problem = F32(8192),
     .status = AUTOTUNE_INVALID},
};

enum { HANGS_AFTER_S = 120, SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* ---- each allocation in turn ---- */

static int open_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void run(const struct scenario *scenario, size_t number, bool all_after,
                struct result *result)
{
    *result = (struct result){0};
    alarm(HANGS_AFTER_S);
    failing = number;
    onwards = all_after;
    scenario->run(scenario, result);
}

/* Any other result than the usual one must be AUTOTUNE_NO_MEMORY, with nothing left. */
static void fail_one(const struct scenario *scenario, size_t number, bool all_after,
                     const struct result *usual)
{
    struct result result;
    int descriptors = open_descriptors();

    run(scenario, number, all_after, &result);
    if (result.status != usual->status || strcmp(result.text, usual->text) != 0) {
        if (result.status != AUTOTUNE_NO_MEMORY)
            fail_msg("%s, allocation %zu: status %d: %s", scenario->name, number,
                     (int)result.status, result.text);
        assert_string_equal(result.text, "out of memory");
    }
    if (!scenario->fresh && fail_alloc_live() != 0)
        fail_msg("%s, allocation %zu: %zu blocks are left", scenario->name, number,
                 fail_alloc_live());
    if (!scenario->fresh && open_descriptors() != descriptors)
        fail_msg("%s, allocation %zu: a descriptor is left", scenario->name, number);
    run(scenario, 0, false, &result);
    assert_int_equal(result.status, usual->status);
    assert_string_equal(result.text, usual->text);
}

/* In a child, so that the libraries are opened again. */
static void fail_one_fresh(const struct scenario *scenario, size_t number, bool all_after,
                           const struct result *usual)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        fail_one(scenario, number, all_after, usual);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s, allocation %zu%s: the process ended with %x", scenario->name, number,
                 all_after ? " and all after it" : "", (unsigned)status);
}

/* Run a scenario without a fault, and count its allocations. */
static size_t run_unharmed(const struct scenario *scenario, struct result *usual)
{
    int ends[2], status;
    pid_t child;
    bool whole;

    if (!scenario->fresh) {
        run(scenario, 0, false, usual);
        run(scenario, 0, false, usual);
        assert_int_equal(fail_alloc_live(), 0);
        return counted;
    }
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        run(scenario, 0, false, usual);
        whole = write(ends[1], &counted, sizeof counted) == sizeof counted &&
                write(ends[1], usual, sizeof *usual) == sizeof *usual;
        _exit(!whole);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], &counted, sizeof counted), sizeof counted);
    assert_int_equal(read(ends[0], usual, sizeof *usual), sizeof *usual);
    close(ends[0]);
    close(ends[1]);
    return counted;
}

/* If a test fails in a child, end the child. */
static int leave_child(void **state)
{
    (void)state;
    if (getpid() != tester)
        _exit(1);
    return 0;
}

/* Return how many allocations shall fail. */
static size_t count_wanted(const struct scenario *scenario, size_t allocations)
{
    const char *asked = getenv("AUTOTUNE_TEST_FAULTS");
    size_t least = asked ? (size_t)strtoull(asked, NULL, 10) : 0;
    size_t wanted = scenario->sampled ? scenario->sampled : allocations;

    if (!runs_whole())
        wanted = (wanted + 2) / 3;
    return least > wanted ? least : wanted;
}

static void test_scenario(void **state)
{
    const struct scenario *scenario = *state;
    void (*try)(const struct scenario *, size_t, bool, const struct result *) =
        scenario->fresh ? fail_one_fresh : fail_one;
    struct result usual = {0};
    struct at_rng rng = {1};
    size_t allocations, wanted, tries = 0;

    setenv("AUTOTUNE_DATADIR", scenario->run == open_profile ? own_data : source_data, 1);
    allocations = run_unharmed(scenario, &usual);
    if (usual.status == AUTOTUNE_NO_DEVICE && strstr(usual.text, "NVRTC")) {
        fprintf(stderr, "skipped: %s\n", usual.text);
        skip();
    }
    if (usual.status != scenario->status)
        fail_msg("status %d: %s", (int)usual.status, usual.text);
    wanted = count_wanted(scenario, allocations);
    for (size_t i = 1; i <= allocations; i++) {
        if (at_rng_below(&rng, allocations) >= wanted)
            continue;
        try(scenario, i, false, &usual);
        try(scenario, i, true, &usual);
        tries += 2;
    }
    fprintf(stderr, "%s: %zu allocations, %zu faults\n", scenario->name, allocations, tries);
}

/* ---- what is remembered ---- */

/* Return how many allocations a plan takes; 0: there is no NVRTC. */
static size_t count_for_plan(const autotune_profile *profile)
{
    static const autotune_problem problem = F32(5000); /* which no entry has */
    autotune_plan *plan = NULL;
    autotune_error *error = NULL;
    autotune_status status;

    failing = 0;
    begin();
    status = autotune_plan_create(&plan, profile, &problem, &error);
    end();
    autotune_plan_free(plan);
    if (status == AUTOTUNE_OK)
        return counted;
    fprintf(stderr, "skipped: %s\n", autotune_error_message(error));
    if (status != AUTOTUNE_NO_DEVICE)
        fail();
    autotune_error_free(error);
    return 0;
}

/* A profile remembers its answers: a plan of the same problem does not look it up again. */
static void test_remembered(void **state)
{
    autotune_profile *profile, *other;
    size_t first, again;

    (void)state;
    setenv("AUTOTUNE_DATADIR", source_data, 1);
    setenv("XDG_CACHE_HOME", cache, 1);
    fake_cuda_is_there = true;
    profile = open_unharmed(shipped);
    other = open_unharmed(shipped);
    count_for_plan(other); /* compiles the kernels */
    first = count_for_plan(profile);
    again = count_for_plan(profile);
    autotune_profile_free(other);
    autotune_profile_free(profile);
    if (first == 0)
        skip();
    fprintf(stderr, "a plan: %zu allocations, remembered: %zu\n", first, again);
    assert_true(again + 1 < first); /* the first also allocates what is remembered */
}

/* ---- files ---- */

/* One family, one device and one profile, so that opening them takes few allocations. */
static const char *const own_files[] = {
    "tuning/naive.yaml",        "templates/naive.cu",   "tuning/devices/h100.yaml",
    "tuning/devices/h200.yaml", "results/networks.bin",
};

static void link_into(const char *tree, const char *name, const char *target)
{
    char path[8192], resolved[4096];

    snprintf(path, sizeof path, "%s/%s", tree, name);
    assert_non_null(realpath(target, resolved));
    assert_int_equal(symlink(resolved, path), 0);
}

static int set_up(void **state)
{
    char command[16384], path[8192];

    (void)state;
    tester = getpid();
    snprintf(source_data, sizeof source_data, "%s", source_tree());
    snprintf(shipped, sizeof shipped, "%s/results/nvidia-h200.yaml", source_data);
    snprintf(small, sizeof small, "%s/tests/data/small-profile.yaml", source_data);
    assert_non_null(mkdtemp(folder));
    snprintf(own_data, sizeof own_data, "%s/data", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(command, sizeof command, "mkdir -p %s/tuning/devices %s/templates %s/results %s",
             own_data, own_data, own_data, cache);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < sizeof own_files / sizeof *own_files; i++) {
        snprintf(path, sizeof path, "%s/%s", source_data, own_files[i]);
        link_into(own_data, own_files[i], path);
    }
    link_into(own_data, "results/small.yaml", small);
    snprintf(path, sizeof path, "%s/autotune", getcwd(command, sizeof command));
    setenv("AUTOTUNE_PROGRAM", path, 1);
    setenv("XDG_DATA_HOME", "/nonexistent", 1);
    unsetenv("AUTOTUNE_PROFILE_PATH");
    return 0;
}

static int tear_down(void **state)
{
    char command[4096];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    struct CMUnitTest tests[SCENARIOS + 1] = {
        [SCENARIOS] = cmocka_unit_test(test_remembered),
    };

    if (WITH_ADDRESS_SANITIZER) {
        fprintf(stderr, "skipped: the address sanitiser has an allocator of its own\n");
        return 77;
    }
    for (size_t i = 0; i < SCENARIOS; i++)
        tests[i] = (struct CMUnitTest){.name = scenarios[i].name,
                                       .test_func = test_scenario,
                                       .teardown_func = leave_child,
                                       .initial_state = (void *)&scenarios[i]};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
