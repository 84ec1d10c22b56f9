/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration: how wrong the Gaussian processes are, compared with how sure they are. Configs that
 * are measured whatever is predicted of them, as coverage, neighbours and chance ask for them, are
 * held-out tests: each result tells the error of its prediction. Those that were chosen for their
 * prediction are none. */
#ifndef AT_SEARCH_BAYESIAN_CALIBRATION_H
#define AT_SEARCH_BAYESIAN_CALIBRATION_H

struct at_calibration {
    double squares, weight; /* of the errors so far; the older an error, the less it weighs */
};

/* Take the error of a held-out prediction, in standard deviations that were predicted. */
void at_calibration_tell(struct at_calibration *calibration, double error);

/* Return the factor by which predicted standard deviations must be multiplied to match the observed
 * errors. */
double at_calibration_doubt(const struct at_calibration *calibration);

#endif
