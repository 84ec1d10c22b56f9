/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics of small samples. */
#ifndef AT_BASE_STATS_H
#define AT_BASE_STATS_H

#include <stddef.h>

/* The quantile q (0 to 1) of count >= 1 values, interpolated linearly between neighbours (type 7 of
 * Hyndman and Fan, The American Statistician 50, 1996). The values are left as they are. */
double at_quantile(const double *values, size_t count, double q);

double at_median(const double *values, size_t count);

/* Interquartile range over median, in thousandths, rounded; 0 for a median of 0. */
long at_spread_permille(const double *values, size_t count);

#endif
