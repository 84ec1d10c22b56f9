/* SPDX-License-Identifier: Apache-2.0 */
/* src/lookup/rivals.c over the shipped profiles of an H200: what rivals are, for problems of all
 * kinds. */
#include "base/memory.h"
#include "emulated/time/description.h"
#include "lookup/predict.h"
#include "lookup/rivals.h"
#include "space/config.h"
#include "space/named.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "problem_of.h"
#include "shipped_families.h"
#include "source_tree.h"

static const struct at_environment nothing_known;
static struct at_device_info h200, h100, b200, emulated_b200;
static struct at_profiles profiles;
static struct at_lookup *lookup;

static int set_up(void **state)
{
    static const char *const files[] = {"results/nvidia-h200.yaml",
                                        "results/nvidia-h200-library.yaml"};
    struct at_error err;

    read_shipped_families(state);
    for (size_t i = 0; i < AT_COUNT(files); i++) {
        char *path = path_of(files[i]);

        assert_int_equal(at_profiles_add(&profiles, path, &err), AT_OK);
        free(path);
    }
    use_source_tree();
    assert_int_equal(at_description_by_any_name(&h200, "h200", &err), AT_OK);
    assert_int_equal(at_description_by_any_name(&h100, "h100", &err), AT_OK);
    assert_int_equal(at_description_by_any_name(&b200, "b200", &err), AT_OK);
    emulated_b200 = b200;
    strcpy(h100.kind, "cuda");
    strcpy(b200.kind, "cuda");
    strcpy(emulated_b200.kind, AT_KIND_EMULATED);
    lookup = open_lookup(&profiles);
    return 0;
}

static int tear_down(void **state)
{
    at_lookup_close(lookup);
    at_profiles_clear(&profiles);
    free_shipped_families(state);
    return 0;
}

/* Find the answer, and the rivals after it. Returns how many there are. */
static size_t find(const char *spec, const struct at_device_info *device, const char *policy,
                   struct at_answer answers[1 + AT_RIVALS_MAX])
{
    struct at_problem problem = problem_of(spec);
    struct at_query query = {&problem, device, &nothing_known, policy, false};
    struct at_error err;

    assert_int_equal(at_lookup_find(lookup, &query, &answers[0], &err), AT_OK);
    return at_rivals_find(lookup, &query, &answers[0], &answers[1]);
}

/* Is it this result's config, adapted to the problem? */
static bool is_of(const struct at_result_record *result, const struct at_config *config,
                  const struct at_problem *problem)
{
    struct at_point point = at_point_make(NULL, problem, &h200);
    struct at_config found;
    struct at_launch launch;
    struct at_error err;

    return result->family[0] &&
           at_config_from_names(&found, families, family_count, result->family, &result->parameters,
                                &err) == AT_OK &&
           at_config_adapt(&found, &point, &launch) && at_config_equal(&found, config);
}

/* Has a record this config as an entry's winner or default? */
static bool has(const struct at_device_record *record, const struct at_config *config,
                const struct at_problem *problem)
{
    const struct at_entry *entries = record->problems.items;

    for (size_t i = 0; i < record->problems.count; i++)
        if (is_of(&entries[i].winner, config, problem) ||
            is_of(&entries[i].fallback, config, problem))
            return true;
    return false;
}

static bool is_proven(const struct at_config *config, const struct at_problem *problem)
{
    for (size_t i = 0; i < profiles.count; i++) {
        const struct at_device_record *records = profiles.files[i].profile.devices.items;

        for (size_t j = 0; j < profiles.files[i].profile.devices.count; j++)
            if (has(&records[j], config, problem))
                return true;
    }
    return false;
}

static const char *const specs[] = {
    "6000x6000:f32",
    "8755x99:f16",
    "3x1000000:f32",
    "1300000x2179:u8",
    "197x64:f16,batch=768",
    "2500x2500:f32,inplace=1",
    "4321x12345:u8",
    "700x3000:f64",
    "1000x1000:c128",
    "6000x6000:f32,offset_src=1",
    "8x32x500x128:f16,perm=0213",
    "61x67:f32",
    "7x1000000:f32",
    "1000000x11:f16",
};

/* Later ones may be predicted to be faster, if their first estimates were slow. */
enum { FASTEST_OF = 8 };

/* Is the first rival predicted to be the fastest, and the default the second, or alone? */
static void check_order(const char *spec, const struct at_answer *answers, size_t count)
{
    struct at_slowdown *slowdown;
    struct at_slowdown_asked asked;
    struct at_problem problem = problem_of(spec);
    struct at_error err;
    float least = 0;

    assert_int_equal(at_slowdown_open(&slowdown, families, family_count, &err), AT_OK);
    asked = at_slowdown_ask(slowdown, &problem, &h200);
    for (size_t i = 1; i <= count; i++) {
        float predicted =
            at_slowdown_predict(slowdown, &asked, &answers[i].config, &answers[i].launch);

        if (i == 1)
            least = predicted;
        else if (answers[i].tier == AT_TIER_DEFAULT)
            assert_int_equal(i, 2);
        else if (i <= FASTEST_OF && predicted < least)
            fail_msg("%s: rival %zu is predicted to be faster than the first", spec, i);
        if (answers[i].tier != AT_TIER_DEFAULT)
            assert_int_equal(answers[i].tier, AT_TIER_SHAPE);
    }
    at_slowdown_close(slowdown);
}

/* They are many, legal, distinct, proven, and in order. */
static void test_rivals(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(specs); i++) {
        struct at_answer answers[1 + AT_RIVALS_MAX];
        size_t count = find(specs[i], &h200, "cold", answers);
        struct at_problem problem = problem_of(specs[i]);
        struct at_error err;

        assert_in_range(count, AT_RIVALS_MAX / 2, AT_RIVALS_MAX);
        for (size_t j = 1; j <= count; j++) {
            bool legal = false;

            assert_int_equal(
                at_config_legal(&answers[j].config, &problem, &h200, &legal, NULL, &err), AT_OK);
            assert_true(legal);
            assert_true(answers[j].launch.field[AT_GRID_X] > 0);
            for (size_t k = 0; k < j; k++)
                assert_false(at_config_equal(&answers[j].config, &answers[k].config));
            if (!is_proven(&answers[j].config, &problem))
                fail_msg("%s: rival %zu was not correct before", specs[i], j);
        }
        check_order(specs[i], answers, count);
    }
}

/* Who has nothing to measure, or nothing that is safe. */
static void test_none(void **state)
{
    static const struct {
        const char *spec;
        const struct at_device_info *device;
        const char *policy;
        bool rivals;
    } cases[] = {
        {"8192x8192:f32", &h200, "cold", false}, /* this very problem was measured */
        {"8192x8192:f32", &h200, "warm", true},  /* with another policy */
        {"6000x6000:f32", &h200, "cold", true},
        {"6000x6000:f32", &h100, "cold", true},          /* its kernels were correct there, too */
        {"6000x6000:f32", &b200, "cold", false},         /* nothing was correct on this model */
        {"6000x6000:f32", &emulated_b200, "cold", true}, /* which harms nothing there */
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_answer answers[1 + AT_RIVALS_MAX];

        if ((find(cases[i].spec, cases[i].device, cases[i].policy, answers) > 0) != cases[i].rivals)
            fail_msg("case %zu", i);
    }
}

/* What was predicted was not correct anywhere. */
static void test_predicted(void **state)
{
    struct at_answer answers[1 + AT_RIVALS_MAX];

    (void)state;
    for (int emulated = 0; emulated < 2; emulated++) {
        for (size_t i = 0; i < profiles.count; i++) {
            struct at_device_record *records = profiles.files[i].profile.devices.items;

            for (size_t j = 0; j < profiles.files[i].profile.devices.count; j++)
                strcpy(records[j].device.kind, emulated ? AT_KIND_EMULATED : "cuda");
        }
        at_lookup_close(lookup);
        lookup = open_lookup(&profiles);
        assert_int_equal(find("6000x6000:f32", &h200, "cold", answers) > 0, !emulated);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rivals),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_predicted),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
