/* SPDX-License-Identifier: Apache-2.0 */
/* The features that the machine does not support, by the names that CUDA programmers know. */
#include "base/memory.h"
#include "emulated/ptx/reader.h"

#include <string.h>

static const char tensor_cores[] = "tensor cores (wmma, mma), which the emulated device has not";
static const char textures[] = "textures and surfaces, which the emulated device has not";
static const char clusters[] = "thread block clusters, which the emulated device has not";
static const char tensor_maps[] =
    "copies by a tensor map (TMA) or to several blocks, which the emulated device does not run";
static const char allocation[] =
    "memory allocation in a kernel (malloc, new), which the emulated device does not run";
static const char launches[] =
    "launches from a kernel (dynamic parallelism), which the emulated device does not run";
static const char grid_wide[] =
    "a barrier of the whole grid (cooperative launch), which the emulated device does not run";
static const char stack[] =
    "arrays of a size that is known at run time only (alloca), which the emulated device has not";

struct refused {
    const char *start; /* of the name */
    const char *what;
};

static const struct refused instructions[] = {
    {"wmma.", tensor_cores},
    {"mma.", tensor_cores},
    {"wgmma.", tensor_cores},
    {"tcgen05.", tensor_cores},
    {"ldmatrix.", tensor_cores},
    {"stmatrix.", tensor_cores},
    {"tex.", textures},
    {"tld4.", textures},
    {"txq.", textures},
    {"suld.", textures},
    {"sust.", textures},
    {"sured.", textures},
    {"suq.", textures},
    {"istypep.", textures},
    {"barrier.cluster.", clusters},
    {"mapa.", clusters},
    {"mapa", clusters},
    {"getctarank", clusters},
    {"st.async", clusters},
    {"red.async", clusters},
    {"clusterlaunchcontrol.", clusters},
    {"ld.shared::cluster", clusters},
    {"st.shared::cluster", clusters},
    {"ld.relaxed.cluster.shared::cluster", clusters},
    {"atom.shared::cluster", clusters},
    {"red.shared::cluster", clusters},
    {"cp.async.bulk.tensor", tensor_maps},
    {"cp.reduce.async.bulk", tensor_maps},
    {"tensormap.", tensor_maps},
    {"multimem.", tensor_maps},
    {"alloca.", stack},
    {"alloca", stack},
    {"stacksave", stack},
    {"stackrestore", stack},
};

static const struct refused functions[] = {
    {"malloc", allocation},         {"free", allocation},
    {"cudaMalloc", allocation},     {"cudaFree", allocation},
    {"cudaLaunchDevice", launches}, {"cudaGetParameterBuffer", launches},
    {"__cudaCDP", launches},        {"cudaCGSynchronizeGrid", grid_wide},
};

static const struct refused specials[] = {
    {"%cluster", clusters},        {"%ncluster", clusters}, {"%is_explicit_cluster", clusters},
    {"%aggr_smem_size", clusters}, {"%envreg", grid_wide},
};

static const char *find(const struct refused *table, size_t count, const char *text, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(table[i].start);

        if (size >= length && memcmp(text, table[i].start, length) == 0)
            return table[i].what;
    }
    return NULL;
}

/* _ZN5outer4nameEi, _Z4namei and _ZL4namei are called "name": each part has its length before it
 * (Itanium C++ ABI, "Mangling"). */
struct at_ptx_name at_ptx_plain_name(struct at_ptx_name name)
{
    const char *next = name.text, *end = name.text + name.size;

    if (name.size < 3 || memcmp(next, "_Z", 2) != 0)
        return name;
    next += 2;
    while (next < end && strchr("NLK", *next))
        next++;
    while (next < end && *next >= '1' && *next <= '9') {
        size_t length = 0;

        while (next < end && *next >= '0' && *next <= '9' && length <= name.size)
            length = 10 * length + (size_t)(*next++ - '0');
        if (length > (size_t)(end - next))
            break;
        name = (struct at_ptx_name){next, length};
        next += length;
        next += next < end && *next == 'L'; /* the next part is static */
    }
    return name;
}

const char *at_ptx_refused_instruction(const char *opcode)
{
    return find(instructions, AT_COUNT(instructions), opcode, strlen(opcode));
}

const char *at_ptx_refused_function(const struct at_ptx_name *name)
{
    return find(functions, AT_COUNT(functions), name->text, name->size);
}

const char *at_ptx_refused_special(const struct at_ptx_name *name)
{
    return find(specials, AT_COUNT(specials), name->text, name->size);
}
