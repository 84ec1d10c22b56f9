/* SPDX-License-Identifier: Apache-2.0 */
/* The commands and their command lines. A command lists its options in a table, which says what
 * each one sets in the command's own struct. --quiet, --verbose and --help are added to all. */
#ifndef AT_CMD_COMMAND_LINE_H
#define AT_CMD_COMMAND_LINE_H

#include "base/choice.h"
#include "base/texts.h"
#include "cmd/amount.h"
#include "schema/print.h"
#include "system/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an option does with the member at its offset. */
enum at_option_kind {
    AT_OPTION_END,
    AT_OPTION_GROUP, /* only a title of --help */
    AT_OPTION_TABLE, /* the options of another table, for a struct within this one */
    AT_OPTION_FLAG,
    AT_OPTION_TEXT,
    AT_OPTION_TEXTS,
    AT_OPTION_INTEGER,
    AT_OPTION_TIME,
    AT_OPTION_SECONDS,
    AT_OPTION_AMOUNT,
    AT_OPTION_PERCENT,
    AT_OPTION_CHOICE,
    AT_OPTION_ENTRY,
    AT_OPTION_OTHER,
};

/* A line of a table of options. One without name and letter is for the other arguments, and has in
 * `help` what to ask if there are none; NULL: they may be left out. */
struct at_option {
    const char *name;     /* behind --; NULL: only a letter */
    int letter;           /* behind -; 0: only a name */
    const char *argument; /* what --help calls the argument; NULL: there is none */
    int group;            /* of --help */
    const char *help;
    enum at_option_kind kind;
    bool may_lack; /* the option may be without argument, and has NULL then */
    size_t offset, size;
    int64_t least, most;
    at_choice_fn *words; /* that the argument may be; --help lists them behind its text */
    const char *noun;    /* what the words are; NULL: as the option is called */
    const struct at_option *table;
    enum at_status (*take)(void *options, const struct at_option *option, const char *text,
                           struct at_error *err);
};

/* ---- what an option sets: a member of `struct of`, which must have this type ---- */

#define AT_SETS(of, member, type)                                                                  \
    .offset = offsetof(struct of, member) + 0 * sizeof((type *)0 == &((struct of *)0)->member),    \
    .size = sizeof(type)
#define AT_SETS_FLAG(of, member) .kind = AT_OPTION_FLAG, AT_SETS(of, member, bool)
/* The last one counts. */
#define AT_SETS_TEXT(of, member) .kind = AT_OPTION_TEXT, AT_SETS(of, member, const char *)
#define AT_ADDS_TEXT(of, member) .kind = AT_OPTION_TEXTS, AT_SETS(of, member, struct at_texts)
/* A whole number from low to high. */
#define AT_SETS_INTEGER(of, member, type, low, high)                                               \
    .kind = AT_OPTION_INTEGER, .least = (low), .most = (high), AT_SETS(of, member, type)
/* Nanoseconds: a whole number with its unit, ms, s, m or h. */
#define AT_SETS_TIME(of, member)    .kind = AT_OPTION_TIME, AT_SETS(of, member, int64_t)
/* Nanoseconds: a time, or a number of seconds, up to an hour. */
#define AT_SETS_SECONDS(of, member) .kind = AT_OPTION_SECONDS, AT_SETS(of, member, int64_t)
/* A number up to high, or a time. */
#define AT_SETS_AMOUNT(of, member, high)                                                           \
    .kind = AT_OPTION_AMOUNT, .most = (high), AT_SETS(of, member, struct at_amount)
/* Thousandths: a share of up to 1000 %, like 5, 5% or 0.5%. */
#define AT_SETS_PERCENT(of, member) .kind = AT_OPTION_PERCENT, AT_SETS(of, member, int64_t)
/* The index of a table's entry. */
#define AT_SETS_CHOICE(of, member, entries)                                                        \
    .kind = AT_OPTION_CHOICE, .words = (entries), AT_SETS(of, member, unsigned)
/* A table's entry. */
#define AT_SETS_ENTRY(of, member, type, entries)                                                   \
    .kind = AT_OPTION_ENTRY, .words = (entries), AT_SETS(of, member, const type *)
#define AT_CALLS(function) .kind = AT_OPTION_OTHER, .take = (function)

/* ---- options of several commands ---- */

#define AT_GROUP(number, title)                                                                    \
    {                                                                                              \
        .kind = AT_OPTION_GROUP, .group = (number), .help = (title)                                \
    }
#define AT_TABLE(of, member, rows)                                                                 \
    {                                                                                              \
        .kind = AT_OPTION_TABLE, .table = (rows), .offset = offsetof(struct of, member)            \
    }
#define AT_ARGUMENT(what, question, ...)                                                           \
    {                                                                                              \
        NULL, 0, what, 0, question, __VA_ARGS__                                                    \
    }
/* --format, with the forms that a command has, and with those of a result that is a table. */
#define AT_FORMATS(group, of, member, forms)                                                       \
    {                                                                                              \
        "format", 'f', "NAME", group, "How to print the result; the first is the default",         \
            AT_SETS_CHOICE(of, member, forms)                                                      \
    }
#define AT_FORMAT(group, of, member) AT_FORMATS(group, of, member, at_format_choice)
at_choice_fn at_format_choice; /* enum at_output_format */

#define AT_GPU(group, of, member, help)                                                            \
    {                                                                                              \
        "gpu", 'g', "SEL", group, help, AT_SETS_TEXT(of, member)                                   \
    }
#define AT_OUT(group, of, member, help)                                                            \
    {                                                                                              \
        "out", 'o', "FILE", group, help, AT_SETS_TEXT(of, member)                                  \
    }
#define AT_SPACE(group, of, member)                                                                \
    {                                                                                              \
        "space", 0, "FILE", group,                                                                 \
            "Add a family of your own: a space file with its template beside it; may be repeated", \
            AT_ADDS_TEXT(of, member)                                                               \
    }
#define AT_PROBLEMS(group, of, member, help)                                                       \
    {                                                                                              \
        "problems", 0, "FILE", group, help, AT_SETS_TEXT(of, member)                               \
    }
#define AT_TIMEOUT(group, of, member, help)                                                        \
    {                                                                                              \
        "timeout", 0, "TIME", group, help, AT_SETS_SECONDS(of, member)                             \
    }

/* ---- reading it ---- */

/* A subcommand. Its file ends in one, and commands.c has a line for it. */
struct at_command {
    const char *name, *summary;
    const struct at_option *options; /* the last is AT_OPTION_END: {0} */
    const char *arguments;           /* as --help names them; NULL: none */
    const char *help;                /* before the options, and after them behind "\v" */
    size_t size;                     /* of its struct, which begins with a struct at_progress */
    const void *defaults;            /* such a struct; NULL: all members are 0 */
    /* Set what is no constant; free what the tables of options do not name. NULL: nothing. */
    void (*init)(void *options);
    void (*clear)(void *options);
    /* Check what must fit together; NULL: nothing must. */
    enum at_status (*check)(void *options, struct at_error *err);
    enum at_status (*run)(void *options, struct at_error *err);
};

/* NULL-ended; the first is the default. What their own files need of all commands, completion and
 * messages, gets them from main.c. */
extern const struct at_command *const at_commands[], *const *at_all_commands;

/* Return the command of this name; NULL: there is none. */
const struct at_command *at_command_find(const struct at_command *const *commands,
                                         const char *name);

/* The options that every command has. */
extern const struct at_option at_common_options[];

/* Return the option of a table, or of one in it, that a word names: --gpu, --gpu=emu, -g. NULL:
 * there is none. */
const struct at_option *at_option_find(const struct at_option *options, const char *word);

/* Return the place of the first argument that is neither an option of the command nor the value of
 * one; argc if there is none. */
int at_command_first_argument(const struct at_command *command, int argc, char **argv);

/* Read the command line and run the command. argv[0] is the name that --help prints: "autotune
 * show". A wrong command line ends the program with a usage message, and so does --help. The last
 * of --quiet and --verbose counts. */
enum at_status at_command_run(const struct at_command *command, int argc, char **argv,
                              struct at_error *err);

/* May standard output have colours? --color says so. Else NO_COLOR forbids them and CLICOLOR_FORCE
 * wants them (no-color.org, bixense.com/clicolors). Else it must be a terminal that is not dumb. */
bool at_stdout_color(void);

/* Add a text that the command line has. */
void at_texts_add(struct at_texts *texts, const char *text);

/* The path of a file that is read: standard input for "-", and a named pipe once it is open, which
 * waits for its writer. Files that nobody named, such as those of a search path, are no pipes. */
const char *at_given_file(const char *argument);

#endif
