/* SPDX-License-Identifier: Apache-2.0 */
/* Curves: how far the best of many searches is behind the optimum, after some evaluations or after
 * some time. */
#ifndef AT_REPLAY_CURVE_H
#define AT_REPLAY_CURVE_H

#include "replay/replay.h"
#include "schema/schema.h"

/* A point: how much slower the best is than the optimum, in millionths, in the mean of the searches
 * and by their quartiles. A search without a correct result counts as the slowest correct config.
 */
struct at_curve_record {
    int64_t evaluations; /* the point; or, of a time, how many were complete then, in the mean */
    int64_t ms; /* the point; or, of evaluations, the time that they took, in the mean of the
                   searches that made them. 0: unknown, or none did */
    int64_t behind_ppm, lower_ppm, median_ppm, upper_ppm;
};

/* Searches of one strategy on one recording. */
struct at_searches {
    const struct at_recording *recording;
    const struct at_baseline *baseline;
    const struct at_course *courses;
    size_t count;
};

/* Make the points after these evaluations: a list of struct at_curve_record, as all here. */
struct at_list at_curve_after(const struct at_searches *searches, const size_t *evaluations,
                              size_t count);

/* Make the points after these times; none if the recording has no times of evaluations. */
struct at_list at_curve_within(const struct at_searches *searches, const int64_t *times_ns,
                               size_t count);

/* Make the points of a picture, from the first evaluation to the end of the last search. Two lists
 * of points after evaluations begin alike. */
struct at_list at_curve_drawn_after(const struct at_searches *searches);
struct at_list at_curve_drawn_within(const struct at_searches *searches);

/* Make the mean of lists that have the same points. A list that is shorter keeps its last point.
 * Empty lists do not count. */
struct at_list at_curve_mean(const struct at_list *lists, size_t count);

#endif
