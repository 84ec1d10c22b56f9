/* SPDX-License-Identifier: Apache-2.0 */
/* One reader of decimal integers for files, problems and expressions, and small functions of
 * integers. The reader is not strtoll: that skips blanks, accepts '+' and obeys the locale. */
#ifndef AT_BASE_INTEGER_H
#define AT_BASE_INTEGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Read all `length` bytes of text as a decimal integer with an optional '-'. Returns false and
 * leaves *value alone for anything else: '+', blanks, a leading zero (octal elsewhere), no digits,
 * or a value that does not fit 64 bits. */
bool at_integer_parse(const char *text, size_t length, int64_t *value);

/* Compare two integers for qsort, or two pairs of them, by the first that differ. */
int at_integer_compare(int64_t a, int64_t b);
int at_integers_compare(const int64_t pairs[][2], size_t count);

static inline int64_t at_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t at_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Return the absolute value. There is none of INT64_MIN. */
static inline int64_t at_magnitude(int64_t a)
{
    return a < 0 ? -a : a;
}

/* Return the greatest common divisor; of 0 and another number, that number. */
static inline uint64_t at_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Return the lesser of two figures. A figure that is 0 is unknown, and the other one counts. */
static inline int64_t at_min_known(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

#endif
