/* SPDX-License-Identifier: Apache-2.0 */
/* Global memory. No address is used twice, so a use after release is found. The space between two
 * allocations is large, so a wrong index seldom reaches the next one. */
#include "base/memory.h"
#include "emu/warp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
