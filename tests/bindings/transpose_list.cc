// SPDX-License-Identifier: Apache-2.0
// The same as transpose_list.c, in C++.
#include "device.h"

#include <autotune.hpp>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

using numbers = std::vector<std::int64_t>;

static const double scale = 0.3;

struct problem {
    std::string kind, strides, step;
    std::int64_t bytes, result_bytes, align;
    numbers extents, permutation, src, dst;
    std::int64_t src_first, src_count, dst_first, dst_count;

    bool has_step() const
    {
        return step != "-";
    }
    bool is_dense() const
    {
        return strides == "dense";
    }
    bool is_explicit() const
    {
        return strides == "explicit";
    }
};

// ---- what steps compute ----

struct step {
    std::int64_t result_bytes;
    std::function<void(char *result, const char *element)> apply;
};

template <class From, class To, class Computed> static step scaled()
{
    return {sizeof(To), [](char *result, const char *element) {
                From x;

                std::memcpy(&x, element, sizeof x);
                const To y =
                    static_cast<To>(static_cast<Computed>(x) * static_cast<Computed>(scale));
                std::memcpy(result, &y, sizeof y);
            }};
}

static const std::map<std::string, step> steps = {
    {"u8:f32,scale", scaled<std::uint8_t, float, float>()},
    {"i16:f32,scale", scaled<std::int16_t, float, float>()},
    {"i32:f64,scale", scaled<std::int32_t, double, double>()},
    {"f64:f32,scale", scaled<double, float, double>()},
    {"f32,scale", scaled<float, float, float>()},
    {"f64,scale", scaled<double, double, double>()},
};

// ---- the list ----

static std::istream &operator>>(std::istream &list, problem &problem)
{
    std::size_t rank = 0;

    list >> problem.kind >> problem.strides >> problem.bytes >> rank;
    for (numbers *of_axes : {&problem.extents, &problem.permutation, &problem.src, &problem.dst}) {
        of_axes->resize(rank);
        for (std::int64_t &number : *of_axes)
            list >> number;
    }
    list >> problem.src_first >> problem.src_count >> problem.dst_first >> problem.dst_count >>
        problem.align >> problem.step;
    if (list)
        problem.result_bytes =
            problem.has_step() ? steps.at(problem.step).result_bytes : problem.bytes;
    return list;
}

// ---- on the host ----

// The axes of the result from this one on, for elements `from` and `to`.
static void transpose_axes(const problem &problem, std::size_t axis, std::int64_t to,
                           std::int64_t from, std::vector<char> &dst, const std::vector<char> &src)
{
    if (axis < problem.extents.size()) {
        const std::size_t source = static_cast<std::size_t>(problem.permutation[axis]);

        for (std::int64_t i = 0; i < problem.extents[source]; i++)
            transpose_axes(problem, axis + 1, to + i * problem.dst[axis],
                           from + i * problem.src[source], dst, src);
        return;
    }
    char *result = dst.data() + to * problem.result_bytes;
    const char *element = src.data() + from * problem.bytes;
    if (problem.has_step())
        steps.at(problem.step).apply(result, element);
    else
        std::memcpy(result, element, static_cast<std::size_t>(problem.bytes));
}

template <class Number> static void put_number(char *element, std::int64_t i)
{
    const Number number = static_cast<Number>(i % 20001 - 10000) / 7;

    std::memcpy(element, &number, sizeof number);
}

// Bytes of any value; or numbers, because NaN has more than one form.
static std::vector<char> filled(const problem &problem)
{
    std::vector<char> src(static_cast<std::size_t>(problem.src_count * problem.bytes));

    for (std::size_t i = 0; i < src.size(); i++)
        src[i] = static_cast<char>(i * 2654435761u >> 13);
    for (std::int64_t i = 0; problem.step[0] == 'f' && i < problem.src_count; i++)
        (problem.bytes == 8 ? put_number<double>
                            : put_number<float>)(src.data() + i * problem.bytes, i);
    return src;
}

// ---- on the GPU ----

template <class Problem> static void set_common(Problem &made, const problem &problem)
{
    made.align_bytes = problem.align;
    made.explicit_strides = problem.is_explicit();
    made.step = problem.has_step() ? problem.step.c_str() : nullptr;
}

static autotune::plan plan_of(const autotune::profile &profile, const problem &problem)
{
    const std::size_t bytes = static_cast<std::size_t>(problem.bytes);

    if (problem.kind == "matrix") {
        autotune_problem matrix = autotune::matrix(problem.extents[1], problem.extents[2], bytes);

        matrix.batch = problem.extents[0];
        set_common(matrix, problem);
        if (!problem.is_dense()) {
            matrix.stride_src = problem.src[0];
            matrix.ld_src = problem.src[1];
            matrix.stride_dst = problem.dst[0];
            matrix.ld_dst = problem.dst[1];
        }
        return autotune::plan(profile, matrix);
    }
    autotune_tensor tensor = autotune::tensor(problem.extents, problem.permutation, bytes);
    set_common(tensor, problem);
    if (!problem.is_dense()) {
        std::copy(problem.src.begin(), problem.src.end(), tensor.strides_src);
        std::copy(problem.dst.begin(), problem.dst.end(), tensor.strides_dst);
    }
    return autotune::plan(profile, tensor);
}

static void transpose_there(const autotune::profile &profile, const problem &problem, char *dst,
                            const char *src)
{
    const autotune::plan plan = plan_of(profile, problem);

    dst += problem.dst_first * problem.result_bytes;
    src += problem.src_first * problem.bytes;
    if (!problem.has_step()) {
        plan.execute(static_cast<void *>(dst), static_cast<const void *>(src));
        return;
    }
    autotune_execution execution = autotune_execution_init();
    execution.dst = dst;
    execution.src = src;
    execution.scale = autotune::number(scale);
    plan.execute_with(execution);
}

static bool is_right(const autotune::profile &profile, const problem &problem)
{
    std::vector<char> src = filled(problem);
    std::vector<char> wanted(static_cast<std::size_t>(problem.dst_count * problem.result_bytes),
                             '\xa5');
    std::vector<char> found(wanted.size());
    void *there_src = device_put(src.data(), src.size());
    void *there_dst = device_put(wanted.data(), wanted.size());
    bool is_done = true;

    try {
        transpose_there(profile, problem, static_cast<char *>(there_dst),
                        static_cast<const char *>(there_src));
    } catch (const autotune::error &error) {
        std::cout << error.what() << '\n';
        is_done = false;
    }
    device_take(found.data(), there_dst, found.size());
    device_take(src.data(), there_src, src.size());
    transpose_axes(problem, 0, problem.dst_first, problem.src_first, wanted, src);
    return is_done && found == wanted;
}

int main(int argc, char **argv)
{
    std::ifstream list(argc == 2 ? argv[1] : "");
    problem problem;
    int count = 0, wrong = 0;

    if (!list) {
        std::cerr << "Usage: transpose_list LIST\n";
        return 2;
    }
    device_open();
    const autotune::profile profile;
    while (list >> problem) {
        count++;
        if (!is_right(profile, problem)) {
            std::cout << "problem " << count << " differs\n";
            wrong++;
        }
    }
    std::cout << count << " problems, " << wrong << " differ\n";
    return wrong > 0;
}
