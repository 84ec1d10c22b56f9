/* SPDX-License-Identifier: Apache-2.0 */
/* Has each call that a run makes for files, processes and memory fail in turn, and be the last in
 * turn, and looks at what becomes of it. doc/robustness.md tells more.
 *
 *     torture [OPTION]... [SCENARIO|POINT]...
 */
#include "base/memory.h"
#include "scenario.h"
#include "work.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_help(void)
{
    puts("Usage: torture [OPTION]... [SCENARIO|POINT]...\n"
         "Has each call of a run fail in turn, and be the last in turn.\n\n"
         "  --sample N   so many points of each scenario, drawn (default: all)\n"
         "  --seed N     of the drawing (default: 1)\n"
         "  --every      every call of a kind, not the first, middle and last of them\n"
         "  --jobs N     at once (default: the number of CPUs)\n"
         "  --list       only say which calls there are, and how many of each\n"
         "  --verbose    say of each point what became of it\n"
         "  --keep       keep the folder, and say where it is\n\n"
         "A point is named as in a report: tune/driver/openat/journal/1/EIO.\n"
         "Environment: AUTOTUNE, the program; srcdir, the source.\n"
         "Exit: 0 all rules hold, 1 they do not, 77 this machine cannot do it.");
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

/* Is the scenario asked for? *name: the point, if one is. */
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
    unsetenv("AUTOTUNE_PROFILE_PATH"); /* what the user has set takes no part */
    can_tune = scenarios_can_tune();
    if (!mkdtemp(folder) || !scenarios_prepare(folder, can_tune))
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
        puts("this machine lets no filter ask about calls (seccomp_unotify)");
    command = at_format("rm -rf '%s'", folder);
    if (options.keep)
        printf("kept: %s\n", folder);
    else if (system(command) != 0)
        code = EXIT_FAILURE;
    free(command);
    free(folder);
    return code;
}
