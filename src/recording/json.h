/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by Kernel Tuner caches (kernel_tuner.c) and T4 results (t4.c). Both are lists of configs:
 * objects with the parameters' values and the result. Files that we write also have a member
 * "autotune", with all else that a recording has. */
#ifndef AT_RECORDING_JSON_H
#define AT_RECORDING_JSON_H

#include "recording/parts.h"

#include <jansson.h>

/* Both formats have times in milliseconds. */
#define AT_JSON_NS_PER_MS 1e6

struct at_json_row {
    size_t family; /* index in the recording's families */
    struct at_config config;
    struct at_recorded result;
};

/* A recording that is being read. Errors tell where in the file; the reader adds its name. */
struct at_json_reader {
    struct at_recording recording; /* results are added at the end, from the rows */
    bool ours;                     /* the file has a member "autotune", and each row its family */
    struct at_json_row *rows;      /* in any order */
    size_t row_count, row_capacity;
    struct at_error *err;
};

/* ---- the member "autotune" ---- */

enum at_status at_json_read_about(struct at_json_reader *reader, const json_t *about);
json_t *at_json_about(const struct at_recording *recording);

/* Read a parameter's values from a list of integers. */
enum at_status at_json_read_values(const struct at_json_reader *reader, const json_t *values,
                                   struct at_param *param);

/* Make the only family of a file that is not ours, with room for param_count parameters. */
struct at_family *at_json_foreign_family(struct at_json_reader *reader, const char *name,
                                         size_t param_count);

/* Make the only family of a file that does not list its space, from the rows: an array of objects,
 * or of objects that have these values in `member`. The parameters are the members of the first row
 * for which is_param holds (NULL: all), and their values those that occur, sorted. */
enum at_status at_json_read_space(struct at_json_reader *reader, const json_t *rows,
                                  const char *member,
                                  bool (*is_param)(const json_t *rows, const char *name));

/* ---- rows ---- */

/* Read a printable text. AT_USAGE names the expected text. */
enum at_status at_json_text(const struct at_json_reader *reader, const json_t *value,
                            const char *what, const char **text);

/* Read a row's family and config from the object with the parameters' values. */
enum at_status at_json_read_config(const struct at_json_reader *reader, const json_t *values,
                                   struct at_json_row *row);

/* Find the outcome whose name is `word`. If several share it, the object's member "outcome", which
 * only our files have, or else the first decides. */
enum at_status at_json_read_outcome(const struct at_json_reader *reader, const json_t *object,
                                    const char *const names[AT_OUTCOMES], const char *word,
                                    enum at_outcome *outcome);

/* Read the samples, in units of unit_ns: the array `times` or, if that is empty or missing, `time`.
 */
enum at_status at_json_read_samples(const struct at_json_reader *reader, const json_t *times,
                                    const json_t *time, double unit_ns, struct at_recorded *result);

/* Add a row, and take over its samples. */
enum at_status at_json_add_row(struct at_json_reader *reader, const struct at_json_row *row);

/* Read the time of an evaluation. Of a file of ours it is the row's own member; else the sum of
 * those of these members that `times` has, in units of unit_ns. AT_USAGE if the member is bad. */
enum at_status at_json_read_cost(const struct at_json_reader *reader, const json_t *row,
                                 const json_t *times, const char *const *members, size_t count,
                                 double unit_ns, struct at_recorded *result);

/* Set the mean time of an evaluation of a file that is not ours, from the rows that have one. */
void at_json_set_evaluation(struct at_json_reader *reader);

/* ---- writing ---- */

/* Make the object of a config's values, perhaps with its family, and the array of samples in
 * milliseconds. */
json_t *at_json_config(const struct at_config *config, bool with_family);
json_t *at_json_samples(const struct at_recorded *result);

/* Add the time of the evaluation to the object of a row, if it is known. */
void at_json_set_cost(json_t *row, const struct at_recorded *result);

/* Write and release a value, in one line. AT_INTERNAL if it is NULL. */
enum at_status at_json_put(json_t *value, FILE *out, struct at_error *err);

/* AT_USAGE if a parameter has a name that means something else in these formats. */
enum at_status at_json_check_names(const struct at_recording *recording, struct at_error *err);

#endif
