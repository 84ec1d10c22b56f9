/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of kernels. tuning/study/NAME.yaml is an experiment, which compares the counts and times of
 * several kernels; doc/studies.md describes the file. tuning/textbook.yaml has the kernels that
 * `autotune bench` shows beside the tuned one. */
#ifndef AT_STUDY_STUDY_FILE_H
#define AT_STUDY_STUDY_FILE_H

#include "problem/problem.h"
#include "schema/schema.h"
#include "space/family.h"

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

#endif
