/* SPDX-License-Identifier: Apache-2.0 */
/* A tuner in a process of its own, for a run with several tuners, and the frames between it and the
 * driver, which deals. The process is a fork: it begins with all that the driver has read, and has
 * neither CUDA nor a journal open yet. */
#ifndef AT_FLEET_TUNER_PROCESS_H
#define AT_FLEET_TUNER_PROCESS_H

#include "fleet/tuner.h"
#include "worker/worker.h"

/* Frames from a tuner. Only AT_TUNER_ASK is answered, by a frame of the same type. */
enum at_tuner_frame {
    AT_TUNER_OPENED = 1, /* count, int each: the problems that its journal has */
    AT_TUNER_ASK,        /* int wait -> a deal */
    AT_TUNER_PROGRESS,   /* text what, a progress state */
    AT_TUNER_TUNED,      /* what came of a problem */
    AT_TUNER_ENDED,      /* int status, text message: the tuner's last frame */
};

/* Start a tuner. It ends when it has sent AT_TUNER_ENDED, or with its parent. */
enum at_status at_tuner_start(struct at_worker *worker, const struct at_tuner *tuner,
                              struct at_error *err);

/* Read the progress that a tuner has sent; state->what stays NULL. Returns false for a frame that
 * no tuner sends. */
bool at_tuner_progress_get(struct at_wire *wire, struct at_progress_state *state, char *what,
                           size_t size);

void at_deal_put(struct at_wire *wire, const struct at_deal *deal);

/* Read what a tuner has sent. *entry and *message hold what tuned->entry and tuned->message point
 * to. Returns false for a frame that no tuner sends. */
bool at_tuned_get(struct at_wire *wire, struct at_tuned *tuned, struct at_entry *entry,
                  struct at_error *message);

#endif
