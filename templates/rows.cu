/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of adjacent elements that stay adjacent: the fastest axis is the fastest on both sides. A
 * run is the matrix of a batch, of one row; the other axes are the batch's. In a strided copy a run
 * is one element.
 *
 *      source                                        destination
 *      run (0, 0):  a a a a | b b b b :run (0, 1)    run (0, 0):  a a a a | c c c c :run (1, 0)
 *      run (1, 0):  c c c c | d d d d :run (1, 1)    run (0, 1):  b b b b | d d d d :run (1, 1)
 *
 * The vectors of all runs are numbered, run by run. A block takes as many as its threads can have
 * in flight: part of a long run, or many short ones. A thread finds the run of each of its vectors,
 * and loads all of them before it stores the first.
 *
 * With SHIFT, the vectors are those of the destination: aligned ones that have a part of a run. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes, of the source */
#endif
#ifndef RESULT_SIZE
#define RESULT_SIZE ELEM_SIZE /* bytes of an element of the destination */
#endif
#ifndef STEP
#define STEP 0 /* arithmetic on the way; 0: elements are moved as they are */
#endif
#ifndef STEP_NUMBERS
#define STEP_NUMBERS 0 /* 1: the launch gives the step a number */
#endif
#ifndef AXES
#define AXES 1 /* of the batch */
#endif
#ifndef VEC
#define VEC 0 /* bytes per access to the source; 0: an element */
#endif
#ifndef SHIFT
#define SHIFT 0 /* 1: runs begin anywhere, not at the boundary of a vector of 16 bytes */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef UNROLL
#define UNROLL 4 /* accesses in flight per thread */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: plain, 1: streaming, 2: read-only */
#endif
#ifndef FETCH
#define FETCH 0 /* bytes that L2 may fetch where a sector is missing; 0: asks for nothing */
#endif
#ifndef STORE
#define STORE 0 /* 0: plain, 1: streaming */
#endif

using namespace at;

constexpr int bytes = SHIFT ? 16 : VEC ? VEC : ELEM_SIZE;
constexpr int elements = bytes / ELEM_SIZE; /* of a vector */
constexpr int block_vectors = THREADS * UNROLL;

using unit = word<bytes>;
using step = step_of<STEP, ELEM_SIZE>;
using result_unit = word<elements * RESULT_SIZE>;

#if !SHIFT
/* A vector on both sides. */
struct run_vector {
    unit moved;
    typename step::template place<elements> own;
    result_unit *to;

    static __device__ __forceinline__ unsigned count(long long cols)
    {
        return (unsigned)(cols / elements);
    }

    __device__ __forceinline__ void read(unsigned char *dst, const unsigned char *src, int number,
                                         long long, const step &result_of)
    {
        to = reinterpret_cast<result_unit *>(dst) + number;
        moved = load<LOAD, FETCH>(reinterpret_cast<const unit *>(src) + number);
        own = result_of.template at<elements>(to);
    }
    __device__ __forceinline__ void write(const step &result_of) const
    {
        store<STORE>(to, result_of.template of_vector<elements>(moved, own));
    }
};

#else
/* A vector of the destination where runs begin anywhere. It is shifted out of two vectors of the
 * source. At the ends of a run, elements are moved one by one. */
struct run_vector {
    vector<16, 4> first, second;
    typename step::template place<elements> own;
    unsigned char *to;
    const unsigned char *from;
    int begin, end; /* of the run's elements in the vector */
    bool is_whole;  /* and both vectors of the source are in the run */

    /* Of a run, wherever it begins. */
    static __device__ __forceinline__ unsigned count(long long cols)
    {
        return (unsigned)((cols * ELEM_SIZE + 31 - ELEM_SIZE) / 16);
    }

    __device__ __forceinline__ void read(unsigned char *dst, const unsigned char *src, int number,
                                         long long cols, const step &result_of)
    {
        const int at = number * 16 - bytes_past_boundary<16>(dst); /* in the run */
        const int left = (int)cols * ELEM_SIZE - at;

        to = dst + at;
        from = src + at;
        begin = at < 0 ? -at / ELEM_SIZE : 0;
        end = minimum(left, 16) / ELEM_SIZE;

        const int skip = bytes_past_boundary<16>(from);

        is_whole = at >= skip && left >= 32 - skip;
        if (is_whole) {
            const uint4 *const vectors = reinterpret_cast<const uint4 *>(from - skip);

            first.whole = load<LOAD, FETCH>(vectors);
            second.whole = load<LOAD, FETCH>(vectors + 1);
            own = result_of.template at<elements>(to);
        } else {
            vector<16, ELEM_SIZE> ends{};

#pragma unroll
            for (int i = 0; i < elements; i++)
                if (i >= begin && i < end)
                    ends.part[i] = reinterpret_cast<const word<ELEM_SIZE> *>(from)[i];
            first.whole = ends.whole;
        }
    }
    __device__ __forceinline__ void write(const step &result_of) const
    {
        vector<16, ELEM_SIZE> ends;

        ends.whole = first.whole;
        if (is_whole)
            store<STORE>(
                reinterpret_cast<result_unit *>(to),
                result_of.template of_vector<elements>(
                    funnel_shift<ELEM_SIZE, 16>(first, second, bytes_past_boundary<16>(from)).whole,
                    own));
        else
#pragma unroll
            for (int i = 0; i < elements; i++)
                if (i >= begin && i < end) {
                    word<RESULT_SIZE> *const one = reinterpret_cast<word<RESULT_SIZE> *>(to) + i;

                    *one = result_of(ends.part[i], result_of.template at<1>(one));
                }
    }
};
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long, long long cols, long long, long long,
              batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst STEP_PARAMETER)
{
    const unsigned run_vectors = run_vector::count(cols);
    /* 64 bits once, to the block's first vector; then 32. */
    const long long first = (long long)blockIdx.x * block_vectors;
    const unsigned first_run =
        first >> 32 ? (unsigned)(first / run_vectors) : (unsigned)first / run_vectors;
    const unsigned within = (unsigned)(first - (long long)first_run * run_vectors);
    const unsigned runs = (unsigned)matrices_of(batch);
    const step result_of{STEP_ARGUMENT};
    run_vector moved[UNROLL];
    bool exists[UNROLL];

#pragma unroll
    for (int i = 0; i < UNROLL; i++) {
        const unsigned vector = within + threadIdx.x + i * THREADS;
        const unsigned skipped = vector / run_vectors;
        const unsigned run = first_run + skipped;
        const batch_place<AXES> place = place_in(batch, run);

        exists[i] = run < runs;
        if (exists[i])
            moved[i].read(static_cast<unsigned char *>(dst) + place * stride_dst * RESULT_SIZE,
                          static_cast<const unsigned char *>(src) + place * stride_src * ELEM_SIZE,
                          (int)(vector - skipped * run_vectors), cols, result_of);
    }
#pragma unroll
    for (int i = 0; i < UNROLL; i++)
        if (exists[i])
            moved[i].write(result_of);
}
