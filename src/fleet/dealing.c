/* SPDX-License-Identifier: Apache-2.0 */
/* Which problem a member of the fleet gets, with how much of the budget, and what came of it. */
#include "base/clock.h"
#include "base/memory.h"
#include "fleet/parts.h"
#include "system/interrupt.h"

/* ---- budgets ---- */

bool at_fleet_is_over(const struct at_fleet *fleet)
{
    const struct at_run_budget *whole = &fleet->options->budget;

    return at_interrupt_seen() || (whole->ns > 0 && at_now_ns() - fleet->started_ns >= whole->ns) ||
           (whole->evaluations > 0 && fleet->evaluations >= whole->evaluations);
}

size_t at_fleet_open(const struct at_fleet *fleet)
{
    size_t open = 0;

    for (size_t i = 0; i < fleet->models; i++)
        open += at_deck_open(fleet->decks[i]);
    return open;
}

/* Give each problem an equal share of the evaluations, whenever and wherever it is tuned, and each
 * that is not finished an equal share of the remaining time. */
static struct at_budget share_of_budget(const struct at_fleet *fleet,
                                        const struct at_member *member, size_t problem)
{
    /* The shoot-out takes a quarter of a second after the search. */
    static const int64_t shootout_ns = 250000000;
    const struct at_fleet_options *options = fleet->options;
    const struct at_run_budget *whole = &options->budget;
    struct at_budget share = {0};

    if (whole->ns > 0) {
        int64_t now_ns = at_now_ns(), count = (int64_t)fleet->count;
        int64_t rounds = ((int64_t)at_fleet_open(fleet) + count - 1) / count;
        int64_t share_ns = (whole->ns - (now_ns - fleet->started_ns)) / rounds - shootout_ns;

        share.ends_ns = now_ns + (share_ns > 0 ? share_ns : 1);
    }
    if (whole->evaluations > 0) {
        int64_t of = (int64_t)(options->problem_count * fleet->models);
        int64_t place = (int64_t)(member->model * options->problem_count + problem);

        share.evaluations = whole->evaluations * (place + 1) / of - whole->evaluations * place / of;
        if (share.evaluations < 1)
            share.evaluations = 1;
    }
    if (whole->problem_evaluations > 0)
        share.evaluations = whole->problem_evaluations;
    return share;
}

/* ---- dealing ---- */

void at_fleet_deal(struct at_fleet *fleet, struct at_member *member, bool reserve,
                   struct at_deal *dealt)
{
    *dealt = (struct at_deal){.problem = AT_DECK_NONE,
                              .of = fleet->options->problem_count * fleet->models};
    if (at_fleet_is_over(fleet))
        return;
    if (member->reserved == AT_DECK_NONE)
        member->reserved = at_deck_deal(fleet->decks[member->model], member->place);
    dealt->problem = member->reserved;
    if (member->reserved == AT_DECK_NONE)
        return;
    dealt->number = fleet->begun + 1;
    dealt->budget = share_of_budget(fleet, member, member->reserved);
    if (!reserve) {
        fleet->begun++;
        member->reserved = AT_DECK_NONE;
    }
}

void at_fleet_take(struct at_fleet *fleet, struct at_member *member, struct at_tuned *tuned)
{
    struct at_list *problems = &member->record.problems;
    const struct at_list before = *problems;
    struct at_entry *entries = before.items;

    fleet->evaluations += tuned->evaluations;
    member->record = tuned->record;
    *problems = before;
    at_deck_finish(fleet->decks[member->model], tuned->problem);
    fleet->finished++;
    if (tuned->status == AT_OK) {
        AT_PUSH(entries, problems->count, member->capacity, *tuned->entry);
        problems->items = entries;
    } else if (tuned->status == AT_INTERRUPTED) {
        fleet->skipped++; /* the budget or a signal ended it before anything was measured */
    } else {
        at_warn(fleet->progress, "%s", tuned->message);
        fleet->failed++;
    }
}
