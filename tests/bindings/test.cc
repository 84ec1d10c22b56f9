// SPDX-License-Identifier: Apache-2.0
// Tests of bindings/cpp/autotune.hpp, over the driver of driver.c. Says what is not so.
#include <autotune.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

extern "C" {
extern void *driver_stream;
extern int driver_launches, driver_freed, driver_errors_freed, fake_cuda_modules;
}

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

// The status that a call throws.
template <class Call> static autotune_status status_of(const Call &call)
{
    try {
        call();
    } catch (const autotune::error &error) {
        CHECK(error.what()[0] != '\0');
        return error.status();
    }
    return AUTOTUNE_OK;
}

template <class T>
constexpr bool moves_only =
    std::is_nothrow_move_constructible_v<T> &&std::is_nothrow_move_assignable_v<T> &&
    !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(moves_only<autotune::profile> && moves_only<autotune::device> &&
              moves_only<autotune::answer> && moves_only<autotune::plan>);

template <class Profile, class = void> struct can_look_up : std::false_type {
};
template <class Profile>
struct can_look_up<Profile, std::void_t<decltype(autotune::lookup(
                                std::declval<Profile>(), std::declval<autotune::device &>(),
                                std::declval<autotune_problem &>()))>> : std::true_type {
};
static_assert(can_look_up<autotune::profile &>::value);
static_assert(!can_look_up<autotune::profile>::value, "the answer would outlive the profile");

static std::vector<float> counted(std::size_t count)
{
    std::vector<float> numbers(count);

    for (std::size_t i = 0; i < count; i++)
        numbers[i] = static_cast<float>(i);
    return numbers;
}

static void test_lookup(const autotune::profile &profile)
{
    const autotune::device device = autotune::device::described("h200");
    const autotune_problem matrix = autotune::matrix<float>(8192, 8192);
    const autotune::answer answer = autotune::lookup(profile, device, matrix);
    const autotune_info info = answer.info();
    const std::vector<autotune_launch> launches = answer.launches();

    CHECK(device.name() == "NVIDIA H200");
    CHECK(info.tier == AUTOTUNE_TIER_EXACT && info.distance == 0);
    CHECK(info.expected_permille > 900 && !info.is_predicted);
    CHECK(info.tuned_problem == std::string("8192x8192:f32") && *info.path);
    CHECK(*info.family && !answer.parameters().empty());
    CHECK(launches.size() == 1 && launches.at(0).grid[0] > 0 && launches.at(0).block[0] > 0);
    CHECK(answer.describe().find(info.family) != std::string::npos);
    CHECK(answer.json().front() == '{' && answer.json().find('\0') == std::string::npos);
    CHECK(status_of([&] { answer.check_device(); }) == AUTOTUNE_OK);
    CHECK(status_of([&] { answer.precompile(profile); }) == AUTOTUNE_OK);

    CHECK(
        *autotune::lookup(profile, device, autotune::tensor<double>({8, 32, 64}, {2, 0, 1}), "warm")
             .info()
             .family);
    CHECK(*autotune::lookup(profile, device, autotune::groups(64, 98304, 2880, 2)).info().family);
    CHECK(status_of([&] { (void)autotune::lookup(profile, device, matrix, "hot"); }) ==
          AUTOTUNE_INVALID);
}

static void test_made_device(const autotune::profile &profile)
{
    autotune_device_numbers numbers = autotune_device_numbers_init();

    numbers.name = "NVIDIA H200";
    numbers.compute_capability = 90;
    numbers.multiprocessors = 132;
    numbers.memory_bytes = 150109880320;
    numbers.l2_bytes = 62914560;
    const autotune::device device = autotune::device::of(numbers);

    CHECK(device.name() == numbers.name);
    CHECK(autotune::lookup(profile, device, autotune::matrix<float>(8192, 8192)).info().tier ==
          AUTOTUNE_TIER_EXACT);
}

static void test_errors()
{
    CHECK(status_of([] { autotune::profile("/nowhere/best.yaml"); }) == AUTOTUNE_INVALID);
    CHECK(status_of([] { autotune::profile(std::string("/nowhere/best.yaml")); }) ==
          AUTOTUNE_INVALID);
    CHECK(status_of([] { autotune::device::described("abacus"); }) == AUTOTUNE_INVALID);
    CHECK(status_of([] { autotune::device::of(autotune_device_numbers_init()); }) ==
          AUTOTUNE_INVALID);
    CHECK(status_of([] { autotune::tensor<float>({2, 3}, {1}); }) == AUTOTUNE_INVALID);
    CHECK(status_of([] { autotune::wisdom::save("/nowhere/wisdom.yaml"); }) == AUTOTUNE_OK);
}

static void test_matrices(const autotune::profile &profile)
{
    const std::int64_t rows = 37, cols = 53, batch = 3;
    autotune_problem problem = autotune::matrix<float>(rows, cols);
    const std::vector<float> src = counted(static_cast<std::size_t>(rows * cols * batch));
    std::vector<float> dst(src.size()), little(src.size() - 1);
    int stream, wrong = 0;

    problem.batch = batch;
    autotune::plan plan(profile, problem);
    const int before = driver_launches;
    plan.execute(dst, src, &stream);
    CHECK(driver_launches == before + 1 && driver_stream == &stream);
    for (std::int64_t b = 0; b < batch; b++)
        for (std::int64_t r = 0; r < rows; r++)
            for (std::int64_t c = 0; c < cols; c++)
                wrong += dst[static_cast<std::size_t>((b * cols + c) * rows + r)] !=
                         src[static_cast<std::size_t>((b * rows + r) * cols + c)];
    CHECK(wrong == 0);

    const std::vector<float> expected = dst;
    dst.assign(dst.size(), 0);
    plan.execute(static_cast<void *>(dst.data()), src.data());
    CHECK(dst == expected && driver_stream == nullptr);
    dst.assign(dst.size(), 0);
    plan.execute(autotune::span<float>(dst.data(), dst.size()), autotune::span<const float>(src));
    CHECK(dst == expected);
#if __cplusplus >= 202002L
    dst.assign(dst.size(), 0);
    plan.execute(std::span<float>(dst), std::span<const float>(src));
    CHECK(dst == expected);
#endif
    CHECK(status_of([&] { plan.execute(little, src); }) == AUTOTUNE_INVALID);
    CHECK(status_of([&] { plan.execute(dst, little); }) == AUTOTUNE_INVALID);

    autotune::plan moved(std::move(plan));
    CHECK(moved.launches().size() == 1 && moved.launches(dst.data(), src.data()).size() == 1);
    CHECK(moved.info().bytes == rows * cols * batch * 8);
    CHECK(moved.scratch_bytes() == 0 && !moved.describe().empty());
    plan = std::move(moved);
    plan.execute(dst, src);

    problem.rows = -1;
    CHECK(status_of([&] { autotune::plan(profile, problem); }) == AUTOTUNE_INVALID);
}

static void test_tensor(const autotune::profile &profile)
{
    const std::vector<std::int64_t> extents = {20, 30, 40}, permutation = {2, 0, 1};
    const autotune::plan plan(profile, autotune::tensor<float>(extents, permutation),
                              autotune::plan_options());
    const std::vector<float> src = counted(20 * 30 * 40);
    std::vector<float> dst(src.size()), little(1);
    int wrong = 0;

    plan.execute(dst, src);
    for (std::size_t i = 0; i < 20 * 30; i++)
        for (std::size_t k = 0; k < 40; k++)
            wrong += dst[k * 20 * 30 + i] != src[i * 40 + k];
    CHECK(wrong == 0);
    CHECK(status_of([&] { plan.execute(little, src); }) == AUTOTUNE_INVALID);
}

static void test_steps(const autotune::profile &profile)
{
    autotune_problem problem = autotune::matrix<float>(30, 50);
    autotune_execution execution = autotune_execution_init();
    std::vector<float> src = counted(1500), dst(1500);

    problem.step = "f32,scale";
    const autotune::plan plan(profile, problem, autotune::plan_options());
    CHECK(status_of([&] { plan.execute(dst, src); }) == AUTOTUNE_INVALID);
    execution.dst = dst.data();
    execution.src = src.data();
    execution.scale = autotune::number(0.5);
    CHECK(status_of([&] { plan.execute_with(execution); }) == AUTOTUNE_OK);
    execution.scale = autotune::number_at(src.data());
    CHECK(status_of([&] { plan.execute_with(execution); }) == AUTOTUNE_OK);
    execution.beta = autotune::number(1);
    CHECK(status_of([&] { plan.execute_with(execution); }) == AUTOTUNE_INVALID);

    problem = autotune::matrix<std::uint16_t>(128, 256);
    problem.step = "bf16:e4m3,blocks=1x128";
    CHECK(autotune::scales(problem)[0].bytes > 0 && autotune::scales(problem)[1].bytes == 0);
}

static void test_groups(const autotune::profile &profile)
{
    autotune_matrix matrix = {};

    matrix.rows = matrix.ld_dst = 16;
    matrix.cols = matrix.ld_src = 32;
    matrix.batch[0] = matrix.batch[1] = 1;
    const std::vector<autotune_matrix> matrices(4, matrix);
    const autotune::plan list(profile, autotune::list(matrices, sizeof(float)));
    const autotune::plan rows(profile, autotune::groups(8, 1000, 64, sizeof(float)));

    CHECK(list.scratch_bytes() > 0 && !rows.launches().empty());
    CHECK(status_of([&] { rows.execute(nullptr, nullptr); }) == AUTOTUNE_INVALID);
}

// What was made has been freed, by now or by a move.
static void test_owners()
{
    const int freed = driver_freed, errors = driver_errors_freed;

    {
        autotune::profile profile;
        autotune::device device = autotune::device::current(), other(std::move(device));
        const autotune::answer answer =
            autotune::lookup(profile, other, autotune::matrix<float>(64, 64));
        autotune::plan plan(profile, autotune::matrix<float>(64, 64));

        plan = autotune::plan(profile, autotune::matrix<float>(64, 65));
        CHECK(driver_freed == freed + 1);
    }
    CHECK(driver_freed == freed + 5);
    CHECK(status_of([] { autotune::device::described("abacus"); }) == AUTOTUNE_INVALID);
    CHECK(driver_errors_freed > errors);
}

int main()
{
    const autotune::profile profile;

    CHECK(profile.skipped().empty() && !autotune::version().empty());
    CHECK(autotune::device::current().name() == "NVIDIA H200");
    test_lookup(profile);
    test_made_device(profile);
    test_errors();
    test_matrices(profile);
    test_tensor(profile);
    test_steps(profile);
    test_groups(profile);
    test_owners();
    autotune::wisdom::forget();
    CHECK(fake_cuda_modules > 0);
    autotune::clear();
    CHECK(fake_cuda_modules == 0);
    autotune::keep_unused(0);
    autotune::set_log(nullptr, nullptr, AUTOTUNE_LOG_NONE);
    test_tensor(profile);
    CHECK(fake_cuda_modules == 0);
    if (failures == 0)
        std::puts("ok");
    return failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
