/* SPDX-License-Identifier: Apache-2.0 */
/* What journals tell of a profile's problems: every measurement of the searches that made it. */
#ifndef AT_REPORT_SEARCHES_H
#define AT_REPORT_SEARCHES_H

#include "measure/measurement.h"
#include "profile/profile.h"

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

struct at_report_search {
    struct at_report_point *points; /* in the order of measurement */
    size_t count, capacity;
    size_t older;      /* points of the journals before the one that is read */
    int64_t run;       /* of the journal that is read */
    size_t best_index; /* of the fastest point; count: none is correct */
    struct at_report_final finals[AT_REPORT_FINALS_MAX]; /* the fastest first */
    size_t final_count;                                  /* 0: the journal has none */
};

struct at_report_searches;

/* Get ready for a profile, which is borrowed. */
struct at_report_searches *at_report_searches_make(const struct at_profile *profile);
void at_report_searches_free(struct at_report_searches *searches);

/* Add the measurements of a journal: of each problem those of its newest run. *taken is how many it
 * has of the profile's problems, policies and GPUs. */
enum at_status at_report_searches_add(struct at_report_searches *searches, const char *path,
                                      size_t *taken, struct at_error *err);

/* Order and summarise what was added. */
void at_report_searches_finish(struct at_report_searches *searches);

/* The search of a problem; NULL: no journal has it. */
const struct at_report_search *at_report_search_of(const struct at_report_searches *searches,
                                                   const struct at_device_record *record,
                                                   const struct at_entry *entry);

#endif
