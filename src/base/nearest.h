/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody may have meant by a word that is not known. */
#ifndef AT_BASE_NEAREST_H
#define AT_BASE_NEAREST_H

#include <stddef.h>

/* Writes the known words that take the fewest edits to become `word`, or one more than the fewest,
 * nearest first and at most three, as "a, b, c" into list. Capitals and small letters are alike. */
void at_nearest(char *list, size_t size, const char *word, const char *const *known, size_t count);

#endif
