/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a device: plain data, passed between processes and written to profiles. */
#ifndef AT_DEVICE_INFO_H
#define AT_DEVICE_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define AT_KIND_EMULATED "emulated"

/* The uuid and the selector of an emulated device are this and the name of its description. */
#define AT_EMULATED_PREFIX "emu:"

/* Calibrated predictions are fitted to times that were measured on a device of this model. */
#define AT_CALIBRATED   "calibrated"
#define AT_UNCALIBRATED "uncalibrated"

struct at_device_info {
    char name[128];
    char kind[16];         /* "cuda", "emulated" */
    char predictions[16];  /* of an emulated device: AT_CALIBRATED, AT_UNCALIBRATED; else empty */
    char uuid[48];         /* "GPU-xxxxxxxx-xxxx-...", "emu:h200" */
    char pci_bus_id[32];   /* "0000:0f:00.0" */
    int64_t pci_device_id; /* as in NVML: vendor in the low 16 bits, device above; 0: unknown */
    int64_t ordinal;       /* CUDA's index, after CUDA_VISIBLE_DEVICES */
    int64_t compute_capability; /* 10 * major + minor: 90 */
    int64_t multiprocessors;
    int64_t memory_bytes;
    int64_t l2_bytes;
    int64_t memory_clock_khz;
    int64_t memory_bus_bits;
    int64_t memory_ecc; /* 1: errors are corrected; 0 also in profiles, which do not have it */
    int64_t peak_bandwidth_MB_per_s; /* DRAM, in 10^6 bytes per second, from clock and width; 0:
                                        unknown */
    int64_t warp_size;
    int64_t max_threads_per_block;
    int64_t max_threads_per_multiprocessor;
    int64_t registers_per_multiprocessor;
    int64_t shared_bytes_per_block; /* static and dynamic, without opting in: 49152 */
    int64_t shared_bytes_per_block_optin;
    int64_t shared_bytes_per_multiprocessor;
};

#endif
