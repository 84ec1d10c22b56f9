/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/kernel_argument.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/rng.h"
#include "system/file.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Names in the expression of an element. */
enum { INDEX, COUNT, NAMES };
static const char *const names[NAMES] = {"index", "count"};

static const char grammar[] = "an argument is TYPE=VALUE or TYPE[COUNT]=VALUE";

/* ---- parsing ---- */

enum at_status at_number_parse(int64_t *value, const char *text, const char *what,
                               struct at_error *err)
{
    struct at_expr *expression;
    enum at_status status =
        at_expr_parse(&expression, text, (struct at_source){what, 1, 1}, NULL, 0, err);

    if (status != AT_OK)
        return status;
    status = at_expr_eval(expression, NULL, value, err);
    at_expr_free(expression);
    return status;
}

static enum at_status refuse(const struct at_kernel_argument *argument, struct at_error *err,
                             const char *why)
{
    return at_fail(err, AT_USAGE, "--arg \"%s\": %s", argument->text, why);
}

static enum at_status refuse_type(const char *text, size_t size, struct at_error *err)
{
    char *known = at_element_type_names();

    at_fail(err, AT_USAGE, "--arg \"%s\": there is no type \"%.*s\"; %s, where TYPE is one of %s",
            text, (int)size, text, grammar, known);
    free(known);
    return AT_USAGE;
}

static enum at_status parse_count(struct at_kernel_argument *argument, const char *text,
                                  size_t size, struct at_error *err)
{
    char *count = at_strndup(text, size);
    enum at_status status = at_number_parse(&argument->count, count, argument->text, err);

    free(count);
    if (status != AT_OK)
        return status;
    if (argument->count < 1 || argument->count > INT64_MAX / (1 << 10))
        return refuse(argument, err, "a buffer has from 1 to 2^53 elements");
    argument->buffer = true;
    return AT_OK;
}

/* Is all of the text a number, in whatever locale the user has? */
static bool parse_real(const char *text, double *value)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), usual = uselocale(plain);
    char *end;

    *value = strtod(text, &end);
    uselocale(usual);
    freelocale(plain);
    return end != text && !*end;
}

static enum at_status parse_expression(struct at_kernel_argument *argument, const char *text,
                                       struct at_error *err)
{
    int64_t value, none[NAMES] = {0, 1};
    enum at_status status =
        at_expr_parse(&argument->expression, text,
                      (struct at_source){argument->text, 1, 1 + (int)(text - argument->text)},
                      argument->buffer ? names : NULL, argument->buffer ? NAMES : 0, err);

    argument->value = AT_VALUE_EXPRESSION;
    if (status != AT_OK || argument->buffer)
        return status;
    status = at_expr_eval(argument->expression, none, &value, err);
    if (status == AT_OK && !at_element_holds(argument->type, value))
        status = refuse(argument, err, "the value is out of the type's range");
    return status;
}

static enum at_status parse_value(struct at_kernel_argument *argument, const char *text,
                                  struct at_error *err)
{
    int64_t whole;

    if (strcmp(text, "random") == 0) {
        argument->value = AT_VALUE_RANDOM;
        return argument->buffer ? AT_OK : refuse(argument, err, "only a buffer can be random");
    }
    if (*text == '@') {
        argument->value = AT_VALUE_FILE;
        argument->file = text + 1;
        return argument->buffer ? AT_OK : refuse(argument, err, "only a buffer comes from a file");
    }
    if (!at_integer_parse(text, strlen(text), &whole) && parse_real(text, &argument->real)) {
        argument->value = AT_VALUE_REAL;
        return at_element_is_float(argument->type)
                   ? AT_OK
                   : refuse(argument, err, "the type has only whole numbers");
    }
    return parse_expression(argument, text, err);
}

enum at_status at_kernel_argument_parse(struct at_kernel_argument *argument, const char *text,
                                        struct at_error *err)
{
    struct at_kernel_argument parsed = {.text = text, .count = 1};
    size_t type = strcspn(text, "[=");
    const char *rest = text + type, *end = rest;
    enum at_status status = AT_OK;

    parsed.type = at_element_type_find(text, type);
    if (!parsed.type)
        return refuse_type(text, type, err);
    if (*rest == '[') {
        end = strchr(rest, ']');
        if (!end || (end[1] && end[1] != '='))
            return refuse(&parsed, err, grammar);
        status = parse_count(&parsed, rest + 1, (size_t)(end - rest - 1), err);
        end++;
    } else if (!*rest) {
        return at_fail(err, AT_USAGE, "--arg \"%s\": it has no value; %s", text, grammar);
    }
    if (status == AT_OK)
        status = parse_value(&parsed, *end ? end + 1 : "0", err);
    if (status == AT_OK)
        *argument = parsed;
    else
        at_kernel_argument_clear(&parsed);
    return status;
}

void at_kernel_argument_clear(struct at_kernel_argument *argument)
{
    at_expr_free(argument->expression);
    argument->expression = NULL;
}

/* ---- making ---- */

static int64_t element_bytes(const struct at_kernel_argument *argument)
{
    return (int64_t)argument->type->bytes * argument->type->lanes;
}

int64_t at_kernel_argument_bytes(const struct at_kernel_argument *argument)
{
    return argument->buffer ? (int64_t)sizeof(uint64_t) : element_bytes(argument);
}

static double random_real(struct at_rng *rng)
{
    return (double)(at_rng_next(rng) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Write element `index`, the same in each lane of a vector. */
static enum at_status write_element(const struct at_kernel_argument *argument, int64_t index,
                                    struct at_rng *rng, char *to, struct at_error *err)
{
    const struct at_element_type *type = argument->type;
    int64_t values[NAMES] = {[INDEX] = index, [COUNT] = argument->count}, whole = 0;
    bool is_real = argument->value != AT_VALUE_EXPRESSION && at_element_is_float(type);
    double real = argument->real;
    enum at_status status = AT_OK;

    if (argument->value == AT_VALUE_EXPRESSION)
        status = at_expr_eval(argument->expression, values, &whole, err);
    else if (argument->value == AT_VALUE_RANDOM && is_real)
        real = random_real(rng);
    else if (argument->value == AT_VALUE_RANDOM)
        whole = (int64_t)at_rng_below(rng, (uint64_t)argument->count);
    for (int lane = 0; lane < type->lanes && status == AT_OK; lane++)
        if (is_real)
            at_element_store_real(type, to + lane * type->bytes, real);
        else
            at_element_store(type, to + lane * type->bytes, whole);
    return status;
}

static enum at_status fill_from_file(const struct at_kernel_argument *argument, char *to,
                                     size_t bytes, struct at_error *err)
{
    char *text;
    size_t size;
    enum at_status status = at_file_read(&text, &size, argument->file, bytes, err);

    if (status != AT_OK)
        return at_fail_within(err, "--arg \"%s\"", argument->text);
    if (size == bytes)
        memcpy(to, text, bytes);
    else
        status = at_fail(err, AT_USAGE, "--arg \"%s\": the file has %zu bytes, not %zu",
                         argument->text, size, bytes);
    free(text);
    return status;
}

static enum at_status fill(const struct at_kernel_argument *argument, char *to, uint64_t seed,
                           struct at_error *err)
{
    struct at_rng rng = {seed};
    int64_t bytes = element_bytes(argument);
    enum at_status status = AT_OK;

    if (argument->value == AT_VALUE_FILE)
        return fill_from_file(argument, to, (size_t)(argument->count * bytes), err);
    for (int64_t i = 0; i < argument->count && status == AT_OK; i++)
        status = write_element(argument, i, &rng, to + i * bytes, err);
    return status;
}

/* Is it a buffer of zeros, which it is from the start? */
static bool is_zero(const struct at_kernel_argument *argument)
{
    int64_t value;

    return argument->value == AT_VALUE_EXPRESSION && !at_expr_uses(argument->expression, INDEX) &&
           at_expr_eval(argument->expression, (int64_t[NAMES]){0, argument->count}, &value, NULL) ==
               AT_OK &&
           value == 0;
}

enum at_status at_kernel_argument_make(const struct at_kernel_argument *argument,
                                       struct at_emu_memory *memory, uint64_t seed,
                                       uint64_t words[AT_ARGUMENT_WORDS], struct at_error *err)
{
    int64_t bytes = argument->count * element_bytes(argument);

    memset(words, 0, AT_ARGUMENT_WORDS * sizeof *words);
    if (!argument->buffer)
        return fill(argument, (char *)words, seed, err);
    words[0] = at_emu_memory_allocate(memory, bytes);
    if (!words[0])
        return at_fail(err, AT_FAILED, "--arg \"%s\": this machine has too little memory",
                       argument->text);
    if (is_zero(argument))
        return AT_OK;
    return fill(argument, at_emu_memory_host(memory, words[0], (size_t)bytes), seed, err);
}
