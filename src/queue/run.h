/* SPDX-License-Identifier: Apache-2.0 */
/* A run: its devices tune its problems. Devices of one model share the list, and each
 * problem is tuned on one of them; each other model tunes the whole list. */
#ifndef AT_QUEUE_RUN_H
#define AT_QUEUE_RUN_H

#include "pipeline/session.h"
#include "profile/profile.h"

/* Budget of the whole run, and of each problem; 0: no limit. */
struct at_run_budget {
    int64_t ns, evaluations;
    int64_t problem_ns, problem_evaluations;
};

struct at_tuning_options {
    const struct at_session_options *session; /* its journal is that of the first device */
    const struct at_problem *problems;
    size_t problem_count;
    const struct at_device_info *devices;
    size_t device_count;
    size_t tuners; /* of each device */
    struct at_run_budget budget;
    const char *out;  /* path of the profile that the run writes; NULL: none */
    bool accumulates; /* into what that file has; else it is replaced */
    bool fresh;       /* do not start from the winners of earlier profiles */
};

struct at_tuning_result {
    struct at_list records; /* of struct at_device_record, one per model that has results; the
                             * caller clears them with the profile */
    size_t of;              /* problems, times models */
    size_t failed;          /* of them without a correct config */
    size_t skipped;         /* not searched: budget spent, interrupt or failure */
};

/* Return how many models the devices are of. */
size_t at_tuning_models(const struct at_device_info *devices, size_t count);

/* Tune all problems. A single tuner works in this process, several in a process each. The tuners of
 * a device measure by turns: while one waits for its compilers, another has the device. If one
 * fails, others of its model tune its problems; if there are none, the run fails at its end. The
 * result is filled whatever is returned. Interrupts are noticed, and are no failure.
 *
 * The first device's journal is the run's own; others have the device's place behind its name
 * ("best.yaml.journal.1"). While a device has several tuners, so has each but its first one a part
 * ("best.yaml.journal.tuner1"), which the device's journal takes at the end. In a resumed run a
 * part begins with what the device's journal has. A problem goes to those that know most of it. */
enum at_status at_tuning_run(const struct at_tuning_options *options,
                             struct at_tuning_result *result, struct at_error *err);

#endif
