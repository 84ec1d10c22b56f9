/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as the text of a JSON array, as in a journal. People and SQLite's json_each() can read
 * it, every double is restored exactly, and the locale does not matter. */
#ifndef AT_JOURNAL_SAMPLES_H
#define AT_JOURNAL_SAMPLES_H

#include "base/error.h"

#include <stddef.h>

/* Format samples; the caller frees *text. AT_INTERNAL for a value that is not finite. */
enum at_status at_samples_format(char **text, const double *samples_ns, size_t count,
                                 struct at_error *err);

/* Parse samples; the caller frees *samples_ns, which is NULL for an empty array. AT_USAGE for
 * anything but an array of numbers. */
enum at_status at_samples_parse(double **samples_ns, size_t *count, const char *text,
                                struct at_error *err);

#endif
