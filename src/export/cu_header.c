/* SPDX-License-Identifier: Apache-2.0 */
/* A header for C and C++ that declares the functions of the format cu. */
#include "export/launchers.h"

static const char beginning[] =
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

static const char ending[] = "\n"
                             "#ifdef __cplusplus\n"
                             "}\n"
                             "#endif\n";

void at_export_write_prototypes(const struct at_export *export, FILE *out)
{
    at_export_write_named(export, beginning, out);
    for (size_t i = 0; i < export->count; i++)
        fprintf(out,
                "/* %s */\n"
                "cudaError_t %s_transpose_%s(void *dst, const void *src, cudaStream_t stream);\n",
                export->items[i].spec, export->prefix, export->items[i].key);
    fputs(ending, out);
}

static enum at_status write(const struct at_export *export, FILE *out, struct at_error *err)
{
    (void)err;
    fputs("/*\n", out);
    at_export_write_origin(export, " * ", out);
    fputs(" */\n", out);
    at_export_write_guard(export, "LAUNCHERS", out);
    fputs("#include <cuda_runtime_api.h>\n\n", out);
    at_export_write_prototypes(export, out);
    fputs("\n#endif\n", out);
    return AT_OK;
}

const struct at_export_format at_export_cu_header = {
    .name = "cu-header",
    .summary = "a header for C and C++ with the prototypes of the functions in cu",
    .has_names = true,
    .write = write,
};
