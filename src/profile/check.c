/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the numbers of a profile against each other. A file with every key in its place can still
 * be nonsense, because it was edited by hand or merged badly. */
#include "base/memory.h"
#include "problem/problem.h"
#include "profile/internal.h"

#include <string.h>

/* CUDA's limit on every device so far (CUDA C++ Programming Guide, technical specifications per
 * compute capability: "maximum number of threads per block"). */
enum { THREADS_PER_BLOCK_MAX = 1024 };

size_t at_groups_problems(const struct at_list *list)
{
    const struct at_answer_group *groups = list->items;
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        count += groups[i].problems.count;
    return count;
}

/* Is shown = scale * part / time, except for rounding? time may be half a unit off, part part_slack
 * units, and shown one unit. */
static bool agrees(int64_t shown, double part, double part_slack, int64_t time_ns, double scale)
{
    double time = (double)time_ns;
    double least = scale * (part - part_slack) / (time + 0.5) - 1;
    double most = scale * (part + part_slack) / (time - 0.5) + 1;

    return least <= (double)shown && (double)shown <= most;
}

static enum at_status check_bandwidth(int64_t bandwidth_MB_per_s, int64_t time_ns, int64_t bytes,
                                      struct at_error *err)
{
    /* A byte per nanosecond is 1000 MB/s. */
    if (agrees(bandwidth_MB_per_s, (double)bytes, 0, time_ns, 1000))
        return AT_OK;
    return at_fail(
        err, AT_USAGE,
        "bandwidth_MB_per_s is %jd, but %jd bytes in time_ns %jd are %.0f; at least one of "
        "them is wrong",
        (intmax_t)bandwidth_MB_per_s, (intmax_t)bytes, (intmax_t)time_ns,
        1000 * (double)bytes / (double)time_ns);
}

/* Check the three extents of a grid or block, and multiply them. */
static enum at_status check_extents(const struct at_list *list, const char *what, double *product,
                                    struct at_error *err)
{
    const int64_t *extents = list->items;

    *product = 1;
    for (size_t i = 0; i < list->count; i++) {
        if (extents[i] < 1)
            return at_fail(err, AT_USAGE, "%s has an extent of %jd, expected at least 1", what,
                           (intmax_t)extents[i]);
        *product *= (double)extents[i];
    }
    return AT_OK;
}

static enum at_status check_launch(const struct at_result_record *result, struct at_error *err)
{
    double blocks, threads;

    if (check_extents(&result->grid, "grid", &blocks, err) != AT_OK ||
        check_extents(&result->block, "block", &threads, err) != AT_OK)
        return AT_USAGE;
    if (threads > THREADS_PER_BLOCK_MAX)
        return at_fail(err, AT_USAGE, "block has %.0f threads, expected at most %d", threads,
                       THREADS_PER_BLOCK_MAX);
    return AT_OK;
}

static enum at_status check_interval(const struct at_result_record *result, struct at_error *err)
{
    int64_t low_ns = result->time_low_ns, high_ns = result->time_high_ns;

    if ((low_ns == 0) == (high_ns == 0) &&
        (low_ns == 0 || (low_ns <= result->time_ns && result->time_ns <= high_ns)))
        return AT_OK;
    return at_fail(err, AT_USAGE,
                   "time_ns is %jd, which is not within time_low_ns and time_high_ns",
                   (intmax_t)result->time_ns);
}

static enum at_status check_result(const struct at_result_record *result,
                                   const struct at_copy_record *copy, int64_t bytes,
                                   struct at_error *err)
{
    enum at_status status = check_launch(result, err);

    if (status == AT_OK)
        status = check_interval(result, err);
    if (status == AT_OK)
        status = check_bandwidth(result->bandwidth_MB_per_s, result->time_ns, bytes, err);
    if (status == AT_OK &&
        !agrees(result->of_copy_permille, (double)copy->time_ns, 0.5, result->time_ns, 1000))
        status = at_fail(err, AT_USAGE,
                         "of_copy_permille is %jd, but the copy takes %jd ns and this %jd ns: "
                         "expected %.0f",
                         (intmax_t)result->of_copy_permille, (intmax_t)copy->time_ns,
                         (intmax_t)result->time_ns,
                         1000 * (double)copy->time_ns / (double)result->time_ns);
    return status;
}

int64_t at_evaluations_total(const struct at_evaluations *evaluations)
{
    int64_t total = 0;

    for (int i = 0; i < AT_OUTCOMES; i++)
        total += evaluations->counts[i];
    return total;
}

static enum at_status check_evaluations(const struct at_evaluations *counts, struct at_error *err)
{
    int64_t ended = at_evaluations_total(counts);

    if (ended > counts->configs)
        return at_fail(err, AT_USAGE,
                       "evaluations: %jd configs were evaluated, but the space has only %jd",
                       (intmax_t)ended, (intmax_t)counts->configs);
    if (counts->configs > counts->points)
        return at_fail(err, AT_USAGE, "evaluations: configs is %jd, but points only %jd",
                       (intmax_t)counts->configs, (intmax_t)counts->points);
    return AT_OK;
}

static enum at_status check_spelling(const struct at_entry *entry, struct at_problem *problem,
                                     struct at_error *err)
{
    enum at_status status = at_problem_parse(problem, entry->problem, err);
    char *shortest;

    /* Only keys can be spelled in several ways: in another order, or as they are by default. */
    if (status != AT_OK || !strchr(entry->problem, ','))
        return status;
    /* With two spellings a problem could be in a file twice without being noticed. */
    shortest = at_problem_format(problem);
    if (strcmp(shortest, entry->problem) != 0)
        status = at_fail(err, AT_USAGE, "write this problem as %s", shortest);
    at_free(shortest);
    return status;
}

static enum at_status check_entry(const struct at_entry *entry, struct at_error *err)
{
    struct at_problem problem, copied; /* which has no scales */
    int64_t bytes;
    enum at_status status = check_spelling(entry, &problem, err);

    if (status != AT_OK || !at_entry_is_measured(entry))
        return status;
    if (entry->winner.further_launches.count > 0)
        return at_fail(err, AT_USAGE,
                       "the winner is %zu launches, and this program knows winners of one launch "
                       "only: use the autotune that wrote the file",
                       1 + entry->winner.further_launches.count);
    bytes = at_problem_bytes(&problem);
    copied = at_problem_copy_of(&problem);
    if (check_bandwidth(entry->copy.bandwidth_MB_per_s, entry->copy.time_ns,
                        at_problem_bytes(&copied), err) != AT_OK)
        return at_fail_within(err, "copy");
    if (check_result(&entry->winner, &entry->copy, bytes, err) != AT_OK)
        return at_fail_within(err, "winner");
    if (entry->fallback.time_ns == 0) /* not measured, or it failed */
        return check_evaluations(&entry->evaluations, err);
    if (check_result(&entry->fallback, &entry->copy, bytes, err) != AT_OK)
        return at_fail_within(err, "default");
    if (entry->winner.time_ns > entry->fallback.time_ns + 1)
        return at_fail(err, AT_USAGE,
                       "the winner takes %jd ns, longer than the default with %jd ns",
                       (intmax_t)entry->winner.time_ns, (intmax_t)entry->fallback.time_ns);
    return check_evaluations(&entry->evaluations, err);
}

static enum at_status check_device(const struct at_device_record *device, struct at_error *err)
{
    const struct at_entry *entries = device->problems.items;

    for (size_t i = 0; i < device->problems.count; i++) {
        const struct at_entry *entry = &entries[i];

        if (check_entry(entry, err) != AT_OK)
            return at_fail_within(err, "problem %s of %s", entry->problem, device->device.name);
        if (i > 0 && strcmp(entry[-1].problem, entry->problem) == 0)
            return at_fail(err, AT_USAGE, "problem %s is listed twice under %s", entry->problem,
                           device->device.name);
    }
    return AT_OK;
}

enum at_status at_profile_check_counts(const struct at_profile *profile, struct at_error *err)
{
    const struct at_device_record *records = profile->devices.items;

    if (profile->devices.count < 1)
        return at_fail(err, AT_USAGE, "it is empty: a profile has at least one device");
    if (profile->devices.count > AT_DEVICES_MAX)
        return at_fail(err, AT_USAGE, "%zu devices are more than the %d that a profile may have",
                       profile->devices.count, AT_DEVICES_MAX);
    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct at_entry *entries = records[i].problems.items;
        size_t measured = 0, answered;

        for (size_t j = 0; j < records[i].problems.count; j++)
            measured += at_entry_is_measured(&entries[j]);
        answered = records[i].problems.count - measured + at_groups_problems(&records[i].groups);
        if (measured > AT_PROFILE_PROBLEMS_MAX)
            return at_fail(err, AT_USAGE,
                           "%zu problems with measurements are more than the %d that a device may "
                           "have",
                           measured, AT_PROFILE_PROBLEMS_MAX);
        if (answered > AT_PROFILE_ANSWERS_MAX)
            return at_fail(err, AT_USAGE,
                           "%zu answered problems are more than the %d that a device may have",
                           answered, AT_PROFILE_ANSWERS_MAX);
    }
    return AT_OK;
}

enum at_status at_profile_check(const struct at_profile *profile, const char *name,
                                struct at_error *err)
{
    const struct at_device_record *devices = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        if (check_device(&devices[i], err) != AT_OK)
            return at_fail_within(err, "%s", name);
        if (i > 0 && at_device_record_compare(&devices[i - 1], &devices[i]) == 0)
            return at_fail(
                err, AT_USAGE,
                "%s: device %s (%s) is listed twice under the policy %s and the same software",
                name, devices[i].device.name, devices[i].device.uuid, devices[i].policy.name);
    }
    return AT_OK;
}
