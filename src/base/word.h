/* SPDX-License-Identifier: Apache-2.0 */
/* Characters of words. strspn would make a table of them for each call. */
#ifndef AT_BASE_WORD_H
#define AT_BASE_WORD_H

#include <stdbool.h>

static inline bool at_is_word_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

#endif
