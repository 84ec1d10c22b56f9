/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as each of the smaller files of the data folder: a description of a device, a list of
 * problems, the textbook's rows. */
#include "cmd/run_options.h"
#include "emulated/time/description.h"
#include "fuzz_file.h"
#include "study/study_run.h"

#include <stdbool.h>
#include <sys/stat.h>

/* A data folder in which each of these files is the input. */
static void make_data_folder(const char *input)
{
    static char folder[] = "/tmp/autotune-fuzz-XXXXXX";
    const char *const names[] = {"tuning/devices/fuzz.yaml", "tuning/problems.yaml",
                                 "tuning/textbook.yaml"};
    const char *const folders[] = {"tuning", "tuning/devices"};
    bool made = mkdtemp(folder) != NULL;

    for (size_t i = 0; i < AT_COUNT(folders) && made; i++) {
        char *path = at_format("%s/%s", folder, folders[i]);

        made = mkdir(path, 0700) == 0;
        free(path);
    }
    for (size_t i = 0; i < AT_COUNT(names) && made; i++) {
        char *path = at_format("%s/%s", folder, names[i]);

        made = symlink(input, path) == 0;
        free(path);
    }
    if (!made || setenv("AUTOTUNE_DATADIR", folder, 1) != 0)
        abort();
}

static void remove_data_folder(void)
{
    char *command = at_format("rm -rf '%s'", getenv("AUTOTUNE_DATADIR"));

    if (system(command) != 0)
        perror("removing the data folder");
    free(command);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    const char *path = fuzz_file(data, size);
    struct at_progress quiet = {.quiet = true};
    struct at_run_options options = {.session = {.progress = &quiet}};
    struct at_textbook textbook = {0};
    struct at_device_info info;
    struct at_rates rates;
    struct at_problem *problems;
    struct at_error err;
    size_t count;

    if (!ready) {
        make_data_folder(path);
        atexit(remove_data_folder);
        ready = true;
    }
    at_description_read(&info, &rates, "fuzz", &err);
    if (at_run_problems(&options, "tuning/problems.yaml", &problems, &count, &err) == AT_OK) {
        for (size_t i = 0; i < count; i++)
            free(at_problem_format(&problems[i]));
        free(problems);
    }
    if (at_textbook_read(&textbook, &err) == AT_OK)
        at_textbook_clear(&textbook);
    return 0;
}
