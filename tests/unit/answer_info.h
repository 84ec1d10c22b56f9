/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer of the library tells. */
#ifndef TEST_ANSWER_INFO_H
#define TEST_ANSWER_INFO_H

#include "lib/autotune.h"

#include <stddef.h>
#include <stdlib.h>

/* Texts live as long as the answer and its profile. */
static inline autotune_info info_of(const autotune_answer *answer)
{
    autotune_info info = autotune_info_init();

    if (autotune_answer_info(answer, &info, NULL) != AUTOTUNE_OK)
        abort();
    return info;
}

#endif
