/* SPDX-License-Identifier: Apache-2.0 */
/* The result of `autotune bench` for one problem. */
#ifndef AT_STUDY_BENCH_REPORT_H
#define AT_STUDY_BENCH_REPORT_H

#include "schema/schema.h"

struct at_bench_row {
    char label[64];
    char kernel[1024]; /* family and parameters, or memcpy; "": illegal for this problem */
    int64_t time_ns;   /* 0 if illegal, as all fields below */
    int64_t bandwidth_MB_per_s;
    int64_t of_copy_permille;
    int64_t spread_permille;
    int64_t from_l2; /* 1: faster than DRAM allows */
};

struct at_bench_report {
    char device[128];
    char policy[16];
    char times[16]; /* the policy, or "predicted" */
    char problem[160];
    int64_t predicted;   /* 1: the device is emulated, so times are predicted */
    char note[160];      /* a remark on predicted times */
    struct at_list rows; /* of struct at_bench_row; the last is the tuned kernel */
};

#endif
