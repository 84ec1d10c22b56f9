/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/compare.h"

#include "base/clock.h"
#include "base/memory.h"
#include "schema/table.h"
#include "search/warm_start.h"
#include "system/threads.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- as JSON ---- */

/* Any number: a score may be negative. */
#define NUMBER(record, member) AT_INT(record, member, INT64_MIN, INT64_MAX)
#define TEXT(record, member)   AT_TEXT(record, member, 1024)
#define LIST(record, member, schema, ...)                                                          \
    AT_OBJECTS(record, member, 0, 1000000, schema, __VA_ARGS__)

static const struct at_field reach_fields[] = {
    NUMBER(at_reach_record, median_evaluations), NUMBER(at_reach_record, median_ms),
    NUMBER(at_reach_record, p95_evaluations),    NUMBER(at_reach_record, p95_ms),
    NUMBER(at_reach_record, within_percent),
};
static const struct at_schema reach_schema = AT_SCHEMA("a reach", at_reach_record, reach_fields);

static const struct at_field curve_fields[] = {
    NUMBER(at_curve_record, behind_ppm), NUMBER(at_curve_record, evaluations),
    NUMBER(at_curve_record, lower_ppm),  NUMBER(at_curve_record, median_ppm),
    NUMBER(at_curve_record, ms),         NUMBER(at_curve_record, upper_ppm),
};
static const struct at_schema curve_schema =
    AT_SCHEMA("a point of a curve", at_curve_record, curve_fields);

static const struct at_field strategy_fields[] = {
    LIST(at_strategy_record, curve, curve_schema),
    LIST(at_strategy_record, curve_of_time, curve_schema),
    LIST(at_strategy_record, drawn, curve_schema, AT_OPTIONAL),
    LIST(at_strategy_record, drawn_of_time, curve_schema, AT_OPTIONAL),
    NUMBER(at_strategy_record, ended_within_1_percent),
    AT_CHARS(at_strategy_record, name),
    LIST(at_strategy_record, reaches, reach_schema),
    NUMBER(at_strategy_record, runs),
    NUMBER(at_strategy_record, score_permille),
    NUMBER(at_strategy_record, stopped),
    NUMBER(at_strategy_record, stopped_evaluations),
    NUMBER(at_strategy_record, stopped_mean),
    NUMBER(at_strategy_record, wasted_permille),
};
static const struct at_schema strategy_schema =
    AT_SCHEMA("a strategy", at_strategy_record, strategy_fields);

static const struct at_field recording_fields[] = {
    NUMBER(at_compared_recording, configs),
    TEXT(at_compared_recording, device),
    NUMBER(at_compared_recording, evaluation_ns),
    TEXT(at_compared_recording, kind),
    NUMBER(at_compared_recording, optimum_ns),
    TEXT(at_compared_recording, problem),
    LIST(at_compared_recording, strategies, strategy_schema),
};
static const struct at_schema recording_schema =
    AT_SCHEMA("a recording", at_compared_recording, recording_fields);

static const struct at_field comparison_fields[] = {
    LIST(at_comparison, all, strategy_schema),
    LIST(at_comparison, recordings, recording_schema),
};
const struct at_schema at_comparison_schema =
    AT_SCHEMA("a comparison", at_comparison, comparison_fields);

/* ---- on one recording ---- */

static const int64_t within_percents[] = {5, 1, 0};

enum { REACHES = AT_COUNT(within_percents) };

static int by_count(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;

    return (a > b) - (a < b);
}

/* The percentile of sorted values; 0 for SIZE_MAX. */
static int64_t percentile(const size_t *sorted, size_t count, size_t percent)
{
    size_t value = sorted[(count * percent + 99) / 100 - 1];

    return value == SIZE_MAX ? 0 : (int64_t)value;
}

static struct at_reach_record measure_reach(const struct at_recording *recording,
                                            const struct at_course *courses, size_t runs,
                                            int64_t percent)
{
    struct at_reach_record reach = {.within_percent = percent};
    size_t *evaluations = at_alloc_array(runs, sizeof *evaluations);
    size_t *ms = at_alloc_array(runs, sizeof *ms);

    for (size_t i = 0; i < runs; i++) {
        evaluations[i] = ms[i] = at_course_reach(&courses[i], recording, (double)percent);
        if (ms[i] != SIZE_MAX)
            ms[i] = (size_t)llround(at_course_spent(&courses[i], evaluations[i]) / 1e6);
    }
    qsort(evaluations, runs, sizeof *evaluations, by_count);
    qsort(ms, runs, sizeof *ms, by_count);
    reach.median_evaluations = percentile(evaluations, runs, 50);
    reach.p95_evaluations = percentile(evaluations, runs, 95);
    reach.median_ms = percentile(ms, runs, 50);
    reach.p95_ms = percentile(ms, runs, 95);
    free(ms);
    free(evaluations);
    return reach;
}

static void measure_ends(struct at_strategy_record *record, const struct at_recording *recording,
                         const struct at_course *courses, size_t runs)
{
    size_t *ends = at_alloc_array(runs, sizeof *ends), stopped = 0, sum = 0;
    double wasted = 0;

    for (size_t i = 0; i < runs; i++) {
        if (courses[i].reason && courses[i].count > 0) {
            sum += ends[stopped++] = courses[i].count;
            wasted += 1 - (double)at_course_found(&courses[i]) / (double)courses[i].count;
        }
        record->ended_within_1_percent += at_course_reach(&courses[i], recording, 1) != SIZE_MAX;
    }
    qsort(ends, stopped, sizeof *ends, by_count);
    record->stopped = (int64_t)stopped;
    record->stopped_evaluations = stopped > 0 ? percentile(ends, stopped, 50) : 0;
    record->stopped_mean = stopped > 0 ? (int64_t)((sum + stopped / 2) / stopped) : 0;
    record->wasted_permille = stopped > 0 ? llround(1000 * wasted / (double)stopped) : 0;
    free(ends);
}

/* Set how many runs a strategy had on a recording, when they came near the optimum (reaches), and
 * when they ended. */
static void figures_of_runs(struct at_strategy_record *record, const struct at_recording *recording,
                            const struct at_course *courses, size_t runs)
{
    struct at_reach_record *reaches = at_alloc_array(REACHES, sizeof *reaches);

    for (size_t i = 0; i < REACHES; i++)
        reaches[i] = measure_reach(recording, courses, runs, within_percents[i]);
    record->reaches = (struct at_list){reaches, REACHES};
    record->runs = (int64_t)runs;
    measure_ends(record, recording, courses, runs);
}

/* ---- over all recordings ---- */

/* The median of values of which 0 means never, the greatest. */
static int64_t median_of(size_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] == 0)
            values[i] = SIZE_MAX;
    qsort(values, count, sizeof *values, by_count);
    return percentile(values, count, 50);
}

/* The median over the recordings of a member of a strategy's reaches. */
static int64_t median_reach(const struct at_comparison *comparison, size_t strategy, size_t reach,
                            size_t offset)
{
    const struct at_compared_recording *recordings = comparison->recordings.items;
    size_t count = comparison->recordings.count;
    size_t *values = at_alloc_array(count, sizeof *values);
    int64_t median;

    for (size_t i = 0; i < count; i++) {
        const struct at_strategy_record *records = recordings[i].strategies.items;
        const struct at_reach_record *reaches = records[strategy].reaches.items;
        int64_t value;

        memcpy(&value, (const char *)&reaches[reach] + offset, sizeof value);
        values[i] = (size_t)value;
    }
    median = median_of(values, count);
    free(values);
    return median;
}

/* The median over the recordings on which the strategy stopped; 0: on none. */
static int64_t median_stop(const struct at_comparison *comparison, size_t strategy)
{
    const struct at_compared_recording *recordings = comparison->recordings.items;
    size_t *values = at_alloc_array(comparison->recordings.count, sizeof *values), count = 0;
    int64_t median;

    for (size_t i = 0; i < comparison->recordings.count; i++) {
        const struct at_strategy_record *records = recordings[i].strategies.items;

        if (records[strategy].stopped > 0)
            values[count++] = (size_t)records[strategy].stopped_evaluations;
    }
    median = count > 0 ? median_of(values, count) : 0;
    free(values);
    return median;
}

/* The mean over the recordings of a strategy's curve, a member of its record. */
static struct at_list mean_curve(const struct at_comparison *comparison, size_t strategy,
                                 size_t offset)
{
    const struct at_compared_recording *recordings = comparison->recordings.items;
    size_t count = comparison->recordings.count;
    struct at_list *lists = at_alloc_array(count, sizeof *lists), mean;

    for (size_t i = 0; i < count; i++) {
        const struct at_strategy_record *records = recordings[i].strategies.items;

        memcpy(&lists[i], (const char *)&records[strategy] + offset, sizeof *lists);
    }
    mean = at_curve_mean(lists, count);
    free(lists);
    return mean;
}

/* Fill in a strategy's line over all recordings from its lines on each. */
static void sum_up(struct at_comparison *comparison, size_t strategy)
{
    struct at_strategy_record *all = (struct at_strategy_record *)comparison->all.items + strategy;
    const struct at_compared_recording *recordings = comparison->recordings.items;
    struct at_reach_record *reaches = at_alloc_array(REACHES, sizeof *reaches);
    size_t count = comparison->recordings.count;
    int64_t score = 0, stops = 0, wasted = 0, stopping = 0;

#define MEDIAN(reach, member)                                                                      \
    median_reach(comparison, strategy, reach, offsetof(struct at_reach_record, member))
    for (size_t i = 0; i < REACHES; i++)
        reaches[i] = (struct at_reach_record){
            .within_percent = within_percents[i],
            .median_evaluations = MEDIAN(i, median_evaluations),
            .p95_evaluations = MEDIAN(i, p95_evaluations),
            .median_ms = MEDIAN(i, median_ms),
            .p95_ms = MEDIAN(i, p95_ms),
        };
#undef MEDIAN
    all->reaches = (struct at_list){reaches, REACHES};
    for (size_t i = 0; i < count; i++) {
        const struct at_strategy_record *one =
            (const struct at_strategy_record *)recordings[i].strategies.items + strategy;

        memcpy(all->name, one->name, sizeof all->name);
        all->runs += one->runs;
        all->stopped += one->stopped;
        all->ended_within_1_percent += one->ended_within_1_percent;
        score += one->score_permille;
        stops += one->stopped_mean;
        wasted += one->wasted_permille;
        stopping += one->stopped > 0;
    }
#define MEAN(member) mean_curve(comparison, strategy, offsetof(struct at_strategy_record, member))
    all->curve = MEAN(curve);
    all->curve_of_time = MEAN(curve_of_time);
    all->drawn = MEAN(drawn);
#undef MEAN
    all->stopped_mean = stopping > 0 ? stops / stopping : 0;
    all->wasted_permille = stopping > 0 ? wasted / stopping : 0;
    all->score_permille = llround((double)score / (double)count);
    all->stopped_evaluations = median_stop(comparison, strategy);
}

/* ---- recordings with the same spaces ---- */

static bool same_params(const struct at_family *a, const struct at_family *b)
{
    if (a->param_count != b->param_count)
        return false;
    for (size_t i = 0; i < a->param_count; i++) {
        const struct at_param *p = &a->params[i], *q = &b->params[i];

        if (strcmp(p->name, q->name) != 0 || p->value_count != q->value_count ||
            p->default_value != q->default_value ||
            memcmp(p->values, q->values, p->value_count * sizeof *p->values) != 0)
            return false;
    }
    return true;
}

static enum at_status check_spaces(const struct at_recording *recordings, char *const *names,
                                   size_t count, struct at_error *err)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < recordings[i].family_count; j++) {
            const struct at_family *family = recordings[i].families[j].family;
            size_t k = 0, found = 0;

            while (k < i && (found = at_recording_find_family(&recordings[k], family->name)) ==
                                recordings[k].family_count)
                k++;
            if (k < i && !same_params(recordings[k].families[found].family, family))
                return at_fail(err, AT_USAGE,
                               "%s has another space of family %s than %s: replay them separately",
                               names[i], family->name, names[k]);
        }
    return AT_OK;
}

/* ---- searches ---- */

/* A line of the comparison. */
struct contender {
    const struct at_strategy *strategy;
    bool held_out; /* with the numbers that were chosen without this kind of space */
};

static const char held_out_name[] = "held out";

/* How far a comparison is. */
struct advance {
    const struct at_comparison_options *options;
    const struct contender *contenders;
    size_t contender_count;
    const char *problem;
    size_t recording, recordings; /* of which this is the one that is replayed */
    size_t done;                  /* searches on this recording */
    int64_t began_ns, recording_began_ns;
};

/* The remaining searches are expected to take as long as the finished ones. */
static void show(const struct advance *advance, const struct at_strategy *strategy)
{
    size_t each = advance->contender_count * advance->options->runs;
    size_t done = advance->recording * each + advance->done;
    int64_t now_ns = at_now_ns();
    struct at_progress_state state = {.index = advance->recording + 1,
                                      .of = advance->recordings,
                                      .done = advance->done,
                                      .total = each,
                                      .total_is_known = true,
                                      .left_s = -1,
                                      .run_left_s = -1};
    char *what;

    if (!advance->options->progress)
        return;
    if (advance->done > 0) {
        state.left_s = (double)(now_ns - advance->recording_began_ns) / 1e9 *
                       (double)(each - advance->done) / (double)advance->done;
        state.run_left_s = (double)(now_ns - advance->began_ns) / 1e9 *
                           (double)(advance->recordings * each - done) / (double)done;
    }
    state.what = what = at_format("%s: %s", advance->problem, strategy->name);
    at_progress_draw(advance->options->progress, &state);
    free(what);
}

/* ---- many replays of one plan ---- */

/* The searches of a strategy on a recording. */
struct work {
    const struct at_recording *recording;
    const struct at_replay_plan *plan; /* its seed is the first; each next search adds one */
    struct at_course *courses;
    pthread_mutex_t lock; /* for all below */
    struct advance *advance;
    size_t next;
    enum at_status status; /* the first failure, with its message */
    struct at_error err;
};

/* Take the number of the next search; false: all are taken, or one has failed. */
static bool take(struct work *work, size_t *number)
{
    bool taken;

    pthread_mutex_lock(&work->lock);
    taken = work->next < work->advance->options->runs && work->status == AT_OK;
    if (taken)
        *number = work->next++;
    pthread_mutex_unlock(&work->lock);
    return taken;
}

static void *replay(void *data)
{
    struct work *work = data;
    size_t number;

    while (take(work, &number)) {
        struct at_replay_plan plan = *work->plan;
        struct at_error err = {AT_OK, ""};
        enum at_status status;

        plan.start.seed += number;
        status = at_replay(&work->courses[number], work->recording, &plan, &err);
        pthread_mutex_lock(&work->lock);
        if (status != AT_OK && work->status == AT_OK) {
            work->status = status;
            work->err = err;
        }
        work->advance->done++;
        show(work->advance, plan.strategy);
        pthread_mutex_unlock(&work->lock);
    }
    return NULL;
}

/* Fill in the courses of all searches; the number of threads does not change them. */
static enum at_status replay_all(struct at_course *courses, const struct at_recording *recording,
                                 const struct at_replay_plan *plan, struct advance *advance,
                                 struct at_error *err)
{
    const struct at_comparison_options *options = advance->options;
    struct work work = {
        .recording = recording, .plan = plan, .courses = courses, .advance = advance};
    size_t wanted = options->threads > 1 ? (size_t)options->threads : 1;

    pthread_mutex_init(&work.lock, NULL);
    at_on_threads(wanted < options->runs ? wanted : options->runs, replay, &work);
    pthread_mutex_destroy(&work.lock);
    return work.status == AT_OK ? AT_OK : at_fail(err, work.status, "%s", work.err.message);
}

/* ---- one strategy ---- */

static void measure_curves(struct at_strategy_record *record, const struct at_searches *searches,
                           const struct at_comparison_options *options)
{
    record->curve = at_curve_after(searches, options->curve, options->curve_count);
    record->curve_of_time = at_curve_within(searches, options->times_ns, options->time_count);
    if (!options->draw)
        return;
    record->drawn = at_curve_drawn_after(searches);
    record->drawn_of_time = at_curve_drawn_within(searches);
}

static enum at_status run_strategy(struct at_strategy_record *record,
                                   const struct at_recording *recording,
                                   const struct at_baseline *baseline,
                                   const struct at_replay_plan *plan, struct advance *advance,
                                   struct at_error *err)
{
    const struct at_comparison_options *options = advance->options;
    struct at_course *courses = at_alloc_array(options->runs, sizeof *courses);
    enum at_status status;

    show(advance, plan->strategy);
    status = replay_all(courses, recording, plan, advance, err);
    snprintf(record->name, sizeof record->name, "%s", plan->strategy->name);
    if (status == AT_OK) {
        figures_of_runs(record, recording, courses, options->runs);
        measure_curves(record, &(struct at_searches){recording, baseline, courses, options->runs},
                       options);
        record->score_permille = llround(1000 * at_score(baseline, courses, options->runs));
    }
    for (size_t i = 0; i < options->runs; i++)
        at_course_clear(&courses[i]);
    free(courses);
    return status;
}

static struct at_list copy_list(const struct at_list *list, size_t size)
{
    void *items = at_alloc_array(list->count, size);

    if (list->count > 0)
        memcpy(items, list->items, list->count * size);
    return (struct at_list){items, list->count};
}

/* The line of numbers that are the same as those of the line above. */
static struct at_strategy_record copy_record(const struct at_strategy_record *from)
{
    struct at_strategy_record record = *from;

    record.reaches = copy_list(&from->reaches, sizeof(struct at_reach_record));
    record.curve = copy_list(&from->curve, sizeof(struct at_curve_record));
    record.curve_of_time = copy_list(&from->curve_of_time, sizeof(struct at_curve_record));
    record.drawn = copy_list(&from->drawn, sizeof(struct at_curve_record));
    record.drawn_of_time = copy_list(&from->drawn_of_time, sizeof(struct at_curve_record));
    return record;
}

static const struct at_numbers *numbers_without(const struct at_recording *recording)
{
    char *kind = at_recording_kind(recording);
    const struct at_numbers *numbers = at_numbers_without(kind);

    free(kind);
    return numbers;
}

/* Run one line on a recording; those before it are known. */
static enum at_status run_contender(struct at_strategy_record *records, size_t place,
                                    const struct at_recording *recording,
                                    const struct at_baseline *baseline, struct at_replay_plan *plan,
                                    struct advance *advance, struct at_error *err)
{
    const struct contender *contender = &advance->contenders[place];
    const struct at_numbers *without = contender->held_out ? numbers_without(recording) : NULL;
    enum at_status status = AT_OK;

    plan->strategy = contender->strategy;
    plan->start.numbers = without ? without : advance->options->numbers;
    if (contender->held_out &&
        (!without || memcmp(without, &at_numbers_chosen, sizeof *without) == 0)) {
        records[place] = copy_record(&records[place - 1]);
        advance->done += advance->options->runs;
    } else
        status = run_strategy(&records[place], recording, baseline, plan, advance, err);
    if (contender->held_out)
        snprintf(records[place].name, sizeof records[place].name, held_out_name);
    return status;
}

/* Add the best configs of a recording to the warm start. */
static void add_best(struct at_warm_start *warm_start, const struct at_recording *recording)
{
    const struct at_recorded *results = recording->results;
    bool *taken = at_alloc_array(recording->space.count, sizeof *taken);
    size_t best = recording->best;

    for (int place = 0; place < AT_WINNERS_PER_PROBLEM && best != SIZE_MAX; place++) {
        at_warm_start_add(warm_start,
                          &(struct at_winner){.problem = recording->problem,
                                              .config = recording->space.configs[best]});
        taken[best] = true;
        best = SIZE_MAX;
        for (size_t i = 0; i < recording->space.count; i++)
            if (!taken[i] && results[i].outcome == AT_CORRECT &&
                (best == SIZE_MAX || results[i].time_ns < results[best].time_ns))
                best = i;
    }
    free(taken);
}

static void add_winners(struct at_warm_start *warm_start, const struct at_recording *recordings,
                        size_t count, const struct at_recording *except)
{
    for (size_t i = 0; i < count; i++)
        if (&recordings[i] != except && !recordings[i].kernel && !except->kernel)
            add_best(warm_start, &recordings[i]);
}

static enum at_status compare_on(struct at_compared_recording *compared,
                                 const struct at_recording *recording,
                                 const struct at_warm_start *warm_start, struct advance *advance,
                                 struct at_error *err)
{
    const struct at_comparison_options *options = advance->options;
    size_t *likely, likely_count = at_warm_start_likely(warm_start, &recording->problem,
                                                        &recording->space, &likely);
    struct at_strategy_record *records = at_alloc_array(advance->contender_count, sizeof *records);
    struct at_baseline baseline;
    struct at_replay_plan plan = {
        .start = {.seed = options->seed,
                  .likely = likely,
                  .likely_count = likely_count,
                  .copy_ns = (double)recording->copy_ns},
        .ahead = options->ahead,
        .budget = options->budget,
    };
    enum at_status status = AT_OK;

    compared->problem = at_recording_title(recording);
    advance->problem = compared->problem;
    advance->done = 0;
    advance->recording_began_ns = at_now_ns();
    compared->device = at_strdup(recording->device);
    compared->kind = at_recording_kind(recording);
    compared->configs = (int64_t)recording->space.count;
    compared->evaluation_ns = recording->evaluation_ns;
    compared->optimum_ns = llround(recording->results[recording->best].time_ns);
    compared->strategies = (struct at_list){records, advance->contender_count};
    at_baseline_make(&baseline, recording);
    for (size_t i = 0; i < advance->contender_count && status == AT_OK; i++)
        status = run_contender(records, i, recording, &baseline, &plan, advance, err);
    at_baseline_clear(&baseline);
    free(likely);
    return status;
}

/* ---- all ---- */

/* List the lines: the strategies, and after guided its line of numbers held out, if its numbers
 * were chosen on the kind of one of the recordings. Returns how many. */
static size_t list_contenders(struct contender *contenders,
                              const struct at_comparison_options *options,
                              const struct at_recording *recordings, size_t count)
{
    bool chosen_on = false;
    size_t listed = 0;

    for (size_t i = 0; i < count && !options->numbers; i++)
        chosen_on = chosen_on || numbers_without(&recordings[i]);
    for (size_t i = 0; i < options->strategy_count; i++) {
        contenders[listed++] = (struct contender){options->strategies[i], false};
        if (chosen_on && options->strategies[i] == &at_strategy_guided)
            contenders[listed++] = (struct contender){options->strategies[i], true};
    }
    return listed;
}

enum at_status at_compare(struct at_comparison *comparison, const struct at_recording *recordings,
                          char *const *names, size_t count,
                          const struct at_comparison_options *options, struct at_error *err)
{
    struct at_compared_recording *compared = at_alloc_array(count, sizeof *compared);
    struct contender *contenders = at_alloc_array(2 * options->strategy_count, sizeof *contenders);
    size_t lines = list_contenders(contenders, options, recordings, count);
    struct at_strategy_record *all = at_alloc_array(lines, sizeof *all);
    struct at_comparison made = {{compared, count}, {all, lines}};
    struct advance advance = {.options = options,
                              .contenders = contenders,
                              .contender_count = lines,
                              .recordings = count,
                              .began_ns = at_now_ns()};
    enum at_status status = check_spaces(recordings, names, count, err);

    for (size_t i = 0; i < count && status == AT_OK; i++) {
        struct at_warm_start warm_start = {0};

        if (options->winners_known)
            add_winners(&warm_start, recordings, count, &recordings[i]);
        advance.recording = i;
        status = compare_on(&compared[i], &recordings[i], &warm_start, &advance, err);
        at_warm_start_clear(&warm_start);
    }
    if (options->progress)
        at_progress_clear(options->progress);
    for (size_t i = 0; i < lines && status == AT_OK; i++)
        sum_up(&made, i);
    free(contenders);
    if (status == AT_OK)
        *comparison = made;
    else
        at_schema_clear(&at_comparison_schema, &made);
    return status;
}
