/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/finals.h"

#include "pipeline/ranking.h"

#include <string.h>

/* So many of the fastest are timed again, if they took at most so many times what the fastest did:
 * windows of time that are seconds apart differ by 1 to 2 %, so the true best is seldom far down
 * the list. */
enum { QUALIFIERS_MAX = 8 };
static const double qualifiers_within = 1.03;

/* Side by side, in a few rounds, they are known to some 3 in 1000: so many are worth more, if they
 * took at most so many times what the fastest did; and one copy is, beside the driver's. */
enum { FINALISTS_MAX = 3, COPIES_MAX = 1 };
static const double finalists_within = 1.006;

_Static_assert(QUALIFIERS_MAX + 1 + AT_COPIES_MAX + 1 <= AT_CONTESTANTS_MAX,
               "qualifiers, default, copies and the driver's copy fit the shoot-out");

static size_t add(struct at_line_up *line_up, const struct at_config *config,
                  const struct at_problem *problem)
{
    line_up->contestants[line_up->count] =
        (struct at_contestant){.config = config, .problem = *problem};
    return line_up->count++;
}

void at_line_up_make(struct at_line_up *line_up, const struct at_search *search, size_t fallback,
                     const struct at_copies *copies)
{
    size_t best[QUALIFIERS_MAX], count = at_rank_best(search, best, QUALIFIERS_MAX);

    line_up->fallback = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (search->candidates[best[i]].time_ns >
            qualifiers_within * search->candidates[best[0]].time_ns)
            break;
        if (best[i] == fallback)
            line_up->fallback = i;
        add(line_up, &search->space.configs[best[i]], &search->problem);
    }
    if (line_up->fallback == SIZE_MAX && fallback != SIZE_MAX &&
        search->candidates[fallback].done && search->candidates[fallback].outcome == AT_CORRECT)
        line_up->fallback = add(line_up, &search->space.configs[fallback], &search->problem);
    line_up->finalists = line_up->count;
    for (size_t i = 0; i < copies->count; i++)
        add(line_up, &copies->configs[i], &copies->problem);
    add(line_up, NULL, &copies->problem);
}

/* A part of the contestants: those from `first` to before `end`. */
struct part {
    size_t first, end, most;
};

static bool has_chance(const struct at_line_up *line_up, size_t index, struct part part)
{
    const struct at_contestant *all = line_up->contestants;
    size_t faster = 0;

    for (size_t i = part.first; i < part.end; i++) {
        if (all[index].time_ns > finalists_within * all[i].time_ns)
            return false;
        faster += all[i].time_ns < all[index].time_ns;
    }
    return faster < part.most;
}

static void send_home(struct at_line_up *line_up, size_t index)
{
    at_shootout_end(&line_up->contestants[index], 1);
    line_up->count--;
    line_up->finalists -= index < line_up->finalists;
    memmove(&line_up->contestants[index], &line_up->contestants[index + 1],
            (line_up->count - index) * sizeof line_up->contestants[0]);
    if (line_up->fallback != SIZE_MAX && line_up->fallback > index)
        line_up->fallback--;
}

void at_line_up_keep(struct at_line_up *line_up)
{
    const struct part finalists = {0, line_up->finalists, FINALISTS_MAX},
                      copies = {line_up->finalists, line_up->count - 1, COPIES_MAX};
    bool stays[AT_CONTESTANTS_MAX];

    for (size_t i = 0; i < copies.end; i++)
        stays[i] = i == line_up->fallback ||
                   has_chance(line_up, i, i < finalists.end ? finalists : copies);
    for (size_t i = copies.end; i-- > 0;)
        if (!stays[i])
            send_home(line_up, i);
}

enum at_status at_line_up_thin(struct at_line_up *line_up, struct at_session *session,
                               struct at_error *err)
{
    enum at_status status;

    if (line_up->finalists <= FINALISTS_MAX)
        return AT_OK;
    status = at_shootout_look(session, line_up->contestants, line_up->count - 1, err);
    if (status == AT_OK)
        at_line_up_keep(line_up);
    return status;
}
