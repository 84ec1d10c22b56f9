/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's profiler, loaded at run time, and only if counters are requested. The range profiler came
 * with CUDA 12.6. */
#ifndef AT_DEVICE_CUDA_CUPTI_H
#define AT_DEVICE_CUDA_CUPTI_H

#include "base/error.h"

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

/* Not every CUDA installation has CUPTI's headers, and one of them is C++, so the few declarations
 * in use are repeated here, from the CUPTI API Reference ("Range Profiling", "Profiler Host").
 * Every parameter record begins with its size up to the end of its last member, and a pointer that
 * is NULL. All functions return 0 for success. */
/* clang-format off */
#define AT_CUPTI_HEAD size_t size; void *none
/* clang-format on */
#define AT_CUPTI_SIZE(record, last)                                                                \
    (offsetof(struct record, last) + sizeof(((struct record *)0)->last))

struct at_cupti_initialize {
    AT_CUPTI_HEAD;
};

struct at_cupti_chip_name {
    AT_CUPTI_HEAD;
    size_t device;
    const char *name; /* out, as all that is so marked */
};

struct at_cupti_availability {
    AT_CUPTI_HEAD;
    CUcontext context;
    size_t image_size; /* in and out */
    uint8_t *image;    /* NULL: only its size is requested */
};

struct at_cupti_host {
    AT_CUPTI_HEAD;
    int profiler; /* 0: ranges */
    const char *chip;
    const uint8_t *availability;
    void *host; /* out */
};

struct at_cupti_host_end {
    AT_CUPTI_HEAD;
    void *host;
};

struct at_cupti_metrics {
    AT_CUPTI_HEAD;
    void *host;
    const char **names;
    size_t count;
};

struct at_cupti_config_size {
    AT_CUPTI_HEAD;
    void *host;
    size_t image_size; /* out */
};

struct at_cupti_config {
    AT_CUPTI_HEAD;
    void *host;
    size_t image_size;
    uint8_t *image;
};

struct at_cupti_values {
    AT_CUPTI_HEAD;
    void *host;
    const uint8_t *data;
    size_t data_size, range;
    const char **names;
    size_t count;
    double *values;
};

struct at_cupti_enable {
    AT_CUPTI_HEAD;
    CUcontext context;
    void *profiler; /* out */
};

/* Parameters of cuptiRangeProfilerDisable and cuptiRangeProfilerStart. */
struct at_cupti_profiler {
    AT_CUPTI_HEAD;
    void *profiler;
};

struct at_cupti_data_size {
    AT_CUPTI_HEAD;
    void *profiler;
    const char **names;
    size_t count, ranges;
    uint32_t nodes;
    size_t data_size; /* out */
};

struct at_cupti_data {
    AT_CUPTI_HEAD;
    void *profiler;
    size_t data_size;
    uint8_t *data;
};

enum { AT_CUPTI_AUTO_RANGE = 1 }; /* a range for each kernel */

enum { AT_CUPTI_USER_REPLAY = 3 };

struct at_cupti_set_config {
    AT_CUPTI_HEAD;
    void *profiler;
    size_t config_size;
    const uint8_t *config;
    size_t data_size;
    uint8_t *data;
    int range, replay;
    size_t ranges;
    uint16_t levels, least_level;
    size_t pass;
    uint16_t level;
};

struct at_cupti_stop {
    AT_CUPTI_HEAD;
    void *profiler;
    size_t pass, level; /* out */
    uint8_t all;        /* out: no pass is left */
};

struct at_cupti_decode {
    AT_CUPTI_HEAD;
    void *profiler;
    size_t dropped; /* out: ranges */
};

#define AT_CUPTI_FUNCTIONS(X)                                                                      \
    X(cuptiProfilerInitialize, struct at_cupti_initialize)                                         \
    X(cuptiDeviceGetChipName, struct at_cupti_chip_name)                                           \
    X(cuptiProfilerGetCounterAvailability, struct at_cupti_availability)                           \
    X(cuptiProfilerHostInitialize, struct at_cupti_host)                                           \
    X(cuptiProfilerHostDeinitialize, struct at_cupti_host_end)                                     \
    X(cuptiProfilerHostConfigAddMetrics, struct at_cupti_metrics)                                  \
    X(cuptiProfilerHostGetConfigImageSize, struct at_cupti_config_size)                            \
    X(cuptiProfilerHostGetConfigImage, struct at_cupti_config)                                     \
    X(cuptiProfilerHostEvaluateToGpuValues, struct at_cupti_values)                                \
    X(cuptiRangeProfilerEnable, struct at_cupti_enable)                                            \
    X(cuptiRangeProfilerDisable, struct at_cupti_profiler)                                         \
    X(cuptiRangeProfilerGetCounterDataSize, struct at_cupti_data_size)                             \
    X(cuptiRangeProfilerCounterDataImageInitialize, struct at_cupti_data)                          \
    X(cuptiRangeProfilerSetConfig, struct at_cupti_set_config)                                     \
    X(cuptiRangeProfilerStart, struct at_cupti_profiler)                                           \
    X(cuptiRangeProfilerStop, struct at_cupti_stop)                                                \
    X(cuptiRangeProfilerDecodeData, struct at_cupti_decode)

struct at_cupti_api {
#define FIELD(name, params) int (*name)(params *);
    AT_CUPTI_FUNCTIONS(FIELD)
#undef FIELD
    int (*cuptiGetResultString)(int result, const char **text);
};

#endif
