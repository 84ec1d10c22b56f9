/* SPDX-License-Identifier: Apache-2.0 */
/* Parses YAML into events with their positions. Features that data files do not need are refused
 * here, so that the reader never sees them: anchors, aliases, tags, directives, a second document,
 * more than 16 levels, unprintable text. */
#ifndef AT_SCHEMA_EVENTS_H
#define AT_SCHEMA_EVENTS_H

#include "base/error.h"
#include "base/guard.h"
#include "schema/lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

struct at_event {
    enum at_event_kind kind;
    struct at_source source; /* of an END none */
    const char *text;        /* of a SCALAR, valid until the next event; else NULL */
    size_t size;
    bool plain;         /* a SCALAR without quotes */
    bool one_line;      /* a SCALAR on one line, which begins at `source` */
    const char *folded; /* of a SCALAR after '>': its first line in the file, at `source` */
};

struct at_events {
    struct at_event event; /* the current one */
    struct at_error *err;  /* filled by all failures */
    const char *name;
    char *text;
    struct at_token *tokens, *token; /* all, and the next one; NULL: libyaml reads the text */
    char *joined;                    /* the current event's text, if it was folded */
    int depth, documents;
    yaml_parser_t parser;
    yaml_event_t raw;
    struct at_cleanup cleanup;
};

/* Start parsing a text, without a current event yet. name is borrowed, and the struct must not
 * move, until at_events_close. */
enum at_status at_events_open(struct at_events *events, const char *name, const char *text,
                              size_t size, struct at_error *err);
void at_events_close(struct at_events *events);

/* Advance to the next event. */
enum at_status at_events_next(struct at_events *events);

#endif
