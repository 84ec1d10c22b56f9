// SPDX-License-Identifier: Apache-2.0
// Transposes the matrices of a batch on the GPU, in a stream, with the CUDA Runtime API:
//   c++ runtime.cc $(pkg-config --cflags --libs autotune) -I$CUDA_HOME/include
//       -L$CUDA_HOME/lib64 -lcudart -o runtime
#include <autotune.h>

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

template <class T, void (*release)(T *)> struct releaser {
    void operator()(T *object) const
    {
        release(object);
    }
};
template <class T, void (*release)(T *)> using owned = std::unique_ptr<T, releaser<T, release>>;
using profile_owner = owned<autotune_profile, autotune_profile_free>;
using plan_owner = owned<autotune_plan, autotune_plan_free>;
using error_owner = owned<autotune_error, autotune_error_free>;

static void require(autotune_status status, autotune_error *error)
{
    error_owner owner(error);

    if (status != AUTOTUNE_OK)
        throw std::runtime_error(autotune_error_message(error));
}

static void require(cudaError_t result)
{
    if (result != cudaSuccess)
        throw std::runtime_error(cudaGetErrorString(result));
}

static profile_owner open_profiles()
{
    autotune_profile *profile = nullptr;
    autotune_error *error = nullptr;
    autotune_status status = autotune_profile_open(&profile, nullptr, &error);

    require(status, error);
    return profile_owner(profile);
}

static plan_owner make_plan(const autotune_profile *profile, const autotune_problem &problem)
{
    autotune_plan *plan = nullptr;
    autotune_error *error = nullptr;
    autotune_status status = autotune_plan_create(&plan, profile, &problem, &error);

    require(status, error);
    return plan_owner(plan);
}

static int run()
{
    const int64_t rows = 100, cols = 201, batch = 50, count = rows * cols * batch;
    const size_t bytes = sizeof(double) * count;
    autotune_problem problem = {};
    autotune_error *error = nullptr;
    std::vector<double> source(count), result(count);
    double *src, *dst;
    cudaStream_t stream;
    int wrong = 0;

    problem.elem_size = sizeof(double);
    problem.rows = rows;
    problem.cols = cols;
    problem.batch = batch;
    for (int64_t i = 0; i < count; i++)
        source[i] = double(i);

    // The first call of the runtime API creates the context, which the plan needs.
    require(cudaMalloc(&src, bytes));
    require(cudaMalloc(&dst, bytes));
    require(cudaStreamCreate(&stream));
    profile_owner profile = open_profiles();
    plan_owner plan = make_plan(profile.get(), problem);

    require(cudaMemcpyAsync(src, source.data(), bytes, cudaMemcpyHostToDevice, stream));
    autotune_status status = autotune_plan_execute(plan.get(), dst, src, stream, &error);
    require(status, error);
    require(cudaMemcpyAsync(result.data(), dst, bytes, cudaMemcpyDeviceToHost, stream));
    require(cudaStreamSynchronize(stream));
    for (int64_t b = 0; b < batch; b++)
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < cols; c++)
                wrong += result[(b * cols + c) * rows + r] != source[(b * rows + r) * cols + c];
    std::printf("%d of %d elements are wrong\n", wrong, int(count));
    cudaStreamDestroy(stream);
    cudaFree(src);
    cudaFree(dst);
    return wrong > 0;
}

int main()
{
    try {
        return run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    }
}
