/* SPDX-License-Identifier: Apache-2.0 */
/* A profile, with the journals of the runs that made it, as one HTML page, as Markdown, or one of
 * its pictures. The same input gives the same bytes. It measures nothing. */
#ifndef AT_REPORT_REPORT_H
#define AT_REPORT_REPORT_H

#include "base/choice.h"
#include "device/device.h"
#include "explain/explain.h"
#include "journal/journal.h"
#include "measure/measurement.h"
#include "profile/diff.h"
#include "profile/means.h"
#include "space/family.h"

/* Problems whose details are in the page as they are opened without scripts. */
enum { AT_REPORT_OPEN_MAX = 50 };

/* A measured config. Of those that were measured again only the last is kept. */
struct at_report_point {
    const char *family, *config; /* texts of a set: equal ones have one address */
    int64_t utc_ms;              /* when it was filed */
    double ns, low_ns, high_ns;  /* median of its samples and the interval of it; 0: not correct */
    double expected_ns;          /* what the search predicted; 0: nothing */
    int64_t clock_sm_khz;        /* 0: unknown */
    struct at_look look;         /* what NVML said meanwhile */
    enum at_outcome outcome;
};

/* A finalist of the shoot-out, in which the samples of all were taken in turn. */
struct at_report_final {
    const char *family, *config; /* as in a point */
    double *samples_ns;          /* owned */
    size_t sample_count;
    double ns, low_ns, high_ns; /* their median and its interval */
    bool won, tied;             /* tied: not told apart from the fastest, or the fastest */
};

enum { AT_REPORT_FINALS_MAX = 16 };

/* A phase of a tuner's work. Texts as in a point. */
struct at_report_phase {
    const char *gpu, *policy, *problem; /* problem "": none */
    size_t journal;                     /* of the report */
    int64_t run;                        /* of the journal */
    enum at_phase phase;
    int64_t tuner;
    int64_t began_ms, took_ms, gpu_ms; /* Unix time; all of it; the device's work in it */
};

struct at_report_search {
    struct at_report_point *points; /* in the order of measurement */
    size_t count, capacity;
    size_t older;      /* points of the journals before the one that is read */
    int64_t run;       /* of the journal that is read */
    size_t best_index; /* of the fastest point; count: none is correct */
    struct at_report_final finals[AT_REPORT_FINALS_MAX]; /* the fastest first */
    size_t final_count;                                  /* 0: the journal has none */
};

/* How a problem's time compares with the one in the baseline, as `autotune diff` judges. */
enum at_report_verdict { AT_REPORT_SLOWER, AT_REPORT_FASTER, AT_REPORT_ALIKE, AT_REPORT_VERDICTS };
struct at_report_change {
    double permille, low, high; /* the new time over the old one, less 1, with its interval */
    enum at_report_verdict verdict;
};

/* A problem of the profile. */
struct at_report_row {
    const struct at_device_record *record;
    const struct at_entry *entry;
    const struct at_result_record *winner; /* the entry's */
    double percent;                        /* of the copy limit, that it reaches */
    bool small; /* L2 holds its data, or the launch is most of its time: a copy limits it little */
    struct at_problem problem;
    int64_t bytes;                         /* read and written */
    const struct at_report_search *search; /* NULL: no journal has it */
    const struct at_entry *old;            /* in the baseline; NULL: not there */
    const struct at_device_record *old_record;
    struct at_report_change change; /* if there is an old one */
    struct at_explanation *costs;   /* owned; NULL: not counted */
    char anchor[32];                /* its place in the page: "p0-12" */
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
    size_t open;               /* rows whose details the page shows without scripts */
    bool predicted;            /* emulated: no time is measured */
    const char *unit;          /* of times: "µs", or "predicted µs" */
    struct at_means means;     /* of the rows */
    int64_t points;            /* measurements of journals */
    int64_t first_ms, last_ms; /* of their filing; 0: none */
    struct at_report_throttling throttling;
};

struct at_report {
    const char *profile_name, *baseline_name; /* as shown; baseline_name NULL: none */
    const struct at_profile *profile, *baseline;
    struct at_family *const *families; /* for their words */
    size_t family_count;
    const char *const *journals; /* files */
    size_t *taken; /* of each journal, measurements of the profile's problems on its GPUs */
    size_t journal_count;
    struct at_report_searches *searches; /* owned */
    struct at_report_phase *phases;      /* of all journals, in the order of their ends; owned */
    size_t phase_count, phase_capacity;
    struct at_report_device *devices;
    size_t device_count, row_count;
    struct at_diff diff;                 /* from the baseline */
    size_t verdicts[AT_REPORT_VERDICTS]; /* of the rows that are in the baseline */
    const char **kernels; /* the families of winners and measurements, sorted: their series */
    size_t kernel_count, kernel_capacity;
    struct at_progress *progress; /* of counting costs */
};

/* Fill in a report whose names, profile, baseline, families, journals and progress are set, all of
 * which are borrowed. Of each problem, a journal's newest run counts. Count what each line of the
 * kernel costs, as `autotune explain` does, for the `explained` rows of each device that are
 * furthest from the copy limit: that compiles and runs them on the emulated device, about a second
 * each. AT_USAGE: a config is not in its family's space; AT_DEVICE: no NVRTC. Release the report
 * with at_report_clear, even if this fails. */
enum at_status at_report_make(struct at_report *report, size_t explained, struct at_error *err);
void at_report_clear(struct at_report *report);

/* The UUID of the GPU that measured a row. */
const char *at_report_gpu(const struct at_report_row *row);

/* The forms of a report. */
enum at_report_form { AT_REPORT_HTML, AT_REPORT_MARKDOWN };
at_choice_fn at_report_form_choice;

/* The pictures, as SVG files of their own; of the profile's first device. */
at_choice_fn at_report_figure_choice;

void at_report_html(const struct at_report *report, FILE *out);
void at_report_markdown(const struct at_report *report, FILE *out);
void at_report_figure(const struct at_report *report, size_t figure, FILE *out);

/* The result of `autotune bench` for one problem. */
struct at_bench_row {
    char label[64];
    char kernel[1024]; /* family and parameters, or memcpy; "": illegal for this problem */
    int64_t time_ns;   /* 0 if illegal, as all fields below */
    int64_t bandwidth_MB_per_s;
    int64_t of_copy_permille;
    int64_t spread_permille;
    int64_t from_l2; /* 1: faster than DRAM allows */
};

struct at_bench_report {
    char device[128];
    char policy[16];
    char times[16]; /* the policy, or "predicted" */
    char problem[AT_PROBLEM_CHARS];
    int64_t predicted;   /* 1: the device is emulated, so times are predicted */
    char note[160];      /* a remark on predicted times */
    struct at_list rows; /* of struct at_bench_row; the last is the tuned kernel */
};

/* Other pages: search strategies by the curves of each recording, which must have been drawn; the
 * kernels of each problem as shares of the copy limit; and those of a study by bandwidth, with what
 * was counted. */
struct at_comparison;
struct at_study_result;
void at_report_replay(const struct at_comparison *comparison, FILE *out);
void at_report_bench(const struct at_bench_report *reports, size_t count, FILE *out);
void at_report_study(const struct at_study_result *result, FILE *out);

#endif
