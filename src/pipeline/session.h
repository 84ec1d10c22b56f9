/* SPDX-License-Identifier: Apache-2.0 */
/* A session: one device and all that tuning on it needs, kept between problems. */
#ifndef AT_PIPELINE_SESSION_H
#define AT_PIPELINE_SESSION_H

#include "device/device_lock.h"
#include "device/kind.h"
#include "journal/journal.h"
#include "kernel/builder.h"
#include "measure/gpu.h"
#include "measure/gpu_protocol.h"
#include "measure/measurement.h"
#include "search/strategy.h"
#include "search/warm_start.h"
#include "space/family.h"
#include "space/space.h"
#include "system/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the time that is left ---- */

/* How long the problem in hand and the run will still take, learnt from the problems before. The
 * times that it is given are at_now_ns's. */
struct at_forecast {
    /* Means over finished problems; later ones count more. 0: nothing is known yet. */
    double seconds_per_weight; /* whole problems */
    double configs;            /* of searches that stop by themselves */
    double copies_part;        /* their time over that of copies and search */
    double finals_part;        /* the shoot-out's time over that of copies and search */
    /* The problem in hand. */
    int64_t began_ns;      /* 0: none */
    double weight;         /* how long it takes, compared with other problems */
    double waiting;        /* sum of the weights of the problems behind it */
    double copies_ended_s; /* after it began; 0: none were searched */
    double search_ended_s; /* 0: it goes on */
    bool resumed;          /* the journal had some of its results */
};

/* What the search in hand has done. */
struct at_forecast_search {
    size_t done, found; /* configs with a result; those of them that a resumed run began with */
    size_t most;        /* configs at most: those of the space, or the budget */
    bool stops;         /* it stops by itself, usually long before */
    bool copies;        /* it is the one for copies, before the problem's */
};

/* Seconds; negative: unknown. */
struct at_time_left {
    double problem, run;
};

/* Begin and end a problem. `waiting` is the sum of the weights of all later problems. */
void at_forecast_begin(struct at_forecast *forecast, double weight, double waiting, int64_t now_ns);
void at_forecast_end(struct at_forecast *forecast, int64_t now_ns);

/* A search has ended. */
void at_forecast_searched(struct at_forecast *forecast, const struct at_forecast_search *search,
                          int64_t now_ns);

/* Return how many configs the search will probably have measured at its end. */
size_t at_forecast_configs(const struct at_forecast *forecast,
                           const struct at_forecast_search *search);

struct at_time_left at_forecast_left(const struct at_forecast *forecast,
                                     const struct at_forecast_search *search, int64_t now_ns);

/* ---- the session ---- */

/* Limits of a search; 0: none. */
struct at_budget {
    int64_t ends_ns;     /* on at_now_ns's clock */
    int64_t evaluations; /* configs */
};

struct at_session_options {
    struct at_family *const *families; /* all known families; borrowed */
    size_t family_count;
    size_t own_first;               /* the user's own families start at this index */
    struct at_family *const *tuned; /* the families to search, a part of families; borrowed */
    size_t tuned_count;
    const struct at_policy *policy;
    const struct at_strategy *strategy;
    uint64_t seed;
    int64_t timeout_ns; /* of an evaluation, without the allowance for the problem's size */
    int jobs;           /* compile workers */
    bool use_cache;
    const char *journal; /* path; NULL: none */
    bool resume;
    bool wait;                    /* wait for another run that has the device */
    struct at_turn turn;          /* on a device that the caller has locked and shares out */
    const char *record;           /* folder for recordings; NULL: none are made */
    struct at_progress *progress; /* borrowed */
    double problem_s; /* what a problem of weight 1 probably takes; 0: nothing is known */
};

enum { AT_COPIES_MAX = 2 };

/* The best copies of a problem's bytes. */
struct at_copies {
    struct at_problem problem; /* the vector of as many bytes */
    struct at_config configs[AT_COPIES_MAX];
    size_t count;     /* 0: only the driver's copy remains */
    double best_ns;   /* time of the best in the search; 0: none */
    double driver_ns; /* time of the driver's copy of as many bytes; 0: unknown */
    bool complete;    /* the search was not cut short */
};

/* The time, and the work that the device has done: of a phase's beginning, or since then. */
struct at_phase_time {
    int64_t ns, busy_ns;
};

struct at_session {
    struct at_session_options options;
    struct at_device_lock *lock;
    struct at_gpu *gpu;
    const struct at_device_kind *kind; /* of the device */
    struct at_builder *builder;
    struct at_family harness;             /* compiled like a family without parameters */
    struct at_journal *journal;           /* NULL: none */
    bool journal_failed;                  /* a failure to write it was reported */
    char *header;                         /* text of AT_TEMPLATE_HEADER */
    char *setting;                        /* all that a time depends on except problem and config */
    char (*family_hashes)[AT_HASH_CHARS]; /* of options.families */
    struct at_copies *copies;             /* the best copies found so far, by size */
    size_t copy_count, copy_capacity;
    struct at_warm_start warm_start;      /* the winners so far */
    struct at_warm_start copy_warm_start; /* the best copies so far */
    struct at_warm_start incumbents;      /* what the profile has: a winner must not be slower */
    bool (*failure_shown)[AT_OUTCOMES];   /* by family: its first failure was shown */
    int64_t measured; /* configs measured in all problems' searches, including failed ones */
    int64_t drifts, remeasured; /* drifts found, and configs measured again after them */
    struct at_forecast forecast;
    struct at_phase_time opening;
    struct at_ended_phase {
        enum at_phase phase;
        struct at_phase_time took;
        int64_t ended_ns;
    } phases[AT_PHASES]; /* that wait to be filed */
    size_t phase_count;
    bool told_of_others, told_of_slowing;
};

/* Check that a driver, by the CUDA that it supports ("12.4"; "": not known), takes what this
 * compiler makes: machine code of its own major version, and PTX of no later version. AT_DEVICE
 * says what to do. */
enum at_status at_session_check_driver(const char *cuda, const struct at_compiler *compiler,
                                       struct at_error *err);

/* Lock the device unless that is done, and open the compiler and the cache. Kernels can be compiled
 * ahead from now on. */
enum at_status at_session_begin(struct at_session **session, const struct at_device_info *info,
                                const struct at_session_options *options, struct at_error *err);

/* Open the device of a session that has begun, and the journal, while the compile workers work. If
 * this fails, the caller closes the session. */
enum at_status at_session_open_device(struct at_session *session, const struct at_device_info *info,
                                      struct at_error *err);

/* Both of them. */
enum at_status at_session_open(struct at_session **session, const struct at_device_info *info,
                               const struct at_session_options *options, struct at_error *err);
void at_session_close(struct at_session *session);

struct at_phase_time at_phase_begin(const struct at_session *session);

/* The phase that began then ends. Return what it took. */
struct at_phase_time at_phase_end(struct at_session *session, enum at_phase phase,
                                  struct at_phase_time began);

/* File the phases that have ended in the journal, with the problem, which opening has not. Until a
 * problem is tuned, a journal that cannot be resumed stays as it is. */
void at_phases_file(struct at_session *session, const char *problem);

/* Warn once if the journal cannot be written. The run goes on: GPU time costs more than a journal.
 */
void at_session_warn_of_journal(struct at_session *session, enum at_status status,
                                const struct at_error *err);

/* Return at_family_hash of one of the families. */
const char *at_session_family_hash(const struct at_session *session,
                                   const struct at_family *family);

/* Describe a kernel's launch for the GPU worker; built is NULL for the driver's copy. */
struct at_gpu_run at_session_run(const struct at_session *session, const struct at_built *built,
                                 const struct at_problem *problem, const struct at_launch *launch);

/* Check that every problem fits the device's free memory. The second tuner on a device needs a half
 * of it to be enough, the third a third. AT_USAGE says how much is needed and how much is free; or
 * that the problem is too large to be emulated. */
enum at_status at_session_check_memory(struct at_session *session,
                                       const struct at_problem *problems, size_t count,
                                       struct at_error *err);

/* Warn of conditions that make the device's times doubtful, once each. */
void at_session_warn(struct at_session *session);

/* Return how long one evaluation of a problem may take before its worker is killed. */
int64_t at_evaluation_limit_ns(const struct at_session *session, const struct at_problem *problem);

/* Return how many more times a kernel is verified that may fail now and then: `times` on a GPU, 0
 * on an emulated device, which computes the same each time. */
int64_t at_verify_more(const struct at_session *session, int64_t times);

#endif
