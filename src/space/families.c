/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the families of a folder. */
#include "base/memory.h"
#include "space/space.h"
#include "system/folder.h"

#include <string.h>
#include <unistd.h>

static const char suffix[] = ".yaml";

static bool has_template(const char *space_file, const char *template_dir)
{
    int stem = (int)(strlen(space_file) - (sizeof suffix - 1));
    char *path = at_format("%s/%.*s.cu", template_dir, stem, space_file);
    bool there = access(path, F_OK) == 0;

    at_free(path);
    return there;
}

enum at_status at_families_check_unique(struct at_family *const *families, size_t count,
                                        struct at_error *err)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(families[i]->name, families[j]->name) == 0)
                return at_fail(err, AT_USAGE, "%s and %s are both named \"%s\"", families[j]->path,
                               families[i]->path, families[i]->name);
    return AT_OK;
}

enum at_status at_families_read(struct at_family ***families, size_t *count, const char *tuning_dir,
                                const char *template_dir, struct at_error *err)
{
    struct at_folder files;
    struct at_family **read;
    size_t read_count = 0;
    int error = at_folder_list(&files, tuning_dir, suffix);
    enum at_status status = AT_OK;

    if (error != 0)
        return at_fail(err, AT_USAGE, "cannot read the folder %s: %s", tuning_dir, strerror(error));
    read = at_alloc_array(files.count, sizeof *read);
    for (size_t i = 0; status == AT_OK && i < files.count; i++) {
        char *path = at_format("%s/%s", tuning_dir, files.names[i]);

        if (has_template(files.names[i], template_dir)) {
            status = at_family_read(&read[read_count], path, template_dir, err);
            read_count += status == AT_OK;
        }
        at_free(path);
    }
    if (status == AT_OK && read_count == 0)
        status =
            at_fail(err, AT_USAGE, "no family found: expected NAME.yaml in %s and NAME.cu in %s",
                    tuning_dir, template_dir);
    if (status == AT_OK)
        status = at_families_check_unique(read, read_count, err);
    if (status == AT_OK) {
        *families = read;
        *count = read_count;
    } else {
        while (read_count > 0)
            at_family_free(read[--read_count]);
        at_free(read);
    }
    at_folder_clear(&files);
    return status;
}
