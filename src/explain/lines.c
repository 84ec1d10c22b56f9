/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/lines.h"

#include "base/memory.h"
#include "emulated/caches/hierarchy.h"
#include "emulated/machine/op.h"
#include "kernel/render.h"
#include "system/paths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- collecting ---- */

/* The line of the template: code inlined from the templates' header counts for the calling line. */
void at_line_set_place(struct at_explained_line *line, const struct at_counted *counted,
                       size_t instruction)
{
    struct at_ptx_source place, caller;

    at_ptx_instruction_source(counted->kernel, instruction, &place, &caller);
    if (counted->header && at_template_header_has(counted->header, at_path_name(place.file)))
        place = caller;
    snprintf(line->file, sizeof line->file, "%s", at_path_name(place.file));
    line->line = place.line;
}

static void name_access(char name[32], const struct at_access_counts *counts)
{
    const char *way = counts->store ? "store" : "load";

    if (counts->atomic)
        way = "atomic";
    if (counts->shared && counts->past_l1)
        way = "copy";
    snprintf(name, 32, "%s %s", way, counts->shared ? "shared" : "global");
}

static int by_place(const void *left, const void *right)
{
    const struct at_explained_line *a = left, *b = right;
    int order = strcmp(a->file, b->file);

    if (order == 0)
        order = (a->line > b->line) - (a->line < b->line);
    if (order == 0)
        order = strcmp(a->access, b->access);
    if (order == 0)
        order = (a->bytes > b->bytes) - (a->bytes < b->bytes);
    return order;
}

/* The cost of a request: sectors or wavefronts. */
static double cost_of(const struct at_explained_line *line)
{
    return (double)(line->sectors + line->wavefronts) / (double)line->requests;
}

/* The bytes of global memory that a request wants. */
static double wanted_of(const struct at_explained_line *line)
{
    return (double)line->wanted_bytes / (double)line->requests;
}

static int by_place_and_cost(const void *left, const void *right)
{
    double a = cost_of(left), b = cost_of(right);
    int order = by_place(left, right);

    if (order == 0)
        order = (a > b) - (a < b);
    return order ? order
                 : (wanted_of(left) > wanted_of(right)) - (wanted_of(left) < wanted_of(right));
}

enum { ALIKE_PERCENT = 120 };

/* Whether two accesses of one place are shown as one. Those of an unrolled loop cost nearly the
 * same, and want as much; one that begins within a sector, beside one that does not, costs a
 * quarter more. Accesses that cost the same for different reasons want different amounts. */
static bool are_alike(const struct at_explained_line *cheaper,
                      const struct at_explained_line *dearer)
{
    double a = wanted_of(cheaper), b = wanted_of(dearer);

    return by_place(cheaper, dearer) == 0 &&
           100 * cost_of(dearer) <= ALIKE_PERCENT * cost_of(cheaper) &&
           100 * fmax(a, b) <= ALIKE_PERCENT * fmin(a, b);
}

static void add_counts(struct at_explained_line *line, const struct at_explained_line *more)
{
    if (line->request.lanes == 0)
        line->request = more->request;
    line->is_held = line->is_held || more->is_held || line->stores_before != more->stores_before;
    line->copies += more->copies;
    line->requests += more->requests;
    line->wanted_bytes += more->wanted_bytes;
    line->sectors += more->sectors;
    line->l1_lines += more->l1_lines;
    line->tag_sectors += more->tag_sectors;
    line->least_sectors += more->least_sectors;
    line->wavefronts += more->wavefronts;
    line->least_wavefronts += more->least_wavefronts;
    line->l1_sectors += more->l1_sectors;
    line->l1_hits += more->l1_hits;
    line->l2_sectors += more->l2_sectors;
    line->l2_hits += more->l2_hits;
}

static void take_hits(struct at_explained_line *line, const struct at_cache_hits *hits)
{
    line->l1_sectors = hits->l1_sectors;
    line->l1_hits = hits->l1_hits;
    line->l2_sectors = hits->l2_sectors;
    line->l2_hits = hits->l2_hits;
}

/* Make a line per instruction and memory, then add up the lines of one place that are alike. */
struct at_list at_lines_collect(const struct at_counted *counted)
{
    size_t count = 0, kept = 0, stores = 0, instructions = counted->kernel->op_count;
    struct at_explained_line *lines = at_alloc_array(2 * instructions, sizeof *lines);

    for (size_t i = 0; i < 2 * instructions; i++) {
        const struct at_access_counts *counts = &counted->counts->accesses[i / 2][i % 2];
        struct at_explained_line *line = &lines[count];

        stores += i % 2 == 0 && counts->requests > 0 && (counts->store || counts->atomic);
        if (counts->requests == 0)
            continue;
        count++;
        line->copies = 1;
        line->stores_before =
            counted->kernel->ops[i / 2].order & AT_EMU_READ_ONLY_LOAD ? 0 : stores;
        at_line_set_place(line, counted, i / 2);
        name_access(line->access, counts);
        line->bytes = counts->bytes;
        line->requests = counts->requests;
        line->wanted_bytes = counts->wanted_bytes;
        line->sectors = counts->sectors;
        line->l1_lines = counts->lines;
        line->tag_sectors = counts->tag_sectors;
        line->least_sectors = counts->least_sectors;
        line->wavefronts = counts->wavefronts;
        line->least_wavefronts = counts->least_wavefronts;
        line->request = *at_requests_of(counted->requests, i / 2, counts->shared);
        if (!counts->shared)
            take_hits(line, &counted->hits[i / 2]);
    }
    qsort(lines, count, sizeof *lines, by_place_and_cost);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && are_alike(&lines[kept - 1], &lines[i]))
            add_counts(&lines[kept - 1], &lines[i]);
        else
            lines[kept++] = lines[i];
    }
    return (struct at_list){lines, kept};
}

/* ---- what a line costs beside the others ---- */

/* Of operations that all multiprocessors share. */
static double shared_ns(const struct at_device_info *device, const struct at_rates *rates,
                        int64_t count, int64_t per_clock)
{
    return at_clocked_ns(rates, (double)count / (double)device->multiprocessors, per_clock);
}

static double missed(int64_t hits, int64_t sectors)
{
    return sectors > 0 ? 1 - (double)hits / (double)sectors : 1;
}

/* In nanoseconds, of the counted blocks. What is stored goes to DRAM once, however often L2 gets
 * its sectors. */
static double busy_ns(const struct at_explained_line *line, const struct at_device_info *device,
                      const struct at_rates *rates)
{
    bool loads = strncmp(line->access, "load", 4) == 0;
    double l2_bytes =
        AT_CACHE_SECTOR_BYTES * (double)line->sectors * missed(line->l1_hits, line->l1_sectors);
    double dram_bytes =
        loads ? l2_bytes * missed(line->l2_hits, line->l2_sectors) : (double)line->wanted_bytes;

    if (line->wavefronts > 0)
        return shared_ns(device, rates, line->wavefronts, rates->wavefronts_per_clock);
    return fmax(
        shared_ns(device, rates, line->l1_lines,
                  loads ? rates->load_lines_per_clock : rates->store_lines_per_clock),
        fmax(l2_bytes * 1e3 / (double)(loads ? rates->l2_load_MB_per_s : rates->l2_store_MB_per_s),
             dram_bytes * 1e3 / (double)rates->dram_MB_per_s));
}

void at_lines_set_shares(struct at_list *list, const struct at_device_info *device,
                         const struct at_rates *rates)
{
    struct at_explained_line *lines = list->items;
    double all = 0;

    for (size_t i = 0; i < list->count; i++) {
        lines[i].share_permille = -1;
        all += rates ? busy_ns(&lines[i], device, rates) : 0;
    }
    for (size_t i = 0; i < list->count && all > 0; i++)
        lines[i].share_permille = (int64_t)(1000 * busy_ns(&lines[i], device, rates) / all + 0.5);
}

/* ---- its source ---- */

bool at_explained_is_of(const struct at_explained_text *source,
                        const struct at_explained_line *line)
{
    return line->line >= 1 && strcmp(at_path_name(source->path), line->file) == 0;
}

char *at_explained_source(const struct at_explained_text *source,
                          const struct at_explained_line *line)
{
    const char *text = source->text;

    if (!at_explained_is_of(source, line))
        return at_strdup("");
    for (int64_t i = 1; i < line->line && *text; i++) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    text += strspn(text, " ");
    return at_strndup(text, strcspn(text, "\n"));
}
