/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/reason.h"
#include "cache/level.h"

#include "base/memory.h"

#include <stdio.h>

/* Averages of a request. */
struct average {
    double sectors, least;
    double wanted; /* bytes */
    double lane;   /* bytes that a lane wants */
};

/* Figures that differ by less are taken as equal: blocks at the edges differ a little. */
static const double SLACK = 0.02;

static bool is_one_address(const struct average *a)
{
    return a->wanted < a->lane * (1 + SLACK) && a->lane < AT_CACHE_SECTOR_BYTES;
}

static bool is_small(const struct average *a)
{
    return a->sectors < a->least * (1 + SLACK);
}

static bool is_misaligned(const struct average *a)
{
    return a->sectors < a->least + 1 + SLACK;
}

static bool is_scattered(const struct average *a)
{
    return a->sectors > a->wanted / a->lane * (1 - SLACK);
}

static bool is_any(const struct average *a)
{
    (void)a;
    return true;
}

/* The first that holds. Between the words stand the bytes that a request wants, and those that it
 * moves. */
static const struct {
    bool (*holds)(const struct average *a);
    const char *begin, *middle;
} reasons[] = {
    {is_one_address, "one address: it wants", "bytes, and a sector has"},
    {is_small, "a request wants", "bytes, and its sectors have"},
    {is_misaligned, "it begins within a sector: a request wants", "bytes, and its sectors have"},
    {is_scattered, "an element to a sector: a request wants", "bytes, and its sectors have"},
    {is_any, "with gaps: a request wants", "bytes, and its sectors have"},
};

double at_explained_good(const struct at_explained_line *line)
{
    if (line->wavefronts > 0)
        return (double)line->least_wavefronts / (double)line->wavefronts;
    return (double)line->wanted_bytes / (double)(AT_CACHE_SECTOR_BYTES * line->sectors);
}

bool at_explained_reason(char *reason, size_t size, const struct at_explained_line *line)
{
    double requests = (double)line->requests;
    const struct average average = {
        .sectors = (double)line->sectors / requests,
        .least = (double)line->least_sectors / requests,
        .wanted = (double)line->wanted_bytes / requests,
        .lane = (double)line->bytes,
    };
    size_t i = 0;

    if (line->wavefronts > 0 || at_explained_good(line) > 0.9995)
        return false;
    while (!reasons[i].holds(&average))
        i++;
    snprintf(reason, size, "%s %.4g %s %.4g", reasons[i].begin, average.wanted, reasons[i].middle,
             AT_CACHE_SECTOR_BYTES * average.sectors);
    return true;
}
