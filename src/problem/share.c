/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/share.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct card {
    struct at_problem problem;
    int64_t bytes;
    char *name; /* owned */
};

static int largest_first(const void *left, const void *right)
{
    const struct card *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* Return which share, from 0, has the card at this place of the sorted list. */
static int64_t owner(int64_t place, int64_t shares)
{
    int64_t within = place % shares;

    return place / shares % 2 == 0 ? within : shares - 1 - within;
}

void at_share_deal(struct at_share share, struct at_problem *problems, size_t *count)
{
    struct card *cards;
    size_t kept = 0;

    if (share.of == 0)
        return;
    cards = at_alloc_array(*count, sizeof *cards);
    for (size_t i = 0; i < *count; i++)
        cards[i] = (struct card){problems[i], at_problem_bytes(&problems[i]),
                                 at_problem_format(&problems[i])};
    qsort(cards, *count, sizeof *cards, largest_first);
    for (size_t i = 0; i < *count; i++) {
        if (owner((int64_t)i, share.of) == share.index - 1)
            problems[kept++] = cards[i].problem;
        free(cards[i].name);
    }
    free(cards);
    *count = kept;
}
