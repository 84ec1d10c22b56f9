/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/time/atomics.h"

#include "base/hash.h"
#include "base/memory.h"
#include "emulated/machine/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SECTOR_BYTES = 32,
    WORDS = 8,         /* of a sector */
    CHUNK_BYTES = 512, /* in one slice; fitted, as is the number of slices */
    SLICES = 80,
    CELLS_LEAST = 256,
    CELLS_MOST = 1 << 20, /* sectors beyond are not looked at */
};

struct cell {
    uint64_t sector; /* plus 1; 0: none */
    uint64_t block;  /* the last one */
    uint32_t blocks; /* 2: several */
    double steps;
    float operations[AT_ATOMIC_KINDS][WORDS];
};

struct at_atomics_seen {
    const struct at_ptx_kernel *kernel;
    bool *varies; /* by row: the lanes may have different values */
    struct cell *cells;
    size_t count, capacity;
};

static bool reads_lanes(const struct at_emu_op *op)
{
    static const char *const words[] = {"ld.",   "atom.",  "shfl.",  "activemask.",
                                        "vote.", "match.", "elect.", "movmatrix."};

    if (op->space == AT_EMU_PARAM)
        return false;
    for (size_t i = 0; i < AT_COUNT(words); i++)
        if (strstr(op->text, words[i]))
            return true;
    return false;
}

static bool is_of_lane(const struct at_emu_preset *preset)
{
    return (preset->kind >= AT_EMU_TID && preset->kind < AT_EMU_NTID) ||
           (preset->kind >= AT_EMU_LANEID && preset->kind <= AT_EMU_LANEMASK_GE);
}

/* Does a source of the instruction vary between lanes? */
static bool has_varying(const bool *varies, const struct at_emu_op *op)
{
    bool found = varies[op->guard / AT_EMU_ROW_ALIGN];

    for (int k = op->result_count; k < op->row_count; k++)
        found |= varies[op->row[k] / AT_EMU_ROW_ALIGN];
    return found || reads_lanes(op);
}

/* What a compiler knows of registers: those that depend on no thread are the same in all lanes. */
static bool *varying_rows(const struct at_ptx_kernel *kernel)
{
    bool *varies = at_alloc_array(kernel->file_bytes / AT_EMU_ROW_ALIGN + 1, sizeof *varies);
    bool changed = true;

    for (size_t i = 0; i < kernel->preset_count; i++)
        varies[kernel->presets[i].row / AT_EMU_ROW_ALIGN] |= is_of_lane(&kernel->presets[i]);
    while (changed) {
        changed = false;
        for (size_t i = 0; i < kernel->op_count; i++) {
            const struct at_emu_op *op = &kernel->ops[i];

            for (int k = 0; k < op->result_count && has_varying(varies, op); k++) {
                bool *result = &varies[op->row[k] / AT_EMU_ROW_ALIGN];

                changed |= !*result && op->row[k] != AT_EMU_SINK_ROW;
                *result |= op->row[k] != AT_EMU_SINK_ROW;
            }
        }
    }
    return varies;
}

struct at_atomics_seen *at_atomics_new(const struct at_ptx_kernel *kernel)
{
    struct at_atomics_seen *seen = at_alloc(sizeof *seen);

    *seen = (struct at_atomics_seen){.kernel = kernel,
                                     .cells = at_alloc_array(CELLS_LEAST, sizeof *seen->cells),
                                     .capacity = CELLS_LEAST};
    return seen;
}

void at_atomics_free(struct at_atomics_seen *seen)
{
    free(seen->varies);
    free(seen->cells);
    free(seen);
}

/* The place of a sector in a table that has room. */
static struct cell *place(struct cell *cells, size_t capacity, uint64_t sector)
{
    size_t i = at_hash64(&sector, sizeof sector, 0) & (capacity - 1);

    while (cells[i].sector && cells[i].sector != sector)
        i = (i + 1) & (capacity - 1);
    return &cells[i];
}

static void grow(struct at_atomics_seen *seen)
{
    size_t capacity = 2 * seen->capacity;
    struct cell *cells = at_alloc_array(capacity, sizeof *cells);

    for (size_t i = 0; i < seen->capacity; i++)
        if (seen->cells[i].sector)
            *place(cells, capacity, seen->cells[i].sector) = seen->cells[i];
    free(seen->cells);
    seen->cells = cells;
    seen->capacity = capacity;
}

/* The cell of a sector; NULL: there are too many. */
static struct cell *cell_of(struct at_atomics_seen *seen, uint64_t sector)
{
    struct cell *cell;

    if (2 * seen->count >= seen->capacity && seen->count < CELLS_MOST)
        grow(seen);
    cell = place(seen->cells, seen->capacity, sector + 1);
    if (cell->sector)
        return cell;
    if (seen->count >= CELLS_MOST)
        return NULL;
    seen->count++;
    cell->sector = sector + 1;
    return cell;
}

static bool is_float(const char *text)
{
    return strstr(text, ".f32") || strstr(text, ".f64") || strstr(text, "f16");
}

/* Does the compiler join the lanes? Measured are sums and maxima of 32 bits. */
static bool are_joined(struct at_atomics_seen *seen, const struct at_emu_op *op)
{
    bool sums = strstr(op->text, ".add") || strstr(op->text, ".max") || strstr(op->text, ".min");

    if (!sums || (!strstr(op->text, ".u32") && !strstr(op->text, ".s32")))
        return false;
    if (!seen->varies)
        seen->varies = varying_rows(seen->kernel);
    return !seen->varies[op->address / AT_EMU_ROW_ALIGN];
}

void at_atomics_see(struct at_atomics_seen *seen, uint64_t block,
                    const struct at_emu_access *access)
{
    const struct at_emu_op *op = &seen->kernel->ops[access->instruction];
    enum at_atomic_kind kind = is_float(op->text) ? AT_ATOMIC_FLOAT : AT_ATOMIC_INTEGER;
    uint32_t left = are_joined(seen, op) ? access->lanes & -access->lanes : access->lanes;

    while (left) {
        uint64_t sector = access->address[__builtin_ctz(left)] / SECTOR_BYTES;
        struct cell *cell = cell_of(seen, sector);
        int lanes[WORDS] = {0}, most = 0;

        AT_EACH_OF (i, left)
            if (access->address[i] / SECTOR_BYTES == sector) {
                int word = (int)(access->address[i] / (SECTOR_BYTES / WORDS) % WORDS);

                most = ++lanes[word] > most ? lanes[word] : most;
                left &= ~(1u << i);
            }
        if (!cell)
            continue;
        cell->blocks += cell->blocks == 0 || (cell->blocks == 1 && cell->block != block);
        cell->block = block;
        cell->steps += most;
        for (int word = 0; word < WORDS; word++)
            cell->operations[kind][word] += (float)lanes[word];
    }
}

/* The slice of a chunk, by Fibonacci hashing: GPUs spread addresses, too. */
static uint64_t slice_of(uint64_t sector)
{
    uint64_t chunk = sector / (CHUNK_BYTES / SECTOR_BYTES);

    return (chunk * UINT64_C(0x9e3779b97f4a7c15) >> 32) * SLICES >> 32;
}

/* Not by fmax: its loop is more than Debian 12's GCC can compile for ARM. */
static double most_of(const float operations[WORDS])
{
    double most = 0;

    for (int word = 0; word < WORDS; word++)
        most = operations[word] > most ? operations[word] : most;
    return most;
}

struct at_atomics at_atomics_of(const struct at_atomics_seen *seen, double sampled, double blocks)
{
    struct at_atomics atomics = {.steps = 0};
    double slices[SLICES] = {0}, others = 0;

    for (size_t i = 0; i < seen->capacity; i++) {
        const struct cell *cell = &seen->cells[i];
        bool shared = cell->blocks > 1;
        double scale = shared ? blocks / sampled : 1;

        if (!cell->sector)
            continue;
        for (int kind = 0; kind < AT_ATOMIC_KINDS; kind++)
            atomics.operations[kind] =
                fmax(atomics.operations[kind], scale * most_of(cell->operations[kind]));
        if (shared)
            slices[slice_of(cell->sector - 1)] += scale * cell->steps;
        else
            others += blocks / sampled * cell->steps / SLICES;
    }
    for (int i = 0; i < SLICES; i++)
        atomics.steps = fmax(atomics.steps, slices[i]);
    atomics.steps += others;
    return atomics;
}

/* In shared memory, the hardware adds integers; others are loops of loads and compare-and-swap,
 * which were measured for f32. */
enum { SWAP_WAVEFRONTS = 2, LOOP_WAVEFRONTS = 43 };

int at_atomic_wavefronts(const char *text)
{
    if (strstr(text, ".cas"))
        return SWAP_WAVEFRONTS;
    return is_float(text) ? LOOP_WAVEFRONTS : 1;
}
