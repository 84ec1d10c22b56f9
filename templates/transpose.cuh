/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel templates share: vectors and memory operations, the order in which blocks visit
 * the matrix, and what is done to an element on its way.
 *
 * One program has many configs. It includes this file once, before the first of them. So nothing
 * here may depend on ELEM_SIZE or on a parameter, and everything is a C++ template or a plain
 * function. No name here is just `transpose`: a program defines that as a macro, for the entry
 * point's name.
 *
 * The program that reads it puts the parts in place of these directives (src/kernel/render.c). They
 * use what the parts before them declare, and include nothing. */
#ifndef AT_TRANSPOSE_CUH
#define AT_TRANSPOSE_CUH

#include "words.cuh"

#include "tiles.cuh"

#include "step.cuh"

#include "sums.cuh"

#include "kept.cuh"

/* The compiler of a program that only moves elements, of one problem each, has less to read. */
#if !AT_MOVES_ONLY

#include "numbers.cuh"

#include "step_numbers.cuh"

#include "arithmetic.cuh"

#include "largest.cuh"

#include "outputs.cuh"

#include "scales.cuh"

#include "unaligned.cuh"

#include "staged.cuh"

#include "groups.cuh"

#endif

#endif
