/* SPDX-License-Identifier: Apache-2.0 */
/* src/measure/gpu: workers on the emulated device that hang, that are killed during an evaluation,
 * or that are asked for too much memory. The next evaluation must not be affected. */
#include "base/memory.h"
#include "kernel/builder.h"
#include "measure/gpu.h"
#include "measure/gpu_worker.h"
#include "roles.h"
#include "space/space.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "source_tree.h"
#include "template_header.h"

static const int64_t long_ns = INT64_C(60000000000), short_ns = INT64_C(200000000);

static const struct at_meanwhile nothing;
static const struct at_turn alone;
static struct at_gpu *gpu;
static struct at_builder *builder;
static struct at_built naive; /* its program stays in use */
static struct at_gpu_run run;
static struct at_gpu_case tuned = {.sets = 1};

static struct at_built build(const struct at_config *config)
{
    struct at_built built;
    struct at_error err;

    at_builder_add(builder, config, (struct at_problem_kind){.elem_size = 4, .axes = 1, .rows = 1},
                   NULL);
    if (at_builder_wait(builder, &built, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(built.outcome, AT_CORRECT);
    return built;
}

static void set_harness(void)
{
    struct at_family family = {.name = (char[]){"harness"},
                               .template_path = (char[]){"harness.cu"},
                               .source = text_of("templates/harness.cu")};
    const struct at_config config = {.family = &family};
    struct at_built harness = build(&config);

    assert_int_equal(at_gpu_set_harness(gpu, harness.program->image, harness.program->size, NULL),
                     AT_OK);
    at_program_release(harness.program);
    free(family.source);
}

static void set_kernel(void)
{
    char *path = path_of("tuning/naive.yaml"), *templates = path_of("templates");
    struct at_family *family;
    struct at_config config;

    assert_int_equal(at_family_read(&family, path, templates, NULL), AT_OK);
    assert_int_equal(at_space_default(&config, &family, 1, &tuned.problem, &gpu->info, NULL),
                     AT_OK);
    run.problem = tuned.problem;
    assert_int_equal(at_config_launch(&config, &tuned.problem, &gpu->info, &run.launch, NULL),
                     AT_OK);
    naive = build(&config);
    memcpy(run.program, naive.program->hash, AT_HASH_CHARS);
    memcpy(run.entry, naive.entry, sizeof run.entry);
    at_family_free(family);
    free(templates);
    free(path);
}

static char *header;

static int prepare(void **state)
{
    struct at_builder_options options = {
        .compute_capability = 90, .image = AT_IMAGE_PTX, .workers = 1};

    (void)state;
    options.header = header = template_header();
    assert_int_equal(at_problem_parse(&tuned.problem, "5x7:f32", NULL), AT_OK);
    assert_int_equal(at_builder_open(&builder, &options, NULL, 0, NULL), AT_OK);
    assert_int_equal(at_gpu_open(&gpu, AT_KIND_EMULATED, 0, alone, nothing, NULL), AT_OK);
    set_harness();
    set_kernel();
    assert_int_equal(at_gpu_prepare(gpu, &tuned, 1, NULL), AT_OK);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    at_program_release(naive.program);
    at_builder_close(builder);
    at_gpu_close(gpu);
    free(header);
    return 0;
}

/* The children of this process (proc(5)). */
static size_t count_children(void)
{
    char *path = at_format("/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    size_t count = 0;
    int pid;

    free(path);
    if (!file)
        skip(); /* this kernel lacks CONFIG_PROC_CHILDREN */
    while (fscanf(file, "%d", &pid) == 1)
        count++;
    fclose(file);
    return count;
}

/* The other tuners' workers are no other processes; an unknown number stays unknown. */
static void test_discount(void **state)
{
    static const struct {
        int64_t counted, own, others;
    } cases[] = {{3, 1, 2}, {3, 0, 3}, {1, 1, 0}, {0, 1, 0}, {-1, 1, -1}};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_gpu_conditions seen = at_gpu_conditions_none();

        seen.other_processes = cases[i].counted;
        at_gpu_conditions_discount(&seen, cases[i].own);
        assert_int_equal(seen.other_processes, cases[i].others);
    }
}

static void list_devices(void)
{
    struct at_device_info *infos;
    size_t count;

    assert_int_equal(at_gpu_list(AT_KIND_EMULATED, &infos, &count, NULL), AT_OK);
    assert_true(count > 0);
    free(infos);
}

/* The process that listed the devices lists them again and opens the next one. */
static void test_lister_opens(void **state)
{
    size_t before = count_children();
    struct at_gpu *first, *second;

    (void)state;
    list_devices();
    list_devices();
    assert_int_equal(count_children(), before + 1);
    assert_int_equal(at_gpu_open(&first, AT_KIND_EMULATED, 0, alone, nothing, NULL), AT_OK);
    assert_int_equal(count_children(), before + 1);
    assert_int_equal(at_gpu_open(&second, AT_KIND_EMULATED, 0, alone, nothing, NULL), AT_OK);
    assert_int_equal(count_children(), before + 2);
    at_gpu_close(first);
    at_gpu_close(second);
    assert_int_equal(count_children(), before);
}

/* Signal the worker. A failed test may have left it dead: 0 would be this process's own group. */
static void signal_worker(int signal_number)
{
    assert_int_equal(at_gpu_revive(gpu, NULL), AT_OK);
    assert_int_equal(kill(gpu->worker.pid, signal_number), 0);
}

static void start_evaluation(int64_t limit_ns)
{
    const struct at_gpu_evaluation wanted = {.program = naive.program,
                                             .run = run,
                                             .timing = {.train_ns = 1000, .samples = 3},
                                             .limit_ns = limit_ns};

    assert_int_equal(at_gpu_evaluate(gpu, &wanted, NULL), AT_OK);
}

/* Start an evaluation, disturb it, and take its outcome and message. */
static enum at_outcome evaluate(int64_t limit_ns, int signal_number, char message[256])
{
    struct at_measurement measurement;
    enum at_outcome outcome;

    /* A worker stopped before the request cannot finish it too early. */
    if (signal_number)
        signal_worker(SIGSTOP);
    start_evaluation(limit_ns);
    assert_true(gpu->busy);
    if (signal_number && signal_number != SIGSTOP) {
        pid_t pid = gpu->worker.pid;

        /* A stopped one aborts when it continues. */
        assert_int_equal(kill(pid, signal_number), 0);
        assert_int_equal(kill(pid, SIGCONT), 0);
    }
    at_gpu_take(gpu, &measurement);
    assert_false(gpu->busy);
    outcome = measurement.outcome;
    assert_true((outcome == AT_CORRECT) == (measurement.sample_count > 0));
    memcpy(message, measurement.message, 256);
    at_measurement_clear(&measurement);
    return outcome;
}

static void assert_well(void)
{
    char message[256];

    assert_int_equal(evaluate(long_ns, 0, message), AT_CORRECT);
    assert_string_equal(message, "");
}

static void test_hangs(void **state)
{
    char message[256];

    (void)state;
    assert_well();
    assert_int_equal(evaluate(short_ns, SIGSTOP, message), AT_TIMEOUT);
    assert_string_equal(message,
                        "the GPU worker was lost: it did not answer in time (signal 9 (Killed))");
    assert_int_equal(gpu->worker.pid, 0);
    assert_well();
}

/* Killed once by another process: the kernel is not to blame. */
static void test_killed(void **state)
{
    char message[256];

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(evaluate(long_ns, SIGKILL, message), AT_CORRECT);
    assert_well();
}

/* A worker's preparation is its own; the next one may be started ahead, and lost. */
static void test_renewed(void **state)
{
    struct at_gpu_case larger = {.sets = 1};
    size_t children = count_children();

    (void)state;
    assert_well();
    assert_int_equal(at_problem_parse(&larger.problem, "50x7:f32", NULL), AT_OK);
    assert_int_equal(at_gpu_prepare(gpu, &larger, 1, NULL), AT_OK);
    assert_int_equal(at_gpu_prepare(gpu, &tuned, 1, NULL), AT_OK);
    assert_int_equal(gpu->largest_bytes, at_problem_bytes(&larger.problem));
    for (int ahead = 0; ahead < 3; ahead++) {
        pid_t before = gpu->worker.pid, next;

        for (int i = 0; i < ahead; i++) /* once is enough */
            at_gpu_will_renew(gpu);
        next = gpu->next.pid;
        assert_int_equal(count_children(), children + (ahead > 0));
        if (ahead == 2)
            kill(next, SIGKILL);
        at_gpu_renew(gpu);
        assert_int_not_equal(gpu->worker.pid, before);
        if (ahead == 1)
            assert_int_equal(gpu->worker.pid, next);
        assert_int_equal(gpu->next.pid, 0);
        assert_int_equal(count_children(), children);
        assert_int_equal(at_gpu_prepare(gpu, &tuned, 1, NULL), AT_OK);
        assert_int_equal(gpu->largest_bytes, at_problem_bytes(&tuned.problem));
        assert_well();
    }
}

/* The worker ends by its own fault. */
static void test_crashes(void **state)
{
    char message[256];

    (void)state;
    assert_int_equal(evaluate(long_ns, SIGABRT, message), AT_CRASH);
    assert_string_equal(message, "the GPU worker was lost: it ended (signal 6 (Aborted))");
    assert_well();
}

static void kill_worker(int signal_number)
{
    pid_t pid = gpu->worker.pid;

    (void)signal_number;
    if (pid > 0)
        kill(pid, SIGKILL);
}

/* Killed every time, as a system out of memory does: a few tries, then it gives up. */
static void test_killed_always(void **state)
{
    static const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = kill_worker, .sa_flags = SA_RESTART};
    struct at_measurement measurement;

    (void)state;
    sigaction(SIGALRM, &action, NULL);
    signal_worker(SIGSTOP);
    start_evaluation(long_ns);
    setitimer(ITIMER_REAL, &often, NULL);
    at_gpu_take(gpu, &measurement);
    setitimer(ITIMER_REAL, &never, NULL);
    assert_int_equal(measurement.outcome, AT_CRASH);
    assert_non_null(strstr(measurement.message, "signal 9 (Killed)"));
    at_measurement_clear(&measurement);
    assert_well();
}

/* More memory than any machine has: this problem is refused, the next one is not. */
static void test_out_of_memory(void **state)
{
    struct at_gpu_case large = {.sets = 1000};
    struct at_error err;

    (void)state;
    assert_int_equal(at_problem_parse(&large.problem, "1000000x1000000:f64", NULL), AT_OK);
    assert_int_equal(at_gpu_prepare(gpu, &large, 1, &err), AT_FAILED);
    assert_int_equal(err.status, AT_FAILED);
    assert_non_null(strstr(err.message, "has too little memory"));
    /* A new worker fails in the same way. */
    at_gpu_stop(gpu, NULL);
    assert_int_equal(at_gpu_prepare(gpu, &large, 1, &err), AT_FAILED);
    assert_int_equal(err.status, AT_FAILED);
    assert_int_equal(at_gpu_prepare(gpu, &tuned, 1, NULL), AT_OK);
    assert_well();
}

/* ---- the worker's side, in this process ---- */

static void free_no_train(struct at_device *device, struct at_train *train)
{
    (void)device;
    assert_null(train);
}

/* Ask for a shoot-out of `count` runs of a program that was never loaded. */
static enum at_outcome shoot_out(struct at_gpu_server *server, size_t count,
                                 struct at_gpu_conditions *told)
{
    const struct at_gpu_run absent = {.program = "absent"};
    struct at_wire request = {0}, reply = {0};
    struct at_error err;
    struct at_exchange exchange = {&request, &reply, &err};
    enum at_outcome outcome;

    at_wire_put_int(&request, 1000); /* ns per train */
    at_wire_put_int(&request, 1);    /* sample */
    at_wire_put_int(&request, (int64_t)count);
    for (size_t i = 0; i < count; i++)
        at_wire_put_bytes(&request, &absent, sizeof absent);
    outcome = at_gpu_server_shootout(server, &exchange).outcome;
    if (outcome == AT_CORRECT)
        at_wire_get_struct(&reply, told, sizeof *told);
    at_wire_clear(&request);
    at_wire_clear(&reply);
    return outcome;
}

/* The reply of a failed request is dropped. The next one reports what was seen of the device. */
static void test_failed_shootout_keeps_conditions(void **state)
{
    const struct at_device_ops ops = {.free_train = free_no_train};
    struct at_gpu_server server = {
        .bench = {.ops = &ops, .case_count = 1, .discarded = 3},
        .conditions = {.slowed_ns = 5, .capped_ns = 7},
        .conditions_due_ns = INT64_MAX,
    };
    struct at_gpu_conditions told = {0};

    (void)state;
    assert_int_equal(shoot_out(&server, 1, &told), AT_LAUNCH);
    assert_int_equal(shoot_out(&server, 0, &told), AT_CORRECT);
    assert_int_equal(told.slowed_ns, 5);
    assert_int_equal(told.capped_ns, 7);
    assert_int_equal(told.discarded, 3);
    assert_int_equal(shoot_out(&server, 0, &told), AT_CORRECT); /* reported once */
    assert_int_equal(told.slowed_ns + told.capped_ns + told.discarded, 0);
}

static struct at_device_state now;
static int state_calls;

static void tell_state(struct at_device *device, struct at_device_state *told)
{
    (void)device;
    state_calls++;
    *told = now;
}

/* A measurement gets the memory's clock only if NVML was asked meanwhile. */
static void test_memory_clock(void **state)
{
    const struct at_device_ops ops = {.state = tell_state};
    struct at_gpu_server server = {.bench = {.ops = &ops}, .conditions = at_gpu_conditions_none()};

    (void)state;
    now = at_device_state_unknown();
    now.clock_memory_khz = 3201000;
    now.power_mw = 650000;
    now.throttle_known = true;
    now.throttle = AT_THROTTLE_SW_POWER_CAP;
    at_gpu_server_note_conditions(&server);
    assert_int_equal(server.clock_memory_khz, 3201000);
    assert_int_equal(server.look.power_mw, 650000);
    assert_int_equal(server.look.temperature_c, 0); /* unknown */
    assert_true(server.look.throttle_known && server.look.throttle == AT_THROTTLE_SW_POWER_CAP);
    server.clock_memory_khz = 0;            /* the next request */
    at_gpu_server_note_conditions(&server); /* it is too soon to ask again */
    assert_int_equal(state_calls, 1);
    assert_int_equal(server.clock_memory_khz, 0);
}

/* ---- the main process's side, without a worker ---- */

enum { NO_PROCESS = 0x3fffffff };

/* An evaluation's clocks reach the measurement; impossible ones make the answer malformed. */
static void test_clocks(void **state)
{
    static const struct {
        int64_t sm_khz, memory_khz;
        struct at_look look;
        enum at_outcome outcome;
    } cases[] = {
        {1980000, 3201000, {650000, 61, 1, 5}, AT_CORRECT},
        {0, 0, {0, 0, 0, 0}, AT_CORRECT},
        {-1, 0, {0, 0, 0, 0}, AT_CRASH},
        {0, INT64_C(1) << 40, {0, 0, 0, 0}, AT_CRASH},
        {0, 0, {-1, 0, 0, 0}, AT_CRASH},
        {0, 0, {0, 1001, 0, 0}, AT_CRASH},
        {0, 0, {0, 0, 2, 0}, AT_CRASH},
        {0, 0, {0, 0, 1, 1 << AT_THROTTLES}, AT_CRASH},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        static const struct at_gpu_result fine = {AT_OK, AT_CORRECT};
        const struct at_gpu_conditions seen = at_gpu_conditions_none();
        const struct at_gpu_kernel figures = {
            32, 0, 0, cases[i].sm_khz, cases[i].memory_khz, cases[i].look};
        const struct at_program program = {.hash = "p"};
        struct at_wire content = {0}, message = {0};
        struct at_measurement measurement;
        struct at_gpu asked = {.busy = true, .evaluating.program = &program};
        int ends[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        asked.worker = (struct at_worker){NO_PROCESS, ends[0], -1};
        at_wire_put_bytes(&content, &seen, sizeof seen);
        at_wire_put_bytes(&content, &figures, sizeof figures);
        at_wire_put_int(&content, 1);
        at_wire_put_real(&content, 49000);
        at_wire_put_bytes(&message, &fine, sizeof fine);
        at_wire_put_bytes(&message, content.bytes, content.size);
        assert_int_equal(at_frame_send(ends[1], AT_GPU_EVALUATE, &message), AT_FRAME_OK);
        at_gpu_take(&asked, &measurement);
        assert_int_equal(measurement.outcome, cases[i].outcome);
        if (cases[i].outcome == AT_CORRECT) {
            assert_int_equal(measurement.kernel.clock_sm_khz, cases[i].sm_khz);
            assert_int_equal(measurement.kernel.clock_memory_khz, cases[i].memory_khz);
            assert_memory_equal(&measurement.kernel.look, &cases[i].look,
                                sizeof measurement.kernel.look);
        }
        at_measurement_clear(&measurement);
        at_wire_clear(&content);
        at_wire_clear(&message);
        close(ends[0]);
        close(ends[1]);
    }
}

/* A malformed answer ends the worker, and nothing of it is used. */
static void test_impossible_results(void **state)
{
    static const int32_t results[][2] = {
        {AT_OK, AT_WRONG},    {AT_OK, AT_OUTCOMES},     {AT_OK, -1},
        {AT_DEVICE, 1 << 20}, {AT_DEVICE, AT_CORRECT},  {AT_INTERNAL + 1, AT_LAUNCH},
        {-1, AT_LAUNCH},      {AT_INTERRUPTED, AT_OOM},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(results); i++) {
        struct at_wire message = {0}, reply = {0};
        struct at_gpu asked = {0};
        struct at_gpu_result result;
        struct at_error err;
        int ends[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        asked.worker = (struct at_worker){NO_PROCESS, ends[0], -1};
        at_wire_put_bytes(&message, results[i], sizeof results[i]);
        at_wire_put_text(&message, "");
        assert_int_equal(at_frame_send(ends[1], AT_GPU_MEMORY, &message), AT_FRAME_OK);
        close(ends[1]);
        result = at_gpu_receive(&asked, AT_GPU_MEMORY, &reply, &err);
        assert_int_equal(result.status, AT_DEVICE);
        assert_int_equal(result.outcome, AT_CRASH);
        assert_non_null(strstr(err.message, "its answer is malformed"));
        assert_int_equal(asked.worker.pid, 0);
        at_wire_clear(&message);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discount),
        cmocka_unit_test(test_hangs),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_renewed),
        cmocka_unit_test(test_crashes),
        cmocka_unit_test(test_killed_always),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_lister_opens),
        cmocka_unit_test(test_failed_shootout_keeps_conditions),
        cmocka_unit_test(test_memory_clock),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_impossible_results),
    };
    int exit_code;

    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    return cmocka_run_group_tests(tests, prepare, clean_up);
}
