/* SPDX-License-Identifier: Apache-2.0 */
#include "options/argument.h"

#include "base/integer.h"
#include "base/memory.h"
#include "export/export.h"
#include "measure/policy.h"
#include "options/format.h"
#include "recording/recording.h"
#include "report/report.h"
#include "search/strategy.h"
#include "system/file.h"

#include <stdlib.h>
#include <string.h>

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
