// SPDX-License-Identifier: Apache-2.0
// libautotune for C++17 and newer: objects that own what autotune.h makes, and errors that are
// exceptions. autotune.h says what the functions do. Structs are those of C.
//
//     autotune::profile profile;
//     autotune::plan plan(profile, autotune::matrix<float>(8192, 8192));
//     plan.execute(dst, src, stream);
//
// Objects can be moved and not copied. One that was moved from may only be destroyed, or get
// another object. As in C, several threads may use one object at once.
#ifndef AUTOTUNE_HPP
#define AUTOTUNE_HPP

#include <autotune.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace autotune
{

// ---- errors ----

// What each function here throws if the library refuses. what() is the library's message.
class error : public std::runtime_error
{
  public:
    error(autotune_status status, const std::string &message)
        : std::runtime_error(message), status_(status)
    {
    }

    autotune_status status() const noexcept
    {
        return status_;
    }

  private:
    autotune_status status_;
};

namespace detail
{

template <class T, void (*release)(T *)> struct releaser {
    void operator()(T *object) const noexcept
    {
        release(object);
    }
};
template <class T, void (*release)(T *)> using owned = std::unique_ptr<T, releaser<T, release>>;

// Call a function of the library with a place for its error, and throw what is there.
template <class Call> void check(const Call &call)
{
    autotune_error *failure = nullptr;
    const autotune_status status = call(&failure);
    const owned<autotune_error, autotune_error_free> owner(failure);

    if (status != AUTOTUNE_OK)
        throw error(status, autotune_error_message(failure));
}

// The same for a function that makes an object.
template <class T, class Call> T *made(const Call &call)
{
    T *object = nullptr;

    check([&](autotune_error **failure) { return call(&object, failure); });
    return object;
}

// A text of a function that writes it, as autotune_answer_describe does.
template <class Write> std::string text(const Write &write)
{
    std::string text(write(nullptr, 0) + 1, '\0');

    text.resize(write(text.data(), text.size()));
    return text;
}

template <class Write> std::vector<autotune_launch> launches(const Write &write)
{
    std::vector<autotune_launch> launches(write(nullptr, 0));

    write(launches.data(), launches.size());
    return launches;
}

// What is known of an answer or a plan. Get is autotune_answer_info or autotune_plan_info.
template <class Get, class T> autotune_info info(const Get &get, const T *object)
{
    autotune_info info = autotune_info_init();

    check([&](autotune_error **failure) { return get(object, &info, failure); });
    return info;
}

template <class Range>
using elements_of = std::remove_pointer_t<decltype(std::declval<Range &>().data())>;
template <class Range>
using if_range = std::void_t<elements_of<Range>, decltype(std::declval<Range &>().size())>;

} // namespace detail

// ---- spans ----

// Elements that follow each other. It is made from a pointer and a number, or from what has data()
// and size(), such as std::span, and borrows them.
template <class T> class span
{
  public:
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size)
    {
    }

    template <class Range, class = detail::if_range<Range>,
              class = std::enable_if_t<
                  std::is_convertible_v<decltype(std::declval<Range &>().data()), T *>>>
    constexpr span(Range &&range) noexcept : data_(range.data()), size_(range.size())
    {
    }

    // Of constants in braces, which live as long as the call that they are an argument of.
    template <class U = T, class = std::enable_if_t<std::is_const_v<U>>>
    constexpr span(std::initializer_list<std::remove_const_t<T>> list) noexcept
        : data_(std::data(list)), size_(list.size())
    {
    }

    constexpr T *data() const noexcept
    {
        return data_;
    }
    constexpr std::size_t size() const noexcept
    {
        return size_;
    }
    constexpr T *begin() const noexcept
    {
        return data_;
    }
    constexpr T *end() const noexcept
    {
        return data_ + size_;
    }

  private:
    T *data_;
    std::size_t size_;
};

// ---- versions ----

// The version of the library that is loaded.
inline std::string version()
{
    return autotune_version();
}

// ---- problems ----

// A dense matrix of `rows` rows. Other members may be set afterwards.
inline autotune_problem matrix(std::int64_t rows, std::int64_t cols, std::size_t elem_size)
{
    autotune_problem problem = {};

    problem.elem_size = static_cast<std::int64_t>(elem_size);
    problem.rows = rows;
    problem.cols = cols;
    problem.struct_size = sizeof problem;
    return problem;
}

template <class T> autotune_problem matrix(std::int64_t rows, std::int64_t cols)
{
    return matrix(rows, cols, sizeof(T));
}

// A dense tensor, and its permutation: axis i of the result is axis permutation[i] of the source.
// Throws AUTOTUNE_INVALID for too many axes, or if not each has its place.
inline autotune_tensor tensor(span<const std::int64_t> extents,
                              span<const std::int64_t> permutation, std::size_t elem_size)
{
    autotune_tensor tensor = {};

    if (extents.size() > AUTOTUNE_RANK_MAX || extents.size() != permutation.size())
        throw error(AUTOTUNE_INVALID, "a tensor has up to " + std::to_string(AUTOTUNE_RANK_MAX) +
                                          " axes, and its permutation as many");
    tensor.elem_size = static_cast<std::int64_t>(elem_size);
    tensor.rank = static_cast<std::int64_t>(extents.size());
    for (std::size_t i = 0; i < extents.size(); i++) {
        tensor.extents[i] = extents.data()[i];
        tensor.permutation[i] = permutation.data()[i];
    }
    tensor.struct_size = sizeof tensor;
    return tensor;
}

template <class T>
autotune_tensor tensor(span<const std::int64_t> extents, span<const std::int64_t> permutation)
{
    return tensor(extents, permutation, sizeof(T));
}

// A list of matrices, which is borrowed.
inline autotune_groups list(span<const autotune_matrix> matrices, std::size_t elem_size)
{
    autotune_groups groups = {};

    groups.struct_size = sizeof groups;
    groups.elem_size = static_cast<std::int64_t>(elem_size);
    groups.count = static_cast<std::int64_t>(matrices.size());
    groups.list = matrices.data();
    return groups;
}

// `count` groups of the rows of one matrix, with place for as many result rows as it has.
inline autotune_groups groups(std::int64_t count, std::int64_t rows, std::int64_t cols,
                              std::size_t elem_size)
{
    autotune_groups groups = {};

    groups.struct_size = sizeof groups;
    groups.elem_size = static_cast<std::int64_t>(elem_size);
    groups.count = count;
    groups.rows = rows;
    groups.cols = cols;
    groups.most_rows = rows;
    return groups;
}

// The scales of the results of a problem with blocks: of dst, and of dst2.
inline std::array<autotune_scales, 2> scales(const autotune_problem &problem)
{
    std::array<autotune_scales, 2> scales = {};

    detail::check([&](autotune_error **failure) {
        return autotune_problem_scales(scales.data(), &problem, failure);
    });
    return scales;
}

// ---- profiles and devices ----

class profile
{
  public:
    // Without a path: all profiles on the search path.
    explicit profile(const char *path = nullptr)
        : owner_(detail::made<autotune_profile>(
              [&](autotune_profile **made, autotune_error **failure) {
                  return autotune_profile_open(made, path, failure);
              }))
    {
    }

    explicit profile(const std::string &path) : profile(path.c_str())
    {
    }

    // Why files on the search path were skipped.
    std::vector<std::string> skipped() const
    {
        std::vector<std::string> skipped;

        while (const char *why = autotune_profile_skipped(get(), skipped.size()))
            skipped.emplace_back(why);
        return skipped;
    }

    const autotune_profile *get() const noexcept
    {
        return owner_.get();
    }

  private:
    detail::owned<autotune_profile, autotune_profile_free> owner_;
};

class device
{
  public:
    // The device of the calling thread's current CUDA context.
    static device current()
    {
        return device(detail::made<autotune_device>(autotune_device_current));
    }

    // A device that need not be present: "h200", or "NVIDIA H200".
    static device described(const std::string &name)
    {
        return device(
            detail::made<autotune_device>([&](autotune_device **made, autotune_error **failure) {
                return autotune_device_described(made, name.c_str(), failure);
            }));
    }

    // A device that needs no description; autotune_device_numbers_init() makes the struct.
    static device of(const autotune_device_numbers &numbers)
    {
        return device(
            detail::made<autotune_device>([&](autotune_device **made, autotune_error **failure) {
                return autotune_device_make(made, &numbers, failure);
            }));
    }

    std::string name() const
    {
        return autotune_device_name(get());
    }

    const autotune_device *get() const noexcept
    {
        return owner_.get();
    }

  private:
    explicit device(autotune_device *made) : owner_(made)
    {
    }

    detail::owned<autotune_device, autotune_device_free> owner_;
};

// ---- lookup ----

// What a profile says of a problem. It borrows from the profile, which must outlive it.
class answer
{
  public:
    // Own an answer that C has made.
    explicit answer(autotune_answer *made) noexcept : owner_(made)
    {
    }

    // All of it as numbers and texts, which live as long as answer and profile.
    autotune_info info() const
    {
        return detail::info(autotune_answer_info, get());
    }

    std::vector<std::pair<std::string, int>> parameters() const
    {
        std::vector<std::pair<std::string, int>> parameters;

        for (std::size_t i = 0; i < autotune_answer_parameter_count(get()); i++)
            parameters.emplace_back(autotune_answer_parameter_name(get(), i),
                                    autotune_answer_parameter_value(get(), i));
        return parameters;
    }

    std::vector<autotune_launch> launches() const
    {
        return detail::launches([&](autotune_launch *launches, std::size_t capacity) {
            return autotune_answer_launches(get(), launches, capacity);
        });
    }

    std::string describe() const
    {
        return detail::text([&](char *text, std::size_t capacity) {
            return autotune_answer_describe(get(), text, capacity);
        });
    }
    std::string json() const
    {
        return detail::text([&](char *text, std::size_t capacity) {
            return autotune_answer_json(get(), text, capacity);
        });
    }

    // Throws AUTOTUNE_MISMATCH unless the answer was tuned on this model of device.
    void check_device() const
    {
        detail::check(
            [&](autotune_error **failure) { return autotune_answer_check_device(get(), failure); });
    }

    // Compiles the kernels of a plan with this answer into the cache; needs no GPU.
    void precompile(const profile &profile) const
    {
        detail::check([&](autotune_error **failure) {
            return autotune_precompile(get(), profile.get(), failure);
        });
    }

    const autotune_answer *get() const noexcept
    {
        return owner_.get();
    }

  private:
    detail::owned<autotune_answer, autotune_answer_free> owner_;
};

namespace detail
{

template <class Problem, class Lookup>
answer answered(const Lookup &lookup, const profile &profile, const device &device,
                const Problem &problem, const char *policy)
{
    return answer(made<autotune_answer>([&](autotune_answer **made, autotune_error **failure) {
        return lookup(made, profile.get(), device.get(), &problem, policy, failure);
    }));
}

} // namespace detail

// The policy is "cold" or "warm".
inline answer lookup(const profile &profile, const device &device, const autotune_problem &problem,
                     const char *policy = "cold")
{
    return detail::answered(autotune_lookup, profile, device, problem, policy);
}
inline answer lookup(const profile &profile, const device &device, const autotune_tensor &tensor,
                     const char *policy = "cold")
{
    return detail::answered(autotune_tensor_lookup, profile, device, tensor, policy);
}
inline answer lookup(const profile &profile, const device &device, const autotune_groups &groups,
                     const char *policy = "cold")
{
    return detail::answered(autotune_groups_lookup, profile, device, groups, policy);
}
// The answer would outlive the profile.
template <class Problem>
answer lookup(profile &&profile, const device &device, const Problem &problem,
              const char *policy = "cold") = delete;

// ---- plans ----

// Options that stand for none: a plan only looks up.
inline autotune_plan_options plan_options()
{
    autotune_plan_options options = {};

    options.struct_size = sizeof options;
    return options;
}

// A number of an execution: its value, or the device address where the kernel finds it.
inline autotune_scalar number(double real, double imaginary = 0)
{
    return {nullptr, {real, imaginary}};
}
inline autotune_scalar number_at(const void *address)
{
    return {address, {0, 0}};
}

namespace detail
{

// The bytes that a problem takes on each side; 0: not known. Those of a step depend on its types.
struct sides {
    std::int64_t src, dst;
};

inline sides sides_of(const autotune_problem &problem)
{
    const auto side = [&](std::int64_t rows, std::int64_t cols, std::int64_t ld,
                          std::int64_t stride) {
        const std::int64_t step = ld ? ld : cols, batch = problem.batch ? problem.batch : 1;
        const std::int64_t matrix = (rows - 1) * step + cols;

        return problem.elem_size * ((batch - 1) * (stride ? stride : rows * step) + matrix);
    };

    if (problem.step || problem.explicit_strides)
        return {0, 0};
    return {side(problem.rows, problem.cols, problem.ld_src, problem.stride_src),
            side(problem.cols, problem.rows, problem.ld_dst, problem.stride_dst)};
}

inline sides sides_of(const autotune_groups &)
{
    return {0, 0};
}

inline sides sides_of(const autotune_tensor &tensor)
{
    std::int64_t bytes = tensor.step || tensor.explicit_strides ? 0 : tensor.elem_size;

    for (std::int64_t i = 0; i < tensor.rank; i++)
        if (tensor.strides_src[i] || tensor.strides_dst[i])
            bytes = 0;
    for (std::int64_t i = 0; i < tensor.rank; i++)
        bytes *= tensor.extents[i];
    return {bytes, bytes};
}

} // namespace detail

// A kernel that is loaded for a problem. Any thread may execute and destroy it, whatever context is
// current there. It is destroyed before its context is, and when its transposes have ended.
class plan
{
  public:
    plan(const profile &profile, const autotune_problem &problem)
        : plan(autotune_plan_create, profile, problem)
    {
    }
    plan(const profile &profile, const autotune_tensor &tensor)
        : plan(autotune_tensor_plan_create, profile, tensor)
    {
    }
    plan(const profile &profile, const autotune_groups &groups)
        : plan(autotune_groups_plan_create, profile, groups)
    {
    }
    plan(const profile &profile, const autotune_problem &problem,
         const autotune_plan_options &options)
        : plan(autotune_plan_create_with, profile, problem, &options)
    {
    }
    plan(const profile &profile, const autotune_tensor &tensor,
         const autotune_plan_options &options)
        : plan(autotune_tensor_plan_create_with, profile, tensor, &options)
    {
    }

    // Start the transpose of src into dst, which are device addresses. `stream` is a CUstream or
    // cudaStream_t.
    void execute(void *dst, const void *src, void *stream = nullptr) const
    {
        detail::check([&](autotune_error **failure) {
            return autotune_plan_execute(get(), dst, src, stream, failure);
        });
    }

    // The same for spans of device memory. Throws AUTOTUNE_INVALID if one is too short for a
    // problem without a step. With explicit strides, strides of tensors or many matrices that is
    // not known.
    template <class Dst, class Src, class = detail::if_range<Dst>, class = detail::if_range<Src>>
    void execute(Dst &&dst, Src &&src, void *stream = nullptr) const
    {
        require("dst", dst.size() * sizeof(detail::elements_of<Dst>), sides_.dst);
        require("src", src.size() * sizeof(detail::elements_of<Src>), sides_.src);
        execute(static_cast<void *>(dst.data()), static_cast<const void *>(src.data()), stream);
    }

    // Start it with all that a plan can need. autotune_execution_init() makes an execution.
    void execute_with(const autotune_execution &execution) const
    {
        detail::check([&](autotune_error **failure) {
            return autotune_plan_execute_with(get(), &execution, failure);
        });
    }

    // The launches at these addresses. The kernels' names live as long as the plan.
    std::vector<autotune_launch> launches(const void *dst = nullptr,
                                          const void *src = nullptr) const
    {
        return detail::launches([&](autotune_launch *launches, std::size_t capacity) {
            return autotune_plan_launches(get(), dst, src, launches, capacity);
        });
    }

    // What is known of the plan's answer. Texts live as long as the plan.
    autotune_info info() const
    {
        return detail::info(autotune_plan_info, get());
    }

    std::int64_t scratch_bytes() const noexcept
    {
        return autotune_plan_scratch_bytes(get());
    }

    std::string describe() const
    {
        return detail::text([&](char *text, std::size_t capacity) {
            return autotune_plan_describe(get(), text, capacity);
        });
    }

    const autotune_plan *get() const noexcept
    {
        return owner_.get();
    }

  private:
    template <class Create, class Problem, class... Options>
    plan(const Create &create, const profile &profile, const Problem &problem, Options... options)
        : owner_(detail::made<autotune_plan>([&](autotune_plan **made, autotune_error **failure) {
              return create(made, profile.get(), &problem, options..., failure);
          })),
          sides_(detail::sides_of(problem))
    {
    }

    static void require(const char *side, std::size_t bytes, std::int64_t needed)
    {
        if (needed > 0 && bytes < static_cast<std::size_t>(needed))
            throw error(AUTOTUNE_INVALID, std::string(side) + " has " + std::to_string(bytes) +
                                              " bytes, and the problem takes " +
                                              std::to_string(needed));
    }

    detail::owned<autotune_plan, autotune_plan_free> owner_;
    detail::sides sides_; // of a problem that makes sense: the plan was made
};

// ---- kernels that no plan uses ----

inline void clear() noexcept
{
    autotune_clear();
}

inline void keep_unused(std::size_t most) noexcept
{
    autotune_keep_unused(most);
}

// Name the NVRTC of this process, before the first plan.
inline void set_nvrtc(const std::string &path)
{
    detail::check(
        [&](autotune_error **failure) { return autotune_set_nvrtc(path.c_str(), failure); });
}

// ---- what the library does ----

// Tell this function from now on, and nullptr for none; see autotune_set_log.
inline void set_log(autotune_log_function *function, void *user_data,
                    autotune_log_level most) noexcept
{
    autotune_set_log(function, user_data, most);
}

// ---- wisdom: what plans have measured ----

namespace wisdom
{

// Add it to the profile that $AUTOTUNE_WISDOM names.
inline void save()
{
    detail::check([](autotune_error **failure) { return autotune_wisdom_save(nullptr, failure); });
}

inline void save(const std::string &path)
{
    detail::check(
        [&](autotune_error **failure) { return autotune_wisdom_save(path.c_str(), failure); });
}

inline void forget() noexcept
{
    autotune_wisdom_forget();
}

} // namespace wisdom

} // namespace autotune

#endif
