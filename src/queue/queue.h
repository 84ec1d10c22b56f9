/* SPDX-License-Identifier: Apache-2.0 */
/* A job queue: which tuner tunes which problem. The tuners of a queue have devices of one model,
 * and each problem goes to one of them. */
#ifndef AT_QUEUE_QUEUE_H
#define AT_QUEUE_QUEUE_H

#include "problem/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_queue;

/* No problem. */
#define AT_NO_JOB SIZE_MAX

/* Make a queue of all problems, which are borrowed. */
struct at_queue *at_queue_new(const struct at_problem *problems, size_t count, size_t tuners);

void at_queue_free(struct at_queue *queue);

/* The tuner knows this many measurements of the problem. It is given only to those that know
 * most of it, so that none is made twice while one of them lives. */
void at_queue_set_known(struct at_queue *queue, size_t problem, size_t tuner, int64_t measurements);

/* The tuner is gone, with what it knows. */
void at_queue_forget(struct at_queue *queue, size_t tuner);

/* Give a problem to the tuner and return its index. AT_NO_JOB: none waits for it.
 *
 * A single tuner gets the problems in the order of the list. Several get those first that
 * probably take longest. A tuner prefers problems of as many bytes as it has had, because it knows
 * the best copies of that size; then sizes that no other tuner has had. */
size_t at_queue_take(struct at_queue *queue, size_t tuner);

/* The problem is tuned, or found to have no correct config. */
void at_queue_finish(struct at_queue *queue, size_t problem);

/* Return a problem that the tuner has taken and not finished. AT_NO_JOB: there is none. */
size_t at_queue_taken_by(const struct at_queue *queue, size_t tuner);

/* The tuner of this problem has failed: the problem waits again. Returns false if that happened to
 * it too often; then it counts as finished. */
bool at_queue_return(struct at_queue *queue, size_t problem);

/* Does a problem wait for the tuner, and how many are not finished? */
bool at_queue_has_job(const struct at_queue *queue, size_t tuner);

size_t at_queue_unfinished(const struct at_queue *queue);

#endif
