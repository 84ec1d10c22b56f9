/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/own_options.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_ENTRY = 0x300, KEY_GRID, KEY_BLOCK, KEY_SHARED, KEY_ARG, KEY_DIR };

static const struct argp_option options_table[] = {
    {NULL, 0, NULL, 0, "A kernel in a CUDA file of your own:", 3},
    {"entry", KEY_ENTRY, "NAME", 0, "Which kernel, unless the file has only one", 3},
    {"grid", KEY_GRID, "X[,Y[,Z]]", 0, "Blocks of the grid; numbers may be expressions, 1<<20", 3},
    {"block", KEY_BLOCK, "X[,Y[,Z]]", 0, "Threads of a block", 3},
    {"shared", KEY_SHARED, "BYTES", 0, "Dynamic shared memory of a block (default: 0)", 3},
    {"arg", KEY_ARG, "TYPE[COUNT][=VALUE]", 0,
     "The next argument: a number (int=1024, float=0.5), or with [COUNT] a buffer, whose VALUE is "
     "0, an expression of index and count, random, or @FILE; may be repeated",
     3},
    {"include-dir", KEY_DIR, "DIR", 0,
     "The file may include files of this folder, too; may be repeated", 3},
    {0},
};

static struct at_own_options_row *add_row(struct at_own_options *options)
{
    AT_PUSH(options->rows, options->count, options->capacity, (struct at_own_options_row){0});
    return &options->rows[options->count - 1];
}

static void add_argument(struct at_own_options_row *row, const char *text)
{
    struct at_own_launch *launch = &row->launch;

    AT_PUSH(row->arguments, launch->argument_count, row->capacity, text);
    launch->arguments = row->arguments;
}

/* What is said before the first --entry holds for all. */
static void inherit(struct at_own_options_row *row, const struct at_own_options_row *common)
{
    struct at_own_options_row made = {.launch = row->launch};

    made.launch.argument_count = 0;
    for (size_t i = 0; i < common->launch.argument_count; i++)
        add_argument(&made, common->arguments[i]);
    for (size_t i = 0; i < row->launch.argument_count; i++)
        add_argument(&made, row->arguments[i]);
    if (!made.launch.grid)
        made.launch.grid = common->launch.grid;
    if (!made.launch.block)
        made.launch.block = common->launch.block;
    if (!made.launch.shared)
        made.launch.shared = common->launch.shared;
    free(row->arguments);
    *row = made;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct at_own_options *options = state->input;
    struct at_own_options_row *row = options->count > 0 ? &options->rows[options->count - 1] : NULL;

    switch (key) {
    case ARGP_KEY_INIT:
        add_row(options);
        return 0;
    case KEY_ENTRY:
        row = add_row(options);
        row->launch.entry = arg;
        break;
    case KEY_GRID:
        row->launch.grid = arg;
        break;
    case KEY_BLOCK:
        row->launch.block = arg;
        break;
    case KEY_SHARED:
        row->launch.shared = arg;
        break;
    case KEY_ARG:
        add_argument(row, arg);
        break;
    case KEY_DIR:
        AT_PUSH(options->dirs.items, options->dirs.count, options->dirs.capacity, arg);
        break;
    case ARGP_KEY_END:
        for (size_t i = 1; i < options->count; i++)
            inherit(&options->rows[i], &options->rows[0]);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    options->given = true;
    return 0;
}

const struct argp at_own_argp = {.options = options_table, .parser = parse};

void at_own_options_refuse(struct argp_state *state, const struct at_own_options *options)
{
    if (options->given)
        argp_error(state,
                   "--entry, --grid, --block, --shared, --arg and --include-dir are for a CUDA "
                   "file: "
                   "%s my.cu --grid 64 --block 256 --arg 'float[1<<20]'",
                   state->name);
}

void at_own_options_clear(struct at_own_options *options)
{
    for (size_t i = 0; i < options->count; i++)
        free(options->rows[i].arguments);
    free(options->rows);
    free(options->dirs.items);
    *options = (struct at_own_options){0};
}

bool at_is_own_file(const char *name)
{
    size_t length = strlen(name);

    return length > 3 && strcmp(name + length - 3, ".cu") == 0;
}
