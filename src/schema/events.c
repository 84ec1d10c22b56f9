/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/events.h"

#include "base/memory.h"
#include "base/printable.h"
#include "schema/schema.h"

#include <string.h>

static struct at_source source_of(const struct at_events *events, yaml_mark_t mark)
{
    return (struct at_source){events->name, (int)mark.line + 1, (int)mark.column + 1};
}

/* The position of a byte: libyaml gives no line number for bytes that it cannot decode. */
static struct at_source source_of_byte(const struct at_events *events, size_t offset)
{
    struct at_source source = {events->name, 1, 1};

    for (size_t i = 0; i < offset; i++) {
        source.column++;
        if (events->text[i] == '\n') {
            source.line++;
            source.column = 1;
        }
    }
    return source;
}

static void delete_parser(void *data)
{
    struct at_events *events = data;

    yaml_event_delete(&events->raw);
    yaml_parser_delete(&events->parser);
}

enum at_status at_events_open(struct at_events *events, const char *name, const char *text,
                              size_t size, struct at_error *err)
{
    *events = (struct at_events){.name = name, .err = err};
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

void at_events_close(struct at_events *events)
{
    if (!events->tokens) {
        at_cleanup_pop(&events->cleanup);
        delete_parser(events);
    }
    at_free(events->joined);
    at_free(events->tokens);
    at_free(events->text);
}

static enum at_status fail_syntax(const struct at_events *events)
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
static const char *refusal(const struct at_events *events, const yaml_event_t *raw)
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
static void take_folded(const struct at_events *events, struct at_event *event)
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

static void take_scalar(const struct at_events *events, struct at_event *event,
                        const yaml_event_t *raw)
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

static void take_token(struct at_events *events)
{
    const struct at_token *token = events->token;
    char *text = events->text + token->at;
    bool folded = token->style == AT_SCALAR_FOLDED;

    at_free(events->joined);
    events->joined = folded ? at_lines_join(events->text, token) : NULL;
    events->event = (struct at_event){
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

static enum at_status parse_next(struct at_events *events)
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
    events->event = (struct at_event){.kind = kinds[raw->type].kind,
                                      .source = source_of(events, raw->start_mark)};
    if (raw->type == YAML_SCALAR_EVENT)
        take_scalar(events, &events->event, raw);
    return AT_OK;
}

enum at_status at_events_next(struct at_events *events)
{
    if (!events->tokens)
        return parse_next(events);
    take_token(events);
    return AT_OK;
}
