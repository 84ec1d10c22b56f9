/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stats.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

double at_quantile(const double *values, size_t count, double q)
{
    double *sorted = at_memdup(values, count * sizeof *values);
    double position = q * (double)(count - 1), below = floor(position), result;
    size_t index = (size_t)below;

    qsort(sorted, count, sizeof *sorted, by_value);
    result = sorted[index];
    if (index + 1 < count)
        result += (position - below) * (sorted[index + 1] - sorted[index]);
    at_free(sorted);
    return result;
}

double at_median(const double *values, size_t count)
{
    return at_quantile(values, count, 0.5);
}

/* Not lgamma, which sets a variable of the C library's: threads may do this at once. */
static double log_factorial(size_t number)
{
    int sign;

    return lgamma_r((double)number + 1, &sign);
}

/* The largest k for which P(Binomial(count, 1/2) < k) <= 2.5 %; at least 1. */
static size_t interval_rank(size_t count)
{
    double log_half = (double)count * log(0.5), below = 0;
    size_t k = 0;

    while (k < count / 2) {
        below += exp(log_factorial(count) - log_factorial(k) - log_factorial(count - k) + log_half);
        if (below > 0.025)
            break;
        k++;
    }
    return k < 1 ? 1 : k;
}

void at_median_interval(const double *values, size_t count, double *low, double *high)
{
    double *sorted = at_memdup(values, count * sizeof *values);
    size_t rank = interval_rank(count);

    qsort(sorted, count, sizeof *sorted, by_value);
    *low = sorted[rank - 1];
    *high = sorted[count - rank];
    at_free(sorted);
}

void at_median_ratio_interval(const double *a, const double *b, size_t count, double *low,
                              double *high)
{
    double *ratios = at_alloc_array(count, sizeof *ratios);

    for (size_t i = 0; i < count; i++)
        ratios[i] = a[i] / b[i];
    at_median_interval(ratios, count, low, high);
    at_free(ratios);
}

const double at_equal_at_most = 1.005;

bool at_samples_equal(const double *a, const double *b, size_t count)
{
    double low, high;

    at_median_ratio_interval(a, b, count, &low, &high);
    return low <= 1 && at_median(a, count) <= at_equal_at_most * at_median(b, count);
}

long at_spread_permille(const double *values, size_t count)
{
    double median = at_median(values, count);
    double range = at_quantile(values, count, 0.75) - at_quantile(values, count, 0.25);

    return median > 0 ? lround(1000 * range / median) : 0;
}
