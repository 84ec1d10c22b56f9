/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean" suggestions for an unknown word. */
#ifndef AT_BASE_SUGGEST_H
#define AT_BASE_SUGGEST_H

#include "base/error.h"

#include <stddef.h>

/* Write up to three known words that are nearest to `word` into list, as "a, b, c", nearest first.
 * A word is listed if its edit distance is at most one more than the smallest. Case is ignored. */
void at_suggest(char *list, size_t size, const char *word, const char *const *known, size_t count);

/* Fail with this status: WHAT "word" (did you mean a, b?); known are a, b, c. */
enum at_status at_fail_unknown(struct at_error *err, enum at_status status, const char *what,
                               const char *word, const char *const *known, size_t count);

#endif
