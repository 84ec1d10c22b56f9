/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/fleet.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/relation.h"
#include "fleet/parts.h"
#include "profile/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- one device, in this process ---- */

static enum at_status local_opened(void *state, const struct at_known *known, size_t count,
                                   struct at_error *err)
{
    (void)state, (void)known, (void)count, (void)err; /* the order of the list is kept */
    return AT_OK;
}

static enum at_status local_deal(void *state, bool wait, struct at_deal *dealt,
                                 struct at_error *err)
{
    struct at_fleet *fleet = state;

    (void)err;
    at_fleet_deal(fleet, &fleet->members[0], !wait, dealt);
    return AT_OK;
}

static enum at_status local_take(void *state, struct at_tuned *tuned, struct at_error *err)
{
    struct at_fleet *fleet = state;

    (void)err;
    at_fleet_take(fleet, &fleet->members[0], tuned);
    return AT_OK;
}

/* ---- the result ---- */

/* Merge the members' records, as profiles of several processes are merged. */
static enum at_status gather(struct at_fleet *fleet, struct at_list *records, struct at_error *err)
{
    struct at_profiles profiles = {0};
    struct at_merge merge = {0};
    enum at_status status;

    for (size_t i = 0; i < fleet->count; i++) {
        struct at_device_record *record = &fleet->members[i].record;
        struct at_profile_file file = {.path = at_strdup(record->device.uuid),
                                       .profile = {.schema = AT_PROFILE_SCHEMA}};

        if (record->problems.count > 0)
            file.profile.devices = (struct at_list){at_memdup(record, sizeof *record), 1};
        AT_PUSH(profiles.files, profiles.count, profiles.capacity, file);
    }
    status = at_merge_make(&merge, &profiles, err);
    if (status != AT_OK)
        return status;
    *records = merge.profile.devices;
    merge.profile.devices = (struct at_list){0};
    at_merge_clear(&merge);
    return AT_OK;
}

static enum at_status conclude(struct at_fleet *fleet, struct at_fleet_result *result,
                               enum at_status status, struct at_error *err)
{
    struct at_error merging;
    bool found = false;

    *result = (struct at_fleet_result){
        .of = fleet->options->problem_count * fleet->models,
        .failed = fleet->failed,
        .skipped = fleet->skipped + at_fleet_open(fleet),
    };
    for (size_t i = 0; i < fleet->count; i++)
        found |= fleet->members[i].record.problems.count > 0;
    if (found && gather(fleet, &result->records, &merging) != AT_OK && status == AT_OK)
        status = at_fail(err, merging.status, "%s", merging.message);
    return status;
}

/* ---- opening ---- */

/* The first device of the same model. */
static size_t first_alike(const struct at_device_info *devices, size_t device)
{
    size_t i = 0;

    while (at_device_relation(&devices[i], &devices[device]) != AT_SAME_DEVICE)
        i++;
    return i;
}

size_t at_fleet_models(const struct at_device_info *devices, size_t count)
{
    size_t models = 0;

    for (size_t i = 0; i < count; i++)
        models += first_alike(devices, i) == i;
    return models;
}

static char *name_journal(const char *journal, size_t device, size_t tuner)
{
    char *own, *part;

    if (!journal)
        return NULL;
    own = device == 0 ? at_strdup(journal) : at_format("%s.%zu", journal, device);
    if (tuner == 0)
        return own;
    part = at_format("%s.tuner%zu", own, tuner);
    free(own);
    return part;
}

/* Join each device's journal with those of its other tuners. They are of this run, or a killed run
 * has left them. */
static enum at_status join_journals(const struct at_fleet *fleet, struct at_error *err)
{
    const char *journal = fleet->options->session->journal;
    enum at_status status = AT_OK;

    for (size_t i = 0; journal && i < fleet->options->device_count; i++) {
        char *own = name_journal(journal, i, 0);

        for (size_t j = 1; j < AT_TURNS_MAX && status == AT_OK; j++) {
            char *part = name_journal(journal, i, j);

            status = at_journal_absorb(own, part, err);
            free(part);
        }
        free(own);
    }
    return status;
}

/* A run with fewer devices than the one that it resumes leaves journals alone. */
static void warn_of_left_journals(const struct at_fleet *fleet)
{
    const char *journal = fleet->options->session->journal;
    bool found = journal && fleet->options->session->resume;

    for (size_t i = fleet->options->device_count; found; i++) {
        char *left = name_journal(journal, i, 0);

        found = access(left, F_OK) == 0;
        if (found)
            at_warn(fleet->progress,
                    "%s is not resumed: this run has fewer devices; what only that journal has is "
                    "measured again",
                    left);
        free(left);
    }
}

/* Let the other tuners of each device know what its journal has. */
static enum at_status begin_parts(const struct at_fleet *fleet, struct at_error *err)
{
    size_t tuners = fleet->options->tuners;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < fleet->count && status == AT_OK; i++)
        if (i % tuners > 0 && fleet->members[i].journal)
            status = at_journal_begin_part(fleet->members[i].journal,
                                           fleet->members[i - i % tuners].journal, err);
    return status;
}

/* Lock each device that several tuners will share, and make the turns on it. */
static enum at_status share_devices(struct at_fleet *fleet, struct at_error *err)
{
    const struct at_fleet_options *options = fleet->options;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < options->device_count && options->tuners > 1 && status == AT_OK; i++) {
        status = at_device_lock_take(&fleet->shared[i].lock, &options->devices[i],
                                     options->session->wait, fleet->progress, err);
        if (status == AT_OK)
            status = at_turns_new(&fleet->shared[i].turns, options->tuners, err);
    }
    return status;
}

static void open_fleet(struct at_fleet *fleet)
{
    const struct at_fleet_options *options = fleet->options;
    size_t *places = at_alloc_array(fleet->count, sizeof *places);

    for (size_t i = 0; i < fleet->count; i++) {
        struct at_member *member = &fleet->members[i];
        size_t device = i / options->tuners, alike = first_alike(options->devices, device);

        member->model = alike * options->tuners == i
                            ? fleet->models++
                            : fleet->members[alike * options->tuners].model;
        member->place = places[member->model]++;
        member->reserved = AT_DECK_NONE;
        member->journal = name_journal(options->session->journal, device, i % options->tuners);
        member->told = at_alloc_array(fleet->count, sizeof *member->told);
        member->tuner = (struct at_tuner){
            .session = *options->session,
            .device = &options->devices[device],
            .stays_near = options->device_count > 1,
            .problems = options->problems,
            .problem_count = options->problem_count,
            .out = options->out,
            .accumulates = options->accumulates,
            .run_ends_ns = options->budget.ns > 0 ? fleet->started_ns + options->budget.ns : 0,
            .fresh = options->fresh,
        };
        member->tuner.session.journal = member->journal;
        member->tuner.session.turn =
            (struct at_turn){fleet->shared[device].turns, i % options->tuners};
    }
    fleet->decks = at_alloc_array(fleet->models, sizeof(struct at_deck *));
    for (size_t i = 0; i < fleet->models; i++)
        fleet->decks[i] = at_deck_new(options->problems, options->problem_count, places[i]);
    free(places);
}

static void close_fleet(struct at_fleet *fleet)
{
    for (size_t i = 0; i < fleet->models; i++)
        at_deck_free(fleet->decks[i]);
    for (size_t i = 0; i < fleet->count; i++) {
        free(fleet->members[i].journal);
        free(fleet->members[i].told);
    }
    for (size_t i = 0; i < fleet->options->device_count; i++) {
        at_turns_free(fleet->shared[i].turns);
        at_device_lock_release(fleet->shared[i].lock);
    }
    free(fleet->shared);
    free(fleet->decks);
    free(fleet->members);
}

/* Run the tuners, and leave one journal for each device. */
static enum at_status run_all(struct at_fleet *fleet, struct at_error *err)
{
    const struct at_dealer local = {fleet, local_opened, local_deal, local_take};
    struct at_error left;
    enum at_status status = join_journals(fleet, err);

    if (status != AT_OK)
        return status;
    warn_of_left_journals(fleet);
    if (fleet->options->session->resume)
        status = begin_parts(fleet, err);
    if (status != AT_OK)
        return status;
    if (fleet->count == 1)
        return at_tuner_run(&fleet->members[0].tuner, &local, err);
    status = at_fleet_drive(fleet, err);
    if (join_journals(fleet, &left) != AT_OK)
        at_warn(fleet->progress, "%s", left.message);
    return status;
}

enum at_status at_fleet_run(const struct at_fleet_options *options, struct at_fleet_result *result,
                            struct at_error *err)
{
    struct at_fleet fleet = {
        .options = options,
        .progress = options->session->progress,
        .shared = at_alloc_array(options->device_count, sizeof *fleet.shared),
        .members = at_alloc_array(options->device_count * options->tuners, sizeof *fleet.members),
        .count = options->device_count * options->tuners,
        .started_ns = at_now_ns(),
    };
    enum at_status status = share_devices(&fleet, err);

    open_fleet(&fleet);
    if (status == AT_OK)
        status = run_all(&fleet, err);
    status = conclude(&fleet, result, status, err);
    close_fleet(&fleet);
    return status;
}
