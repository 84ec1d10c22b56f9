/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/covariance.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { LEVELS = AT_PARAM_VALUES_MAX, TABLE = LEVELS * LEVELS };

/* The values to choose from. There is no rate of 0: after a few results most parameters would seem
 * not to matter, and predictions would be too sure too soon. */
static const double rates[] = {0.06, 0.2, 0.6, 2};
static const double family_shares[] = {0, 0.2, 0.5, 0.8};
static const double alone_shares[] = {0.1, 0.3, 0.6};
static const double noises[] = {1e-4, 1e-3, 1e-2};

static const double usual_rate = 0.3, usual_share = 0.3, usual_noise = 1e-3;

/* A parameter with at least this many values may be ordered. With fewer, each value has results of
 * its own soon. */
enum { MANY_VALUES = 9 };

/* Half of the distance is whether two values differ, half is by how much. That suits numbers, and
 * does not harm names. Of ordered values, close ones are nearly the same. */
static float distance(size_t a, size_t b, size_t count, bool ordered)
{
    double apart = (double)(a > b ? a - b : b - a) / (double)(count - 1);

    if (a == b)
        return 0;
    return (float)(ordered ? 0.1 + 1.4 * apart : 0.5 + 0.5 * apart);
}

static const struct at_family *family_of(const struct at_covariance *covariance)
{
    return covariance->land->regions[covariance->region].family;
}

static void fill_table(struct at_covariance *covariance, size_t param)
{
    size_t count = family_of(covariance)->params[param].value_count;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            covariance->tables[param * TABLE + i * LEVELS + j] =
                -(float)covariance->rates[param] *
                distance(i, j, count, covariance->ordered[param]);
}

void at_covariance_init(struct at_covariance *covariance, const struct at_landscape *land,
                        size_t region)
{
    size_t params = land->regions[region].family->param_count;

    *covariance = (struct at_covariance){.land = land,
                                         .region = region,
                                         .family = usual_share,
                                         .alone = usual_share,
                                         .noise = usual_noise};
    covariance->tables = at_alloc_array(params, TABLE * sizeof *covariance->tables);
    for (size_t i = 0; i < params; i++) {
        covariance->rates[i] = usual_rate;
        fill_table(covariance, i);
    }
}

void at_covariance_clear(struct at_covariance *covariance)
{
    free(covariance->tables);
    *covariance = (struct at_covariance){0};
}

double at_covariance(const struct at_covariance *covariance, size_t a, size_t b)
{
    size_t params = family_of(covariance)->param_count, alike = 0;
    const uint8_t *x = at_landscape_levels(covariance->land, a);
    const uint8_t *y = at_landscape_levels(covariance->land, b);
    float together = 0;
    double by_parameter;

    for (size_t i = 0; i < params; i++) {
        together += covariance->tables[i * TABLE + y[i] * LEVELS + x[i]];
        alike += x[i] == y[i];
    }
    by_parameter = covariance->alone * (params > 0 ? (double)alike / (double)params : 1) +
                   (1 - covariance->alone) * (double)expf(together);
    return covariance->family + (1 - covariance->family) * by_parameter;
}

/* ---- fitting ---- */

struct data {
    const size_t *configs;
    const double *values;
    size_t count;
    double *lower;
};

/* The logarithm of the likelihood, without a constant, under the amplitude that maximises it. */
static double likelihood(const struct at_covariance *covariance, const struct data *data)
{
    double sum = 0, squares = 0, solved[data->count];

    for (size_t i = 0; i < data->count; i++) {
        double *row = &data->lower[i * data->count], rest = 1 + covariance->noise;

        solved[i] = data->values[data->configs[i]];
        for (size_t j = 0; j < i; j++) {
            const double *other = &data->lower[j * data->count];
            double value = at_covariance(covariance, data->configs[i], data->configs[j]);

            for (size_t k = 0; k < j; k++)
                value -= row[k] * other[k];
            row[j] = value / other[j];
            rest -= row[j] * row[j];
            solved[i] -= row[j] * solved[j];
        }
        row[i] = sqrt(fmax(rest, 1e-9));
        solved[i] /= row[i];
        sum -= log(row[i]);
        squares += solved[i] * solved[i];
    }
    return sum - (double)data->count / 2 * log(1e-9 + squares);
}

/* Set the slot to the likeliest choice. */
static double choose(struct at_covariance *covariance, const struct data *data, double *slot,
                     const double *choices, size_t count, double best)
{
    double kept = *slot;

    for (size_t i = 0; i < count; i++) {
        double likely;

        *slot = choices[i];
        likely = likelihood(covariance, data);
        if (likely > best) {
            best = likely;
            kept = choices[i];
        }
    }
    *slot = kept;
    return best;
}

static double choose_rate(struct at_covariance *covariance, const struct data *data, size_t param,
                          double best)
{
    double *rate = &covariance->rates[param], kept = *rate;
    bool *ordered = &covariance->ordered[param], kept_ordered = *ordered;
    int kinds = family_of(covariance)->params[param].value_count >= MANY_VALUES ? 2 : 1;

    for (int kind = 0; kind < kinds; kind++)
        for (size_t i = 0; i < AT_COUNT(rates); i++) {
            double likely;

            *rate = rates[i];
            *ordered = kind == 1;
            fill_table(covariance, param);
            likely = likelihood(covariance, data);
            if (likely > best) {
                best = likely;
                kept = rates[i];
                kept_ordered = *ordered;
            }
        }
    *rate = kept;
    *ordered = kept_ordered;
    fill_table(covariance, param);
    return best;
}

void at_covariance_fit(struct at_covariance *covariance, const size_t *configs,
                       const double *values, size_t count)
{
    struct data data = {configs, values, count, NULL};
    double best;

    data.lower = at_alloc_array(count, count * sizeof *data.lower);
    best = likelihood(covariance, &data);
    best =
        choose(covariance, &data, &covariance->alone, alone_shares, AT_COUNT(alone_shares), best);
    best = choose(covariance, &data, &covariance->family, family_shares, AT_COUNT(family_shares),
                  best);
    best = choose(covariance, &data, &covariance->noise, noises, AT_COUNT(noises), best);
    for (size_t i = 0; i < family_of(covariance)->param_count; i++)
        best = choose_rate(covariance, &data, i, best);
    free(data.lower);
}
