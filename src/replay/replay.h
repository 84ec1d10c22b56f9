/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a search on a recording: as the pipeline would run it, with the recorded results. */
#ifndef AT_REPLAY_REPLAY_H
#define AT_REPLAY_REPLAY_H

#include "recording/recording.h"
#include "schema/schema.h"
#include "search/strategy.h"

#include <stddef.h>
#include <stdint.h>

struct at_replay_plan {
    const struct at_strategy *strategy;
    struct at_start start;
    size_t ahead;  /* configs in flight between ask and tell, as in the pipeline; >= 1 */
    size_t budget; /* evaluations; 0: no limit */
};

/* The course of one search. */
struct at_course {
    double *best_ns;  /* after evaluation 1, 2, ...; INFINITY before the first correct one; owned */
    double *spent_ns; /* time of the evaluations until then, one after another; 0: unknown; owned */
    size_t count;     /* evaluations; a strategy without a reason to stop is not asked beyond the
                         best config */
    const char *reason; /* why the strategy stopped; NULL: it did not by itself */
};

/* Run one search. AT_INTERNAL if a strategy breaks its contract: it asks for a config twice, or for
 * one outside the space. */
enum at_status at_replay(struct at_course *course, const struct at_recording *recording,
                         const struct at_replay_plan *plan, struct at_error *err);

void at_course_clear(struct at_course *course);

/* Return the evaluations until the best is within a percentage of the recorded optimum; SIZE_MAX:
 * never. */
size_t at_course_reach(const struct at_course *course, const struct at_recording *recording,
                       double percent);

/* Return the evaluations until the search had found its own best; 0: it found none. */
size_t at_course_found(const struct at_course *course);

/* Return the time of the first evaluations; 0: unknown. */
double at_course_spent(const struct at_course *course, size_t evaluations);

/* Return how many evaluations are complete after a time, of a course whose times are known. */
size_t at_course_within(const struct at_course *course, double ns);

/* Random search on a recording, the baseline of the score. best_ns is its expected best after each
 * evaluation. The budget ends when it has closed 95 % of the gap from the median to the optimum. */
struct at_baseline {
    double *best_ns; /* owned */
    size_t budget;
    double optimum_ns;
    double worst_ns; /* assumed time of a search without a result */
};

void at_baseline_make(struct at_baseline *baseline, const struct at_recording *recording);

void at_baseline_clear(struct at_baseline *baseline);

/* Return the performance score of Willemsen, Schoonhoven, Filipovic, Torring, van Nieuwpoort and
 * van Werkhoven, "A methodology for comparing optimization algorithms for auto-tuning", Future
 * Generation Computer Systems 159, 2024. It is the mean over the budget of the share of the gap
 * between baseline and optimum that the courses' mean best closes. 1: the optimum at once; 0: as
 * good as random search; below: worse. */
double at_score(const struct at_baseline *baseline, const struct at_course *courses, size_t count);

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
