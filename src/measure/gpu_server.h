/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a GPU worker share: its state, and the handlers of its requests. */
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
    int64_t conditions_due_ns;   /* when to look next */
    struct at_device_state last; /* what was seen then */
    int64_t began_ns;            /* the request in hand */
};

/* What a handler reads from and writes to. Its result goes before the reply, which after a failure
 * is dropped for err's message. */
struct at_exchange {
    struct at_wire *request, *reply;
    struct at_error *err;
};

struct at_loaded_program *at_gpu_server_find(struct at_gpu_server *server, const char *name);
void at_gpu_server_unload(struct at_gpu_server *server, const char *name);

/* Reads a program from the request, and loads it where it was brought along. */
struct at_taken_program {
    char name[40];
    bool brought;
};
enum at_outcome at_gpu_server_take_program(struct at_gpu_server *server,
                                           struct at_exchange *exchange,
                                           struct at_taken_program *taken);

/* Looks at the device's state; called while the clocks still are what the work made them. Has heat
 * or the power supply held them down since it was looked at last? */
bool at_gpu_server_note_conditions(struct at_gpu_server *server);

/* Adds the time since the request began. What a request without figures took is told with the next
 * one that has some. */
void at_gpu_server_note_busy(struct at_gpu_server *server);

/* Puts what has been seen into a reply. */
void at_gpu_server_put_conditions(struct at_gpu_server *server, struct at_wire *reply);

/* evaluate.c */
struct at_gpu_result at_gpu_server_evaluate(struct at_gpu_server *server,
                                            struct at_exchange *exchange);
struct at_gpu_result at_gpu_server_shootout(struct at_gpu_server *server,
                                            struct at_exchange *exchange);

#endif
