// SPDX-License-Identifier: Apache-2.0
// Transposes a batch of matrices on the GPU, in a stream, with the CUDA Runtime API. To build it:
//   c++ -std=c++17 runtime.cc $(pkg-config --cflags --libs autotune) -I$CUDA_HOME/include
//       -L$CUDA_HOME/lib64 -lcudart -o runtime
#include <autotune.hpp>

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <vector>

static void require(cudaError_t result)
{
    if (result != cudaSuccess)
        throw std::runtime_error(cudaGetErrorString(result));
}

static int run()
{
    const int64_t rows = 100, cols = 201, batch = 50, count = rows * cols * batch;
    const size_t bytes = sizeof(double) * count;
    std::vector<double> source(count), result(count);
    double *src, *dst;
    cudaStream_t stream;
    int wrong = 0;

    for (int64_t i = 0; i < count; i++)
        source[i] = double(i);

    // The first call of the runtime API creates the context that the plan uses.
    require(cudaMalloc(&src, bytes));
    require(cudaMalloc(&dst, bytes));
    require(cudaStreamCreate(&stream));
    autotune_problem problem = autotune::matrix<double>(rows, cols);
    problem.batch = batch;
    const autotune::plan plan(autotune::profile(), problem);

    require(cudaMemcpyAsync(src, source.data(), bytes, cudaMemcpyHostToDevice, stream));
    plan.execute(autotune::span<double>(dst, count), autotune::span<const double>(src, count),
                 stream);
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
