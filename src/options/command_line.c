/* SPDX-License-Identifier: Apache-2.0 */
#include "options/command_line.h"

#include "base/memory.h"
#include "base/suggest.h"

#include <stdlib.h>
#include <string.h>

enum { LAST = -1 }; /* the group of --help */

static const struct argp_option common_options[] = {
    {NULL, 'h', NULL, 0, "Give this help list", LAST},
    {"quiet", 'q', NULL, 0, "No progress and no notes on standard error", LAST},
    {"verbose", 'v', NULL, 0,
     "Also print what is read and written, and each config that is measured or checked", LAST},
    {0},
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    struct at_progress *progress = state->input;

    (void)arg;
    if (key == 'h')
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    if (key != 'q' && key != 'v')
        return ARGP_ERR_UNKNOWN;
    progress->quiet = key == 'q';
    progress->verbose = key == 'v';
    return 0;
}

static const struct argp common_argp = {.options = common_options, .parser = parse_common};

/* ---- mistyped options ---- */

/* All options of a command. An option is borrowed from its table. */
struct known_options {
    const struct argp_option **items;
    size_t count, capacity;
};

static void collect(struct known_options *known, const struct argp *argp)
{
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
        if (o->name || o->key)
            AT_PUSH(known->items, known->count, known->capacity, o);
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        collect(known, child->argp);
}

/* Does the option take the next word as its value? */
static bool takes_word(const struct argp_option *option)
{
    return option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

/* Find the shortest long option that begins with this name. */
static const struct argp_option *find_long(const struct known_options *known, const char *name,
                                           size_t length)
{
    const struct argp_option *found = NULL;

    for (size_t i = 0; i < known->count; i++) {
        const struct argp_option *option = known->items[i];

        if (option->name && strncmp(option->name, name, length) == 0 &&
            (!found || strlen(option->name) < strlen(found->name)))
            found = option;
    }
    return found;
}

/* Does the option's name begin all those that begin so? */
static bool begins_all(const struct known_options *known, const char *option, const char *name,
                       size_t length)
{
    for (size_t i = 0; i < known->count; i++) {
        const char *other = known->items[i]->name;

        if (other && strncmp(other, name, length) == 0 &&
            strncmp(other, option, strlen(option)) != 0)
            return false;
    }
    return true;
}

static void refuse_long(struct argp_state *state, const struct known_options *known,
                        const char *word)
{
    char **names = NULL, nearest[128], *typed = at_strndup(word, strcspn(word, "="));
    size_t count = 0, capacity = 0;

    for (size_t i = 0; i < known->count; i++)
        if (known->items[i]->name)
            AT_PUSH(names, count, capacity, at_format("--%s", known->items[i]->name));
    at_suggest(nearest, sizeof nearest, typed, (const char *const *)names, count);
    argp_error(state, "unrecognized option '%s'; did you mean %s?", typed, nearest);
}

/* Is the word after this option its value? An abbreviation means the option that begins all those
 * that it fits: --prob is --problem, not --problems. Write it out, for getopt. */
static bool value_follows(struct argp_state *state, const struct known_options *known, char **word)
{
    if ((*word)[1] == '-') {
        const char *name = *word + 2;
        size_t length = strcspn(name, "=");
        const struct argp_option *option = find_long(known, name, length);
        bool follows;

        if (!option)
            refuse_long(state, known, *word);
        follows = takes_word(option) && !name[length];
        if (option->name[length] && begins_all(known, option->name, name, length))
            *word = at_format("--%s%s", option->name, name + length);
        return follows;
    }
    for (const char *letter = *word + 1; *letter; letter++)
        for (size_t i = 0; i < known->count; i++)
            if (known->items[i]->key == *letter && takes_word(known->items[i]))
                return !letter[1];
    return false;
}

/* getopt refuses an unknown option, too, but suggests none. The rest is left to it: other ambiguous
 * options, missing values, unknown letters. */
static void check_options(struct argp_state *state)
{
    struct known_options known = {0};

    state->name = state->argv[0]; /* for argp_error; argp sets it later */
    collect(&known, state->root_argp);
    for (int i = 1; i < state->argc && strcmp(state->argv[i], "--") != 0; i++)
        if (state->argv[i][0] == '-' && value_follows(state, &known, &state->argv[i]))
            i++;
    free(known.items);
}

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
    check_options(state);
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
