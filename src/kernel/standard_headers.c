/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels need of the C library's headers. Headers that only host code uses are here too, so
 * that a file can include them and keep its host code between #ifndef __CUDACC_RTC__ and #endif.
 * cuda.h is one of them: it declares the driver's functions, which NVRTC refuses. */
#include "kernel/cuda_headers.h"

/* As libcu++ defines them for NVRTC, so that both may be included. */
static const char integers[] =
    "#ifndef AT_STDINT\n"
    "#define AT_STDINT\n"
    "typedef signed char int8_t;\n"
    "typedef short int16_t;\n"
    "typedef int int32_t;\n"
    "typedef long long int64_t;\n"
    "typedef unsigned char uint8_t;\n"
    "typedef unsigned short uint16_t;\n"
    "typedef unsigned int uint32_t;\n"
    "typedef unsigned long long uint64_t;\n"
    "typedef long long intptr_t;\n"
    "typedef unsigned long long uintptr_t;\n"
    "namespace std {\n"
    "using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;\n"
    "using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;\n"
    "using ::intptr_t; using ::uintptr_t; using ::size_t;\n"
    "}\n"
    "#define INT8_MAX 127\n"
    "#define INT16_MAX 32767\n"
    "#define INT32_MAX 2147483647\n"
    "#define INT64_MAX 9223372036854775807LL\n"
    "#define UINT8_MAX 255\n"
    "#define UINT16_MAX 65535\n"
    "#define UINT32_MAX 4294967295U\n"
    "#define UINT64_MAX 18446744073709551615ULL\n"
    "#endif\n";
static const char limits[] = "#ifndef INT_MAX\n"
                             "#define CHAR_BIT 8\n"
                             "#define SHRT_MAX 32767\n"
                             "#define INT_MAX 2147483647\n"
                             "#define INT_MIN (-INT_MAX - 1)\n"
                             "#define UINT_MAX 4294967295U\n"
                             "#define LLONG_MAX 9223372036854775807LL\n"
                             "#define LLONG_MIN (-LLONG_MAX - 1)\n"
                             "#define ULLONG_MAX 18446744073709551615ULL\n"
                             "#endif\n";
static const char floats[] = "#ifndef FLT_MAX\n"
                             "#define FLT_MAX 3.402823466e+38F\n"
                             "#define FLT_MIN 1.175494351e-38F\n"
                             "#define FLT_EPSILON 1.192092896e-07F\n"
                             "#define DBL_MAX 1.7976931348623158e+308\n"
                             "#define DBL_MIN 2.2250738585072014e-308\n"
                             "#define DBL_EPSILON 2.2204460492503131e-16\n"
                             "#endif\n";

#define HEADERS(X)                                                                                 \
    X("stdint.h", integers)                                                                        \
    X("cstdint", integers)                                                                         \
    X("limits.h", limits)                                                                          \
    X("climits", limits)                                                                           \
    X("float.h", floats)                                                                           \
    X("cfloat", floats)                                                                            \
    X("algorithm", "")                                                                             \
    X("assert.h", "")                                                                              \
    X("cassert", "")                                                                               \
    X("chrono", "")                                                                                \
    X("cmath", "")                                                                                 \
    X("cstddef", "")                                                                               \
    X("cstdio", "")                                                                                \
    X("cstdlib", "")                                                                               \
    X("cstring", "")                                                                               \
    X("cuda.h", "")                                                                                \
    X("iostream", "")                                                                              \
    X("math.h", "")                                                                                \
    X("numeric", "")                                                                               \
    X("random", "")                                                                                \
    X("stddef.h", "")                                                                              \
    X("stdio.h", "")                                                                               \
    X("stdlib.h", "")                                                                              \
    X("string", "")                                                                                \
    X("string.h", "")                                                                              \
    X("time.h", "")                                                                                \
    X("vector", "")

#define NAME(name, text) name,
#define TEXT(name, text) text,
#define ONE(name, text)  +1
const char *const at_standard_header_names[] = {HEADERS(NAME)};
const char *const at_standard_header_texts[] = {HEADERS(TEXT)};
const int at_standard_headers = HEADERS(ONE);
