/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics of small samples. */
#ifndef AT_BASE_STATS_H
#define AT_BASE_STATS_H

#include <stddef.h>

/* The quantile q (0 to 1) of count >= 1 values, interpolated linearly between neighbours (type 7 of
 * Hyndman and Fan, The American Statistician 50, 1996). The values are left as they are. */
double at_quantile(const double *values, size_t count, double q);

double at_median(const double *values, size_t count);

/* The narrowest interval between two of the values that holds the median of what they were drawn
 * from with at least 95 % confidence: the order statistics k and n + 1 - k with the largest k for
 * which a binomial count of n throws at 1/2 is below k in at most 2.5 % (David and Nagaraja, Order
 * Statistics, 3rd edition, section 7.1). Of fewer than six values: from the least to the greatest.
 */
void at_median_interval(const double *values, size_t count, double *low, double *high);

/* The same of the ratios a[i] / b[i]: does a differ from b, where both were sampled in turn? */
void at_median_ratio_interval(const double *a, const double *b, size_t count, double *low,
                              double *high);

/* Interquartile range over median, in thousandths, rounded; 0 for a median of 0. */
long at_spread_permille(const double *values, size_t count);

#endif
