/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/own_options.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static struct at_own_options_row *add_row(struct at_own_options *options)
{
    AT_PUSH(options->rows, options->count, options->capacity, (struct at_own_options_row){0});
    return &options->rows[options->count - 1];
}

static struct at_own_options_row *last_row(struct at_own_options *options)
{
    return options->count > 0 ? &options->rows[options->count - 1] : add_row(options);
}

static void add_argument(struct at_own_options_row *row, const char *text)
{
    struct at_own_launch *launch = &row->launch;

    AT_PUSH(row->arguments, launch->argument_count, row->capacity, text);
    launch->arguments = row->arguments;
}

static enum at_status take_entry(void *to, const struct at_option *option, const char *text,
                                 struct at_error *err)
{
    struct at_own_options *options = to;

    (void)option;
    (void)err;
    last_row(options); /* the one before the first --entry */
    add_row(options)->launch.entry = text;
    if (strchr(text, '<'))
        at_texts_add(&options->source.instances, text);
    return AT_OK;
}

static enum at_status take_argument(void *options, const struct at_option *option, const char *text,
                                    struct at_error *err)
{
    (void)option;
    (void)err;
    add_argument(last_row(options), text);
    return AT_OK;
}

/* Take what a launch has once. */
static enum at_status take_text(void *options, const struct at_option *option, const char *text,
                                struct at_error *err)
{
    char *launch = (char *)&last_row(options)->launch;

    (void)err;
    *(const char **)(launch + option->offset) = text;
    return AT_OK;
}

enum at_status at_take_define(void *options, const struct at_option *option, const char *text,
                              struct at_error *err)
{
    static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t name = strspn(text, letters);

    if (name == 0 || (*text >= '0' && *text <= '9') || (text[name] && text[name] != '=') ||
        strchr(text, '\\'))
        return at_fail(err, AT_USAGE, "--define takes NAME or NAME=VALUE: block_size_x=32");
    at_texts_add((struct at_texts *)(void *)((char *)options + option->offset), text);
    return AT_OK;
}

#define AT_OF_LAUNCH(member) AT_SETS(at_own_launch, member, const char *), AT_CALLS(take_text)

const struct at_option at_own_table[] = {
    AT_GROUP(3, "A kernel in a CUDA file of your own:"),
    {"entry", 0, "NAME", 3, "Which kernel, unless the file has only one", AT_CALLS(take_entry)},
    {"grid", 0, "X[,Y[,Z]]", 3, "Blocks of the grid; numbers may be expressions, 1<<20",
     AT_OF_LAUNCH(grid)},
    {"block", 0, "X[,Y[,Z]]", 3, "Threads of a block", AT_OF_LAUNCH(block)},
    {"shared", 0, "BYTES", 3, "Dynamic shared memory of a block (default: 0)",
     AT_OF_LAUNCH(shared)},
    {"arg", 0, "TYPE[COUNT][=VALUE]", 3,
     "The next argument: a number (int=1024, float=0.5), or with [COUNT] a buffer, whose VALUE is "
     "0, an expression of index and count, random, or @FILE; may be repeated",
     AT_CALLS(take_argument)},
    {"check", 0, "KERNEL|NUMBER@FILE", 3,
     "Compare the results with those of another kernel of the file, or the argument with this "
     "number with the bytes of a file",
     AT_OF_LAUNCH(check)},
    {"define", 'D', "NAME[=VALUE]", 3, "Define a macro of the file, as nvcc does; may be repeated",
     AT_ADDS_DEFINE(at_own_options, source.defines)},
    {"include-dir", 'I', "DIR", 3,
     "The file may include files of this folder, too; may be repeated",
     AT_ADDS_TEXT(at_own_options, source.dirs)},
    {0},
};

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
    if (!made.launch.check)
        made.launch.check = common->launch.check;
    free(row->arguments);
    *row = made;
}

void at_own_options_settle(struct at_own_options *options)
{
    last_row(options);
    for (size_t i = 1; i < options->count; i++)
        inherit(&options->rows[i], &options->rows[0]);
}

enum at_status at_own_options_refuse(const struct at_own_options *options, const char *command,
                                     struct at_error *err)
{
    if (options->count == 0 && options->source.dirs.count == 0 &&
        options->source.defines.count == 0)
        return AT_OK;
    return at_fail(err, AT_USAGE,
                   "--entry, --grid, --block, --shared, --arg, --check, --define and --include-dir "
                   "are for a CUDA file: "
                   "autotune %s my.cu --grid 64 --block 256 --arg 'float[1<<20]'",
                   command);
}

void at_own_options_clear(struct at_own_options *options)
{
    for (size_t i = 0; i < options->count; i++)
        free(options->rows[i].arguments);
    free(options->rows);
    free(options->source.dirs.items);
    free(options->source.defines.items);
    free(options->source.instances.items);
    *options = (struct at_own_options){0};
}

bool at_is_own_file(const char *name)
{
    size_t length = strlen(name);

    return strcmp(name, "-") == 0 || (length > 3 && strcmp(name + length - 3, ".cu") == 0);
}
