/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes steps as text: a second type, and operations. */
#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "problem/problem_parts.h"
#include "problem/step.h"

#include <stdio.h>
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

/* The words that take a value. */
static const struct {
    const char *name;
    enum at_step_value value;
    unsigned operations; /* that the word means */
    bool may_lack;       /* its value */
} words[] = {
    {"affine", AT_VALUE_AXIS, 1U << AT_AFFINE, true},
    {"both", AT_VALUE_KEPT, 1U << AT_BOTH, true},
    {"blocks", AT_VALUE_BLOCKS, 1U << AT_BLOCKS, false},
    {"scales", AT_VALUE_SCALES, 0, false},
    {"layout", AT_VALUE_LAYOUT, 0, false},
};

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

bool at_step_read_operation(struct at_step_reading *read, const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    size_t name = equals ? (size_t)(equals - text) : length;

    for (size_t i = 0; i < AT_COUNT(words); i++)
        if (is_word(text, name, words[i].name)) {
            read->operations |= words[i].operations;
            if (equals) {
                read->values[words[i].value].text = equals + 1;
                read->values[words[i].value].length = length - name - 1;
            }
            return equals || words[i].may_lack;
        }
    for (unsigned i = 0; i < AT_OPERATIONS; i++)
        if (is_word(text, length, at_operation_names[i])) {
            read->operations |= 1U << i | (i == AT_AMAX_NAN ? 1U << AT_AMAX : 0);
            return true;
        }
    return false;
}

static enum at_status fail_name(struct at_error *err, const char *spec, const char *word,
                                const char *text, size_t length, const char *known)
{
    return at_problem_fail(err, spec, "%s is \"%.*s\"; known are %s", word,
                           at_text_fit(text, length, 40), text, known);
}

/* Is it a side of blocks? Tiles of threads have whole blocks. */
static bool is_block_side(int64_t side)
{
    return side >= 1 && side <= AT_BLOCK_SIDE_MAX && (side & (side - 1)) == 0;
}

/* Read "1x128", the name of a rule, and of a layout. */
static enum at_status read_blocks(struct at_step_blocks *blocks, const struct at_step_reading *read,
                                  const char *spec, struct at_error *err)
{
    const char *sides = read->values[AT_VALUE_BLOCKS].text;
    size_t length = read->values[AT_VALUE_BLOCKS].length;
    const char *scales = read->values[AT_VALUE_SCALES].text;
    const char *layout = read->values[AT_VALUE_LAYOUT].text, *cross;
    const struct at_block_rule *rule = &at_block_rules[AT_RULE_TE];
    int lies = AT_SCALES_PLAIN;

    if (!sides)
        return scales || layout ? at_problem_fail(err, spec, "scales and layout are of blocks=")
                                : AT_OK;
    cross = memchr(sides, 'x', length);
    if (!cross || !at_integer_parse(sides, (size_t)(cross - sides), &blocks->rows) ||
        !at_integer_parse(cross + 1, length - (size_t)(cross + 1 - sides), &blocks->cols) ||
        !is_block_side(blocks->rows) || !is_block_side(blocks->cols))
        return at_problem_fail(
            err, spec,
            "blocks is \"%.*s\"; expected the rows and columns of a block of each "
            "result, powers of two up to %d, as in blocks=1x128",
            at_text_fit(sides, length, 40), sides, AT_BLOCK_SIDE_MAX);
    if (scales) {
        rule = at_block_rule_find(scales, read->values[AT_VALUE_SCALES].length);
        if (!rule)
            return fail_name(err, spec, "scales", scales, read->values[AT_VALUE_SCALES].length,
                             "te, te-pow2, torchao, floor, ceil, even, rceil, te-rceil, nvfp4, "
                             "te-nvfp4");
    }
    if (layout)
        while (lies < AT_SCALE_LAYOUTS &&
               !is_word(layout, read->values[AT_VALUE_LAYOUT].length, at_scale_layout_names[lies]))
            lies++;
    if (lies == AT_SCALE_LAYOUTS)
        return fail_name(err, spec, "layout", layout, read->values[AT_VALUE_LAYOUT].length,
                         "plain, transposed, aligned, swizzled");
    blocks->rule = (enum at_block_rules)(rule - at_block_rules);
    blocks->layout = (enum at_scale_layout)lies;
    return AT_OK;
}

/* Read the axis of the channels. */
static enum at_status read_axis(int64_t *axis, const struct at_step_reading *read, const char *spec,
                                struct at_error *err)
{
    static const char *const names[] = {
        [AT_ROWS_AXIS] = "rows", [AT_COLS_AXIS] = "cols", [AT_BATCH_AXIS] = "batch"};

    const char *text = read->values[AT_VALUE_AXIS].text;
    size_t length = read->values[AT_VALUE_AXIS].length;

    if (!text)
        return AT_OK;
    for (*axis = AT_ROWS_AXIS; *axis < AT_FIRST_AXIS; (*axis)++)
        if (is_word(text, length, names[*axis]))
            return AT_OK;
    if (at_integer_parse(text, length, axis) && *axis >= 0 && *axis < AT_RANK_MAX) {
        *axis += AT_FIRST_AXIS;
        return AT_OK;
    }
    return at_problem_fail(err, spec,
                           "affine is \"%.*s\"; expected affine=cols, rows or batch, or of a "
                           "tensor an axis of the source, 0 the slowest",
                           at_text_fit(text, length, 40), text);
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
    if (status == AT_OK && read->values[AT_VALUE_KEPT].text)
        status = at_type_read(&kept, read->values[AT_VALUE_KEPT].text,
                              read->values[AT_VALUE_KEPT].length, spec, err);
    if (status == AT_OK)
        status = read_blocks(&made.blocks, read, spec, err);
    if (status != AT_OK)
        return status;
    if (source->name && strcmp(source->name, at_number_formats[AT_E2M1].name) == 0)
        return at_problem_fail(err, spec,
                               "elements of 4 bits are not moved; e2m1 is a type of results with "
                               "blocks, as in bf16:e2m1,blocks=1x16,scales=nvfp4");
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

static char *put_blocks(char *at, const struct at_step_blocks *blocks)
{
    at += sprintf(at, "=%dx%d", (int)blocks->rows, (int)blocks->cols);
    if (blocks->rule != AT_RULE_TE)
        at = stpcpy(stpcpy(at, ",scales="), at_block_rules[blocks->rule].name);
    if (blocks->layout != AT_SCALES_PLAIN)
        at = stpcpy(stpcpy(at, ",layout="), at_scale_layout_names[blocks->layout]);
    return at;
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
        if (i == AT_BLOCKS)
            at = put_blocks(at, &step->blocks);
    }
    return at;
}
