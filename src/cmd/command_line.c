/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command_line.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "cmd/guess.h"
#include "problem/problem.h"
#include "system/file.h"

#include <argp.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- values ---- */

void at_texts_add(struct at_texts *texts, const char *text)
{
    AT_PUSH(texts->items, texts->count, texts->capacity, text);
}

const char *at_given_file(const char *argument)
{
    static char opened[32]; /* until the next call */
    struct stat info;
    int pipe;

    if (strcmp(argument, "-") == 0)
        return AT_FILE_STDIN;
    if (stat(argument, &info) != 0 || !S_ISFIFO(info.st_mode) ||
        (pipe = open(argument, O_RDONLY | O_CLOEXEC)) < 0)
        return argument;
    snprintf(opened, sizeof opened, "/dev/fd/%d", pipe);
    return opened;
}

static const struct at_choice formats[] = {
    [AT_FORMAT_TABLE] = {.name = "table"},
    [AT_FORMAT_JSON] = {.name = "json", .note = "has all details"},
    [AT_FORMAT_CSV] = {.name = "csv"},
    [AT_FORMAT_MARKDOWN] = {.name = "markdown"},
};

struct at_choice at_format_choice(size_t index)
{
    return index < AT_COUNT(formats) ? formats[index] : (struct at_choice){0};
}

/* ---- what an option does with its argument ---- */

static enum at_status take_integer(const struct at_option *option, void *member, const char *text,
                                   struct at_error *err)
{
    int64_t value;

    if (!at_integer_parse(text, strlen(text), &value) || value < option->least ||
        value > option->most)
        return at_fail(err, AT_USAGE, "--%s takes a whole number from %jd to %jd, not \"%s\"",
                       option->name, (intmax_t)option->least, (intmax_t)option->most, text);
    if (option->size == sizeof(int))
        *(int *)member = (int)value;
    else
        *(int64_t *)member = value;
    return AT_OK;
}

static enum at_status take_percent(const struct at_option *option, void *member, const char *text,
                                   struct at_error *err)
{
    static const int64_t most = 1000;
    size_t whole = strcspn(text, ".%"), digits;
    const char *rest = text + whole;
    int64_t percent, tenths = 0;
    bool read = at_integer_parse(text, whole, &percent) && percent >= 0 && percent <= most;

    if (*rest == '.') {
        digits = strcspn(++rest, "%");
        read = read && digits == 1 && at_integer_parse(rest, digits, &tenths);
        rest += digits;
    }
    if (!read || (*rest && strcmp(rest, "%") != 0))
        return at_fail(err, AT_USAGE,
                       "--%s takes a share like 5%% or 0.5%%, up to %jd%%, not \"%s\"",
                       option->name, (intmax_t)most, text);
    *(int64_t *)member = 10 * percent + tenths;
    return AT_OK;
}

static enum at_status take_choice(const struct at_option *option, void *member, const char *text,
                                  struct at_error *err)
{
    size_t index;
    const void *entry;
    enum at_status status =
        at_choose(&index, option->noun ? option->noun : option->name, text, option->words, err);

    if (status != AT_OK)
        return status;
    entry = option->words(index).entry;
    if (option->kind == AT_OPTION_CHOICE)
        *(unsigned *)member = (unsigned)index;
    else
        memcpy(member, &entry, sizeof entry); /* a pointer to the entry's own type */
    return AT_OK;
}

/* Take the text of an option into the member that it sets. */
static enum at_status take_value(const struct at_option *option, void *member, const char *text,
                                 struct at_error *err)
{
    switch (option->kind) {
    case AT_OPTION_FLAG:
        *(bool *)member = true;
        return AT_OK;
    case AT_OPTION_TEXT:
        *(const char **)member = text;
        return AT_OK;
    case AT_OPTION_TEXTS:
        at_texts_add(member, text);
        return AT_OK;
    case AT_OPTION_INTEGER:
        return take_integer(option, member, text, err);
    case AT_OPTION_TIME:
        return at_time_parse(member, option->name, text, err);
    case AT_OPTION_SECONDS:
        return at_seconds_parse(member, option->name, text, err);
    case AT_OPTION_AMOUNT:
        return at_amount_parse(member, option->name, text, option->most, err);
    case AT_OPTION_PERCENT:
        return take_percent(option, member, text, err);
    default:
        return take_choice(option, member, text, err);
    }
}

/* ---- the options of a command ---- */

/* The keys of options without a letter: no letter is as large. */
enum { FIRST_KEY = 0x100, LAST_GROUP = -1 };

static enum at_status take_common(void *options, const struct at_option *option, const char *text,
                                  struct at_error *err)
{
    struct at_progress *progress = options;

    (void)text;
    (void)err;
    progress->quiet = option->letter == 'q';
    progress->verbose = option->letter == 'v';
    return AT_OK;
}

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

static size_t color; /* of this process */

static struct at_choice color_choice(size_t index)
{
    static const char *const names[] = {"auto", "always", "never"};

    return (struct at_choice){.name = index < AT_COUNT(names) ? names[index] : NULL};
}

static enum at_status take_color(void *options, const struct at_option *option, const char *text,
                                 struct at_error *err)
{
    (void)options;
    return at_choose(&color, option->name, text, option->words, err);
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

bool at_stdout_color(void)
{
    const char *force = getenv("CLICOLOR_FORCE");

    if (color != COLOR_AUTO)
        return color == COLOR_ALWAYS;
    if (is_set("NO_COLOR") || (is_set("CLICOLOR_FORCE") && strcmp(force, "0") != 0))
        return !is_set("NO_COLOR");
    return isatty(STDOUT_FILENO) == 1 && is_set("TERM") && strcmp(getenv("TERM"), "dumb") != 0;
}

const struct at_option at_common_options[] = {
    {NULL, 'h', NULL, LAST_GROUP, "Give this help list", .kind = AT_OPTION_OTHER},
    {"color", 0, "WHEN", LAST_GROUP, "Colours on standard output; the first is the default",
     .words = color_choice, AT_CALLS(take_color)},
    {"quiet", 'q', NULL, LAST_GROUP, "No progress and no notes on standard error",
     AT_CALLS(take_common)},
    {"verbose", 'v', NULL, LAST_GROUP,
     "Also print what is read and written, and each config that is measured or checked",
     AT_CALLS(take_common)},
    {0},
};

/* An option and the struct that it sets a member of. */
struct target {
    const struct at_option *option;
    char *options;
};

struct command_line {
    const struct at_command *command;
    void *options;
    struct argp_option *known; /* as argp wants them; the docs are owned */
    struct target *targets;    /* of the known ones */
    size_t count, capacity, target_capacity;
    struct target arguments; /* takes all that is no option; without option: nothing may be there */
    bool has_arguments;
};

static void know(struct command_line *line, struct target target)
{
    const struct at_option *option = target.option;
    const struct argp_option known = {
        .name = option->name,
        .key = option->kind == AT_OPTION_GROUP ? 0
               : option->letter                ? option->letter
                                               : FIRST_KEY + (int)line->count,
        .arg = option->argument,
        .flags = option->may_lack ? OPTION_ARG_OPTIONAL : 0,
        .doc =
            option->words ? at_choices_list(option->help, option->words) : at_strdup(option->help),
        .group = option->group,
    };
    size_t count = line->count;

    AT_PUSH(line->targets, count, line->target_capacity, target);
    AT_PUSH(line->known, line->count, line->capacity, known);
}

static void know_all(struct command_line *line, const struct at_option *options, void *set)
{
    for (; options->kind != AT_OPTION_END; options++) {
        const struct target target = {options, set};

        if (options->kind == AT_OPTION_TABLE)
            know_all(line, options->table, target.options + options->offset);
        else if (options->name || options->letter || options->kind == AT_OPTION_GROUP)
            know(line, target);
        else
            line->arguments = target;
    }
}

static void take(struct argp_state *state, const struct target *target, const char *text)
{
    const struct at_option *option = target->option;
    struct at_error err;
    enum at_status status = option->kind == AT_OPTION_OTHER
                                ? option->take(target->options, option, text, &err)
                                : take_value(option, target->options + option->offset, text, &err);

    if (status != AT_OK)
        argp_error(state, "%s", err.message);
}

/* There is a second argument where one is taken. Perhaps it belongs behind an option. */
static void refuse_second(struct argp_state *state, const struct command_line *line)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    const char *between = "; other files stand behind ";
    char *names;

    for (size_t i = 0; i < line->count; i++)
        if (line->known[i].arg && strcmp(line->known[i].arg, "FILE") == 0) {
            fprintf(out, "%s--%s", between, line->known[i].name);
            between = ", ";
        }
    names = at_text_close(&stream, NULL);
    argp_error(state, "one %s at a time%s", line->arguments.option->argument, names);
}

static void take_argument(struct argp_state *state, struct command_line *line, const char *text)
{
    for (size_t i = 0; !line->arguments.option && i < line->count; i++)
        if (line->known[i].name && strcmp(line->known[i].name, text) == 0)
            argp_error(state, "unexpected argument \"%s\"; did you mean --%s?", text, text);
    if (!line->arguments.option)
        argp_error(state, "unexpected argument \"%s\"", text);
    if (line->has_arguments && line->arguments.option->kind == AT_OPTION_TEXT)
        refuse_second(state, line);
    line->has_arguments = true;
    take(state, &line->arguments, text);
}

static void check(struct argp_state *state, const struct command_line *line)
{
    const struct at_option *arguments = line->arguments.option;
    struct at_error err;

    if (arguments && arguments->help && !line->has_arguments)
        argp_error(state, "%s", arguments->help);
    if (line->command->check && line->command->check(line->options, &err) != AT_OK)
        argp_error(state, "%s", err.message);
}

/* ---- mistyped options ---- */

/* All options of a command, with those of argp. An option is borrowed from its table. */
struct known_options {
    const struct argp_option **items;
    size_t count, capacity;
};

static void collect(struct known_options *known, const struct argp *argp)
{
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
        if ((o->name || o->key) && !(o->flags & OPTION_HIDDEN))
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

/* What other commands and programs call an option, with a blank on each side of a word. The first
 * that the command has is meant. */
static const struct {
    const char *name, *others;
} other_names[] = {
    {"format", " as to json csv markdown html "},
    {"as", " format to language lang target "},
    {"to", " format as "},
    {"gpu", " device cuda cpu emulated "},
    {"device", " gpu emulated "},
    {"search", " strategy algorithm method "},
    {"budget", " time time-limit limit duration iterations max-configs evaluations "},
    {"jobs", " threads parallel workers "},
    {"problem", " shape size matrix tensor input dtype type batch perm "},
    {"problems", " list "},
    {"family", " kernel template "},
    {"out", " file save write profile "},
    {"replace", " overwrite force "},
    {"resume", " continue "},
    {"clear", " purge delete remove empty "},
    {"params", " config parameter "},
    {"journal", " log "},
    {"verbose", " debug "},
    {"quiet", " silent "},
    {"with", " versus vs compare against "},
    {"peers", " against compare cublas torch pytorch "},
    {"ncu", " nsight nsight-compute "},
    {"color", " colour no-color no-colour "},
};

const struct at_command *const *at_all_commands;

const struct at_option *at_option_find(const struct at_option *options, const char *word)
{
    size_t length = strcspn(word, "=");

    for (; options->kind != AT_OPTION_END; options++) {
        const struct at_option *found =
            options->kind == AT_OPTION_TABLE ? at_option_find(options->table, word) : NULL;

        if (found)
            return found;
        if (word[1] == '-' ? options->name && strlen(options->name) == length - 2 &&
                                 strncmp(options->name, word + 2, length - 2) == 0
                           : options->letter && options->letter == word[1] && !word[2])
            return options;
    }
    return NULL;
}

/* Refuse an option that only other commands have; return if there are none. `nearest` are names of
 * this command's options: a single one is probably meant. */
static void refuse_others(struct argp_state *state, const char *typed, const char *nearest)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    const char *between = "";
    char *names;

    for (size_t i = 0; at_all_commands[i]; i++)
        if (at_option_find(at_all_commands[i]->options, typed)) {
            fprintf(out, "%s%s", between, at_all_commands[i]->name);
            between = ", ";
        }
    names = at_text_close(&stream, NULL);
    if (*names && !strchr(nearest, ','))
        argp_error(state, "unrecognized option '%s'; did you mean %s? Commands that have it: %s",
                   typed, nearest, names);
    if (*names)
        argp_error(state, "unrecognized option '%s'; commands that have it: %s", typed, names);
    free(names);
}

static void refuse_long(struct argp_state *state, const struct known_options *known,
                        const char *word)
{
    char **names = NULL, nearest[128], *typed = at_strndup(word, strcspn(word, "=")), *whole;
    size_t count = 0, capacity = 0;

    whole = at_format(" %s ", typed + 2);
    for (size_t i = 0; i < AT_COUNT(other_names); i++) {
        const char *name = other_names[i].name;
        const struct argp_option *meant = find_long(known, name, strlen(name));

        if (strstr(other_names[i].others, whole) && meant && strcmp(meant->name, name) == 0)
            argp_error(state, "unrecognized option '%s'; did you mean --%s? %s", typed, name,
                       meant->doc);
    }
    free(whole);
    for (size_t i = 0; i < known->count; i++)
        if (known->items[i]->name)
            AT_PUSH(names, count, capacity, at_format("--%s", known->items[i]->name));
    at_suggest(nearest, sizeof nearest, typed, (const char *const *)names, count);
    refuse_others(state, typed, nearest);
    argp_error(state, "unrecognized option '%s'; did you mean %s?", typed, nearest);
}

/* -out would be -o with the value "ut", to getopt. */
static void refuse_one_dash(struct argp_state *state, const struct known_options *known,
                            const char *word)
{
    size_t length = strcspn(word, "=");

    for (size_t i = 0; i < known->count; i++)
        if (word[0] == '-' && length > 3 && known->items[i]->name &&
            strlen(known->items[i]->name) == length - 1 &&
            strncmp(known->items[i]->name, word + 1, length - 1) == 0)
            argp_error(state, "unrecognized option '%s'; did you mean -%s?", word, word);
}

/* A problem with a '-' before it would be letters of options, to getopt. */
static void refuse_number(struct argp_state *state, const char *word)
{
    struct at_problem problem;
    struct at_error err;

    if (at_problem_parse(&problem, word, &err) != AT_OK && at_guess_is_problem(word)) {
        at_guess_advise(&err, at_guess_problem(word));
        argp_error(state, "%s", err.message);
    }
}

enum { UNKNOWN = -1 };

/* Is the word after this option its value? UNKNOWN: there is no such long option. An abbreviation
 * means the option that begins all those that it fits: --prob is --problem, not --problems. Set
 * *whole to that, for getopt, unless it is NULL. */
static int value_follows(const struct known_options *known, const char *word, char **whole)
{
    if (word[1] == '-') {
        const char *name = word + 2;
        size_t length = strcspn(name, "=");
        const struct argp_option *option = find_long(known, name, length);
        bool follows;

        if (!option)
            return UNKNOWN;
        follows = takes_word(option) && !name[length];
        if (whole && option->name[length] && begins_all(known, option->name, name, length))
            *whole = at_format("--%s%s", option->name, name + length);
        return follows;
    }
    for (const char *letter = word + 1; *letter; letter++)
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
    for (int i = 1; i < state->argc && strcmp(state->argv[i], "--") != 0; i++) {
        const char *word = state->argv[i];
        int follows = word[0] == '-' ? value_follows(&known, word, &state->argv[i]) : 0;

        if (follows == UNKNOWN)
            refuse_long(state, &known, word);
        refuse_one_dash(state, &known, word);
        if (word[0] == '-' && word[1] >= '0' && word[1] <= '9')
            refuse_number(state, word);
        i += follows;
    }
    free(known.items);
}

/* ---- reading it ---- */

static const struct target *find_target(const struct command_line *line, int key)
{
    for (size_t i = 0; i < line->count; i++)
        if (key != 0 && line->known[i].key == key)
            return &line->targets[i];
    return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct command_line *line = state->input;
    const struct target *target;

    switch (key) {
    case ARGP_KEY_INIT:
        check_options(state);
        return 0;
    case ARGP_KEY_ARG:
        take_argument(state, line, arg);
        return 0;
    case ARGP_KEY_END:
        check(state, line);
        return 0;
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    default:
        target = find_target(line, key);
        if (!target)
            return ARGP_ERR_UNKNOWN;
        take(state, target, arg);
        return 0;
    }
}

/* Make the options of a command known. The caller calls forget. */
static void know_command(struct command_line *line, const struct at_command *command, void *options)
{
    static const struct argp_option end = {0};
    size_t count;

    *line = (struct command_line){.command = command, .options = options};
    know_all(line, command->options, options);
    know_all(line, at_common_options, options);
    count = line->count;
    AT_PUSH(line->known, count, line->capacity, end);
}

static void forget(struct command_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        free((char *)line->known[i].doc);
    free(line->known);
    free(line->targets);
}

static void read_command_line(const struct at_command *command, int argc, char **argv,
                              void *options)
{
    struct command_line line;
    struct argp argp = {.parser = parse, .args_doc = command->arguments, .doc = command->help};

    know_command(&line, command, options);
    argp.options = line.known;
    /* In order: --problem and a problem without it keep their order. */
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &line);
    forget(&line);
}

const struct at_command *at_command_find(const struct at_command *const *commands, const char *name)
{
    while (*commands && strcmp((*commands)->name, name) != 0)
        commands++;
    return *commands;
}

int at_command_first_argument(const struct at_command *command, int argc, char **argv)
{
    void *options = at_alloc(command->size);
    struct command_line line;
    struct known_options known = {0};
    int at = 1, follows = 0;

    know_command(&line, command, options);
    collect(&known, &(struct argp){.options = line.known});
    for (; at < argc && argv[at][0] == '-' && argv[at][1] && follows >= 0; at += 1 + follows)
        follows = strcmp(argv[at], "--") == 0 ? UNKNOWN : value_follows(&known, argv[at], NULL);
    free(known.items);
    forget(&line);
    free(options);
    return at < argc ? at : argc;
}

/* Free the arguments of repeated options. Several rows may set one member. */
static void free_texts(const struct at_option *options, char *set)
{
    for (; options->kind != AT_OPTION_END; options++) {
        void *member = set + options->offset;

        if (options->kind == AT_OPTION_TABLE)
            free_texts(options->table, member);
        if (options->kind == AT_OPTION_TEXTS) {
            free(((struct at_texts *)member)->items);
            *(struct at_texts *)member = (struct at_texts){0};
        }
    }
}

enum at_status at_command_run(const struct at_command *command, int argc, char **argv,
                              struct at_error *err)
{
    void *options = at_alloc(command->size);
    enum at_status status;

    if (command->defaults)
        memcpy(options, command->defaults, command->size);
    at_progress_init(options);
    if (command->init)
        command->init(options);
    read_command_line(command, argc, argv, options);
    status = command->run(options, err);
    if (command->clear)
        command->clear(options);
    free_texts(command->options, options);
    free(options);
    return status;
}
