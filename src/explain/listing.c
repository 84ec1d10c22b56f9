/* SPDX-License-Identifier: Apache-2.0 */
/* The source of a kernel with what its lines cost. */
#include "explain/explain.h"

#include "base/memory.h"
#include "explain/lines.h"
#include "schema/table.h"

#include <stdlib.h>
#include <string.h>

/* Lines that are shown before and after one that accesses memory. */
enum { AROUND = 3 };

/* A line, with the sums of its accesses. Absent figures are -1. */
struct listed {
    int64_t rank, share_permille, sectors, excess_sectors, conflicts, l1_hits_permille, line;
    const char *text; /* of the source; the list's end is that of the text */
};

#define FIGURE(member, title, ...)                                                                 \
    AT_ONLY_COLUMN(listed, member, AT_FIELD_INT, AT_OPTIONAL, .absent = -1,                        \
                   AT_COLUMN(0, title, __VA_ARGS__))

static const struct at_field listed_fields[] = {
    FIGURE(rank, "rank"),
    FIGURE(share_permille, "share", .per = 10, .digits = 1, .unit = "%"),
    FIGURE(sectors, "sectors"),
    FIGURE(excess_sectors, "excess"),
    FIGURE(conflicts, "conflicts"),
    FIGURE(l1_hits_permille, "in L1", .per = 10, .digits = 1, .unit = "%"),
    FIGURE(line, "line"),
    AT_ONLY_COLUMN(listed, text, AT_FIELD_TEXT, AT_COLUMN(0, "source")),
};
static const struct at_schema listed_schema = AT_SCHEMA("a line", listed, listed_fields);

/* ---- the lines of the source ---- */

static size_t count_lines(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += *text == '\n' || !text[1];
    return count;
}

/* Cut the text into lines, which have no figures yet. */
static struct listed *cut(char *text, size_t count)
{
    struct listed *lines = at_alloc_array(count, sizeof *lines);

    for (size_t i = 0; i < count; i++) {
        lines[i] = (struct listed){-1, -1, -1, -1, -1, -1, (int64_t)i + 1, text};
        text += strcspn(text, "\n");
        if (*text)
            *text++ = '\0';
    }
    return lines;
}

/* Add to a figure, which may be absent. */
static void add(int64_t *figure, int64_t more)
{
    *figure = (*figure < 0 ? 0 : *figure) + more;
}

/* The part of the loads' sectors that L1 had; of a line with several accesses, of all of them. */
static int64_t hits_of(const struct at_list *list, const char *file, int64_t line)
{
    const struct at_explained_line *lines = list->items;
    int64_t sectors = 0, hits = 0;

    for (size_t i = 0; i < list->count; i++)
        if (lines[i].line == line && strcmp(lines[i].file, file) == 0) {
            sectors += lines[i].l1_sectors;
            hits += lines[i].l1_hits;
        }
    return sectors > 0 ? (1000 * hits + sectors / 2) / sectors : -1;
}

static void add_access(struct listed *listed, const struct at_list *list,
                       const struct at_explained_line *line)
{
    if (line->share_permille >= 0)
        add(&listed->share_permille, line->share_permille);
    if (line->wavefronts > 0) {
        add(&listed->conflicts, line->wavefronts - line->least_wavefronts);
    } else {
        add(&listed->sectors, line->sectors);
        add(&listed->excess_sectors, line->sectors - line->least_sectors);
    }
    listed->l1_hits_permille = hits_of(list, line->file, line->line);
}

static bool is_ranked(const struct listed *line)
{
    return line->share_permille >= 0;
}

static void rank(struct listed *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_ranked(&lines[i]))
            continue;
        lines[i].rank = 1;
        for (size_t k = 0; k < count; k++)
            lines[i].rank += lines[k].share_permille > lines[i].share_permille ||
                             (k < i && lines[k].share_permille == lines[i].share_permille);
    }
}

static bool accesses(const struct listed *line)
{
    return line->sectors >= 0 || line->conflicts >= 0;
}

static bool is_near(const struct listed *lines, size_t count, size_t i)
{
    size_t first = i > AROUND ? i - AROUND : 0;

    for (size_t k = first; k <= i + AROUND && k < count; k++)
        if (accesses(&lines[k]))
            return true;
    return false;
}

/* Keep the lines around those that access memory, with a line of dots for what is left out. */
static size_t keep_near(struct listed *lines, size_t count)
{
    struct listed *kept = at_alloc_array(count, sizeof *kept);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (is_near(lines, count, i))
            kept[n++] = lines[i];
        else if (n > 0 && kept[n - 1].line >= 0)
            kept[n++] = (struct listed){-1, -1, -1, -1, -1, -1, -1, "..."};
    }
    n -= n > 0 && kept[n - 1].line < 0;
    memcpy(lines, kept, n * sizeof *kept);
    free(kept);
    return n;
}

void at_explanation_list(const struct at_explanation *e, const struct at_explained_text *source,
                         enum at_output_format format)
{
    const struct at_explained_line *accessed = e->lines.items;
    char *text = at_strdup(source->text);
    size_t count = count_lines(text);
    struct listed *lines = cut(text, count);

    for (size_t i = 0; i < e->lines.count; i++)
        if (at_explained_is_of(source, &accessed[i]) && (size_t)accessed[i].line <= count)
            add_access(&lines[accessed[i].line - 1], &e->lines, &accessed[i]);
    rank(lines, count);
    count = keep_near(lines, count);
    (void)at_print_list("lines", &listed_schema, lines, count, format, stdout, NULL);
    free(lines);
    free(text);
}
