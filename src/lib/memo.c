/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/memo.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdatomic.h>
#include <string.h>

/* An answer takes 1.7 KB. What is in a slot stays, so readers need no lock. */
enum { SLOTS = 1024, PROBES = 8 };

struct autotune_memo {
    _Atomic(struct autotune_answer *) slots[SLOTS];
};

struct autotune_memo *autotune_memo_new(void)
{
    return at_alloc(sizeof(struct autotune_memo));
}

void autotune_memo_free(struct autotune_memo *memo)
{
    if (!memo)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        at_free(memo->slots[i]);
    at_free(memo);
}

static size_t first_slot(const struct at_problem *problem)
{
    const int64_t told[] = {problem->rows,   problem->cols,   problem->batch,
                            problem->ld_src, problem->ld_dst, problem->elem_size};

    return at_hash64(told, sizeof told, 0);
}

/* Bytes between the members of a device may differ for no reason; then an answer is found anew. */
static bool is_same(const struct autotune_answer *a, const struct autotune_answer *b)
{
    return at_problem_equal(&a->problem, &b->problem) && strcmp(a->policy, b->policy) == 0 &&
           memcmp(&a->device, &b->device, sizeof a->device) == 0;
}

bool autotune_memo_find(const struct autotune_memo *memo, struct autotune_answer *answer)
{
    size_t slot = first_slot(&answer->problem);

    for (size_t i = 0; i < PROBES; i++, slot++) {
        const struct autotune_answer *kept = atomic_load(&memo->slots[slot % SLOTS]);

        if (!kept)
            return false;
        if (!is_same(kept, answer))
            continue;
        answer->answer = kept->answer;
        return true;
    }
    return false;
}

void autotune_memo_keep(struct autotune_memo *memo, const struct autotune_answer *answer)
{
    size_t slot = first_slot(&answer->problem);
    struct autotune_answer *none = NULL, *copy;

    for (size_t i = 0; atomic_load(&memo->slots[slot % SLOTS]); i++, slot++)
        if (i + 1 == PROBES)
            return;
    copy = at_memdup(answer, sizeof *answer);
    if (!atomic_compare_exchange_strong(&memo->slots[slot % SLOTS], &none, copy))
        at_free(copy); /* another thread was faster */
}
