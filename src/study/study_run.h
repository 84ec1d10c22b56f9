/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a study. Counts always come from the emulated device. Times are measured on a GPU, and
 * predicted on an emulated device. */
#ifndef AT_STUDY_STUDY_RUN_H
#define AT_STUDY_STUDY_RUN_H

#include "base/table.h"
#include "explain/explain.h"
#include "pipeline/session.h"
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

/* A row, ready to count and time. */
struct at_study_case {
    struct at_config config;
    struct at_problem problem;
};

/* Counts and times the study `name`, read from path, on the device. The caller clears the result by
 * its schema. AT_USAGE: a row is not in its family's space. AT_FAILED: a row is not legal, or gives
 * wrong results. The message names the row. */
enum at_status at_study_run(const struct at_study *study, const char *name, const char *path,
                            const struct at_device_info *device,
                            const struct at_session_options *options,
                            struct at_study_result *result, struct at_error *err);

/* Verifies the cases on a GPU, then times the cases of each problem together and sets the lines'
 * time_ns. */
enum at_status at_study_time(const struct at_study_case *cases, struct at_study_line *lines,
                             size_t count, const struct at_device_info *device,
                             const struct at_session_options *options, struct at_error *err);

/* Sets the counts and the predicted time of a line to an explanation's. */
void at_study_add_up(struct at_study_line *line, const struct at_explanation *explanation);

/* Prints the result as a table. */
void at_study_print(const struct at_study *study, const struct at_study_result *result);

/* Print the same figures as one plain table. */
void at_study_tabulate(const struct at_study *study, const struct at_study_result *result,
                       enum at_table_form form);

#endif
