/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that describe the content of files. One table per record drives its YAML reader, YAML
 * writer, JSON writer, printing and clearing, so that they always agree.
 *
 * Reading is strict: at most 4 MiB and 16 levels; no anchors, aliases, tags, directives or second
 * document. Duplicate, unknown and missing keys, and values out of bounds, are AT_USAGE, with
 * file:line:column and the expected value. Numbers are integers. The locale has no effect. Keys may
 * be in any order.
 *
 * Writing gives the same bytes for the same record: fields are in the order of the table. A number
 * out of bounds could not be read back, so writing it fails. A field with both bounds 0 has none;
 * it can only be written. */
#ifndef AT_SCHEMA_SCHEMA_H
#define AT_SCHEMA_SCHEMA_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum at_field_kind {
    AT_FIELD_INT,        /* int64_t within min..max */
    AT_FIELD_HEX,        /* the same, hexadecimal: 0x233510de; in JSON a string */
    AT_FIELD_FLAG,       /* bool: true, false */
    AT_FIELD_CHOICE,     /* int: an index into `words` */
    AT_FIELD_CHARS,      /* char[max]: printable text of one line, at most max - 1 bytes */
    AT_FIELD_TEXT,       /* char *: printable text of one line, at most max bytes */
    AT_FIELD_WORD,       /* char *: letters, digits, '_', '-', '.', '+'; at most 63 bytes */
    AT_FIELD_LOCATED,    /* struct at_located */
    AT_FIELD_LOCATEDS,   /* struct at_list of struct at_located, min..max of them */
    AT_FIELD_INTS,       /* struct at_list of int64_t, min..max of them */
    AT_FIELD_NAMED_INTS, /* struct at_list of at_named_ints_copy, min..max of them: a mapping */
    AT_FIELD_OBJECT,     /* the record of `object`, in place */
    AT_FIELD_OBJECTS,    /* struct at_list of records of `object`, min..max of them */
    AT_FIELD_REAL,       /* double, in tables alone; NAN: absent */
};

struct at_list {
    void *items;
    size_t count;
};

/* Text with its position in the file, for messages about its meaning. Text on several lines below
 * '>-' keeps its line breaks, and all lines begin in that column. */
struct at_located {
    char *text;
    int line, column;
};

struct at_named_int {
    char *name;
    int64_t value;
};

/* Copy named integers into a list of one block, which also has the names: at_free(list.items) frees
 * all of it. */
struct at_list at_named_ints_copy(const struct at_named_int *from, size_t count);

/* The column of a field in a table (schema/print.h). */
struct at_column {
    const char *title; /* NULL: none */
    int place;   /* columns stand in this order; those of the same place in the fields' order */
    int64_t per; /* INT: the value is shown divided by this; 0: as it is */
    int digits;  /* after the decimal point, of a divided value */
    const char *unit;    /* INT: follows the number; NULL: nothing */
    const char *missing; /* the text for an absent optional value; NULL: none */
};

struct at_field {
    const char *key;
    enum at_field_kind kind;
    size_t offset;
    int64_t min, max;
    bool optional; /* may be missing; read as `absent` (INT) or zero, which is not written */
    int64_t absent;
    bool word;                /* CHARS: as in AT_FIELD_WORD */
    const char *const *words; /* CHOICE: `max` of them; NULL: none, only if the field is optional */
    const struct at_schema *object;
    struct at_column column;
    bool only_column; /* in tables alone: neither YAML nor JSON has it, and it is not cleared */
};

struct at_schema {
    const char *what; /* "a profile", for messages */
    size_t size;      /* of the record */
    const struct at_field *fields;
    size_t field_count; /* at most 64 */
};

/* Is the text 1 to 63 letters, digits, '_', '-', '.' or '+'? text is NUL-terminated. */
bool at_text_is_word(const char *text, size_t size);

/* Enough for a profile of 2400 problems with measurements, which opens in 0.1 s. */
enum { AT_SCHEMA_BYTES_MAX = 4 << 20, AT_SCHEMA_DEPTH_MAX = 16 };

/* Read text (size bytes) into the zeroed record. name is the file's, for messages. On failure the
 * record is cleared. */
enum at_status at_schema_read(const struct at_schema *schema, void *record, const char *name,
                              const char *text, size_t size, struct at_error *err);

/* The same from a file. */
enum at_status at_schema_read_file(const struct at_schema *schema, void *record, const char *path,
                                   struct at_error *err);

/* Write the record as block-style YAML, through libyaml's emitter. AT_INTERNAL if a value is out of
 * bounds, or out fails and is not stdout: what that does not take is reported when the program
 * ends. */
enum at_status at_schema_write_yaml(const struct at_schema *schema, const void *record, FILE *out,
                                    struct at_error *err);

/* The same as JSON with the same keys, and a newline at the end. */
enum at_status at_schema_write_json(const struct at_schema *schema, const void *record, FILE *out,
                                    struct at_error *err);

/* The same on one line (JSON Lines). */
enum at_status at_schema_write_json_line(const struct at_schema *schema, const void *record,
                                         FILE *out, struct at_error *err);

/* Free the data of the record, and zero it. */
void at_schema_clear(const struct at_schema *schema, void *record);

/* The same for `count` records, which are freed. */
void at_schema_clear_records(const struct at_schema *schema, void *records, size_t count);

#endif
