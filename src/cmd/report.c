/* SPDX-License-Identifier: Apache-2.0 */
/* autotune report: a profile and its journals as one page. */
#include "report/report.h"
#include "base/text_stream.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/run_options.h"
#include "profile/newest.h"
#include "system/paths.h"

#include <limits.h>

struct report_options {
    struct at_run_options run; /* for its --space */
    const char *file, *baseline, *out;
    struct at_texts journals;
    unsigned form;
    unsigned figure; /* UINT_MAX: none */
    int64_t explained;
};

static const struct at_option options_table[] = {
    AT_ARGUMENT("profile", "which profile? Name its file, like best.yaml",
                AT_SETS_TEXT(report_options, file)),
    {"journal", 0, "FILE", 0,
     "Also show the measurements of this journal; may be repeated. It is only read",
     AT_ADDS_TEXT(report_options, journals)},
    {"baseline", 0, "FILE", 0, "Also show what changed since this older profile",
     AT_SETS_TEXT(report_options, baseline)},
    AT_OUT(0, report_options, out, "Write to FILE instead of standard output"),
    AT_FORMATS(0, report_options, form, at_report_form_choice),
    {"figure", 0, "NAME", 0, "Only write a picture of the first device's problems, as SVG",
     AT_SETS_CHOICE(report_options, figure, at_report_figure_choice)},
    {"explain", 0, "N", 0,
     "For the N problems furthest from the copy limit, also count the memory transactions of each "
     "line of the kernel, which must be compiled for that (default: 0)",
     AT_SETS_INTEGER(report_options, explained, int64_t, 0, AT_REPORT_OPEN_MAX)},
    {"space", 0, "FILE", 0,
     "Take descriptions of parameters from this space file too; may be repeated",
     AT_ADDS_TEXT(report_options, run.spaces)},
    {0},
};

/* What a report is made of. */
struct inputs {
    struct at_profile profile, baseline;
    struct at_report report;
};

static bool is_measured(const struct at_profile *profile)
{
    for (struct at_placed_entry at = {0}; at_profile_next(profile, &at);)
        if (!at_entry_is_measured(at.entry))
            return false;
    return true;
}

static enum at_status read_measured(struct at_profile *profile, const char *file,
                                    struct at_progress *progress, struct at_error *err)
{
    enum at_status status = at_read_profile(profile, file, progress, err);

    if (status == AT_OK && !is_measured(profile))
        status = at_fail(err, AT_USAGE,
                         "%s has answers without measurements, so there is nothing to report: "
                         "name the profile that it was made from",
                         file);
    return status;
}

static enum at_status read_inputs(struct report_options *options, struct inputs *inputs,
                                  struct at_error *err)
{
    struct at_progress *progress = &options->run.progress;
    enum at_status status = at_out_check(options->out, NULL, err);

    if (status == AT_OK)
        status = read_measured(&inputs->profile, options->file, progress, err);
    if (status == AT_OK && options->baseline)
        status = read_measured(&inputs->baseline, options->baseline, progress, err);
    return status;
}

static void tell_journals(struct report_options *options, const struct at_report *report)
{
    for (size_t i = 0; i < report->journal_count; i++) {
        at_detail(&options->run.progress, "read %s", report->journals[i]);
        if (report->taken[i] == 0)
            at_warn(&options->run.progress,
                    "%s has no measurement of the problems of %s on its GPUs: the page shows "
                    "nothing of it; name the journal of that run",
                    report->journals[i], options->file);
    }
}

static enum at_status write_report(struct report_options *options, const struct at_report *report,
                                   struct at_error *err)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    if (options->figure < UINT_MAX)
        at_report_figure(report, options->figure, out);
    else
        (options->form == AT_REPORT_MARKDOWN ? at_report_markdown : at_report_html)(report, out);
    return at_out_write(options->out, &stream, AT_OK, &options->run.progress, err);
}

static enum at_status report(struct report_options *options, struct at_error *err)
{
    struct inputs inputs = {
        .report = {.profile_name = at_path_name(options->file),
                   .baseline_name = options->baseline ? at_path_name(options->baseline) : NULL,
                   .families = options->run.session.families,
                   .family_count = options->run.session.family_count,
                   .journals = options->journals.items,
                   .journal_count = options->journals.count,
                   .progress = &options->run.progress}};
    enum at_status status = read_inputs(options, &inputs, err);

    inputs.report.profile = &inputs.profile;
    inputs.report.baseline = options->baseline ? &inputs.baseline : NULL;
    if (status == AT_OK)
        status = at_report_make(&inputs.report, (size_t)options->explained, err);
    if (status == AT_OK) {
        tell_journals(options, &inputs.report);
        status = write_report(options, &inputs.report, err);
    }
    at_report_clear(&inputs.report);
    at_profile_clear(&inputs.baseline);
    at_profile_clear(&inputs.profile);
    return status;
}

static enum at_status run_report(void *given, struct at_error *err)
{
    struct report_options *options = given;
    enum at_status status = at_run_families(&options->run, err);

    return status == AT_OK ? report(options, err) : status;
}

const struct at_command at_command_report = {
    .name = "report",
    .summary = "a profile and its journal as a page with pictures",
    .options = options_table,
    .arguments = "PROFILE",
    .help =
        "Shows a profile as one HTML page with pictures: a table of all problems, where they are "
        "slow and what stands out, and with --journal how each search went and which parameters "
        "matter. The page needs no network, and works without scripts."
        "\vThe journal of a run is beside its profile: best.yaml.journal."
        "\n\nExample:\n  autotune report best.yaml --journal best.yaml.journal --out best.html",
    .size = sizeof(struct report_options),
    .defaults = &(const struct report_options){.figure = UINT_MAX},
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_report,
};
