/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/distance.h"

#include "problem/arguments.h"

#include <math.h>

/* Matrices of fewer than 64 rows or columns are narrow. Tiles are at most 128 wide, so 64 fill at
 * least half of any tile. */
static const float log2_narrow_max = 6;

/* Most tiles take at most 256 bytes of a row, so the length of longer rows does not matter. */
static const float log2_row_max = 8;

/* Above 256 MiB the time of a launch is a thousandth of the whole, and the L2 cache of every GPU so
 * far holds less than half of the data. */
static const float log2_size_max = 28;

/* The farther apart the destination's rows are, the more pages of memory a tile touches. From 4 MiB
 * on each row has its own pages. */
static const float log2_pitch_min = 15, log2_pitch_max = 22;

/* Better alignment than this does not matter: of rows, a line of L2, and of whole matrices, an
 * access. */
enum { ROW_ALIGN_MAX = 128, STEP_ALIGN_MAX = 16 };

/* What a result's size counts, of a source element's: an entry with the same sizes on both sides is
 * nearer than the move of the source's elements, and this move is still near. */
static const float cast_share = 1.0F / 32;

/* Blocks per multiprocessor that keep all of them busy, with a second one to follow the first. */
enum { BLOCKS_ENOUGH = 2 };

/* The weight of a difference if the asked problem has more of the coordinate than the tuned one,
 * and if it has less. The unit is a doubling of the aspect, which weighs least. The weights were
 * fitted to times like tests/data/h200-lookup.tsv; doc/lab/lookup.md tells how, and what they are
 * worth.
 *
 * Less alignment costs little: a config that needs more is illegal, and not compared. A kernel for
 * odd rows is a poor choice for aligned ones. */
static const float more_weights[AT_COORDINATES] = {
    [AT_ELEMENT] = 128,     [AT_ROWS] = 16,       [AT_COLS] = 96,      [AT_SOURCE_ROW] = 48,
    [AT_DEST_ROW] = 32,     [AT_ASPECT] = 1,      [AT_SIZE] = 32,      [AT_LARGE] = 1,
    [AT_SOURCE_ALIGN] = 12, [AT_DEST_ALIGN] = 12, [AT_DEST_PITCH] = 8, [AT_BATCHED] = 96,
    [AT_RUNS] = 192,        [AT_RUN_ALIGN] = 24,  [AT_OUTER] = 16,     [AT_STEP_ALIGN] = 12,
};
static const float less_weights[AT_COORDINATES] = {
    [AT_ELEMENT] = 128,    [AT_ROWS] = 24,      [AT_COLS] = 96,      [AT_SOURCE_ROW] = 24,
    [AT_DEST_ROW] = 32,    [AT_ASPECT] = 1,     [AT_SIZE] = 32,      [AT_LARGE] = 1,
    [AT_SOURCE_ALIGN] = 1, [AT_DEST_ALIGN] = 6, [AT_DEST_PITCH] = 4, [AT_BATCHED] = 96,
    [AT_RUNS] = 192,       [AT_RUN_ALIGN] = 24, [AT_OUTER] = 16,     [AT_STEP_ALIGN] = 2,
};

/* Does the tensor's fastest axis stay the fastest? */
static bool has_runs(const struct at_problem *problem, int64_t matrices)
{
    return matrices > 1 && problem->rows == 1 && problem->ld_dst == 1;
}

/* fminf would be a call, because of NaN. */
static inline float lesser(float a, float b)
{
    return a < b ? a : b;
}

struct at_traits at_traits_of(const struct at_problem *problem, const struct at_device_info *device)
{
    float rows = log2f((float)problem->rows), cols = log2f((float)problem->cols);
    int64_t result_size = at_problem_elem_size(problem, AT_DESTINATION);
    float element = log2f((float)problem->elem_size), result = log2f((float)result_size);
    int64_t matrices = at_problem_matrices(problem);
    bool runs = has_runs(problem, matrices);
    float elements = rows + cols + (matrices > 1 ? log2f((float)matrices) : 0);
    float bytes = 1 + elements + element; /* read and written */
    float pitch =
        result + (problem->ld_dst == problem->rows ? rows : log2f((float)problem->ld_dst));

    struct at_traits traits = {
        .at =
            {
                [AT_ELEMENT] = element + cast_share * (result - element),
                [AT_ROWS] = fminf(rows, log2_narrow_max),
                [AT_COLS] = fminf(cols, log2_narrow_max),
                [AT_SOURCE_ROW] = fminf(cols + element, log2_row_max),
                [AT_DEST_ROW] = fminf(rows + result, log2_row_max),
                [AT_ASPECT] = rows - cols,
                [AT_SIZE] = fminf(bytes, log2_size_max),
                [AT_LARGE] = fmaxf(bytes, log2_size_max),
                [AT_SOURCE_ALIGN] = at_alignment(problem->ld_src | problem->offset_src,
                                                 problem->elem_size, ROW_ALIGN_MAX),
                [AT_DEST_ALIGN] =
                    at_alignment(problem->ld_dst | problem->offset_dst, result_size, ROW_ALIGN_MAX),
                [AT_DEST_PITCH] = fminf(fmaxf(pitch, log2_pitch_min), log2_pitch_max),
                [AT_BATCHED] = matrices > 1,
                [AT_RUNS] = runs,
                [AT_RUN_ALIGN] = runs ? log2f((float)at_problem_word_bytes(problem)) : 0,
                [AT_OUTER] = problem->groups.count > 0
                                 ? log2f((float)problem->batch / (float)problem->groups.count)
                                 : log2f(1 + (float)problem->outer_count),
                [AT_STEP_ALIGN] = matrices > 1
                                      ? at_alignment(problem->stride_src | problem->stride_dst,
                                                     problem->elem_size, STEP_ALIGN_MAX)
                                      : at_alignment(0, 0, STEP_ALIGN_MAX),
            },
        .elements = elements,
        .enough = log2f((float)(BLOCKS_ENOUGH * device->multiprocessors)),
    };

    for (int i = 0; i < AT_COORDINATES; i++)
        traits.key += lesser(more_weights[i], less_weights[i]) * traits.at[i];
    return traits;
}

/* Longer runs are no better: a line of L2. */
static const float log2_packed_run_max = 7;

void at_traits_launch(struct at_traits *traits, const struct at_problem *problem,
                      const struct at_launch *launch)
{
    int64_t runs[2];

    traits->launch.blocks = log2f(at_launch_blocks(launch));
    traits->launch.thread_excess =
        traits->launch.blocks + log2f(at_launch_threads(launch)) - traits->elements;
    traits->launch.packed_run[0] = traits->launch.packed_run[1] = 0;
    if (launch->field[AT_SIDE_SRC] == 0)
        return;
    at_problem_packed_runs(problem, launch, runs);
    for (int side = 0; side < 2; side++)
        traits->launch.packed_run[side] = fminf(log2f((float)runs[side]), log2_packed_run_max);
}

static const float waste_weight = 96, fill_weight = 96, run_weight = 32;

/* From here on a prediction chooses better than the distance. Of 242 such problems that nothing was
 * learnt from, it lost 5 % or more on a tenth. */
const float at_distance_far = 16;

/* The terms of a distance as people see them: three of the launch, and sums of coordinates. */
enum { WASTE, FILL, RUN };
static const struct {
    const char *name;
    enum at_coordinate first, last;
} terms[AT_DISTANCE_TERMS] = {
    [WASTE] = {"waste", AT_COORDINATES, AT_COORDINATES},
    [FILL] = {"fill", AT_COORDINATES, AT_COORDINATES},
    [RUN] = {"run", AT_COORDINATES, AT_COORDINATES},
    {"pitch", AT_DEST_PITCH, AT_DEST_PITCH},
    {"element", AT_ELEMENT, AT_ELEMENT},
    {"narrow", AT_ROWS, AT_COLS},
    {"row", AT_SOURCE_ROW, AT_DEST_ROW},
    {"batch", AT_BATCHED, AT_OUTER},
    {"align", AT_SOURCE_ALIGN, AT_DEST_ALIGN},
    {"aspect", AT_ASPECT, AT_ASPECT},
    {"size", AT_SIZE, AT_LARGE},
};

const char *at_distance_name(int term)
{
    return terms[term].name;
}

/* fmaxf would be a call, because of NaN; this becomes a vector instruction. */
static inline float difference(const struct at_traits *from, const struct at_traits *to, int at)
{
    float doublings = to->at[at] - from->at[at];
    float above = doublings * more_weights[at], below = -doublings * less_weights[at];

    return above > below ? above : below;
}

/* Four sums, which compilers turn into vectors: a lookup spends much of its time here. */
static inline float sum_of_differences(const struct at_traits *from, const struct at_traits *to)
{
    enum { LANES = 4 };
    float sums[LANES];

    _Static_assert(AT_COORDINATES == 4 * LANES, "all are added");
    for (int i = 0; i < LANES; i++)
        sums[i] = difference(from, to, i) + difference(from, to, LANES + i) +
                  difference(from, to, 2 * LANES + i) + difference(from, to, 3 * LANES + i);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* fmax would be a call, because of NaN. */
static inline float positive(float value)
{
    return value > 0 ? value : 0;
}

/* Doublings of the threads per element: a tile of 64 columns over a matrix of 8 leaves seven
 * threads of eight idle. Fewer threads per element are no loss. */
static float waste(const struct at_traits *from, const struct at_traits *to)
{
    return positive(to->launch.thread_excess - from->launch.thread_excess);
}

/* Halvings of the blocks below enough: the large tiles that win on large matrices leave most of the
 * GPU idle on small ones. */
static float fill(const struct at_traits *from, float blocks, float enough)
{
    return positive(positive(enough - blocks) - positive(from->enough - from->launch.blocks));
}

/* Doublings or halvings of the adjacent bytes that a packed tile reads and writes, by the same
 * sides. Longer runs count as well: where there are any, another config is usually better. */
static float other_runs(const struct at_traits *from, const struct at_traits *to)
{
    return fabsf(from->launch.packed_run[0] - to->launch.packed_run[0]) +
           fabsf(from->launch.packed_run[1] - to->launch.packed_run[1]);
}

/* An entry's halvings below the copy limit. A low share often means that the search missed the
 * families which win there, and neighbours lose the more by it. Chosen by the library's times, each
 * problem looked up without its tenth: 64 to 128 are alike. */
static const float share_weight = 96;

float at_distance_of_share(int64_t of_copy_permille)
{
    const float whole = 1000;

    return of_copy_permille > 0 ? share_weight * positive(log2f(whole / (float)of_copy_permille))
                                : 0;
}

float at_distance_bound(const struct at_traits *from, const struct at_traits *to)
{
    /* A launch with twice as many blocks fills the GPU better, but doubles the waste. */
    const float weight = waste_weight < fill_weight ? waste_weight : fill_weight;
    /* Assume as many elements per block as there. */
    float blocks = from->launch.blocks + to->elements - from->elements;

    return weight * fill(from, blocks, to->enough) + sum_of_differences(from, to);
}

float at_distance_total(const struct at_traits *from, const struct at_traits *to)
{
    return waste_weight * waste(from, to) +
           fill_weight * fill(from, to->launch.blocks, to->enough) +
           run_weight * other_runs(from, to) + sum_of_differences(from, to);
}

struct at_distance at_distance_between(const struct at_traits *from, const struct at_traits *to)
{
    struct at_distance distance = {
        .total = at_distance_total(from, to),
        .terms = {[WASTE] = waste_weight * waste(from, to),
                  [FILL] = fill_weight * fill(from, to->launch.blocks, to->enough),
                  [RUN] = run_weight * other_runs(from, to)}};
    for (int i = 0; i < AT_DISTANCE_TERMS; i++)
        for (int at = terms[i].first; at < AT_COORDINATES && at <= (int)terms[i].last; at++)
            distance.terms[i] += difference(from, to, at);
    return distance;
}
