/* SPDX-License-Identifier: Apache-2.0 */
/* Makes each call of a run fail in turn, kills the run at each call in turn, and checks the
 * results. The calls are those for files, processes and memory. See doc/lab/robustness.md.
 *
 *     torture [OPTION]... [SCENARIO|POINT]...
 */
#include "torture.h"
#include "base/memory.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_help(void)
{
    puts("Usage: torture [OPTION]... [SCENARIO|POINT]...\n"
         "Makes each system call of a run fail in turn, and kills the run at each call.\n\n"
         "  --sample N   draw N points per scenario (default: all points)\n"
         "  --seed N     seed of the draw (default: 1)\n"
         "  --every      every call of a kind, not only the first, middle and last\n"
         "  --jobs N     points at the same time (default: the number of CPUs)\n"
         "  --list       only print the calls and their counts\n"
         "  --verbose    print the result of each point\n"
         "  --keep       keep the folder and print its name\n\n"
         "A point is named as in a report: tune/main/openat/journal/1/EIO.\n"
         "Environment: AUTOTUNE, the program; srcdir, the source.\n"
         "Exit: 0 all rules hold, 1 some do not, 77 not possible on this machine.");
}

static bool parse_options(struct options *options, int argc, char **argv)
{
    enum { SAMPLE = 256, SEED, EVERY, JOBS, LIST, VERBOSE, KEEP, HELP };
    static const struct option names[] = {
        {"sample", required_argument, NULL, SAMPLE},
        {"seed", required_argument, NULL, SEED},
        {"every", no_argument, NULL, EVERY},
        {"jobs", required_argument, NULL, JOBS},
        {"list", no_argument, NULL, LIST},
        {"verbose", no_argument, NULL, VERBOSE},
        {"keep", no_argument, NULL, KEEP},
        {"help", no_argument, NULL, HELP},
        {0},
    };

    *options = (struct options){.seed = 1, .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    for (int key; (key = getopt_long(argc, argv, "", names, NULL)) != -1;)
        switch (key) {
        case SAMPLE:
            options->sample = strtoul(optarg, NULL, 10);
            break;
        case SEED:
            options->seed = strtoull(optarg, NULL, 10);
            break;
        case EVERY:
            options->every = true;
            break;
        case JOBS:
            options->jobs = atoi(optarg);
            break;
        case LIST:
            options->list = true;
            break;
        case VERBOSE:
            options->verbose = true;
            break;
        case KEEP:
            options->keep = true;
            break;
        case HELP:
            print_help();
            exit(EXIT_SUCCESS);
        default:
            return false;
        }
    return options->jobs > 0;
}

/* Return whether the arguments name the scenario. *name: the point in it, or NULL. */
static bool is_asked(const struct scenario *scenario, int argc, char **argv, const char **name)
{
    size_t length = strlen(scenario->name);

    *name = NULL;
    for (int i = optind; i < argc; i++) {
        if (strcmp(argv[i], scenario->name) == 0)
            return true;
        if (strncmp(argv[i], scenario->name, length) == 0 && argv[i][length] == '/') {
            *name = argv[i] + length + 1;
            return true;
        }
    }
    return optind == argc;
}

/* Return whether a scenario that is asked for compiles. */
static bool needs_nvrtc(int argc, char **argv)
{
    bool needs = false;
    const char *name;

    for (size_t i = 0; i < scenario_count; i++)
        needs |= scenarios[i].needs_nvrtc && is_asked(&scenarios[i], argc, argv, &name);
    return needs;
}

static void set_default(const char *variable, const char *path)
{
    char whole[PATH_MAX];
    const char *given = getenv(variable);

    if (realpath(given ? given : path, whole))
        setenv(variable, whole, 1);
}

int main(int argc, char **argv)
{
    const char *temporary = getenv("TMPDIR");
    char *folder = at_format("%s/torture-XXXXXX", temporary ? temporary : "/tmp"), *command;
    struct options options;
    int code = EXIT_SUCCESS;
    bool can_tune;

    if (!parse_options(&options, argc, argv))
        return 2;
    set_default("AUTOTUNE", "autotune");
    set_default("srcdir", "..");
    unsetenv("AUTOTUNE_PROFILE_PATH"); /* ignore the user's profiles */
    can_tune = scenarios_can_tune();
    if (!mkdtemp(folder) || !scenarios_prepare(folder, can_tune && needs_nvrtc(argc, argv)))
        return EXIT_FAILURE;
    setenv("HOME", folder, 1);
    setenv("XDG_DATA_HOME", folder, 1);
    if (!options.list)
        printf("scenario  calls  kinds points reached broken\n");
    for (size_t i = 0; i < scenario_count && code != EXIT_SKIP; i++) {
        const char *name;

        if (is_asked(&scenarios[i], argc, argv, &name) && (can_tune || !scenarios[i].needs_nvrtc)) {
            int ended = torture(&options, &scenarios[i], folder, name);

            code = ended ? ended : code;
        }
    }
    if (code == EXIT_SKIP)
        puts("this machine does not allow filters of system calls (seccomp_unotify)");
    command = at_format("rm -rf '%s'", folder);
    if (options.keep)
        printf("kept: %s\n", folder);
    else if (system(command) != 0)
        code = EXIT_FAILURE;
    free(command);
    free(folder);
    return code;
}
