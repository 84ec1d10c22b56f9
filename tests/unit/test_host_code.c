/* SPDX-License-Identifier: Apache-2.0 */
/* src/explain: the host's part of a CUDA file, what is left out of it and the launches in it. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "explain/host_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* "LINE KERNEL GRID BLOCK SHARED(ARGUMENT, ...)" of each launch; ? is what is not plain. */
static char *launches_of(const char *source)
{
    struct at_host_launches launches = {0};
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    at_host_launches_read(&launches, source);
    for (size_t i = 0; i < launches.count; i++) {
        const struct at_host_launch *launch = &launches.items[i];

        fprintf(out, "%s%jd %s %s %s %s(", i ? "; " : "", (intmax_t)launch->line, launch->kernel,
                launch->grid ? launch->grid : "?", launch->block ? launch->block : "?",
                launch->shared ? launch->shared : "0");
        for (size_t k = 0; k < launch->count; k++) {
            const struct at_host_argument *argument = &launch->arguments[k];

            if (argument->element)
                fprintf(out, "%s%s %jd", k ? ", " : "", argument->element,
                        (intmax_t)argument->bytes);
            else
                fprintf(out, "%s%s", k ? ", " : "", argument->number ? argument->number : "?");
        }
        fputc(')', out);
    }
    at_host_launches_clear(&launches);
    return at_text_close(&stream, NULL);
}

static const struct {
    const char *source, *launches;
} programs[] = {
    {"int main() { k<<<2, 32>>>(); }", "1 k 2 32 0()"},
    {"#define N (1 << 20)\nconst int block = 256;\nint main() {\n"
     "float *a, *b; cudaMalloc(&a, N * sizeof(float)); cudaMalloc((void **)&b, 4 * N);\n"
     "k<<<(N + block - 1) / block, block>>>(a, b, N, 2.5f); }",
     "5 k 4096 256 0(float 4194304, float 4194304, 1048576, 2.5)"},
    {"void f() { dim3 grid(4, 3), block = dim3(32, 8, 2); k<<<grid, block, 8 * 32>>>(); }",
     "1 k 4,3 32,8,2 256()"},
    {"void f() { dim3 grid{5, 6}; dim3 block; block.x = 64; block.y = 2;\nk<<<grid, dim3(32)>>>(); "
     "}",
     "2 k 5,6 32 0()"},
    {"void f() { dim3 b(32, 8), g; g = dim3(1024 / b.x, 64 / b.y); k<<<g, b>>>(); }",
     "1 k 32,8 32,8 0()"},
    {"void f() { dim3 b(32, 8); b.y = 4; k<<<b.x * b.y, b>>>(); }", "1 k 128 32,4 0()"},
    /* A macro with arguments, and a function that is one expression. */
    {"#define CEIL(M, N) (((M) + (N)-1) / (N))\n"
     "__host__ __device__ int up(int a, int b) { return (a + b - 1) / b; }\n"
     "void f() { int m = 1000; k<<<dim3(CEIL(m, 32), up(m, 16)), 32 * 2>>>(m); }",
     "3 k 32,63 64 0(1000)"},
    {"void f(int n) { n = 1000; k<<<(int)ceil((float)n / 256), 256>>>(); "
     "k<<<ceil(n / 256.0), 256>>>(); k<<<ceil(n / 256), 256>>>(); }",
     "1 k 4 256 0(); 1 k 4 256 0(); 1 k 3 256 0()"},
    {"void f() { k<<<std::min(7, 9), std::max(32, 64)>>>(static_cast<int>(3), 0x10u, 5ul, -2, "
     "-0.5); }",
     "1 k 7 64 0(3, 16, 5, -2, -0.5)"},
    /* Templates: constants and types keep, parameters of the caller do not. */
    {"template <int R, typename T> __global__ void t(T *x) {}\nvoid f() { t<8, float><<<1, "
     "32>>>(0); }",
     "2 t<8, float> 1 32 0(0)"},
    {"void f() { float *a; CHECK(cudaMalloc((void **)&a, 64)); err = cudaMallocManaged(&b, 8);\n"
     "k<<<1, 1>>>(a, (float4 *)a, a + 1, b, &a[3]); }",
     "2 k 1 1 0(float 64, float 64, ?, ?, ?)"},
    {"void f(int argc, char **argv) { int n = atoi(argv[1]); k<<<n, 32>>>(n); k<<<1, n>>>(1); }",
     "1 k ? 32 0(?); 1 k 1 ? 0(1)"},
    /* A product is no pointer, and what is in a comment or a string is nothing. */
    {"void f() { int n = 4, m = 8; g(n * m); /* n = 5; */ s = \"n = 6;\"; // n = 7;\nk<<<n, "
     "m>>>(); }",
     "2 k 4 8 0()"},
    {"void f() { int n = 4; n = unknown(); k<<<n, 1>>>(); }", "1 k ? 1 0()"},
    {"void f() { double x = 1e-3; float y = x; k<<<1, 1>>>(x, y); }", "1 k 1 1 0(0.001, 0.001)"},
    {"void f() { k<<<1, 1", ""},
    {"a<<<", ""},
    {"k<<<1,1>>>", "1 k 1 1 0()"},
};

static void test_launches(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(programs); i++) {
        char *launches = launches_of(programs[i].source);

        if (strcmp(launches, programs[i].launches) != 0)
            print_error("%s\n", programs[i].source);
        assert_string_equal(launches, programs[i].launches);
        free(launches);
    }
}

static const struct {
    const char *source, *blanked; /* NULL: nothing is left out */
} files[] = {
    {"__global__ void k() {}\nint main() { return 0; }\n", "__global__ void k() {}\n"},
    {"void check(int e);\n__device__ int f(int);\n", "__device__ int f(int);\n"},
    {"template <typename T> void run(T *x) { k<T><<<1, 1>>>(x); }\nint a;", "int a;"},
    {"namespace n { void f() {} __global__ void k() {} }",
     "namespace n { __global__ void k() {} }"},
    {"extern \"C\" { int f() { return 1; } }", "extern \"C\" { }"},
    {"#define KERNEL extern \"C\" __global__\nKERNEL void k() {}\nint f() { return 0; }",
     "#define KERNEL extern \"C\" __global__\nKERNEL void k() {}\n"},
    {"__global__ void k() {}\n", NULL},
    {"constexpr int f(int a) { return a; }", NULL},
    {"struct __align__(8) s { int a; int get() { return a; } };", NULL},
    {"INSTANTIATE(float);\nDEFINE(k) { }", NULL},
    {"typedef int (*f)(int);\nint a[] = {f(1)};", NULL},
    {"__constant__ float c[4];\nextern __shared__ int s[];", NULL},
    {"static __global__ __launch_bounds__(32) void k() {}", NULL},
    {"struct t { int a; } f() { return {}; }", ""},
};

/* What is in the text, with blanks once. */
static char *squeezed(const char *text)
{
    char *made = at_strdup(text), *to = made;

    for (const char *c = text; *c; c++)
        if (!strchr(" \n", *c) || (to > made && to[-1] != ' '))
            *to++ = strchr(" \n", *c) ? ' ' : *c;
    while (to > made && to[-1] == ' ')
        to--;
    *to = '\0';
    return made;
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void test_blanking(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(files); i++) {
        const char *wanted = files[i].blanked ? files[i].blanked : files[i].source;
        char *text = at_strdup(files[i].source), *left, *expected = squeezed(wanted);
        bool found = at_host_functions_blank(text);

        left = squeezed(text);
        if (strcmp(left, expected) != 0)
            print_error("%s\n", files[i].source);
        assert_string_equal(left, expected);
        assert_true(found == (files[i].blanked != NULL));
        assert_int_equal(strlen(text), strlen(files[i].source));
        assert_int_equal(count_lines(text), count_lines(files[i].source));
        free(expected);
        free(left);
        free(text);
    }
}

static void test_lines(void **state)
{
    char text[] =
        "#include <vector>\nusing namespace std;\nstruct host {\n  vector<int> v;\n};\n"
        "struct both { __device__ void f() {} };\n__global__ void k() {}\n#include <map>\n";
    const char *left = "struct both { __device__ void f() {} }; __global__ void k() {}";
    char *squeeze;

    (void)state;
    assert_true(at_host_line_blank(text, 1));
    assert_true(at_host_line_blank(text, 2));
    assert_true(at_host_line_blank(text, 4));
    assert_false(at_host_line_blank(text, 4));
    assert_false(at_host_line_blank(text, 6));
    assert_false(at_host_line_blank(text, 7));
    assert_true(at_host_include_blank(text));
    assert_false(at_host_include_blank(text));
    squeeze = squeezed(text);
    assert_string_equal(squeeze, left);
    free(squeeze);
}

/* A file that ends anywhere is read without going beyond it. */
static void test_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(programs); i++)
        for (size_t size = 0; size < strlen(programs[i].source); size++) {
            char *text = at_strndup(programs[i].source, size);

            free(launches_of(text));
            at_host_line_blank(text, 1);
            at_host_functions_blank(text);
            free(text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_blanking),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
