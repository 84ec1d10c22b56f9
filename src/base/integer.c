/* SPDX-License-Identifier: Apache-2.0 */
#include "base/integer.h"

bool at_integer_parse(const char *text, size_t length, int64_t *value)
{
    bool negative = length > 0 && text[0] == '-';
    size_t first = negative ? 1 : 0;
    int64_t sum = 0;

    if (first == length || (text[first] == '0' && length > first + 1))
        return false;
    for (size_t i = first; i < length; i++) {
        int digit = text[i] - '0';

        if (digit < 0 || digit > 9)
            return false;
        /* Digits are subtracted if negative, because -INT64_MIN overflows. */
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, negative ? -digit : digit, &sum))
            return false;
    }
    *value = sum;
    return true;
}
