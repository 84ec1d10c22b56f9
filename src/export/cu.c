/* SPDX-License-Identifier: Apache-2.0 */
/* One self-contained .cu: the kernels, and functions that launch them. NVRTC takes the same file
 * too; it skips the functions, which need nvcc.
 *
 * Only the functions that the format cu-header declares are visible outside, so that programs can
 * have several such files: everything else is static or in a namespace of the file's prefix. NVRTC
 * finds kernels by their names, so there they are not static. */
#include "base/memory.h"
#include "export/export.h"
#include "kernel/render.h"

#include <stdlib.h>
#include <string.h>

/* A header for C and C++ that declares the functions of the format cu. */

static const char prototypes_beginning[] =
    "#ifdef __cplusplus\n"
    "extern \"C\" {\n"
    "#endif\n"
    "\n"
    "/* Transposes: dst[c*ld_dst + r] = src[r*ld_src + c], for each matrix of the batch; in place "
    "where dst\n"
    " * is src. cudaErrorNotSupported for a matrix or batch that was not exported. */\n"
    "cudaError_t @p_transpose(int elem_size, long long rows, long long cols, long long ld_src,\n"
    "                         long long ld_dst, long long batch, long long stride_src,\n"
    "                         long long stride_dst, void *dst, const void *src, cudaStream_t "
    "stream);\n"
    "\n"
    "/* One function per problem, tensors among them. */\n";

static const char prototypes_ending[] = "\n"
                                        "#ifdef __cplusplus\n"
                                        "}\n"
                                        "#endif\n";

static void write_prototypes(const struct at_export *export, FILE *out)
{
    at_export_write_named(export, prototypes_beginning, out);
    for (size_t i = 0; i < export->count; i++)
        fprintf(out,
                "/* %s */\n"
                "cudaError_t %s_transpose_%s(void *dst, const void *src, cudaStream_t stream);\n",
                export->items[i].spec, export->prefix, export->items[i].key);
    fputs(prototypes_ending, out);
}

static enum at_status write_header(const struct at_export *export, FILE *out, struct at_error *err)
{
    (void)err;
    fputs("/*\n", out);
    at_export_write_origin(export, " * ", out);
    fputs(" */\n", out);
    at_export_write_guard(export, "LAUNCHERS", out);
    fputs("#include <cuda_runtime_api.h>\n\n", out);
    write_prototypes(export, out);
    fputs("\n#endif\n", out);
    return AT_OK;
}

const struct at_export_format at_export_cu_header = {
    .name = "cu-header",
    .summary = "a header for C and C++ with the prototypes of the functions in cu",
    .has_names = true,
    .write = write_header,
};

/* Name a kernel by the number of the first item that uses it. */
static void name_kernel(char name[AT_ENTRY_NAME_CHARS], size_t kernel)
{
    snprintf(name, AT_ENTRY_NAME_CHARS, "autotune_kernel_%zu", kernel);
}

/* Copy text without the lines that include the shared header, which the file already contains. They
 * become empty lines, so that line numbers stay. Entry points get the linkage of this file. */
static void write_adapted(const char *text, FILE *out)
{
    static const struct {
        const char *text, *instead;
    } changes[] = {{"#include \"" AT_TEMPLATE_HEADER "\"\n", "\n"},
                   {"extern \"C\" __global__", "AUTOTUNE_ENTRY __global__"}};

    while (*text) {
        size_t i = 0;

        while (i < AT_COUNT(changes) &&
               strncmp(text, changes[i].text, strlen(changes[i].text)) != 0)
            i++;
        if (i < AT_COUNT(changes)) {
            fputs(changes[i].instead, out);
            text += strlen(changes[i].text);
        } else {
            fputc(*text++, out);
        }
    }
}

static void write_kernels(const struct at_export *export, FILE *out)
{
    struct at_rendering *renderings = at_alloc_array(export->count, sizeof *renderings);
    size_t count = 0;
    char *program;

    for (size_t i = 0; i < export->count; i++) {
        const struct at_export_item *item = &export->items[i];
        struct at_rendering *rendering = &renderings[count];

        if (!at_export_is_kernel(export, i))
            continue;
        rendering->config = &item->answer.config;
        rendering->kind = at_problem_kind(&item->problem);
        name_kernel(rendering->entry, i);
        count++;
    }
    program = at_render_program(renderings, count);
    write_adapted(program, out);
    free(program);
    free(renderings);
}

static const char kernels_begin[] = "#ifdef __CUDACC_RTC__\n"
                                    "#define AUTOTUNE_ENTRY extern \"C\"\n"
                                    "#else\n"
                                    "#define AUTOTUNE_ENTRY static\n"
                                    "#endif\n"
                                    "\n"
                                    "namespace @p_kernels\n"
                                    "{\n"
                                    "\n";

/* The line numbers of templates end here. Another such file may follow in the same program. */
static const char kernels_end[] = "#line 1 \"autotune_launchers.cu\"\n"
                                  "} // namespace @p_kernels\n"
                                  "\n"
                                  "#undef AUTOTUNE_ENTRY\n"
                                  "#undef AT_TRANSPOSE_CUH\n"
                                  "\n";

static const char beginning[] =
    "#ifndef __CUDACC_RTC__\n"
    "#include <cuda_runtime.h>\n"
    "#include <stdint.h>\n"
    "\n"
    "namespace @p_kernels\n"
    "{\n"
    "\n"
    "struct launch {\n"
    "    /* In elements. All are 0 for a tensor of several batch axes. */\n"
    "    long long rows, cols, ld_src, ld_dst, batch, stride_src, stride_dst;\n"
    "    int elem_size; /* bytes */\n"
    "    int in_place;  /* dst is src */\n"
    "    const void *kernel;\n"
    "    unsigned grid[3], block[3], shared_bytes;\n"
    "    int carveout_percent; /* -1: the driver's choice */\n"
    "    /* The arguments after dst and src: the words of one follow those of another. */\n"
    "    const unsigned long long *words;\n"
    "    int argument_count;\n"
    "    unsigned char word_counts[10];\n"
    "};\n"
    "\n"
    "static const unsigned long long words[] = {\n";

static const char middle[] =
    "};\n"
    "\n"
    "/* Kernels may move 16 bytes at once, so source and destination must begin at multiples of "
    "16. */\n"
    "static cudaError_t start(const launch &l, void *dst, const void *src, cudaStream_t stream)\n"
    "{\n"
    "    void *arguments[12] = {&dst, &src};\n"
    "    const unsigned long long *word = l.words;\n"
    "    cudaError_t error = cudaSuccess;\n"
    "\n"
    "    if (((uintptr_t)dst | (uintptr_t)src) % 16 != 0)\n"
    "        return cudaErrorMisalignedAddress;\n"
    "    if ((dst == src) != l.in_place)\n"
    "        return cudaErrorInvalidValue;\n"
    "    if (l.shared_bytes > 0)\n"
    "        error = cudaFuncSetAttribute(l.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,\n"
    "                                     (int)l.shared_bytes);\n"
    "    if (error == cudaSuccess && l.carveout_percent >= 0)\n"
    "        error = cudaFuncSetAttribute(l.kernel, "
    "cudaFuncAttributePreferredSharedMemoryCarveout,\n"
    "                                     l.carveout_percent);\n"
    "    if (error != cudaSuccess)\n"
    "        return error;\n"
    "    for (int i = 0; i < l.argument_count; i++) {\n"
    "        arguments[2 + i] = const_cast<unsigned long long *>(word);\n"
    "        word += l.word_counts[i];\n"
    "    }\n"
    "    return cudaLaunchKernel(l.kernel, dim3(l.grid[0], l.grid[1], l.grid[2]),\n"
    "                            dim3(l.block[0], l.block[1], l.block[2]), arguments, "
    "l.shared_bytes,\n"
    "                            stream);\n"
    "}\n"
    "\n"
    "} // namespace @p_kernels\n"
    "\n";

static const char transpose[] =
    "\n"
    "extern \"C\" cudaError_t @p_transpose(int elem_size, long long rows, long long cols, long "
    "long ld_src,\n"
    "                                  long long ld_dst, long long batch, long long stride_src,\n"
    "                                  long long stride_dst, void *dst, const void *src,\n"
    "                                  cudaStream_t stream)\n"
    "{\n"
    "    for (const @p_kernels::launch &l : @p_kernels::launches)\n"
    "        if (l.rows > 0 && l.elem_size == elem_size && l.rows == rows && l.cols == cols &&\n"
    "            l.ld_src == ld_src && l.ld_dst == ld_dst && l.batch == batch &&\n"
    "            l.in_place == (dst == src) &&\n"
    "            (batch == 1 || (l.stride_src == stride_src && l.stride_dst == stride_dst)))\n"
    "            return @p_kernels::start(l, dst, src, stream);\n"
    "    return cudaErrorNotSupported;\n"
    "}\n"
    "\n";

/* The struct's word_counts. */
_Static_assert(AT_CALL_ARGS == 10 + 2, "room for all arguments but dst and src");

/* `first` words of other problems come before its own. Returns the number of its own. */
static size_t write_launch(const struct at_export_item *item, size_t first, FILE *out)
{
    const struct at_problem *problem = &item->problem;
    const int64_t *launch = item->answer.launch.field;
    const struct at_export_arguments arguments = at_export_arguments(item);
    char kernel[AT_ENTRY_NAME_CHARS];

    name_kernel(kernel, item->kernel);
    fputs("    {", out);
    at_export_write_sizes(item, out);
    fprintf(out, ", %d, %d,\n     (const void *)%s_source::%s,\n", (int)problem->elem_size,
            (int)problem->in_place, kernel, kernel);
    fprintf(out, "     {%ju, %ju, %ju}, {%ju, %ju, %ju}, %ju, %jd, words + %zu, ",
            (uintmax_t)launch[AT_GRID_X], (uintmax_t)launch[AT_GRID_Y],
            (uintmax_t)launch[AT_GRID_Z], (uintmax_t)launch[AT_BLOCK_X],
            (uintmax_t)launch[AT_BLOCK_Y], (uintmax_t)launch[AT_BLOCK_Z],
            (uintmax_t)launch[AT_SHARED_BYTES], (intmax_t)launch[AT_CARVEOUT_PERCENT], first);
    at_export_write_word_counts(&arguments, out);
    fputs("},\n", out);
    return arguments.word_count;
}

static void write_launchers(const struct at_export *export, FILE *out)
{
    size_t words = 0;

    at_export_write_named(export, beginning, out);
    at_export_write_words(export, out);
    fputs("};\n\nstatic const launch launches[] = {\n", out);
    for (size_t i = 0; i < export->count; i++)
        words += write_launch(&export->items[i], words, out);
    at_export_write_named(export, middle, out);
    write_prototypes(export, out);
    at_export_write_named(export, transpose, out);
    for (size_t i = 0; i < export->count; i++)
        fprintf(out,
                "extern \"C\" cudaError_t %s_transpose_%s(void *dst, const void *src,\n"
                "                                         cudaStream_t stream)\n"
                "{\n"
                "    return %s_kernels::start(%s_kernels::launches[%zu], dst, src, stream);\n"
                "}\n",
                export->prefix, export->items[i].key, export->prefix, export->prefix, i);
    fputs("#endif\n", out);
}

static enum at_status write(const struct at_export *export, FILE *out, struct at_error *err)
{
    char *header;
    enum at_status status = at_template_read(&header, AT_TEMPLATE_HEADER, err);

    if (status != AT_OK)
        return status;
    fputs("/*\n", out);
    at_export_write_origin(export, " * ", out);
    fprintf(out, " *\n * nvcc -std=c++17 -arch=sm_%d -c FILE.cu\n */\n",
            (int)export->device->compute_capability);
    at_export_write_named(export, kernels_begin, out);
    fprintf(out, "%s\n", header);
    free(header);
    write_kernels(export, out);
    at_export_write_named(export, kernels_end, out);
    write_launchers(export, out);
    return AT_OK;
}

const struct at_export_format at_export_cu = {
    .name = "cu",
    .summary =
        "the kernels as one self-contained file, for NVRTC and nvcc. For nvcc it also has "
        "autotune_transpose() for matrices and batches, and one function per problem, which launch "
        "the kernels. Source and destination must begin at multiples of 16 bytes.",
    .has_names = true,
    .write = write,
};
