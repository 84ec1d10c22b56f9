/* SPDX-License-Identifier: Apache-2.0 */
#include "base/choice.h"

#include "base/memory.h"
#include "base/text_stream.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 64, LISTED_MAX = 3 };

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Levenshtein distance, row by row, over the first WORD_MAX characters of each; 1 if a is how b
 * begins. */
static size_t distance(const char *a, const char *b)
{
    size_t row[WORD_MAX + 1], b_length = strnlen(b, WORD_MAX);

    if (strlen(a) > 2 && strncasecmp(a, b, strlen(a)) == 0)
        return strlen(b) > strlen(a);
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 0; i < WORD_MAX && a[i]; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < b_length; j++) {
            size_t replaced = diagonal + (lower(a[i]) != lower(b[j]));

            diagonal = row[j + 1];
            row[j + 1] = least(replaced, row[j] + 1, diagonal + 1);
        }
    }
    return row[b_length];
}

bool at_is_similar(const char *word, const char *known)
{
    return 4 * distance(word, known) <= strlen(word);
}

void at_suggest(char *list, size_t size, const char *word, const char *const *known, size_t count)
{
    size_t length = 0, listed = 0, most = WORD_MAX;

    list[0] = '\0';
    /* One pass per distance, instead of a sort, keeps ties in the order of `known`. */
    for (size_t edits = 0; edits <= most; edits++) {
        for (size_t i = 0; i < count; i++) {
            if (listed == LISTED_MAX || length + 1 >= size)
                return;
            if (distance(word, known[i]) != edits)
                continue;
            snprintf(list + length, size - length, "%s%s", listed ? ", " : "", known[i]);
            length = strlen(list);
            if (listed++ == 0)
                most = edits + 1;
        }
    }
}

enum at_status at_fail_unknown(struct at_error *err, enum at_status status, const char *what,
                               const char *word, const char *const *known, size_t count)
{
    char nearest[256], *all = at_join(known, count);

    at_suggest(nearest, sizeof nearest, word, known, count);
    at_fail(err, status, "%s \"%s\" (did you mean %s?); known are %s", what, word, nearest, all);
    at_free(all);
    return status;
}

enum at_status at_choose(size_t *index, const char *what, const char *name, at_choice_fn *entry,
                         struct at_error *err)
{
    const char **known = NULL;
    size_t count = 0, capacity = 0;
    char *unknown;

    for (size_t i = 0; entry(i).name; i++)
        if (strcmp(entry(i).name, name) == 0) {
            *index = i;
            return AT_OK;
        }
    for (size_t i = 0; entry(i).name; i++)
        AT_PUSH(known, count, capacity, entry(i).name);
    unknown = at_format("unknown %s", what);
    at_fail_unknown(err, AT_USAGE, unknown, name, known, count);
    at_free(unknown);
    at_free(known);
    return AT_USAGE;
}

char *at_choices_list(const char *text, at_choice_fn *entry)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    fputs(text, out);
    for (size_t i = 0; entry(i).name; i++) {
        fprintf(out, "%s%s", i > 0 ? ", " : ": ", entry(i).name);
        if (entry(i).note)
            fprintf(out, " (%s)", entry(i).note);
    }
    return at_text_close(&stream, NULL);
}
