/* SPDX-License-Identifier: Apache-2.0 */
/* The profiles that commands read, print and write. */
#ifndef AT_CMD_FILES_H
#define AT_CMD_FILES_H

#include "base/text_stream.h"
#include "cmd/command_line.h"
#include "profile/profile.h"
#include "profile/profiles.h"
#include "recording/recording.h"
#include "system/progress.h"

/* Read the profile that new entries are to join, with all its entries. Without a file, or if it is
 * empty, the profile has no devices. AT_USAGE if the file is no profile that can be read. `out` may
 * be NULL or "-": standard output has nothing. */
enum at_status at_out_profile_read(struct at_profile *profile, const char *out,
                                   struct at_error *err);

/* Check that `out` can be written, and that this loses no profile and no journal: AT_USAGE if it is
 * one. `input`, a profile that the command writes again, may be replaced; NULL: none. */
enum at_status at_out_check(const char *out, const char *input, struct at_error *err);

/* Is it the name of a file? NULL and - are standard output. */
bool at_out_is_file(const char *out);

/* Close a stream, and write its text to `out` unless `written`, how the text was made, is a
 * failure. Tell of a file. A failed write to standard output is reported when the program ends. */
enum at_status at_out_write(const char *out, struct at_text_stream *stream, enum at_status written,
                            struct at_progress *progress, struct at_error *err);

/* Kinds of files that commands read. */
enum at_file_kind {
    AT_KIND_JOURNAL,
    AT_KIND_RECORDING,
    AT_KIND_PROFILE,
    AT_KIND_PROBLEMS,
    AT_KIND_SPACE,
    AT_KIND_STUDY,
    AT_KIND_CUDA,
    AT_KIND_JSON,
    AT_KIND_GZIP,
    AT_KIND_XZ,
    AT_KIND_ZSTD,
    AT_KIND_NONE = -1
};

/* Is it a file of this kind, by its beginning? */
bool at_file_is(const char *path, enum at_file_kind kind);

/* If a file that cannot be read is of another kind, tell behind the message what takes it. If a
 * kind is wanted and there is no such file, tell which has a similar name. Returns err's status. */
enum at_status at_advise_kind(struct at_error *err, const char *path, enum at_file_kind wanted);

/* at_recording_read, and tell of it; - is standard input. */
enum at_status at_read_recording(struct at_recording *recording, const char *file,
                                 struct at_progress *progress, struct at_error *err);

/* at_profiles_add; - is standard input. */
enum at_status at_add_profile(struct at_profiles *profiles, const char *file, struct at_error *err);

/* at_profile_read, and tell of it; - is standard input. */
enum at_status at_read_profile(struct at_profile *profile, const char *file,
                               struct at_progress *progress, struct at_error *err);

/* Read `file` (- is standard input); if it is NULL, the `first` files and then all on the search
 * path. Warn of those that are skipped. Fails as at_profiles_add and at_profiles_add_path do. */
enum at_status at_searched_profiles(struct at_profiles *profiles, const char *file,
                                    const char *const *first, size_t first_count,
                                    struct at_progress *progress, struct at_error *err);

/* Print a profile to standard output; `configs`: a table for people has each winner's parameters.
 * Fails as at_profile_write_json does. */
enum at_status at_print_profile(struct at_profile *profile, enum at_output_format format,
                                bool configs, struct at_error *err);

#endif
