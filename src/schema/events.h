/* SPDX-License-Identifier: Apache-2.0 */
/* The part of YAML that our files use, as a sequence of events with their places. What a file of
 * data has no need of (anchors, aliases, tags, directives, a second document, more than 16 levels,
 * unprintable text) is refused here, so that the reader never meets it. */
#ifndef AT_SCHEMA_EVENTS_H
#define AT_SCHEMA_EVENTS_H

#include "base/error.h"
#include "base/guard.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

enum at_event_kind {
    AT_EVENT_SCALAR,
    AT_EVENT_MAP,  /* its keys and values follow, then END */
    AT_EVENT_LIST, /* its items follow, then END */
    AT_EVENT_END,
    AT_EVENT_EOF,
};

struct at_event {
    enum at_event_kind kind;
    struct at_source source;
    const char *text; /* of a SCALAR, until the next event; NULL for the others */
    size_t size;
    bool plain;         /* a SCALAR without quotes */
    bool one_line;      /* a SCALAR whose text is where `source` says */
    const char *folded; /* a SCALAR after '>': its first line in the file, where `source` says */
};

struct at_events {
    struct at_event event; /* the current one */
    struct at_error *err;  /* gets the reasons of all failures */
    const char *name;
    char *text;
    int depth, documents;
    yaml_parser_t parser;
    yaml_event_t raw;
    struct at_cleanup cleanup;
};

/* Starts on a text; name is borrowed until at_events_close, and the struct stays where it is. There
 * is no current event yet. */
enum at_status at_events_open(struct at_events *events, const char *name, const char *text,
                              size_t size, struct at_error *err);
void at_events_close(struct at_events *events);

/* Makes the next event the current one. */
enum at_status at_events_next(struct at_events *events);

#endif
