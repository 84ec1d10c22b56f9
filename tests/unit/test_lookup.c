/* SPDX-License-Identifier: Apache-2.0 */
/* src/lookup and the search path of src/profile, over a profile of an H200. test_regret.c judges
 * what lookup chooses. */
#include "base/memory.h"
#include "base/rng.h"
#include "device/relation.h"
#include "lookup/facts.h"
#include "lookup/lookup.h"
#include "space/space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"
#include "problem_of.h"
#include "sample.h"
#include "shipped_families.h"
#include "source_tree.h"

static const char h200_file[] = "tests/data/h200-profile.yaml";
static const struct at_environment nothing_known;

/* ---- set-up ---- */

static struct at_profiles read_profiles(const char *name)
{
    struct at_profiles profiles = {0};
    struct at_error err = {AT_OK, ""};
    char *path = path_of(name);

    if (at_profiles_add(&profiles, path, &err) != AT_OK)
        fail_msg("%s", err.message);
    free(path);
    return profiles;
}

static struct at_profiles read_groups(const char *name)
{
    struct at_profiles profiles = {0};
    struct at_profile_file file = {.path = path_of(name)};
    struct at_error err = {AT_OK, ""};

    if (at_profile_read_groups(&file.profile, file.path, &err) != AT_OK)
        fail_msg("%s", err.message);
    AT_PUSH(profiles.files, profiles.count, profiles.capacity, file);
    return profiles;
}

/* The first file's record with the most answers. */
static struct at_device_record *record_of(struct at_profiles *profiles)
{
    const struct at_list *devices = &profiles->files[0].profile.devices;
    struct at_device_record *records = devices->items, *most = records;

    for (size_t i = 1; i < devices->count; i++)
        if (records[i].problems.count + at_groups_problems(&records[i].groups) >
            most->problems.count + at_groups_problems(&most->groups))
            most = &records[i];
    return most;
}

/* Look up a problem. The answer borrows from the profiles only. */
static struct at_answer ask_for(const struct at_profiles *profiles, const char *spec,
                                const struct at_device_info *device, const char *policy,
                                bool strict)
{
    struct at_lookup *lookup = open_lookup(profiles);
    struct at_problem problem = problem_of(spec);
    struct at_query query = {&problem, device, &nothing_known, policy, strict};
    struct at_answer answer;
    struct at_error err = {AT_OK, ""};
    bool legal = false;

    if (at_lookup_find(lookup, &query, &answer, &err) != AT_OK)
        fail_msg("%s: %s", spec, err.message);
    at_lookup_close(lookup);
    assert_int_equal(at_config_legal(&answer.config, &problem, device, &legal, NULL, &err), AT_OK);
    assert_true(legal);
    return answer;
}

static struct at_answer ask(const struct at_profiles *profiles, const char *spec,
                            const struct at_device_info *device, const char *policy)
{
    return ask_for(profiles, spec, device, policy, false);
}

/* ---- identity ---- */

static const struct at_device_info h200 = {.name = "NVIDIA H200",
                                           .compute_capability = 90,
                                           .multiprocessors = 132,
                                           .memory_bytes = INT64_C(150109880320),
                                           .pci_device_id = 590680286};

static void test_relation(void **state)
{
    static const struct {
        struct at_device_info other;
        enum at_relation relation;
    } cases[] = {
        /* another name, a little less memory */
        {{"H200 (virtual)", .compute_capability = 90, .multiprocessors = 132,
          .memory_bytes = INT64_C(145000000000), .pci_device_id = 590680286},
         AT_SAME_DEVICE},
        {{.compute_capability = 90,
          .multiprocessors = 132,
          .memory_bytes = INT64_C(150109880320)}, /* its id is unknown */
         AT_SAME_DEVICE},
        {{.compute_capability = 90, .multiprocessors = 132, .memory_bytes = INT64_C(85000000000)},
         AT_SAME_CHIP},
        {{"NVIDIA H200", .compute_capability = 90, .multiprocessors = 132,
          .memory_bytes = INT64_C(150109880320), .pci_device_id = 1},
         AT_SAME_CHIP},
        /* a slice of a GPU */
        {{.compute_capability = 90,
          .multiprocessors = 60,
          .memory_bytes = INT64_C(75000000000),
          .pci_device_id = 590680286},
         AT_SAME_CHIP},
        {{.compute_capability = 90, .multiprocessors = 114, .memory_bytes = INT64_C(85000000000)},
         AT_SAME_ARCHITECTURE},
        {{.compute_capability = 80, .multiprocessors = 132, .memory_bytes = INT64_C(150109880320)},
         AT_OTHER_ARCHITECTURE},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        assert_int_equal(at_device_relation(&h200, &cases[i].other), cases[i].relation);
        assert_int_equal(at_device_relation(&cases[i].other, &h200), cases[i].relation);
    }
}

static int64_t gap(int64_t a, int64_t b)
{
    struct at_device_info first = {.compute_capability = a}, second = {.compute_capability = b};

    return at_architecture_gap(&first, &second);
}

static void test_architecture_gap(void **state)
{
    (void)state;
    assert_int_equal(gap(89, 89), 0);
    assert_true(
        gap(89, 80) <
        gap(89, 90)); /* a step of the minor version is less than one of the major version */
    assert_true(gap(100, 90) < gap(100, 80));
}

/* ---- distance ---- */

static double between(const char *from, const char *to)
{
    struct at_problem a = problem_of(from), b = problem_of(to);
    struct at_device_info device = {.l2_bytes = 60 << 20, .multiprocessors = 132};
    struct at_traits there = at_traits_of(&a, &device), here = at_traits_of(&b, &device);

    return at_distance_between(&there, &here).total;
}

static void test_distance(void **state)
{
    static const char *const pairs[][3] = {
        /* the first is nearer to the second than to the third */
        {"8192x8192:f32", "8000x8000:f32", "8192x8192:f64"},
        {"8192x8192:f32", "4096x16384:f32", "1024x65536:f32"},
        {"1024x1024:f32", "1000x1024:f32", "8192x8192:f32"}, /* fits into L2 */
        {"4194304x8:f32", "2097152x8:f64", "8192x8192:f32"}, /* narrow */
        {"8x4194304:f32", "16x4194304:f32", "4194304x8:f32"},
        {"10007x10009:f32", "9001x9003:f32", "8192x8192:f32"}, /* alignment */
        /* A step's bytes on each side, then those of the source's elements. */
        {"8192x8192:bf16:e4m3,scale", "8192x8192:f16:u8", "8192x8192:f16"},
        {"8192x8192:f16", "8192x8192:bf16:f16,scale", "8192x8192:bf16:e4m3,scale"},
        {"8192x8192:bf16:e4m3,scale", "8192x8192:f16", "8192x8192:f32"},
        {"8192x8192:bf16:e4m3,scale", "8192x8192:f16", "8192x8192:u8"},
        {"512x512:f32,batch=256", "256x256:f32,batch=1024", "8192x8192:f32"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(pairs); i++) {
        assert_true(between(pairs[i][0], pairs[i][0]) == 0);
        assert_true(between(pairs[i][0], pairs[i][1]) < between(pairs[i][0], pairs[i][2]));
    }
}

/* From odd rows to aligned ones is far. The reverse is near: illegal configs are refused anyway. */
static void test_alignment(void **state)
{
    (void)state;
    assert_true(between("10007x10009:f32", "10000x10000:f32") > 60);
    assert_true(between("10000x10000:f32", "10007x10009:f32") < 40);
}

static void test_waste(void **state)
{
    static const struct at_launch one = {{1, 1, 1, 64, 1, 1}}, two = {{1, 1, 1, 128, 1, 1}};
    struct at_problem problem = problem_of("8x8:f32");
    struct at_device_info device = {.multiprocessors = 132};
    struct at_traits few = at_traits_of(&problem, &device), many = few;

    (void)state;
    at_traits_launch(&few, &problem, &one);
    at_traits_launch(&many, &problem, &two);
    assert_true(at_distance_between(&few, &many).total > 1); /* twice the threads */
    assert_true(at_distance_between(&many, &few).total == 0);
    assert_string_equal(at_distance_name(0), "waste");
    assert_true(at_distance_between(&few, &many).terms[0] ==
                at_distance_between(&few, &many).total);
}

/* Half the blocks are a loss only if they are too few. */
static void test_fill(void **state)
{
    static const struct at_launch launches[] = {
        {{1024, 1, 1, 128, 1, 1}}, {{512, 1, 1, 128, 1, 1}}, {{64, 1, 1, 128, 1, 1}}};
    struct at_problem problem = problem_of("1024x1024:f32");
    struct at_device_info device = {.multiprocessors = 132};
    struct at_traits traits[3];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        traits[i] = at_traits_of(&problem, &device);
        at_traits_launch(&traits[i], &problem, &launches[i]);
    }
    assert_true(at_distance_between(&traits[0], &traits[1]).total == 0);
    assert_true(at_distance_between(&traits[1], &traits[2]).total > 20);
    assert_true(at_distance_between(&traits[1], &traits[2]).terms[1] ==
                at_distance_between(&traits[0], &traits[2]).total);
}

static struct at_entry *entry_of(struct at_device_record *record, const char *problem)
{
    struct at_entry *entries = record->problems.items;

    for (size_t i = 0; i < record->problems.count; i++)
        if (strcmp(entries[i].problem, problem) == 0)
            return &entries[i];
    fail_msg("no entry for %s", problem);
    return NULL;
}

/* A near entry of a poor share loses to one that is a little farther, and if that is poor as well,
 * a prediction chooses. Unknown shares (0) are good. */
static void test_share(void **state)
{
    static const char near[] = "8192x8192:f32", farther[] = "1024x32768:f32",
                      between[] = "8000x8000:f32";
    static const struct {
        const char *asked;
        int64_t near_permille, farther_permille;
        const char *taken; /* NULL: a prediction chose */
    } cases[] = {
        {between, 0, 0, near},
        {between, 1000, 1000, near},
        {between, 990, 1000, near},
        {between, 300, 1000, farther},
        {between, 300, 0, farther},
        {between, 300, 300, NULL},
        {between, 0, 300, near},
        {between, 1, 1, NULL},
        /* more than all is no better than all */
        {between, 990, 100000, near},
        /* the problem itself */
        {near, 1, 1000, near},
    };
    struct at_profiles profiles = read_profiles(h200_file);
    struct at_device_record *record = record_of(&profiles);
    struct at_list all = record->problems;
    struct at_entry entries[] = {*entry_of(record, near), *entry_of(record, farther)};

    (void)state;
    record->problems = (struct at_list){entries, AT_COUNT(entries)};
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_answer answer;

        entries[0].winner.of_copy_permille = cases[i].near_permille;
        entries[1].winner.of_copy_permille = cases[i].farther_permille;
        answer = ask(&profiles, cases[i].asked, &record->device, "cold");
        if ((answer.predicted_of > 0) != !cases[i].taken ||
            at_answer_is_uncertain(&answer) != !cases[i].taken ||
            (cases[i].taken && strcmp(answer.entry->problem, cases[i].taken) != 0))
            fail_msg("case %zu: %s at %f", i, answer.entry ? answer.entry->problem : "the default",
                     (double)answer.distance.total);
    }
    record->problems = all;
    at_profiles_clear(&profiles);
}

/* If the nearest entry is far, a prediction chooses between it and the default config. */
static void test_far(void **state)
{
    static const char *const far[] = {"64x64:b1",     "12000x512:b1", "4096x4112:b1",
                                      "1024x1024:b1", "512x12000:b1", "320x320:b1,batch=64"};
    struct at_profiles profiles = read_profiles(h200_file);
    struct at_device_record *record = record_of(&profiles);
    struct at_list all = record->problems;
    struct at_answer answer;
    size_t defaults = 0;

    (void)state;
    while (strcmp(((struct at_entry *)record->problems.items)->problem, "16384x16384:b1") != 0)
        record->problems.items = (struct at_entry *)record->problems.items + 1;
    record->problems.count = 1;
    answer = ask(&profiles, "16384x8192:b1", &record->device, "cold");
    assert_int_equal(answer.tier, AT_TIER_SHAPE);
    assert_int_equal(answer.predicted_of, 0);
    for (size_t i = 0; i < AT_COUNT(far); i++) {
        bool is_default;

        answer = ask(&profiles, far[i], &record->device, "cold");
        is_default = answer.tier == AT_TIER_DEFAULT;
        if (answer.predicted_of != 2)
            fail_msg("%s: of %zu", far[i], answer.predicted_of);
        assert_true(is_default || answer.tier == AT_TIER_SHAPE);
        if (is_default != !!strstr(answer.refused, "the nearest entry, 16384x16384:b1, is far"))
            fail_msg("%s: %s", far[i], answer.refused);
        defaults += is_default;
    }
    assert_true(defaults > 0);
    record->problems = all;
    answer = ask(&profiles, "4000000x6:f64", &record->device, "cold");
    assert_int_equal(answer.tier, AT_TIER_SHAPE);
    assert_true(answer.predicted_of > 2);
    at_profiles_clear(&profiles);
}

/* ---- tiers ---- */

static void test_tiers(void **state)
{
    struct at_profiles profiles = read_profiles(h200_file);
    struct at_device_info home = record_of(&profiles)->device, device;
    struct at_answer answer;

    (void)state;
    answer = ask(&profiles, "8192x8192:f32", &home, "cold");
    assert_int_equal(answer.tier, AT_TIER_EXACT);
    assert_string_equal(answer.entry->problem, "8192x8192:f32");
    assert_true(answer.distance.total == 0);
    assert_int_equal(answer.expected_of_copy_permille, answer.entry->winner.of_copy_permille);
    assert_false(answer.predicted);

    answer = ask(&profiles, "8192x8192:i32", &home, "cold"); /* another name of the type */
    assert_int_equal(answer.tier, AT_TIER_EXACT);

    answer = ask(&profiles, "8160x8192:f32", &home, "cold");
    assert_int_equal(answer.tier, AT_TIER_SHAPE);
    assert_true(answer.distance.total > 0);

    device = home;
    device.pci_device_id = 1;
    answer = ask(&profiles, "8192x8192:f32", &device, "cold");
    assert_int_equal(answer.tier, AT_TIER_CHIP);
    assert_string_equal(answer.entry->problem, "8192x8192:f32");

    device.multiprocessors = 100;
    answer = ask(&profiles, "8192x8192:f32", &device, "cold");
    assert_int_equal(answer.tier, AT_TIER_ARCHITECTURE);

    device.compute_capability = 80;
    answer = ask(&profiles, "8192x8192:f32", &device, "cold");
    assert_int_equal(answer.tier, AT_TIER_OTHER);
    at_profiles_clear(&profiles);

    answer = ask(&profiles, "8192x8192:f32", &home, "cold"); /* without any profile */
    assert_int_equal(answer.tier, AT_TIER_DEFAULT);
    assert_null(answer.entry);
    assert_int_equal(answer.expected_of_copy_permille, 0);
}

/* One entry of this model, and many of another with the same multiprocessors: the latter count as
 * 16 farther, unless only this model will do. */
static void test_few_of_its_own(void **state)
{
    static const struct {
        const char *spec;
        bool strict;
        enum at_tier tier;
        const char *entry;
    } cases[] = {
        {"8192x8192:f32", false, AT_TIER_EXACT, "8192x8192:f32"},
        {"1024x32768:f32", false, AT_TIER_SHAPE, "8192x8192:f32"}, /* at 6; the other has it */
        {"8191x8179:f32", false, AT_TIER_CHIP, "8191x8179:f32"},
        {"1024x1024:f32", false, AT_TIER_CHIP, "1024x1024:f32"}, /* for the problem itself */
        {"1024x32768:f32", true, AT_TIER_SHAPE, "8192x8192:f32"},
    };
    struct at_profiles profiles = read_profiles(h200_file);
    struct at_device_record *own, *other;
    struct at_list all;
    char *link = at_format("/tmp/autotune-test-lookup-%d.yaml", (int)getpid());
    char *path = path_of(h200_file), *real = realpath(path, NULL);

    (void)state;
    assert_int_equal(symlink(real, link), 0);
    assert_int_equal(at_profiles_add(&profiles, link, NULL), AT_OK);
    own = profiles.files[0].profile.devices.items;
    other = profiles.files[1].profile.devices.items;
    other->device.pci_device_id = 1;
    all = own->problems;
    own->problems = (struct at_list){.items = entry_of(own, "8192x8192:f32"), .count = 1};
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_answer answer =
            ask_for(&profiles, cases[i].spec, &own->device, "cold", cases[i].strict);

        const char *from = answer.entry ? answer.entry->problem : "none";

        if (answer.tier != cases[i].tier || strcmp(from, cases[i].entry) != 0)
            fail_msg("%s: %s, from %s at %.1f", cases[i].spec, at_tier_names[answer.tier], from,
                     (double)answer.distance.total);
    }
    own->problems = all;
    unlink(link);
    free(real);
    free(path);
    free(link);
    at_profiles_clear(&profiles);
}

/* No entry's block fits on this device. */
static void test_default_where_no_entry_is_legal(void **state)
{
    struct at_profiles profiles = read_profiles(h200_file);
    struct at_device_info device = record_of(&profiles)->device;
    struct at_answer answer;

    (void)state;
    device.shared_bytes_per_block = device.shared_bytes_per_block_optin = 1024;
    answer = ask(&profiles, "8192x8192:f32", &device, "cold");
    assert_int_equal(answer.tier, AT_TIER_DEFAULT);
    assert_string_equal(answer.config.family->name, "naive");
    assert_non_null(strstr(answer.refused, "the entry for this problem is not legal here"));
    at_profiles_clear(&profiles);
}

/* Entries that are illegal for their own elements or outside the space are skipped; the rest of the
 * file is used. */
static void test_bad_entries(void **state)
{
    struct at_profiles profiles = read_profiles(h200_file);
    struct at_device_record *record = record_of(&profiles);
    const struct at_list *parameters = &entry_of(record, "8191x8179:f32")->winner.parameters;
    struct at_named_int *named = parameters->items;
    struct at_answer answer;

    (void)state;
    strcpy(entry_of(record, "8192x8192:f32")->winner.family, "none");
    answer = ask(&profiles, "8192x8192:f32", &record->device, "cold");
    assert_int_equal(answer.tier, AT_TIER_SHAPE);
    assert_non_null(strstr(answer.refused, "1 entry not used"));
    assert_non_null(strstr(answer.refused, "no family \"none\""));
    for (size_t i = 0; i < parameters->count; i++)
        if (strcmp(named[i].name, "LOAD_BYTES") == 0)
            named[i].value = 8;
    answer = ask(&profiles, "8191x8179:f32", &record->device, "cold");
    assert_int_not_equal(answer.tier, AT_TIER_EXACT);
    answer = ask(&profiles, "8192x8192:f32", &record->device, "cold");
    assert_non_null(strstr(answer.refused, "2 entries not used"));
    assert_non_null(
        strstr(answer.refused, "8191x8179:f32: the constraint ")); /* the rest is cut off */
    at_profiles_clear(&profiles);
}

/* A config of values that are in the space, but not together, serves no problem, however many
 * entries have it. */
static void test_config_that_breaks_a_constraint(void **state)
{
    static const struct at_named_int parameters[] = {{"LOAD", 2},  {"MATRIX", 0}, {"ORDER", 1},
                                                     {"ROWS", 16}, {"STORE", 1},  {"WARPS", 4}};
    struct at_profiles profiles = read_profiles(h200_file);
    struct at_device_record *record = record_of(&profiles);
    struct at_entry *entries = record->problems.items;
    struct at_answer answer;
    char words[64];

    (void)state;
    for (size_t i = 0; i < record->problems.count; i++) {
        struct at_result_record *winner = &entries[i].winner;

        strcpy(winner->family, "warp");
        at_free(winner->parameters.items);
        winner->parameters = at_named_ints_copy(parameters, AT_COUNT(parameters));
    }
    answer = ask(&profiles, "8192x8192:f32", &record->device, "cold");
    assert_int_equal(answer.tier, AT_TIER_DEFAULT);
    snprintf(words, sizeof words, "%zu entries not used", record->problems.count);
    assert_non_null(strstr(answer.refused, words));
    assert_non_null(strstr(answer.refused, "LOAD == 0 || STORE == 0 || LOAD == 1"));
    at_profiles_clear(&profiles);
}

/* The better tier decides, not the order of the files or the share; then measured before predicted,
 * and then the query's policy before another. */
static void test_choice_between_files(void **state)
{
    struct at_profiles profiles = read_profiles(h200_file);
    struct at_device_record *record = record_of(&profiles);
    struct at_device_info home = record->device;
    struct at_answer answer;
    struct at_error err = {AT_OK, ""};
    char *link = at_format("/tmp/autotune-test-lookup-%d.yaml", (int)getpid());
    char *path = path_of(h200_file);
    char *real = realpath(path, NULL);

    (void)state;
    assert_int_equal(symlink(real, link), 0);
    assert_int_equal(at_profiles_add(&profiles, path, &err), AT_OK); /* known */
    assert_int_equal(profiles.count, 1);
    assert_int_equal(at_profiles_add(&profiles, link, &err), AT_OK);
    assert_int_equal(profiles.count, 2);
    record = record_of(&profiles);

    answer = ask(&profiles, "8192x8192:f32", &home, "cold");
    assert_string_equal(answer.path, path);
    entry_of(record, "8192x8192:f32")->winner.of_copy_permille = 1; /* for the problem itself */
    answer = ask(&profiles, "8192x8192:f32", &home, "cold");
    assert_string_equal(answer.path, path);
    strcpy(record->policy.name, "warm");
    answer = ask(&profiles, "8192x8192:f32", &home, "cold");
    assert_string_equal(answer.path, link);
    answer = ask(&profiles, "8192x8192:f32", &home, "warm");
    assert_string_equal(answer.path, path);
    strcpy(record->device.kind, AT_KIND_EMULATED);
    answer = ask(&profiles, "8192x8192:f32", &home, "warm");
    assert_string_equal(answer.path, link);
    record->device.multiprocessors = 1;
    record->device.pci_device_id = 0;
    answer = ask(&profiles, "8192x8192:f32", &home, "warm");
    assert_string_equal(answer.path, link);
    unlink(link);
    free(real);
    free(path);
    free(link);
    at_profiles_clear(&profiles);
}

/* ---- facts ---- */

struct facts {
    struct at_fact items[AT_FACTS_MAX];
    size_t count;
};

static struct facts facts_of(const struct at_lookup *lookup, const struct at_query *query)
{
    struct facts facts;
    struct at_answer answer;
    struct at_error err = {AT_OK, ""};

    assert_int_equal(at_lookup_find(lookup, query, &answer, &err), AT_OK);
    facts.count = at_facts_compare(facts.items, query, answer.record);
    return facts;
}

static const struct at_fact *find_fact(const struct facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->items[i].name, name) == 0)
            return &facts->items[i];
    return NULL;
}

static void test_facts(void **state)
{
    struct at_profiles profiles = read_profiles(h200_file);
    struct at_device_record *record = record_of(&profiles);
    struct at_environment environment = record->environment;
    struct at_lookup *lookup = open_lookup(&profiles);
    struct at_problem problem = problem_of("8192x8192:f32");
    struct at_device_info device = record->device;
    struct at_query query = {&problem, &device, &environment, "cold", false};
    struct at_error err = {AT_OK, ""};
    struct at_answer answer;
    struct facts facts;

    (void)state;
    facts = facts_of(lookup, &query);
    assert_int_equal(facts.count, 0);

    strcpy(environment.driver, "1.0");
    environment.nvrtc_identity[0] = '\0';
    device.pci_device_id = 0;
    device.memory_bytes -= device.memory_bytes / 16;
    query.policy = "warm";
    facts = facts_of(lookup, &query);
    assert_int_equal(facts.count, 4);
    assert_true(at_fact_is_conflict(find_fact(&facts, "driver")));
    assert_string_equal(find_fact(&facts, "driver")->here, "1.0");
    assert_string_equal(find_fact(&facts, "driver")->tuned, "580.159.04");
    assert_false(at_fact_is_conflict(find_fact(&facts, "nvrtc_identity")));
    assert_false(at_fact_is_conflict(find_fact(&facts, "pci_device_id")));
    assert_true(at_fact_is_conflict(find_fact(&facts, "policy")));
    assert_int_equal(at_lookup_find(lookup, &query, &answer, &err), AT_OK);
    assert_int_equal(answer.tier, AT_TIER_EXACT);
    assert_int_equal(at_answer_check_device(&answer, &query, &err), AT_OK);

    device.multiprocessors--;
    device.memory_bytes /= 2;
    facts = facts_of(lookup, &query);
    assert_true(at_fact_is_conflict(find_fact(&facts, "multiprocessors")));
    assert_true(at_fact_is_conflict(find_fact(&facts, "memory_bytes")));
    assert_int_equal(at_lookup_find(lookup, &query, &answer, &err), AT_OK);
    assert_int_equal(at_answer_check_device(&answer, &query, &err), AT_MISMATCH);
    at_lookup_close(lookup);
    at_profiles_clear(&profiles);
}

/* ---- the search path ---- */

/* The files with these words in their paths whose answers are in groups. */
static size_t count_groups(struct at_profiles *profiles, const char *words)
{
    size_t count = 0;

    for (size_t i = 0; i < profiles->count; i++) {
        const struct at_device_record *record = profiles->files[i].profile.devices.items;

        count += strstr(profiles->files[i].path, words) && record->groups.count > 0;
    }
    return count;
}

static void test_search_path(void **state)
{
    char folder[] = "/tmp/autotune-test-path-XXXXXX";
    char *text = text_of("tests/golden/profile/least.yaml"), *data, *user, *a, *b, *bad, *variable;
    struct at_profiles profiles = {0};
    struct at_error err = {AT_OK, ""};

    (void)state;
    assert_non_null(mkdtemp(folder));
    data = path_of("");
    user = at_format("%s/autotune", folder);
    a = at_format("%s/a.yaml", folder);
    b = at_format("%s/autotune/b.yaml", folder);
    bad = at_format("%s/autotune/a.yaml", folder);
    variable = at_format("%s:", a);
    assert_int_equal(mkdir(user, 0700), 0);
    write_text(a, text);
    write_text(b, text);
    write_text(bad, "schema: 99\n");
    setenv("AUTOTUNE_DATADIR", data, 1);
    setenv("AUTOTUNE_PROFILE_PATH", variable, 1);
    setenv("XDG_DATA_HOME", folder, 1);

    assert_int_equal(at_profiles_add_path(&profiles, &err), AT_OK);
    assert_true(profiles.count >= 3);
    assert_string_equal(profiles.files[0].path, a);
    assert_string_equal(profiles.files[1].path, b);
    assert_non_null(strstr(profiles.files[2].path, "/results/"));
    assert_int_equal(profiles.skipped_count, 1);
    assert_non_null(strstr(profiles.skipped[0], bad));
    assert_non_null(strstr(profiles.skipped[0], "schema is 99"));
    at_profiles_clear(&profiles);

    profiles.for_lookup = true;
    assert_int_equal(at_profiles_add_path(&profiles, &err), AT_OK);
    assert_int_equal(count_groups(&profiles, "/results/nvidia-h200-library.yaml"), 1);
    assert_int_equal(count_groups(&profiles, folder), 0);
    at_profiles_clear(&profiles);

    setenv("AUTOTUNE_PROFILE_PATH", "/nonexistent.yaml", 1);
    assert_int_equal(at_profiles_add_path(&profiles, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "AUTOTUNE_PROFILE_PATH: cannot open /nonexistent.yaml"));
    at_profiles_clear(&profiles);

    unsetenv("AUTOTUNE_PROFILE_PATH");
    unsetenv("XDG_DATA_HOME");
    unsetenv("AUTOTUNE_DATADIR");
    unlink(a);
    unlink(b);
    unlink(bad);
    rmdir(user);
    rmdir(folder);
    free(variable);
    free(bad);
    free(b);
    free(a);
    free(user);
    free(data);
    free(text);
}

static void assert_same_answer(const struct at_answer *answer, const struct at_answer *expected)
{
    assert_int_equal(answer->tier, expected->tier);
    assert_true(at_config_equal(&answer->config, &expected->config));
    assert_memory_equal(&answer->launch, &expected->launch, sizeof answer->launch);
    assert_memory_equal(&answer->distance, &expected->distance, sizeof answer->distance);
    assert_int_equal(answer->expected_of_copy_permille, expected->expected_of_copy_permille);
    assert_int_equal(!answer->tuned_problem, !expected->tuned_problem);
    if (expected->tuned_problem)
        assert_string_equal(answer->tuned_problem, expected->tuned_problem);
}

/* Entries without measurements give the same answers. */
static void test_answers(void **state)
{
    struct at_profiles full = read_profiles(h200_file), bare = read_profiles(h200_file);
    const struct at_device_info *device = &record_of(&full)->device;
    struct at_rng rng = {1};

    (void)state;
    at_profile_drop_measurements(&bare.files[0].profile);
    for (int i = 0; i < 300; i++) {
        const int64_t rows = 1 + (int64_t)at_rng_below(&rng, 1 << at_rng_below(&rng, 18));
        const int64_t cols = 1 + (int64_t)at_rng_below(&rng, 1 << at_rng_below(&rng, 14));
        char *spec =
            at_format("%jdx%jd:b%d", (intmax_t)rows, (intmax_t)cols, 1 << at_rng_below(&rng, 5));
        const struct at_answer expected = ask(&full, spec, device, "cold");
        const struct at_answer answer = ask(&bare, spec, device, "cold");

        assert_same_answer(&answer, &expected);
        if (expected.entry)
            assert_string_equal(answer.entry->problem, expected.entry->problem);
        free(spec);
    }
    at_profiles_clear(&bare);
    at_profiles_clear(&full);
}

/* Answers that have stayed in groups are answers like entries. */
static void test_groups(void **state)
{
    static const char library[] = "results/nvidia-h200-library.yaml";
    struct at_profiles spread = read_profiles(library), grouped = read_groups(library);
    const struct at_list *problems = &record_of(&spread)->problems;
    const struct at_entry *entries = problems->items;
    struct at_lookup *lookup = open_lookup(&spread);
    struct at_lookup *other = open_lookup(&grouped);
    struct at_problem problem;
    const struct at_query query = {&problem, &record_of(&spread)->device, &nothing_known, "cold",
                                   false};
    struct at_answer answer, expected;

    (void)state;
    assert_true(problems->count > 1000);
    assert_int_equal(record_of(&grouped)->problems.count, 0);
    assert_int_equal(at_groups_problems(&record_of(&grouped)->groups), problems->count);
    for (size_t i = 0; i < problems->count; i += runs_whole() ? 1 : 3) {
        /* Every other entry is asked for itself, the others for what is near. */
        char *spec = i % 2 || strchr(entries[i].problem, ',')
                         ? at_strdup(entries[i].problem)
                         : at_format("1%s", entries[i].problem);

        problem = problem_of(spec);
        assert_int_equal(at_lookup_find(lookup, &query, &expected, NULL), AT_OK);
        assert_int_equal(at_lookup_find(other, &query, &answer, NULL), AT_OK);
        assert_same_answer(&answer, &expected);
        free(spec);
    }
    at_lookup_close(lookup);
    at_lookup_close(other);
    at_profiles_clear(&spread);
    at_profiles_clear(&grouped);
}

/* An answered problem that this program does not know is left out, and so are all of a config that
 * it does not know. */
static void test_bad_groups(void **state)
{
    struct at_profiles profiles = read_groups("results/nvidia-h200-library.yaml");
    struct at_answer_group *groups = record_of(&profiles)->groups.items;
    struct at_answered *first = groups[0].problems.items;
    const struct at_device_info *device = &record_of(&profiles)->device;
    struct at_answer answer;
    char words[64];

    (void)state;
    strcpy(first->problem, "2x2:q9");
    answer = ask(&profiles, "8192x8192:f32", device, "cold");
    assert_non_null(strstr(answer.refused, "1 entry not used"));
    assert_non_null(strstr(answer.refused, "unknown type \"q9\""));
    strcpy(groups[1].family, "none");
    answer = ask(&profiles, "8192x8192:f32", device, "cold");
    snprintf(words, sizeof words, "%zu entries not used", 1 + groups[1].problems.count);
    assert_non_null(strstr(answer.refused, words));
    at_profiles_clear(&profiles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relation),
        cmocka_unit_test(test_architecture_gap),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_waste),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_few_of_its_own),
        cmocka_unit_test(test_default_where_no_entry_is_legal),
        cmocka_unit_test(test_bad_entries),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_bad_groups),
        cmocka_unit_test(test_config_that_breaks_a_constraint),
        cmocka_unit_test(test_choice_between_files),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_search_path),
    };

    return cmocka_run_group_tests(tests, read_shipped_families, free_shipped_families);
}
