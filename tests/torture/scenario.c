/* SPDX-License-Identifier: Apache-2.0 */
#include "torture.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TUNE "tune --gpu emu --jobs 1 --family naive --search random --problem 8x8:f32 "

/* Measures two configs and keeps a journal. */
#define TUNE_TWO TUNE "--budget 2 --out best.yaml"

#define GOLDEN "\"$srcdir/tests/golden/profile/"

const struct scenario scenarios[] = {
    {
        .name = "tune",
        .before = ":",
        .command = TUNE_TWO,
        .next = TUNE_TWO " --resume",
        .journal = "best.yaml.journal",
        .outputs = "best.yaml",
        .needs_nvrtc = true,
        .varies = true,
    },
    {
        .name = "onto",
        .only = "main/*/profile main/*/temporary main/*/folder",
        .before = "\"$AUTOTUNE\" " TUNE "--quiet --problem 16x8:f32 --budget 2 --out best.yaml"
                  " >/dev/null 2>&1; rm best.yaml.journal*",
        .command = TUNE_TWO,
        .next = TUNE_TWO " --resume",
        .journal = "best.yaml.journal",
        .outputs = "best.yaml",
        .needs_nvrtc = true,
        .varies = true,
    },
    {
        .name = "resume",
        .only = "main/*/journal* main/*/profile main/*/temporary main/*/folder",
        .before = "\"$AUTOTUNE\" " TUNE "--quiet --budget 1 --out best.yaml >/dev/null 2>&1",
        .command = TUNE_TWO " --resume",
        .next = TUNE_TWO " --resume",
        .journal = "best.yaml.journal",
        .outputs = "best.yaml",
        .needs_nvrtc = true,
        .varies = true,
    },
    {
        .name = "cold",
        .only = "compile/* main/*/cache-* main/*/socket-compile main/*/sockets",
        .before = "rm -r cache",
        .command = TUNE "--budget 1 --out best.yaml",
        .next = TUNE "--budget 1 --out best.yaml --resume",
        .journal = "best.yaml.journal",
        .outputs = "best.yaml",
        .needs_nvrtc = true,
        .varies = true,
    },
    {
        .name = "export",
        .before = "cp ../../warm/best.yaml .",
        .command = "export best.yaml --as cubin --out kernels",
        .next = "export best.yaml --as cubin --out kernels",
        .outputs = "kernels/*",
        .needs_nvrtc = true,
    },
    {
        .name = "merge",
        .before = "cp " GOLDEN "emulated.yaml\" " GOLDEN "least.yaml\" . && cp least.yaml all.yaml",
        .command = "merge emulated.yaml least.yaml --out all.yaml",
        .next = "merge emulated.yaml least.yaml --out all.yaml",
        .outputs = "all.yaml",
    },
    {
        .name = "show",
        .before = "cp " GOLDEN "emulated.yaml\" best.yaml",
        .command = "show best.yaml",
        .next = "show best.yaml",
    },
    {
        .name = "check",
        .before = "cp ../../warm/best.yaml .",
        .command = "check best.yaml",
        .next = "check best.yaml",
        .needs_nvrtc = true,
    },
    {
        .name = "lookup",
        .before = ":",
        .command = "lookup --device h200 --problem 100x100:f32",
        .next = "lookup --device h200 --problem 100x100:f32",
    },
    {
        .name = "clear",
        .before = "touch cache/autotune/ab.kernel",
        .command = "cache --clear",
        .next = "cache --clear",
        .outputs = "cache/autotune/*",
        .clears = true,
    },
};

const size_t scenario_count = AT_COUNT(scenarios);

/* Data with one family of four configs. Without the family copy there is no search for copies. */
static const char make_data[] =
    "mkdir -p data/tuning warm/cache/autotune scenario && chmod 700 warm/cache/autotune && ln -s "
    "\"$srcdir/templates\" \"$srcdir/results\" "
    "data && ln -s \"$srcdir/tuning/devices\" \"$srcdir/tuning/textbook.yaml\" data/tuning && "
    "sed -e '/name: BLOCK_X/,/values:/s/values:.*/values: [16]/' "
    "-e '/name: BLOCK_X/,/default:/s/default:.*/default: 16/' "
    "-e '/name: BLOCK_Y/,/values:/s/values:.*/values: [8]/' \"$srcdir/tuning/naive.yaml\" "
    ">data/tuning/naive.yaml";

/* Fill the cache with all kernels of the scenarios. */
static const char make_warm[] =
    "\"$AUTOTUNE\" " TUNE "--quiet --search exhaustive --out best.yaml >/dev/null 2>&1 && "
    "\"$AUTOTUNE\" export best.yaml --as cubin --out kernels >/dev/null 2>&1";

static bool shell(const char *folder, const char *commands)
{
    char *text =
        at_format("cd '%s' && export XDG_CACHE_HOME=\"$PWD/cache\" && %s", folder, commands);
    bool done = system(text) == 0;

    free(text);
    return done;
}

bool scenarios_can_tune(void)
{
    return system("\"$AUTOTUNE\" explain copy --blocks 1 2>&1 | grep -q 'no NVRTC'") != 0;
}

bool scenarios_prepare(const char *folder, bool is_warm)
{
    char *data = at_format("%s/data", folder), *warm = at_format("%s/warm", folder);
    bool done = shell(folder, make_data);

    setenv("AUTOTUNE_DATADIR", data, 1);
    if (done && is_warm && !(done = shell(warm, make_warm)))
        fprintf(stderr, "torture: the first run fails; see %s\n", warm);
    free(warm);
    free(data);
    return done;
}

bool scenario_prepare(const struct scenario *scenario, const char *folder)
{
    char *inside = at_format("%s/scenario/%s", folder, scenario->name);
    char *make = at_format("mkdir '%s' && cp -a '%s/warm/cache' '%s'", inside, folder, inside);
    bool done = shell(folder, make) && shell(inside, scenario->before);

    if (!done)
        fprintf(stderr, "torture: scenario %s cannot be prepared\n", scenario->name);
    free(make);
    free(inside);
    return done;
}

char **scenario_words(const char *arguments)
{
    char **words = NULL, *copy = at_format("%s %s", getenv("AUTOTUNE"), arguments), *rest = copy;
    size_t count = 0, capacity = 0;

    for (char *word; (word = strsep(&rest, " "));)
        AT_PUSH(words, count, capacity, word);
    AT_PUSH(words, count, capacity, NULL);
    return words;
}

bool scenario_begin(const struct scenario *scenario, const char *folder, const char *place)
{
    char *copy = at_format("rm -rf '%s' && mkdir -p '%s' && cp -a 'scenario/%s/.' '%s'", place,
                           place, scenario->name, place);
    bool done = shell(folder, copy);

    free(copy);
    return done;
}
