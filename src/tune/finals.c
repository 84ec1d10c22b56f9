/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/finals.h"

#include "base/stats.h"
#include "pipeline/pipeline.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* At most this many of the fastest are timed again, if they are within this factor of the fastest.
 * Times measured seconds apart differ by 1 to 2 %, so the true best is seldom far down the list. */
enum { QUALIFIERS_MAX = 8 };
static const double qualifiers_within = 1.03;

/* Timed side by side, in a few rounds, they are known to some 3 in 1000. At most this many get
 * longer rounds, if they are within this factor of the fastest; and one copy, besides the
 * driver's. */
enum { FINALISTS_MAX = 3, COPIES_MAX = 1 };
static const double finalists_within = 1.006;

_Static_assert(QUALIFIERS_MAX + 2 + AT_COPIES_MAX + 1 <= AT_CONTESTANTS_MAX,
               "qualifiers, default, incumbent, copies and the driver's copy fit the shoot-out");

static size_t add(struct at_finals *finals, const struct at_config *config,
                  const struct at_problem *problem)
{
    finals->contestants[finals->count] =
        (struct at_contestant){.config = config, .problem = *problem};
    return finals->count++;
}

/* The place of a config among the finalists; SIZE_MAX: it is none. */
static size_t find_finalist(const struct at_finals *finals, const struct at_config *config)
{
    for (size_t i = 0; i < finals->finalists; i++)
        if (at_config_equal(finals->contestants[i].config, config))
            return i;
    return SIZE_MAX;
}

void at_finals_make(struct at_finals *finals, const struct at_search *search, size_t fallback,
                    const struct at_config *incumbent, const struct at_copies *copies)
{
    size_t best[QUALIFIERS_MAX], count = at_rank_best(search, best, QUALIFIERS_MAX);

    finals->fallback = finals->incumbent = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (search->results[best[i]].time_ns > qualifiers_within * search->results[best[0]].time_ns)
            break;
        if (best[i] == fallback)
            finals->fallback = i;
        add(finals, &search->space.configs[best[i]], &search->problem);
    }
    if (finals->fallback == SIZE_MAX && at_search_found_correct(search, fallback))
        finals->fallback = add(finals, &search->space.configs[fallback], &search->problem);
    finals->finalists = finals->count;
    if (incumbent && (finals->incumbent = find_finalist(finals, incumbent)) == SIZE_MAX)
        finals->incumbent = add(finals, incumbent, &search->problem);
    finals->finalists = finals->count;
    for (size_t i = 0; i < copies->count; i++)
        add(finals, &copies->configs[i], &copies->problem);
    add(finals, NULL, &copies->problem);
}

/* Contestants from `first` to before `end`, of which `most` may stay. */
struct part {
    size_t first, end, most;
};

static bool has_chance(const struct at_finals *finals, size_t index, struct part part)
{
    const struct at_contestant *all = finals->contestants;
    size_t faster = 0;

    for (size_t i = part.first; i < part.end; i++) {
        if (all[index].time_ns > finalists_within * all[i].time_ns)
            return false;
        faster += all[i].time_ns < all[index].time_ns;
    }
    return faster < part.most;
}

static void remove_contestant(struct at_finals *finals, size_t index)
{
    at_shootout_end(&finals->contestants[index], 1);
    finals->count--;
    finals->finalists -= index < finals->finalists;
    memmove(&finals->contestants[index], &finals->contestants[index + 1],
            (finals->count - index) * sizeof finals->contestants[0]);
    if (finals->fallback != SIZE_MAX && finals->fallback > index)
        finals->fallback--;
    if (finals->incumbent != SIZE_MAX && finals->incumbent > index)
        finals->incumbent--;
}

void at_finals_keep(struct at_finals *finals)
{
    const struct part finalists = {0, finals->finalists, FINALISTS_MAX},
                      copies = {finals->finalists, finals->count - 1, COPIES_MAX};
    bool stays[AT_CONTESTANTS_MAX];

    for (size_t i = 0; i < copies.end; i++)
        stays[i] = i == finals->fallback || i == finals->incumbent ||
                   has_chance(finals, i, i < finalists.end ? finalists : copies);
    for (size_t i = copies.end; i-- > 0;)
        if (!stays[i])
            remove_contestant(finals, i);
}

enum at_status at_finals_qualify(struct at_finals *finals, struct at_session *session,
                                 struct at_error *err)
{
    enum at_status status;

    if (finals->finalists <= FINALISTS_MAX)
        return AT_OK;
    status = at_shootout_time_briefly(session, finals->contestants, finals->count - 1, err);
    if (status == AT_OK)
        at_finals_keep(finals);
    return status;
}

/* ---- the winner ---- */

static int64_t parameters_off_default(const struct at_config *config)
{
    const struct at_config usual = at_family_default(config->family);
    int64_t count = 0;

    for (size_t i = 0; i < config->family->param_count; i++)
        count += config->values[i] != usual.values[i];
    return count;
}

/* The measures of simplicity, most important first; less is simpler. */
enum { MEASURES = 5 };

static void measure_simplicity(const struct at_contestant *contestant, bool is_fallback,
                               int64_t measures[MEASURES])
{
    const struct at_launch *launch = &contestant->launch;

    measures[0] = !is_fallback;
    measures[1] = contestant->config->family->preference;
    measures[2] = parameters_off_default(contestant->config);
    measures[3] = contestant->kernel.registers;
    measures[4] = contestant->kernel.shared_bytes + launch->field[AT_SHARED_BYTES];
}

static bool is_simpler(const struct at_contestant *contestants, size_t a, size_t b, size_t fallback)
{
    int64_t of_a[MEASURES], of_b[MEASURES];

    measure_simplicity(&contestants[a], a == fallback, of_a);
    measure_simplicity(&contestants[b], b == fallback, of_b);
    for (size_t i = 0; i < MEASURES; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i];
    return contestants[a].time_ns < contestants[b].time_ns;
}

/* The time of a finalist that the winner must not exceed. */
static double bound_of(const struct at_finals *finals, size_t index)
{
    return index == SIZE_MAX ? INFINITY : finals->contestants[index].time_ns;
}

size_t at_finals_winner(const struct at_finals *finals, size_t samples, const bool *refused)
{
    const struct at_contestant *contestants = finals->contestants;
    size_t fastest = SIZE_MAX, winner;
    double most_ns;

    for (size_t i = 0; i < finals->finalists; i++)
        if (!refused[i] &&
            (fastest == SIZE_MAX || contestants[i].time_ns < contestants[fastest].time_ns))
            fastest = i;
    if (fastest == SIZE_MAX)
        return SIZE_MAX;
    most_ns = fmin(bound_of(finals, finals->fallback), bound_of(finals, finals->incumbent));
    winner = fastest;
    for (size_t i = 0; i < finals->finalists; i++)
        if (!refused[i] && contestants[i].time_ns <= most_ns &&
            at_samples_equal(contestants[i].samples_ns, contestants[fastest].samples_ns, samples) &&
            is_simpler(contestants, i, winner, finals->fallback))
            winner = i;
    return winner;
}
