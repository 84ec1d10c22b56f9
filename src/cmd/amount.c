/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/amount.h"

#include "base/integer.h"
#include "base/memory.h"
#include "cmd/guess.h"

#include <stdlib.h>
#include <string.h>

/* The units, each after those that begin like it. */
static const struct {
    const char *name;
    int64_t ns;
    bool taken; /* else only a guess knows it */
} units[] = {
    {"ms", INT64_C(1000000), true},        {"s", INT64_C(1000000000), true},
    {"m", INT64_C(60000000000), true},     {"h", INT64_C(3600000000000), true},
    {"d", INT64_C(86400000000000), false},
};

static const int64_t most_ns = INT64_C(3600000000000000);
static const char some_times[] = "a time like 50ms, 2s, 30s, 5m or 1h, up to 1000h";

/* Returns nanoseconds, 0 for another text. */
static int64_t read_time(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    int64_t value = 0;

    for (size_t i = 0; i < AT_COUNT(units); i++)
        if (units[i].taken && strcmp(text + digits, units[i].name) == 0 &&
            at_integer_parse(text, digits, &value) && value >= 1 && value <= most_ns / units[i].ns)
            return value * units[i].ns;
    return 0;
}

char *at_time_format(int64_t ns)
{
    size_t unit = AT_COUNT(units) - 1;

    while (unit > 0 && (!units[unit].taken || ns % units[unit].ns != 0))
        unit--;
    return at_format("%jd%s", (intmax_t)(ns / units[unit].ns), units[unit].name);
}

/* Return the time that was meant by 1.5h, 1h30m or 5min. The caller frees it. NULL: there is no
 * guess. */
static char *guess_time(const char *text)
{
    double sum = 0;

    while (*text) {
        char *end;
        double value = strtod(text, &end);
        size_t word, i = 0;

        if (end == text || value < 0)
            return NULL;
        text = end + strspn(end, " ");
        word = strspn(text, "abcdefghijklmnopqrstuvwxyz");
        while (i < AT_COUNT(units) && strncmp(text, units[i].name, strlen(units[i].name)) != 0)
            i++;
        if (word == 0 || i == AT_COUNT(units))
            return NULL;
        sum += value * (double)units[i].ns;
        text += word + strspn(text + word, " ,");
    }
    if (!(sum >= (double)units[0].ns && sum <= (double)most_ns))
        return NULL;
    return at_time_format((int64_t)(sum / (double)units[0].ns + 0.5) * units[0].ns);
}

enum at_status at_time_parse(int64_t *ns, const char *option, const char *text,
                             struct at_error *err)
{
    int64_t read_ns = read_time(text);

    if (read_ns == 0) {
        at_fail(err, AT_USAGE, "--%s takes %s, not \"%s\"", option, some_times, text);
        return at_guess_advise(err, guess_time(text));
    }
    *ns = read_ns;
    return AT_OK;
}

enum at_status at_seconds_parse(int64_t *ns, const char *option, const char *text,
                                struct at_error *err)
{
    static const int64_t second_ns = 1000000000, hour_s = 3600;
    struct at_amount amount;
    enum at_status status = at_amount_parse(&amount, option, text, hour_s, err);

    if (status == AT_OK && amount.ns > hour_s * second_ns)
        status = at_fail(err, AT_USAGE, "--%s takes up to an hour, not \"%s\"", option, text);
    if (status == AT_OK)
        *ns = amount.count * second_ns + amount.ns;
    return status;
}

enum at_status at_amount_parse(struct at_amount *amount, const char *option, const char *text,
                               int64_t most, struct at_error *err)
{
    struct at_amount read = {.ns = read_time(text)};

    if (read.ns == 0 && (!at_integer_parse(text, strlen(text), &read.count) || read.count < 1 ||
                         read.count > most)) {
        at_fail(err, AT_USAGE, "--%s takes a whole number from 1 to %jd, or %s, not \"%s\"", option,
                (intmax_t)most, some_times, text);
        return at_guess_advise(err, guess_time(text));
    }
    *amount = read;
    return AT_OK;
}
