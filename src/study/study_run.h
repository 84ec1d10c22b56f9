/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a study. Counts always come from the emulated device. Times are measured on a GPU, and
 * predicted on an emulated device. */
#ifndef AT_STUDY_STUDY_RUN_H
#define AT_STUDY_STUDY_RUN_H

#include "explain/own_kernel.h"
#include "pipeline/session.h"
#include "schema/print.h"
#include "study/study_file.h"

/* All accesses in one direction by the counted blocks. */
struct at_study_global {
    int64_t requests;
    int64_t sectors;
    int64_t wanted_bytes;
};
struct at_study_shared {
    int64_t requests;
    int64_t wavefronts;
    int64_t least_wavefronts; /* if there were no bank conflicts */
};

struct at_study_line {
    char label[64];
    char family[64];   /* "" for a kernel of the user's own */
    char config[512];  /* at_config_format; the launch of a kernel of the user's own */
    char problem[160]; /* at_problem_format; the file of a kernel of the user's own */
    int64_t blocks, blocks_counted;
    struct at_study_global load, store;
    struct at_study_shared shared_load, shared_store;
    int64_t conflicts; /* wavefronts of shared memory beyond the least */
    int64_t occupancy_percent;
    struct at_explained_caches caches;
    int64_t time_ns;
    int64_t bandwidth_MB_per_s;
};

struct at_study_result {
    char study[64]; /* name of the study */
    char title[80];
    char device[128];
    char times[16];       /* "measured" or "predicted" */
    char note[160];       /* about the times and the counts */
    struct at_list lines; /* of struct at_study_line, in the order of the study's rows */
    char *reading;
};
extern const struct at_schema at_study_result_schema;

/* Counts and times the study `name`, read from path, on the device. The caller clears the result by
 * its schema. AT_USAGE: a row is not in its family's space. AT_FAILED: a row is not legal, or gives
 * wrong results. The message names the row. */
enum at_status at_study_run(const struct at_study *study, const char *name, const char *path,
                            const struct at_device_info *device,
                            const struct at_session_options *options,
                            struct at_study_result *result, struct at_error *err);

/* Count the launches on the device and predict their times (rates; NULL: unknown, so no times). A
 * launch without an entry stands for each kernel of the file. The zeroed study gets the columns
 * that the kernels have figures for; the caller clears both by at_study_clear and the result's
 * schema. Fails as at_own_kernel_explain does. */
enum at_status at_own_study(const struct at_own_file *file, const struct at_own_launch *launches,
                            size_t count, const struct at_device_info *device,
                            const struct at_rates *rates, struct at_study *study,
                            struct at_study_result *result, struct at_error *err);

/* Print the result as --format says. */
enum at_status at_study_print(const struct at_study *study, const struct at_study_result *result,
                              enum at_output_format format, struct at_error *err);

#endif
