/* SPDX-License-Identifier: Apache-2.0 */
/* What each parameter is worth: the loss if it is fixed to each value. */
#include "base/integer.h"
#include "base/memory.h"
#include "report/html.h"
#include "report/sections.h"
#include "space/family.h"

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

static void print_loss(double loss, FILE *out)
{
    double percent = 100 * loss;

    if (percent < 0.05)
        fputs("<td class=\"bar\">0.0", out);
    else
        fprintf(out, "<td class=\"bar loss\"><i style=\"width:%.1f%%\"></i><span>%.1f</span>",
                fmin(percent, 100), percent);
}

static int compare_worth(const void *a, const void *b)
{
    const struct parameter *x = *(const struct parameter *const *)a;
    const struct parameter *y = *(const struct parameter *const *)b;
    double p = loss_of(&x->values[x->best]), q = loss_of(&y->values[y->best]);
    int order = strcmp(x->family, y->family);

    if (p == q) {
        p = loss_of(&x->values[x->worst]);
        q = loss_of(&y->values[y->worst]);
    }
    if (p != q)
        return p > q ? -1 : 1;
    return order ? order : strcmp(x->name, y->name);
}

static void print_ranked(const struct at_report *report, const struct parameter *parameter,
                         FILE *out)
{
    fputs("<tr><th scope=\"row\">", out);
    at_html(out, parameter->name);
    fputs("<td class=\"name\">", out);
    at_html(out, parameter->family);
    fprintf(out, "<td>%jd", (intmax_t)parameter->values[parameter->best].value);
    print_loss(loss_of(&parameter->values[parameter->best]), out);
    fprintf(out, "<td>%jd", (intmax_t)parameter->values[parameter->worst].value);
    print_loss(loss_of(&parameter->values[parameter->worst]), out);
    fputs("<td class=\"words\">", out);
    at_html(out, at_report_words(report, parameter->family, parameter->name));
    putc('\n', out);
}

/* Rank what costs something in *sorted, which the caller frees; return how many. */
static size_t rank(const struct effects *effects, size_t count, const struct parameter ***ranked)
{
    const struct parameter **sorted = at_alloc_array(count * AT_PARAMS_MAX, sizeof *sorted);
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < effects[i].count; j++) {
            const struct parameter *parameter = &effects[i].parameters[j];

            if (loss_of(&parameter->values[parameter->worst]) > least_loss && parameter->count > 1)
                sorted[used++] = parameter;
        }
    if (used > 0)
        qsort(sorted, used, sizeof *sorted, compare_worth);
    *ranked = sorted;
    return used;
}

static void print_ranking(const struct at_report *report, const struct effects *effects,
                          size_t count, FILE *out)
{
    const struct parameter **sorted;
    size_t used = rank(effects, count, &sorted);

    fputs("<div class=\"scroll\"><table class=\"sortable\"><thead><tr><th>parameter</th>"
          "<th class=\"name\">kernel</th><th>best value</th><th>loss % with it</th>"
          "<th>worst value</th><th>loss % with it</th><th class=\"name\">what it "
          "is</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < used && i < RANKED; i++)
        print_ranked(report, sorted[i], out);
    fputs("</tbody></table></div>\n", out);
    free(sorted);
}

static void print_family(const struct at_report *report, const struct effects *effects, FILE *out)
{
    fputs("<details><summary>Every value of ", out);
    at_html(out, effects->family);
    fputs(
        "</summary>\n<div class=\"scroll\"><table class=\"sortable\"><thead><tr>"
        "<th>parameter</th><th>value</th><th>loss % if fixed to it</th><th class=\"name\">what it "
        "is</th></tr></thead><tbody>\n",
        out);
    for (size_t i = 0; i < effects->count; i++) {
        const struct parameter *parameter = &effects->parameters[i];

        for (size_t j = 0; j < parameter->count; j++) {
            fputs("<tr><th scope=\"row\">", out);
            at_html(out, parameter->name);
            fprintf(out, "<td>%jd", (intmax_t)parameter->values[j].value);
            print_loss(loss_of(&parameter->values[j]), out);
            if (j == 0) {
                fputs("<td class=\"words\">", out);
                at_html(out, at_report_words(report, parameter->family, parameter->name));
            }
            fputs(j > 0 ? "<td>\n" : "\n", out);
        }
    }
    fputs("</tbody></table></div></details>\n", out);
}

static void print_kernels(const struct effects *effects, size_t count, FILE *out)
{
    fputs("<h4>Which kernels are needed?</h4>\n<div class=\"scroll\"><table "
          "class=\"sortable\"><thead><tr>"
          "<th>kernel</th><th>tried on problems</th><th>fastest on</th><th>loss % without it</th>"
          "</tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].measured == 0)
            continue;
        fputs("<tr><th scope=\"row\">", out);
        at_html(out, effects[i].family);
        fprintf(out, "<td>%zu<td>%zu", effects[i].measured, effects[i].winners);
        print_loss(mean_loss(effects[i].loss, effects[i].problems), out);
        putc('\n', out);
    }
    fputs("</tbody></table></div>\n", out);
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

static void print_first(const struct at_report *report, const struct parameter *first, FILE *out)
{
    const struct value *best = &first->values[first->best], *worst = &first->values[first->worst];
    const char *words = at_report_words(report, first->family, first->name);

    fputs("<b>", out);
    at_html(out, first->name);
    fputs(" of ", out);
    at_html(out, first->family);
    fputs("</b>", out);
    if (words[0]) {
        fputs(" (", out);
        at_html(out, words);
        putc(')', out);
    }
    if (loss_of(worst) - loss_of(best) < least_loss)
        fprintf(out,
                " matters most: each of its values costs %.1f&#8239;%% in the geometric mean if it "
                "is fixed.",
                100 * loss_of(best));
    else if (loss_of(best) > least_loss)
        fprintf(out,
                " matters most: no value suits all problems. Fixed to its best value, %jd, it "
                "costs %.1f&#8239;%% in the geometric mean; fixed to %jd, %.1f&#8239;%%.",
                (intmax_t)best->value, 100 * loss_of(best), (intmax_t)worst->value,
                100 * loss_of(worst));
    else
        fprintf(out,
                " matters most: fixed to %jd it costs %.1f&#8239;%% in the geometric mean. Fixed "
                "to %jd it costs nothing.",
                (intmax_t)worst->value, 100 * loss_of(worst), (intmax_t)best->value);
}

void at_report_parameters_lead(const struct at_report *report,
                               const struct at_report_device *device, FILE *out)
{
    struct effects *effects = all_effects(report, device);
    const struct parameter **sorted;

    if (rank(effects, report->kernel_count, &sorted) > 0)
        print_first(report, sorted[0], out);
    else
        fputs("None that was tried with several values: fixing one costs nothing.", out);
    free(sorted);
    free(effects);
}

void at_report_parameters(const struct at_report *report, const struct at_report_device *device,
                          FILE *out)
{
    struct effects *effects;

    if (device->points == 0)
        return;
    effects = all_effects(report, device);
    fprintf(out,
            "<h3 id=\"d%zu-parameters\">All parameters</h3>\n<p>If a parameter were fixed "
            "to one value, the best config, of any kernel, would be slower by this much in the "
            "geometric mean over the problems. Where even the best value costs something, the "
            "parameter has to be searched; where it costs nothing, it can be fixed. Only what was "
            "tried counts, so a value that the searches seldom tried looks worse than it is."
            "</p>\n",
            (size_t)(device - report->devices));
    print_ranking(report, effects, report->kernel_count, out);
    for (size_t i = 0; i < report->kernel_count; i++)
        if (effects[i].measured > 0)
            print_family(report, &effects[i], out);
    print_kernels(effects, report->kernel_count, out);
    free(effects);
}
