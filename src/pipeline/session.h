/* SPDX-License-Identifier: Apache-2.0 */
/* A session: one device with all that tuning on it needs, kept from problem to problem. */
#ifndef AT_PIPELINE_SESSION_H
#define AT_PIPELINE_SESSION_H

#include "device/device_lock.h"
#include "journal/journal.h"
#include "kernel/builder.h"
#include "measure/gpu.h"
#include "measure/policy.h"
#include "search/strategy.h"
#include "search/warm_start.h"
#include "space/space.h"
#include "system/progress.h"

/* How long a search may go on; 0: no limit. */
struct at_budget {
    int64_t ends_ns;     /* on at_now_ns's clock */
    int64_t evaluations; /* configs */
};

struct at_session_options {
    struct at_family *const *families; /* all that are known; borrowed */
    size_t family_count;
    size_t own_first;               /* from here on they are the user's own */
    struct at_family *const *tuned; /* those to be searched, a part of families; borrowed */
    size_t tuned_count;
    const struct at_policy *policy;
    const struct at_strategy *strategy;
    uint64_t seed;
    int64_t timeout_ns; /* of an evaluation, before the allowance for the problem's size */
    int jobs;           /* compile workers */
    bool use_cache;
    const char *journal; /* path; NULL: none */
    bool resume;
    bool wait;                    /* for another run that has the device */
    const char *record;           /* folder for recordings; NULL: none are made */
    struct at_progress *progress; /* borrowed */
};

struct at_copies; /* tune/copy_limit.h */

struct at_session {
    struct at_session_options options;
    struct at_device_lock *lock;
    struct at_gpu *gpu;
    struct at_builder *builder;
    struct at_journal *journal; /* NULL: none */
    bool journal_failed;        /* and that has been told */
    char *header;               /* text of AT_TEMPLATE_HEADER */
    char *setting;              /* everything but problem and config that a time depends on */
    char (*family_hashes)[AT_HASH_CHARS]; /* of options.families */
    char templates[AT_HASH_CHARS];        /* of all of them */
    struct at_copies *copies;             /* the best found so far, by size */
    size_t copy_count, copy_capacity;
    struct at_warm_start warm_start;      /* what has won so far */
    struct at_warm_start copy_warm_start; /* the same of copies */
    bool *compile_failure_shown;          /* by family: the first is shown, once */
    int64_t measured;                     /* configs of all problems' searches, failed ones' too */
    int64_t drifts, remeasured;           /* of the canary; and configs measured again for that */
    bool told_of_others, told_of_slowing;
};

/* Opens the device, when no other run has it, the compiler, the cache and the journal. */
enum at_status at_session_open(struct at_session **session, const struct at_device_info *info,
                               const struct at_session_options *options, struct at_error *err);
void at_session_close(struct at_session *session);

/* A kernel's launch, as the GPU worker is asked for it; built is NULL for a copy by the driver. */
struct at_gpu_run at_session_run(const struct at_session *session, const struct at_built *built,
                                 const struct at_problem *problem, const struct at_launch *launch);

/* Needs one of the problems more device memory than there is? AT_USAGE says how much it needs and
 * how much is free; or that it is too large to be emulated. */
enum at_status at_session_check_memory(struct at_session *session,
                                       const struct at_problem *problems, size_t count,
                                       struct at_error *err);

/* Warns, once each, of what was seen on the device that makes its times doubtful. */
void at_session_warn(struct at_session *session);

/* How long one evaluation of a problem may take before its worker is killed. */
int64_t at_evaluation_limit_ns(const struct at_session *session, const struct at_problem *problem);

/* How often a kernel is verified besides that may be wrong now and then: so many times on a GPU; an
 * emulated device computes the same each time. */
int64_t at_verify_more(const struct at_session *session, int64_t times);

#endif
