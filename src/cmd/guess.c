/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/guess.h"

#include "base/choice.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "problem/problem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Read 8_192, 8'192, 1e3, 64.0, 4k or 4Ki at *at, and go behind it. -1: it is too large. */
static int64_t read_number(const char **at)
{
    static const char units[] = "kmg";
    const char *text = *at, *unit;
    int64_t number = 0, factor = 1, value;
    bool fits = true;

    for (; is_digit(*text) || *text == '_' || *text == '\''; text++)
        if (is_digit(*text))
            fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
                   !__builtin_add_overflow(number, *text - '0', &number);
    if (*text == '.' && text[1] == '0')
        text += 1 + strspn(text + 1, "0");
    if (*text && (unit = strchr(units, tolower((unsigned char)*text)))) {
        factor = INT64_C(1024) << 10 * (unit - units);
        text += text[1] == 'i' ? 2 : 1;
    } else if ((*text == 'e' || *text == 'E') && is_digit(text[1])) {
        for (long tens = strtol(text + 1, (char **)&text, 10); tens > 0 && fits; tens--)
            fits = !__builtin_mul_overflow(factor, 10, &factor);
    }
    *at = text;
    return fits && !__builtin_mul_overflow(number, factor, &value) ? value : -1;
}

/* ---- problems ---- */

struct guess {
    int64_t extents[AT_RANK_MAX];
    size_t rank;
    char *type; /* as it was written; NULL: none */
    FILE *keys; /* with a comma before each */
    bool has_perm;
};

static const char *find_key(const char *word)
{
    /* What other programs call a key. The rest is known by its spelling. */
    static const char *const others[][2] = {
        {"axes", "perm"},   {"axis", "perm"},  {"order", "perm"},         {"dims", "perm"},
        {"ld", "ld_src"},   {"lda", "ld_src"}, {"pitch", "ld_src"},       {"ldb", "ld_dst"},
        {"count", "batch"}, {"n", "batch"},    {"strides", "strides_src"}};
    char nearest[64];
    size_t i = 0;

    for (; i < AT_COUNT(others); i++)
        if (strcasecmp(others[i][0], word) == 0)
            return others[i][1];
    at_suggest(nearest, sizeof nearest, word, at_problem_keys, AT_PROBLEM_KEYS);
    for (i = 0; strncmp(nearest, at_problem_keys[i], strcspn(nearest, ",")) != 0;)
        i++;
    return at_problem_keys[i];
}

/* Axes may be negative, as in NumPy, or counted from 1. */
static void put_perm(const struct guess *guess, const char *text)
{
    const char *value = text;
    int64_t axes[AT_RANK_MAX], rank = (int64_t)guess->rank, least = rank, most = 0;
    bool apart = value[strspn(value, "0123456789")];
    size_t count = 0;

    while (*value && count < AT_RANK_MAX) {
        bool negative = *value == '-' && (value == text || !is_digit(value[-1]));

        if (!is_digit(value[negative])) {
            value++;
            continue;
        }
        value += negative;
        axes[count] = apart ? strtol(value, (char **)&value, 10) : *value++ - '0';
        if (negative)
            axes[count] = rank - axes[count];
        least = axes[count] < least ? axes[count] : least;
        most = axes[count] > most ? axes[count] : most;
        count++;
    }
    for (size_t i = 0; i < count; i++)
        fprintf(guess->keys, "%s%jd",
                i == 0      ? ",perm="
                : rank > 10 ? "."
                            : "",
                (intmax_t)(axes[i] - (least == 1 && most == rank)));
}

/* Take the value of a key. It goes up to the next word. Returns where that is. */
static const char *take_value(struct guess *guess, const char *key, const char *value)
{
    static const char ends[] = " ,;/)]}";
    const char *end = value, *at = value;
    char *text;
    int64_t number;

    while (*end && !(end > value && strchr(ends, end[-1]) && isalpha((unsigned char)*end)))
        end++;
    text = at_strndup(value, (size_t)(end - value));
    for (size_t last = strlen(text); last > 0 && strchr(ends, text[last - 1]);)
        text[--last] = '\0';
    number = read_number(&at);
    if (strcmp(key, "perm") == 0) {
        put_perm(guess, text);
        guess->has_perm = true;
    } else if (strcmp(key, "inplace") == 0) {
        fputs(*text && strchr("0nNfF", *text) ? "" : ",inplace=1", guess->keys);
    } else if (at == value + strlen(text)) {
        fprintf(guess->keys, ",%s=%jd", key, (intmax_t)number);
    } else {
        fprintf(guess->keys, ",%s=%s", key, text);
    }
    free(text);
    return end;
}

/* Read the letters of axes, which may stand apart. Returns what is behind them. */
static const char *read_axes(char axes[static AT_RANK_MAX + 1], const char *at)
{
    size_t rank = 0;

    for (; rank < AT_RANK_MAX && (isalpha((unsigned char)*at) || *at == ' '); at++)
        if (*at != ' ')
            axes[rank++] = *at;
    axes[rank] = '\0';
    return at;
}

/* Take the axes of an einsum: ijk->kji is perm=210. Returns what is behind it; NULL: it is none. */
static const char *take_einsum(struct guess *guess, const char *at)
{
    char from[AT_RANK_MAX + 1], to[AT_RANK_MAX + 1];
    size_t rank;

    at = read_axes(from, at);
    if (strncmp(at, "->", 2) != 0)
        return NULL;
    at = read_axes(to, at + 2);
    rank = strlen(from);
    if (rank < 2 || strlen(to) != rank || isalnum((unsigned char)*at))
        return NULL;
    for (size_t i = 0; i < rank; i++)
        if (strchr(from, from[i]) != from + i || !strchr(to, from[i]))
            return NULL;
    while (guess->rank < rank) /* an example, where no extents are given */
        guess->extents[guess->rank++] = 64;
    for (size_t i = 0; i < rank; i++)
        fprintf(guess->keys, "%s%zu",
                i == 0             ? ",perm="
                : guess->rank > 10 ? "."
                                   : "",
                (size_t)(strchr(from, to[i]) - from));
    guess->has_perm = true;
    return at;
}

/* Take a type, or a key with its value, or an einsum. Returns what is behind it. */
static const char *take_word(struct guess *guess, const char *at, bool behind_arrow)
{
    const char *einsum = take_einsum(guess, at);
    size_t length = 0;
    char *word;

    if (einsum)
        return einsum;
    while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_.", at[length])))
        length++;
    word = at_strndup(at, length);
    at += length;
    if (*at == '=' || (*at == ':' && guess->type) || strcasecmp(word, "inplace") == 0) {
        at = take_value(guess, find_key(word), at + (*at == '=' || *at == ':'));
    } else if (!guess->type) {
        const char *dot = strrchr(word, '.'); /* torch.float32 */

        guess->type = at_strdup(dot ? dot + 1 : word);
    } else if (behind_arrow) { /* f32->f16 is f32:f16 */
        char *source = guess->type;

        guess->type = at_format("%s:%s", source, word);
        free(source);
    }
    free(word);
    return at;
}

static char *guess_text(const char *spec)
{
    struct at_text_stream keys, whole;
    struct guess guess = {.keys = at_text_open(&keys)};
    FILE *out = at_text_open(&whole);
    char *text;

    for (const char *at = spec; *at;) {
        size_t times = *at == 'x' || *at == 'X' ? 1 : strncmp(at, "by", 2) == 0 ? 2 : 0;

        if (is_digit(*at) && guess.rank < AT_RANK_MAX)
            guess.extents[guess.rank++] = read_number(&at);
        else if (times && (!isalpha((unsigned char)at[times]) ||
                           (times == 1 && at > spec && is_digit(at[-1])))) /* 64x64xf32 */
            at += times;
        else if (isalpha((unsigned char)*at))
            at = take_word(&guess, at, at > spec && at[-1] == '>');
        else
            at++;
    }
    if (guess.rank == 1) /* a square */
        guess.extents[guess.rank++] = guess.extents[0];
    for (size_t i = 0; i < guess.rank; i++)
        fprintf(out, "%s%jd", i ? "x" : "", (intmax_t)guess.extents[i]);
    text = at_text_close(&keys, NULL);
    fprintf(out, ":%s", guess.type ? guess.type : "f32");
    for (size_t i = guess.rank; guess.rank > 2 && !guess.has_perm && i-- > 0;)
        fprintf(out, "%s%zu", i + 1 == guess.rank ? ",perm=" : guess.rank > 10 ? "." : "", i);
    fputs(text, out);
    free(text);
    free(guess.type);
    return at_text_close(&whole, NULL);
}

char *at_guess_problem(const char *spec)
{
    struct at_problem problem;
    char *guess = guess_text(spec);

    if (strcmp(guess, spec) != 0 && at_problem_parse(&problem, guess, NULL) == AT_OK)
        return guess;
    free(guess);
    return NULL;
}

enum at_status at_guess_advise(struct at_error *err, char *guess)
{
    char *advice = guess ? at_format("did you mean %s?", guess) : NULL;

    if (advice)
        at_advise(err, advice);
    free(advice);
    free(guess);
    return err->status;
}

bool at_guess_is_problem(const char *argument)
{
    char *guess = NULL;
    bool is = at_problem_is_spec(argument) ||
              (access(argument, F_OK) != 0 && (guess = at_guess_problem(argument)));

    free(guess);
    return is;
}
