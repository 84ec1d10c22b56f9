/* SPDX-License-Identifier: Apache-2.0 */
/* What is shipped: the families of tuning/, the problems of a default run, the textbook's kernels,
 * and the profiles of results/. */
#include "base/memory.h"
#include "cmd/run_options.h"
#include "kernel/render.h"
#include "profile/profile.h"
#include "schema/lines.h"
#include "space/named.h"
#include "study/study_run.h"
#include "system/file.h"
#include "tune/tune.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "family_problems.h"
#include "hopper.h"
#include "problem_of.h"
#include "source_tree.h"

/* From the oldest supported device to the newest (CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability"), and one whose number of threads is no power of two. */
static const struct at_device_info devices[] = {
    {
        .name = "compute capability 7.5",
        .compute_capability = 75,
        .multiprocessors = 40,
        .l2_bytes = 4 << 20,
        .warp_size = 32,
        .max_threads_per_block = 1024,
        .max_threads_per_multiprocessor = 1024,
        .registers_per_multiprocessor = 65536,
        .shared_bytes_per_block = 49152,
        .shared_bytes_per_block_optin = 65536,
        .shared_bytes_per_multiprocessor = 65536,
    },
    {
        .name = "compute capability 8.0",
        .compute_capability = 80,
        .multiprocessors = 108,
        .l2_bytes = 40 << 20,
        .warp_size = 32,
        .max_threads_per_block = 1024,
        .max_threads_per_multiprocessor = 2048,
        .registers_per_multiprocessor = 65536,
        .shared_bytes_per_block = 49152,
        .shared_bytes_per_block_optin = 166912,
        .shared_bytes_per_multiprocessor = 167936,
    },
    {
        .name = "compute capability 8.6",
        .compute_capability = 86,
        .multiprocessors = 72,
        .l2_bytes = 6 << 20,
        .warp_size = 32,
        .max_threads_per_block = 1024,
        .max_threads_per_multiprocessor = 1536,
        .registers_per_multiprocessor = 65536,
        .shared_bytes_per_block = 49152,
        .shared_bytes_per_block_optin = 101376,
        .shared_bytes_per_multiprocessor = 102400,
    },
    {
        .name = "compute capability 9.0",
        .multiprocessors = 132,
        .l2_bytes = 50 << 20,
        HOPPER,
    },
};

static const char *const types[] = {"b1", "b2", "b4", "b8", "b16"};
static const int elem_sizes[] = {1, 2, 4, 8, 16};

static struct at_run_options options;

static struct at_problem typed_problem(const char *shape, const char *type)
{
    char *spec = at_format("%s:%s", shape, type);
    struct at_problem problem = problem_of(spec);

    free(spec);
    return problem;
}

/* The problem that a family works on: copies take the vector. */
static struct at_problem problem_for(const struct at_family *family,
                                     const struct at_problem *problem)
{
    return strcmp(family->name, "copy") == 0 ? at_problem_copy_of(problem) : *problem;
}

static void assert_legal(const struct at_config *config, const struct at_problem *problem,
                         const struct at_device_info *device)
{
    const struct at_problem own = problem_for(config->family, problem);
    struct at_launch launch;
    struct at_error err = {AT_OK, ""};
    char *why = NULL;
    bool legal = false;

    if (at_config_legal(config, &own, device, &legal, &why, &err) != AT_OK)
        fail_msg("%s on %s: %s", config->family->name, device->name, err.message);
    if (!legal) {
        char *values = at_config_format(config), *text = at_problem_format(&own);

        fail_msg("%s %s for %s on %s: %s", config->family->name, values, text, device->name, why);
    }
    assert_int_equal(at_config_launch(config, &own, device, &launch, &err), AT_OK);
}

/* ---- families ---- */

/* A template has a family of its name at least, and each family a file of its own. */
static void test_families_are_all_read(void **state)
{
    char *pattern = path_of("templates/*.cu");
    glob_t files = {0};
    size_t harness = 0;

    (void)state;
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        bool is_used = strstr(files.gl_pathv[i], "/harness.cu");

        harness += is_used;
        for (size_t j = 0; j < options.session.family_count; j++)
            is_used = is_used ||
                      strcmp(files.gl_pathv[i], options.session.families[j]->template_path) == 0;
        if (!is_used)
            fail_msg("no family has %s", files.gl_pathv[i]);
    }
    assert_int_equal(harness, 1);
    for (size_t i = 0; i < options.session.family_count; i++) {
        const struct at_family *family = options.session.families[i];
        char *file = at_format("/tuning/%s.yaml", family->name);

        assert_non_null(strstr(family->path, file));
        free(file);
    }
    globfree(&files);
    free(pattern);
}

/* Has the family a default for elements of some size, on the first of its problems? */
static bool has_default_at_home(struct at_family *family, const struct at_device_info *device)
{
    bool found = false;

    for (size_t i = 0; i < AT_COUNT(elem_sizes) && !found; i++) {
        struct at_problem home = family_problem(family, 0, elem_sizes[i]);
        struct at_config config;

        found = at_space_default(&config, &family, 1, &home, device, NULL) == AT_OK;
    }
    return found;
}

/* Families that are legal for every problem. */
static void test_defaults_are_legal(void **state)
{
    static const char *const shapes[] = {"8192x8192", "2x2"};

    (void)state;
    for (size_t i = 0; i < options.session.family_count; i++) {
        const struct at_config usual = at_family_default(options.session.families[i]);

        for (size_t j = 0; j < AT_COUNT(devices); j++) {
            if (!family_is_for(usual.family, (int)devices[j].compute_capability))
                continue;
            if (!has_default_at_home(options.session.families[i], &devices[j]))
                fail_msg("%s on %s: the default is not legal", usual.family->name, devices[j].name);
            for (size_t k = 0; family_own_problems(usual.family) == 0 && k < AT_COUNT(types); k++)
                for (size_t l = 0; l < AT_COUNT(shapes); l++) {
                    const struct at_problem problem = typed_problem(shapes[l], types[k]);

                    assert_legal(&usual, &problem, &devices[j]);
                }
        }
    }
}

/* Every problem has a default config, and it is no copy. */
static void assert_has_default(const struct at_problem *problem,
                               const struct at_device_info *device)
{
    struct at_config usual;
    struct at_error err = {AT_OK, ""};

    if (at_space_default(&usual, options.session.families, options.session.family_count, problem,
                         device, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_true(strcmp(usual.family->name, "copy") != 0 || problem->rows == 1);
}

static void test_every_problem_has_a_default(void **state)
{
    static const char *const shapes[] = {"1x1", "1x1000003", "1000003x1", "7x5", "10007x10009"};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(shapes); i++)
        for (size_t j = 0; j < AT_COUNT(types); j++)
            for (size_t k = 0; k < AT_COUNT(devices); k++) {
                char *in_place = at_format("%s,inplace=1", types[j]);
                const struct at_problem problem = typed_problem(shapes[i], types[j]),
                                        same_place = typed_problem(shapes[i], in_place);

                assert_has_default(&problem, &devices[k]);
                assert_has_default(&same_place, &devices[k]);
                free(in_place);
            }
}

/* Whether some device and element size have a legal config with this value. */
struct use {
    bool used[AT_PARAMS_MAX][AT_PARAM_VALUES_MAX];
};

static void note_used(const struct at_space *space, struct use *use)
{
    for (size_t i = 0; i < space->count; i++)
        for (size_t j = 0; j < space->configs[i].family->param_count; j++) {
            const struct at_param *param = &space->configs[i].family->params[j];
            size_t k = 0;

            while (param->values[k] != space->configs[i].values[j])
                k++;
            use->used[j][k] = true;
        }
}

static void note_space(struct at_family *family, const struct at_problem *problem,
                       const struct at_device_info *device, struct use *use)
{
    struct at_space space;
    struct at_error err = {AT_OK, ""};

    if (at_space_build(&space, &family, 1, problem, device, 500000, &err) != AT_OK)
        fail_msg("%s", err.message);
    note_used(&space, use);
    at_space_clear(&space);
}

static void assert_all_used(const struct at_family *family, const struct use *use)
{
    for (size_t i = 0; i < family->param_count; i++)
        for (size_t j = 0; j < family->params[i].value_count; j++)
            if (!use->used[i][j])
                fail_msg("%s: no config has %s=%d", family->path, family->params[i].name,
                         (int)family->params[i].values[j]);
}

/* Some values are for results that are wider than elements. */
static void note_casts(struct at_family *family, const struct at_device_info *device,
                       struct use *use)
{
    static const char *const casts[] = {"8192x8192:bf16:f32", "60x5x64:bf16:f32,perm=102"};

    for (size_t i = 0; i < AT_COUNT(casts); i++) {
        struct at_problem problem;
        struct at_error err = {AT_OK, ""};

        if (at_problem_parse(&problem, casts[i], &err) != AT_OK)
            fail_msg("%s", err.message);
        note_space(family, &problem, device, use);
    }
}

/* A value that the constraints never allow is a mistake in one of them. */
static void test_every_value_is_used(void **state)
{
    (void)state;
    for (size_t i = 0; i < options.session.family_count; i++) {
        struct at_family *family = options.session.families[i];
        struct use use = {0};

        for (size_t k = 0; k < AT_COUNT(devices); k++) {
            for (size_t j = 0; j < AT_COUNT(elem_sizes); j++)
                for (size_t l = 0; l < family_problem_count(family); l++) {
                    const struct at_problem problem = family_problem(family, l, elem_sizes[j]);

                    note_space(family, &problem, &devices[k], &use);
                }
            note_casts(family, &devices[k], &use);
        }
        assert_all_used(family, &use);
    }
}

/* ---- problems, textbook, results ---- */

/* bytes_max: the limit that the file states. */
static void check_problems(const char *list, int64_t bytes_max)
{
    struct at_problem *problems;
    size_t count;
    struct at_error err = {AT_OK, ""};

    if (at_run_problems(&options, list, &problems, &count, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        char *text = at_problem_format(&problems[i]);

        for (size_t j = 0; j < i; j++) {
            char *other = at_problem_format(&problems[j]);

            assert_string_not_equal(text, other);
            free(other);
        }
        assert_true(at_problem_bytes(&problems[i]) <= bytes_max);
        for (size_t j = 0; j < AT_COUNT(devices); j++)
            assert_has_default(&problems[i], &devices[j]);
        free(text);
    }
    free(problems);
}

static void test_problems(void **state)
{
    (void)state;
    check_problems("tuning/problems.yaml", INT64_C(9) << 27);
    check_problems("tuning/problems-emulated.yaml", INT64_C(1) << 24);
    check_problems("tuning/problems-library.yaml", INT64_C(1) << 32);
    check_problems("tuning/bench.yaml", INT64_C(5) << 30);
    check_problems("tuning/problems-permutations.yaml", INT64_C(9) << 30);
}

/* The problems that bench shows by default. */
static void test_textbook(void **state)
{
    struct at_textbook textbook = {0};
    const struct at_kernel_row *rows;
    struct at_error err = {AT_OK, ""};

    (void)state;
    if (at_textbook_read(&textbook, &err) != AT_OK)
        fail_msg("%s", err.message);
    rows = textbook.rows.items;
    for (size_t i = 0; i < textbook.rows.count; i++) {
        struct at_config config;

        if (at_kernel_row_config(&rows[i], AT_TEXTBOOK_FILE, options.session.families,
                                 options.session.family_count, &config, &err) != AT_OK)
            fail_msg("%s", err.message);
        for (size_t j = 0; j < AT_COUNT(devices); j++) {
            const struct at_problem floats = problem_of("8192x8192:f32");
            const struct at_problem doubles = problem_of("8192x8192:f64");

            assert_legal(&config, &floats, &devices[j]);
            assert_legal(&config, &doubles, &devices[j]);
        }
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(rows[i].label, rows[j].label);
    }
    at_textbook_clear(&textbook);
}

/* Not by libyaml: see schema/lines.h. */
static void assert_read_as_lines(const char *path)
{
    struct at_error err = {AT_OK, ""};
    struct at_token *tokens;
    char *text;
    size_t size;

    if (at_file_read(&text, &size, path, AT_SCHEMA_BYTES_MAX, &err) != AT_OK)
        fail_msg("%s", err.message);
    tokens = at_lines_split(text, size);
    if (!tokens)
        fail_msg("%s is for libyaml", path);
    free(tokens);
    free(text);
}

/* What a lookup opens. */
static void test_read_as_lines(void **state)
{
    char *pattern = path_of("results/*.yaml");
    glob_t files = {0};

    (void)state;
    if (glob(pattern, 0, NULL, &files) != GLOB_NOMATCH)
        for (size_t i = 0; i < files.gl_pathc; i++)
            assert_read_as_lines(files.gl_pathv[i]);
    for (size_t i = 0; i < options.session.family_count; i++)
        assert_read_as_lines(options.session.families[i]->path);
    globfree(&files);
    free(pattern);
}

static void test_results(void **state)
{
    char *pattern = path_of("results/*.yaml");
    glob_t files = {0};
    int found = glob(pattern, 0, NULL, &files);

    (void)state;
    free(pattern);
    if (found == GLOB_NOMATCH)
        skip(); /* no profile is shipped yet */
    assert_int_equal(found, 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct at_profile profile = {0};
        struct at_error err = {AT_OK, ""};

        if (at_profile_read(&profile, files.gl_pathv[i], &err) != AT_OK)
            fail_msg("%s", err.message);
        assert_true(profile.devices.count > 0);
        at_profile_clear(&profile);
    }
    globfree(&files);
}

static size_t count_unchanged(const struct at_warm_start *warm_start)
{
    size_t count = 0;

    for (size_t i = 0; i < warm_start->count; i++)
        count += warm_start->winners[i].time_ns > 0;
    return count;
}

static char hashes[32][AT_HASH_CHARS];

/* Make as much of a session as reading profiles needs: it knows the first `families`. */
static struct at_session session_of(size_t families)
{
    struct at_session session = {.options = options.session, .family_hashes = hashes};

    session.options.family_count = families;
    for (size_t i = 0; i < families; i++)
        at_family_hash(hashes[i], options.session.families[i], "");
    return session;
}

static void clear_session(struct at_session *session)
{
    at_warm_start_clear(&session->warm_start);
    at_warm_start_clear(&session->copy_warm_start);
}

/* Give the entries the hashes of their kernels, as if they were measured now. */
static void hash_kernels(const struct at_device_record *record)
{
    const struct at_session session = session_of(options.session.family_count);
    const struct at_session_options *known = &session.options;
    struct at_entry *entries = record->problems.items;

    for (size_t i = 0; i < record->problems.count; i++) {
        struct at_result_record *winner = &entries[i].winner;
        struct at_config config, copy;
        struct at_problem problem;

        assert_int_equal(at_problem_parse(&problem, entries[i].problem, NULL), AT_OK);
        assert_int_equal(at_config_from_names(&config, known->families, known->family_count,
                                              winner->family, &winner->parameters, NULL),
                         AT_OK);
        at_kernel_hash(winner->kernel, at_session_family_hash(&session, config.family), &config,
                       at_problem_kind(&problem));
        problem = at_problem_copy_of(&problem);
        if (at_config_parse(&copy, known->families, known->family_count, entries[i].copy.method,
                            NULL) == AT_OK)
            at_kernel_hash(entries[i].copy.kernel, at_session_family_hash(&session, copy.family),
                           &copy, at_problem_kind(&problem));
    }
}

/* Each winner is in the warm start of devices of its architecture, and of no others, if its family
 * is known. Its time holds if nothing has changed: neither the software nor its kernel. */
static void test_winners(void **state)
{
    struct at_device_record now, other = {.device.compute_capability = 75};
    struct at_profiles profiles = {0};
    char *path = path_of("results/nvidia-h200.yaml");
    const struct at_device_record *record;
    struct at_error err;

    (void)state;
    if (at_profiles_add(&profiles, path, &err) != AT_OK)
        fail_msg("%s", err.message);
    record = profiles.files[0].profile.devices.items;
    hash_kernels(record);
    for (size_t families = 0; families <= options.session.family_count; families++) {
        struct at_session session = session_of(families);
        const struct at_entry *entries = record->problems.items;
        size_t expected = 0, unchanged;

        for (size_t i = 0; i < record->problems.count; i++)
            for (size_t j = 0; j < families; j++)
                expected +=
                    strcmp(entries[i].winner.family, options.session.families[j]->name) == 0;
        now = *record;
        assert_int_equal(at_warm_profiles_read(&session, &profiles, &now), expected);
        assert_int_equal(session.warm_start.count, expected);
        unchanged = count_unchanged(&session.warm_start);
        assert_true(unchanged <= expected); /* a few configs are no search */
        if (families == options.session.family_count) {
            assert_int_equal(expected, record->problems.count);
            assert_true(unchanged > 0);
        }
        clear_session(&session);
        for (size_t i = 0; i < families; i++)
            if (strcmp(options.session.families[i]->name, "micro") == 0)
                hashes[i][0] ^= 1; /* another template: the other families' times hold */
        at_warm_profiles_read(&session, &profiles, &now);
        if (families == options.session.family_count)
            assert_in_range(count_unchanged(&session.warm_start), 1, unchanged - 1);
        clear_session(&session);
        snprintf(now.environment.driver, sizeof now.environment.driver, "1.2.3");
        assert_int_equal(at_warm_profiles_read(&session, &profiles, &now), expected);
        assert_int_equal(count_unchanged(&session.warm_start), 0);
        assert_int_equal(count_unchanged(&session.copy_warm_start), 0);
        clear_session(&session);
        assert_int_equal(at_warm_profiles_read(&session, &profiles, &other), 0);
    }
    at_profiles_clear(&profiles);
    free(path);
}

/* The fastest copies are added too, as copies of as many bytes. */
static void test_copies(void **state)
{
    struct at_profiles profiles = {0};
    char *path = path_of("results/nvidia-h200.yaml");
    struct at_error err;

    (void)state;
    if (at_profiles_add(&profiles, path, &err) != AT_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < profiles.files[0].profile.devices.count; i++) {
        const struct at_device_record *records = profiles.files[0].profile.devices.items;
        struct at_session session = session_of(options.session.family_count);
        const struct at_warm_start *copies = &session.copy_warm_start;

        hash_kernels(&records[i]);
        at_warm_profiles_read(&session, &profiles, &records[i]);
        assert_true(count_unchanged(copies) > 0);
        for (size_t j = 0; j < copies->count; j++) {
            assert_string_equal(copies->winners[j].config.family->name, "copy");
            assert_int_equal(copies->winners[j].problem.rows, 1);
        }
        clear_session(&session);
    }
    at_profiles_clear(&profiles);
    free(path);
}

static int read_families(void **state)
{
    struct at_error err = {AT_OK, ""};

    (void)state;
    use_source_tree();
    at_run_options_init(&options);
    if (at_run_families(&options, &err) == AT_OK)
        return 0;
    fprintf(stderr, "%s\n", err.message);
    return -1;
}

static int free_families(void **state)
{
    (void)state;
    at_run_options_clear(&options);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families_are_all_read),
        cmocka_unit_test(test_defaults_are_legal),
        cmocka_unit_test(test_every_problem_has_a_default),
        cmocka_unit_test(test_every_value_is_used),
        cmocka_unit_test(test_problems),
        cmocka_unit_test(test_textbook),
        cmocka_unit_test(test_read_as_lines),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_winners),
        cmocka_unit_test(test_copies),
    };

    return cmocka_run_group_tests(tests, read_families, free_families);
}
