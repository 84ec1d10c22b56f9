/* SPDX-License-Identifier: Apache-2.0 */
/* What recordings in JSON share: Kernel Tuner caches (kernel_tuner.c) and T4 results (t4.c). Both
 * are lists of configs, each an object of its parameters' values, with what came of it. One of ours
 * has a member "autotune" as well, with all that makes it a recording again. */
#ifndef AT_RECORDING_JSON_H
#define AT_RECORDING_JSON_H

#include "recording/parts.h"

#include <jansson.h>

/* Both count in milliseconds. */
#define AT_JSON_NS_PER_MS 1e6

struct at_json_row {
    size_t family; /* its number */
    struct at_config config;
    struct at_recorded result;
};

/* A recording being read. What fails here says where in the file it is; the caller of all adds the
 * file's name. */
struct at_json_reader {
    struct at_recording recording; /* but for what is made of the rows in the end */
    bool ours;                     /* the families are told, and each row tells its own */
    struct at_json_row *rows;      /* in any order */
    size_t row_count, row_capacity;
    struct at_error *err;
};

/* Reads the root object's configs. */
enum at_status at_kernel_tuner_read(struct at_json_reader *reader, const json_t *root);
enum at_status at_t4_read(struct at_json_reader *reader, const json_t *root);

/* ---- the member "autotune" (json_about.c) ---- */

enum at_status at_json_read_about(struct at_json_reader *reader, const json_t *about);
json_t *at_json_about(const struct at_recording *recording);

/* A parameter's values, from a list of whole numbers. */
enum at_status at_json_read_values(const struct at_json_reader *reader, const json_t *values,
                                   struct at_param *param);

/* For a file of others: one family of that name with so many parameters, to be filled; all else is
 * not known. */
struct at_family *at_json_foreign_family(struct at_json_reader *reader, const char *name,
                                         size_t param_count);

/* ---- rows (json_rows.c) ---- */

/* A whole number within 32 bits, or true or false. */
bool at_json_integer(const json_t *value, int64_t *number);

/* A text that may be shown, or AT_USAGE with what it should have been. */
enum at_status at_json_text(const struct at_json_reader *reader, const json_t *value,
                            const char *what, const char **text);

/* The row's family and config, from the object that has the parameters' values. */
enum at_status at_json_read_config(const struct at_json_reader *reader, const json_t *values,
                                   struct at_json_row *row);

/* The outcome for which names has the word; where several have, that of the object's member
 * "outcome", which only our files have, or else the first of them. */
enum at_status at_json_read_outcome(const struct at_json_reader *reader, const json_t *object,
                                    const char *const names[AT_OUTCOMES], const char *word,
                                    enum at_outcome *outcome);

/* The samples: an array of times in units of so many nanoseconds or, where it is none or empty, the
 * one time. */
enum at_status at_json_read_samples(const struct at_json_reader *reader, const json_t *times,
                                    const json_t *time, double unit_ns, struct at_recorded *result);

/* Adds a row, whose samples are taken over. */
enum at_status at_json_add_row(struct at_json_reader *reader, const struct at_json_row *row);

/* The sum of these members of the object, those that are there: what an evaluation took. */
double at_json_sum(const json_t *object, const char *const *members, size_t count);

/* Sets what an evaluation took on the average, from the sum over all rows. */
void at_json_set_evaluation(struct at_json_reader *reader, double sum_ns);

/* ---- writing (json_rows.c) ---- */

/* The config's values by name, with the family's; the samples in milliseconds. */
json_t *at_json_config(const struct at_config *config);
json_t *at_json_samples(const struct at_recorded *result);

/* Writes the value, which is given away, in one line. A value of NULL is AT_INTERNAL. */
enum at_status at_json_put(json_t *value, FILE *out, struct at_error *err);

/* Can the recording be written in these formats, which have names of their own? */
enum at_status at_json_check_names(const struct at_recording *recording, struct at_error *err);

#endif
