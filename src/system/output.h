/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written: a reader sees the old content or the new, and no two processes write the
 * same one.
 *
 * The new content is made in a file beside it, .NAME.autotune, which takes NAME's place in the end.
 * That file is there, and locked, for as long as somebody is going to write NAME. What a process
 * leaves that was killed has no lock, and goes when somebody writes NAME again. The name itself is
 * never made or removed on the way. A link is followed: the file that it names is replaced. */
#ifndef AT_SYSTEM_OUTPUT_H
#define AT_SYSTEM_OUTPUT_H

#include "base/error.h"
#include "system/progress.h"

#include <stdbool.h>
#include <stddef.h>

struct at_output;

/* Whether to wait for another process that is writing this file. */
enum at_output_wait {
    AT_OUTPUT_NO_WAIT,
    AT_OUTPUT_WAIT_BRIEFLY, /* ten seconds at most */
    AT_OUTPUT_WAIT,         /* for as long as it takes; a signal ends it with AT_INTERRUPTED */
};

/* Finds out before the work whether path can be written, and keeps others from writing it before
 * at_output_close. AT_USAGE where it cannot be, or another process writes it, which the message
 * names. Waiting, and a file system without locks, are told through progress (may be NULL). */
enum at_status at_output_open(struct at_output **output, const char *path, enum at_output_wait wait,
                              struct at_progress *progress, struct at_error *err);

/* Puts a file with this content in path's place: once. On failure path is as it was. Its mode is
 * 0666 less the umask. */
enum at_status at_output_write(struct at_output *output, const void *bytes, size_t size,
                               struct at_error *err);

/* Legal on NULL. What was not written leaves nothing. */
void at_output_close(struct at_output *output);

/* Finds out before the work whether path can be written, and keeps nobody from it. */
enum at_status at_output_check(const char *path, struct at_error *err);

/* Open, write and close, for what is there already. Waits briefly. */
enum at_status at_output_replace(const char *path, const void *bytes, size_t size,
                                 struct at_error *err);

#endif
