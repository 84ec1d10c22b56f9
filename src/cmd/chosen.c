/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/chosen.h"

#include "base/memory.h"
#include "cmd/files.h"
#include "device/relation.h"
#include "profile/newest.h"

#include <stdlib.h>
#include <string.h>

/* ---- for which device ---- */

static enum at_status device_of_file(const struct at_lookup_options *options,
                                     const struct at_profiles *profiles, struct at_target **targets,
                                     size_t *count, struct at_error *err)
{
    const struct at_list *devices = &profiles->files[0].profile.devices;
    const struct at_device_record *records = devices->items;

    for (size_t i = 1; i < devices->count; i++)
        if (at_device_relation(&records[0].device, &records[i].device) != AT_SAME_DEVICE)
            return at_fail(
                err, AT_USAGE,
                "%s has several devices, %s and %s among them: name one with --device or "
                "--gpu",
                options->file, records[0].device.name, records[i].device.name);
    *targets = at_alloc(sizeof **targets);
    **targets = (struct at_target){records[0].device, records[0].environment};
    *count = 1;
    return AT_OK;
}

static int by_capability(const void *a, const void *b)
{
    const struct at_target *first = a, *second = b;
    int64_t difference = first->device.compute_capability - second->device.compute_capability;

    return difference < 0 ? -1 : difference > 0;
}

static enum at_status check_capabilities(struct at_target *targets, size_t count,
                                         struct at_error *err)
{
    qsort(targets, count, sizeof *targets, by_capability);
    for (size_t i = 1; i < count; i++)
        if (by_capability(&targets[i - 1], &targets[i]) == 0)
            return at_fail(err, AT_USAGE,
                           "%s and %s have one compute capability, by which programs choose: name "
                           "only one of them",
                           targets[i - 1].device.name, targets[i].device.name);
    return AT_OK;
}

static enum at_status find_targets(struct at_lookup_options *options,
                                   const struct at_profiles *profiles, struct at_chosen *chosen,
                                   struct at_error *err)
{
    enum at_status status;

    if (options->file && !options->run.gpu && options->devices.count == 0)
        return device_of_file(options, profiles, &chosen->targets, &chosen->target_count, err);
    status = at_targets_find(&chosen->targets, &chosen->target_count, options, err);
    return status == AT_OK ? check_capabilities(chosen->targets, chosen->target_count, err)
                           : status;
}

/* ---- which problems ---- */

static void add_tuned(const struct at_profile *profile, const struct at_device_info *device,
                      const char *policy, struct at_problem **problems, size_t *count,
                      size_t *capacity)
{
    for (struct at_placed_entry at = {0}; at_profile_next(profile, &at);) {
        struct at_problem problem;

        if (strcmp(at.record->policy.name, policy) != 0 ||
            at_device_relation(&at.record->device, device) != AT_SAME_DEVICE)
            continue;
        at_problem_parse(&problem, at.entry->problem, NULL); /* the reader has seen it parse */
        AT_PUSH(*problems, *count, *capacity, problem);
    }
}

/* Those of the command line, or else all that the profiles have for one of the devices. */
static enum at_status find_problems(struct at_lookup_options *options,
                                    const struct at_chosen *chosen, struct at_problem **problems,
                                    size_t *count, struct at_error *err)
{
    const struct at_profiles *profiles = &chosen->profiles;
    size_t capacity = 0;

    options->run.repeats = true; /* an export has each problem once in any case */
    if (at_run_problems_given(&options->run))
        return at_run_problems(&options->run, NULL, problems, count, err);
    *problems = NULL;
    *count = 0;
    for (size_t i = 0; i < profiles->count; i++)
        for (size_t j = 0; j < chosen->target_count; j++)
            add_tuned(&profiles->files[i].profile, &chosen->targets[j].device,
                      options->run.session.policy->name, problems, count, &capacity);
    if (*count == 0)
        return at_fail(
            err, AT_MISMATCH,
            "no profile here is for %s under the policy %s: name problems with --problem, "
            "which uses the nearest entry",
            chosen->targets[0].device.name, options->run.session.policy->name);
    return AT_OK;
}

/* ---- the whole ---- */

enum at_status at_chosen_find(struct at_chosen *chosen, struct at_lookup_options *options,
                              struct at_error *err)
{
    const struct at_run_options *run = &options->run;
    struct at_problem *problems = NULL;
    size_t count;
    enum at_status status = at_searched_profiles(&chosen->profiles, options->file, NULL, 0,
                                                 &options->run.progress, err);

    if (status == AT_OK)
        status = find_targets(options, &chosen->profiles, chosen, err);
    if (status == AT_OK)
        status = at_run_families(&options->run, err);
    if (status == AT_OK)
        status = find_problems(options, chosen, &problems, &count, err);
    if (status == AT_OK)
        status = at_lookup_open(&chosen->lookup, &chosen->profiles, run->families,
                                run->session.family_count, err);
    chosen->export.families = run->families;
    chosen->export.family_count = run->session.family_count;
    chosen->export.targets = chosen->targets;
    chosen->export.target_count = chosen->target_count;
    chosen->export.policy = run->session.policy->name;
    if (status == AT_OK)
        status = at_export_make(&chosen->export, chosen->lookup, problems, count, err);
    free(problems);
    return status;
}

void at_chosen_clear(struct at_chosen *chosen)
{
    at_export_clear(&chosen->export);
    at_lookup_close(chosen->lookup);
    at_profiles_clear(&chosen->profiles);
    free(chosen->targets);
}
