/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, identifiers that are as unique as the problems' specifications; and other texts that are
 * safe in any language. */
#include "export/export.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/text_stream.h"

#include <stdlib.h>
#include <string.h>

/* Append a number to the key, unless it has the value of a dense matrix. */
static int add_number(char *key, int used, const char *letter, int64_t value, int64_t dense)
{
    if (value == dense)
        return used;
    return used + snprintf(key + used, (size_t)(AT_EXPORT_KEY_CHARS - used), "_%s%jd", letter,
                           (intmax_t)value);
}

/* The longest key of a tensor or of many matrices, but for its step. */
enum { LONG_KEY_CHARS = 160 };

/* Take a key, or if it is too long, a hash that stands for it. */
static void take_key(char key[AT_EXPORT_KEY_CHARS], const char *text, size_t size)
{
    char hash[AT_HASH_CHARS];

    if (size < LONG_KEY_CHARS) {
        memcpy(key, text, size + 1);
        return;
    }
    at_hash(hash, text, size);
    snprintf(key, LONG_KEY_CHARS, "%c_%s", *text, hash);
}

/* "6x5x8:f32,perm=021,strides_src=..." becomes "T6_5_8_B4_P021_SS...". Nothing but digits stays, so
 * the key is as unique as the specification. If it is too long, a hash stands for it. */
static void make_tensor_key(char key[AT_EXPORT_KEY_CHARS], const struct at_problem *problem,
                            const char *spec)
{
    static const struct {
        const char *name, *in_key;
    } parts[] = {{",perm=", "_P"},
                 {",strides_src=", "_SS"},
                 {",strides_dst=", "_SD"},
                 {",offset_src=", "_OS"},
                 {",offset_dst=", "_OD"}};
    const char *at = strchr(spec, ':');
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *text;
    size_t size;

    fputc('T', out);
    for (const char *c = spec; c < at; c++)
        fputc(*c == 'x' ? '_' : *c, out);
    fprintf(out, "_B%jd", (intmax_t)problem->elem_size);
    for (at += strcspn(at, ","); *at; at++) {
        for (size_t i = 0; i < AT_COUNT(parts); i++)
            if (strncmp(at, parts[i].name, strlen(parts[i].name)) == 0) {
                fputs(parts[i].in_key, out);
                at += strlen(parts[i].name);
            }
        fputc(*at >= '0' && *at <= '9' ? *at : '_', out);
    }
    text = at_text_close(&stream, &size);
    take_key(key, text, size);
    free(text);
}

static void to_capitals(char *text)
{
    for (; *text; text++)
        if (*text >= 'a' && *text <= 'z')
            *text = (char)(*text - 'a' + 'A');
}

/* "group=64,total=98304,cols=2880,law=zipf:bf16" becomes "G64_T98304_C2880_ZIPF_B2". */
static void make_group_key(char key[AT_EXPORT_KEY_CHARS], const struct at_problem *problem,
                           const char *spec)
{
    static const struct {
        const char *name, *in_key;
    } parts[] = {{"group=", "G"},  {",rows=", "_R"},     {",total=", "_T"}, {",cols=", "_C"},
                 {",law=", "_"},   {",multiple=", "_M"}, {",pad=", "_P"},   {",stack=1", "_ST"},
                 {",draw=", "_D"}, {"..", "_"},          {"+", "_AND"}};
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *text;
    size_t size;

    for (const char *at = spec; *at != ':';) {
        size_t i = 0;

        while (i < AT_COUNT(parts) && strncmp(at, parts[i].name, strlen(parts[i].name)) != 0)
            i++;
        if (i < AT_COUNT(parts)) {
            fputs(parts[i].in_key, out);
            at += strlen(parts[i].name);
            continue;
        }
        fputc(*at, out);
        at++;
    }
    fprintf(out, "_B%jd", (intmax_t)problem->elem_size);
    text = at_text_close(&stream, &size);
    to_capitals(text);
    take_key(key, text, size);
    free(text);
}

static void make_matrix_key(char key[AT_EXPORT_KEY_CHARS], const struct at_problem *problem)
{
    int used = snprintf(key, AT_EXPORT_KEY_CHARS, "R%jd_C%jd_B%jd", (intmax_t)problem->rows,
                        (intmax_t)problem->cols, (intmax_t)problem->elem_size);

    used = add_number(key, used, "LS", problem->ld_src, problem->cols);
    used = add_number(key, used, "LD", problem->ld_dst, problem->rows);
    used = add_number(key, used, "N", problem->batch, 1);
    used = add_number(key, used, "SS", problem->stride_src, problem->rows * problem->ld_src);
    used = add_number(key, used, "SD", problem->stride_dst, problem->cols * problem->ld_dst);
    used = add_number(key, used, "OS", problem->offset_src, 0);
    used = add_number(key, used, "OD", problem->offset_dst, 0);
    if (problem->in_place)
        snprintf(key + used, (size_t)(AT_EXPORT_KEY_CHARS - used), "_IP");
}

static void add_word(char key[AT_EXPORT_KEY_CHARS], const char *word)
{
    size_t used = strlen(key);

    snprintf(key + used, AT_EXPORT_KEY_CHARS - used, "_%s", word);
    to_capitals(key + used);
}

/* Sizes and strides, and of a step its types and operations: "R512_C512_B2_BF16_E4M3_SCALE". */
void at_export_make_key(char key[AT_EXPORT_KEY_CHARS], const struct at_problem *problem)
{
    struct at_problem moved = at_problem_as_given(problem);
    const struct at_step step = moved.step;
    char *spec;

    moved.step = (struct at_step){0};
    spec = at_problem_format(&moved);
    if (moved.groups.count > 0)
        make_group_key(key, &moved, spec);
    else if (moved.outer_count > 0)
        make_tensor_key(key, &moved, spec);
    else
        make_matrix_key(key, &moved);
    free(spec);
    if (!step.given)
        return;
    add_word(key, at_number_formats[step.from].name);
    add_word(key, at_number_formats[step.to].name);
    for (int i = 0; i < AT_OPERATIONS; i++)
        if (at_step_has(&step, (enum at_operation)i))
            add_word(key, i == AT_AMAX_NAN ? "nan" : at_operation_names[i]);
    if (at_step_has(&step, AT_BLOCKS)) {
        char blocks[64];

        snprintf(blocks, sizeof blocks, "%d_%d_%s_%s", (int)step.blocks.rows, (int)step.blocks.cols,
                 at_block_rules[step.blocks.rule].name, at_scale_layout_names[step.blocks.layout]);
        for (char *c = blocks; *c; c++)
            *c = *c == '-' ? '_' : *c;
        add_word(key, blocks);
    }
    if (at_step_has(&step, AT_BOTH))
        add_word(key, at_number_formats[step.kept].name);
    if (at_step_has(&step, AT_AFFINE) && problem->groups.count > 0) {
        if (at_problem_mixes_channels(problem))
            add_word(key, "rows");
    } else if (at_step_has(&step, AT_AFFINE)) {
        char channels[48]; /* their number, and how many results each has in a row */

        snprintf(channels, sizeof channels, "%jd_%jd", (intmax_t)step.channels.count,
                 (intmax_t)(step.channels.count == 1 ? 1 : step.channels.run));
        add_word(key, channels);
    }
}

/* ---- text that is safe in any language ---- */

/* No quotes, backslashes, '$', '#', '%', '?' (trigraphs) or '/' and '*' (ends of comments). */
static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ._+()-";

char *at_export_plain(const char *text)
{
    char *copy = at_strdup(text);

    for (char *c = copy; *c; c++)
        if (!strchr(plain, *c))
            *c = '_';
    return copy;
}
