/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the answer of a worker. A worker runs kernels and compiles texts that are not
 * trusted, so the driver checks all that comes from it. The first byte chooses the question. The
 * rest is the content of a frame with a sound header, or a stream with headers of its own; it is
 * also read as a stream that has not ended. */
#include "base/memory.h"
#include "kernel/compile_process.h"
#include "kernel/compile_worker.h"
#include "measure/gpu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No process has this number: the answers are there before the question. */
enum { NO_PROCESS = 0x3fffffff, STREAM_BYTES_MAX = 60000 };

enum { RUNS = 3, SAMPLES = 4 };

struct stream {
    const uint8_t *data;
    size_t size;
};

static struct at_worker make_worker(int *other_end, struct stream stream, bool framed, int32_t type)
{
    struct at_wire message = {.bytes = (unsigned char *)stream.data, .size = stream.size};
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        abort();
    if (framed)
        at_frame_send(ends[1], type, &message);
    else if (send(ends[1], stream.data, stream.size, MSG_NOSIGNAL) < 0)
        abort();
    shutdown(ends[1], SHUT_WR);
    *other_end = ends[1];
    return (struct at_worker){.pid = NO_PROCESS, .fd = ends[0], .said = -1};
}

/* Whatever is taken is a measurement that can be. */
static void check_shootout(double samples_ns[RUNS * SAMPLES],
                           const struct at_gpu_kernel kernels[RUNS])
{
    for (int i = 0; i < RUNS; i++) {
        const struct at_measurement taken = {
            .kernel = kernels[i], .samples_ns = samples_ns + i * SAMPLES, .sample_count = SAMPLES};

        if (at_measurement_check(&taken, NULL) != AT_OK)
            abort();
    }
}

static void ask_gpu(struct at_gpu *gpu, int32_t type)
{
    struct at_program program = {.hash = "p"};
    struct at_gpu_run runs[RUNS] = {{.program = "p"}};
    struct at_program *programs[RUNS] = {NULL}; /* to load one would be a question of its own */
    struct at_gpu_kernel kernels[RUNS];
    struct at_measurement measurement;
    double samples_ns[RUNS * SAMPLES];
    const struct at_gpu_shootout shootout = {.runs = runs,
                                             .programs = programs,
                                             .count = RUNS,
                                             .train_ns = 1,
                                             .samples = SAMPLES,
                                             .limit_ns = INT64_C(1000000000),
                                             .samples_ns = samples_ns,
                                             .kernels = kernels};
    int64_t free_bytes, total_bytes;
    struct at_error err;

    switch (type) {
    case AT_GPU_MEMORY:
        at_gpu_memory(gpu, &free_bytes, &total_bytes, &err);
        break;
    case AT_GPU_EVALUATE:
        gpu->busy = true;
        gpu->evaluating.program = &program;
        at_gpu_take(gpu, &measurement);
        if (measurement.outcome == AT_CORRECT && at_measurement_check(&measurement, NULL) != AT_OK)
            abort();
        at_measurement_clear(&measurement);
        break;
    default:
        if (at_gpu_shootout(gpu, &shootout, &err) == AT_CORRECT)
            check_shootout(samples_ns, kernels);
    }
}

static void answer_gpu(struct stream stream, bool framed, int32_t type)
{
    struct at_gpu gpu = {0};
    int other_end;

    gpu.worker = make_worker(&other_end, stream, framed, type);
    ask_gpu(&gpu, type);
    if (gpu.worker.pid != 0)
        close(gpu.worker.fd);
    close(other_end);
}

static void answer_compiler(struct stream stream, bool framed)
{
    struct at_job jobs[2] = {{.tries = 0}};
    struct at_batch *batch = at_alloc(sizeof *batch + sizeof(struct at_job * [AT_COUNT(jobs)]));
    struct at_compile_process process = {.greeted = true};
    struct at_compile_reply reply;
    int other_end;

    while (batch->count < AT_COUNT(jobs)) {
        batch->jobs[batch->count] = &jobs[batch->count];
        batch->count++;
    }
    process.worker = make_worker(&other_end, stream, framed, AT_COMPILE_PROGRAM);
    at_compile_process_take(&process, batch, &reply);
    free(reply.image);
    if (process.worker.pid != 0)
        close(process.worker.fd);
    close(other_end);
    free(batch);
}

/* The worker lives on and sends no more, and the deadline has passed. */
static void wait_for_more(struct stream stream)
{
    const int64_t deadline_ns = 1;
    enum at_frame_result result;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
        send(ends[1], stream.data, stream.size, MSG_NOSIGNAL) < 0)
        abort();
    do {
        struct at_wire message = {0};
        int32_t type;

        result = at_frame_receive(ends[0], &type, &message, deadline_ns);
        at_wire_clear(&message);
    } while (result == AT_FRAME_OK);
    if (result == AT_FRAME_CLOSED)
        abort();
    close(ends[0]);
    close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int32_t types[] = {AT_GPU_MEMORY, AT_GPU_EVALUATE, AT_GPU_SHOOTOUT};
    struct stream stream = {data + 1, size - 1};
    size_t which;

    if (size == 0 || size > STREAM_BYTES_MAX)
        return 0;
    which = data[0] % 8;
    if (which / 2 < AT_COUNT(types))
        answer_gpu(stream, which % 2 == 0, types[which / 2]);
    else
        answer_compiler(stream, which % 2 == 0);
    wait_for_more(stream);
    return 0;
}
