/* SPDX-License-Identifier: Apache-2.0 */
/* The answers that a profile has given. Programs ask for the same problems again, and where no
 * entry is near, finding an answer takes a hundred times as long as remembering it. Several threads
 * may use a memo at once. */
#ifndef AT_LIB_MEMO_H
#define AT_LIB_MEMO_H

#include "lib/objects.h"

#include <stdbool.h>

struct autotune_memo *autotune_memo_new(void);
void autotune_memo_free(struct autotune_memo *memo);

/* Fill in answer->answer if the answer's problem, device and policy are remembered. */
bool autotune_memo_find(const struct autotune_memo *memo, struct autotune_answer *answer);

/* Remember an answer, unless its places are taken. After it a guarded call must not fail, which
 * would free the memo's copy. */
void autotune_memo_keep(struct autotune_memo *memo, const struct autotune_answer *answer);

#endif
