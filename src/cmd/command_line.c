/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command_line.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "cmd/format.h"
#include "export/export.h"
#include "measure/policy.h"
#include "recording/recording.h"
#include "report/report.h"
#include "search/strategy.h"
#include "system/file.h"

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

int64_t at_parse_integer(struct argp_state *state, const char *option, const char *text,
                         int64_t least, int64_t most)
{
    int64_t value = least;

    if (!at_integer_parse(text, strlen(text), &value) || value < least || value > most)
        argp_error(state, "--%s takes a whole number from %lld to %lld, not \"%s\"", option,
                   (long long)least, (long long)most, text);
    return value;
}

/* Read a time. Returns nanoseconds, 0 for another text. */
static int64_t read_duration(const char *text)
{
    static const struct {
        const char *unit;
        int64_t ns;
    } units[] = {{"ms", 1000000},
                 {"s", 1000000000},
                 {"m", INT64_C(60000000000)},
                 {"h", INT64_C(3600000000000)}};
    static const int64_t most_ns = INT64_C(3600000000000000);
    size_t digits = strspn(text, "0123456789");
    int64_t value = 0;

    for (size_t i = 0; i < AT_COUNT(units); i++)
        if (strcmp(text + digits, units[i].unit) == 0 && at_integer_parse(text, digits, &value) &&
            value >= 1 && value <= most_ns / units[i].ns)
            return value * units[i].ns;
    return 0;
}

static const char some_times[] = "a time like 50ms, 2s, 5m or 1h, up to 1000h";

int64_t at_parse_duration(struct argp_state *state, const char *option, const char *text)
{
    int64_t ns = read_duration(text);

    if (ns == 0)
        argp_error(state, "--%s takes %s, not \"%s\"", option, some_times, text);
    return ns;
}

struct at_amount at_parse_amount(struct argp_state *state, const char *option, const char *text,
                                 int64_t most)
{
    struct at_amount amount = {.ns = read_duration(text)};

    if (amount.ns == 0 && (!at_integer_parse(text, strlen(text), &amount.count) ||
                           amount.count < 1 || amount.count > most))
        argp_error(state, "--%s takes a whole number from 1 to %jd, or %s, not \"%s\"", option,
                   (intmax_t)most, some_times, text);
    return amount;
}

int64_t at_parse_percent(struct argp_state *state, const char *option, const char *text)
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
    if (!read || (*rest && strcmp(rest, "%") != 0)) {
        argp_error(state, "--%s takes a share like 5%% or 0.5%%, up to %jd%%, not \"%s\"", option,
                   (intmax_t)most, text);
        return 0;
    }
    return 10 * percent + tenths;
}

void at_parse_only(struct argp_state *state, const char **argument, const char *text,
                   const char *what)
{
    if (*argument)
        argp_error(state, "one %s at a time", what);
    *argument = text;
}

const char *at_given_file(const char *argument)
{
    return strcmp(argument, "-") == 0 ? AT_FILE_STDIN : argument;
}

static const struct {
    const char *placeholder;
    at_choice_fn *entry;
} tables[] = {
    {" {formats}", at_format_choice},        {" {policies}", at_policy_choice},
    {" {recordings}", at_recording_choice},  {" {exports}", at_export_choice},
    {" {strategies}", at_strategy_choice},   {" {reports}", at_report_form_choice},
    {" {figures}", at_report_figure_choice},
};

char *at_help_filter(int key, const char *text, void *input)
{
    const char *placeholder = text ? strstr(text, " {") : NULL;

    (void)key;
    (void)input;
    for (size_t i = 0; i < AT_COUNT(tables) && placeholder; i++)
        if (strcmp(placeholder, tables[i].placeholder) == 0) {
            char *before = at_strndup(text, (size_t)(placeholder - text));
            char *list = at_choices_list(before, tables[i].entry);

            free(before);
            return list;
        }
    return (char *)text; /* argp frees any other text */
}
