/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as YAML: where lines.c reads them, libyaml sees the same lists, mappings and texts in
 * the same places. */
#include "base/memory.h"
#include "schema/lines.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    bool counts; /* else the tokens say nothing of it */
    enum at_event_kind kind;
} kinds[] = {
    [YAML_SCALAR_EVENT] = {true, AT_EVENT_SCALAR},
    [YAML_SEQUENCE_START_EVENT] = {true, AT_EVENT_LIST},
    [YAML_SEQUENCE_END_EVENT] = {true, AT_EVENT_END},
    [YAML_MAPPING_START_EVENT] = {true, AT_EVENT_MAP},
    [YAML_MAPPING_END_EVENT] = {true, AT_EVENT_END},
    [YAML_STREAM_END_EVENT] = {true, AT_EVENT_EOF},
};

static bool is_same_scalar(const struct at_token *token, const char *text,
                           const yaml_event_t *event)
{
    static const enum at_scalar_style styles[] = {
        [YAML_PLAIN_SCALAR_STYLE] = AT_SCALAR_PLAIN,
        [YAML_SINGLE_QUOTED_SCALAR_STYLE] = AT_SCALAR_QUOTED,
        [YAML_DOUBLE_QUOTED_SCALAR_STYLE] = AT_SCALAR_QUOTED,
        [YAML_FOLDED_SCALAR_STYLE] = AT_SCALAR_FOLDED,
    };
    char *value = token->style == AT_SCALAR_FOLDED ? at_lines_join(text, token)
                                                   : at_strndup(text + token->at, token->size);
    bool same = !event->data.scalar.anchor && !event->data.scalar.tag &&
                token->style == styles[event->data.scalar.style] &&
                strcmp(value, (const char *)event->data.scalar.value) == 0;

    at_free(value);
    return same;
}

/* libyaml gives the place of a quote, and of the '>' of a folded text. */
static bool is_same_place(const struct at_token *token, const yaml_mark_t *mark)
{
    if (token->kind == AT_EVENT_SCALAR && token->style == AT_SCALAR_FOLDED)
        return token->line == mark->line + 2;
    return token->line == mark->line + 1 &&
           token->column == mark->column + 1 + (token->style == AT_SCALAR_QUOTED);
}

static bool is_same(const struct at_token *token, const char *text, const yaml_event_t *event)
{
    if (token->kind != kinds[event->type].kind)
        return false;
    if (token->kind == AT_EVENT_END || token->kind == AT_EVENT_EOF)
        return true;
    return (token->kind != AT_EVENT_SCALAR || is_same_scalar(token, text, event)) &&
           is_same_place(token, &event->start_mark);
}

/* The next event that tokens tell of. */
static void next_event(yaml_parser_t *parser, yaml_event_t *event)
{
    do {
        if (!yaml_parser_parse(parser, event)) {
            fprintf(stderr, "libyaml: %s\n", parser->problem);
            abort();
        }
        if (kinds[event->type].counts)
            return;
        yaml_event_delete(event);
    } while (true);
}

static void compare(const struct at_token *tokens, const char *text, size_t size)
{
    yaml_parser_t parser;
    yaml_event_t event;
    bool more = true;

    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    for (const struct at_token *token = tokens; more; token++) {
        next_event(&parser, &event);
        if (!is_same(token, text, &event)) {
            fprintf(stderr, "line %u, column %d: libyaml has event %d at %zu:%zu\n", token->line,
                    token->column, (int)event.type, event.start_mark.line + 1,
                    event.start_mark.column + 1);
            abort();
        }
        more = token->kind != AT_EVENT_EOF;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = at_alloc(size + 1);
    struct at_token *tokens;

    if (size > 0)
        memcpy(text, data, size);
    tokens = at_lines_split(text, size);
    if (tokens)
        compare(tokens, text, size);
    at_free(tokens);
    at_free(text);
    return 0;
}
