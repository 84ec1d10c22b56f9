/* SPDX-License-Identifier: Apache-2.0 */
/* A device that need not be there: described in tuning/devices, run by machine.h, its times
 * predicted by model/predict.h. What it computes is real and checked; no time of it is measured. */
#ifndef AT_DEVICE_EMULATED_EMULATED_H
#define AT_DEVICE_EMULATED_EMULATED_H

#include "device/device.h"
#include "emu/machine.h"
#include "model/predict.h"

extern const struct at_device_ops at_emu_device_ops;

/* The last prediction that was made: a train is one call many times over, and is made twice. */
struct at_emu_predicted {
    bool known;
    const void *kernel; /* its handle; NULL: a copy by the driver */
    struct at_call call;
    double ns;
};

/* What the files of this device share. */
struct at_emu_device {
    struct at_device_base base;
    struct at_rates rates;
    struct at_emu_memory *memory;
    int threads;             /* of the host */
    enum at_outcome outcome; /* the first fault of all that was started, for wait */
    struct at_error fault;   /* says which */
    struct at_emu_predicted last;
};

static inline struct at_emu_device *at_emu_device_of(struct at_device *device)
{
    return (struct at_emu_device *)device;
}

/* The machine's launch for a call of a kernel; its arguments are the call's. */
struct at_emu_launch at_emu_launch_of(const struct at_emu_device *device,
                                      const struct at_call *call);

/* emu_list.c */
enum at_status at_emu_list(struct at_device_info **infos, size_t *count, struct at_error *err);
enum at_status at_emu_open(struct at_device **device, int64_t ordinal, struct at_error *err);

/* emu_train.c */
enum at_outcome at_emu_make_train(struct at_device *device, const struct at_call *calls,
                                  size_t count, size_t lead_in, struct at_train **train,
                                  struct at_error *err);
enum at_outcome at_emu_time_train(struct at_device *device, struct at_train *train,
                                  struct at_train_time *time, struct at_error *err);
void at_emu_free_train(struct at_device *device, struct at_train *train);

#endif
