/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the costs of surviving faults: the journal, messages to another process instead of
 * function calls, the lock on the device, and starting workers.
 *
 *     safety FOLDER
 *
 * Prints the mean time of each. The journal is in FOLDER, whose disk decides its times. Each
 * evaluation pays the first four once, and the GPU waits for all of them but the second. A run pays
 * the others. */
#include "base/clock.h"
#include "base/memory.h"
#include "device/device_lock.h"
#include "journal/journal.h"
#include "kernel/compile_worker.h"
#include "roles.h"
#include "worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 2000, SAMPLES = 15 };

static void report(const char *what, int64_t started_ns, int64_t paused_ns, int rounds)
{
    printf("%-58s %8.1f us\n", what, (double)(at_now_ns() - started_ns - paused_ns) / 1e3 / rounds);
}

static void require(enum at_status status, const struct at_error *err)
{
    if (status == AT_OK)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void time_journal(const char *folder)
{
    char *path = at_format("%s/safety.journal", folder);
    double samples[SAMPLES];
    const struct at_measurement measurement = {.samples_ns = samples, .sample_count = SAMPLES};
    const struct at_journal_details details = {.gpu = "GPU-1", .expected_ns = 1200};
    struct at_journal *journal;
    struct at_error err;
    int64_t started_ns, synced_ns = 0;

    for (int i = 0; i < SAMPLES; i++)
        samples[i] = 1234.5 + i;
    require(at_journal_open(&journal, path, "safety", false, &err), &err);
    started_ns = at_now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        char config[128];
        const struct at_journal_key key = {"8192x8192:f32", "tile", "0123456789abcdef", config};
        int64_t added_ns;

        snprintf(config, sizeof config,
                 "BLOCK_ROWS=8 CARVEOUT=-1 DYNAMIC=0 GROUP=1 LOAD_VEC=1 ORDER=0 PAD=%d", i);
        require(at_journal_add(journal, &key, &measurement, &details, &err), &err);
        added_ns = at_now_ns();
        require(at_journal_sync(journal, &err), &err);
        synced_ns += at_now_ns() - added_ns;
    }
    report("adding a result to the journal", started_ns, synced_ns, ROUNDS);
    report("waiting until the result is on disk", at_now_ns() - synced_ns, 0, ROUNDS);
    at_journal_close(journal);
    unlink(path);
    free(path);
}

/* Answer each frame with an empty one until end of file. */
static void answer(int fd)
{
    struct at_wire request = {0}, reply = {0};
    int32_t type;

    while (at_frame_receive(fd, &type, &request, 0) == AT_FRAME_OK) {
        at_wire_clear(&request);
        at_frame_send(fd, type, &reply);
    }
    _exit(0);
}

static void time_frames(const char *what, size_t bytes)
{
    char *content = at_alloc(bytes);
    struct at_wire request = {0}, reply = {0};
    int ends[2];
    int32_t type;
    int64_t started_ns;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || (child = fork()) < 0)
        exit(1);
    if (child == 0) {
        close(ends[0]);
        answer(ends[1]);
    }
    close(ends[1]);
    at_wire_put_bytes(&request, content, bytes);
    started_ns = at_now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        at_frame_send(ends[0], 1, &request);
        if (at_frame_receive(ends[0], &type, &reply, 0) != AT_FRAME_OK)
            exit(1);
        at_wire_clear(&reply);
    }
    report(what, started_ns, 0, ROUNDS);
    close(ends[0]);
    waitpid(child, NULL, 0);
    at_wire_clear(&request);
    free(content);
}

static void time_lock(void)
{
    static const struct at_device_info info = {.kind = "cuda", .uuid = "safety"};
    struct at_progress progress = {.quiet = true};
    struct at_device_lock *lock;
    struct at_error err;
    int64_t started_ns = at_now_ns();

    for (int i = 0; i < ROUNDS; i++) {
        require(at_device_lock_take(&lock, &info, false, &progress, &err), &err);
        if (!lock) {
            puts("locking and unlocking a device: needs a machine with exactly one GPU");
            return;
        }
        at_device_lock_release(lock);
    }
    report("locking and unlocking a device", started_ns, 0, ROUNDS);
}

/* Each worker ends after its reply: there is no compiler for compute capability 0.0. */
static void time_workers(void)
{
    enum { WORKERS = 50 };
    int64_t started_ns = at_now_ns();

    for (int i = 0; i < WORKERS; i++) {
        struct at_wire request = {0}, reply = {0};
        struct at_worker worker = {0};
        struct at_error err;
        int32_t type;

        require(at_worker_start(&worker, at_compile_worker.name, &err), &err);
        for (int j = 0; j < 3; j++)
            at_wire_put_int(&request, 0);
        at_wire_put_text(&request, "");
        at_frame_send(worker.fd, AT_COMPILE_HELLO, &request);
        if (at_frame_receive(worker.fd, &type, &reply, 0) != AT_FRAME_OK)
            exit(1);
        at_wire_clear(&request);
        at_wire_clear(&reply);
        at_worker_stop(&worker, NULL);
    }
    report("starting a worker, loading NVRTC and stopping it", started_ns, 0, WORKERS);
}

int main(int argc, char **argv)
{
    int exit_code;

    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    if (argc != 2) {
        fprintf(stderr, "usage: safety FOLDER\n");
        return 2;
    }
    time_journal(argv[1]);
    time_frames("request and reply of an evaluation, with a loaded program", 2 << 10);
    time_frames("request and reply with a program of 128 KiB", 128 << 10);
    time_lock();
    time_workers();
    return 0;
}
