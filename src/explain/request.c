/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/request.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "emulated/machine/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- examples ---- */

struct at_requests {
    struct at_emu_observer observer;
    struct example {
        int cost;
        uint64_t block; /* the first that had one */
        struct at_explained_request request;
    } examples[][2];
};

static void see_access(void *context, uint64_t block, const struct at_emu_access *access)
{
    struct at_requests *requests = context;
    struct example *example = &requests->examples[access->instruction][access->shared];
    int cost = access->shared ? at_request_wavefronts(access) : at_request_sectors(access);

    if (example->request.lanes && (example->block != block || cost <= example->cost))
        return;
    *example = (struct example){cost, block, {.lanes = access->lanes}};
    AT_EACH_OF (lane, access->lanes)
        example->request.address[lane] = access->address[lane];
}

struct at_requests *at_requests_new(size_t instructions)
{
    struct at_requests *requests =
        at_alloc(sizeof *requests + instructions * sizeof requests->examples[0]);

    requests->observer = (struct at_emu_observer){.context = requests, .access = see_access};
    return requests;
}

void at_requests_free(struct at_requests *requests)
{
    free(requests);
}

static bool has_all(const struct at_requests *requests, const struct at_counts *counts,
                    size_t instructions)
{
    for (size_t i = 0; i < 2 * instructions; i++)
        if (counts->accesses[i / 2][i % 2].requests > 0 &&
            requests->examples[i / 2][i % 2].request.lanes == 0)
            return false;
    return true;
}

enum at_status at_requests_sample(struct at_requests *requests, const struct at_counts *counts,
                                  struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                  struct at_error *err)
{
    const uint64_t all = at_emu_blocks(emu), blocks[] = {all / 2, 0, all - 1};
    struct at_emu_launch part = *emu;
    enum at_status status = AT_OK;

    part.observer = &requests->observer;
    part.only_block_count = 1;
    for (size_t i = 0; i < AT_COUNT(blocks) && status == AT_OK &&
                       !has_all(requests, counts, emu->kernel->op_count);
         i++) {
        struct at_emu_fault fault = {0};

        part.only_blocks = &blocks[i];
        status = at_emu_run(memory, &part, &fault, err);
        if (status == AT_OK && fault.kind != AT_EMU_NO_FAULT)
            status = at_fail(err, AT_FAILED, "%s", fault.message);
    }
    return status;
}

const struct at_explained_request *at_requests_of(const struct at_requests *requests,
                                                  size_t instruction, bool shared)
{
    return &requests->examples[instruction][shared].request;
}

/* ---- pictures ---- */

enum { WORDS = 32, WORD_BYTES = 4, SECTOR_WORDS = 8, ROWS_MAX = 64, FULL_WIDTH = 122 };

const char at_request_legend[] =
    "words of 4 bytes: the lane that wants each, + if there are more, a dot if none. Of global "
    "memory a row has the four sectors of a line, as far as they are moved; of shared memory the "
    "banks of a wavefront";

/* A line of 128 bytes, or a wavefront; what the lanes want of its words, or banks. */
struct row {
    uint64_t line;
    uint64_t word[WORDS];
    uint32_t lanes[WORDS]; /* 0: nobody wants the word */
};

struct picture {
    struct row rows[ROWS_MAX];
    size_t count;
};

static struct row *row_of_line(struct picture *picture, uint64_t line)
{
    size_t i = 0;

    while (i < picture->count && picture->rows[i].line < line)
        i++;
    if (i < picture->count && picture->rows[i].line == line)
        return &picture->rows[i];
    for (size_t k = picture->count++; k > i; k--)
        picture->rows[k] = picture->rows[k - 1];
    picture->rows[i] = (struct row){.line = line};
    return &picture->rows[i];
}

/* Words of one bank are in wavefronts of their own, but lanes share a word. */
static struct row *row_of_bank(struct picture *picture, size_t first, uint64_t word, bool shares)
{
    size_t i = first;

    while (i < picture->count && picture->rows[i].lanes[word % WORDS] &&
           !(shares && picture->rows[i].word[word % WORDS] == word))
        i++;
    if (i == picture->count)
        picture->rows[picture->count++] = (struct row){.line = i};
    picture->rows[i].word[word % WORDS] = word;
    return &picture->rows[i];
}

static void fill(struct picture *picture, const struct at_explained_line *line)
{
    const struct at_explained_request *request = &line->request;
    bool shared = line->wavefronts > 0, shares = strncmp(line->access, "atomic", 6) != 0;
    int64_t words = line->bytes <= WORD_BYTES ? 1 : line->bytes / WORD_BYTES;
    int together = AT_WARP / (int)words;
    size_t first = 0; /* wavefront of the lanes that are served together */
    int group = 0;

    AT_EACH_OF (lane, request->lanes) {
        if (lane / together > group) {
            group = lane / together;
            first = picture->count;
        }
        for (int64_t i = 0; i < words; i++) {
            uint64_t word = request->address[lane] / WORD_BYTES + (uint64_t)i;
            struct row *row = shared ? row_of_bank(picture, first, word, shares)
                                     : row_of_line(picture, word / WORDS);

            row->lanes[word % WORDS] |= UINT32_C(1) << lane;
        }
    }
}

/* Is a lane there that wants a word of the same sector? Then all of it is moved. */
static bool is_moved(const struct row *row, int word)
{
    uint32_t lanes = 0;

    for (int i = word / SECTOR_WORDS * SECTOR_WORDS, k = 0; k < SECTOR_WORDS; k++)
        lanes |= row->lanes[i + k];
    return lanes != 0;
}

/* Words that nobody wants are dots; those of sectors that stay where they are, nothing. */
static void draw_row(FILE *out, const struct row *row, int from, int to, bool bars)
{
    for (int i = from; i < to; i++) {
        if (bars && i % SECTOR_WORDS == 0)
            fputs(" |", out);
        if (row->lanes[i])
            fprintf(out, row->lanes[i] & (row->lanes[i] - 1) ? "%2d+" : "%3d",
                    __builtin_ctz(row->lanes[i]));
        else
            fputs(bars && !is_moved(row, i) ? "   " : "  .", out);
    }
    fputs(bars ? " |\n" : "\n", out);
}

static void draw_banks(FILE *out, int from, int to)
{
    fprintf(out, "%14s", "bank");
    for (int i = from; i < to; i++)
        fprintf(out, "%3d", i);
    fputc('\n', out);
}

static void draw_rows(FILE *out, const struct picture *picture, bool shared, int from, int to)
{
    if (shared)
        draw_banks(out, from, to);
    for (size_t i = 0; i < picture->count; i++) {
        uint64_t offset = WORDS * WORD_BYTES * (picture->rows[i].line - picture->rows[0].line);
        bool wanted = shared;

        for (int k = from; k < to; k++)
            wanted = wanted || picture->rows[i].lanes[k];
        if (!wanted)
            continue;
        if (shared)
            fprintf(out, "  wavefront %zu%*s", i + 1, i < 9, "");
        else
            fprintf(out, "  +%-10ju", (uintmax_t)offset + (uintmax_t)(WORD_BYTES * from));
        draw_row(out, &picture->rows[i], from, to, !shared);
    }
}

char *at_request_draw(const struct at_explained_line *line, int width)
{
    bool shared = line->wavefronts > 0;
    int step = width < FULL_WIDTH ? WORDS / 2 : WORDS;
    struct picture *picture;
    struct at_text_stream stream;
    FILE *out;

    if (line->request.lanes == 0)
        return NULL;
    picture = at_alloc(sizeof *picture);
    out = at_text_open(&stream);
    fill(picture, line);
    for (int from = 0; from < WORDS; from += step)
        draw_rows(out, picture, shared, from, from + step);
    free(picture);
    return at_text_close(&stream, NULL);
}
