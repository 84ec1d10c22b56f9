/* SPDX-License-Identifier: Apache-2.0 */
/* One self-contained .cu: the kernels, and functions that launch them. NVRTC takes the same file
 * too; it skips the functions, which need nvcc. */
#include "base/memory.h"
#include "export/export.h"
#include "kernel/render.h"

#include <stdlib.h>
#include <string.h>

/* Name a kernel by the number of the first item that uses it. */
static void name_kernel(char name[AT_ENTRY_NAME_CHARS], size_t kernel)
{
    snprintf(name, AT_ENTRY_NAME_CHARS, "autotune_kernel_%zu", kernel);
}

/* Copy text without the lines that include the shared header, which the file already contains. They
 * become empty lines, so that line numbers stay. */
static void write_without_include(const char *text, FILE *out)
{
    static const char include[] = "#include \"" AT_TEMPLATE_HEADER "\"\n";

    for (const char *found; (found = strstr(text, include)); text = found + sizeof include - 2)
        fwrite(text, 1, (size_t)(found - text), out);
    fputs(text, out);
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
    write_without_include(program, out);
    free(program);
    free(renderings);
}

static const char beginning[] =
    "\n"
    "#ifndef __CUDACC_RTC__\n"
    "#include <cuda_runtime.h>\n"
    "#include <stdint.h>\n"
    "\n"
    "namespace\n"
    "{\n"
    "\n"
    "using autotune_kernel = void (*)(void *, const void *, long long, long long, long long, long "
    "long,\n"
    "                                 long long, long long, long long);\n"
    "\n"
    "struct autotune_launch {\n"
    "    long long rows, cols, ld_src, ld_dst, batch, stride_src, stride_dst; /* in elements */\n"
    "    int elem_size;                                                       /* bytes */\n"
    "    int in_place;                                                        /* dst is src */\n"
    "    autotune_kernel kernel;\n"
    "    unsigned grid[3], block[3], shared_bytes;\n"
    "    int carveout_percent; /* -1: the driver's choice */\n"
    "};\n"
    "\n"
    "const autotune_launch autotune_launches[] = {\n";

static const char middle[] =
    "};\n"
    "\n"
    "/* Kernels may move 16 bytes at once, so source and destination must begin at multiples of "
    "16. */\n"
    "cudaError_t autotune_start(const autotune_launch &l, void *dst, const void *src,\n"
    "                           cudaStream_t stream)\n"
    "{\n"
    "    cudaError_t error = cudaSuccess;\n"
    "\n"
    "    if (((uintptr_t)dst | (uintptr_t)src) % 16 != 0)\n"
    "        return cudaErrorMisalignedAddress;\n"
    "    if ((dst == src) != l.in_place)\n"
    "        return cudaErrorInvalidValue;\n"
    "    if (l.shared_bytes > 0)\n"
    "        error = cudaFuncSetAttribute((const void *)l.kernel,\n"
    "                                     cudaFuncAttributeMaxDynamicSharedMemorySize,\n"
    "                                     (int)l.shared_bytes);\n"
    "    if (error == cudaSuccess && l.carveout_percent >= 0)\n"
    "        error = cudaFuncSetAttribute((const void *)l.kernel,\n"
    "                                     cudaFuncAttributePreferredSharedMemoryCarveout,\n"
    "                                     l.carveout_percent);\n"
    "    if (error != cudaSuccess)\n"
    "        return error;\n"
    "    l.kernel<<<dim3(l.grid[0], l.grid[1], l.grid[2]), dim3(l.block[0], l.block[1], "
    "l.block[2]),\n"
    "               l.shared_bytes, stream>>>(dst, src, l.rows, l.cols, l.ld_src, l.ld_dst, "
    "l.batch,\n"
    "                                         l.stride_src, l.stride_dst);\n"
    "    return cudaGetLastError();\n"
    "}\n"
    "\n"
    "} // namespace\n"
    "\n"
    "/* Transposes: dst[c*ld_dst + r] = src[r*ld_src + c], for each matrix of the batch; in place "
    "where "
    "dst\n"
    " * is src. cudaErrorNotSupported for a problem that is not in this file. */\n"
    "extern \"C\" cudaError_t autotune_transpose(int elem_size, long long rows, long long cols,\n"
    "                                          long long ld_src, long long ld_dst, long long "
    "batch,\n"
    "                                          long long stride_src, long long stride_dst, void "
    "*dst,\n"
    "                                          const void *src, cudaStream_t stream)\n"
    "{\n"
    "    for (const autotune_launch &l : autotune_launches)\n"
    "        if (l.elem_size == elem_size && l.rows == rows && l.cols == cols && l.ld_src == "
    "ld_src &&\n"
    "            l.ld_dst == ld_dst && l.batch == batch && l.in_place == (dst == src) &&\n"
    "            (batch == 1 || (l.stride_src == stride_src && l.stride_dst == stride_dst)))\n"
    "            return autotune_start(l, dst, src, stream);\n"
    "    return cudaErrorNotSupported;\n"
    "}\n"
    "\n"
    "/* The same, one function per problem. */\n";

static void write_launch(const struct at_export_item *item, FILE *out)
{
    const struct at_problem *problem = &item->problem;
    const int64_t *launch = item->answer.launch.field;
    char kernel[AT_ENTRY_NAME_CHARS];

    name_kernel(kernel, item->kernel);
    fprintf(out, "    {%jdLL, %jdLL, %jdLL, %jdLL, %jdLL, %jdLL, %jdLL, %d, %d, %s_source::%s,\n",
            (intmax_t)problem->rows, (intmax_t)problem->cols, (intmax_t)problem->ld_src,
            (intmax_t)problem->ld_dst, (intmax_t)problem->batch, (intmax_t)problem->stride_src,
            (intmax_t)problem->stride_dst, (int)problem->elem_size, (int)problem->in_place, kernel,
            kernel);
    fprintf(out, "     {%ju, %ju, %ju}, {%ju, %ju, %ju}, %ju, %jd},\n",
            (uintmax_t)launch[AT_GRID_X], (uintmax_t)launch[AT_GRID_Y],
            (uintmax_t)launch[AT_GRID_Z], (uintmax_t)launch[AT_BLOCK_X],
            (uintmax_t)launch[AT_BLOCK_Y], (uintmax_t)launch[AT_BLOCK_Z],
            (uintmax_t)launch[AT_SHARED_BYTES], (intmax_t)launch[AT_CARVEOUT_PERCENT]);
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
    fprintf(out, "%s\n", header);
    free(header);
    write_kernels(export, out);
    /* The line numbers of templates end here. */
    fputs("#line 1 \"autotune_launchers.cu\"", out);
    fputs(beginning, out);
    for (size_t i = 0; i < export->count; i++)
        write_launch(&export->items[i], out);
    fputs(middle, out);
    for (size_t i = 0; i < export->count; i++)
        fprintf(out,
                "extern \"C\" cudaError_t autotune_transpose_%s(void *dst, const void *src,\n"
                "                                           cudaStream_t stream)\n"
                "{\n"
                "    return autotune_start(autotune_launches[%zu], dst, src, stream);\n"
                "}\n",
                export->items[i].key, i);
    fputs("#endif\n", out);
    return AT_OK;
}

const struct at_export_format at_export_cu = {
    .name = "cu",
    .summary =
        "the kernels as one self-contained file, for NVRTC and nvcc. For nvcc it also has "
        "autotune_transpose() and one function per problem, which launch the kernels. Source and "
        "destination must begin at multiples of 16 bytes.",
    .write = write,
};
