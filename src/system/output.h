/* SPDX-License-Identifier: Apache-2.0 */
/* Writes files atomically: a reader sees the old content or the new one, and only one process at a
 * time writes a file.
 *
 * The new content goes to .NAME.autotune in the same folder, which is then renamed to NAME. That
 * file exists, locked, from at_output_open to at_output_close. If its process is killed it stays,
 * without a lock, and the next writer of NAME removes it. NAME itself is never missing in between.
 * Links are followed: the file at their end is replaced. */
#ifndef AT_SYSTEM_OUTPUT_H
#define AT_SYSTEM_OUTPUT_H

#include "base/error.h"
#include "base/text_stream.h"
#include "system/progress.h"

#include <stdbool.h>
#include <stddef.h>

struct at_output;

/* How long to wait for another process that is writing this file. */
enum at_output_wait {
    AT_OUTPUT_NO_WAIT,
    AT_OUTPUT_WAIT_BRIEFLY, /* ten seconds at most */
    AT_OUTPUT_WAIT,         /* without limit; a signal ends it with AT_INTERRUPTED */
};

/* Check before the work that path can be written, and lock it against other writers until
 * at_output_close. AT_USAGE if it cannot be written, or if another process (named in the message)
 * writes it. A note about waiting, and a warning if the file system has no locks, go to progress
 * (may be NULL). */
enum at_status at_output_open(struct at_output **output, const char *path, enum at_output_wait wait,
                              struct at_progress *progress, struct at_error *err);

/* Does the file system of path have the locks of fcntl(2)? They are tried. */
bool at_output_has_record_locks(const struct at_output *output);

/* Replace path by a file with this content. It keeps the mode of the file that was there, and its
 * owner where that is allowed; a new one has mode 0666 & ~umask. To be called at most once. On
 * failure path is unchanged. */
enum at_status at_output_write(struct at_output *output, const void *bytes, size_t size,
                               struct at_error *err);

/* Unlock path. If nothing was written, nothing is left behind. Legal on NULL. */
void at_output_close(struct at_output *output);

/* Check that path can be written, without locking it. */
enum at_status at_output_check(const char *path, struct at_error *err);

/* Open, write and close in one call. Waits briefly. */
enum at_status at_output_replace(const char *path, const void *bytes, size_t size,
                                 struct at_error *err);

/* Close the stream and replace path by its text. If writing to the stream has failed, which
 * `written` tells, path is unchanged and that status is returned. */
enum at_status at_output_replace_text(const char *path, struct at_text_stream *stream,
                                      enum at_status written, struct at_error *err);

#endif
