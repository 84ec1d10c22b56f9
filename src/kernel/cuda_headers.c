/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cuda_headers.h"

#include "base/memory.h"
#include "system/file.h"
#include "system/paths.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every installation with headers for kernels has it. */
static const char sign[] = "cuda_fp16.h";

enum { CUDA_H_BYTES_MAX = 8 << 20 };

/* Where a search begins. */
enum base { NAMED, HOME, PATH, NVRTC, CONFIGURED, SYSTEM, BASES };

static const char *const variables[BASES] = {
    [NAMED] = "AUTOTUNE_CUDA_INCLUDE",
    [HOME] = "CUDA_HOME",
    [PATH] = "CUDA_PATH",
};

/* The folders to look in, in this order. The library's folder is lib64, lib or targets/NAME/lib of
 * a toolkit, lib of NVIDIA's packages for Python (nvidia/cu13; before CUDA 13, each part has a
 * folder), or the system's lib/NAME. */
static const struct {
    enum base base;
    const char *below;
} places[] = {
    {NVRTC, "../include"},
    {NVRTC, "../targets/x86_64-linux/include"},
    {NVRTC, "../targets/sbsa-linux/include"},
    {NVRTC, "../../cuda_runtime/include"},
    {HOME, "include"},
    {HOME, "targets/x86_64-linux/include"},
    {HOME, "targets/sbsa-linux/include"},
    {HOME, "cuda_runtime/include"},
    {PATH, "include"},
    {PATH, "targets/x86_64-linux/include"},
    {PATH, "targets/sbsa-linux/include"},
    {PATH, "cuda_runtime/include"},
    {CONFIGURED, "../include"},
    {CONFIGURED, "../targets/x86_64-linux/include"},
    {CONFIGURED, "../targets/sbsa-linux/include"},
    {CONFIGURED, "../../cuda_runtime/include"},
    {SYSTEM, "local/cuda/include"},
    {SYSTEM, "include"},
};

/* Where libcu++ lies, from the headers: since CUDA 13, and in the packages for Python before. In
 * older toolkits it is among the headers. */
static const char *const libcuxx_places[] = {"cccl", "../../cuda_cccl/include"};

static char *base_folder(enum base base, const char *nvrtc_path)
{
    const char *value = variables[base] ? getenv(variables[base]) : NULL;

    switch (base) {
    case NVRTC:
        return strchr(nvrtc_path, '/') ? at_path_folder(nvrtc_path) : NULL;
    case CONFIGURED:
        return at_path_from_own_file(AT_CUDA_LIBDIR);
    case SYSTEM:
        return at_strdup("/usr");
    default:
        return value && *value ? at_strdup(value) : NULL;
    }
}

/* The folder `below` of base, if it has this file; NULL otherwise. */
static char *look_in(const char *base, const char *below, const char *name)
{
    char *folder = at_format("%s/%s", base, below), *file = at_format("%s/%s", folder, name);
    bool found = access(file, R_OK) == 0;

    at_free(file);
    if (found)
        return folder;
    at_free(folder);
    return NULL;
}

int at_cuda_headers_version(const char *folder)
{
    static const char definition[] = "#define CUDA_VERSION ";
    char *path = at_format("%s/cuda.h", folder), *text = NULL;
    const char *found;
    size_t size;
    int version = 0;

    if (at_file_read(&text, &size, path, CUDA_H_BYTES_MAX, NULL) == AT_OK) {
        found = strstr(text, definition);
        if (found)
            version = atoi(found + strlen(definition));
    }
    at_free(text);
    at_free(path);
    return version / 1000 * 100 + version % 1000 / 10;
}

char *at_cuda_headers_find(const char *nvrtc_path, int version)
{
    char *first = base_folder(NAMED, nvrtc_path);

    if (first)
        return first;
    for (size_t i = 0; i < AT_COUNT(places); i++) {
        char *base = base_folder(places[i].base, nvrtc_path);
        char *found = base ? look_in(base, places[i].below, sign) : NULL;

        at_free(base);
        if (found && at_cuda_headers_version(found) == version) {
            at_free(first);
            return found;
        }
        if (first)
            at_free(found);
        else
            first = found;
    }
    return first;
}

char *at_cuda_headers_libcuxx(const char *folder)
{
    char *found = NULL;

    for (size_t i = 0; i < AT_COUNT(libcuxx_places) && !found; i++)
        found = look_in(folder, libcuxx_places[i], "cuda");
    return found;
}

/* The headers of a folder are the same as long as this file is: an installation brings all. Its
 * name does not count, because there are several ways to one folder. */
void at_cuda_headers_identify(char identity[AT_HASH_CHARS], const char *folder)
{
    char *file = at_format("%s/%s", folder ? folder : "", sign), *text, *longer;
    struct stat info = {0};

    if (folder)
        stat(file, &info);
    text = at_format("%jd %jd %jd %jd", (intmax_t)info.st_dev, (intmax_t)info.st_ino,
                     (intmax_t)info.st_size, (intmax_t)info.st_mtim.tv_sec);
    for (int i = 0; i < at_standard_headers; i++) {
        longer = at_format("%s\n%s", text, at_standard_header_texts[i]);
        at_free(text);
        text = longer;
    }
    at_hash(identity, text, strlen(text));
    at_free(text);
    at_free(file);
}

char *at_cuda_headers_request(void)
{
    const char *values[BASES];

    for (int i = NAMED; i <= PATH; i++) {
        values[i] = getenv(variables[i]);
        if (!values[i])
            values[i] = "";
    }
    return at_format("%s %s %s", values[NAMED], values[HOME], values[PATH]);
}

/* ---- stand-ins ---- */

/* What kernels need of the headers of the C and C++ libraries (ISO C++20), and of some of POSIX.
 * Most of them are for host code only. Then they are empty: a file includes them, and keeps its
 * host code between #ifndef __CUDACC_RTC__ and #endif. cuda.h is one of these. It declares the
 * driver's functions, which NVRTC refuses. */

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
/* Of glibc's sys/types.h, which its stdlib.h and so CUDA's host headers bring. */
static const char short_names[] = "#ifndef AT_SHORT_NAMES\n"
                                  "#define AT_SHORT_NAMES\n"
                                  "typedef unsigned char u_char;\n"
                                  "typedef unsigned short ushort;\n"
                                  "typedef unsigned int uint;\n"
                                  "typedef unsigned long ulong;\n"
                                  "#endif\n";
/* libcu++ has them for kernels. */
static const char numeric_limits[] = "#if __has_include(<cuda/std/limits>)\n"
                                     "#include <cuda/std/limits>\n"
                                     "namespace std { using cuda::std::numeric_limits; }\n"
                                     "#endif\n";
/* NVRTC knows the functions. The constants are those of POSIX. */
static const char mathematics[] = "#ifndef M_PI\n"
                                  "#define M_E 2.7182818284590452354\n"
                                  "#define M_LOG2E 1.4426950408889634074\n"
                                  "#define M_LOG10E 0.43429448190325182765\n"
                                  "#define M_LN2 0.69314718055994530942\n"
                                  "#define M_LN10 2.30258509299404568402\n"
                                  "#define M_PI 3.14159265358979323846\n"
                                  "#define M_PI_2 1.57079632679489661923\n"
                                  "#define M_PI_4 0.78539816339744830962\n"
                                  "#define M_1_PI 0.31830988618379067154\n"
                                  "#define M_2_PI 0.63661977236758134308\n"
                                  "#define M_2_SQRTPI 1.12837916709551257390\n"
                                  "#define M_SQRT2 1.41421356237309504880\n"
                                  "#define M_SQRT1_2 0.70710678118654752440\n"
                                  "#endif\n"
                                  "#ifndef INFINITY\n"
                                  "#define INFINITY __int_as_float(0x7f800000)\n"
                                  "#define NAN __int_as_float(0x7fffffff)\n"
                                  "#endif\n"
                                  "namespace std {\n"
                                  "using ::abs; using ::fabs; using ::sqrt; using ::cbrt;\n"
                                  "using ::exp; using ::log; using ::pow; using ::fma;\n"
                                  "using ::sin; using ::cos; using ::tan; using ::tanh;\n"
                                  "using ::floor; using ::ceil; using ::fmin; using ::fmax;\n"
                                  "}\n";

/* cub without the algorithms that the host starts. A version of cub may lack one of these. */
#define CUB(header)                                                                                \
    "#if __has_include(<cub/" header ".cuh>)\n#include <cub/" header ".cuh>\n#endif\n"
static const char cub[] = CUB("block/block_adjacent_difference") CUB("block/block_discontinuity")
    CUB("block/block_exchange") CUB("block/block_histogram") CUB("block/block_load")
        CUB("block/block_merge_sort") CUB("block/block_radix_rank") CUB("block/block_radix_sort")
            CUB("block/block_reduce") CUB("block/block_run_length_decode") CUB("block/block_scan")
                CUB("block/block_shuffle") CUB("block/block_store") CUB("warp/warp_exchange")
                    CUB("warp/warp_load") CUB("warp/warp_merge_sort") CUB("warp/warp_reduce")
                        CUB("warp/warp_scan") CUB("warp/warp_store") CUB("thread/thread_load")
                            CUB("thread/thread_operators") CUB("thread/thread_reduce")
                                CUB("thread/thread_scan") CUB("thread/thread_search")
                                    CUB("thread/thread_sort") CUB("thread/thread_store")
                                        CUB("iterator/arg_index_input_iterator")
                                            CUB("iterator/cache_modified_input_iterator")
                                                CUB("iterator/cache_modified_output_iterator")
                                                    CUB("util_type") CUB("util_ptx")
                                                        CUB("util_math")
                                                            CUB("grid/grid_even_share");

#define HEADERS(X)                                                                                 \
    X("stdint.h", integers)                                                                        \
    X("cstdint", integers)                                                                         \
    X("limits.h", limits)                                                                          \
    X("climits", limits)                                                                           \
    X("float.h", floats)                                                                           \
    X("cfloat", floats)                                                                            \
    X("algorithm", "")                                                                             \
    X("any", "")                                                                                   \
    X("array", "")                                                                                 \
    X("assert.h", "")                                                                              \
    X("atomic", "")                                                                                \
    X("barrier", "")                                                                               \
    X("bit", "")                                                                                   \
    X("bitset", "")                                                                                \
    X("cassert", "")                                                                               \
    X("cctype", "")                                                                                \
    X("cerrno", "")                                                                                \
    X("cfenv", "")                                                                                 \
    X("charconv", "")                                                                              \
    X("chrono", "")                                                                                \
    X("cinttypes", integers)                                                                       \
    X("clocale", "")                                                                               \
    X("cmath", mathematics)                                                                        \
    X("codecvt", "")                                                                               \
    X("compare", "")                                                                               \
    X("complex", "")                                                                               \
    X("concepts", "")                                                                              \
    X("condition_variable", "")                                                                    \
    X("coroutine", "")                                                                             \
    X("csetjmp", "")                                                                               \
    X("csignal", "")                                                                               \
    X("cstdarg", "")                                                                               \
    X("cstddef", "")                                                                               \
    X("cstdio", "")                                                                                \
    X("cstdlib", short_names)                                                                      \
    X("cstring", "")                                                                               \
    X("ctime", "")                                                                                 \
    X("ctype.h", "")                                                                               \
    X("cuchar", "")                                                                                \
    X("cub/cub.cuh", cub)                                                                          \
    X("cuda.h", "")                                                                                \
    X("cwchar", "")                                                                                \
    X("cwctype", "")                                                                               \
    X("deque", "")                                                                                 \
    X("errno.h", "")                                                                               \
    X("exception", "")                                                                             \
    X("execution", "")                                                                             \
    X("fenv.h", "")                                                                                \
    X("filesystem", "")                                                                            \
    X("format", "")                                                                                \
    X("forward_list", "")                                                                          \
    X("fstream", "")                                                                               \
    X("functional", "")                                                                            \
    X("future", "")                                                                                \
    X("initializer_list", "")                                                                      \
    X("inttypes.h", integers)                                                                      \
    X("iomanip", "")                                                                               \
    X("ios", "")                                                                                   \
    X("iosfwd", "")                                                                                \
    X("iostream", "")                                                                              \
    X("istream", "")                                                                               \
    X("iterator", "")                                                                              \
    X("latch", "")                                                                                 \
    X("limits", numeric_limits)                                                                    \
    X("list", "")                                                                                  \
    X("locale", "")                                                                                \
    X("locale.h", "")                                                                              \
    X("map", "")                                                                                   \
    X("math.h", mathematics)                                                                       \
    X("memory", "")                                                                                \
    X("memory_resource", "")                                                                       \
    X("mutex", "")                                                                                 \
    X("new", "")                                                                                   \
    X("numbers", "")                                                                               \
    X("numeric", "")                                                                               \
    X("optional", "")                                                                              \
    X("ostream", "")                                                                               \
    X("queue", "")                                                                                 \
    X("random", "")                                                                                \
    X("ranges", "")                                                                                \
    X("ratio", "")                                                                                 \
    X("regex", "")                                                                                 \
    X("scoped_allocator", "")                                                                      \
    X("semaphore", "")                                                                             \
    X("set", "")                                                                                   \
    X("setjmp.h", "")                                                                              \
    X("shared_mutex", "")                                                                          \
    X("signal.h", "")                                                                              \
    X("source_location", "")                                                                       \
    X("span", "")                                                                                  \
    X("sstream", "")                                                                               \
    X("stack", "")                                                                                 \
    X("stdalign.h", "")                                                                            \
    X("stdarg.h", "")                                                                              \
    X("stdbool.h", "")                                                                             \
    X("stddef.h", "")                                                                              \
    X("stdexcept", "")                                                                             \
    X("stdio.h", "")                                                                               \
    X("stdlib.h", short_names)                                                                     \
    X("stop_token", "")                                                                            \
    X("streambuf", "")                                                                             \
    X("string", "")                                                                                \
    X("string.h", "")                                                                              \
    X("string_view", "")                                                                           \
    X("strings.h", "")                                                                             \
    X("syncstream", "")                                                                            \
    X("sys/stat.h", "")                                                                            \
    X("sys/time.h", "")                                                                            \
    X("sys/types.h", short_names)                                                                  \
    X("system_error", "")                                                                          \
    X("thread", "")                                                                                \
    X("time.h", "")                                                                                \
    X("tuple", "")                                                                                 \
    X("type_traits", "")                                                                           \
    X("typeindex", "")                                                                             \
    X("typeinfo", "")                                                                              \
    X("unistd.h", "")                                                                              \
    X("unordered_map", "")                                                                         \
    X("unordered_set", "")                                                                         \
    X("utility", "")                                                                               \
    X("valarray", "")                                                                              \
    X("variant", "")                                                                               \
    X("vector", "")                                                                                \
    X("version", "")                                                                               \
    X("wchar.h", "")

#define NAME(name, text) name,
#define TEXT(name, text) text,
#define ONE(name, text)  +1
const char *const at_standard_header_names[] = {HEADERS(NAME)};
const char *const at_standard_header_texts[] = {HEADERS(TEXT)};
const int at_standard_headers = HEADERS(ONE);
_Static_assert(HEADERS(ONE) <= AT_STANDARD_HEADERS_MAX, "NVRTC gets all of them");
