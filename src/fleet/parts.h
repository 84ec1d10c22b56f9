/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the fleet share. */
#ifndef AT_FLEET_PARTS_H
#define AT_FLEET_PARTS_H

#include "fleet/deck.h"
#include "fleet/fleet.h"
#include "fleet/tuner.h"
#include "worker/worker.h"

/* A tuner as the driver sees it. */
struct at_member {
    struct at_tuner tuner;
    char what[AT_PROGRESS_WHAT]; /* the problem that it has last told of; "": none */
    struct at_progress_state shown;
    char *journal;
    struct at_worker worker;
    size_t model;
    size_t place;    /* in the model's deck */
    size_t reserved; /* the problem that it was told to be next; AT_DECK_NONE: none */
    bool opened;
    bool waits;      /* for a problem */
    size_t *told;    /* by member: how many of its entries this one knows */
    size_t capacity; /* of the record's entries */
    struct at_device_record record;
};

/* A device that several tuners share. */
struct at_shared_device {
    struct at_device_lock *lock;
    struct at_turns *turns;
};

struct at_fleet {
    const struct at_fleet_options *options;
    struct at_shared_device *shared; /* by device */
    struct at_progress *progress;
    struct at_member *members;
    size_t count, models;
    struct at_deck **decks; /* by model */
    int64_t started_ns, evaluations;
    size_t begun, finished;  /* problems */
    size_t failed;           /* without a correct config */
    struct at_error failure; /* a model has no device left; status AT_OK: none */
    size_t skipped;          /* whose share of the budget was too small */
};

/* Is no more problem to be begun, because the budget is spent or the user has interrupted? */
bool at_fleet_is_over(const struct at_fleet *fleet);

/* Return how many problems are not finished. */
size_t at_fleet_open(const struct at_fleet *fleet);

/* Deal to a member, or with `reserve` only tell what it will be dealt next. The problem is
 * AT_DECK_NONE if none waits or nothing more is to be begun. */
void at_fleet_deal(struct at_fleet *fleet, struct at_member *member, bool reserve,
                   struct at_deal *dealt);

/* Take what came of a problem. The entry moves to the member's record. */
void at_fleet_take(struct at_fleet *fleet, struct at_member *member, struct at_tuned *tuned);

/* ---- driver.c ---- */

/* Run each member in a process of its own. Fails as at_fleet_run does. */
enum at_status at_fleet_drive(struct at_fleet *fleet, struct at_error *err);

#endif
