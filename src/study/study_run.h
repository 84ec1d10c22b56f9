/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a study. Counts always come from the emulated device. Times are measured on a GPU, and
 * predicted on an emulated device. */
#ifndef AT_STUDY_STUDY_RUN_H
#define AT_STUDY_STUDY_RUN_H

#include "explain/own_kernel.h"
#include "pipeline/session.h"
#include "problem/problem.h"
#include "schema/print.h"
#include "schema/schema.h"
#include "space/family.h"

#include <stddef.h>
#include <stdint.h>

#define AT_TEXTBOOK_FILE "tuning/textbook.yaml"

enum { AT_STUDY_ROWS_MAX = 32, AT_TEXTBOOK_ROWS_MAX = 16 };

struct at_kernel_row {
    char label[64];
    char family[64];
    struct at_list parameters; /* of struct at_named_int; other parameters have their default */
};

struct at_study_row {
    struct at_kernel_row kernel;
    struct at_located problem; /* its text is NULL: the study's problem */
};

/* Columns besides label, time and bandwidth. */
enum at_study_column {
    AT_STUDY_LOAD_SECTORS, /* per request */
    AT_STUDY_LOAD_USED, /* percent of the sectors' bytes that are wanted: the degree of coalescing
                         */
    AT_STUDY_STORE_SECTORS,
    AT_STUDY_STORE_USED,
    AT_STUDY_SHARED_LOAD, /* wavefronts over wavefronts without bank conflicts: 32 is "32-way" */
    AT_STUDY_SHARED_STORE,
    AT_STUDY_CONFLICTS, /* extra wavefronts per block */
    AT_STUDY_OCCUPANCY, /* percent of the threads that a multiprocessor can hold */
    AT_STUDY_L1_SIZE,   /* KiB per multiprocessor */
    AT_STUDY_L1_HITS,   /* percent of the sectors that loads ask for */
    AT_STUDY_L2_HITS,   /* percent of all sectors, stores too */
    AT_STUDY_L2_READ,   /* MB of the whole grid, as all below */
    AT_STUDY_L2_WRITTEN,
    AT_STUDY_DRAM_READ, /* with an empty L2 at the start */
    AT_STUDY_DRAM_WRITTEN,
    AT_STUDY_WARM_READ, /* from DRAM, by a second launch */
    AT_STUDY_COLUMNS,
};

extern const char *const at_study_column_names[AT_STUDY_COLUMNS];

struct at_study {
    int64_t schema;
    char title[80];
    struct at_list columns; /* of struct at_located, each one of at_study_column_names */
    struct at_located problem;
    struct at_list rows; /* of struct at_study_row */
    char *reading;       /* a paragraph that explains the figures */
    bool differing;      /* columns in which all rows are alike have a line instead */
};

struct at_textbook {
    int64_t schema;
    struct at_list rows; /* of struct at_kernel_row */
};

/* Reads the file at path into the zeroed study, which the caller clears. AT_USAGE, with the place:
 * unknown columns, malformed problems, or a column, or a label on the same problem, used twice. */
enum at_status at_study_read(struct at_study *study, const char *path, struct at_error *err);

void at_study_clear(struct at_study *study);

/* Fills the zeroed textbook, which the caller clears. */
enum at_status at_textbook_read(struct at_textbook *textbook, struct at_error *err);

void at_textbook_clear(struct at_textbook *textbook);

/* Make the config of a row; messages name the file at path. */
enum at_status at_kernel_row_config(const struct at_kernel_row *row, const char *path,
                                    struct at_family *const *families, size_t family_count,
                                    struct at_config *config, struct at_error *err);

struct at_problem at_study_problem(const struct at_study *study, size_t index);

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
    char family[64];                /* "" for a kernel of the user's own */
    char config[512];               /* at_config_format; the launch of a kernel of the user's own */
    char problem[AT_PROBLEM_CHARS]; /* at_problem_format; the file of a kernel of the user's own */
    int64_t blocks, blocks_counted;
    struct at_study_global load, store;
    struct at_study_shared shared_load, shared_store;
    int64_t conflicts; /* wavefronts of shared memory beyond the least */
    int64_t occupancy_percent;
    struct at_explained_caches caches;
    int64_t time_ns; /* 0: not known, nor is bandwidth_MB_per_s */
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
 * schema. A launch that has a `check` is compared first. Kernels that do not run, or are wrong, are
 * left out, and a warning tells the reason of each. Fails as at_own_kernel_explain does, if none
 * is left. */
enum at_status at_own_study(const struct at_own_file *file, const struct at_own_launch *launches,
                            size_t count, const struct at_device_info *device,
                            const struct at_rates *rates, struct at_progress *progress,
                            struct at_study *study, struct at_study_result *result,
                            size_t *left_out, struct at_error *err);

/* Print the result as --format says. */
enum at_status at_study_print(const struct at_study *study, const struct at_study_result *result,
                              enum at_output_format format, struct at_error *err);

#endif
