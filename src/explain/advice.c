/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/advice.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the lines of an explanation add up to. */
struct way_sums {
    double requests, sectors, lines;
};
struct sums {
    struct way_sums load, store;
    double wavefronts;
};

/* The widest access of a lane in bytes, the lanes of a warp, and the sectors of a line. */
enum { WIDEST = 16, LANES = 32, LINE_SECTORS = 4 };

static bool is_global(const struct at_explained_line *line, const char *way)
{
    size_t length = strlen(way);

    return strncmp(line->access, way, length) == 0 && strcmp(line->access + length, " global") == 0;
}

static bool is_shared(const struct at_explained_line *line)
{
    return line->wavefronts > 0;
}

/* About how many lines of 128 bytes the requests touch: one for each sector, if each element is in
 * a sector of its own. */
static double lines_of(const struct at_explained_line *line)
{
    double elements = (double)line->wanted_bytes / (double)line->bytes;

    return (double)line->sectors > 0.98 * elements
               ? (double)line->sectors
               : fmax((double)line->requests, (double)line->sectors / LINE_SECTORS);
}

static void add_to(struct way_sums *sums, const struct at_explained_line *line)
{
    sums->requests += (double)line->requests;
    sums->sectors += (double)line->sectors;
    sums->lines += lines_of(line);
}

static struct sums sum_up(const struct at_explanation *e)
{
    const struct at_explained_line *lines = e->lines.items;
    struct sums sums = {0};

    for (size_t i = 0; i < e->lines.count; i++) {
        if (is_global(&lines[i], "load"))
            add_to(&sums.load, &lines[i]);
        else if (is_global(&lines[i], "store"))
            add_to(&sums.store, &lines[i]);
        sums.wavefronts += (double)lines[i].wavefronts;
    }
    return sums;
}

/* ---- the repairs ---- */

/* A repair, and the line where it gains most. */
struct candidate {
    struct at_repair repair;
    const struct at_explained_line *line; /* NULL: the kernel as a whole */
    double cost;                          /* of the fault there */
};

/* Note a line with the fault, which costs so much there. */
static void note(struct candidate *found, const struct at_explained_line *line, double cost)
{
    if (cost > found->cost) {
        found->cost = cost;
        found->line = line;
    }
}

/* Figures that differ by less are taken as equal: blocks at the edges differ a little. */
static const double slack = 1.1;

/* The sectors' worth of bytes that a load brings and nothing wants. What is wanted later hits L1.
 */
static double unused_of(const struct at_explained_line *line)
{
    double hits = line->l1_sectors > 0 ? (double)line->l1_hits / (double)line->l1_sectors : 1;

    return (double)(line->sectors - line->least_sectors) * (1 - hits);
}

/* Do threads make only so few requests of this line that wider ones take fewer threads? */
static bool is_once(const struct at_explanation *e, const struct at_explained_line *line)
{
    int64_t warps = (e->threads + LANES - 1) / LANES * e->blocks_counted;

    return line->requests < 2 * warps;
}

/* If lanes walk along runs of their own, what a request leaves of its sectors is in L1 for the next
 * ones. Coalesced, such a run is the work of several lanes. Return how many times as many blocks
 * that makes, up to a wave of them; 0 if the grid has a wave already. */
static double walk_blocks(const struct at_explanation *e, const struct at_explained_line *line)
{
    bool is_walk = !is_once(e, line) && 2 * line->l1_hits > line->l1_sectors;
    double lanes = (double)line->sectors / (double)line->least_sectors;
    double times = fmin(lanes, (double)e->wave_blocks / (double)e->blocks);

    return is_walk && times > 1 ? times : 0;
}

/* Requests that need more sectors than their bytes fill. */
static void coalesce(const struct at_explanation *e, const struct way_sums *sums, const char *way,
                     struct candidate *found, struct at_repaired_way *repair)
{
    const struct at_explained_line *lines = e->lines.items;

    for (size_t i = 0; i < e->lines.count; i++) {
        const struct at_explained_line *line = &lines[i];
        double saved = (double)(line->sectors - line->least_sectors);
        double least_lines = (double)line->least_sectors / LINE_SECTORS;

        if (!is_global(line, way) || (double)line->sectors < slack * (double)line->least_sectors)
            continue;
        note(found, line, saved);
        repair->sectors += saved / sums->sectors;
        repair->lines += fmax(0, lines_of(line) - least_lines) / sums->lines;
        repair->bytes += unused_of(line) / sums->sectors;
        found->repair.blocks = fmax(found->repair.blocks, walk_blocks(e, line));
    }
    repair->whole = repair->sectors > 0.4;
}

static void coalesce_all(const struct at_explanation *e, const struct sums *sums,
                         struct candidate *found)
{
    coalesce(e, &sums->load, "load", found, &found->repair.load);
    coalesce(e, &sums->store, "store", found, &found->repair.store);
}

static void avoid_conflicts(const struct at_explanation *e, const struct sums *sums,
                            struct candidate *found)
{
    const struct at_explained_line *lines = e->lines.items;

    for (size_t i = 0; i < e->lines.count; i++) {
        double saved = (double)(lines[i].wavefronts - lines[i].least_wavefronts);

        if (!is_shared(&lines[i]) ||
            (double)lines[i].wavefronts < slack * (double)lines[i].least_wavefronts)
            continue;
        note(found, &lines[i], saved);
        found->repair.wavefronts += saved / sums->wavefronts;
    }
}

/* Issue slots of an access: its own, and about two for its address. */
enum { ACCESS_SLOTS = 3 };

/* Requests whose lanes want adjacent bytes, but few each. */
static void widen(const struct at_explanation *e, const struct way_sums *sums, const char *way,
                  struct candidate *found, struct at_repaired_way *repair)
{
    const struct at_explained_line *lines = e->lines.items;

    for (size_t i = 0; i < e->lines.count; i++) {
        const struct at_explained_line *line = &lines[i];
        double saved = (double)line->requests * (1 - (double)line->bytes / WIDEST);

        if (!is_global(line, way) || line->bytes >= WIDEST ||
            (double)line->sectors > slack * (double)line->least_sectors ||
            slack * (double)line->wanted_bytes < (double)(LANES * line->bytes * line->requests))
            continue;
        note(found, line, saved);
        if (is_once(e, line))
            found->repair.blocks = fmax(found->repair.blocks, (double)line->bytes / WIDEST);
        repair->requests += saved / sums->requests;
        found->repair.slots += ACCESS_SLOTS * saved / (double)e->blocks_counted;
    }
}

static void widen_all(const struct at_explanation *e, const struct sums *sums,
                      struct candidate *found)
{
    widen(e, &sums->load, "load", found, &found->repair.load);
    widen(e, &sums->store, "store", found, &found->repair.store);
    found->repair.load_rounds = found->repair.load.requests;
}

/* Loads of an unrolled loop that are in flight together. */
enum { IN_FLIGHT = 4 };

static void load_ahead(const struct at_explanation *e, const struct sums *sums,
                       struct candidate *found)
{
    const struct at_explained_line *lines = e->lines.items;

    (void)sums;
    for (size_t i = 0; i < e->lines.count; i++)
        if (is_global(&lines[i], "load"))
            note(found, &lines[i], (double)lines[i].requests);
    found->repair.load_rounds = 1 - 1.0 / IN_FLIGHT;
}

/* Loads in an unrolled loop wait for the stores between them, if their addresses might be equal for
 * all that the compiler knows. */
static void tell_apart(const struct at_explanation *e, const struct sums *sums,
                       struct candidate *found)
{
    const struct at_explained_line *lines = e->lines.items;

    (void)sums;
    for (size_t i = 0; i < e->lines.count; i++)
        if (is_global(&lines[i], "load") && lines[i].is_held && lines[i].copies >= IN_FLIGHT)
            note(found, &lines[i], (double)lines[i].requests);
    if (found->line)
        found->repair.load_rounds = 1 - 1 / (double)found->line->copies;
}

static void part_ways(const struct at_explanation *e, const struct sums *sums,
                      struct candidate *found)
{
    (void)sums;
    found->line = &e->idlest;
    found->repair.idle = 1;
}

static void fill(const struct at_explanation *e, const struct sums *sums, struct candidate *found)
{
    (void)sums;
    if (e->occupancy_percent > 0 && e->occupancy_percent < 100)
        found->repair.residents = 100 / (double)e->occupancy_percent;
}

static int64_t multiprocessors_of(const struct at_explanation *e)
{
    return e->occupancy_blocks > 0 ? e->wave_blocks / e->occupancy_blocks : 0;
}

static void level(const struct at_explanation *e, const struct sums *sums, struct candidate *found)
{
    (void)sums;
    if (e->wave_blocks == 0 || e->tail_blocks == e->wave_blocks)
        return;
    found->repair.even = true;
    if (e->blocks < multiprocessors_of(e))
        found->repair.blocks = (double)multiprocessors_of(e) / (double)e->blocks;
}

static void keep_in_registers(const struct at_explanation *e, const struct sums *sums,
                              struct candidate *found)
{
    (void)sums;
    found->repair.slots = ACCESS_SLOTS * (double)e->local_requests / (double)e->blocks_counted;
}

static void reduce_first(const struct at_explanation *e, const struct sums *sums,
                         struct candidate *found)
{
    const struct at_explained_line *lines = e->lines.items;

    (void)sums;
    for (size_t i = 0; i < e->lines.count; i++)
        if (is_global(&lines[i], "atomic")) {
            note(found, &lines[i], (double)lines[i].requests);
            found->repair.atomics = 1 - 1.0 / LANES;
        }
}

/* ---- what is said of them ---- */

enum { TEXT = sizeof((struct at_advice *)0)->text };

static double per_request(const struct at_explained_line *line, int64_t count)
{
    return (double)count / (double)line->requests;
}

static void say_coalesce(char *text, const struct at_explanation *e,
                         const struct at_explained_line *line)
{
    bool loads = is_global(line, "load");

    (void)e;
    snprintf(text, TEXT,
             "A request %s %.4g sectors, and %.4g would have its bytes. Let lanes with adjacent "
             "numbers %s adjacent elements, by a detour through shared memory or an array for "
             "each member of a struct.",
             loads ? "reads" : "writes", per_request(line, line->sectors),
             per_request(line, line->least_sectors), loads ? "read" : "write");
}

static void say_conflicts(char *text, const struct at_explanation *e,
                          const struct at_explained_line *line)
{
    (void)e;
    snprintf(text, TEXT,
             "A request of shared memory takes %.4g wavefronts, and %.4g would do. Make rows one "
             "word longer, or XOR the column with the row, so that lanes use different banks.",
             per_request(line, line->wavefronts), per_request(line, line->least_wavefronts));
}

static void say_widen(char *text, const struct at_explanation *e,
                      const struct at_explained_line *line)
{
    (void)e;
    snprintf(text, TEXT,
             "Lanes %s %jd byte%s each. %s 16 bytes at a time, such as a float4, in a quarter of "
             "the instructions or fewer.",
             is_global(line, "load") ? "read" : "write", (intmax_t)line->bytes,
             line->bytes == 1 ? "" : "s", is_global(line, "load") ? "Load" : "Store");
}

static void say_ahead(char *text, const struct at_explanation *e,
                      const struct at_explained_line *line)
{
    (void)e;
    (void)line;
    snprintf(text, TEXT,
             "Loads wait for each other. Unroll the loop, and begin %d loads before the first one "
             "is used.",
             IN_FLIGHT);
}

static void say_restrict(char *text, const struct at_explanation *e,
                         const struct at_explained_line *line)
{
    (void)e;
    snprintf(text, TEXT,
             "%jd loads of an unrolled loop wait for the stores between them, which might change "
             "what they read. Declare the pointers __restrict__, and const where nothing is "
             "written, so that all are loaded at once.",
             (intmax_t)line->copies);
}

static void say_divergence(char *text, const struct at_explanation *e,
                           const struct at_explained_line *line)
{
    (void)line;
    snprintf(text, TEXT,
             "Lanes of a warp branch apart: in %jd%% of the issue slots of a lane others run. "
             "Give each way its own warps, such as by the warp's number instead of the lane's, "
             "or compute both ways without a branch.",
             (intmax_t)e->idle_percent);
}

static void say_fill(char *text, const struct at_explanation *e,
                     const struct at_explained_line *line)
{
    (void)line;
    if (strstr(e->occupancy_limiter, "register"))
        snprintf(text, TEXT,
                 "%jd registers leave room for %jd%% of the threads. Use fewer, such as by "
                 "__launch_bounds__ with more blocks, or keep less in a thread.",
                 (intmax_t)e->registers, (intmax_t)e->occupancy_percent);
    else if (strstr(e->occupancy_limiter, "shared"))
        snprintf(text, TEXT,
                 "%jd bytes of shared memory leave room for %jd%% of the threads. Use smaller "
                 "tiles, or more threads for each.",
                 (intmax_t)(e->static_shared_bytes + e->dynamic_shared_bytes),
                 (intmax_t)e->occupancy_percent);
    else
        snprintf(text, TEXT,
                 "Blocks of %jd threads leave %jd%% of a multiprocessor's threads unused. Make "
                 "blocks of 128, 256 or 512 threads.",
                 (intmax_t)e->threads, (intmax_t)(100 - e->occupancy_percent));
}

static void say_level(char *text, const struct at_explanation *e,
                      const struct at_explained_line *line)
{
    int64_t multiprocessors = multiprocessors_of(e);

    (void)line;
    if (e->blocks < multiprocessors)
        snprintf(text, TEXT,
                 "%jd blocks leave %jd of %jd multiprocessors idle. Give each block less to do, "
                 "so that there are more of them.",
                 (intmax_t)e->blocks, (intmax_t)(multiprocessors - e->blocks),
                 (intmax_t)multiprocessors);
    else
        snprintf(text, TEXT,
                 "The last of %.2f waves fills %.0f%% of the device. Choose blocks so that waves "
                 "are whole, or let a block for each place take work in turn.",
                 (double)e->blocks / (double)e->wave_blocks,
                 100 * (double)e->tail_blocks / (double)e->wave_blocks);
}

static void say_registers(char *text, const struct at_explanation *e,
                          const struct at_explained_line *line)
{
    (void)line;
    if (e->spill_bytes > 0)
        snprintf(text, TEXT,
                 "%jd bytes per thread are spilled to local memory. Allow more registers, by "
                 "fewer threads or blocks in __launch_bounds__, or keep less in a thread.",
                 (intmax_t)e->spill_bytes);
    else
        snprintf(text, TEXT,
                 "An array of each thread is in local memory. Unroll the loops over it, so that "
                 "all its indices are constants and it stays in registers.");
}

static void say_reduce(char *text, const struct at_explanation *e,
                       const struct at_explained_line *line)
{
    (void)e;
    (void)line;
    snprintf(text, TEXT,
             "Atomic operations on an address wait for each other. Add up in each warp by "
             "__shfl_down_sync or in each block first, and let one lane add the sum.");
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    void (*find)(const struct at_explanation *e, const struct sums *sums, struct candidate *found);
    void (*say)(char *text, const struct at_explanation *e, const struct at_explained_line *line);
} kinds[] = {
    {"coalesce", coalesce_all, say_coalesce},
    {"conflicts", avoid_conflicts, say_conflicts},
    {"vectors", widen_all, say_widen},
    {"restrict", tell_apart, say_restrict},
    {"unroll", load_ahead, say_ahead},
    {"occupancy", fill, say_fill},
    {"tail", level, say_level},
    {"divergence", part_ways, say_divergence},
    {"registers", keep_in_registers, say_registers},
    {"atomics", reduce_first, say_reduce},
};

struct at_advisor {
    const struct at_explanation *explanation;
    struct candidate found[AT_COUNT(kinds)];
    struct at_repair repairs[AT_COUNT(kinds)];
};

struct at_advisor *at_advisor_open(const struct at_explanation *explanation)
{
    struct at_advisor *advisor = at_alloc(sizeof *advisor);
    const struct sums sums = sum_up(explanation);

    *advisor = (struct at_advisor){.explanation = explanation};
    for (size_t i = 0; i < AT_COUNT(kinds); i++) {
        kinds[i].find(explanation, &sums, &advisor->found[i]);
        advisor->repairs[i] = advisor->found[i].repair;
    }
    return advisor;
}

void at_advisor_close(struct at_advisor *advisor)
{
    free(advisor);
}

const struct at_repair *at_advisor_repairs(const struct at_advisor *advisor, size_t *count)
{
    *count = AT_COUNT(kinds);
    return advisor->repairs;
}

static struct at_advice advice_of(const struct at_advisor *advisor, size_t kind, double ns)
{
    const struct candidate *found = &advisor->found[kind];
    struct at_advice advice = {.predicted_ns = (int64_t)ns};

    snprintf(advice.repair, sizeof advice.repair, "%s", kinds[kind].name);
    if (found->line) {
        memcpy(advice.file, found->line->file, sizeof advice.file);
        advice.line = found->line->line;
    }
    kinds[kind].say(advice.text, advisor->explanation, found->line);
    return advice;
}

/* Less than so much of the time is no gain: predictions are not that exact. */
static const double least_gain = 0.03;

struct at_list at_advisor_choose(const struct at_advisor *advisor, const double *ns)
{
    const double now = (double)advisor->explanation->predicted_ns;
    struct at_list list = {at_alloc_array(AT_ADVICE_MAX, sizeof(struct at_advice)), 0};
    bool chosen[AT_COUNT(kinds)] = {false};

    while (list.count < AT_ADVICE_MAX) {
        size_t best = AT_COUNT(kinds);

        for (size_t i = 0; i < AT_COUNT(kinds); i++)
            if (!chosen[i] && ns[i] < (1 - least_gain) * now &&
                (best == AT_COUNT(kinds) || ns[i] < ns[best]))
                best = i;
        if (best == AT_COUNT(kinds))
            return list;
        chosen[best] = true;
        ((struct at_advice *)list.items)[list.count++] = advice_of(advisor, best, ns[best]);
    }
    return list;
}
