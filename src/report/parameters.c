/* SPDX-License-Identifier: Apache-2.0 */
/* What each parameter is worth: the loss if it is fixed to each value. */
#include "base/integer.h"
#include "base/memory.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* RANKED: rows of the first table. */
enum { NAME_CHARS = 64, RANKED = 12 };

/* Smaller losses are not ranked. */
static const double least_loss = 0.0005;

struct value {
    int64_t value;
    double best_ns; /* on the current problem; 0: not measured */
    double loss;    /* sum of logarithms */
    size_t problems;
};

struct parameter {
    const char *family; /* borrowed */
    char name[NAME_CHARS];
    struct value values[AT_PARAM_VALUES_MAX];
    size_t count;
    size_t best, worst; /* of the values that most problems have */
};

/* Of a family, and what leaving it out would cost. */
struct effects {
    const char *family;
    struct parameter parameters[AT_PARAMS_MAX];
    size_t count;
    double loss; /* sum of logarithms */
    size_t problems, measured, winners;
};

/* ---- gathering ---- */

/* A parameter or value beyond those that a family may have belongs to no family: it is left out. */
static struct parameter *find_parameter(struct effects *effects, const char *name, size_t length)
{
    struct parameter *added;

    for (size_t i = 0; i < effects->count; i++)
        if (strlen(effects->parameters[i].name) == length &&
            memcmp(effects->parameters[i].name, name, length) == 0)
            return &effects->parameters[i];
    if (effects->count == AT_PARAMS_MAX || length >= NAME_CHARS)
        return NULL;
    added = &effects->parameters[effects->count++];
    added->family = effects->family;
    memcpy(added->name, name, length);
    return added;
}

static struct value *find_value(struct parameter *parameter, int64_t value)
{
    for (size_t i = 0; i < parameter->count; i++)
        if (parameter->values[i].value == value)
            return &parameter->values[i];
    if (parameter->count == AT_PARAM_VALUES_MAX)
        return NULL;
    parameter->values[parameter->count].value = value;
    return &parameter->values[parameter->count++];
}

static void keep_best(double *best, double ns)
{
    if (*best == 0 || ns < *best)
        *best = ns;
}

/* Enter each value of a config, and its time unless this only makes room for it. */
static void each_value(struct effects *effects, const struct at_report_point *point, bool only_room)
{
    const char *config = point->config;

    while (*config) {
        size_t length = strcspn(config, " "), name = strcspn(config, "=");
        struct parameter *parameter;
        struct value *found;
        int64_t value;

        if (name < length && at_integer_parse(config + name + 1, length - name - 1, &value)) {
            parameter = find_parameter(effects, config, name);
            found = parameter ? find_value(parameter, value) : NULL;
            if (found && !only_room)
                keep_best(&found->best_ns, point->ns);
        }
        config += length;
        config += *config == ' ';
    }
}

/* With the value fixed, the best config is one that has it, or one of another family. */
static void add_losses(struct parameter *parameter, double best_ns, double others_ns)
{
    for (size_t i = 0; i < parameter->count; i++) {
        struct value *value = &parameter->values[i];

        if (others_ns > 0)
            keep_best(&value->best_ns, others_ns);
        if (value->best_ns > 0) {
            value->loss += log(value->best_ns / best_ns);
            value->problems++;
        }
        value->best_ns = 0;
    }
}

static void add_search(struct effects *effects, const struct at_report_search *search)
{
    double own = 0, others = 0, best;

    for (size_t i = 0; i < search->count; i++) {
        const struct at_report_point *point = &search->points[i];
        bool is_own = strcmp(point->family, effects->family) == 0;

        if (point->ns <= 0)
            continue;
        keep_best(is_own ? &own : &others, point->ns);
        if (is_own)
            each_value(effects, point, false);
    }
    best = own > 0 && (others == 0 || own < others) ? own : others;
    effects->measured += own > 0;
    effects->winners += own > 0 && own == best;
    if (others > 0) {
        effects->loss += log(others / best);
        effects->problems++;
    }
    for (size_t i = 0; i < effects->count; i++)
        add_losses(&effects->parameters[i], best, others);
}

static double mean_loss(double sum, size_t problems)
{
    return problems > 0 ? exp(sum / (double)problems) - 1 : 0;
}

static double loss_of(const struct value *value)
{
    return mean_loss(value->loss, value->problems);
}

static int compare_values(const void *a, const void *b)
{
    const struct value *x = a, *y = b;

    return x->value < y->value ? -1 : x->value > y->value;
}

/* Sort the values, and find those with the least and the most loss. */
static void find_ends(struct parameter *parameter)
{
    struct value *values = parameter->values;

    qsort(values, parameter->count, sizeof *values, compare_values);
    for (size_t i = 0; i < parameter->count; i++) {
        if (loss_of(&values[i]) < loss_of(&values[parameter->best]))
            parameter->best = i;
        if (loss_of(&values[i]) > loss_of(&values[parameter->worst]))
            parameter->worst = i;
    }
}

/* First all values that occur, then what each of them costs on each problem. */
static void find_effects(const struct at_report_device *device, struct effects *effects)
{
    for (size_t i = 0; i < device->count; i++)
        for (size_t j = 0; device->rows[i].search && j < device->rows[i].search->count; j++) {
            const struct at_report_point *point = &device->rows[i].search->points[j];

            if (point->ns > 0 && strcmp(point->family, effects->family) == 0)
                each_value(effects, point, true);
        }
    for (size_t i = 0; i < device->count; i++)
        if (device->rows[i].search)
            add_search(effects, device->rows[i].search);
    for (size_t i = 0; i < effects->count; i++)
        find_ends(&effects->parameters[i]);
}

/* ---- printing ---- */

/* A value as a cell, with what it costs as a bar. */
static void print_loss(double loss, FILE *out)
{
    double percent = 100 * loss;

    at_put(out, "<td class=\"bar loss\"><i style=\"--v:%.3f\"></i>%.1f",
           percent < 0.05 ? 0 : fmin(percent / 100, 1), percent);
}

static double least_of(const struct parameter *parameter)
{
    return loss_of(&parameter->values[parameter->best]);
}

static double most_of(const struct parameter *parameter)
{
    return loss_of(&parameter->values[parameter->worst]);
}

static int compare_worth(const void *a, const void *b)
{
    const struct parameter *x = *(const struct parameter *const *)a;
    const struct parameter *y = *(const struct parameter *const *)b;
    bool same = least_of(x) == least_of(y);
    double p = same ? most_of(x) : least_of(x), q = same ? most_of(y) : least_of(y);
    int order = strcmp(x->family, y->family);

    if (p != q)
        return p > q ? -1 : 1;
    return order ? order : strcmp(x->name, y->name);
}

/* Rank what costs something in *sorted, which the caller frees; return how many. */
static size_t rank(const struct effects *effects, size_t count, const struct parameter ***ranked)
{
    const struct parameter **sorted = at_alloc_array(count * AT_PARAMS_MAX, sizeof *sorted);
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < effects[i].count; j++)
            if (most_of(&effects[i].parameters[j]) > least_loss &&
                effects[i].parameters[j].count > 1)
                sorted[used++] = &effects[i].parameters[j];
    if (used > 0)
        qsort(sorted, used, sizeof *sorted, compare_worth);
    *ranked = sorted;
    return used;
}

static void print_ranking(const struct at_report *report, const struct parameter *const *sorted,
                          size_t used, FILE *out)
{
    at_html_table(out, "scroll", "sortable",
                  "parameter|name:kernel|best value|loss %% with it|worst value|loss %% with "
                  "it|wide name:what it is");
    for (size_t i = 0; i < used && i < RANKED; i++) {
        const struct parameter *parameter = sorted[i];

        at_put(out, "<tr><th scope=\"row\">%s<td class=\"name\">%s<td>%jd", parameter->name,
               parameter->family, (intmax_t)parameter->values[parameter->best].value);
        print_loss(least_of(parameter), out);
        at_put(out, "<td>%jd", (intmax_t)parameter->values[parameter->worst].value);
        print_loss(most_of(parameter), out);
        at_put(out, "<td class=\"words wide\">%s\n",
               at_report_words(report, parameter->family, parameter->name));
    }
    at_html_table_end(out);
}

static void print_values(const struct at_report *report, const struct parameter *parameter,
                         FILE *out)
{
    const char *words = at_report_words(report, parameter->family, parameter->name);

    for (size_t i = 0; i < parameter->count; i++) {
        at_put(out, "<tr><th scope=\"row\">%s<td>%jd", parameter->name,
               (intmax_t)parameter->values[i].value);
        print_loss(loss_of(&parameter->values[i]), out);
        at_put(out, i > 0 ? "<td class=\"wide\">%s\n" : "<td class=\"words wide\">%s\n",
               i > 0 ? "" : words);
    }
}

static void print_family(const struct at_report *report, const struct effects *effects, FILE *out)
{
    at_put(out, "<details><summary>Every value of %s</summary>\n", effects->family);
    at_html_table(out, "scroll", "sortable",
                  "parameter|value|loss %% if fixed to it|wide name:what it is");
    for (size_t i = 0; i < effects->count; i++)
        print_values(report, &effects->parameters[i], out);
    at_html_table_end(out);
    at_put(out, "</details>\n");
}

static void print_kernels(const struct effects *effects, size_t count, FILE *out)
{
    at_put(out, "<h4>Which kernels are needed?</h4>\n");
    at_html_table(out, "scroll", "sortable",
                  "kernel|tried on problems|fastest on|loss %% without it");
    for (size_t i = 0; i < count; i++) {
        if (effects[i].measured == 0)
            continue;
        at_put(out, "<tr><th scope=\"row\">%s<td>%zu<td>%zu", effects[i].family,
               effects[i].measured, effects[i].winners);
        print_loss(mean_loss(effects[i].loss, effects[i].problems), out);
        at_put(out, "\n");
    }
    at_html_table_end(out);
}

/* The caller frees what is returned, one of each kernel. */
static struct effects *all_effects(const struct at_report *report,
                                   const struct at_report_device *device)
{
    struct effects *effects = at_alloc_array(report->kernel_count, sizeof *effects);

    for (size_t i = 0; i < report->kernel_count; i++) {
        effects[i].family = report->kernels[i];
        find_effects(device, &effects[i]);
    }
    return effects;
}

/* Name the first parameter and those of its kernel that cost the same: were they always set
 * together, nothing tells them apart. */
static void print_tied(const struct at_report *report, const struct parameter *const *sorted,
                       size_t used, FILE *out)
{
    const struct parameter *first = sorted[0];
    size_t count = 0;

    for (size_t i = 0; i < used; i++) {
        const struct parameter *other = sorted[i];
        const char *words = at_report_words(report, other->family, other->name);

        if (other->family != first->family || fabs(least_of(other) - least_of(first)) > 1e-9 ||
            fabs(most_of(other) - most_of(first)) > 1e-9)
            continue;
        at_put(out, "%s<b>%s</b>%s%s%s", count++ ? " and " : "", other->name, words[0] ? " (" : "",
               words, words[0] ? ")" : "");
    }
    at_put(out, " of the kernel <b>%s</b>", first->family);
    if (count == 1)
        at_put(out, " matters most: ");
    else
        at_put(out, " matter most. They are tied: what was tried cannot tell them apart. %s: ",
               first->name);
}

static void print_first(const struct at_report *report, const struct parameter *const *sorted,
                        size_t used, FILE *out)
{
    const struct parameter *first = sorted[0];
    double least = 100 * least_of(first), most = 100 * most_of(first);
    intmax_t best = first->values[first->best].value, worst = first->values[first->worst].value;

    print_tied(report, sorted, used, out);
    if (most - least < 100 * least_loss)
        at_put(out, "each of its values costs %.1f&#8239;%% in the geometric mean if it is fixed.",
               least);
    else if (least > 100 * least_loss)
        at_put(out,
               "no value suits all problems. Fixed to its best value, %jd, it costs %.1f&#8239;%% "
               "in the geometric mean; fixed to %jd, %.1f&#8239;%%.",
               best, least, worst, most);
    else
        at_put(out,
               "fixed to %jd it costs %.1f&#8239;%% in the geometric mean. Fixed to %jd it costs "
               "nothing.",
               worst, most, best);
}

void at_report_parameters(const struct at_report *report, const struct at_report_device *device,
                          FILE *lead, FILE *out)
{
    struct effects *effects = all_effects(report, device);
    const struct parameter **sorted;
    size_t used = rank(effects, report->kernel_count, &sorted);

    if (used > 0)
        print_first(report, sorted, used, lead);
    else
        at_put(lead, "None that was tried with several values: fixing one costs nothing.");
    at_put(lead, " Only what was tried counts: %'jd evaluations a problem.",
           (intmax_t)(device->points / (int64_t)device->count));
    at_put(out,
           "<h3 id=\"d%zu-parameters\">All parameters</h3>\n<p>If a parameter were fixed to one "
           "value, the best config, of any kernel, would be slower by this much in the geometric "
           "mean over the problems. Where even the best value costs something, the parameter has "
           "to be searched; where it costs nothing, it can be fixed. Only what was tried counts, "
           "so a value that the searches seldom tried looks worse than it is.</p>\n",
           device->index);
    print_ranking(report, sorted, used, out);
    for (size_t i = 0; i < report->kernel_count; i++)
        if (effects[i].measured > 0)
            print_family(report, &effects[i], out);
    print_kernels(effects, report->kernel_count, out);
    free(sorted);
    free(effects);
}
