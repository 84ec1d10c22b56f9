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
 * and loads all of them before it stores the first. */
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

constexpr int bytes = VEC ? VEC : ELEM_SIZE;
constexpr int elements = bytes / ELEM_SIZE; /* of a vector */
constexpr int block_vectors = THREADS * UNROLL;

using unit = word<bytes>;
using step = step_of<STEP, ELEM_SIZE>;
using result_unit = word<elements * RESULT_SIZE>;

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long, long long cols, long long, long long,
              batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst STEP_PARAMETER)
{
    const unsigned run_vectors = (unsigned)(cols / elements);
    /* 64 bits once, to the block's first vector; then 32. */
    const long long first = (long long)blockIdx.x * block_vectors;
    const unsigned first_run =
        first >> 32 ? (unsigned)(first / run_vectors) : (unsigned)first / run_vectors;
    const unsigned within = (unsigned)(first - (long long)first_run * run_vectors);
    const unsigned runs = (unsigned)matrices_of(batch);
    const step result_of{STEP_ARGUMENT};
    unit moved[UNROLL];
    typename step::template place<elements> places[UNROLL];
    result_unit *to[UNROLL];
    bool exists[UNROLL];

#pragma unroll
    for (int i = 0; i < UNROLL; i++) {
        const unsigned vector = within + threadIdx.x + i * THREADS;
        const unsigned skipped = vector / run_vectors;
        const unsigned run = first_run + skipped;
        const batch_place<AXES> place = place_in(batch, run);
        const int at = (int)(vector - skipped * run_vectors);

        exists[i] = run < runs;
        to[i] = reinterpret_cast<result_unit *>(static_cast<word<RESULT_SIZE> *>(dst) +
                                                place * stride_dst) +
                at;
        if (exists[i]) {
            moved[i] =
                load<LOAD, FETCH>(reinterpret_cast<const unit *>(
                               static_cast<const word<ELEM_SIZE> *>(src) + place * stride_src) +
                           at);
            places[i] = result_of.template at<elements>(to[i]);
        }
    }
#pragma unroll
    for (int i = 0; i < UNROLL; i++)
        if (exists[i])
            store<STORE>(to[i], result_of.template of_vector<elements>(moved[i], places[i]));
}
