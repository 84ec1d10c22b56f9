/* SPDX-License-Identifier: Apache-2.0 */
/* src/space/family.c, config.c, space.c: good and bad space files. */
#include "base/memory.h"
#include "kernel/render.h"
#include "space/named.h"
#include "space/space.h"

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
#include "source_tree.h"

static const char good[] = "schema: 1\n"                                      /* 1 */
                           "family: tile\n"                                   /* 2 */
                           "summary: through shared memory\n"                 /* 3 */
                           "template: tile.cu\n"                              /* 4 */
                           "preference: 1\n"                                  /* 5 */
                           "parameters:\n"                                    /* 6 */
                           "  - name: TILE\n"                                 /* 7 */
                           "    summary: rows and columns of a tile\n"        /* 8 */
                           "    values: [16, 32, 64]\n"                       /* 9 */
                           "    default: 32\n"                                /* 10 */
                           "  - name: BLOCK_ROWS\n"                           /* 11 */
                           "    summary: rows that a block reads together\n"  /* 12 */
                           "    values: [8, 4]\n"                             /* 13 */
                           "    default: 4\n"                                 /* 14 */
                           "constraints:\n"                                   /* 15 */
                           "  - BLOCK_ROWS <= TILE\n"                         /* 16 */
                           "needs:\n"                                         /* 17 */
                           "  - cols % TILE == 0\n"                           /* 18 */
                           "launch:\n"                                        /* 19 */
                           "  grid_x: ceil_div(cols, TILE)\n"                 /* 20 */
                           "  grid_y: >-\n"                                   /* 21 */
                           "    ceil_div(rows,\n"                             /* 22 */
                           "    TILE)\n"                                      /* 23 */
                           "  block_x: TILE\n"                                /* 24 */
                           "  block_y: BLOCK_ROWS\n"                          /* 25 */
                           "  shared_bytes: TILE * (TILE + 1) * elem_size\n"; /* 26 */

static const struct at_device_info device = {
    .max_threads_per_block = 1024,
    .shared_bytes_per_block_optin = 232448,
};

/* Every test has a folder with tuning/ and templates/tile.cu. */
static char *folder;

static char *in_folder(const char *name)
{
    return at_format("%s/%s", folder, name);
}

static void put_file(const char *name, const void *bytes, size_t size)
{
    char *path = in_folder(name);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(path);
}

static void put_text(const char *name, const char *text)
{
    put_file(name, text, strlen(text));
}

static int make_folders(void **state)
{
    static const char *const below[] = {"tuning", "templates"};

    if (make_folder(state) != 0)
        return -1;
    folder = *state;
    for (size_t i = 0; i < AT_COUNT(below); i++) {
        char *path = in_folder(below[i]);
        int made = mkdir(path, 0700);

        free(path);
        if (made != 0)
            return -1;
    }
    put_text("templates/tile.cu", "// the template\n");
    return 0;
}

static enum at_status read_family(struct at_family **family, struct at_error *err)
{
    char *path = in_folder("tuning/tile.yaml"), *templates = in_folder("templates");
    enum at_status status = at_family_read(family, path, templates, err);

    free(path);
    free(templates);
    return status;
}

static struct at_family *read_good(void)
{
    struct at_family *family;
    struct at_error err = {0};

    put_text("tuning/tile.yaml", good);
    if (read_family(&family, &err) != AT_OK)
        fail_msg("%s", err.message);
    return family;
}

static void reads_all_that_is_there(void **state)
{
    struct at_family *family = read_good();

    (void)state;
    assert_string_equal(family->name, "tile");
    assert_string_equal(family->summary, "through shared memory");
    assert_int_equal(family->preference, 1);
    assert_string_equal(family->source, "// the template\n");
    assert_int_equal(family->param_count, 2);
    assert_string_equal(family->params[1].name, "BLOCK_ROWS");
    assert_string_equal(family->params[1].summary, "rows that a block reads together");
    assert_int_equal(family->params[1].value_count, 2);
    assert_int_equal(family->params[1].values[0], 8);
    assert_int_equal(family->params[1].default_value, 4);
    assert_int_equal(family->constraint_count, 1);
    assert_string_equal(at_expr_text(family->constraints[0]), "BLOCK_ROWS <= TILE");
    assert_int_equal(family->need_count, 1);
    assert_string_equal(at_expr_text(family->launch[AT_GRID_Y]), "ceil_div(rows, TILE)");
    assert_null(family->launch[AT_GRID_Z]);
    at_family_free(family);
    at_family_free(NULL);
}

static void prefers_the_template_beside(void **state)
{
    struct at_family *family;

    (void)state;
    put_text("tuning/tile.cu", "// beside\n");
    family = read_good();
    assert_string_equal(family->source, "// beside\n");
    at_family_free(family);
}

/* Return the good file with one piece replaced. */
static char *altered(const char *from, const char *to)
{
    const char *at = strstr(good, from);

    assert_non_null(at);
    return at_format("%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
}

#define PARAM_RULE                                                                                 \
    " cannot name a parameter: expected a capital, then capitals, digits and '_', at most 31 in "  \
    "all"
#define TEMPLATE_RULE "template: expected the plain name of a .cu file, found "

static void refuses(void **state)
{
    static const struct {
        const char *from, *to, *message; /* the message after the path */
    } cases[] = {
        {"schema: 1", "schema: 2", ":1:9: schema: expected 1, found \"2\""},
        {"tile\n", "1tile\n",
         ":2:9: \"1tile\" cannot name a family: expected a letter, then letters, digits, '_' and "
         "'-', at most 63 in all"},
        {"preference: 1", "preference: -1",
         ":5:13: preference: expected an integer from 0 to 2147483647, found \"-1\""},
        {"tile.cu", "../tile.cu", ":4:11: " TEMPLATE_RULE "\"../tile.cu\""},
        {"tile.cu", "/tile.cu", ":4:11: " TEMPLATE_RULE "\"/tile.cu\""},
        {"tile.cu", ".tile.cu", ":4:11: " TEMPLATE_RULE "\".tile.cu\""},
        {"tile.cu", "tile.cuh", ":4:11: " TEMPLATE_RULE "\"tile.cuh\""},
        {"tile.cu", ".cu", ":4:11: " TEMPLATE_RULE "\".cu\""},
        {"name: TILE", "name: tile", ":7:11: \"tile\"" PARAM_RULE},
        {"name: TILE", "name: _TILE", ":7:11: \"_TILE\"" PARAM_RULE},
        {"name: TILE", "name: TILE-X", ":7:11: \"TILE-X\"" PARAM_RULE},
        {"name: TILE", "name: T2345678901234567890123456789012",
         ":7:11: \"T2345678901234567890123456789012\"" PARAM_RULE},
        {"name: TILE", "name: ELEM_SIZE",
         ":7:11: ELEM_SIZE is given to every template and cannot be a parameter"},
        {"name: TILE", "name: AXES",
         ":7:11: AXES is given to every template and cannot be a parameter"},
        {"name: TILE", "name: STEP",
         ":7:11: STEP is given to every template and cannot be a parameter"},
        {"name: TILE", "name: TALL",
         ":7:11: TALL is given to every template and cannot be a parameter"},
        {"default: 32", "default: 32\n    neutral: 48",
         ":11:14: TILE: neutral: expected one of its values, found \"48\""},
        {"default: 32", "default: 32\n    neutral: none",
         ":11:14: TILE: neutral: expected one of its values, found \"none\""},
        {"preference: 1", "preference: 1\ntensors: all",
         ":6:10: tensors: expected none, batch or packed, found \"all\""},
        {"  block_x: TILE\n", "  block_x: TILE\n  side_src: 8\n",
         ":25:13: side_src is for families with tensors: packed"},
        {"name: BLOCK_ROWS", "name: TILE", ":11:11: a second parameter named TILE"},
        {"[16, 32, 64]", "[]", ":9:13: values: expected 1 to 64 items, found 0"},
        {"[16, 32, 64]", "[16, 32, 16]", ":7:11: TILE: the value 16 is given twice"},
        {"[16, 32, 64]", "[32, 2147483648]",
         ":7:11: TILE: the value 2147483648 does not fit 32 bits"},
        {"default: 32", "default: 33", ":7:11: TILE: the default 33 is none of its values"},
        {"BLOCK_ROWS <= TILE", "BLOCK_ROW <= TILE",
         ":16:5: unknown name \"BLOCK_ROW\"; the nearest known: block_rows, BLOCK_ROWS in "
         "\"BLOCK_ROW <= TILE\""},
        {"cols % TILE == 0", "cols %% TILE",
         ":18:11: expected a number, a name or '(', found '%' in \"cols %% TILE\""},
        {"ceil_div(rows,\n    TILE)", "ceil_div(rows,\n    TIL E)",
         ":23:5: unknown name \"TIL\"; the nearest known: TILE in \"ceil_div(rows, TIL E)\""},
        {"  grid_x: ceil_div(cols, TILE)\n", "", ":20:3: the launch lacks the key \"grid_x\""},
        {"  block_x: TILE\n", "", ":20:3: the launch lacks the key \"block_x\""},
        {"block_y", "blocky",
         ":25:3: unknown key \"blocky\"; expected one of block_x, block_y, block_z, "
         "carveout_percent, grid_x, grid_y, grid_z, launches, outer_order, scratch_bytes, "
         "share_axes, shared_bytes, side_dst, side_src, "
         "sum_cols, "
         "unaligned_dst, unaligned_src, unit_words, vec_dst, vec_src, word_bytes"},
        {"summary: through shared memory\n", "", ":1:1: a space file lacks the key \"summary\""},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        char *text = altered(cases[i].from, cases[i].to), *message;
        struct at_family *family;
        struct at_error err = {0};

        put_text("tuning/tile.yaml", text);
        assert_int_equal(read_family(&family, &err), AT_USAGE);
        message = at_format("%s/tuning/tile.yaml%s", folder, cases[i].message);
        assert_string_equal(err.message, message);
        free(message);
        free(text);
    }
}

static void refuses_templates(void **state)
{
    struct at_family *family;
    struct at_error err = {0};
    char *text = altered("tile.cu", "other.cu");

    (void)state;
    put_text("tuning/tile.yaml", text);
    free(text);
    assert_int_equal(read_family(&family, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "tile.yaml:4:11: template: cannot open "));
    assert_non_null(strstr(err.message, "templates/other.cu: No such file"));

    put_file("templates/other.cu", "a\0b", 3);
    assert_int_equal(read_family(&family, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "templates/other.cu is not a text file"));
}

static void formats_configs(void **state)
{
    struct at_family *family = read_good();
    struct at_config config = at_family_default(family);
    char *text = at_config_format(&config);

    (void)state;
    assert_string_equal(text, "BLOCK_ROWS=4 TILE=32");
    free(text);
    config.values[0] = -1;
    text = at_config_format(&config);
    assert_string_equal(text, "BLOCK_ROWS=4 TILE=-1");
    free(text);
    at_family_free(family);
}

static void launches(void **state)
{
    static const int64_t expected[AT_LAUNCH_FIELDS] = {32, 4, 1, 32, 4, 1, 32 * 33 * 8, -1};
    struct at_family *family = read_good();
    struct at_config config = at_family_default(family);
    struct at_problem problem = problem_of("100x1024:f64");
    struct at_launch launch;

    (void)state;
    assert_int_equal(at_config_launch(&config, &problem, &device, &launch, NULL), AT_OK);
    assert_memory_equal(launch.field, expected, sizeof expected);
    at_family_free(family);
}

static void says_why_a_config_is_not_legal(void **state)
{
    static const struct {
        const char *from, *to, *spec, *why; /* why is NULL if it is legal */
    } cases[] = {
        {"TILE", "TILE", "64x64:f32", NULL},
        {"TILE", "TILE", "64x65:f32", "needs cols % TILE == 0; here cols=65, TILE=32"},
        {"BLOCK_ROWS <= TILE", "BLOCK_ROWS > TILE", "64x64:f32",
         "the constraint BLOCK_ROWS > TILE does not hold; here TILE=32, BLOCK_ROWS=4"},
        {"block_x: TILE", "block_x: TILE * 32", "64x64:f32",
         "a block of 4096 threads; the device allows 1024"},
        {"block_x: TILE", "block_x: TILE * 33", "64x64:f32",
         "block_x is 1056; it has to be 1 to 1024"},
        {"block_x: TILE", "block_x: TILE / 64", "64x64:f32",
         "block_x is 0; it has to be 1 to 1024"},
        {"block_y: BLOCK_ROWS", "block_z: 65", "64x64:f32", "block_z is 65; it has to be 1 to 64"},
        {"block_y: BLOCK_ROWS", "grid_z: 65536", "64x64:f32",
         "grid_z is 65536; it has to be 1 to 65535"},
        {"ceil_div(rows,", "ceil_div(rows, 1 + 0 *", "65536x64:b1",
         "grid_y is 65536; it has to be 1 to 65535"},
        {"ceil_div(cols, TILE)", "cols", "1x2147483648:b1",
         "grid_x is 2147483648; it has to be 1 to 2147483647"},
        {"elem_size", "elem_size * 14", "64x64:b16",
         "shared_bytes is 236544; it has to be 0 to 232448"},
        {"elem_size", "elem_size - 9999", "64x64:b1",
         "shared_bytes is -8943; it has to be 0 to 232448"},
        {"block_y: BLOCK_ROWS", "carveout_percent: 101", "64x64:f32",
         "carveout_percent is 101; it has to be -1 to 100"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        char *text = altered(cases[i].from, cases[i].to), *why = NULL;
        struct at_problem problem = problem_of(cases[i].spec);
        struct at_family *family;
        struct at_config config;
        struct at_error err = {0};
        bool legal;

        put_text("tuning/tile.yaml", text);
        if (read_family(&family, &err) != AT_OK)
            fail_msg("%s", err.message);
        config = at_family_default(family);
        assert_int_equal(at_config_legal(&config, &problem, &device, &legal, &why, &err), AT_OK);
        assert_int_equal(legal, cases[i].why == NULL);
        if (cases[i].why)
            assert_string_equal(why, cases[i].why);
        free(why);
        at_family_free(family);
        free(text);
    }
}

static void knows_its_values(void **state)
{
    struct at_family *family = read_good();
    struct at_config config = at_family_default(family);
    struct at_problem problem = problem_of("64x66:f32");
    bool legal = true;
    char *why;

    (void)state;
    config.values[0] = 33;
    assert_int_equal(at_config_legal(&config, &problem, &device, &legal, &why, NULL), AT_OK);
    assert_false(legal);
    assert_memory_equal(why, "TILE=33 is none of its values in /", 34);
    free(why);
    at_family_free(family);
}

static enum at_status read_folder(struct at_family ***families, size_t *count, struct at_error *err)
{
    char *tuning = in_folder("tuning"), *templates = in_folder("templates");
    enum at_status status = at_families_read(families, count, tuning, templates, err);

    free(tuning);
    free(templates);
    return status;
}

static void reads_folders(void **state)
{
    char *second = altered("family: tile", "family: second");
    struct at_family **families;
    struct at_error err = {0};
    size_t count;

    (void)state;
    assert_int_equal(read_folder(&families, &count, &err), AT_USAGE);
    assert_memory_equal(err.message, "no family found: expected NAME.yaml in ", 39);

    put_text("tuning/tile.yaml", good);
    put_text("tuning/b.yaml", second);
    put_text("templates/b.cu", "");
    put_text("tuning/problems.yaml", "not a space\n");
    put_text("tuning/.tile.yaml", "not a space\n");
    put_text("templates/.tile.cu", "");
    put_text("tuning/tile.yaml~", "not a space\n");
    if (read_folder(&families, &count, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(count, 2);
    assert_string_equal(families[0]->name, "second");
    assert_string_equal(families[1]->name, "tile");
    while (count > 0)
        at_family_free(families[--count]);
    free(families);

    put_text("tuning/b.yaml", good);
    assert_int_equal(read_folder(&families, &count, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "are both named \"tile\""));
    put_text("tuning/b.yaml", "");
    assert_int_equal(read_folder(&families, &count, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "b.yaml:1:1: a space file: expected keys and values"));
    free(second);
}

/* Read the shipped family "tile", with more text before its constraints. */
static struct at_family *read_tile(const char *more)
{
    char *space = text_of("tuning/tile.yaml"), *source = text_of("templates/tile.cu"), *grown;
    size_t before;
    struct at_family *family;
    struct at_error err = {0};

    for (before = 0; strncmp(space + before, "constraints:", strlen("constraints:")) != 0; before++)
        assert_int_not_equal(space[before], '\0');
    grown = at_format("%.*s%s%s", (int)before, space, more, space + before);
    put_text("tuning/tile.yaml", grown);
    put_text("tuning/tile.cu", source);
    if (read_family(&family, &err) != AT_OK)
        fail_msg("%s", err.message);
    free(space);
    free(source);
    free(grown);
    return family;
}

static char *macros_of(const struct at_config *config)
{
    return at_render_macros(config, (struct at_problem_kind){.elem_size = 4, .axes = 1});
}

/* What files say of a config stays true when its family gets another parameter. */
static void gets_a_parameter(void **state)
{
    static const char more[] = "  - name: ADDED\n    summary: as before, or otherwise\n"
                               "    values: [1, 0]\n    default: 1\n    neutral: 0\n";
    struct at_family *before = read_tile(""), *after = read_tile(more);
    struct at_config old = at_family_default(before), same, other = at_family_default(after);
    struct at_list names = at_config_to_names(&old), again;
    char *old_text = at_config_format(&old), *same_text, *other_text, *old_macros = macros_of(&old),
         *same_macros, *expected;

    (void)state;
    assert_int_equal(at_config_from_names(&same, &after, 1, "tile", &names, NULL), AT_OK);
    assert_int_equal(same.values[after->param_count - 1], 0);
    same_text = at_config_format(&same);
    assert_string_equal(same_text, old_text); /* as in a journal */
    again = at_config_to_names(&same);        /* as in a profile */
    assert_int_equal(again.count, names.count);
    same_macros = macros_of(&same);
    expected = at_format("%s#define ADDED 0\n", old_macros);
    assert_string_equal(same_macros, expected);
    other_text = at_config_format(&other);
    assert_memory_equal(other_text, "ADDED=1 ", 8);
    at_free(names.items);
    at_free(again.items);
    free(old_text);
    free(same_text);
    free(other_text);
    free(old_macros);
    free(same_macros);
    free(expected);
    at_family_free(before);
    at_family_free(after);
}

int main(void)
{
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folders, remove_folder)
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(reads_all_that_is_there),
        WITH_FOLDER(prefers_the_template_beside),
        WITH_FOLDER(refuses),
        WITH_FOLDER(refuses_templates),
        WITH_FOLDER(formats_configs),
        WITH_FOLDER(launches),
        WITH_FOLDER(says_why_a_config_is_not_legal),
        WITH_FOLDER(knows_its_values),
        WITH_FOLDER(gets_a_parameter),
        WITH_FOLDER(reads_folders),
    };

    return cmocka_run_group_tests_name("family", tests, NULL, NULL);
}
