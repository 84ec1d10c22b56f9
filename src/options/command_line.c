/* SPDX-License-Identifier: Apache-2.0 */
#include "options/command_line.h"

enum { LAST = -1 }; /* the group of --help */

static const struct argp_option common_options[] = {
    {"quiet", 'q', NULL, 0, "No progress and no notes on standard error", LAST},
    {"verbose", 'v', NULL, 0,
     "Also print what is read and written, and each config that is measured or checked", LAST},
    {0},
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    struct at_progress *progress = state->input;

    (void)arg;
    if (key != 'q' && key != 'v')
        return ARGP_ERR_UNKNOWN;
    progress->quiet = key == 'q';
    progress->verbose = key == 'v';
    return 0;
}

static const struct argp common_argp = {.options = common_options, .parser = parse_common};

struct inputs {
    void *options;
    struct at_progress *progress;
};

static error_t give_inputs(int key, char *arg, struct argp_state *state)
{
    struct inputs *inputs = state->input;

    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = inputs->options;
    state->child_inputs[1] = inputs->progress;
    return 0;
}

void at_command_line(const struct argp *command, unsigned flags, int argc, char **argv,
                     void *options, struct at_progress *progress)
{
    const struct argp_child children[] = {{command, 0, NULL, 0}, {&common_argp, 0, NULL, 0}, {0}};
    const struct argp both = {.parser = give_inputs, .children = children};
    struct inputs inputs = {options, progress};

    at_progress_init(progress);
    argp_parse(&both, argc, argv, flags, NULL, &inputs);
}
