/* SPDX-License-Identifier: Apache-2.0 */
/* src/space/expr*.c: the constraint language, case by case. */
#include "base/memory.h"
#include "space/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"zero", "one", "two", "minus", "largest", "smallest", "TILE_X"};
static const int64_t values[] = {0, 1, 2, -7, INT64_MAX, INT64_MIN, 32};

static enum at_status parse(struct at_expr **expr, const char *text, struct at_error *err)
{
    return at_expr_parse(expr, text, (struct at_source){"f.yaml", 4, 11}, names, AT_COUNT(names),
                         err);
}

static void evaluates(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"0", 0},
        {"9223372036854775807", INT64_MAX},
        {" ( 1 ) ", 1},
        {"TILE_X", 32},
        {"1 +\n  2", 3},
        /* arithmetic, as in C */
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 4 - 3", 3},
        {"100 / 10 / 5", 2},
        {"7 / 2", 3},
        {"minus / 2", -3},
        {"minus % 2", -1},
        {"7 % -2", 1},
        {"-two", -2},
        {"--two", 2},
        {"-two * -two", 4},
        {"2 - -2", 4},
        {"-9223372036854775807 - 1", INT64_MIN},
        {"smallest + largest", -1},
        {"1 << 62", INT64_C(1) << 62},
        {"minus << 1", -14},
        {"minus >> 1", -4},
        {"1 << 2 + 1", 8},
        {"largest >> 62", 1},
        /* comparison and logic give 0 or 1 */
        {"1 < 2", 1},
        {"2 <= 1", 0},
        {"2 > 1", 1},
        {"1 >= 2", 0},
        {"1 == 1", 1},
        {"1 != 1", 0},
        {"3 > 2 > 1", 0},
        {"1 < 2 == 2 > 1", 1},
        {"!two", 0},
        {"!!two", 1},
        {"!zero == one", 1},
        {"!-two", 0},
        {"-!zero", -1},
        {"two && minus", 1},
        {"two && zero", 0},
        {"zero || minus", 1},
        {"zero || zero", 0},
        {"1 || 0 && 0", 1},
        {"(1 || 0) && 0", 0},
        {"1 && 0 || 1", 1},
        {"1 + 1 && 1", 1},
        {"(two && two) + (zero || two)", 2},
        /* only the needed side is evaluated */
        {"zero && 1 / zero", 0},
        {"one || 1 / zero", 1},
        {"zero == 0 || 8 % zero == 0", 1},
        {"one ? 5 : 1 / zero", 5},
        {"zero ? 1 / zero : 6", 6},
        {"zero ? 1 : zero ? 2 : 3", 3},
        {"one ? zero ? 1 : 2 : 3", 2},
        {"1 + (two ? 10 : 20) * 2", 21},
        {"one ? 1 : 0 ? 1 / zero : 1 / zero", 1},
        {"(zero || one ? 4 : 5) + 1", 5},
        /* calls */
        {"min(3, minus)", -7},
        {"max(3, minus)", 3},
        {"ceil_div(7, 2)", 4},
        {"ceil_div(8, 2)", 4},
        {"gcd(12, 18)", 6},
        {"gcd(-12, 18)", 6},
        {"gcd(7, 0)", 7},
        {"ceil_div(-7, 2)", -3},
        {"ceil_div(-7, -2)", 4},
        {"ceil_div(largest, 2)", INT64_C(1) << 62},
        {"max(min(1, 2), min (3, 4)) + 1", 4},
        {"min(one ? 2 : 3, 4)", 2},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_expr *expr;
        struct at_error err = {0};
        int64_t value = 0;

        if (parse(&expr, cases[i].text, &err) != AT_OK ||
            at_expr_eval(expr, values, &value, &err) != AT_OK)
            fail_msg("%s: %s", cases[i].text, err.message);
        if (value != cases[i].value)
            fail_msg("%s is %lld", cases[i].text, (long long)value);
        at_expr_free(expr);
    }
}

static void fails_to_evaluate(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"1 / zero", "f.yaml:4:13: division by zero in \"1 / zero\""},
        {"1 + 8 % (one - one)", "f.yaml:4:17: division by zero in \"1 + 8 % (one - one)\""},
        {"ceil_div(1, zero)", "f.yaml:4:11: division by zero in \"ceil_div(1, zero)\""},
        {"two * largest", "f.yaml:4:15: overflow of 64 bits in \"two * largest\""},
        {"largest + 1", "f.yaml:4:19: overflow of 64 bits in \"largest + 1\""},
        {"smallest - 1", "f.yaml:4:20: overflow of 64 bits in \"smallest - 1\""},
        {"-smallest", "f.yaml:4:11: overflow of 64 bits in \"-smallest\""},
        {"smallest / -1", "f.yaml:4:20: overflow of 64 bits in \"smallest / -1\""},
        {"smallest % -1", "f.yaml:4:20: overflow of 64 bits in \"smallest % -1\""},
        {"ceil_div(smallest, -1)",
         "f.yaml:4:11: overflow of 64 bits in \"ceil_div(smallest, -1)\""},
        {"two << 62", "f.yaml:4:15: overflow of 64 bits in \"two << 62\""},
        {"1 << 63", "f.yaml:4:13: shift outside 0..62 in \"1 << 63\""},
        {"1 >> -1", "f.yaml:4:13: shift outside 0..62 in \"1 >> -1\""},
        {"1 +\n1 / zero", "f.yaml:5:13: division by zero in \"1 + 1 / zero\""},
        {"one && 1 / zero", "f.yaml:4:20: division by zero in \"one && 1 / zero\""},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_expr *expr;
        struct at_error err = {0};
        int64_t value = 77;

        assert_int_equal(parse(&expr, cases[i].text, &err), AT_OK);
        assert_int_equal(at_expr_eval(expr, values, &value, &err), AT_USAGE);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(value, 77);
        at_expr_free(expr);
    }
}

#define OPERAND "expected a number, a name or '('"

static void fails_to_parse(void **state)
{
    static const struct {
        const char *text, *message; /* the message without the text at its end */
    } cases[] = {
        {"", "f.yaml:4:11: " OPERAND ", found the end"},
        {"1 +", "f.yaml:4:14: " OPERAND ", found the end"},
        {"* 1", "f.yaml:4:11: " OPERAND ", found '*'"},
        {"1 * * 1", "f.yaml:4:15: " OPERAND ", found '*'"},
        {"+1", "f.yaml:4:11: " OPERAND ", found '+'"},
        {"()", "f.yaml:4:12: " OPERAND ", found ')'"},
        {"(1", "f.yaml:4:13: expected ')', found the end"},
        {"1)", "f.yaml:4:12: expected an operator like && or the end, found ')'"},
        {"1 2", "f.yaml:4:13: expected an operator like && or the end, found '2'"},
        {"one two", "f.yaml:4:15: expected an operator like && or the end, found 't'"},
        {"one = 1", "f.yaml:4:15: expected an operator like && or the end, found '='"},
        {"one & 1", "f.yaml:4:15: expected an operator like && or the end, found '&'"},
        {"one === 1", "f.yaml:4:17: " OPERAND ", found '='"},
        {"1 ? 2", "f.yaml:4:16: expected ':', found the end"},
        {"1 : 2", "f.yaml:4:13: expected an operator like && or the end, found ':'"},
        {"1.5", "f.yaml:4:12: expected an operator like && or the end, found '.'"},
        {"1 +\n  * 2", "f.yaml:5:13: " OPERAND ", found '*'"},
        {"1 + \xc3\xa9", "f.yaml:4:15: " OPERAND ", found byte 0xc3"},
        {"0x10", "f.yaml:4:11: not a number (decimal, no 0 in front, at most "
                 "9223372036854775807)"},
        {"010", "f.yaml:4:11: not a number (decimal, no 0 in front, at most 9223372036854775807)"},
        {"1 + 10u", "f.yaml:4:15: not a number (decimal, no 0 in front, at most "
                    "9223372036854775807)"},
        {"9223372036854775808", "f.yaml:4:11: not a number (decimal, no 0 in front, at most "
                                "9223372036854775807)"},
        {"min", "f.yaml:4:14: expected '(', found the end"},
        {"min 1", "f.yaml:4:15: expected '(', found '1'"},
        {"min(1)", "f.yaml:4:16: expected ',', found ')'"},
        {"max(1, 2, 3)", "f.yaml:4:19: expected ')', found ','"},
        {"tile_x", "f.yaml:4:11: unknown name \"tile_x\"; the nearest known: TILE_X"},
        {"1 + larges", "f.yaml:4:15: unknown name \"larges\"; the nearest known: largest"},
        {"clamp(1, 2)", "f.yaml:4:11: unknown name \"clamp\"; the nearest known: zero, one, two"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        size_t length = strlen(cases[i].message);
        struct at_expr *expr;
        struct at_error err = {0};

        assert_int_equal(parse(&expr, cases[i].text, &err), AT_USAGE);
        if (strncmp(err.message, cases[i].message, length) != 0)
            assert_string_equal(err.message, cases[i].message);
        assert_memory_equal(err.message + length, " in \"", 5);
    }
}

/* `count` times `open`, then `middle`, then `count` times `close`. */
static char *wrapped(size_t count, const char *open, const char *middle, const char *close)
{
    char *text = at_alloc(count * (strlen(open) + strlen(close)) + strlen(middle) + 1);

    for (size_t i = 0; i < count; i++)
        strcat(text, open);
    strcat(text, middle);
    for (size_t i = 0; i < count; i++)
        strcat(text, close);
    return text;
}

static void limits_size(void **state)
{
    static const struct {
        size_t count;
        const char *open, *middle, *close;
        const char *refused; /* NULL: accepted */
        int64_t value;
    } cases[] = {
        {63, "(", "1", ")", NULL, 1},
        {64, "(", "1", ")", "more than 64 levels", 0},
        {60, "-", "1", "", NULL, 1},
        {64, "-", "1", "", "more than 64 levels", 0},
        {64, "!", "1", "", "more than 64 levels", 0},
        {63, "zero ? 1 : ", "5", "", NULL, 5},
        {64, "zero ? 1 : ", "5", "", "more than 64 levels", 0},
        {63, "min(9, ", "3", ")", NULL, 3},
        {40, "1 + (2 * (", "3", "))", "more than 64 levels", 0},
        /* A chain is long, not deep. */
        {1023, "1 + ", "1", "", NULL, 1024},
        {1000, "", "1", "+ 1", NULL, 1001},
        {500, "one && ", "two", "", NULL, 1},
        {4095, " ", "1", "", NULL, 1},
        {4096, " ", "1", "", "an expression has at most 4096 characters", 0},
        {4000, "(", "", "", "more than 64 levels", 0},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        char *text = wrapped(cases[i].count, cases[i].open, cases[i].middle, cases[i].close);
        struct at_expr *expr;
        struct at_error err = {0};
        int64_t value;

        if (cases[i].refused) {
            assert_int_equal(parse(&expr, text, &err), AT_USAGE);
            assert_non_null(strstr(err.message, cases[i].refused));
        } else {
            if (parse(&expr, text, &err) != AT_OK)
                fail_msg("%s", err.message);
            assert_int_equal(at_expr_eval(expr, values, &value, &err), AT_OK);
            assert_int_equal(value, cases[i].value);
            at_expr_free(expr);
        }
        free(text);
    }
}

static void knows_its_names_and_text(void **state)
{
    struct at_expr *expr;

    (void)state;
    assert_int_equal(parse(&expr, "zero && min(two,\n5)", NULL), AT_OK);
    assert_true(at_expr_uses(expr, 0, 1));
    assert_false(at_expr_uses(expr, 1, 2));
    assert_true(at_expr_uses(expr, 1, 3));
    assert_true(at_expr_uses(expr, 2, 3));
    assert_false(at_expr_uses(expr, 5, 6));
    assert_false(at_expr_uses(expr, 0, 0));
    assert_string_equal(at_expr_text(expr), "zero && min(two, 5)");
    at_expr_free(expr);
    at_expr_free(NULL);
}

/* "name == VALUE" is recognised, and VALUE is evaluated without the name. */
static void tells_what_is_equated(void **state)
{
    static const struct {
        const char *text;
        bool equates; /* whether it equates TILE_X, index 6 */
        int64_t value;
    } cases[] = {
        {"TILE_X == min(two, 5)", true, 2}, {"TILE_X == (zero ? 3 : minus)", true, -7},
        {"TILE_X == (two < 5)", true, 1},   {"TILE_X == two + 1 * 4", true, 6},
        {"two == TILE_X", false, 0},        {"TILE_X == TILE_X - 1", false, 0},
        {"TILE_X == two && one", false, 0}, {"TILE_X + 1 == two", false, 0},
        {"TILE_X != two", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_expr *expr;
        int64_t value;

        assert_int_equal(parse(&expr, cases[i].text, NULL), AT_OK);
        if (at_expr_equates(expr, 6) != cases[i].equates)
            fail_msg("%s", cases[i].text);
        if (cases[i].equates) {
            assert_int_equal(at_expr_eval_equated(expr, values, &value), AT_OK);
            assert_int_equal(value, cases[i].value);
        }
        at_expr_free(expr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluates),
        cmocka_unit_test(fails_to_evaluate),
        cmocka_unit_test(fails_to_parse),
        cmocka_unit_test(limits_size),
        cmocka_unit_test(knows_its_names_and_text),
        cmocka_unit_test(tells_what_is_equated),
    };

    return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
