/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes steps as text: a second type, and operations. */
#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "problem/problem_parts.h"
#include "problem/step.h"

#include <string.h>

size_t at_step_cut_types(struct at_step_reading *read, const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length);

    if (!colon)
        return length;
    read->to = colon + 1;
    read->to_length = length - (size_t)(colon + 1 - text);
    return (size_t)(colon - text);
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

bool at_step_read_operation(struct at_step_reading *read, const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    size_t name = equals ? (size_t)(equals - text) : length;

    if (equals && is_word(text, name, at_operation_names[AT_AFFINE])) {
        read->axis = equals + 1;
        read->axis_length = length - name - 1;
        length = name;
    } else if (equals && is_word(text, name, at_operation_names[AT_BOTH])) {
        read->kept = equals + 1;
        read->kept_length = length - name - 1;
        length = name;
    }
    for (unsigned i = 0; i < AT_OPERATIONS; i++)
        if (is_word(text, length, at_operation_names[i])) {
            read->operations |= 1U << i | (i == AT_AMAX_NAN ? 1U << AT_AMAX : 0);
            return true;
        }
    return false;
}

/* Read the axis of the channels. */
static enum at_status read_axis(int64_t *axis, const struct at_step_reading *read, const char *spec,
                                struct at_error *err)
{
    static const char *const names[] = {
        [AT_ROWS_AXIS] = "rows", [AT_COLS_AXIS] = "cols", [AT_BATCH_AXIS] = "batch"};

    if (!read->axis)
        return AT_OK;
    for (*axis = AT_ROWS_AXIS; *axis < AT_FIRST_AXIS; (*axis)++)
        if (is_word(read->axis, read->axis_length, names[*axis]))
            return AT_OK;
    if (at_integer_parse(read->axis, read->axis_length, axis) && *axis >= 0 &&
        *axis < AT_RANK_MAX) {
        *axis += AT_FIRST_AXIS;
        return AT_OK;
    }
    return at_problem_fail(err, spec,
                           "affine is \"%.*s\"; expected affine=cols, rows or batch, or of a "
                           "tensor an axis of the source, 0 the slowest",
                           at_text_fit(read->axis, read->axis_length, 40), read->axis);
}

static enum at_status find_number(enum at_number *number, const struct at_type *type,
                                  const char *spec, struct at_error *err)
{
    const char *name = type->name ? type->name : "elements of several words", *names[AT_NUMBERS];
    char *known;

    if (at_number_find(number, name, strlen(name)))
        return AT_OK;
    for (int i = 0; i < AT_NUMBERS; i++)
        names[i] = at_number_formats[i].name;
    known = at_join(names, AT_NUMBERS);
    at_problem_fail(err, spec, "nothing computes with %s: a cast or an operation takes %s", name,
                    known);
    at_free(known);
    return AT_USAGE;
}

enum at_status at_step_make(struct at_step *step, const struct at_step_reading *read,
                            const struct at_type *source, const char *spec, struct at_error *err)
{
    struct at_step made = {.given = true, .operations = read->operations};
    struct at_type destination = *source, kept;
    enum at_status status = AT_OK;
    const char *why;

    if (read->to)
        status = at_type_read(&destination, read->to, read->to_length, spec, err);
    kept = destination;
    if (status == AT_OK && read->kept)
        status = at_type_read(&kept, read->kept, read->kept_length, spec, err);
    if (status != AT_OK)
        return status;
    if (read->operations == 0 && destination.bytes == source->bytes &&
        destination.name == source->name) {
        *step = (struct at_step){0};
        return AT_OK;
    }
    status = find_number(&made.from, source, spec, err);
    if (status == AT_OK)
        status = find_number(&made.to, &destination, spec, err);
    if (status == AT_OK && at_step_has(&made, AT_BOTH))
        status = find_number(&made.kept, &kept, spec, err);
    if (status != AT_OK)
        return status;
    if (!at_step_is_possible(&made, &why))
        return at_problem_fail(err, spec, "%s", why);
    status = read_axis(&made.channels.axis, read, spec, err);
    if (status == AT_OK)
        *step = made;
    return status;
}

static enum at_status fail_operation(const char *text, size_t length, const char *spec,
                                     struct at_error *err)
{
    char *known = at_join(at_operation_names, AT_OPERATIONS);

    at_problem_fail(err, spec, "unknown operation \"%.*s\"; known are %s",
                    at_text_fit(text, length, 40), text, known);
    at_free(known);
    return AT_USAGE;
}

enum at_status at_step_parse(struct at_step *step, int64_t *bytes, const char *text,
                             struct at_error *err)
{
    struct at_step_reading read = {0};
    struct at_type source = {0};
    size_t length = strcspn(text, ",");
    enum at_status status =
        at_type_read(&source, text, at_step_cut_types(&read, text, length), text, err);

    for (const char *at = text + length; status == AT_OK && *at == ','; at += length) {
        length = strcspn(++at, ",");
        if (!at_step_read_operation(&read, at, length))
            status = fail_operation(at, length, text, err);
    }
    if (status == AT_OK)
        status = at_step_make(step, &read, &source, text, err);
    if (status == AT_OK)
        *bytes = source.bytes;
    return status;
}

char *at_step_put_type(char *at, const struct at_step *step)
{
    return step->given && step->from != step->to
               ? stpcpy(stpcpy(at, ":"), at_number_formats[step->to].name)
               : at;
}

char *at_step_put_operations(char *at, const struct at_step *step, const char *axis)
{
    for (int i = 0; i < AT_OPERATIONS; i++) {
        /* amax=nan says both. */
        if (!at_step_has(step, (enum at_operation)i) ||
            (i == AT_AMAX && at_step_has(step, AT_AMAX_NAN)))
            continue;
        at = stpcpy(stpcpy(stpcpy(at, ","), at_operation_names[i]), i == AT_AFFINE ? axis : "");
        if (i == AT_BOTH && step->kept != step->to)
            at = stpcpy(stpcpy(at, "="), at_number_formats[step->kept].name);
    }
    return at;
}
