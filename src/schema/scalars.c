/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/scalars.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/printable.h"
#include "base/word.h"

#include <stdlib.h>
#include <string.h>

enum at_status at_fail_expected(const struct at_events *in, const char *what, const char *expected)
{
    static const char *const shapes[] = {[AT_EVENT_MAP] = "a mapping",
                                         [AT_EVENT_LIST] = "a list",
                                         [AT_EVENT_END] = "nothing",
                                         [AT_EVENT_EOF] = "nothing"};
    const struct at_event *event = &in->event;

    if (event->kind != AT_EVENT_SCALAR)
        return at_fail_at(in->err, event->source, "%s: expected %s, found %s", what, expected,
                          shapes[event->kind]);
    if (event->plain && event->size == 0)
        return at_fail_at(in->err, event->source, "%s: expected %s, found nothing", what, expected);
    return at_fail_at(in->err, event->source, "%s: expected %s, found %s\"%.*s\"%s", what, expected,
                      event->plain ? "" : "the quoted text ", AT_QUOTED(event->text, 60),
                      event->size > 60 ? "..." : "");
}

static enum at_status fail_integer(const struct at_events *in, const struct at_field *field)
{
    char expected[96];
    long long min = field->min, max = field->max;

    if (field->kind != AT_FIELD_INT || (field->min == INT64_MIN && field->max == INT64_MAX))
        snprintf(expected, sizeof expected, "an integer");
    else if (min == max)
        snprintf(expected, sizeof expected, "%lld", min);
    else if (field->max == INT64_MAX)
        snprintf(expected, sizeof expected, "an integer of at least %lld", min);
    else
        snprintf(expected, sizeof expected, "an integer from %lld to %lld", min, max);
    return at_fail_expected(in, field->key, expected);
}

static bool take_integer(const struct at_events *in, int64_t *value)
{
    return in->event.kind == AT_EVENT_SCALAR && in->event.plain &&
           at_integer_parse(in->event.text, in->event.size, value);
}

enum at_status at_read_int(struct at_events *in, const struct at_field *field, void *slot)
{
    int64_t value;

    if (!take_integer(in, &value) || value < field->min || value > field->max)
        return fail_integer(in, field);
    *(int64_t *)slot = value;
    return AT_OK;
}

enum at_status at_read_hex(struct at_events *in, const struct at_field *field, void *slot)
{
    const struct at_event *event = &in->event;
    char expected[64];

    if (event->kind == AT_EVENT_SCALAR && event->plain && event->size >= 3 && event->size <= 17 &&
        strncmp(event->text, "0x", 2) == 0 &&
        strspn(event->text + 2, "0123456789abcdef") == event->size - 2) {
        int64_t value = (int64_t)strtoull(event->text, NULL, 16);

        if (value >= field->min && value <= field->max) {
            *(int64_t *)slot = value;
            return AT_OK;
        }
    }
    snprintf(expected, sizeof expected, "hexadecimal digits after 0x, at most %#llx",
             (unsigned long long)field->max);
    return at_fail_expected(in, field->key, expected);
}

enum at_status at_read_flag(struct at_events *in, const struct at_field *field, void *slot)
{
    const struct at_event *event = &in->event;
    bool is_scalar = event->kind == AT_EVENT_SCALAR && event->plain;

    if (!is_scalar || (strcmp(event->text, "true") != 0 && strcmp(event->text, "false") != 0))
        return at_fail_expected(in, field->key, "true or false");
    *(bool *)slot = event->text[0] == 't';
    return AT_OK;
}

enum at_status at_read_choice(struct at_events *in, const struct at_field *field, void *slot)
{
    char expected[128];
    size_t length = 0;

    for (int64_t i = 0; i < field->max; i++) {
        if (!field->words[i])
            continue;
        if (in->event.kind == AT_EVENT_SCALAR && strcmp(in->event.text, field->words[i]) == 0) {
            *(int *)slot = (int)i;
            return AT_OK;
        }
        if (length < sizeof expected)
            length += (size_t)snprintf(expected + length, sizeof expected - length, "%s%s",
                                       length ? ", " : "one of ", field->words[i]);
    }
    return at_fail_expected(in, field->key, expected);
}

/* Check that the current event is text of at most `most` bytes. An empty plain scalar is null. */
static enum at_status check_text(const struct at_events *in, const struct at_field *field,
                                 size_t most)
{
    if (in->event.kind != AT_EVENT_SCALAR || (in->event.plain && in->event.size == 0))
        return at_fail_expected(in, field->key, "text");
    if (in->event.size > most)
        return at_fail_at(in->err, in->event.source,
                          "%s: expected text of at most %zu bytes, found %zu", field->key, most,
                          in->event.size);
    return AT_OK;
}

static enum at_status check_word(const struct at_events *in, const struct at_field *field)
{
    if (in->event.kind == AT_EVENT_SCALAR && at_text_is_word(in->event.text, in->event.size))
        return AT_OK;
    return at_fail_expected(in, field->key,
                            "a word of at most 63 letters, digits, '_', '-', '.' and '+'");
}

enum at_status at_read_chars(struct at_events *in, const struct at_field *field, void *slot)
{
    enum at_status status = check_text(in, field, (size_t)field->max - 1);

    if (status == AT_OK && field->word)
        status = check_word(in, field);
    if (status == AT_OK)
        memcpy(slot, in->event.text, in->event.size + 1);
    return status;
}

enum at_status at_read_text(struct at_events *in, const struct at_field *field, void *slot)
{
    enum at_status status = check_text(in, field, (size_t)field->max);

    if (status == AT_OK)
        *(char **)slot = at_strdup(in->event.text);
    return status;
}

enum at_status at_read_word(struct at_events *in, const struct at_field *field, void *slot)
{
    enum at_status status = check_word(in, field);

    if (status == AT_OK)
        *(char **)slot = at_strdup(in->event.text);
    return status;
}

/* Turn the blanks of a folded text that were line breaks back into '\n', so that positions in the
 * text can be mapped to the file. Returns false if the lines differ from the file's. */
static bool unfold(char *text, const char *line)
{
    for (;;) {
        size_t length = strcspn(line, "\r\n");

        if (strncmp(text, line, length) != 0)
            return false;
        text += length;
        line += length;
        if (*text == '\0')
            return true;
        if (*text != ' ')
            return false;
        *text++ = '\n';
        line += strspn(line, "\r\n");
        line += strspn(line, " ");
    }
}

enum at_status at_read_located(struct at_events *in, const struct at_field *field, void *slot)
{
    const struct at_event *event = &in->event;
    enum at_status status = check_text(in, field, SIZE_MAX);
    char *text;

    if (status != AT_OK)
        return status;
    text = at_strdup(event->text);
    if (event->folded ? !unfold(text, event->folded) : !event->one_line) {
        at_free(text);
        return at_fail_at(in->err, event->source,
                          "%s: has to stand on one line, or on several below >-, so that messages "
                          "can name the column",
                          field->key);
    }
    *(struct at_located *)slot =
        (struct at_located){text, event->source.line, event->source.column};
    return AT_OK;
}

enum at_status at_read_integer_item(struct at_events *in, const struct at_field *field, void *slot)
{
    return take_integer(in, slot) ? AT_OK : fail_integer(in, field);
}

static bool is_name_character(char c)
{
    return at_is_word_character(c) || c == '-' || c == '.' || c == '+';
}

bool at_text_is_word(const char *text, size_t size)
{
    size_t length = 0;

    while (length < size && is_name_character(text[length]))
        length++;
    return size >= 1 && size <= 63 && length == size;
}
