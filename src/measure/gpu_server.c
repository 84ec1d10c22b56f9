/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU worker's loaded programs, and what it has seen of the device's state. */
#include "measure/gpu_server.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

struct at_loaded_program *at_gpu_server_find(struct at_gpu_server *server, const char *name)
{
    for (size_t i = 0; i < server->program_count; i++)
        if (strcmp(server->programs[i].name, name) == 0)
            return &server->programs[i];
    return NULL;
}

static enum at_outcome load_program(struct at_gpu_server *server, const char *name,
                                    const void *image, size_t size, struct at_error *err)
{
    struct at_loaded_program program = {0};
    enum at_outcome outcome;

    if (at_gpu_server_find(server, name))
        return AT_CORRECT;
    snprintf(program.name, sizeof program.name, "%s", name);
    outcome = server->bench.ops->load(server->bench.device, image, size, &program.module, err);
    if (outcome == AT_CORRECT)
        AT_PUSH(server->programs, server->program_count, server->program_capacity, program);
    return outcome;
}

void at_gpu_server_unload(struct at_gpu_server *server, const char *name)
{
    struct at_loaded_program *program = at_gpu_server_find(server, name);

    if (!program)
        return;
    server->bench.ops->unload(server->bench.device, program->module);
    *program = server->programs[--server->program_count];
}

enum at_outcome at_gpu_server_take_program(struct at_gpu_server *server,
                                           struct at_exchange *exchange,
                                           struct at_taken_program *taken)
{
    char unload[sizeof taken->name];
    size_t size;
    const void *image;

    at_wire_get_text(exchange->request, taken->name, sizeof taken->name);
    at_wire_get_text(exchange->request, unload, sizeof unload);
    image = at_wire_get_bytes(exchange->request, &size);
    at_gpu_server_unload(server, unload);
    taken->brought = size > 0;
    if (!taken->brought)
        return AT_CORRECT;
    return load_program(server, taken->name, image, size, exchange->err);
}

/* NVML takes milliseconds to answer, or tens of them while other processes ask it about other GPUs
 * of the machine. So it is not asked after every config, and less often the longer it takes. */
static const int64_t conditions_interval_ns = 100000000;
enum { CONDITIONS_SHARE = 30 }; /* at most 1/30 of the time */

/* How far a counter advanced, if both readings are known. */
static int64_t advance(int64_t from, int64_t to)
{
    return from >= 0 && to > from ? to - from : 0;
}

static struct at_look look_of(const struct at_device_state *now)
{
    return (struct at_look){
        .power_mw = now->power_mw > 0 ? now->power_mw : 0,
        .temperature_c = now->temperature_c > 0 ? now->temperature_c : 0,
        .throttle_known = now->throttle_known,
        .throttle = now->throttle_known ? now->throttle : 0,
    };
}

bool at_gpu_server_note_conditions(struct at_gpu_server *server)
{
    struct at_device_state now;
    int64_t began_ns = at_now_ns(), pause_ns, slowed_ns;

    if (began_ns < server->conditions_due_ns)
        return false;
    server->bench.ops->state(server->bench.device, &now);
    pause_ns = CONDITIONS_SHARE * (at_now_ns() - began_ns);
    server->conditions_due_ns =
        began_ns + (pause_ns > conditions_interval_ns ? pause_ns : conditions_interval_ns);
    slowed_ns = advance(server->last.slowed_ns, now.slowed_ns);
    server->conditions.slowed_ns += slowed_ns;
    server->conditions.capped_ns += advance(server->last.capped_ns, now.capped_ns);
    server->last = now;
    server->clock_memory_khz = now.clock_memory_khz;
    server->look = look_of(&now);
    at_gpu_conditions_widen(&server->conditions, &(struct at_gpu_conditions){
                                                     .clock_sm_min_khz = now.clock_sm_khz,
                                                     .clock_sm_max_khz = now.clock_sm_khz,
                                                     .clock_memory_khz = now.clock_memory_khz,
                                                     .power_max_mW = now.power_mw,
                                                     .temperature_max_c = now.temperature_c,
                                                     .other_processes = now.other_processes,
                                                     .throttle_known = now.throttle_known,
                                                     .throttle = now.throttle,
                                                 });
    return slowed_ns > 0;
}

void at_gpu_server_note_busy(struct at_gpu_server *server)
{
    int64_t now_ns = at_now_ns();

    server->conditions.busy_ns += now_ns - server->began_ns;
    server->began_ns = now_ns;
}

void at_gpu_server_put_conditions(struct at_gpu_server *server, struct at_wire *reply)
{
    struct at_gpu_conditions *seen = &server->conditions;

    if (server->bench.clocks.count > 0)
        at_gpu_conditions_widen(seen, &(struct at_gpu_conditions){
                                          .clock_sm_min_khz = server->bench.clocks.least_khz,
                                          .clock_sm_max_khz = server->bench.clocks.most_khz,
                                          .clock_memory_khz = -1,
                                          .power_max_mW = -1,
                                          .temperature_max_c = -1,
                                          .other_processes = -1,
                                      });
    seen->discarded = server->bench.discarded;
    at_gpu_server_note_busy(server);
    at_wire_put_bytes(reply, seen, sizeof *seen);
    server->bench.discarded = 0;
    seen->capped_ns = seen->slowed_ns = seen->busy_ns = 0;
}
