/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as the text of a JSON array, which is how a journal keeps them: people and SQLite's
 * json_each() can read it, every double comes back as it was, and no locale has a say. */
#ifndef AT_JOURNAL_SAMPLES_H
#define AT_JOURNAL_SAMPLES_H

#include "base/error.h"

#include <stddef.h>

/* The caller frees *text. AT_INTERNAL for a value that is not finite. */
enum at_status at_samples_format(char **text, const double *samples_ns, size_t count,
                                 struct at_error *err);

/* The caller frees *samples_ns, NULL for an empty array. AT_USAGE for anything but numbers. */
enum at_status at_samples_parse(double **samples_ns, size_t *count, const char *text,
                                struct at_error *err);

#endif
