/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/calibration.h"

#include <math.h>

/* Each error weighs this much of the next one, so the last thirty or so count: the predictions
 * become better as the search goes on. */
static const double memory = 0.97;

/* Before there are errors, predictions are as good as they seem: that many errors of 1. */
static const double assumed = 4;

/* Errors have heavier tails than a normal variable with their variance. */
static const double tails = 1.5;

void at_calibration_tell(struct at_calibration *calibration, double error)
{
    calibration->squares = memory * calibration->squares + error * error;
    calibration->weight = memory * calibration->weight + 1;
}

double at_calibration_doubt(const struct at_calibration *calibration)
{
    return tails * sqrt((assumed + calibration->squares) / (assumed + calibration->weight));
}
