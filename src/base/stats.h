/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics of small samples. */
#ifndef AT_BASE_STATS_H
#define AT_BASE_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* The quantile q (0 to 1) of count >= 1 values, interpolated linearly between neighbours (type 7 of
 * Hyndman and Fan, The American Statistician 50, 1996). The values need not be sorted. */
double at_quantile(const double *values, size_t count, double q);

double at_median(const double *values, size_t count);

/* The confidence interval of the median, at least 95 %, without assuming a distribution: from the
 * k-th smallest to the k-th largest value, with the largest k for which
 * P(Binomial(n, 1/2) < k) <= 2.5 % (David and Nagaraja, Order Statistics, 3rd edition, section
 * 7.1). With fewer than six values it is their whole range. */
void at_median_interval(const double *values, size_t count, double *low, double *high);

/* The same of the ratios a[i] / b[i], for samples that were taken in turn: does a differ from b? */
void at_median_ratio_interval(const double *a, const double *b, size_t count, double *low,
                              double *high);

/* Are samples a not told apart from b, which were taken in turn? Their median is at most
 * at_equal_at_most times b's, and the interval of their ratios contains 1 or lies below it. With
 * few or noisy samples the interval is wide: hence the factor. */
extern const double at_equal_at_most;
bool at_samples_equal(const double *a, const double *b, size_t count);

/* Interquartile range over median, in thousandths, rounded; 0 for a median of 0. */
long at_spread_permille(const double *values, size_t count);

#endif
