/* SPDX-License-Identifier: Apache-2.0 */
/* Global memory. No address is used twice, so a use after release is found. The space between two
 * allocations is large, so a wrong index seldom reaches the next one. */
#include "base/memory.h"
#include "base/error.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/warp.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const at_emu_fault_names[] = {
    [AT_EMU_NO_FAULT] = "no fault",
    [AT_EMU_GLOBAL_BOUNDS] = "global access outside every allocation",
    [AT_EMU_SHARED_BOUNDS] = "shared access outside the block's memory",
    [AT_EMU_LOCAL_BOUNDS] = "local access outside the thread's memory",
    [AT_EMU_PARAM_BOUNDS] = "load outside the kernel's parameters",
    [AT_EMU_MISALIGNED] = "misaligned access",
    [AT_EMU_SHARED_UNWRITTEN] = "use of unwritten shared memory",
    [AT_EMU_LOCAL_UNWRITTEN] = "use of unwritten local memory",
    [AT_EMU_LANE_ABSENT] = "use of a shuffle's value from a lane that does not take part",
    [AT_EMU_COPY_RACE] = "race with an asynchronous copy",
    [AT_EMU_GLOBAL_RACE] = "race in global memory",
    [AT_EMU_READ_ONLY] = "read-only load (__ldg, const __restrict__) of what the kernel writes",
    [AT_EMU_SHARED_RACE] = "race in shared memory",
    [AT_EMU_BARRIER] = "barrier that threads do not reach together",
    [AT_EMU_LIMIT] = "too many instructions",
    [AT_EMU_WAIT] = "endless wait",
    [AT_EMU_TRAP] = "trap",
    [AT_EMU_DIVISION] = "integer division by zero",
    [AT_EMU_ASSERTION] = "assertion failed",
};

static bool has_address(enum at_emu_fault_kind kind)
{
    return kind == AT_EMU_GLOBAL_BOUNDS || kind == AT_EMU_SHARED_BOUNDS ||
           kind == AT_EMU_LOCAL_BOUNDS || kind == AT_EMU_PARAM_BOUNDS ||
           kind == AT_EMU_MISALIGNED || kind == AT_EMU_SHARED_RACE || kind == AT_EMU_COPY_RACE ||
           kind == AT_EMU_GLOBAL_RACE || kind == AT_EMU_READ_ONLY;
}

/* The line of the source, if the compiler told it, and that of the PTX. */
static void place_of(char *text, size_t size, const struct at_ptx_kernel *kernel,
                     const struct at_emu_op *op)
{
    size_t file = (size_t)op->places.caller_file;
    const char *name =
        op->places.caller_line > 0 && file < kernel->source_file_count && kernel->source_files[file]
            ? kernel->source_files[file]
            : "";
    const char *slash = strrchr(name, '/');

    if (*name)
        snprintf(text, size, "%.*s line %d, PTX line %d", AT_QUOTED(slash ? slash + 1 : name, 64),
                 op->places.caller_line, op->line);
    else
        snprintf(text, size, "PTX line %d", op->line);
}

void at_emu_raise(struct at_emu_warp *warp, const struct at_emu_op *op, enum at_emu_fault_kind kind,
                  int lane, uint64_t address, const char *detail, ...)
{
    struct at_emu_block *block = warp->block;
    struct at_emu_fault *fault = &block->fault;
    const uint32_t *b = fault->block, *t = fault->thread;
    char at[32] = "", more[224] = "", where[128];
    va_list args;

    if (fault->kind)
        return;
    fault->kind = kind;
    fault->instruction = (size_t)(op - block->kernel->ops);
    fault->line = op->line;
    fault->address = address;
    for (int i = 0; i < 3; i++)
        fault->block[i] = block->id[i];
    at_emu_index(fault->thread, block->launch->block, warp->first_thread + (uint32_t)lane);
    if (has_address(kind))
        snprintf(at, sizeof at, " at %#" PRIx64, address);
    if (detail) {
        va_start(args, detail);
        vsnprintf(more, sizeof more, detail, args);
        va_end(args);
    }
    place_of(where, sizeof where, block->kernel, op);
    snprintf(fault->message, sizeof fault->message,
             "%.*s, %s, block (%u, %u, %u), thread (%u, %u, %u): %s%s%s%s",
             AT_QUOTED(block->launch->name ? block->launch->name : block->kernel->name, 48), where,
             b[0], b[1], b[2], t[0], t[1], t[2], at_emu_fault_names[kind], at, more[0] ? ": " : "",
             more);
}

/* The first address, and the granularity of allocations. At least one unmapped unit follows each.
 */
#define UNIT (UINT64_C(1) << 32)
/* Far below the windows of shared and local memory. */
#define END  (UINT64_C(1) << 56)

struct at_emu_memory {
    struct at_emu_allocation *allocations; /* by address, ascending */
    size_t count, capacity;
    uint64_t next;
    uint64_t total_bytes;
    struct placed *placed;
    size_t placed_count, placed_capacity;
    bool rewind; /* launches begin alike */
};

/* An image's variables. */
struct placed {
    uint64_t image;
    uint64_t *addresses;
};

struct at_emu_memory *at_emu_memory_new(void)
{
    struct at_emu_memory *memory = at_alloc(sizeof *memory);

    memory->next = UNIT;
    return memory;
}

void at_emu_memory_free(struct at_emu_memory *memory)
{
    if (!memory)
        return;
    for (size_t i = 0; i < memory->count; i++)
        munmap(memory->allocations[i].bytes, memory->allocations[i].size);
    for (size_t i = 0; i < memory->placed_count; i++)
        free(memory->placed[i].addresses);
    free(memory->placed);
    free(memory->allocations);
    free(memory);
}

/* The system would grant more than it has (overcommit), and kill the process when it is used. */
static bool host_has(const struct at_emu_memory *memory, uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages = (uint64_t)sysconf(_SC_PHYS_PAGES);

    return bytes <= page * pages && memory->total_bytes <= page * pages - bytes;
}

uint64_t at_emu_memory_allocate(struct at_emu_memory *memory, int64_t bytes)
{
    struct at_emu_allocation allocation = {.address = memory->next, .size = (uint64_t)bytes};

    if (bytes <= 0 || !host_has(memory, allocation.size) ||
        allocation.size > END - 2 * UNIT - memory->next)
        return 0;
    allocation.bytes = mmap(NULL, allocation.size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (allocation.bytes == MAP_FAILED)
        return 0;
    AT_PUSH(memory->allocations, memory->count, memory->capacity, allocation);
    memory->total_bytes += allocation.size;
    memory->next += (allocation.size / UNIT + 2) * UNIT;
    return allocation.address;
}

/* ---- launches that begin alike ---- */

/* Write the pages of an allocation that are not zero to a file, the same at the same offset. */
static bool write_pages(int fd, const struct at_emu_allocation *allocation)
{
    enum { PAGE = 4096 };
    static const char zeros[PAGE];

    for (uint64_t at = 0; at < allocation->size; at += PAGE) {
        uint64_t left = allocation->size - at;
        size_t size = left < PAGE ? (size_t)left : PAGE;

        if (memcmp(allocation->bytes + at, zeros, size) != 0 &&
            pwrite(fd, allocation->bytes + at, size, (off_t)at) != (ssize_t)size)
            return false;
    }
    return true;
}

/* Put the content into a file in memory, and map it in its own place so that writes stay private:
 * without them, it is as it was. */
static bool keep(struct at_emu_allocation *allocation)
{
    int fd = memfd_create("emulated memory", MFD_CLOEXEC);

    if (fd < 0)
        return false;
    allocation->kept =
        ftruncate(fd, (off_t)allocation->size) == 0 && write_pages(fd, allocation) &&
        mmap(allocation->bytes, allocation->size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) == (void *)allocation->bytes;
    close(fd);
    return allocation->kept;
}

void at_emu_memory_rewind(struct at_emu_memory *memory)
{
    memory->rewind = true;
    for (size_t i = 0; i < memory->count; i++)
        memory->allocations[i].kept = false;
}

uint64_t at_emu_memory_bytes(const struct at_emu_memory *memory)
{
    return memory->total_bytes;
}

bool at_emu_memory_begin(struct at_emu_memory *memory)
{
    for (size_t i = 0; i < memory->count && memory->rewind; i++) {
        struct at_emu_allocation *allocation = &memory->allocations[i];

        if (allocation->kept)
            madvise(allocation->bytes, allocation->size, MADV_DONTNEED);
        else if (!keep(allocation))
            return false;
    }
    return true;
}

/* ---- finding ---- */

/* The number of allocations that begin at or below the address. */
static size_t count_up_to(const struct at_emu_memory *memory, uint64_t address)
{
    size_t low = 0, high = memory->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (memory->allocations[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct at_emu_allocation *at_emu_memory_find(const struct at_emu_memory *memory,
                                                   uint64_t address)
{
    size_t count = count_up_to(memory, address);
    const struct at_emu_allocation *found = memory->allocations + count - 1;

    return count > 0 && address - found->address < found->size ? found : NULL;
}

void at_emu_memory_release(struct at_emu_memory *memory, uint64_t address)
{
    const struct at_emu_allocation *found = at_emu_memory_find(memory, address);

    if (!found || found->address != address)
        return;
    memory->total_bytes -= found->size;
    munmap(found->bytes, found->size);
    memory->count--;
    for (size_t i = (size_t)(found - memory->allocations); i < memory->count; i++)
        memory->allocations[i] = memory->allocations[i + 1];
}

void *at_emu_memory_host(const struct at_emu_memory *memory, uint64_t address, size_t size)
{
    const struct at_emu_allocation *found = at_emu_memory_find(memory, address);

    if (!found || size > found->size - (address - found->address))
        return NULL;
    return found->bytes + (address - found->address);
}

static void fill(const struct at_emu_memory *memory, const struct at_emu_variable *variable,
                 const uint64_t *addresses, uint64_t address)
{
    char *bytes = at_emu_memory_host(memory, address, variable->bytes);

    if (variable->initial)
        memcpy(bytes, variable->initial, variable->bytes);
    for (size_t i = 0; i < variable->pointer_count; i++) {
        const struct at_emu_pointer *pointer = &variable->pointers[i];
        uint64_t value = addresses[pointer->variable] + (uint64_t)pointer->offset;

        memcpy(bytes + pointer->at, &value, sizeof value);
    }
}

/* Each variable is an allocation, so an index beyond its end is found. */
const uint64_t *at_emu_memory_place(struct at_emu_memory *memory, const struct at_emu_image *image)
{
    struct placed made = {.image = image->number};

    for (size_t i = 0; i < memory->placed_count; i++)
        if (memory->placed[i].image == image->number)
            return memory->placed[i].addresses;
    made.addresses = at_alloc_array(image->count, sizeof *made.addresses);
    for (size_t i = 0; i < image->count; i++) {
        uint32_t bytes = image->variables[i].bytes;

        made.addresses[i] = at_emu_memory_allocate(memory, bytes ? bytes : 1);
        if (!made.addresses[i]) {
            free(made.addresses);
            return NULL;
        }
    }
    for (size_t i = 0; i < image->count; i++)
        if (image->variables[i].bytes)
            fill(memory, &image->variables[i], made.addresses, made.addresses[i]);
    AT_PUSH(memory->placed, memory->placed_count, memory->placed_capacity, made);
    return made.addresses;
}
