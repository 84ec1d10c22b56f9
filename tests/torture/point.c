/* SPDX-License-Identifier: Apache-2.0 */
#include "torture.h"

#include "base/memory.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tallies_add(struct tallies *tallies, const char *role, const char *call, const char *kind)
{
    struct tally tally = {.count = 1};

    for (size_t i = 0; i < tallies->count; i++) {
        struct tally *seen = &tallies->items[i];

        if (strcmp(seen->role, role) == 0 && strcmp(seen->call, call) == 0 &&
            strcmp(seen->kind, kind) == 0)
            return ++seen->count;
    }
    snprintf(tally.role, sizeof tally.role, "%s", role);
    snprintf(tally.call, sizeof tally.call, "%s", call);
    snprintf(tally.kind, sizeof tally.kind, "%s", kind);
    AT_PUSH(tallies->items, tallies->count, tallies->capacity, tally);
    return 1;
}

static void add_point(struct points *points, const struct tally *tally, int occurrence,
                      enum effect effect, int error)
{
    struct point point = {*tally, effect, error};

    point.call.count = occurrence;
    AT_PUSH(points->items, points->count, points->capacity, point);
}

/* A compiler without memory counts as a fault of the config, and the journal keeps that. A run
 * without another config then fails rightly, so these calls are no points. */
static bool blames_the_config(const struct tally *tally)
{
    return strcmp(tally->role, "compile") == 0 && strcmp(tally->kind, "memory") == 0;
}

static void add_effects(struct points *points, const struct tally *tally, int occurrence)
{
    const struct call *call = call_named(tally->call);

    for (int i = 0; i < CALL_ERRORS_MAX && call->errors[i]; i++)
        add_point(points, tally, occurrence, EFFECT_ERROR, call->errors[i]);
    if (call->traits & STAYING && !blames_the_config(tally))
        add_point(points, tally, occurrence, EFFECT_ERRORS, call->errors[0]);
    if (call->traits & PARTIAL)
        add_point(points, tally, occurrence, EFFECT_SHORT, 0);
    add_point(points, tally, occurrence, EFFECT_KILL, 0);
    if (call->traits & LASTING)
        add_point(points, tally, occurrence, EFFECT_KILL_AFTER, 0);
}

/* Return whether "role/call/kind" matches one of the patterns, which blanks separate. */
static bool is_among(const struct tally *tally, const char *patterns)
{
    char *name = at_format("%s/%s/%s", tally->role, tally->call, tally->kind);
    char *copy = at_strdup(patterns), *rest = copy;
    bool among = false;

    for (char *pattern; !among && (pattern = strsep(&rest, " "));)
        among = fnmatch(pattern, name, 0) == 0;
    free(copy);
    free(name);
    return among;
}

void points_of(struct points *points, const struct tallies *tallies, const char *patterns,
               bool every)
{
    for (size_t i = 0; i < tallies->count; i++) {
        const struct tally *tally = &tallies->items[i];
        int last = tally->count, middle = (last + 1) / 2;

        if (patterns && !is_among(tally, patterns))
            continue;
        for (int n = 1; n <= last; n++)
            if (every || n == 1 || n == middle || n == last)
                add_effects(points, tally, n);
    }
}

void points_draw(struct points *points, size_t most, struct at_rng *rng)
{
    for (size_t i = 0; i < most && i < points->count; i++) {
        size_t other = i + at_rng_below(rng, points->count - i);
        struct point drawn = points->items[other];

        points->items[other] = points->items[i];
        points->items[i] = drawn;
    }
    if (points->count > most)
        points->count = most;
}

static const char *const effect_names[] = {
    [EFFECT_SHORT] = "short",
    [EFFECT_KILL] = "kill",
    [EFFECT_KILL_AFTER] = "kill-after",
};

/* Follows an error's name: from here on, every time. */
static const char each_time[] = "-on";

void point_format(char text[POINT_CHARS], const char *scenario, const struct point *point)
{
    const struct tally *call = &point->call;
    bool fails = point->effect == EFFECT_ERROR || point->effect == EFFECT_ERRORS;

    snprintf(text, POINT_CHARS, "%s/%s/%s/%s/%d/%s%s", scenario, call->role, call->call, call->kind,
             call->count, fails ? error_name(point->error) : effect_names[point->effect],
             point->effect == EFFECT_ERRORS ? each_time : "");
}

static bool parse_effect(struct point *point, char *text)
{
    char *end = strstr(text, each_time);

    for (size_t i = EFFECT_SHORT; i < AT_COUNT(effect_names); i++)
        if (strcmp(text, effect_names[i]) == 0) {
            point->effect = (enum effect)i;
            return true;
        }
    point->effect = end ? EFFECT_ERRORS : EFFECT_ERROR;
    if (end)
        *end = '\0';
    point->error = error_named(text);
    return point->error != 0;
}

bool point_parse(struct point *point, const char *text)
{
    char effect[WORD_CHARS];
    struct tally *call = &point->call;

    *point = (struct point){0};
    return sscanf(text, "%23[^/]/%23[^/]/%23[^/]/%d/%23s", call->role, call->call, call->kind,
                  &call->count, effect) == 5 &&
           call_named(call->call) && parse_effect(point, effect);
}
