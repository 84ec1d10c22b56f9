/* SPDX-License-Identifier: Apache-2.0 */
/* How long the problem in hand and the run will still take, learnt from the problems before. The
 * times that it is given are at_now_ns's. */
#ifndef AT_PIPELINE_FORECAST_H
#define AT_PIPELINE_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_forecast {
    /* Means over finished problems; later ones count more. 0: nothing is known yet. */
    double seconds_per_weight; /* whole problems */
    double configs;            /* of searches that stop by themselves */
    double copies_part;        /* their time over that of copies and search */
    double finals_part;        /* the shoot-out's time over that of copies and search */
    /* The problem in hand. */
    int64_t began_ns;      /* 0: none */
    double weight;         /* how long it takes, compared with other problems */
    double waiting;        /* sum of the weights of the problems behind it */
    double copies_ended_s; /* after it began; 0: none were searched */
    double search_ended_s; /* 0: it goes on */
};

/* What the search in hand has done. */
struct at_forecast_search {
    size_t done, found; /* configs with a result; those of them that a resumed run began with */
    size_t most;        /* configs at most: those of the space, or the budget */
    bool stops;         /* it stops by itself, usually long before */
    bool copies;        /* it is the one for copies, before the problem's */
};

/* Seconds; negative: unknown. */
struct at_time_left {
    double problem, run;
};

/* Begin and end a problem. `waiting` is the sum of the weights of all later problems. */
void at_forecast_begin(struct at_forecast *forecast, double weight, double waiting, int64_t now_ns);
void at_forecast_end(struct at_forecast *forecast, int64_t now_ns);

/* A search has ended. */
void at_forecast_searched(struct at_forecast *forecast, const struct at_forecast_search *search,
                          int64_t now_ns);

/* Return how many configs the search will probably have measured at its end. */
size_t at_forecast_configs(const struct at_forecast *forecast,
                           const struct at_forecast_search *search);

struct at_time_left at_forecast_left(const struct at_forecast *forecast,
                                     const struct at_forecast_search *search, int64_t now_ns);

#endif
