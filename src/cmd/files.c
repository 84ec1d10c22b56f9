/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/files.h"

#include "base/choice.h"
#include "base/memory.h"
#include "system/file.h"
#include "system/output.h"
#include "system/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool at_out_is_file(const char *out)
{
    return out && strcmp(out, "-") != 0;
}

enum at_status at_out_write(const char *out, struct at_text_stream *stream, enum at_status written,
                            struct at_progress *progress, struct at_error *err)
{
    size_t size;
    char *text = at_text_close(stream, &size);

    if (written == AT_OK && at_out_is_file(out)) {
        written = at_output_replace(out, text, size, err);
        if (written == AT_OK)
            at_detail(progress, "wrote %s", out);
    } else if (written == AT_OK) {
        fwrite(text, 1, size, stdout);
    }
    free(text);
    return written;
}

/* Is there a file with something in it? */
static bool has_content(const char *out)
{
    struct stat info;

    return at_out_is_file(out) && stat(out, &info) == 0 && S_ISREG(info.st_mode) &&
           info.st_size > 0;
}

enum at_status at_out_profile_read(struct at_profile *profile, const char *out,
                                   struct at_error *err)
{
    struct at_error reason;

    *profile = (struct at_profile){.schema = AT_PROFILE_SCHEMA};
    if (!has_content(out) || at_profile_read_whole(profile, out, &reason) == AT_OK)
        return AT_OK;
    at_fail(err, AT_USAGE,
            "%s exists, and new entries cannot join it: name another file, or write over it with "
            "--replace; %s",
            out, reason.message);
    return at_advise_kind(err, out, AT_KIND_PROFILE);
}

/* What a file may be, by a text near its beginning, and what takes it. The first that fits counts.
 */
static const struct {
    const char *noun, *sign, *takers;
} kinds[] = {
    {"a journal", "SQLite format 3",
     "autotune report PROFILE --journal FILE reads it; tune takes its problems with --problems"},
    {"a recording", "autotune recording\t", "autotune replay and convert take it"},
    {"a profile", "\ndevices:",
     "autotune show, check, report and lookup take it; tune takes its problems with --problems"},
    {"a list of problems",
     "\nproblems:", "autotune tune, lookup and bench take it with --problems"},
    {"a space file", "\nfamily:", "autotune tune and lookup take it with --space"},
    {"a study", "\ncolumns:", "autotune study takes it"},
    {"CUDA source", "__global__",
     "autotune explain and study take FILE.cu; the FILE.yaml of a space names it as its template"},
    {"JSON", "\n{", "autotune replay and convert take recordings in JSON"},
    {"compressed", "\n\x1f\x8b", "gzip -d makes it a text"},
    {"compressed",
     "\n\xfd"
     "7zXZ",
     "xz -d makes it a text"},
    {"compressed", "\n\x28\xb5\x2f\xfd", "zstd -d makes it a text"},
};

/* Set *kind to the index of what a file with content is. */
static bool find_kind(const char *path, size_t *kind)
{
    char text[4096] = "\n"; /* so that the first line is one, too */
    FILE *file = has_content(path) ? fopen(path, "re") : NULL;
    bool found = false;

    if (!file)
        return false;
    text[1 + fread(text + 1, 1, sizeof text - 2, file)] = '\0';
    fclose(file);
    for (*kind = 0; !found && *kind < AT_COUNT(kinds); *kind += !found)
        found = strstr(text, kinds[*kind].sign);
    if (!found && at_profile_schema_of(text) != 0) {
        *kind = AT_KIND_PROFILE;
        found = true;
    }
    return found;
}

bool at_file_is(const char *path, enum at_file_kind kind)
{
    size_t found;

    return find_kind(path, &found) && found == (size_t)kind;
}

/* Tell which files in the same folder have a similar name. */
static void advise_names(struct at_error *err, const char *path)
{
    const char *name = at_path_name(path);
    char *place = at_format("%.*s.", (int)(name - path), path), nearest[128], *advice;
    struct at_folder folder = {0};
    const char **similar = NULL;
    size_t count = 0, capacity = 0;

    if (at_folder_list(&folder, place, "") == 0)
        for (size_t i = 0; i < folder.count; i++)
            if (at_is_similar(name, folder.names[i]))
                AT_PUSH(similar, count, capacity, folder.names[i]);
    if (count > 0) {
        at_suggest(nearest, sizeof nearest, name, similar, count);
        advice = at_format("did you mean %s?", nearest);
        at_advise(err, advice);
        free(advice);
    }
    free(similar);
    at_folder_clear(&folder);
    free(place);
}

enum at_status at_advise_kind(struct at_error *err, const char *path, enum at_file_kind wanted)
{
    size_t kind;
    char *advice;

    if (err->status == AT_USAGE && wanted != AT_KIND_NONE && access(path, F_OK) != 0 &&
        errno == ENOENT)
        advise_names(err, path);
    if (err->status != AT_USAGE || !find_kind(path, &kind) || (int)kind == (int)wanted ||
        (kind == AT_KIND_JSON && wanted == AT_KIND_RECORDING)) /* those of other tuners */
        return err->status;
    advice = at_format("it is %s: %s", kinds[kind].noun, kinds[kind].takers);
    at_advise(err, advice);
    free(advice);
    return err->status;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;

    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

enum at_status at_out_check(const char *out, const char *input, struct at_error *err)
{
    enum at_status status;
    size_t kind;

    if (!at_out_is_file(out))
        return AT_OK;
    status = at_output_check(out, err);
    if (status != AT_OK || (input && is_same_file(out, input)) || !find_kind(out, &kind) ||
        (kind != AT_KIND_PROFILE && kind != AT_KIND_JOURNAL))
        return status;
    return at_fail(err, AT_USAGE, "%s is %s, which would be lost: name another file, or remove it",
                   out, kinds[kind].noun);
}

enum at_status at_read_profile(struct at_profile *profile, const char *file,
                               struct at_progress *progress, struct at_error *err)
{
    enum at_status status = at_profile_read(profile, at_given_file(file), err);

    if (status != AT_OK)
        return at_advise_kind(err, file, AT_KIND_PROFILE);
    at_detail(progress, "read %s", file);
    return AT_OK;
}

enum at_status at_read_recording(struct at_recording *recording, const char *file,
                                 struct at_progress *progress, struct at_error *err)
{
    enum at_status status = at_recording_read(recording, at_given_file(file), err);

    if (status != AT_OK)
        return at_advise_kind(err, file, AT_KIND_RECORDING);
    at_detail(progress, "read %s", file);
    return AT_OK;
}

enum at_status at_add_profile(struct at_profiles *profiles, const char *file, struct at_error *err)
{
    enum at_status status = at_profiles_add(profiles, at_given_file(file), err);

    return status == AT_OK ? AT_OK : at_advise_kind(err, file, AT_KIND_PROFILE);
}

enum at_status at_searched_profiles(struct at_profiles *profiles, const char *file,
                                    const char *const *first, size_t first_count,
                                    struct at_progress *progress, struct at_error *err)
{
    enum at_status status = AT_OK;

    if (file)
        status = at_add_profile(profiles, file, err);
    if (status != AT_OK && !strpbrk(file, "./"))
        at_advise(err, "a device stands behind --device");
    for (size_t i = 0; !file && i < first_count && status == AT_OK; i++)
        status = at_add_profile(profiles, first[i], err);
    if (!file && status == AT_OK)
        status = at_profiles_add_path(profiles, err);
    for (size_t i = 0; i < profiles->skipped_count; i++)
        at_warn(progress, "not searched: %s", profiles->skipped[i]);
    for (size_t i = 0; i < profiles->count; i++)
        at_detail(progress, "read %s", profiles->files[i].path);
    return status;
}

enum at_status at_print_profile(struct at_profile *profile, enum at_output_format format,
                                bool configs, struct at_error *err)
{
    const struct at_show_options options = {.color = at_stdout_color(), .configs = configs};

    return at_profile_print(profile, format, &options, stdout, err);
}
