/* SPDX-License-Identifier: Apache-2.0 */
/* Reads YAML into a record, strictly as its table allows. */
#include "base/error.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/word.h"
#include "schema/fields.h"
#include "schema/lines.h"
#include "schema/schema.h"
#include "system/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* ---- events ----
 *
 * Features that data files do not need are refused here, so that the reader never sees them:
 * anchors, aliases, tags, directives, a second document, more than 16 levels, unprintable text. */

struct event {
    enum at_event_kind kind;
    struct at_source source; /* of an END none */
    const char *text;        /* of a SCALAR, valid until the next event; else NULL */
    size_t size;
    bool plain;         /* a SCALAR without quotes */
    bool one_line;      /* a SCALAR on one line, which begins at `source` */
    const char *folded; /* of a SCALAR after '>': its first line in the file, at `source` */
};

struct events {
    struct event event;   /* the current one */
    struct at_error *err; /* filled by all failures */
    const char *name;
    char *text;
    struct at_token *tokens, *token; /* all, and the next one; NULL: libyaml reads the text */
    char *joined;                    /* the current event's text, if it was folded */
    int depth, documents;
    yaml_parser_t parser;
    yaml_event_t raw;
    struct at_cleanup cleanup;
};

static struct at_source source_of(const struct events *events, yaml_mark_t mark)
{
    return (struct at_source){events->name, (int)mark.line + 1, (int)mark.column + 1};
}

/* The position of a byte: libyaml gives no line number for bytes that it cannot decode. */
static struct at_source source_of_byte(const struct events *events, size_t offset)
{
    struct at_source source = {events->name, 1, 1};

    for (size_t i = 0; i < offset; i++) {
        if (events->text[i] == '\n')
            source = (struct at_source){events->name, source.line + 1, 0};
        source.column++;
    }
    return source;
}

static void delete_parser(void *data)
{
    struct events *events = data;

    yaml_event_delete(&events->raw);
    yaml_parser_delete(&events->parser);
}

/* Start parsing a text, without a current event yet. name is borrowed, and the struct must not
 * move, until events_close. */
static enum at_status events_open(struct events *events, const char *name, const char *text,
                                  size_t size, struct at_error *err)
{
    *events = (struct events){.name = name, .err = err};
    if (size > AT_SCHEMA_BYTES_MAX)
        return at_fail(err, AT_USAGE, "%s has %zu bytes; at most %d are read", name, size,
                       AT_SCHEMA_BYTES_MAX);
    events->text = at_alloc(size + 1); /* NUL-terminated; the caller's text may not be */
    if (size > 0)
        memcpy(events->text, text, size);
    events->tokens = events->token = at_lines_split(events->text, size);
    if (events->tokens)
        return AT_OK;
    if (!yaml_parser_initialize(&events->parser))
        at_out_of_memory();
    at_cleanup_push(&events->cleanup, delete_parser, events);
    /* Otherwise libyaml accepts UTF-16 after a byte order mark. */
    yaml_parser_set_encoding(&events->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&events->parser, (const unsigned char *)events->text, size);
    return AT_OK;
}

static void events_close(struct events *events)
{
    if (!events->tokens) {
        at_cleanup_pop(&events->cleanup);
        delete_parser(events);
    }
    at_free(events->joined);
    at_free(events->tokens);
    at_free(events->text);
}

static enum at_status fail_syntax(const struct events *events)
{
    const yaml_parser_t *parser = &events->parser;

    if (parser->error == YAML_MEMORY_ERROR)
        at_out_of_memory();
    if (parser->error == YAML_READER_ERROR)
        return at_fail_at(events->err, source_of_byte(events, parser->problem_offset),
                          "not a text file: %s", parser->problem);
    return at_fail_at(events->err, source_of(events, parser->problem_mark),
                      "not well-formed YAML: %s", parser->problem);
}

/* The reason to refuse an event; NULL if it is fine. */
static const char *refusal(const struct events *events, const yaml_event_t *raw)
{
    const unsigned char *anchor = NULL, *tag = NULL;

    switch (raw->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (events->documents > 0)
            return "a second document; a file holds one";
        if (raw->data.document_start.version_directive ||
            raw->data.document_start.tag_directives.start !=
                raw->data.document_start.tag_directives.end)
            return "directives (%) are not used in these files";
        return NULL;
    case YAML_ALIAS_EVENT:
        return "aliases (*) are not used in these files; write the value out";
    case YAML_SCALAR_EVENT:
        anchor = raw->data.scalar.anchor;
        tag = raw->data.scalar.tag;
        if (!at_text_is_printable((const char *)raw->data.scalar.value, raw->data.scalar.length))
            return "text with a control character or a line break in it (where it takes several "
                   "lines, put >- before it)";
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = raw->data.sequence_start.anchor;
        tag = raw->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = raw->data.mapping_start.anchor;
        tag = raw->data.mapping_start.tag;
        break;
    default:
        return NULL;
    }
    if (anchor)
        return "anchors (&) are not used in these files";
    if (tag)
        return "tags (!) are not used in these files; put text that begins with ! in quotes";
    if (raw->type != YAML_SCALAR_EVENT && events->depth == AT_SCHEMA_DEPTH_MAX)
        return "more than 16 levels of lists and mappings";
    return NULL;
}

/* The lines of a folded text begin below its '>', all with the same indentation. */
static void take_folded(const struct events *events, struct event *event)
{
    const char *line = events->text;
    size_t indent;

    for (int i = 0; i < event->source.line; i++) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    indent = strspn(line, " ");
    event->folded = line + indent;
    event->source.line++;
    event->source.column = (int)indent + 1;
}

static void take_scalar(const struct events *events, struct event *event, const yaml_event_t *raw)
{
    yaml_scalar_style_t style = raw->data.scalar.style;

    event->text = (const char *)raw->data.scalar.value;
    event->size = raw->data.scalar.length;
    event->plain = style == YAML_PLAIN_SCALAR_STYLE;
    event->one_line = raw->start_mark.line == raw->end_mark.line;
    if (style == YAML_FOLDED_SCALAR_STYLE && event->size > 0)
        take_folded(events, event);
    else if (!event->plain)
        event->source.column++; /* past the quote */
}

static void take_token(struct events *events)
{
    const struct at_token *token = events->token;
    char *text = events->text + token->at;
    bool folded = token->style == AT_SCALAR_FOLDED;

    at_free(events->joined);
    events->joined = folded ? at_lines_join(events->text, token) : NULL;
    events->event = (struct event){
        .kind = (enum at_event_kind)token->kind,
        .source = {events->name, (int)token->line, token->column},
        .plain = token->style == AT_SCALAR_PLAIN,
        .one_line = !folded,
        .folded = folded ? text : NULL,
    };
    if (token->kind == AT_EVENT_SCALAR) {
        text[token->size] = '\0'; /* what stands there has been read */
        events->event.text = folded ? events->joined : text;
        events->event.size = folded ? strlen(events->joined) : token->size;
    }
    events->token += token->kind != AT_EVENT_EOF;
}

static enum at_status parse_next(struct events *events)
{
    static const struct {
        bool given; /* to the reader; else only checked */
        enum at_event_kind kind;
        int deeper;
    } kinds[] = {
        [YAML_NO_EVENT] = {true, AT_EVENT_EOF, 0}, /* libyaml's event after the end */
        [YAML_SCALAR_EVENT] = {true, AT_EVENT_SCALAR, 0},
        [YAML_SEQUENCE_START_EVENT] = {true, AT_EVENT_LIST, 1},
        [YAML_SEQUENCE_END_EVENT] = {true, AT_EVENT_END, -1},
        [YAML_MAPPING_START_EVENT] = {true, AT_EVENT_MAP, 1},
        [YAML_MAPPING_END_EVENT] = {true, AT_EVENT_END, -1},
        [YAML_STREAM_END_EVENT] = {true, AT_EVENT_EOF, 0},
    };
    yaml_event_t *raw = &events->raw;
    const char *refused;

    do {
        yaml_event_delete(raw);
        if (!yaml_parser_parse(&events->parser, raw))
            return fail_syntax(events);
        refused = refusal(events, raw);
        if (refused)
            return at_fail_at(events->err, source_of(events, raw->start_mark), "%s", refused);
        events->documents += raw->type == YAML_DOCUMENT_START_EVENT;
    } while (!kinds[raw->type].given);

    events->depth += kinds[raw->type].deeper;
    events->event =
        (struct event){.kind = kinds[raw->type].kind, .source = source_of(events, raw->start_mark)};
    if (raw->type == YAML_SCALAR_EVENT)
        take_scalar(events, &events->event, raw);
    return AT_OK;
}

/* Advance to the next event. */
static enum at_status events_next(struct events *events)
{
    if (!events->tokens)
        return parse_next(events);
    take_token(events);
    return AT_OK;
}

/* Fail with "WHAT: expected EXPECTED, found ...", which describes the current event. */
static enum at_status fail_expected(const struct events *in, const char *what, const char *expected)
{
    static const char *const shapes[] = {[AT_EVENT_MAP] = "a mapping",
                                         [AT_EVENT_LIST] = "a list",
                                         [AT_EVENT_END] = "nothing",
                                         [AT_EVENT_EOF] = "nothing"};
    const struct event *event = &in->event;

    if (event->kind != AT_EVENT_SCALAR)
        return at_fail_at(in->err, event->source, "%s: expected %s, found %s", what, expected,
                          shapes[event->kind]);
    if (event->plain && event->size == 0)
        return at_fail_at(in->err, event->source, "%s: expected %s, found nothing", what, expected);
    return at_fail_at(in->err, event->source, "%s: expected %s, found %s\"%.*s\"%s", what, expected,
                      event->plain ? "" : "the quoted text ", AT_QUOTED(event->text, 60),
                      event->size > 60 ? "..." : "");
}

static enum at_status fail_integer(const struct events *in, const struct at_field *field)
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
    return fail_expected(in, field->key, expected);
}

static bool take_integer(const struct events *in, int64_t *value)
{
    return in->event.kind == AT_EVENT_SCALAR && in->event.plain &&
           at_integer_parse(in->event.text, in->event.size, value);
}

static enum at_status read_int(struct events *in, const struct at_field *field, void *slot)
{
    int64_t value;

    if (!take_integer(in, &value) || value < field->min || value > field->max)
        return fail_integer(in, field);
    *(int64_t *)slot = value;
    return AT_OK;
}

static enum at_status read_hex(struct events *in, const struct at_field *field, void *slot)
{
    const struct event *event = &in->event;
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
    return fail_expected(in, field->key, expected);
}

static enum at_status read_flag(struct events *in, const struct at_field *field, void *slot)
{
    const struct event *event = &in->event;

    if (event->kind != AT_EVENT_SCALAR || !event->plain ||
        (strcmp(event->text, "true") != 0 && strcmp(event->text, "false") != 0))
        return fail_expected(in, field->key, "true or false");
    *(bool *)slot = event->text[0] == 't';
    return AT_OK;
}

static enum at_status read_choice(struct events *in, const struct at_field *field, void *slot)
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
    return fail_expected(in, field->key, expected);
}

/* Check that the current event is text of at most `most` bytes. An empty plain scalar is null. */
static enum at_status check_text(const struct events *in, const struct at_field *field, size_t most)
{
    if (in->event.kind != AT_EVENT_SCALAR || (in->event.plain && in->event.size == 0))
        return fail_expected(in, field->key, "text");
    if (in->event.size > most)
        return at_fail_at(in->err, in->event.source,
                          "%s: expected text of at most %zu bytes, found %zu", field->key, most,
                          in->event.size);
    return AT_OK;
}

static enum at_status check_word(const struct events *in, const struct at_field *field)
{
    if (in->event.kind == AT_EVENT_SCALAR && at_text_is_word(in->event.text, in->event.size))
        return AT_OK;
    return fail_expected(in, field->key,
                         "a word of at most 63 letters, digits, '_', '-', '.' and '+'");
}

static enum at_status read_chars(struct events *in, const struct at_field *field, void *slot)
{
    enum at_status status = check_text(in, field, (size_t)field->max - 1);

    if (status == AT_OK && field->word)
        status = check_word(in, field);
    if (status == AT_OK)
        memcpy(slot, in->event.text, in->event.size + 1);
    return status;
}

static enum at_status read_text(struct events *in, const struct at_field *field, void *slot)
{
    enum at_status status = field->kind == AT_FIELD_WORD
                                ? check_word(in, field)
                                : check_text(in, field, (size_t)field->max);

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

static enum at_status read_located(struct events *in, const struct at_field *field, void *slot)
{
    const struct event *event = &in->event;
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

/* Any integer: the field's bounds limit the number of items. */
static enum at_status read_integer_item(struct events *in, const struct at_field *field, void *slot)
{
    return take_integer(in, slot) ? AT_OK : fail_integer(in, field);
}

bool at_text_is_word(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!at_is_word_character(text[i]) && text[i] != '-' && text[i] != '.' && text[i] != '+')
            return false;
    return size >= 1 && size <= 63;
}

enum { FIELDS_MAX = 64 }; /* the bits of a mask */

static enum at_status read_mapping(struct events *in, const struct at_schema *schema, void *record);

static enum at_status read_object(struct events *in, const struct at_field *field, void *slot)
{
    return read_mapping(in, field->object, slot);
}

static enum at_status check_count(const struct events *in, struct at_source start,
                                  const struct at_field *field, const struct at_list *list)
{
    if (list->count >= (size_t)field->min && list->count <= (size_t)field->max)
        return AT_OK;
    return at_fail_at(in->err, start, "%s: expected %lld to %lld items, found %zu", field->key,
                      (long long)field->min, (long long)field->max, list->count);
}

typedef enum at_status read_fn(struct events *in, const struct at_field *field, void *slot);

/* Append a zeroed item. From now on at_schema_clear frees its data. */
static void *add_item(struct at_list *list, size_t *capacity, size_t item_size)
{
    char *item;

    list->items = at_grow(list->items, list->count, capacity, item_size);
    item = (char *)list->items + list->count++ * item_size;
    return memset(item, 0, item_size);
}

static enum at_status read_list(struct events *in, const struct at_field *field, void *slot)
{
    static read_fn *const items[] = {[AT_FIELD_LOCATEDS] = read_located,
                                     [AT_FIELD_INTS] = read_integer_item,
                                     [AT_FIELD_OBJECTS] = read_object};
    struct at_list *list = slot;
    struct at_source start = in->event.source;
    size_t capacity = 0;
    enum at_status status;

    if (in->event.kind != AT_EVENT_LIST)
        return fail_expected(in, field->key,
                             field->kind == AT_FIELD_INTS ? "a list like [32, 8]" : "a list");
    while ((status = events_next(in)) == AT_OK && in->event.kind != AT_EVENT_END) {
        void *item = add_item(list, &capacity, at_field_item_size(field));

        status = items[field->kind](in, field, item);
        if (status != AT_OK)
            return status;
    }
    return status == AT_OK ? check_count(in, start, field, list) : status;
}

static enum at_status read_named_int(struct events *in, const struct at_field *field,
                                     struct at_list *list, size_t *capacity)
{
    struct at_named_int *named;
    enum at_status status;

    if (in->event.kind != AT_EVENT_SCALAR || !at_text_is_word(in->event.text, in->event.size))
        return fail_expected(in, field->key, "a word as the key");
    named = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(named[i].name, in->event.text) == 0)
            return at_fail_at(in->err, in->event.source, "duplicate key \"%s\"", in->event.text);
    named = add_item(list, capacity, sizeof *named);
    named->name = at_strdup(in->event.text);
    status = events_next(in);
    return status == AT_OK ? read_integer_item(in, field, &named->value) : status;
}

static enum at_status read_pairs(struct events *in, const struct at_field *field,
                                 struct at_list *list)
{
    struct at_source start = in->event.source;
    size_t capacity = 0;
    enum at_status status;

    while ((status = events_next(in)) == AT_OK && in->event.kind != AT_EVENT_END) {
        status = read_named_int(in, field, list, &capacity);
        if (status != AT_OK)
            return status;
    }
    return status == AT_OK ? check_count(in, start, field, list) : status;
}

static enum at_status read_named_ints(struct events *in, const struct at_field *field, void *slot)
{
    struct at_list pairs = {0};
    const struct at_named_int *named;
    enum at_status status;

    if (in->event.kind != AT_EVENT_MAP)
        return fail_expected(in, field->key, "a mapping of words to integers");
    status = read_pairs(in, field, &pairs);
    named = pairs.items;
    if (status == AT_OK)
        *(struct at_list *)slot = at_named_ints_copy(named, pairs.count);
    for (size_t i = 0; i < pairs.count; i++)
        at_free(named[i].name);
    at_free(pairs.items);
    return status;
}

/* Write "a, b, c", for messages. */
static void list_keys(char *list, size_t size, const struct at_schema *schema)
{
    size_t length = 0;

    for (size_t i = 0; i < schema->field_count && length < size; i++)
        length += (size_t)snprintf(list + length, size - length, "%s%s", i ? ", " : "",
                                   schema->fields[i].key);
}

/* Find the field that the current event names. */
static enum at_status find_field(const struct events *in, const struct at_schema *schema,
                                 uint64_t seen, size_t *index)
{
    char keys[768];

    if (in->event.kind != AT_EVENT_SCALAR)
        return fail_expected(in, schema->what, "a key");
    for (size_t i = 0; i < schema->field_count; i++) {
        if (schema->fields[i].key[0] != in->event.text[0] ||
            strcmp(schema->fields[i].key, in->event.text) != 0)
            continue;
        if (seen >> i & 1)
            return at_fail_at(in->err, in->event.source, "duplicate key \"%s\"", in->event.text);
        *index = i;
        return AT_OK;
    }
    list_keys(keys, sizeof keys, schema);
    return at_fail_at(in->err, in->event.source, "unknown key \"%.*s\"; expected one of %s",
                      AT_QUOTED(in->event.text, 60), keys);
}

static enum at_status fail_absent(const struct events *in, struct at_source start,
                                  const struct at_schema *schema, const struct at_field *field)
{
    if (field->kind == AT_FIELD_INT && field->min == field->max)
        return at_fail_at(in->err, start, "%s lacks the key \"%s\": write %s: %lld", schema->what,
                          field->key, field->key, (long long)field->min);
    return at_fail_at(in->err, start, "%s lacks the key \"%s\"", schema->what, field->key);
}

static enum at_status fill_absent(const struct events *in, struct at_source start,
                                  const struct at_schema *schema, void *record, uint64_t seen)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct at_field *field = &schema->fields[i];

        if (seen >> i & 1)
            continue;
        if (!field->optional)
            return fail_absent(in, start, schema, field);
        if (field->kind == AT_FIELD_INT || field->kind == AT_FIELD_HEX)
            *(int64_t *)at_field_slot(field, record) = field->absent;
    }
    return AT_OK;
}

static enum at_status read_mapping(struct events *in, const struct at_schema *schema, void *record)
{
    static read_fn *const readers[] = {
        [AT_FIELD_INT] = read_int,
        [AT_FIELD_HEX] = read_hex,
        [AT_FIELD_FLAG] = read_flag,
        [AT_FIELD_CHOICE] = read_choice,
        [AT_FIELD_CHARS] = read_chars,
        [AT_FIELD_TEXT] = read_text,
        [AT_FIELD_WORD] = read_text,
        [AT_FIELD_LOCATED] = read_located,
        [AT_FIELD_LOCATEDS] = read_list,
        [AT_FIELD_INTS] = read_list,
        [AT_FIELD_NAMED_INTS] = read_named_ints,
        [AT_FIELD_OBJECT] = read_object,
        [AT_FIELD_OBJECTS] = read_list,
    };
    struct at_source start = in->event.source;
    uint64_t seen = 0;
    size_t index;
    enum at_status status;

    if (schema->field_count > FIELDS_MAX)
        return at_fail(in->err, AT_INTERNAL, "%s has more than 64 fields", schema->what);
    if (in->event.kind != AT_EVENT_MAP)
        return fail_expected(in, schema->what, "keys and values");
    while ((status = events_next(in)) == AT_OK && in->event.kind != AT_EVENT_END) {
        const struct at_field *field;

        status = find_field(in, schema, seen, &index);
        if (status == AT_OK)
            status = events_next(in);
        if (status != AT_OK)
            return status;
        seen |= UINT64_C(1) << index;
        field = &schema->fields[index];
        status = readers[field->kind](in, field, at_field_slot(field, record));
        if (status != AT_OK)
            return status;
    }
    return status == AT_OK ? fill_absent(in, start, schema, record, seen) : status;
}

enum at_status at_schema_read(const struct at_schema *schema, void *record, const char *name,
                              const char *text, size_t size, struct at_error *err)
{
    struct events in;
    enum at_status status = events_open(&in, name, text, size, err);

    if (status != AT_OK)
        return status;
    status = events_next(&in);
    if (status == AT_OK)
        status = read_mapping(&in, schema, record);
    if (status == AT_OK)
        status = events_next(&in); /* refuses a second document */
    if (status != AT_OK)
        at_schema_clear(schema, record);
    events_close(&in);
    return status;
}

enum at_status at_schema_read_file(const struct at_schema *schema, void *record, const char *path,
                                   struct at_error *err)
{
    char *text;
    size_t size;
    enum at_status status = at_file_read_text(&text, &size, path, AT_SCHEMA_BYTES_MAX, err);

    if (status != AT_OK)
        return status;
    status = at_schema_read(schema, record, path, text, size, err);
    at_free(text);
    return status;
}
