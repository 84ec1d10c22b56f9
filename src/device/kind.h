/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from a device's kind, for all who would otherwise ask whether it is emulated. */
#ifndef AT_DEVICE_KIND_H
#define AT_DEVICE_KIND_H

#include "device/info.h"

#include <stdbool.h>
#include <stdint.h>

struct at_device_kind {
    const char *name;  /* as in struct at_device_info */
    const char *label; /* before the device's name, where its times must not pass for a GPU's */
    const char *times; /* what its times are: "measured", "predicted" */
    bool predicted;    /* nothing is measured, and the same launch always takes as long */
    bool hardware;     /* a lock keeps other runs off; it has counters; it leaves the CPUs alone */
    bool isolated;     /* a search takes nothing from other problems, so that it has the same result
                        * in any order and on any number of processes */
    bool slow;         /* an evaluation takes longer than a compilation */
    bool keeps_l2;     /* L2 keeps data between launches */
    bool finds_faults; /* a kernel's access outside its buffers is found and harms nothing */
    bool host_checks;  /* its memory is the host's, which fills and checks it without kernels */
    bool runs_ptx;     /* its images are PTX; else machine code */
    int64_t elements_max; /* of a buffer; 0: any number */
};

/* Return the device's kind. A device of a kind that is not known is taken for hardware. */
const struct at_device_kind *at_device_kind(const struct at_device_info *info);

/* How good the times of an emulated device are. */
struct at_predictions {
    const char *name;       /* as in struct at_device_info */
    int64_t within_percent; /* so near are nine of ten to the measured times, as far as is known */
    const char *error;      /* the same in words */
    const char *notice;     /* for every output that shows such times */
};

/* Return the predictions of that name; the calibrated ones, if there is none. */
const struct at_predictions *at_predictions_of(const char *name);

/* The notice for every output that shows times of an emulated device. */
static inline const char *at_emulated_times(const struct at_device_info *info)
{
    return at_predictions_of(info->predictions)->notice;
}

#endif
