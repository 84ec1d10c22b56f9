/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/lookup.h"

#include "base/memory.h"
#include "lookup/nearest.h"
#include "space/named.h"
#include "space/space.h"

#include <stdlib.h>
#include <string.h>

const char *const at_tier_names[AT_TIERS] = {
    "exact", "shape", "chip", "architecture", "other architecture", "default",
};

/* ---- candidates ---- */

static enum at_status make_candidate(struct at_lookup *lookup, struct at_candidate *candidate,
                                     struct at_traits *traits, struct at_error *err)
{
    const struct at_result_record *winner = &candidate->entry->winner;
    const struct at_device_info *home = &lookup->places[candidate->place].record->device;
    struct at_config config;
    struct at_launch launch;
    size_t fit;
    enum at_status status = at_problem_parse(&candidate->problem, candidate->entry->problem, err);

    if (status == AT_OK)
        status = at_config_from_names(&config, lookup->families, lookup->family_count,
                                      winner->family, &winner->parameters, err);
    if (status == AT_OK)
        status = at_fits_add(lookup->fits, &config, &candidate->problem, home, &fit, &launch, err);
    if (status != AT_OK)
        return status;
    candidate->identity = at_nearest_identity(&candidate->problem);
    candidate->fit = (uint32_t)fit;
    *traits = at_traits_of(&candidate->problem, home);
    at_traits_launch(traits, &launch);
    return AT_OK;
}

static void add_candidate(struct at_lookup *lookup, size_t kind, const struct at_entry *entry)
{
    struct at_candidate candidate = {.entry = entry,
                                     .order = (uint32_t)lookup->count,
                                     .place = (uint32_t)lookup->place_count - 1,
                                     .kind = (uint32_t)kind};
    struct at_traits traits;
    struct at_error err;

    if (make_candidate(lookup, &candidate, &traits, &err) != AT_OK) {
        if (lookup->unusable++ == 0)
            lookup->unusable_note = at_format("%s: %s: %s", lookup->places[candidate.place].path,
                                              entry->problem, err.message);
        return;
    }
    lookup->traits =
        at_grow(lookup->traits, lookup->count, &lookup->traits_capacity, sizeof *lookup->traits);
    lookup->traits[lookup->count] = traits;
    AT_PUSH(lookup->candidates, lookup->count, lookup->capacity, candidate);
}

/* Unlike in nothing but where they are. */
static bool devices_alike(const struct at_device_info *a, const struct at_device_info *b)
{
    struct at_device_info moved = *b;

    memcpy(moved.uuid, a->uuid, sizeof moved.uuid);
    memcpy(moved.pci_bus_id, a->pci_bus_id, sizeof moved.pci_bus_id);
    moved.ordinal = a->ordinal;
    return memcmp(a, &moved, sizeof moved) == 0;
}

static size_t find_kind(struct at_lookup *lookup, const struct at_device_record *record)
{
    struct at_kind kind = {.record = record};

    for (size_t i = 0; i < lookup->kind_count; i++) {
        const struct at_device_record *other = lookup->kinds[i].record;

        if (strcmp(record->policy.name, other->policy.name) == 0 &&
            devices_alike(&record->device, &other->device))
            return i;
    }
    AT_PUSH(lookup->kinds, lookup->kind_count, lookup->kind_capacity, kind);
    return lookup->kind_count - 1;
}

static void add_place(struct at_lookup *lookup, const struct at_profile_file *file,
                      const struct at_device_record *record)
{
    struct at_place place = {file->path, record};
    const struct at_entry *entries = record->problems.items;
    size_t kind = find_kind(lookup, record);

    AT_PUSH(lookup->places, lookup->place_count, lookup->place_capacity, place);
    for (size_t i = 0; i < record->problems.count; i++)
        add_candidate(lookup, kind, &entries[i]);
}

/* The candidates of each kind and size of an element, to boxes of their own. */
static void put_into_boxes(struct at_lookup *lookup)
{
    size_t *chosen = at_alloc_array(lookup->count, sizeof *chosen);

    for (size_t kind = 0; kind < lookup->kind_count; kind++)
        for (size_t size = 0; size < AT_ELEMENT_SIZES; size++) {
            size_t count = 0;

            for (size_t i = 0; i < lookup->count; i++)
                if (lookup->candidates[i].kind == kind &&
                    lookup->candidates[i].problem.elem_size == INT64_C(1) << size)
                    chosen[count++] = i;
            lookup->kinds[kind].has[size] = count > 0;
            if (count > 0)
                lookup->kinds[kind].box_of[size] =
                    at_boxes_add(&lookup->boxes, lookup->traits, chosen, count);
        }
    at_free(chosen);
}

/* In the order of the boxes, so that those that are looked at together lie together. */
static void arrange(struct at_lookup *lookup)
{
    struct at_candidate *candidates = at_alloc_array(lookup->count, sizeof *candidates);
    struct at_traits *traits = at_alloc_array(lookup->count, sizeof *traits);

    for (size_t i = 0; i < lookup->count; i++) {
        candidates[i] = lookup->candidates[lookup->boxes.members[i]];
        traits[i] = lookup->traits[lookup->boxes.members[i]];
    }
    at_free(lookup->candidates);
    at_free(lookup->traits);
    lookup->candidates = candidates;
    lookup->traits = traits;
}

static int by_identity(const void *left, const void *right)
{
    const struct at_identified *a = left, *b = right;

    if (a->identity != b->identity)
        return a->identity < b->identity ? -1 : 1;
    return (a->candidate > b->candidate) - (a->candidate < b->candidate);
}

static void identify(struct at_lookup *lookup)
{
    size_t at = 0;

    lookup->identified = at_alloc_array(lookup->count, sizeof *lookup->identified);
    for (size_t i = 0; i < lookup->count; i++)
        lookup->identified[i] = (struct at_identified){lookup->candidates[i].identity, i};
    qsort(lookup->identified, lookup->count, sizeof *lookup->identified, by_identity);
    for (uint64_t bits = 0; bits < AT_COUNT(lookup->identified_from); bits++) {
        while (at < lookup->count &&
               lookup->identified[at].identity >> (64 - AT_IDENTITY_BITS) < bits)
            at++;
        lookup->identified_from[bits] = (uint32_t)at;
    }
}

struct at_lookup *at_lookup_open(const struct at_profiles *profiles,
                                 struct at_family *const *families, size_t family_count)
{
    struct at_lookup *lookup = at_alloc(sizeof *lookup);

    lookup->fits = at_fits_new();
    lookup->families = families;
    lookup->family_count = family_count;
    for (size_t i = 0; i < profiles->count; i++) {
        const struct at_profile_file *file = &profiles->files[i];
        const struct at_device_record *records = file->profile.devices.items;

        for (size_t j = 0; j < file->profile.devices.count; j++)
            add_place(lookup, file, &records[j]);
    }
    put_into_boxes(lookup);
    arrange(lookup);
    identify(lookup);
    return lookup;
}

void at_lookup_close(struct at_lookup *lookup)
{
    if (!lookup)
        return;
    at_fits_free(lookup->fits);
    at_free(lookup->candidates);
    at_free(lookup->traits);
    at_boxes_clear(&lookup->boxes);
    at_free(lookup->identified);
    at_free(lookup->places);
    at_free(lookup->kinds);
    at_free(lookup->unusable_note);
    at_free(lookup);
}

/* ---- the answer ---- */

static enum at_status take_default(const struct at_lookup *lookup, const struct at_query *query,
                                   struct at_answer *answer, struct at_error *err)
{
    enum at_status status =
        at_space_default(&answer->config, lookup->families, lookup->family_count, query->problem,
                         query->device, err);

    if (status == AT_OK)
        status =
            at_config_launch(&answer->config, query->problem, query->device, &answer->launch, err);
    answer->tier = AT_TIER_DEFAULT;
    return status;
}

enum at_status at_lookup_find(const struct at_lookup *lookup, const struct at_query *query,
                              struct at_answer *answer, struct at_error *err)
{
    struct at_answer made = {0};
    enum at_status status = AT_OK;

    if (!at_nearest_find(lookup, query, &made))
        status = take_default(lookup, query, &made, err);
    if (status != AT_OK)
        return status;
    if (!made.refused[0] && lookup->unusable > 0)
        snprintf(made.refused, sizeof made.refused, "%zu %s not used: %.200s", lookup->unusable,
                 lookup->unusable == 1 ? "entry" : "entries", lookup->unusable_note);
    *answer = made;
    return AT_OK;
}

enum at_status at_answer_check_device(const struct at_answer *answer, const struct at_query *query,
                                      struct at_error *err)
{
    if (answer->tier == AT_TIER_DEFAULT)
        return at_fail(err, AT_MISMATCH,
                       "no profile has an entry that is legal here: tune this device, or do "
                       "without --strict");
    if (answer->tier > AT_TIER_SHAPE)
        return at_fail(err, AT_MISMATCH,
                       "no profile is for %s with %jd multiprocessors; the nearest, %s, is for %s "
                       "with %jd: tune this device, or do without --strict",
                       query->device->name, (intmax_t)query->device->multiprocessors, answer->path,
                       answer->record->device.name,
                       (intmax_t)answer->record->device.multiprocessors);
    return AT_OK;
}
