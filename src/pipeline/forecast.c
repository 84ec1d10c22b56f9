/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/forecast.h"

/* Before anything is learnt: a search that stops by itself measures about as many configs
 * (doc/search.md). The copies take this part of the time before the shoot-out, and that as much
 * more.
 */
static const double usual_configs = 100, usual_copies_part = 0.4, usual_finals_part = 0.2;

/* What a new problem counts for in a mean. */
static const double newest = 0.5;

/* A search that has reached the expected number of configs goes on for this part of them. */
static const double overtime = 0.1;

static void learn(double *mean, double value)
{
    *mean = *mean == 0 ? value : *mean + newest * (value - *mean);
}

static double since_s(const struct at_forecast *forecast, int64_t now_ns)
{
    return (double)(now_ns - forecast->began_ns) / 1e9;
}

void at_forecast_begin(struct at_forecast *forecast, double weight, double waiting, int64_t now_ns)
{
    forecast->began_ns = now_ns;
    forecast->weight = weight;
    forecast->waiting = waiting;
    forecast->copies_ended_s = 0;
    forecast->search_ended_s = 0;
}

void at_forecast_end(struct at_forecast *forecast, int64_t now_ns)
{
    double took_s = since_s(forecast, now_ns), before_s = forecast->search_ended_s;

    learn(&forecast->seconds_per_weight, took_s / forecast->weight);
    if (before_s > 0)
        learn(&forecast->finals_part, (took_s - before_s) / before_s);
    forecast->began_ns = 0;
}

void at_forecast_searched(struct at_forecast *forecast, const struct at_forecast_search *search,
                          int64_t now_ns)
{
    if (search->copies) {
        forecast->copies_ended_s = since_s(forecast, now_ns);
        return;
    }
    forecast->search_ended_s = since_s(forecast, now_ns);
    if (forecast->copies_ended_s > 0 && search->found == 0)
        learn(&forecast->copies_part, forecast->copies_ended_s / forecast->search_ended_s);
    if (search->stops && search->done < search->most)
        learn(&forecast->configs, (double)search->done);
}

size_t at_forecast_configs(const struct at_forecast *forecast,
                           const struct at_forecast_search *search)
{
    double configs = forecast->configs > 0 ? forecast->configs : usual_configs;
    double least = (1 + overtime) * (double)search->done;

    if (!search->stops || search->copies)
        return search->most;
    if (configs < least)
        configs = least;
    return configs < (double)search->most ? (size_t)configs : search->most;
}

static double mean_or(double mean, double usual)
{
    return mean > 0 ? mean : usual;
}

/* Return which part of the problem's time is over, 0 to 1: of its copies, its search and its
 * shoot-out. */
static double part_done(const struct at_forecast *forecast, const struct at_forecast_search *search)
{
    double copies_part = mean_or(forecast->copies_part, usual_copies_part);
    double finals_part = mean_or(forecast->finals_part, usual_finals_part);
    size_t all = at_forecast_configs(forecast, search);
    double part = all > search->found
                      ? (double)(search->done - search->found) / (double)(all - search->found)
                      : 1;

    if (search->copies)
        part *= copies_part;
    else if (forecast->copies_ended_s > 0)
        part = copies_part + part * (1 - copies_part);
    return part / (1 + finals_part);
}

struct at_time_left at_forecast_left(const struct at_forecast *forecast,
                                     const struct at_forecast_search *search, int64_t now_ns)
{
    struct at_time_left left = {-1, -1};
    double past_s = since_s(forecast, now_ns), part = part_done(forecast, search);
    double learnt_s = forecast->seconds_per_weight * forecast->weight;
    double rate = forecast->seconds_per_weight, pace;

    if (forecast->began_ns == 0 || (part <= 0 && learnt_s == 0))
        return left;
    /* What is learnt gives way to this problem's own pace. */
    left.problem =
        learnt_s > 0 ? (1 - part) * ((1 - part) * learnt_s + past_s) : past_s * (1 - part) / part;
    pace = (past_s + left.problem) / forecast->weight;
    rate = rate == 0 ? pace : rate + newest * part * (pace - rate);
    left.run = left.problem + forecast->waiting * rate;
    return left;
}
