/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds of src/lookup/nearest.c skip no entry that is nearer: for any problem the answer is
 * the nearest of all entries, poor ones counted as farther, over the profiles in results/. Where
 * that is far, it is the config that is predicted to be the fastest. */
#include "base/memory.h"
#include "base/rng.h"
#include "emulated/time/description.h"
#include "lookup/lookup.h"
#include "lookup/predict.h"
#include "space/config.h"
#include "space/named.h"
#include "space/space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sample.h"
#include "shipped_families.h"
#include "source_tree.h"

enum { PROBLEMS = 80, WHOLE = 1000 };

struct known {
    const struct at_entry *entry; /* NULL: it is the copy of an entry */
    int64_t of_copy_permille;
    struct at_problem problem;
    struct at_traits traits;
    struct at_config config;
};

static struct at_profiles profiles;
/* An entry on the problem that is asked for. */
struct hit {
    const struct known *known;
    struct at_config config;
    struct at_launch launch;
    float order, distance;
};

static struct at_slowdown *slowdown;
static struct known *known;
static size_t known_count, known_capacity;

static void read_profile(const char *name)
{
    char *path = path_of(name);
    struct at_error err = {AT_OK, ""};

    if (at_profiles_add(&profiles, path, &err) != AT_OK)
        fail_msg("%s", err.message);
    free(path);
}

/* An entry with a step serves none of the problems here. */
static void know(const struct at_device_info *device, struct known one)
{
    struct at_launch launch;
    struct at_error err = {AT_OK, ""};

    if (one.problem.step.given)
        return;
    if (at_config_launch(&one.config, &one.problem, device, &launch, &err) != AT_OK)
        fail_msg("%s", err.message);
    one.traits = at_traits_of(&one.problem, device);
    at_traits_launch(&one.traits, &one.problem, &launch);
    AT_PUSH(known, known_count, known_capacity, one);
}

static void know_entry(const struct at_device_info *device, const struct at_entry *entry)
{
    struct known one = {.entry = entry, .of_copy_permille = entry->winner.of_copy_permille};
    struct known copy = {.of_copy_permille = 1000};
    struct at_error err = {AT_OK, ""};

    if (at_problem_parse(&one.problem, entry->problem, &err) != AT_OK ||
        at_config_from_names(&one.config, families, family_count, entry->winner.family,
                             &entry->winner.parameters, &err) != AT_OK)
        fail_msg("%s", err.message);
    know(device, one);
    copy.problem = at_problem_copy_of(&one.problem);
    if (at_config_parse(&copy.config, families, family_count, entry->copy.method, NULL) == AT_OK)
        know(device, copy);
}

static int read_all(void **state)
{
    struct at_error err = {AT_OK, ""};

    use_source_tree();
    read_shipped_families(state);
    if (at_slowdown_open(&slowdown, families, family_count, &err) != AT_OK)
        fail_msg("%s", err.message);
    read_profile("results/nvidia-h200.yaml");
    read_profile("results/nvidia-h200-library.yaml");
    for (size_t i = 0; i < profiles.count; i++) {
        const struct at_device_record *records = profiles.files[i].profile.devices.items;

        for (size_t j = 0; j < profiles.files[i].profile.devices.count; j++)
            for (size_t k = 0; k < records[j].problems.count; k++)
                know_entry(&records[j].device,
                           &((const struct at_entry *)records[j].problems.items)[k]);
    }
    return 0;
}

static int free_all(void **state)
{
    free(known);
    at_slowdown_close(slowdown);
    at_profiles_clear(&profiles);
    free_shipped_families(state);
    return 0;
}

/* Sides from 1 to 2^16 and elements of all sizes; some rows are padded, some problems batched. */
static struct at_problem random_problem(struct at_rng *rng)
{
    struct at_problem problem = {.elem_size = 1 << at_rng_below(rng, 5)};
    int64_t unit = 1 << at_rng_below(rng, 8), *sides[] = {&problem.rows, &problem.cols};
    struct at_error err = {AT_OK, ""};

    for (size_t i = 0; i < AT_COUNT(sides); i++) {
        double side = exp2(16e-6 * (double)at_rng_below(rng, 1000000));

        *sides[i] = side > (double)unit ? (int64_t)side / unit * unit : (int64_t)side;
    }
    if (at_rng_below(rng, 4) == 0)
        problem.ld_src = problem.cols + (int64_t)at_rng_below(rng, 100);
    if (at_rng_below(rng, 8) == 0)
        problem.batch = 3;
    if (at_problem_complete(&problem, &err) != AT_OK)
        fail_msg("%s", err.message);
    return problem;
}

/* By how much farther does the entry count than it is? Not at all for its own problem. */
static float of_share(const struct known *one, const struct at_problem *problem)
{
    return at_problem_equal(&one->problem, problem) ? 0
                                                    : at_distance_of_share(one->of_copy_permille);
}

static int by_order(const void *left, const void *right)
{
    const struct hit *a = left, *b = right;

    return a->order != b->order ? (a->order > b->order) - (a->order < b->order)
                                : (a->known > b->known) - (a->known < b->known);
}

/* List all legal entries, the nearest first; the caller frees them. */
static struct hit *scan(const struct at_problem *problem, const struct at_device_info *device,
                        size_t *count)
{
    struct at_point point = at_point_make(NULL, problem, device);
    struct hit *hits = at_alloc_array(known_count, sizeof *hits);

    *count = 0;
    for (size_t i = 0; i < known_count; i++) {
        struct at_traits here = at_traits_of(problem, device);
        struct hit *hit = &hits[*count];

        *hit = (struct hit){.known = &known[i], .config = known[i].config};
        if (at_config_require_inherent(&hit->config, problem, NULL) != AT_OK ||
            !at_config_adapt(&hit->config, &point, &hit->launch))
            continue;
        at_traits_launch(&here, problem, &hit->launch);
        hit->distance = at_distance_between(&known[i].traits, &here).total;
        hit->order = hit->distance + of_share(&known[i], problem);
        (*count)++;
    }
    qsort(hits, *count, sizeof *hits, by_order);
    return hits;
}

static float predict(const struct at_problem *problem, const struct at_device_info *device,
                     const struct at_config *config)
{
    struct at_slowdown_asked asked = at_slowdown_ask(slowdown, problem, device);
    struct at_launch launch;

    assert_int_equal(at_config_launch(config, problem, device, &launch, NULL), AT_OK);
    return at_slowdown_predict(slowdown, &asked, config, &launch);
}

static float predict_default(const struct at_problem *problem, const struct at_device_info *device)
{
    struct at_config usual;

    assert_int_equal(at_space_default(&usual, families, family_count, problem, device, NULL),
                     AT_OK);
    return predict(problem, device, &usual);
}

static void compare_near(const struct at_problem *problem, const struct at_answer *answer,
                         const struct hit *hit)
{
    if (answer->tier != AT_TIER_EXACT &&
        (answer->distance.total != hit->distance || answer->entry != hit->known->entry))
        fail_msg("%jd x %jd of %jd bytes: %s at %f instead of %s at %f", (intmax_t)problem->rows,
                 (intmax_t)problem->cols, (intmax_t)problem->elem_size,
                 answer->entry ? answer->entry->problem : "the default",
                 (double)answer->distance.total,
                 hit->known->entry ? hit->known->entry->problem : "a copy", (double)hit->distance);
}

/* Several entries have one config, which is on the list once. Configs that became the same by being
 * adapted are on it as often as they were different. */
static bool is_first_with(const struct hit *hits, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (at_config_equal(&hits[i].known->config, &hits[number].known->config))
            return false;
    return true;
}

/* Predict the hits that are on the shortlist. The others have INFINITY. */
static float *predict_hits(const struct at_problem *problem, const struct at_device_info *device,
                           const struct hit *hits, size_t count)
{
    struct at_slowdown_asked asked = at_slowdown_ask(slowdown, problem, device);
    float *predictions = at_alloc_array(count, sizeof *predictions);
    struct at_shortlist list = {.count = 0};

    for (size_t i = 0; i < count; i++) {
        predictions[i] = at_slowdown_estimate(slowdown, &asked, &hits[i].config, &hits[i].launch);
        if (is_first_with(hits, i))
            at_shortlist_add(&list, predictions[i]);
    }
    for (size_t i = 0; i < count; i++)
        predictions[i] = at_shortlist_has(&list, predictions[i])
                             ? predict(problem, device, &hits[i].config)
                             : INFINITY;
    return predictions;
}

/* Of the entries whose configs are predicted to be equally fast, the nearest is the answer, unless
 * the default config is as fast. */
static void compare_far(const struct at_problem *problem, const struct at_device_info *device,
                        const struct at_answer *answer, const struct hit *hits, size_t count)
{
    float *predictions = predict_hits(problem, device, hits, count), least = INFINITY;
    size_t nearest = 0;

    for (size_t i = 0; i < count; i++)
        least = fminf(least, predictions[i]);
    while (predictions[nearest] > least + 0.005F)
        nearest++;
    if ((answer->tier == AT_TIER_DEFAULT) != (predict_default(problem, device) <= least + 0.02F))
        fail_msg("%jd x %jd of %jd bytes: tier %s", (intmax_t)problem->rows,
                 (intmax_t)problem->cols, (intmax_t)problem->elem_size,
                 at_tier_names[answer->tier]);
    if (answer->tier != AT_TIER_DEFAULT)
        compare_near(problem, answer, &hits[nearest]);
    at_free(predictions);
}

/* Compare lookup with the scan. Returns whether an entry is near. */
static bool compare(const struct at_lookup *lookup, const struct at_problem *problem,
                    const struct at_device_info *device)
{
    static const struct at_environment nothing_known;
    const struct at_query query = {problem, device, &nothing_known, "cold", false};
    struct at_answer answer;
    struct at_error err = {AT_OK, ""};
    size_t count;
    struct hit *hits = scan(problem, device, &count);
    bool near = count > 0 && hits[0].order < at_distance_far;
    const struct at_problem copy = at_problem_copy_of(problem);

    if (at_lookup_find(lookup, &query, &answer, &err) != AT_OK)
        fail_msg("%s", err.message);
    /* also by the rules that a lookup checks only when it is opened */
    if (at_config_require(&answer.config, problem, device, NULL, &err) != AT_OK)
        fail_msg("%s", err.message);
    if (count == 0)
        assert_int_equal(answer.tier, AT_TIER_DEFAULT);
    else if (near || !at_slowdown_knows(slowdown, problem, hits[0].config.family))
        compare_near(problem, &answer, hits);
    else if (at_problem_equal(problem, &copy))
        assert_int_equal(answer.tier, AT_TIER_DEFAULT);
    else
        compare_far(problem, device, &answer, hits, count);
    free(hits);
    return near;
}

static void compare_all(const char *name)
{
    struct at_lookup *lookup = open_lookup(&profiles);
    struct at_rng rng = {1};
    struct at_device_info device;
    struct at_error err = {AT_OK, ""};
    const int problems = runs_whole() ? WHOLE : PROBLEMS;
    size_t near = 0;

    if (at_description_read(&device, NULL, name, &err) != AT_OK)
        fail_msg("%s", err.message);
    for (int i = 0; i < problems; i++) {
        struct at_problem problem = random_problem(&rng);

        near += compare(lookup, &problem, &device);
    }
    at_lookup_close(lookup);
    assert_in_range(near, problems / 10, problems * 9 / 10);
}

static void test_nothing_nearer_on_the_device(void **state)
{
    (void)state;
    compare_all("h200");
}

static void test_nothing_nearer_on_another(void **state)
{
    (void)state;
    compare_all("a100");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_nearer_on_the_device),
        cmocka_unit_test(test_nothing_nearer_on_another),
    };

    return cmocka_run_group_tests(tests, read_all, free_all);
}
