/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/gpu_worker.h"
#include "measure/devices.h"

#include "base/clock.h"
#include "base/memory.h"
#include "measure/gpu_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct at_device_ops *find_kind(const char *kind)
{
    const struct at_device_ops *const *ops = at_device_kinds;

    while (*ops && strcmp((*ops)->kind, kind) != 0)
        ops++;
    return *ops;
}

static const struct at_device_ops *get_kind(struct at_exchange *exchange)
{
    char kind[16];

    at_wire_get_text(exchange->request, kind, sizeof kind);
    return find_kind(kind);
}

static struct at_gpu_result list(struct at_gpu_server *server, struct at_exchange *exchange)
{
    const struct at_device_ops *ops = get_kind(exchange);
    struct at_device_info *infos;
    size_t count;
    enum at_status status;

    (void)server;
    if (!ops)
        return at_gpu_result_of_status(at_fail(exchange->err, AT_DEVICE, "unknown kind of device"));
    status = ops->list(&infos, &count, exchange->err);
    if (status != AT_OK)
        return at_gpu_result_of_status(status);
    at_wire_put_int(exchange->reply, (int64_t)count);
    for (size_t i = 0; i < count; i++)
        at_wire_put_bytes(exchange->reply, &infos[i], sizeof infos[i]);
    free(infos);
    return at_gpu_result_of_status(AT_OK);
}

static struct at_gpu_result open_device(struct at_gpu_server *server, struct at_exchange *exchange)
{
    const struct at_device_ops *ops = get_kind(exchange);
    int64_t ordinal = at_wire_get_int(exchange->request);
    char driver[32], cuda[16];
    enum at_status status;

    if (!ops || server->bench.device)
        return at_gpu_result_of_status(
            at_fail(exchange->err, AT_DEVICE, "the device cannot be opened"));
    status = at_device_open(ops, &server->bench.device, ordinal, exchange->err);
    if (status != AT_OK)
        return at_gpu_result_of_status(status);
    server->bench.ops = ops;
    ops->versions(server->bench.device, driver, sizeof driver, cuda, sizeof cuda);
    at_wire_put_bytes(exchange->reply, &((struct at_device_base *)server->bench.device)->info,
                      sizeof(struct at_device_info));
    at_wire_put_text(exchange->reply, driver);
    at_wire_put_text(exchange->reply, cuda);
    return at_gpu_result_of_status(AT_OK);
}

static struct at_gpu_result memory(struct at_gpu_server *server, struct at_exchange *exchange)
{
    int64_t free_bytes, total_bytes;

    server->bench.ops->memory(server->bench.device, &free_bytes, &total_bytes);
    at_wire_put_int(exchange->reply, free_bytes);
    at_wire_put_int(exchange->reply, total_bytes);
    return at_gpu_result_of_status(AT_OK);
}

static struct at_gpu_result harness(struct at_gpu_server *server, struct at_exchange *exchange)
{
    size_t size;
    const void *image = at_wire_get_bytes(exchange->request, &size);

    return at_gpu_result_of_outcome(
        image ? at_bench_harness(&server->bench, image, size, exchange->err) : AT_LAUNCH);
}

/* Out of memory fails only this request; the next may need less. */
static struct at_gpu_result prepare(struct at_gpu_server *server, struct at_exchange *exchange)
{
    struct at_gpu_case cases[AT_CASES_MAX];
    size_t count = at_wire_get_count(exchange->request, sizeof cases[0]);
    struct at_gpu_result result;

    if (count > AT_CASES_MAX)
        return at_gpu_result_of_status(at_fail(exchange->err, AT_INTERNAL, "too many cases"));
    for (size_t i = 0; i < count; i++)
        at_wire_get_struct(exchange->request, &cases[i], sizeof cases[i]);
    result =
        at_gpu_result_of_outcome(at_bench_prepare(&server->bench, cases, count, exchange->err));
    if (result.outcome == AT_OOM)
        result.status = AT_FAILED;
    return result;
}

static struct at_gpu_result load(struct at_gpu_server *server, struct at_exchange *exchange)
{
    struct at_taken_program taken;

    return at_gpu_result_of_outcome(at_gpu_server_take_program(server, exchange, &taken));
}

static const struct {
    struct at_gpu_result (*handle)(struct at_gpu_server *server, struct at_exchange *exchange);
    bool needs_device;
} requests[] = {
    [AT_GPU_LIST] = {list, false},
    [AT_GPU_OPEN] = {open_device, false},
    [AT_GPU_MEMORY] = {memory, true},
    [AT_GPU_HARNESS] = {harness, true},
    [AT_GPU_PREPARE] = {prepare, true},
    [AT_GPU_LOAD] = {load, true},
    [AT_GPU_EVALUATE] = {at_gpu_server_evaluate, true},
    [AT_GPU_SHOOTOUT] = {at_gpu_server_shootout, true},
    [AT_GPU_COUNT] = {at_gpu_server_count, true},
};

/* Answer one request. False: the device is lost or the request is malformed, and the process must
 * end. */
static bool answer(struct at_gpu_server *server, int fd, int32_t type, struct at_wire *request)
{
    struct at_wire content = {0}, reply = {0};
    struct at_error err = {AT_OK, "no reason given"};
    struct at_exchange exchange = {request, &content, &err};
    struct at_gpu_result result;
    bool sent;

    if (type < 1 || (size_t)type >= AT_COUNT(requests) || !requests[type].handle ||
        (requests[type].needs_device && !server->bench.device))
        return false;
    server->began_ns = at_now_ns();
    server->clock_memory_khz = 0;
    server->look = (struct at_look){0};
    result = requests[type].handle(server, &exchange);
    at_gpu_server_note_busy(server);
    at_wire_put_bytes(&reply, &result, sizeof result);
    if (result.status != AT_OK)
        at_wire_put_text(&reply, err.message);
    else
        at_wire_put_bytes(&reply, content.bytes, content.size);
    sent = at_frame_send(fd, type, &reply) == AT_FRAME_OK;
    at_wire_clear(&reply);
    at_wire_clear(&content);
    return sent && !at_outcome_loses_device(result.outcome);
}

static int serve(int fd)
{
    struct at_gpu_server server = {.conditions = at_gpu_conditions_none(),
                                   .last = at_device_state_unknown()};
    struct at_wire request = {0};
    int32_t type;
    bool going = true;

    while (going && at_frame_receive(fd, &type, &request, 0) == AT_FRAME_OK) {
        going = answer(&server, fd, type, &request);
        at_wire_clear(&request);
    }
    /* The driver's library cleans up on exit, which a lost context can block. _exit skips that, and
     * the system frees what the process holds on the device. */
    _exit(0);
}

const struct at_worker_role at_gpu_worker = {"gpu", serve};
