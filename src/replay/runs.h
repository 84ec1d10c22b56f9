/* SPDX-License-Identifier: Apache-2.0 */
/* Many replays of one plan, each with its own seed, on several threads. */
#ifndef AT_REPLAY_RUNS_H
#define AT_REPLAY_RUNS_H

#include "replay/replay.h"

struct at_replay_runs {
    const struct at_recording *recording;
    const struct at_replay_plan *plan; /* its seed is the first; each next run adds one */
    size_t count;
    int threads;              /* the results do not depend on it */
    void (*done)(void *data); /* after each run, one at a time, on any thread; NULL: nothing */
    void *data;
};

/* Replay; fills count courses, each to be cleared. AT_INTERNAL as at_replay, with no courses. */
enum at_status at_replay_runs(struct at_course *courses, const struct at_replay_runs *runs,
                              struct at_error *err);

#endif
