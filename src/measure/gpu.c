/* SPDX-License-Identifier: Apache-2.0 */
/* Lists devices, opens one in a GPU worker, and restarts the worker with all that it had. */
#include "base/clock.h"
#include "base/memory.h"
#include "measure/gpu_handle.h"
#include "measure/gpu_worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- listing and opening ---- */

/* The worker that has listed the devices goes on to open one. It has the driver loaded, which takes
 * a second on a machine of eight GPUs. If no other process keeps the GPU awake, ending the worker
 * would put it to sleep, and waking takes another two seconds. */
static struct at_worker spare;

static enum at_status start_worker(struct at_gpu *gpu, struct at_error *err)
{
    struct at_wire listed = {0};

    if (gpu->next.pid != 0) {
        gpu->worker = gpu->next;
        gpu->next = (struct at_worker){0};
        if (at_gpu_receive(gpu, AT_GPU_LIST, &listed, at_now_ns() + at_gpu_request_limit_ns, err)
                .status == AT_OK) {
            at_wire_clear(&listed);
            return AT_OK;
        }
        at_gpu_stop(gpu, NULL);
    }
    if (spare.pid == 0)
        return at_worker_start(&gpu->worker, at_gpu_worker.name, err);
    gpu->worker = spare;
    spare = (struct at_worker){0};
    return AT_OK;
}

static enum at_status list_once(struct at_gpu *gpu, struct at_device_info **infos, size_t *count,
                                struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    enum at_status status = start_worker(gpu, err);

    if (status != AT_OK)
        return status;
    at_wire_put_text(&request, gpu->kind);
    status = at_gpu_ask(gpu, AT_GPU_LIST, &request, &reply, err).status;
    if (status == AT_OK) {
        *count = at_wire_get_count(&reply, sizeof **infos);
        *infos = at_alloc_array(*count, sizeof **infos);
        for (size_t i = 0; i < *count; i++)
            at_wire_get_struct(&reply, &(*infos)[i], sizeof **infos);
    }
    at_wire_clear(&reply);
    if (status == AT_OK)
        spare = gpu->worker;
    else
        at_gpu_stop(gpu, NULL);
    return status;
}

void at_gpu_end_spare(void)
{
    at_worker_stop(&spare, NULL);
}

void at_gpu_leave_spare(void)
{
    if (spare.pid != 0)
        close(spare.fd);
    spare = (struct at_worker){0};
}

enum at_status at_gpu_list(const char *kind, struct at_device_info **infos, size_t *count,
                           struct at_error *err)
{
    struct at_gpu gpu = {0};
    enum at_status status;
    int kills = 0;

    snprintf(gpu.kind, sizeof gpu.kind, "%s", kind);
    do
        status = list_once(&gpu, infos, count, err);
    while (status != AT_OK && gpu.killed && ++kills < AT_GPU_KILLS_MAX);
    return status;
}

static enum at_status send_harness(struct at_gpu *gpu, struct at_error *err)
{
    struct at_wire request = {0};

    at_wire_put_bytes(&request, gpu->harness, gpu->harness_size);
    return at_gpu_tell(gpu, AT_GPU_HARNESS, &request, err).status;
}

static enum at_status send_cases(struct at_gpu *gpu, struct at_error *err)
{
    struct at_wire request = {0};
    int64_t bytes = at_problem_bytes(&gpu->cases[0].problem);

    at_wire_put_int(&request, (int64_t)gpu->case_count);
    for (size_t i = 0; i < gpu->case_count; i++)
        at_wire_put_bytes(&request, &gpu->cases[i], sizeof gpu->cases[i]);
    if (bytes > gpu->largest_bytes)
        gpu->largest_bytes = bytes;
    return at_gpu_tell(gpu, AT_GPU_PREPARE, &request, err).status;
}

/* If a device falls off the bus, the next one gets its ordinal. Its times must not go under the
 * first one's name. */
static enum at_status check_same_device(const struct at_gpu *gpu, const struct at_device_info *now,
                                        struct at_error *err)
{
    if (!gpu->info.uuid[0] || strcmp(gpu->info.uuid, now->uuid) == 0)
        return AT_OK;
    return at_fail(err, AT_DEVICE, "%s (%s) is gone: device %d now is %s (%s)", gpu->info.name,
                   gpu->info.uuid, (int)gpu->ordinal, now->name, now->uuid);
}

static enum at_status send_open(struct at_gpu *gpu, struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    struct at_device_info info;
    enum at_status status;

    at_wire_put_text(&request, gpu->kind);
    at_wire_put_int(&request, gpu->ordinal);
    gpu->open = true;
    at_turn_opens(gpu->turn);
    status = at_gpu_ask(gpu, AT_GPU_OPEN, &request, &reply, err).status;
    if (status == AT_OK) {
        at_wire_get_struct(&reply, &info, sizeof info);
        at_wire_get_text(&reply, gpu->driver, sizeof gpu->driver);
        at_wire_get_text(&reply, gpu->cuda, sizeof gpu->cuda);
        status = check_same_device(gpu, &info, err);
    }
    if (status == AT_OK)
        gpu->info = info;
    at_wire_clear(&reply);
    return status;
}

static enum at_status revive_once(struct at_gpu *gpu, struct at_error *err)
{
    enum at_status status = start_worker(gpu, err);

    gpu->loaded_count = 0;
    gpu->largest_bytes = 0;
    gpu->killed = false;
    if (status != AT_OK)
        return status;
    status = send_open(gpu, err);
    if (status == AT_OK && gpu->harness)
        status = send_harness(gpu, err);
    if (status == AT_OK && gpu->case_count > 0)
        status = send_cases(gpu, err);
    if (status != AT_OK)
        at_gpu_stop(gpu, NULL);
    return status;
}

enum at_status at_gpu_revive(struct at_gpu *gpu, struct at_error *err)
{
    enum at_status status = AT_OK;
    int kills = 0;

    /* The device holds the killed process; a new process would hang in the same place. */
    if (gpu->stays)
        return at_fail(err, AT_DEVICE,
                       "%s (%s) is wedged: process %d was killed and still holds it; a reset or a "
                       "reboot may be needed",
                       gpu->info.name, gpu->info.uuid, (int)gpu->stays);
    while (gpu->worker.pid == 0) {
        status = revive_once(gpu, err);
        if (status != AT_OK && (!gpu->killed || ++kills == AT_GPU_KILLS_MAX))
            break;
    }
    return status;
}

enum at_status at_gpu_open(struct at_gpu **gpu, const char *kind, int64_t ordinal,
                           struct at_turn turn, struct at_error *err)
{
    struct at_gpu *opened = at_alloc(sizeof *opened);
    enum at_status status;

    snprintf(opened->kind, sizeof opened->kind, "%s", kind);
    opened->conditions = at_gpu_conditions_none();
    opened->ordinal = ordinal;
    opened->turn = turn;
    status = at_gpu_revive(opened, err);
    if (status == AT_OK)
        *gpu = opened;
    else
        at_gpu_close(opened);
    return status;
}

void at_gpu_end(struct at_gpu *gpu)
{
    at_worker_kill(&gpu->worker);
    at_worker_kill(&gpu->next);
}

void at_gpu_close(struct at_gpu *gpu)
{
    if (!gpu)
        return;
    at_gpu_stop(gpu, NULL);
    at_worker_stop(&gpu->next, NULL);
    free(gpu->harness);
    free(gpu->cases);
    free(gpu);
}

const struct at_device_info *at_gpu_info(const struct at_gpu *gpu)
{
    return &gpu->info;
}

const char *at_gpu_driver_version(const struct at_gpu *gpu)
{
    return gpu->driver;
}

const char *at_gpu_cuda_version(const struct at_gpu *gpu)
{
    return gpu->cuda;
}

enum at_status at_gpu_memory(struct at_gpu *gpu, int64_t *free_bytes, int64_t *total_bytes,
                             struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    enum at_status status;
    int kills = 0;

    do {
        status = at_gpu_revive(gpu, err);
        if (status == AT_OK)
            status = at_gpu_ask(gpu, AT_GPU_MEMORY, &request, &reply, err).status;
    } while (status != AT_OK && gpu->killed && ++kills < AT_GPU_KILLS_MAX);
    if (status == AT_OK) {
        *free_bytes = at_wire_get_int(&reply);
        *total_bytes = at_wire_get_int(&reply);
    }
    at_wire_clear(&reply);
    return status;
}

enum at_status at_gpu_set_harness(struct at_gpu *gpu, const void *image, size_t size,
                                  struct at_error *err)
{
    enum at_status status = at_gpu_revive(gpu, err);

    free(gpu->harness);
    gpu->harness = at_memdup(image, size);
    gpu->harness_size = size;
    if (status != AT_OK)
        return status;
    status = send_harness(gpu, err);
    /* A new worker starts with the harness. */
    return status != AT_OK && gpu->killed ? at_gpu_revive(gpu, err) : status;
}

enum at_status at_gpu_prepare(struct at_gpu *gpu, const struct at_gpu_case *cases, size_t count,
                              struct at_error *err)
{
    enum at_status status = AT_OK;

    free(gpu->cases);
    gpu->cases = at_memdup(cases, count * sizeof *cases);
    gpu->case_count = count;
    if (gpu->worker.pid != 0)
        status = send_cases(gpu, err);
    if (gpu->worker.pid == 0) /* a new worker starts with the cases */
        return at_gpu_revive(gpu, err);
    return status;
}

int64_t at_gpu_largest_bytes(const struct at_gpu *gpu)
{
    return gpu->largest_bytes;
}

void at_gpu_will_renew(struct at_gpu *gpu)
{
    struct at_wire request = {0};
    struct at_error err;

    if (gpu->next.pid != 0 || at_worker_start(&gpu->next, at_gpu_worker.name, &err) != AT_OK)
        return;
    at_wire_put_text(&request, gpu->kind);
    at_frame_send(gpu->next.fd, AT_GPU_LIST, &request); /* a failure shows on receiving */
    at_wire_clear(&request);
}

/* The new worker opens the device while the old one releases it. */
void at_gpu_renew(struct at_gpu *gpu)
{
    struct at_worker old = gpu->worker;
    bool was_open = gpu->open;
    struct at_error err;

    at_gpu_wait_for_turn(gpu);
    gpu->worker = (struct at_worker){0};
    gpu->open = false;
    gpu->case_count = 0;
    at_worker_kill(&old);
    at_gpu_revive(gpu, &err);
    at_gpu_stop_worker(gpu, &old, NULL);
    if (was_open)
        at_turn_closes(gpu->turn);
}

const struct at_gpu_conditions *at_gpu_conditions(const struct at_gpu *gpu)
{
    return &gpu->conditions;
}
