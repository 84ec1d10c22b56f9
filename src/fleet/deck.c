/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/deck.h"

#include "base/clock.h"
#include "base/memory.h"
#include "fleet/parts.h"
#include "problem/problem.h"
#include "system/interrupt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* A problem that this many tuners failed on is not dealt again: it may be the reason. */
enum { LOSSES_MAX = 2 };

enum place { WAITING, DEALT, FINISHED };

struct card {
    enum place place;
    size_t tuner;   /* that has it, or had it last */
    int64_t *known; /* by tuner: measurements */
    size_t size;    /* its place in the list of sizes */
    int losses;
};

/* The problems of as many bytes. */
struct size {
    int64_t bytes;
    size_t waiting;
    bool *had; /* by tuner */
    bool begun;
};

struct at_deck {
    const struct at_problem *problems;
    struct card *cards;
    struct size *sizes;
    size_t count, tuners, size_count, finished;
};

/* Does its search take long? Where one side is short, fewer kernels suit, and a search takes about
 * half as long as elsewhere. The number of bytes matters little. */
static bool takes_long(const struct at_problem *problem)
{
    enum { SHORT_SIDE = 64 };

    return problem->rows > SHORT_SIDE && problem->cols > SHORT_SIDE;
}

static size_t find_size(struct at_deck *deck, int64_t bytes)
{
    for (size_t i = 0; i < deck->size_count; i++)
        if (deck->sizes[i].bytes == bytes)
            return i;
    deck->sizes[deck->size_count] =
        (struct size){.bytes = bytes, .had = at_alloc_array(deck->tuners, sizeof(bool))};
    return deck->size_count++;
}

struct at_deck *at_deck_new(const struct at_problem *problems, size_t count, size_t tuners)
{
    struct at_deck *deck = at_alloc(sizeof *deck);

    *deck = (struct at_deck){
        .problems = problems,
        .cards = at_alloc_array(count, sizeof *deck->cards),
        .sizes = at_alloc_array(count, sizeof *deck->sizes),
        .count = count,
        .tuners = tuners,
    };
    for (size_t i = 0; i < count; i++) {
        struct card *card = &deck->cards[i];

        *card = (struct card){.known = at_alloc_array(tuners, sizeof *card->known),
                              .size = find_size(deck, at_problem_bytes(&problems[i]))};
        deck->sizes[card->size].waiting++;
    }
    return deck;
}

void at_deck_free(struct at_deck *deck)
{
    if (!deck)
        return;
    for (size_t i = 0; i < deck->size_count; i++)
        free(deck->sizes[i].had);
    for (size_t i = 0; i < deck->count; i++)
        free(deck->cards[i].known);
    free(deck->sizes);
    free(deck->cards);
    free(deck);
}

void at_deck_know(struct at_deck *deck, size_t problem, size_t tuner, int64_t measurements)
{
    deck->cards[problem].known[tuner] = measurements;
}

void at_deck_release(struct at_deck *deck, size_t tuner)
{
    for (size_t i = 0; i < deck->count; i++)
        deck->cards[i].known[tuner] = 0;
}

/* ---- dealing ---- */

/* Has another tuner a problem of this element size in hand? It compiles the kernels that this one
 * would compile too. */
static bool is_compiled_elsewhere(const struct at_deck *deck, size_t tuner, int64_t elem_size)
{
    for (size_t i = 0; i < deck->count; i++)
        if (deck->cards[i].place == DEALT && deck->cards[i].tuner != tuner &&
            deck->problems[i].elem_size == elem_size)
            return true;
    return false;
}

/* What decides which problem a tuner gets, the most important first. */
enum { BY_JOURNAL, BY_SIZE, BY_LENGTH, BY_WAITING, BY_KIND, BY_BYTES, ORDERS };

struct merit {
    int64_t of[ORDERS];
};

static struct merit judge(const struct at_deck *deck, size_t problem, size_t tuner)
{
    const struct card *card = &deck->cards[problem];
    const struct size *size = &deck->sizes[card->size];
    bool mine = size->had[tuner];

    return (struct merit){{
        [BY_JOURNAL] = card->known[tuner] > 0,
        [BY_SIZE] = mine          ? 2
                    : size->begun ? 0
                                  : 1,
        [BY_LENGTH] = takes_long(&deck->problems[problem]),
        [BY_WAITING] = mine ? 0 : (int64_t)size->waiting,
        [BY_KIND] = !is_compiled_elsewhere(deck, tuner, deck->problems[problem].elem_size),
        [BY_BYTES] = size->bytes,
    }};
}

static bool is_better(const struct merit *a, const struct merit *b)
{
    for (int i = 0; i < ORDERS; i++)
        if (a->of[i] != b->of[i])
            return a->of[i] > b->of[i];
    return false;
}

static bool may_have(const struct at_deck *deck, const struct card *card, size_t tuner)
{
    for (size_t i = 0; i < deck->tuners; i++)
        if (card->known[i] > card->known[tuner])
            return false;
    return card->place == WAITING;
}

static size_t choose(const struct at_deck *deck, size_t tuner)
{
    size_t best = AT_DECK_NONE;
    struct merit best_merit;

    for (size_t i = 0; i < deck->count; i++) {
        struct merit merit;

        if (!may_have(deck, &deck->cards[i], tuner))
            continue;
        if (deck->tuners == 1)
            return i;
        merit = judge(deck, i, tuner);
        if (best == AT_DECK_NONE || is_better(&merit, &best_merit)) {
            best = i;
            best_merit = merit;
        }
    }
    return best;
}

size_t at_deck_deal(struct at_deck *deck, size_t tuner)
{
    size_t chosen = choose(deck, tuner);
    struct card *card;
    struct size *size;

    if (chosen == AT_DECK_NONE)
        return AT_DECK_NONE;
    card = &deck->cards[chosen];
    size = &deck->sizes[card->size];
    card->place = DEALT;
    card->tuner = tuner;
    size->waiting--;
    size->had[tuner] = size->begun = true;
    return chosen;
}

void at_deck_finish(struct at_deck *deck, size_t problem)
{
    deck->cards[problem].place = FINISHED;
    deck->finished++;
}

size_t at_deck_in_hand(const struct at_deck *deck, size_t tuner)
{
    for (size_t i = 0; i < deck->count; i++)
        if (deck->cards[i].place == DEALT && deck->cards[i].tuner == tuner)
            return i;
    return AT_DECK_NONE;
}

bool at_deck_return(struct at_deck *deck, size_t problem)
{
    struct card *card = &deck->cards[problem];

    if (++card->losses == LOSSES_MAX) {
        at_deck_finish(deck, problem);
        return false;
    }
    card->place = WAITING;
    deck->sizes[card->size].waiting++;
    return true;
}

bool at_deck_waits(const struct at_deck *deck, size_t tuner)
{
    return choose(deck, tuner) != AT_DECK_NONE;
}

size_t at_deck_open(const struct at_deck *deck)
{
    return deck->count - deck->finished;
}

/* Which problem a member of the fleet gets, with how much of the budget, and what came of it. */

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
