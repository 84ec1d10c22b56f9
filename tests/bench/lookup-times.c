/* SPDX-License-Identifier: Apache-2.0 */
/* Makes tables like tests/data/h200-lookup.tsv, with the times of winners on other problems than
 * their own. tests/unit/test_regret.c judges lookup by them.
 *
 * On each problem of the first profile, or on every Nth, it times the legal winners of the nearest
 * problems with the same element size in all profiles, and the default config. They are not
 * verified, since tuning has done that.
 *
 *     lookup-times [--gpu SEL] [--every N] [--nearest N] PROFILE... >TABLE
 */
#include "base/integer.h"
#include "base/memory.h"
#include "lookup/distance.h"
#include "options/run_options.h"
#include "pipeline/shootout.h"
#include "profile/profiles.h"
#include "roles.h"
#include "space/named.h"
#include "space/point.h"
#include "space/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIGS_MAX = 4096, HELD_MAX = AT_CONTESTANTS_MAX - 1 };
enum { KEY_EVERY = 0x200, KEY_NEAREST };

/* A winner on its own problem. */
struct winner {
    struct at_config config;
    struct at_problem problem;
    struct at_traits traits;
};

/* A winner on another problem. */
struct candidate {
    struct at_config config;
    double distance;
};

struct table {
    struct at_run_options run;
    size_t every, nearest;
    struct at_profiles profiles;
    struct winner *winners;
    size_t winner_count, winner_capacity;
    size_t target_count; /* winners of the first profile */
    char *texts[CONFIGS_MAX];
    size_t text_count;
    struct at_session *session;
};

static size_t count_of(struct argp_state *state, const char *text)
{
    int64_t count;

    if (!at_integer_parse(text, strlen(text), &count) || count < 1 || count > CONFIGS_MAX)
        argp_error(state, "\"%s\" is not a number from 1 to %d", text, CONFIGS_MAX);
    return (size_t)count;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct table *table = state->input;
    struct at_error err = {AT_OK, ""};

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &table->run;
        return 0;
    case KEY_EVERY:
        table->every = count_of(state, arg);
        return 0;
    case KEY_NEAREST:
        table->nearest = count_of(state, arg);
        return 0;
    case ARGP_KEY_ARG:
        if (at_profiles_add(&table->profiles, arg, &err) != AT_OK)
            argp_error(state, "%s", err.message);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&at_run_argp, 0, NULL, 0}, {0}};
static const struct argp_option options_table[] = {
    {"every", KEY_EVERY, "N", 0, "Time the winners on each Nth problem of the first profile", 0},
    {"nearest", KEY_NEAREST, "N", 0, "Time the winners of the N nearest problems", 0},
    {0},
};
static const struct argp argp = {
    .options = options_table, .parser = parse, .args_doc = "PROFILE...", .children = children};

/* ---- the winners ---- */

/* Return the config's number. A new one is printed. */
static size_t number_of(struct table *table, const struct at_config *config)
{
    char *values = at_config_format(config);
    char *text = at_format("%s %s", config->family->name, values);
    size_t i = 0;

    free(values);
    while (i < table->text_count && strcmp(table->texts[i], text) != 0)
        i++;
    if (i < table->text_count) {
        free(text);
        return i;
    }
    if (i == CONFIGS_MAX) {
        fprintf(stderr, "more than %d configs\n", CONFIGS_MAX);
        exit(1);
    }
    table->texts[table->text_count++] = text;
    printf("config\t%zu\t%s\n", i, text);
    return i;
}

static enum at_status add_winner(struct table *table, const struct at_entry *entry,
                                 const struct at_device_info *device, struct at_error *err)
{
    struct winner winner;
    struct at_launch launch;
    enum at_status status = at_problem_parse(&winner.problem, entry->problem, err);

    if (status == AT_OK)
        status = at_config_from_names(&winner.config, table->run.session.families,
                                      table->run.session.family_count, entry->winner.family,
                                      &entry->winner.parameters, err);
    if (status == AT_OK)
        status = at_config_launch(&winner.config, &winner.problem, device, &launch, err);
    if (status != AT_OK)
        return status;
    winner.traits = at_traits_of(&winner.problem, device);
    at_traits_launch(&winner.traits, &winner.problem, &launch);
    AT_PUSH(table->winners, table->winner_count, table->winner_capacity, winner);
    printf("entry\t%s\t%zu\n", entry->problem, number_of(table, &winner.config));
    return AT_OK;
}

static enum at_status add_winners(struct table *table, const struct at_device_info *device,
                                  struct at_error *err)
{
    enum at_status status = AT_OK;

    for (size_t i = 0; i < table->profiles.count; i++) {
        const struct at_device_record *record = table->profiles.files[i].profile.devices.items;
        const struct at_entry *entries = record->problems.items;

        for (size_t j = 0; j < record->problems.count && status == AT_OK; j++)
            status = add_winner(table, &entries[j], device, err);
        if (i == 0)
            table->target_count = table->winner_count;
    }
    return status;
}

/* ---- the configs to time ---- */

static bool is_among(const struct at_config *configs, size_t count, const struct at_config *config)
{
    for (size_t i = 0; i < count; i++)
        if (configs[i].family == config->family &&
            memcmp(configs[i].values, config->values,
                   config->family->param_count * sizeof *config->values) == 0)
            return true;
    return false;
}

static int by_distance(const void *left, const void *right)
{
    double a = ((const struct candidate *)left)->distance;
    double b = ((const struct candidate *)right)->distance;

    return (a > b) - (a < b);
}

/* Return the winners that are legal for the target, the nearest first. The caller frees them. */
static struct candidate *find_candidates(const struct table *table, const struct winner *target,
                                         size_t *count)
{
    const struct at_device_info *device = at_gpu_info(table->session->gpu);
    struct at_point point = at_point_make(NULL, &target->problem, device);
    struct candidate *candidates = at_alloc_array(table->winner_count, sizeof *candidates);

    *count = 0;
    for (size_t i = 0; i < table->winner_count; i++) {
        const struct winner *winner = &table->winners[i];
        struct candidate *candidate = &candidates[*count];
        struct at_traits here = target->traits;
        struct at_launch launch;

        candidate->config = winner->config;
        if (winner->problem.elem_size != target->problem.elem_size ||
            !at_config_adapt(&candidate->config, &point, &launch))
            continue;
        at_traits_launch(&here, &target->problem, &launch);
        candidate->distance = at_distance_between(&winner->traits, &here).total;
        (*count)++;
    }
    qsort(candidates, *count, sizeof *candidates, by_distance);
    return candidates;
}

/* Collect the configs to time: the target's winner first, the default config last. */
static size_t collect(const struct table *table, const struct winner *target,
                      struct at_config *configs)
{
    const struct at_session_options *options = &table->run.session;
    const struct at_device_info *device = at_gpu_info(table->session->gpu);
    struct at_config usual;
    size_t count = 0, candidate_count;
    struct candidate *candidates = find_candidates(table, target, &candidate_count);

    configs[count++] = target->config;
    for (size_t i = 0; i < candidate_count && i < table->nearest; i++)
        if (!is_among(configs, count, &candidates[i].config))
            configs[count++] = candidates[i].config;
    free(candidates);
    if (at_space_default(&usual, options->tuned, options->tuned_count, &target->problem, device,
                         NULL) == AT_OK &&
        !is_among(configs, count, &usual))
        configs[count++] = usual;
    return count;
}

/* ---- timing ---- */

/* Time the configs in one shoot-out. */
static enum at_status hold(struct table *table, const struct at_problem *problem,
                           const struct at_config *configs, size_t count, double *ns,
                           struct at_error *err)
{
    struct at_contestant contestants[AT_CONTESTANTS_MAX] = {0};
    enum at_status status;

    for (size_t i = 0; i < count; i++)
        contestants[i] = (struct at_contestant){.config = &configs[i], .problem = *problem};
    status = at_shootout_build(table->session, contestants, count, err);
    if (status == AT_OK)
        status = at_shootout_prepare(table->session, problem, err);
    if (status == AT_OK)
        status = at_shootout_time(table->session, contestants, count, err);
    for (size_t i = 0; i < count && status == AT_OK; i++)
        ns[i] = contestants[i].time_ns;
    at_shootout_end(contestants, count);
    return status;
}

/* Time all configs, in several shoot-outs. Each includes the target's own winner, and times are
 * scaled so that its time is always that of the first one. */
static enum at_status time_all(struct table *table, const struct at_problem *problem,
                               const struct at_config *configs, size_t count, double *ns,
                               struct at_error *err)
{
    enum at_status status = AT_OK;

    for (size_t first = 1; first < count && status == AT_OK; first += HELD_MAX) {
        struct at_config held[AT_CONTESTANTS_MAX] = {configs[0]};
        double held_ns[AT_CONTESTANTS_MAX];
        size_t some = count - first < HELD_MAX ? count - first : HELD_MAX;

        memcpy(held + 1, configs + first, some * sizeof *held);
        status = hold(table, problem, held, some + 1, held_ns, err);
        if (status != AT_OK)
            break;
        if (first == 1)
            ns[0] = held_ns[0];
        for (size_t i = 0; i < some; i++)
            ns[first + i] = held_ns[i + 1] * ns[0] / held_ns[0];
    }
    return status;
}

static enum at_status time_target(struct table *table, const struct winner *target,
                                  struct at_error *err)
{
    struct at_config *configs = at_alloc_array(CONFIGS_MAX, sizeof *configs);
    size_t count = collect(table, target, configs), *numbers;
    double *ns = at_alloc_array(count, sizeof *ns);
    enum at_status status = time_all(table, &target->problem, configs, count, ns, err);

    numbers = at_alloc_array(count, sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = number_of(table, &configs[i]);
    if (status == AT_OK && count > 1) {
        char *name = at_problem_format(&target->problem);

        printf("times\t%s", name);
        for (size_t i = 0; i < count; i++)
            printf("\t%zu=%.0f", numbers[i], ns[i]);
        putchar('\n');
        fflush(stdout);
        free(name);
    }
    free(numbers);
    free(ns);
    free(configs);
    return status;
}

static enum at_status make_table(struct table *table, struct at_error *err)
{
    struct at_device_info *devices = NULL;
    size_t count;
    enum at_status status = at_run_families(&table->run, err);

    if (status == AT_OK)
        status = at_run_devices(&table->run, &devices, &count, err);
    if (status == AT_OK)
        status = at_session_open(&table->session, &devices[0], &table->run.session, err);
    if (status == AT_OK)
        status = add_winners(table, &devices[0], err);
    for (size_t i = 0; i < table->target_count && status == AT_OK; i += table->every)
        status = time_target(table, &table->winners[i], err);
    at_session_close(table->session);
    free(devices);
    return status;
}

int main(int argc, char **argv)
{
    struct table table = {.every = 1, .nearest = CONFIGS_MAX - 2};
    struct at_error err = {AT_OK, ""};
    int exit_code;
    enum at_status status;

    /* The session's workers run this program. */
    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    at_run_options_init(&table.run);
    if (argp_parse(&argp, argc, argv, 0, NULL, &table) != 0)
        return 2;
    status = make_table(&table, &err);
    if (status != AT_OK)
        fprintf(stderr, "%s\n", err.message);
    for (size_t i = 0; i < table.text_count; i++)
        free(table.texts[i]);
    free(table.winners);
    at_profiles_clear(&table.profiles);
    at_run_options_clear(&table.run);
    return status == AT_OK ? 0 : 1;
}
