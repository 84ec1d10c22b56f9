/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/files.h"

#include "cmd/command_line.h"
#include "system/output.h"

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
    return at_fail(err, AT_USAGE,
                   "%s exists, and new entries cannot join it: name another file, or write over it "
                   "with --replace; %s",
                   out, reason.message);
}

/* What the file would lose: "a profile", "a journal"; NULL: neither. Both show at its beginning. */
static const char *worth_of(const char *path)
{
    static const char database[] = "SQLite format 3";
    char text[4096];
    FILE *file = fopen(path, "re");
    size_t size;

    if (!file)
        return NULL;
    size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    if (memcmp(text, database, sizeof database - 1) == 0)
        return "a journal";
    return at_profile_schema_of(text) != 0 ? "a profile" : NULL;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;

    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

enum at_status at_out_check(const char *out, const char *input, struct at_error *err)
{
    const char *worth;
    enum at_status status = at_out_is_file(out) ? at_output_check(out, err) : AT_OK;

    if (status != AT_OK || !has_content(out) || (input && is_same_file(out, input)) ||
        !(worth = worth_of(out)))
        return status;
    return at_fail(err, AT_USAGE, "%s is %s, which would be lost: name another file, or remove it",
                   out, worth);
}

enum at_status at_read_profile(struct at_profile *profile, const char *file,
                               struct at_progress *progress, struct at_error *err)
{
    enum at_status status = at_profile_read(profile, at_given_file(file), err);

    if (status == AT_OK)
        at_detail(progress, "read %s", file);
    return status;
}

enum at_status at_searched_profiles(struct at_profiles *profiles, const char *file,
                                    const char *const *first, size_t first_count,
                                    struct at_progress *progress, struct at_error *err)
{
    enum at_status status = AT_OK;

    if (file)
        status = at_profiles_add(profiles, at_given_file(file), err);
    for (size_t i = 0; !file && i < first_count && status == AT_OK; i++)
        status = at_profiles_add(profiles, at_given_file(first[i]), err);
    if (!file && status == AT_OK)
        status = at_profiles_add_path(profiles, err);
    for (size_t i = 0; i < profiles->skipped_count; i++)
        at_warn(progress, "not searched: %s", profiles->skipped[i]);
    for (size_t i = 0; i < profiles->count; i++)
        at_detail(progress, "read %s", profiles->files[i].path);
    return status;
}

bool at_stdout_color(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) == 1 && !(no_color && *no_color) && term && *term &&
           strcmp(term, "dumb") != 0;
}

enum at_status at_print_profile(struct at_profile *profile, enum at_output_format format,
                                bool configs, struct at_error *err)
{
    const struct at_show_options options = {.color = at_stdout_color(), .configs = configs};

    return at_profile_print(profile, format, &options, stdout, err);
}
