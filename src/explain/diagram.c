/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/diagram.h"
#include "cache/level.h"

#include "base/flow.h"
#include "base/memory.h"
#include "system/streams.h"

#include <stdio.h>
#include <stdlib.h>

enum { AMOUNT = 16, WIDTH = 80, INDENT = 4 };

/* "4.19 MB" */
static const char *amount(char text[AMOUNT], int64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 999.995 && unit + 1 < AT_COUNT(units)) {
        value /= 1000;
        unit++;
    }
    snprintf(text, AMOUNT, "%.*f %s", unit ? 2 : 0, value, units[unit]);
    return text;
}

static double percent(int64_t part, int64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

/* What flows in one direction, above or below the arrows. */
static void draw_amounts(int64_t threads, int64_t l2, int64_t dram)
{
    char a[AMOUNT], b[AMOUNT], c[AMOUNT];

    printf("          %9s  +-----------+ %9s  +-----------+ %9s  +------+\n", amount(a, threads),
           amount(b, l2), amount(c, dram));
}

static void draw_boxes(const struct at_explained_caches *c)
{
    puts("  threads <----------|    L1     |<-----------|    L2     |<-----------|      |");
    printf("          ---------->|%5.1f%% hits|----------->|%5.1f%% hits|----------->| DRAM |\n",
           percent(c->l1_hits, c->l1_sectors), percent(c->l2_hits, c->l2_sectors));
}

static void draw_peaks(const struct at_explained_caches *c)
{
    if (c->l1_peak_permille >= 0)
        printf("  of peak: %8.1f%%  %13s%9.1f%%  %13s%9.1f%%\n", (double)c->l1_peak_permille / 10,
               "", (double)c->l2_peak_permille / 10, "", (double)c->dram_peak_permille / 10);
}

static void say(char *text)
{
    at_flow_words(stdout, at_streams_text_width(WIDTH), INDENT, text);
    free(text);
}

static void tell_rest(const struct at_explanation *e)
{
    const struct at_explained_caches *c = &e->caches;
    char left[AMOUNT], warm[AMOUNT];

    say(at_format("  L1: %jd KiB per multiprocessor, beside %jd KiB of shared memory; L2: %.0f MiB "
                  "that all can use; its hits include all stores",
                  (intmax_t)(c->l1_bytes >> 10), (intmax_t)(c->carveout_bytes >> 10),
                  (double)c->l2_bytes / (1 << 20)));
    if (c->left_in_l2_bytes > 0)
        say(at_format("  at the end, %s of what was written are in L2 and not yet in DRAM",
                      amount(left, c->left_in_l2_bytes)));
    if (c->warm_dram_to_l2_bytes >= 0)
        say(at_format("  launched again at once, it reads %s from DRAM",
                      amount(warm, c->warm_dram_to_l2_bytes)));
    if (c->blocks < e->blocks)
        say(at_format("  a sample: %jd blocks side by side, scaled to the grid",
                      (intmax_t)c->blocks));
}

void at_explain_draw(const struct at_explanation *e)
{
    const struct at_explained_caches *c = &e->caches;

    if (c->blocks == 0) {
        puts("\n  caches: not counted, a wave makes too many requests to keep");
        return;
    }
    puts("\n  what flows, with an empty L2 at the start:");
    draw_amounts(AT_CACHE_SECTOR_BYTES * c->l1_sectors, c->l2_to_l1_bytes, c->dram_to_l2_bytes);
    draw_boxes(c);
    draw_amounts(c->l1_to_l2_bytes, c->l1_to_l2_bytes, c->l2_to_dram_bytes);
    draw_peaks(c);
    tell_rest(e);
}
