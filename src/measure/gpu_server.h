/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the GPU worker share: its state and its request handlers. */
#ifndef AT_MEASURE_GPU_SERVER_H
#define AT_MEASURE_GPU_SERVER_H

#include "measure/bench.h"
#include "worker/wire.h"

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
    int64_t began_ns;            /* start of the current request */
    int64_t clock_memory_khz;    /* NVML's answer during that; 0: not asked; -1: unknown */
    struct at_look look;         /* the rest of that answer */
};

/* What a handler reads and writes. Its result is sent before the reply. After a failure err's
 * message is sent instead of the reply. */
struct at_exchange {
    struct at_wire *request, *reply;
    struct at_error *err;
};

struct at_loaded_program *at_gpu_server_find(struct at_gpu_server *server, const char *name);
void at_gpu_server_unload(struct at_gpu_server *server, const char *name);

/* Read a program from the request, and load it if its image was sent. */
struct at_taken_program {
    char name[40];
    bool brought;
};
enum at_outcome at_gpu_server_take_program(struct at_gpu_server *server,
                                           struct at_exchange *exchange,
                                           struct at_taken_program *taken);

/* Ask NVML for the device's state; call this while the clocks are still those of the work. Returns
 * true if heat or the power supply has slowed the device since the last call. */
bool at_gpu_server_note_conditions(struct at_gpu_server *server);

/* Add the time since the request began. A request without figures is reported with the next one
 * that has some. */
void at_gpu_server_note_busy(struct at_gpu_server *server);

/* Put what has been seen into a reply. */
void at_gpu_server_put_conditions(struct at_gpu_server *server, struct at_wire *reply);

/* evaluate.c */
struct at_gpu_result at_gpu_server_evaluate(struct at_gpu_server *server,
                                            struct at_exchange *exchange);
struct at_gpu_result at_gpu_server_shootout(struct at_gpu_server *server,
                                            struct at_exchange *exchange);
struct at_gpu_result at_gpu_server_count(struct at_gpu_server *server,
                                         struct at_exchange *exchange);

#endif
