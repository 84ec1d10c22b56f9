/* SPDX-License-Identifier: Apache-2.0 */
/* A profile, with the journals of the runs that made it, as one HTML page, as Markdown, or one of
 * its pictures. The same input gives the same bytes. It measures nothing. */
#ifndef AT_REPORT_REPORT_H
#define AT_REPORT_REPORT_H

#include "base/choice.h"
#include "device/device.h"
#include "explain/explain.h"
#include "profile/diff.h"
#include "report/searches.h"
#include "space/family.h"

/* Problems whose details are in the page as they are opened without scripts. */
enum { AT_REPORT_OPEN_MAX = 50 };

/* A problem of the profile. */
struct at_report_row {
    const struct at_device_record *record;
    const struct at_entry *entry;
    struct at_problem problem;
    int64_t bytes;                         /* read and written */
    const struct at_report_search *search; /* NULL: no journal has it */
    const struct at_entry *old;            /* in the baseline; NULL: not there */
    struct at_difference difference;       /* of the two, if there is an old one */
    struct at_explanation *costs;          /* owned; NULL: not counted */
    char anchor[32];                       /* its place in the page: "p0-12" */
};

/* What the journals know of throttling. */
struct at_report_throttling {
    size_t looks;     /* at which NVML told */
    size_t throttled; /* of those */
    size_t counts[AT_THROTTLES];
};

/* All records of one model and policy: several GPUs, or several versions of the software. */
struct at_report_device {
    size_t index;                          /* in the report */
    const struct at_device_record *record; /* the first of them */
    size_t record_count;
    struct at_conditions conditions; /* of all of them */
    struct at_report_row *rows;      /* the one furthest from the copy limit first */
    size_t count, capacity;
    size_t open;                  /* rows whose details the page shows without scripts */
    bool predicted;               /* emulated: no time is measured */
    const char *unit;             /* of times: "µs", or "predicted µs" */
    double of_copy, over_default; /* geometric means; over_default 0: no default was timed */
    int64_t points;               /* measurements of journals */
    int64_t first_ms, last_ms;    /* of their filing; 0: none */
    struct at_report_throttling throttling;
};

struct at_report {
    const char *profile_name, *baseline_name; /* as shown; baseline_name NULL: none */
    const struct at_profile *profile, *baseline;
    struct at_family *const *families; /* for their words */
    size_t family_count;
    size_t journal_count;
    struct at_report_device *devices;
    size_t device_count, row_count;
    struct at_diff diff;  /* from the baseline */
    const char **kernels; /* the families of winners and measurements, sorted: their series */
    size_t kernel_count, kernel_capacity;
};

/* Fill in a report whose names, profile, baseline, families and journal_count are set; searches may
 * be NULL. All are borrowed. Count what each line of the kernel costs, as `autotune explain` does,
 * for the `explained` rows of each device that are furthest from the copy limit: that compiles and
 * runs them on the emulated device, about a second each. AT_USAGE: a config is not in its family's
 * space; AT_DEVICE: no NVRTC. Release the report with at_report_clear, even if this fails. */
enum at_status at_report_make(struct at_report *report, const struct at_report_searches *searches,
                              size_t explained, struct at_error *err);
void at_report_clear(struct at_report *report);

/* The forms of a report. */
enum at_report_form { AT_REPORT_HTML, AT_REPORT_MARKDOWN };
at_choice_fn at_report_form_choice;

/* The pictures, as SVG files of their own; of the profile's first device. */
at_choice_fn at_report_figure_choice;

void at_report_html(const struct at_report *report, FILE *file);
void at_report_markdown(const struct at_report *report, FILE *file);
void at_report_figure(const struct at_report *report, size_t figure, FILE *file);

/* Other pages: search strategies by the curves of each recording, which must have been drawn; the
 * kernels of each problem as shares of the copy limit; and those of a study by bandwidth, with what
 * was counted. */
struct at_comparison;
struct at_bench_report;
struct at_study_result;
void at_report_replay(const struct at_comparison *comparison, FILE *file);
void at_report_bench(const struct at_bench_report *reports, size_t count, FILE *file);
void at_report_study(const struct at_study_result *result, FILE *file);

#endif
