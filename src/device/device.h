/* SPDX-License-Identifier: Apache-2.0 */
/* A device loads compiled kernels and runs them. Each kind is one const struct of functions, listed
 * in measure/gpu_worker.c. A device is opened in a GPU worker process, never in the main process.
 *
 * Functions that can fail return an outcome: AT_CORRECT for success, else how the current
 * evaluation ends. After some outcomes the process must end: see at_outcome_loses_device. */
#ifndef AT_DEVICE_DEVICE_H
#define AT_DEVICE_DEVICE_H

#include "base/error.h"
#include "base/outcome.h"
#include "device/counters.h"
#include "device/info.h"
#include "device/launch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_device; /* each kind defines its own, beginning with this: */
struct at_device_base {
    const struct at_device_ops *ops;
    struct at_device_info info;
};

struct at_module;
struct at_train;

typedef uint64_t at_address; /* of device memory; 0: none */

struct at_kernel {
    void *handle;
    int64_t registers;    /* per thread */
    int64_t local_bytes;  /* per thread: spills and arrays that are not in registers */
    int64_t shared_bytes; /* static, per block */
};

/* One launch of a kernel; if kernel is NULL, a copy by the driver of args[2] bytes from args[1] to
 * args[0]. The machine is little-endian: a shorter argument is in the low bytes of its word. */
struct at_call {
    const struct at_kernel *kernel;
    struct at_launch launch;
    uint64_t args[AT_CALL_WORDS];
    uint8_t arg_words[AT_CALL_ARGS]; /* of each argument; 0 is 1 */
    bool cold; /* its data is read from DRAM: for a device that predicts the time of a train */
    /* What all blocks of a launch make together, or change in place. A prediction runs some blocks,
     * and restores it. 0: nothing. */
    at_address state;
    size_t state_bytes;
};

/* The duration of a train, and the mean clock of the multiprocessors during it; -1: unknown. */
struct at_train_time {
    double ns;
    int64_t clock_sm_khz;
};

enum at_mark { AT_BEFORE, AT_AFTER, AT_MARKS };

/* The device's state according to NVML; negative numbers are unknown. */
struct at_device_state {
    int64_t clock_sm_khz, clock_memory_khz;
    int64_t power_mw;
    int64_t temperature_c;
    int64_t
        capped_ns; /* total time with clocks lowered by the power limit; only differences count */
    int64_t slowed_ns;       /* the same for clocks lowered by heat or by the power supply */
    int64_t other_processes; /* besides this one, with a context on the device */
    bool throttle_known;
    uint64_t throttle; /* bits of enum at_throttle */
};

static inline struct at_device_state at_device_state_unknown(void)
{
    return (struct at_device_state){-1, -1, -1, -1, -1, -1, -1, false, 0};
}

/* Reasons for lowered clocks; one bit each. */
enum at_throttle {
    AT_THROTTLE_SW_POWER_CAP = 1 << 0,
    AT_THROTTLE_HW_SLOWDOWN = 1 << 1,
    AT_THROTTLE_SYNC_BOOST = 1 << 2,
    AT_THROTTLE_SW_THERMAL_SLOWDOWN = 1 << 3,
    AT_THROTTLE_HW_THERMAL_SLOWDOWN = 1 << 4,
    AT_THROTTLE_HW_POWER_BRAKE = 1 << 5,
    AT_THROTTLE_DISPLAY_CLOCK = 1 << 6,
};
enum { AT_THROTTLES = 7 };

/* NVML's names, by the bit of enum at_throttle. */
extern const char *const at_throttle_names[AT_THROTTLES];

struct at_device_ops {
    const char *kind; /* "cuda", "emulated" */

    /* List all devices of this kind; the caller frees *infos. AT_DEVICE if there is no driver. */
    enum at_status (*list)(struct at_device_info **infos, size_t *count, struct at_error *err);
    /* See at_device_open. */
    enum at_status (*open)(struct at_device **device, int64_t ordinal, struct at_error *err);

    /* The versions of the driver and of the CUDA that it supports, for profiles. */
    void (*versions)(struct at_device *device, char *driver, size_t driver_size, char *cuda,
                     size_t cuda_size);
    void (*state)(struct at_device *device, struct at_device_state *state);

    void (*memory)(struct at_device *device, int64_t *free_bytes, int64_t *total_bytes);
    enum at_outcome (*allocate)(struct at_device *device, int64_t bytes, at_address *address,
                                struct at_error *err);
    void (*release)(struct at_device *device, at_address address);

    enum at_outcome (*load)(struct at_device *device, const void *image, size_t size,
                            struct at_module **module, struct at_error *err);
    void (*unload)(struct at_device *device, struct at_module *module);
    /* Fill the kernel. The caller has set the compiler's figures, for a device without its own. */
    enum at_outcome (*find)(struct at_device *device, struct at_module *module, const char *entry,
                            struct at_kernel *kernel, struct at_error *err);

    /* start queues a call; wait returns when all calls have ended, with the first failure. */
    enum at_outcome (*start)(struct at_device *device, const struct at_call *call,
                             struct at_error *err);
    enum at_outcome (*wait)(struct at_device *device, struct at_error *err);

    /* Copy between host and device, after all calls started before. */
    enum at_outcome (*read)(struct at_device *device, void *bytes, at_address address, size_t size,
                            struct at_error *err);
    enum at_outcome (*write)(struct at_device *device, at_address address, const void *bytes,
                             size_t size, struct at_error *err);

    /* The host's address of device memory, while no call runs. NULL: a device whose memory it
     * cannot reach. After a failed call, fails as wait does. */
    enum at_outcome (*view)(struct at_device *device, void **bytes, at_address address, size_t size,
                            struct at_error *err);

    /* A train: calls that run back to back and are timed as one unit, as often as wanted. Its last
     * lead_in calls (1 to count) also run before, untimed, so that the first timed call finds
     * caches and pipelines in the same state as the later ones. */
    enum at_outcome (*make_train)(struct at_device *device, const struct at_call *calls,
                                  size_t count, size_t lead_in, struct at_train **train,
                                  struct at_error *err);
    enum at_outcome (*time_train)(struct at_device *device, struct at_train *train,
                                  struct at_train_time *time, struct at_error *err);
    void (*free_train)(struct at_device *device, struct at_train *train);

    /* Note the time in the queue of calls: before a call that is to be timed, or after it. Once all
     * have ended, between() tells the time between the last two such marks. NULL: a device that
     * predicts times. */
    enum at_outcome (*mark)(struct at_device *device, enum at_mark which, struct at_error *err);
    enum at_outcome (*between)(struct at_device *device, double *ns, struct at_error *err);

    /* Run a call of a kernel several times, each with empty caches, and read the hardware's
     * counters. NULL: the device has none. AT_LAUNCH if they may not be read here; the message has
     * the remedy. */
    enum at_outcome (*count)(struct at_device *device, const struct at_call *call,
                             struct at_counters *counters, struct at_error *err);
};

/* Open a device of this kind. It stays open until the process ends. */
static inline enum at_status at_device_open(const struct at_device_ops *ops,
                                            struct at_device **device, int64_t ordinal,
                                            struct at_error *err)
{
    enum at_status status = ops->open(device, ordinal, err);

    if (status == AT_OK)
        ((struct at_device_base *)*device)->ops = ops;
    return status;
}

#endif
