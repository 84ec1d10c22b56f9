/* SPDX-License-Identifier: Apache-2.0 */
#include "report/axis.h"

#include <math.h>

/* 1, 2 or 5 times a power of ten: the least that is not below `step`. */
static double round_step(double step)
{
    double power = pow(10, floor(log10(step)));
    double digits = step / power;

    return power * (digits <= 1.0001 ? 1 : digits <= 2.0001 ? 2 : digits <= 5.0001 ? 5 : 10);
}

/* How many of an axis' numbers make one of its unit. */
static double scale_of(enum at_axis_unit unit)
{
    static const double scales[] = {[AT_AXIS_PERCENT] = 10,
                                    [AT_AXIS_US] = 1000,
                                    [AT_AXIS_MHZ] = 1000,
                                    [AT_AXIS_WATTS] = 1000,
                                    [AT_AXIS_SECONDS] = 1000};

    return unit < sizeof scales / sizeof *scales && scales[unit] > 0 ? scales[unit] : 1;
}

static bool is_binary(const struct at_plot_axis *axis)
{
    return axis->unit == AT_AXIS_BYTES || axis->unit == AT_AXIS_BINARY;
}

struct at_plot_axis at_axis_linear(double low, double high, enum at_axis_unit unit)
{
    double scale = scale_of(unit), step;

    if (!(high > low))
        high = low + scale;
    step = round_step((high - low) / scale / 5) * scale;
    return (struct at_plot_axis){.low = floor(low / step + 1e-9) * step,
                                 .high = ceil(high / step - 1e-9) * step,
                                 .unit = unit};
}

struct at_plot_axis at_axis_logarithmic(double low, double high, enum at_axis_unit unit)
{
    struct at_plot_axis axis = {.logarithmic = true, .unit = unit};
    double room = pow(high / low, 0.05);

    room = fmax(room, 1.02);
    axis.low = low / room;
    axis.high = high * room;
    return axis;
}

double at_axis_place(const struct at_plot_axis *axis, double value)
{
    double share;

    value = fmin(fmax(value, axis->low), axis->high);
    share = axis->logarithmic ? log(value / axis->low) / log(axis->high / axis->low)
                              : (value - axis->low) / (axis->high - axis->low);
    return axis->from + share * (axis->to - axis->from);
}

static size_t add_between(const struct at_plot_axis *axis, double value, size_t count,
                          double ticks[AT_AXIS_TICKS_MAX])
{
    double room = 1e-9 * (axis->high - axis->low);

    if (count < AT_AXIS_TICKS_MAX && value >= axis->low - room && value <= axis->high + room)
        ticks[count++] = value;
    return count;
}

/* Powers of 2, of 4, of 16, ... until there are few enough. */
static size_t binary_ticks(const struct at_plot_axis *axis, int most,
                           double ticks[AT_AXIS_TICKS_MAX])
{
    double octaves = log2(axis->high / axis->low);
    int every = 1;
    size_t count = 0;

    while (octaves / every > most)
        every *= 2;
    for (int i = (int)floor(log2(axis->low) / every); i * every <= log2(axis->high) + 1e-9; i++)
        count = add_between(axis, exp2((double)i * every), count, ticks);
    return count;
}

static size_t linear_ticks(const struct at_plot_axis *axis, int most,
                           double ticks[AT_AXIS_TICKS_MAX])
{
    double scale = scale_of(axis->unit);
    double step = round_step((axis->high - axis->low) / scale / most) * scale;
    size_t count = 0;

    for (double i = ceil(axis->low / step - 1e-9); i <= axis->high / step + 1e-9; i++)
        count = add_between(axis, i == 0 ? 0 : i * step, count, ticks); /* no -0 */
    return count;
}

/* 1, 2, 5 of each power of ten, or only 1; evenly spaced values within less than a power. */
static size_t decimal_ticks(const struct at_plot_axis *axis, int most,
                            double ticks[AT_AXIS_TICKS_MAX])
{
    static const double digits[] = {1, 2, 5};
    double scale = scale_of(axis->unit), powers = log10(axis->high / axis->low);
    int each = 3 * powers > most ? 1 : 3, every = 1;
    size_t count = 0;

    if (powers < 1)
        return linear_ticks(axis, most, ticks);
    while (powers * each / every > most)
        every++;
    for (int i = (int)floor(log10(axis->low / scale)); i <= log10(axis->high / scale); i++)
        for (int j = 0; j < each && (i % every == 0 || each > 1); j++)
            count = add_between(axis, scale * digits[j] * pow(10, i), count, ticks);
    return count;
}

size_t at_axis_ticks(const struct at_plot_axis *axis, int most, double ticks[AT_AXIS_TICKS_MAX])
{
    if (!axis->logarithmic)
        return linear_ticks(axis, most, ticks);
    return is_binary(axis) ? binary_ticks(axis, most, ticks) : decimal_ticks(axis, most, ticks);
}

void at_axis_label(FILE *out, const struct at_plot_axis *axis, double value)
{
    static const char *const bytes[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    static const char *const binary[] = {"", " Ki", " Mi", " Gi", " Ti"};
    size_t power = 0;

    value /= scale_of(axis->unit);
    if (is_binary(axis)) {
        for (; value >= 1024 && power < 4; power++)
            value /= 1024;
        fprintf(out, "%g%s", value, (axis->unit == AT_AXIS_BYTES ? bytes : binary)[power]);
    } else {
        fprintf(out, "%.6g%s", value, axis->unit == AT_AXIS_PERCENT ? " %" : "");
    }
}
