/* SPDX-License-Identifier: Apache-2.0 */
/* Block scales: the rules on blocks of tests/data/block-scales.txt, which PyTorch and NumPy made,
 * and the layouts of scales. */
#include "base/memory.h"
#include "problem/block_scale.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source_tree.h"

enum { ELEMENTS = 8 };

/* Check a line of the table. */
static void check_block(char *line, bool *seen)
{
    char rule_name[16], from_name[8], to_name[8], tensor_text[16], elements[128], results[32];
    unsigned scale, bits;
    float tensor = 0;
    unsigned char source[4 * ELEMENTS];
    struct at_scaled_result block = {.block_rows = 1, .block_cols = ELEMENTS};
    enum at_number from = AT_NUMBERS;
    uint8_t made[ELEMENTS] = {0};
    uint32_t stored = 0;
    bool has_tensor;

    assert_int_equal(sscanf(line, "%15s %7s %7s %15s %127s %x %31s", rule_name, from_name, to_name,
                            tensor_text, elements, &scale, results),
                     7);
    block.rule = at_block_rule_find(rule_name, strlen(rule_name));
    assert_non_null(block.rule);
    seen[block.rule - at_block_rules] = true;
    assert_true(at_number_find(&from, from_name, strlen(from_name)));
    assert_true(at_number_find(&block.to, to_name, strlen(to_name)));
    has_tensor = sscanf(tensor_text, "%x", &bits) == 1;
    if (has_tensor)
        tensor = at_f32_of(bits);
    for (int i = 0, bytes = at_number_formats[from].bytes; i < ELEMENTS; i++) {
        assert_int_equal(sscanf(elements + i * (2 * bytes + 1), "%x", &bits), 1);
        memcpy(source + i * bytes, &bits, (size_t)bytes);
    }
    at_block_apply(&block, from, source, 1, ELEMENTS, ELEMENTS, has_tensor ? &tensor : NULL, made,
                   ELEMENTS, &stored);
    if (stored != scale)
        fail_msg("%s: scale %x", line, stored);
    for (int i = 0; i < ELEMENTS; i++) {
        int result = block.to == AT_E2M1 ? made[i / 2] >> i % 2 * 4 & 0x0f : made[i];

        assert_int_equal(sscanf(results + 2 * i, "%2x", &bits), 1);
        if (result != (int)bits)
            fail_msg("%s: result %d is %x", line, i, (unsigned)result);
    }
}

static void rules_give_the_bytes_of_their_libraries(void **state)
{
    char *path = path_of("tests/data/block-scales.txt");
    FILE *file = fopen(path, "r");
    bool seen[AT_BLOCK_RULES] = {false};
    char line[256];

    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (line[0] != '#')
            check_block(line, seen);
    fclose(file);
    at_free(path);
    for (int i = 0; i < AT_BLOCK_RULES; i++)
        if (!seen[i])
            fail_msg("no block for the rule %s", at_block_rules[i].name);
}

/* The places of the scales of a 5x6 matrix, row by row; of the swizzled layout, of some scales of a
 * 200x6 matrix. */
static void each_layout_has_its_places(void **state)
{
    static const struct {
        enum at_scale_layout layout;
        int64_t rows, cols;
        int bytes;
        int64_t row, col, place, places;
    } rows[] = {
        {AT_SCALES_PLAIN, 5, 6, 4, 2, 3, 15, 30},
        {AT_SCALES_TRANSPOSED, 5, 6, 4, 2, 3, 17, 30},
        {AT_SCALES_ALIGNED, 5, 6, 4, 2, 3, 26, 48},
        {AT_SCALES_ALIGNED, 5, 6, 1, 2, 3, 50, 96},
        {AT_SCALES_ALIGNED, 8, 6, 4, 7, 5, 47, 48},
        {AT_SCALES_SWIZZLED, 200, 6, 1, 0, 3, 3, 2048},
        {AT_SCALES_SWIZZLED, 200, 6, 1, 1, 0, 16, 2048},
        {AT_SCALES_SWIZZLED, 200, 6, 1, 33, 2, 22, 2048},
        {AT_SCALES_SWIZZLED, 200, 6, 1, 127, 3, 511, 2048},
        {AT_SCALES_SWIZZLED, 200, 6, 1, 0, 4, 512, 2048},
        {AT_SCALES_SWIZZLED, 200, 6, 1, 199, 5, 512 * 3 + 7 * 16 + 2 * 4 + 1, 2048},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(rows); i++) {
        assert_int_equal(at_scale_place(rows[i].layout, rows[i].rows, rows[i].cols, rows[i].bytes,
                                        rows[i].row, rows[i].col),
                         rows[i].place);
        assert_int_equal(at_scale_places(rows[i].layout, rows[i].rows, rows[i].cols, rows[i].bytes),
                         rows[i].places);
    }
}

/* A 3x5 source in blocks of 2x4: the last blocks are shorter. Magnitudes are powers of two. */
static void blocks_at_the_edges_are_shorter(void **state)
{
    static const float source[] = {1, 2, 4, 8, 16, 0, -1, 1, 1, 32, 64, 0, 0, 0, 2};
    static const struct {
        bool transposed;
        float scales[4]; /* times 256 */
        uint8_t results[15];
    } cases[] = {
        {false,
         {8, 32, 64, 2},
         {0x60, 0x68, 0x70, 0x78, 0x70, 0, 0xe0, 0x60, 0x60, 0x78, 0x78, 0, 0, 0, 0x78}},
        {true,
         {8, 64, 32, 2},
         {0x60, 0, 0x78, 0x68, 0xe0, 0, 0x70, 0x60, 0, 0x78, 0x60, 0, 0x70, 0x78, 0x78}},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        const struct at_scaled_result result = {.rule = &at_block_rules[AT_RULE_TE_POW2],
                                                .to = AT_E4M3,
                                                .block_rows = 2,
                                                .block_cols = 4,
                                                .transposed = cases[i].transposed};
        uint8_t results[15] = {0};
        float scales[4];

        at_block_apply(&result, AT_F32, source, 3, 5, 5, NULL, results, cases[i].transposed ? 3 : 5,
                       scales);
        for (size_t k = 0; k < AT_COUNT(scales); k++)
            assert_true(scales[k] == cases[i].scales[k] / 256);
        assert_memory_equal(results, cases[i].results, sizeof results);
    }
}

/* Two results in a byte, the first one in the lower half. */
static void four_bits_are_packed(void **state)
{
    static const float source[] = {6, 1, 0.5F, 3, 1.5F, -2};
    static const uint8_t as_it_lies[] = {0x27, 0x71, 0xe5}, transposed[] = {0x57, 0x32, 0xc1};
    uint8_t results[3], scales[3];
    struct at_scaled_result result = {
        .rule = &at_block_rules[AT_RULE_NVFP4], .to = AT_E2M1, .block_rows = 2, .block_cols = 3};

    (void)state;
    at_block_apply(&result, AT_F32, source, 1, 6, 6, NULL, results, 6, scales);
    assert_int_equal(scales[0], 0x38); /* 1 */
    assert_int_equal(scales[1], 0x30); /* 0.5 */
    assert_memory_equal(results, as_it_lies, sizeof results);
    result.transposed = true;
    result.block_cols = 6;
    at_block_apply(&result, AT_F32, source, 2, 3, 3, NULL, results, 2, scales);
    assert_memory_equal(results, transposed, sizeof results);
}

/* With tables each element of two bytes has the results that it has without. The blocks are short,
 * so that each pattern is multiplied with several factors. */
static void tables_change_nothing(void **state)
{
    enum { ROWS = 256, COLS = 256 };
    static const enum at_number from[] = {AT_BF16, AT_F16, AT_F32};
    static const enum at_number to[] = {AT_E4M3, AT_E5M2, AT_E2M1};
    static const int64_t widths[] = {1, 3, 32};
    static uint32_t source[ROWS * COLS];
    static uint8_t results[2][ROWS * COLS], scales[2][4 * ROWS * COLS];
    struct at_block_tables *tables = malloc(sizeof *tables);
    uint32_t draw = 1;

    (void)state;
    assert_non_null(tables);
    for (size_t i = 0; i < (size_t)AT_BLOCK_RULES * AT_COUNT(from) * AT_COUNT(widths); i++) {
        const enum at_number type = from[i / AT_COUNT(widths) % AT_COUNT(from)];
        struct at_scaled_result result = {
            .rule = &at_block_rules[i / AT_COUNT(widths) / AT_COUNT(from)],
            .to = to[i % AT_COUNT(to)],
            .block_rows = 1,
            .block_cols = widths[i % AT_COUNT(widths)],
        };

        for (size_t k = 0; k < AT_COUNT(source); k++) /* all patterns; of f32, drawn ones */
            if (type == AT_F32)
                source[k] = draw = draw * 1664525 + 1013904223;
            else
                ((uint16_t *)source)[k] = (uint16_t)(k * 257);
        at_block_tabulate(tables, result.rule, type, result.to);
        for (int with = 0; with < 2; with++) {
            result.tables = with ? tables : NULL;
            at_block_apply(&result, type, source, ROWS, COLS, COLS, NULL, results[with], COLS,
                           scales[with]);
        }
        assert_memory_equal(results[0], results[1], sizeof results[0]);
        assert_memory_equal(scales[0], scales[1], sizeof scales[0]);
    }
    free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_give_the_bytes_of_their_libraries),
        cmocka_unit_test(each_layout_has_its_places),
        cmocka_unit_test(blocks_at_the_edges_are_shorter),
        cmocka_unit_test(four_bits_are_packed),
        cmocka_unit_test(tables_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
