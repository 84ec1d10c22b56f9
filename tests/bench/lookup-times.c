/* SPDX-License-Identifier: Apache-2.0 */
/* Times every config that profiles have on other problems, for contrib/library/train-slowdown and
 * judge-lookup. What a search has timed is no fair sample of configs; this is.
 *
 * For each problem of a list it verifies and times, as a search does, the configs of all entries
 * that are legal there, and the default config. It stops before the first problem that would begin
 * after --seconds.
 *
 *     lookup-times [--gpu SEL] [--seconds N] --problems LIST PROFILE... >TABLE
 *
 * The table has a line for each config, and for each problem four: the fastest config ("entry"),
 * the times in ns, the default config, and the fastest config's share of the copy limit in
 * permille, by the search for copies. make-library --known reads it, too. */
#include "base/clock.h"
#include "base/integer.h"
#include "base/memory.h"
#include "cmd/run_options.h"
#include "pipeline/pipeline.h"
#include "profile/profiles.h"
#include "roles.h"
#include "space/config.h"
#include "space/named.h"
#include "tune/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t ns_per_s = 1000000000;

struct configs {
    struct at_config *items;
    size_t count, capacity;
};

struct table {
    struct at_run_options run;
    struct at_texts files;
    int64_t seconds; /* 0: no limit */
    int64_t ends_ns;
    struct at_profiles profiles;
    struct configs known;   /* of all entries */
    struct configs printed; /* by their numbers */
    struct at_session *session;
};

static const struct at_option options_table[] = {
    AT_TABLE(table, run, at_run_table),
    AT_ARGUMENT("profile", NULL, AT_ADDS_TEXT(table, files)), /* and no problem */
    {"seconds", 0, "N", 2, "After this time, end with the problem in hand",
     AT_SETS_INTEGER(table, seconds, int64_t, 1, INT32_MAX)},
    {0},
};

/* ---- the configs ---- */

/* Return the config's number; a new one is added. */
static size_t number_of(struct configs *configs, const struct at_config *config)
{
    size_t i = 0;

    while (i < configs->count && !at_config_equal(&configs->items[i], config))
        i++;
    if (i == configs->count)
        AT_PUSH(configs->items, configs->count, configs->capacity, *config);
    return i;
}

static void know(struct table *table, const struct at_result_record *result)
{
    const struct at_session_options *options = &table->run.session;
    struct at_config config;

    if (at_config_from_names(&config, options->families, options->family_count, result->family,
                             &result->parameters, NULL) == AT_OK)
        number_of(&table->known, &config);
}

static void know_all(struct table *table)
{
    for (size_t i = 0; i < table->profiles.count; i++) {
        const struct at_list *devices = &table->profiles.files[i].profile.devices;
        const struct at_device_record *records = devices->items;

        for (size_t j = 0; j < devices->count; j++) {
            const struct at_entry *entries = records[j].problems.items;

            for (size_t k = 0; k < records[j].problems.count; k++)
                know(table, &entries[k].winner);
        }
    }
}

/* Make the space of the legal configs. Returns the default's index; SIZE_MAX if none is legal. */
static size_t fill_space(const struct table *table, const struct at_problem *problem,
                         struct at_space *space)
{
    const struct at_session_options *options = &table->run.session;
    const struct at_device_info *device = &table->session->gpu->info;
    struct at_point point = at_point_make(NULL, problem, device);
    struct configs legal = {0};
    struct at_config usual;
    size_t number = SIZE_MAX;

    for (size_t i = 0; i < table->known.count; i++) {
        struct at_config config = table->known.items[i];
        struct at_launch launch;

        if (at_config_require_inherent(&config, problem, NULL) == AT_OK &&
            at_config_adapt(&config, &point, &launch))
            number_of(&legal, &config);
    }
    if (at_space_default(&usual, options->tuned, options->tuned_count, problem, device, NULL) ==
        AT_OK)
        number = number_of(&legal, &usual);
    *space = (struct at_space){legal.items, legal.count, (int64_t)legal.count};
    return number;
}

/* ---- the table ---- */

/* Return the number under which the config is in the table, and print a new one's line. */
static size_t print_config(struct table *table, const struct at_config *config)
{
    size_t before = table->printed.count, number = number_of(&table->printed, config);

    if (number == before) {
        char *values = at_config_format(config);

        printf("config\t%zu\t%s %s\n", number, config->family->name, values);
        free(values);
    }
    return number;
}

static bool is_timed(const struct at_search *search, size_t index)
{
    return search->results[index].done && search->results[index].outcome == AT_CORRECT;
}

static void print_line(const char *word, const struct at_search *search, size_t value)
{
    printf("%s\t%s\t%zu\n", word, search->progress.what, value);
}

/* The copies: their best time in ns; 0: unknown. */
static void print_times(struct table *table, const struct at_search *search, size_t usual,
                        double copy_ns)
{
    size_t best;

    for (size_t i = 0; i < search->space.count; i++)
        if (is_timed(search, i))
            print_config(table, &search->space.configs[i]);
    at_rank_best(search, &best, 1);
    print_line("entry", search, print_config(table, &search->space.configs[best]));
    printf("times\t%s", search->progress.what);
    for (size_t i = 0; i < search->space.count; i++)
        if (is_timed(search, i))
            printf("\t%zu=%.0f", print_config(table, &search->space.configs[i]),
                   search->results[i].time_ns);
    putchar('\n');
    if (usual != SIZE_MAX && is_timed(search, usual))
        print_line("default", search, print_config(table, &search->space.configs[usual]));
    if (copy_ns > 0)
        print_line("share", search, (size_t)(1000 * copy_ns / search->results[best].time_ns + 0.5));
    fflush(stdout);
}

static enum at_status time_problem(struct table *table, const struct at_problem *problem,
                                   struct at_error *err)
{
    struct at_search search = {
        .session = table->session, .problem = *problem, .strategy = &at_strategy_exhaustive};
    const struct at_budget unlimited = {0};
    size_t usual = fill_space(table, problem, &search.space);
    struct at_copies copies;
    char *what = at_problem_format(problem);
    enum at_status status;

    search.progress.what = what;
    search.progress.of = 1;
    status = at_pipeline_run(&search, SIZE_MAX, err);
    if (status == AT_OK)
        status =
            at_copies_find(table->session, problem, &unlimited, &search.progress, &copies, err);
    if (status == AT_OK && search.counts[AT_CORRECT] > 0)
        print_times(table, &search, usual, copies.best_ns);
    at_search_clear(&search);
    free(what);
    return status;
}

static enum at_status make_table(struct table *table, struct at_error *err)
{
    struct at_device_info *devices = NULL;
    struct at_problem *problems = NULL;
    size_t device_count, count = 0;
    enum at_status status = at_run_families(&table->run, err);

    if (status == AT_OK)
        status = at_run_problems(&table->run, "tuning/problems-sides.yaml", &problems, &count, err);
    if (status == AT_OK)
        status = at_run_devices(&table->run, &devices, &device_count, err);
    if (status == AT_OK)
        status = at_session_open(&table->session, &devices[0], &table->run.session, err);
    if (status == AT_OK) {
        know_all(table);
        printf("# Times of configs on %s, %s, in ns: of all that are legal for a problem.\n",
               devices[0].name, table->run.session.policy->name);
    }
    for (size_t i = 0; i < count && status == AT_OK && at_now_ns() < table->ends_ns; i++)
        status = time_problem(table, &problems[i], err);
    at_session_close(table->session);
    free(devices);
    free(problems);
    return status;
}

static enum at_status run(void *options, struct at_error *err)
{
    struct table *table = options;
    enum at_status status = AT_OK;

    table->ends_ns = table->seconds > 0 ? at_now_ns() + table->seconds * ns_per_s : INT64_MAX;
    for (size_t i = 0; i < table->files.count && status == AT_OK; i++)
        status = at_profiles_add(&table->profiles, table->files.items[i], err);
    if (status == AT_OK)
        status = make_table(table, err);
    at_free(table->known.items);
    at_free(table->printed.items);
    at_profiles_clear(&table->profiles);
    return status;
}

static const struct at_command command = {
    .name = "lookup-times",
    .summary = "time the configs of profiles on other problems",
    .options = options_table,
    .arguments = "PROFILE...",
    .size = sizeof(struct table),
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run,
};

int main(int argc, char **argv)
{
    struct at_error err;
    enum at_status status;
    int exit_code;

    /* The session's workers run this program. */
    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    status = at_command_run(&command, argc, argv, &err);
    if (status != AT_OK)
        fprintf(stderr, "%s\n", err.message);
    return status == AT_OK ? 0 : 1;
}
