/* SPDX-License-Identifier: Apache-2.0 */
/* Choose an entry of a fixed table by its name: a strategy, an export format, ... For an unknown
 * word, suggest those that are nearest to it. */
#ifndef AT_BASE_CHOICE_H
#define AT_BASE_CHOICE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A table's entry as a word that an option takes. */
struct at_choice {
    const char *name;  /* NULL: the table ends here */
    const char *note;  /* what --help adds in parentheses; NULL: nothing */
    const void *entry; /* of the table; NULL if its index is enough */
};

/* Return the entry at an index, which is at most one behind the last entry. */
typedef struct at_choice at_choice_fn(size_t index);

/* Set *index to the entry of this name. AT_USAGE: unknown search "x" (did you mean a?); known
 * are a, b, c. The word after "unknown" is `what`. */
enum at_status at_choose(size_t *index, const char *what, const char *name, at_choice_fn *entry,
                         struct at_error *err);

/* Return text and the entries: "text: a, b (note of b), c". The caller frees it. */
char *at_choices_list(const char *text, at_choice_fn *entry);

/* Write up to three known words that are nearest to `word` into list, as "a, b, c", nearest first.
 * A word is listed if its edit distance is at most one more than the smallest. Case is ignored. */
void at_suggest(char *list, size_t size, const char *word, const char *const *known, size_t count);

/* May `word` be a misspelling of `known`: does at most a quarter of its letters differ? */
bool at_is_similar(const char *word, const char *known);

/* Fail with this status: WHAT "word" (did you mean a, b?); known are a, b, c. */
enum at_status at_fail_unknown(struct at_error *err, enum at_status status, const char *what,
                               const char *word, const char *const *known, size_t count);

#endif
