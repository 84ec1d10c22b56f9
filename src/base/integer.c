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

int at_integer_compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int at_integers_compare(const int64_t pairs[][2], size_t count)
{
    int order = 0;

    for (size_t i = 0; i < count && order == 0; i++)
        order = at_integer_compare(pairs[i][0], pairs[i][1]);
    return order;
}
