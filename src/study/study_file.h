/* SPDX-License-Identifier: Apache-2.0 */
/* tuning/study/NAME.yaml: an experiment, as kernels whose counts and times tell something when they
 * stand side by side. doc/studies.md describes the file. */
#ifndef AT_STUDY_STUDY_FILE_H
#define AT_STUDY_STUDY_FILE_H

#include "problem/problem.h"
#include "study/kernel_row.h"

enum { AT_STUDY_ROWS_MAX = 32 };

struct at_study_row {
    struct at_kernel_row kernel;
    struct at_located problem; /* text NULL: the study's */
};

/* What a study may show besides label, time and bandwidth. */
enum at_study_column {
    AT_STUDY_LOAD_SECTORS, /* a request */
    AT_STUDY_LOAD_USED,    /* percent of the bytes that sectors move: the degree of coalescing */
    AT_STUDY_STORE_SECTORS,
    AT_STUDY_STORE_USED,
    AT_STUDY_SHARED_LOAD, /* wavefronts, over those without bank conflicts: "32-way" is 32 */
    AT_STUDY_SHARED_STORE,
    AT_STUDY_CONFLICTS, /* wavefronts beyond those, a block */
    AT_STUDY_COLUMNS,
};
extern const char *const at_study_column_names[AT_STUDY_COLUMNS];

struct at_study {
    int64_t schema;
    char title[80];
    struct at_list columns; /* of struct at_located, each one of the names above */
    struct at_located problem;
    struct at_list rows; /* of struct at_study_row */
    char *reading;       /* what the figures tell: a paragraph */
};

/* Reads the file at path into the zeroed study, which the caller clears. AT_USAGE, with the place,
 * for columns and problems that there are not, and for a column, or a label on the same problem,
 * that comes twice. */
enum at_status at_study_read(struct at_study *study, const char *path, struct at_error *err);
void at_study_clear(struct at_study *study);

/* The problem of row `index`. */
struct at_problem at_study_problem(const struct at_study *study, size_t index);

#endif
