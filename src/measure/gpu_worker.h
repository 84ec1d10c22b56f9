/* SPDX-License-Identifier: Apache-2.0 */
/* The process that holds a device: the only one that loads the driver's library, and the one that a
 * bad kernel kills. */
#ifndef AT_MEASURE_GPU_WORKER_H
#define AT_MEASURE_GPU_WORKER_H

#include "measure/bench.h"
#include "measure/turn.h"
#include "worker/worker.h"

extern const struct at_worker_role at_gpu_worker;

/* The kinds of device, in the order in which `--gpu auto` tries them. */
extern const struct at_device_ops *const at_device_kinds[]; /* NULL-ended */

/* ---- for tests ---- */

struct at_loaded_program {
    char name[40];
    struct at_module *module;
};

struct at_gpu_server {
    struct at_bench bench;
    struct at_loaded_program *programs;
    size_t program_count, program_capacity;
    struct at_gpu_conditions conditions;
    int64_t conditions_due_ns;   /* when to ask NVML next */
    struct at_device_state last; /* the last answer */
    struct at_turn turn;
    int64_t began_ns;         /* start of the current request */
    int64_t clock_memory_khz; /* NVML's answer during that; 0: not asked; -1: unknown */
    struct at_look look;      /* the rest of that answer */
};

/* What the handler of a request reads and writes. Its result is sent before the reply. After a
 * failure err's message is sent instead of the reply. */
struct at_exchange {
    struct at_wire *request, *reply;
    struct at_error *err;
};

/* Ask NVML for the device's state; call this while the clocks are still those of the work. Returns
 * true if heat or the power supply has slowed the device since the last call. */
bool at_gpu_server_note_conditions(struct at_gpu_server *server);

/* Put what has been seen into a reply. */
void at_gpu_server_put_conditions(struct at_gpu_server *server, struct at_wire *reply);

/* The handler of AT_GPU_SHOOTOUT. */
struct at_gpu_result at_gpu_server_shootout(struct at_gpu_server *server,
                                            struct at_exchange *exchange);

#endif
