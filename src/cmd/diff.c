/* SPDX-License-Identifier: Apache-2.0 */
/* autotune diff: what differs between two profiles. */
#include "profile/diff.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "device/kind.h"

#include <stdio.h>
#include <string.h>

struct diff_options {
    struct at_progress progress;
    struct at_texts files;
    enum at_output_format format;
    int64_t threshold_permille; /* negative: not given */
    bool across;
};

static const struct at_option options_table[] = {
    AT_ARGUMENT("profile", "which two profiles? Name their files, like old.yaml new.yaml",
                AT_ADDS_TEXT(diff_options, files)),
    {"threshold", 0, "PERCENT", 0,
     "Fail only if a problem has become slower by more than this, like 5%",
     AT_SETS_PERCENT(diff_options, threshold_permille)},
    {"across", 0, NULL, 0,
     "Compare the times of each problem across devices and policies, such as one GPU with another",
     AT_SETS_FLAG(diff_options, across)},
    AT_FORMAT(0, diff_options, format),
    {0},
};

static enum at_status check(void *given, struct at_error *err)
{
    const struct diff_options *options = given;

    if (options->files.count != 2)
        return at_fail(err, AT_USAGE, "%s",
                       options->files.count < 2
                           ? "which two profiles? Name their files, like old.yaml new.yaml"
                           : "two profiles at a time");
    return AT_OK;
}

/* Tell why nothing is compared, if that is so. */
static void note_other_devices(const struct at_diff *diff, const struct at_profile *from,
                               const struct at_profile *to, struct at_progress *progress)
{
    const struct at_device_record *old = from->devices.items, *new = to->devices.items;
    bool some = diff->alike > 0;

    for (size_t i = 0; i < diff->count; i++)
        some = some || (diff->items[i].from && diff->items[i].to);
    if (!some && from->devices.count > 0 && to->devices.count > 0)
        at_note(
            progress,
            "nothing is compared: the first profile is of %s%s (%s), the second of %s%s (%s), and "
            "only the same problem on the same model under the same policy is; --across compares "
            "the times of each problem",
            at_device_kind(&old->device)->label, old->device.name, old->policy.name,
            at_device_kind(&new->device)->label, new->device.name, new->policy.name);
}

/* How many problems are clearly slower, and by more than the threshold? */
static size_t count_slower(const struct at_diff *diff, int64_t threshold_permille)
{
    size_t slower = 0;

    for (size_t i = 0; i < diff->count; i++)
        slower += strcmp(at_difference_verdict(&diff->items[i]), "slower") == 0 &&
                  at_difference_permille(&diff->items[i]) > threshold_permille;
    return slower;
}

static enum at_status compare(struct diff_options *options, const struct at_profile *from,
                              const struct at_profile *to, struct at_error *err)
{
    struct at_diff diff = at_diff_make(from, to, options->across);
    bool gate = options->threshold_permille >= 0;
    size_t failures = gate ? count_slower(&diff, options->threshold_permille) : diff.count;
    enum at_status status;

    note_other_devices(&diff, from, to, &options->progress);
    status = at_diff_print(&diff, options->format, stdout, err);
    if (gate && options->format == AT_FORMAT_TABLE)
        printf("%zu slower by more than %.1f %%\n", failures,
               (double)options->threshold_permille / 10);
    if (status == AT_OK && failures > 0)
        status = AT_FAILED; /* no message: the output says it */
    at_diff_clear(&diff);
    return status;
}

static enum at_status run_diff(void *given, struct at_error *err)
{
    struct diff_options *options = given;
    struct at_profile from = {0}, to = {0};
    enum at_status status =
        at_read_profile(&from, options->files.items[0], &options->progress, err);

    if (status == AT_OK)
        status = at_read_profile(&to, options->files.items[1], &options->progress, err);
    if (status == AT_OK)
        status = compare(options, &from, &to, err);
    at_profile_clear(&to);
    at_profile_clear(&from);
    return status;
}

const struct at_command at_command_diff = {
    .name = "diff",
    .summary = "what differs between two profiles",
    .options = options_table,
    .arguments = "OLD NEW",
    .help =
        "Compares two profiles of the same models of devices. Prints problems that only one has, "
        "other winners, and times of the same winner that differ by more than both spreads."
        "\vThe exit code is 0 if nothing differs, 1 if something does, 2 if a file cannot be read "
        "as a profile. With --threshold it is 1 only if a problem has clearly become slower, and "
        "by more than that."
        "\n\nExample:\n  autotune diff --threshold 5% old.yaml new.yaml",
    .check = check,
    .size = sizeof(struct diff_options),
    .defaults = &(const struct diff_options){.threshold_permille = -1},
    .run = run_diff,
};
