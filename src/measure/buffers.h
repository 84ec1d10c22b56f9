/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers of a problem on a device. */
#ifndef AT_MEASURE_BUFFERS_H
#define AT_MEASURE_BUFFERS_H

#include "device/device.h"
#include "measure/gpu_protocol.h"
#include "measure/group_tables.h"
#include "measure/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_bench;

/* One side's buffers: of each set a poisoned margin (the red zone), the data, and a margin again.
 * An offset lengthens both margins. */
struct at_buffer {
    at_address start;
    int64_t zone;  /* bytes of the front margin */
    int64_t pitch; /* from one set to the next, in bytes */
};

/* Lay out a buffer of `bytes` a set; it has no address yet. Its pitch is a multiple of 256, and so
 * are its margins without the offset. So buffers stay aligned. */
struct at_buffer at_buffer_lay_out(int64_t bytes, int64_t offset_bytes,
                                   const struct at_device_info *device);

/* Return where a set's buffer begins, with its front red zone; and where its data does. */
at_address at_buffer_whole(const struct at_buffer *buffer, int64_t set);
at_address at_buffer_of(const struct at_buffer *buffer, int64_t set);

struct at_buffers {
    struct at_problem problem;
    int64_t sets;
    struct at_buffer src, dst;
    struct at_buffer second; /* of a problem with beta: the second source, laid out as dst */
    struct at_buffer kept;   /* of one with two results: the second one, laid out as src */
    struct at_buffer scales, kept_scales; /* of one with blocks: the scales of both */
    struct at_buffer sums;                /* of one with sums */
    /* Of one with blocks: what a set's dst, kept and scales have to be. Of one with sums: then what
     * its sums have to be. */
    at_address expected;
    at_address scratch; /* of one with sums: as many bytes as a kernel may need */
    /* Of a problem with a step: a table of AT_STEP_VALUES elements of the source, as many of the
     * second source, as many results or sets of them, as many second results; then what is computed
     * with, and the largest magnitude. 0: no step. */
    at_address values;
    struct at_step_operands operands;
    bool by_value; /* the launch gives the numbers themselves, and not where the device has them */
    uint32_t largest; /* the bits of the source's largest magnitude */
    struct at_group_tables groups;
};

/* Return the device memory that `sets` sets of a problem's buffers take, in bytes, with margins.
 * INT64_MAX if it does not fit. */
int64_t at_buffers_bytes(const struct at_problem *problem, int64_t sets,
                         const struct at_device_info *device);

/* The buffers in one order: what kernels read, then what they write, as in the expected bytes. A
 * buffer that a problem does not have has no pitch. */
enum { AT_FIRST_OUTPUT = 2, AT_BUFFER_SIDES = 7 };

const struct at_buffer *at_buffers_side(const struct at_buffers *buffers, size_t side);

/* The scratch memory of a case's launches. */
struct at_scratch {
    at_address start;
    int64_t bytes; /* 0: they need none */
};

struct at_scratch at_buffers_scratch(const struct at_buffers *buffers);

/* Allocate the buffers, fill the sources and poison the destinations. AT_OOM says how much was
 * requested. */
enum at_outcome at_buffers_make(const struct at_bench *bench, struct at_buffers *buffers,
                                const struct at_gpu_case *wanted, struct at_error *err);

/* Start filling the sources and poisoning all else, as at_buffers_make did. */
enum at_outcome at_buffers_fill(const struct at_bench *bench, const struct at_buffers *buffers,
                                struct at_error *err);

void at_buffers_release(const struct at_bench *bench, struct at_buffers *buffers);

/* Start restoring the outputs of a set to their first content. */
enum at_outcome at_buffers_reset(const struct at_bench *bench, const struct at_buffers *buffers,
                                 int64_t set, struct at_error *err);

/* Set a call's arguments: a kernel on a set, from src to dst, which may lie within the set's
 * buffers. `skip` is the address of a flag, or 0. A second source whose beta is 0 is not there. */
void at_buffers_put_args(struct at_call *call, const struct at_buffers *buffers,
                         const struct at_problem *problem, int64_t set, at_address dst,
                         at_address src, at_address skip);

#endif
