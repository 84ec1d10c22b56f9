/* SPDX-License-Identifier: Apache-2.0 */
/* How much slower the answers of lookup are than the best config. tests/data/h200-lookup.tsv has
 * the times of many unaligned problems on H200s, with the configs that usually win on them. Each
 * problem is looked up without its own entry, and without those of some others.
 * AUTOTUNE_SHOW_REGRET=1 prints the table of doc/lookup.md. */
#include "base/memory.h"
#include "base/stats.h"
#include "emulated/time/description.h"
#include "lookup/lookup.h"
#include "space/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shipped_families.h"
#include "source_tree.h"

enum { CONFIGS_MAX = 1024, TARGETS_MAX = 512, PARTS = 10 };

/* The times of a problem, by the number of the config; 0: illegal, or not timed. */
struct target {
    char problem[160];
    double best_ns; /* the least of these times */
    double ns[CONFIGS_MAX];
};

static struct at_profiles profiles; /* one file, one device: all entries */
static char *configs[CONFIGS_MAX];
static struct target targets[TARGETS_MAX];
static size_t target_count;

/* ---- the table ---- */

/* "tile BLOCK_ROWS=8 ..." */
static struct at_result_record winner_of(const char *config)
{
    struct at_result_record winner = {.of_copy_permille = 1000};
    char *text = at_strdup(config), *rest, *word = strtok_r(text, " ", &rest);
    struct at_named_int *named = NULL;
    size_t capacity = 0;

    snprintf(winner.family, sizeof winner.family, "%s", word);
    while ((word = strtok_r(NULL, " ", &rest))) {
        size_t length = strcspn(word, "=");
        struct at_named_int parameter = {at_strndup(word, length), atoi(word + length + 1)};

        AT_PUSH(named, winner.parameters.count, capacity, parameter);
    }
    winner.parameters = at_named_ints_copy(named, winner.parameters.count);
    for (size_t i = 0; i < winner.parameters.count; i++)
        free(named[i].name);
    free(named);
    free(text);
    return winner;
}

static size_t number_of(const char *text, char **end)
{
    unsigned long number = strtoul(text, end, 10);

    assert_true(number < CONFIGS_MAX);
    return number;
}

/* "7=12345" for each config that was timed */
static void read_times(const char *problem, char *rest)
{
    struct target *target = &targets[target_count++];

    assert_true(target_count <= TARGETS_MAX);
    snprintf(target->problem, sizeof target->problem, "%s", problem);
    for (char *word = strtok_r(NULL, "\t", &rest); word; word = strtok_r(NULL, "\t", &rest)) {
        size_t number = number_of(word, &word);
        double ns;

        assert_int_equal(*word, '=');
        ns = target->ns[number] = strtod(word + 1, NULL);
        if (target->best_ns == 0 || ns < target->best_ns)
            target->best_ns = ns;
    }
}

static void read_line(char *line, struct at_device_record *record, size_t *capacity)
{
    char *rest, *kind = strtok_r(line, "\t", &rest), *first = strtok_r(NULL, "\t", &rest);
    struct at_entry *entries = record->problems.items, entry = {0};

    if (strcmp(kind, "config") == 0) {
        configs[number_of(first, NULL)] = at_strdup(strtok_r(NULL, "\t", &rest));
    } else if (strcmp(kind, "entry") == 0) {
        entry.problem = at_strdup(first);
        entry.winner = winner_of(configs[number_of(strtok_r(NULL, "\t", &rest), NULL)]);
        AT_PUSH(entries, record->problems.count, *capacity, entry);
        record->problems.items = entries;
    } else {
        read_times(first, rest);
    }
}

static int read_all(void **state)
{
    char *table = text_of("tests/data/h200-lookup.tsv"), *rest;
    struct at_device_record *record = at_alloc(sizeof *record);
    struct at_profile_file *file = at_alloc(sizeof *file);
    struct at_error err = {AT_OK, ""};
    size_t capacity = 0;

    use_source_tree();
    read_shipped_families(state);
    if (at_description_read(&record->device, NULL, "h200", &err) != AT_OK)
        fail_msg("%s", err.message);
    strcpy(record->device.kind, "cuda");
    strcpy(record->policy.name, "cold");
    for (char *line = strtok_r(table, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (line[0] != '#')
            read_line(line, record, &capacity);
    file->path = at_strdup("the table");
    file->profile.devices = (struct at_list){record, 1};
    profiles = (struct at_profiles){.files = file, .count = 1, .capacity = 1};
    free(table);
    return 0;
}

static int free_all(void **state)
{
    at_profiles_clear(&profiles);
    for (size_t i = 0; i < CONFIGS_MAX; i++)
        free(configs[i]);
    free_shipped_families(state);
    return 0;
}

/* ---- asking ---- */

/* Return the time of a config; 0: unknown. */
static double time_of(const struct target *target, const struct at_config *config)
{
    char *values = at_config_format(config);
    char *text = at_format("%s %s", config->family->name, values);
    double ns = 0;

    for (size_t i = 0; i < CONFIGS_MAX && configs[i]; i++)
        if (strcmp(configs[i], text) == 0)
            ns = target->ns[i];
    free(text);
    free(values);
    return ns;
}

static struct at_device_record *the_record(void)
{
    return profiles.files[0].profile.devices.items;
}

/* Remove a problem's entry: it moves behind the last one. */
static void take_out(const char *problem)
{
    struct at_device_record *record = the_record();
    struct at_entry *entries = record->problems.items, *last = &entries[record->problems.count - 1];

    for (struct at_entry *own = entries; own <= last; own++)
        if (strcmp(own->problem, problem) == 0) {
            struct at_entry kept = *own;

            *own = *last;
            *last = kept;
            record->problems.count--;
            return;
        }
    fail_msg("%s has no entry", problem);
}

/* Open a lookup without the problems of one part of the targets, every tenth. */
static struct at_lookup *open_without(size_t part)
{
    struct at_list *problems = &the_record()->problems;
    size_t count = problems->count;
    struct at_lookup *lookup;

    for (size_t i = part; i < target_count; i += PARTS)
        take_out(targets[i].problem);
    lookup = open_lookup(&profiles);
    problems->count = count;
    return lookup;
}

static struct at_answer ask(const struct at_lookup *lookup, const char *spec)
{
    static const struct at_environment nothing_known;
    struct at_problem problem;
    struct at_answer answer = {0};
    struct at_error err = {AT_OK, ""};

    if (at_problem_parse(&problem, spec, &err) != AT_OK ||
        at_lookup_find(
            lookup,
            &(struct at_query){&problem, &the_record()->device, &nothing_known, "cold", false},
            &answer, &err) != AT_OK)
        fail_msg("%s", err.message);
    return answer;
}

static double default_time(const struct target *target)
{
    struct at_problem problem;
    struct at_config config;
    struct at_error err = {AT_OK, ""};

    if (at_problem_parse(&problem, target->problem, &err) != AT_OK ||
        at_space_default(&config, families, family_count, &problem, &the_record()->device, &err) !=
            AT_OK)
        fail_msg("%s", err.message);
    return time_of(target, &config);
}

struct regrets {
    double of[TARGETS_MAX], sum;
    size_t count;
    size_t slower; /* slower than the default config by more than 2 % */
};

static void judge(const struct target *target, const struct at_answer *answer,
                  struct regrets *regrets)
{
    double ns = time_of(target, &answer->config), usual = default_time(target);
    double regret = ns / target->best_ns - 1;

    if (getenv("AUTOTUNE_SHOW_REGRET"))
        printf("| %s | %s | %.1f | %.2f | %.1f |\n", target->problem,
               answer->entry ? answer->entry->problem : "the default", answer->distance.total,
               ns > 0 ? 100 * regret : -1, usual > 0 ? 100 * (usual / target->best_ns - 1) : -1);
    if (ns == 0) /* not timed: its own problem is too far, or has another element size */
        return;
    regrets->of[regrets->count++] = regret;
    regrets->sum += regret;
    regrets->slower += usual > 0 && ns > 1.02 * usual;
}

/* The bounds are what the present weights reach (doc/lookup.md has the table), so this fails if
 * a change makes the distance or the prediction worse. */
static void test_regret(void **state)
{
    struct regrets r = {0};

    (void)state;
    for (size_t part = 0; part < PARTS; part++) {
        struct at_lookup *lookup = open_without(part);

        for (size_t i = part; i < target_count; i += PARTS) {
            struct at_answer answer = ask(lookup, targets[i].problem);

            judge(&targets[i], &answer, &r);
        }
        at_lookup_close(lookup);
    }
    if (getenv("AUTOTUNE_SHOW_REGRET"))
        printf("%zu of %zu problems: median %.2f %%, mean %.2f %%, 90th percentile %.2f %%, 95th "
               "%.2f %%; %zu slower than the default by more than 2 %%\n",
               r.count, target_count, 100 * at_median(r.of, r.count), 100 * r.sum / (double)r.count,
               100 * at_quantile(r.of, r.count, 0.9), 100 * at_quantile(r.of, r.count, 0.95),
               r.slower);
    assert_true(r.count >= 434);
    assert_true(at_median(r.of, r.count) < 0.0045);
    assert_true(at_quantile(r.of, r.count, 0.9) < 0.053);
    assert_true(at_quantile(r.of, r.count, 0.95) < 0.072);
    assert_true(r.sum / (double)r.count < 0.018);
    assert_true(r.slower <= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regret),
    };

    return cmocka_run_group_tests(tests, read_all, free_all);
}
