/* SPDX-License-Identifier: Apache-2.0 */
/* An emulated GPU: described in tuning/devices, run by emu/machine.h. Its results are computed and
 * verified; its times are predicted by model/predict.h, never measured. */
#ifndef AT_DEVICE_EMULATED_EMULATED_H
#define AT_DEVICE_EMULATED_EMULATED_H

#include "device/device.h"
#include "emu/machine.h"
#include "model/predict.h"

extern const struct at_device_ops at_emu_device_ops;

/* The last prediction, kept because a train repeats one call, and two trains are made of it. */
struct at_emu_predicted {
    bool known;
    const void *kernel; /* its handle; NULL: a copy by the driver */
    struct at_call call;
    double ns;
};

/* Shared by the files of this device. */
struct at_emu_device {
    struct at_device_base base;
    struct at_rates rates;
    struct at_emu_memory *memory;
    int threads;             /* of the host */
    enum at_outcome outcome; /* of the first fault, for wait */
    struct at_error fault;   /* its message */
    struct at_emu_predicted last;
};

static inline struct at_emu_device *at_emu_device_of(struct at_device *device)
{
    return (struct at_emu_device *)device;
}

/* Make the machine's launch from a call of a kernel, whose arguments it borrows. */
struct at_emu_launch at_emu_launch_of(const struct at_emu_device *device,
                                      const struct at_call *call);

/* list.c */
enum at_status at_emu_list(struct at_device_info **infos, size_t *count, struct at_error *err);
enum at_status at_emu_open(struct at_device **device, int64_t ordinal, struct at_error *err);

/* train.c */
enum at_outcome at_emu_make_train(struct at_device *device, const struct at_call *calls,
                                  size_t count, size_t lead_in, struct at_train **train,
                                  struct at_error *err);
enum at_outcome at_emu_time_train(struct at_device *device, struct at_train *train,
                                  struct at_train_time *time, struct at_error *err);
void at_emu_free_train(struct at_device *device, struct at_train *train);

#endif
