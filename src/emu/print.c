/* SPDX-License-Identifier: Apache-2.0 */
/* printf and assert in kernels. The compiler makes a call of vprintf with a format and a buffer of
 * arguments, each aligned to its size (CUDA C++ Programming Guide, "Formatted Output"). */
#include "base/memory.h"
#include "base/printable.h"
#include "emu/lanes.h"
#include "emu/ops.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    STRING_MAX = 4096, /* bytes of a format or a string */
    TEXT_MAX = 1024,   /* of one conversion */
    BLOCK_MAX = 16384, /* printed by one block; the rest is dropped */
};

static uint64_t argument(const struct at_emu_warp *warp, int lane, int64_t offset, size_t bytes)
{
    const struct at_emu_block *block = warp->block;
    uint64_t value = 0;

    memcpy(&value,
           block->frames +
               (size_t)(warp->first_thread + (uint32_t)lane) * block->kernel->frame_bytes + offset,
           bytes);
    return value;
}

/* Copy a string from a generic address. */
static void read_string(const struct at_emu_warp *warp, int lane, uint64_t address,
                        char text[STRING_MAX])
{
    size_t size = 0;

    while (size < STRING_MAX - 1) {
        const char *byte = at_emu_access_generic(warp, lane, address + size, 1);

        if (!byte || !*byte)
            break;
        text[size++] = *byte;
    }
    text[size] = '\0';
}

static void append(struct at_emu_block *block, const char *text)
{
    for (; *text && block->printed_bytes < BLOCK_MAX; text++)
        AT_PUSH(block->printed, block->printed_bytes, block->printed_capacity, *text);
}

/* The arguments of one call, taken one after the other. */
struct arguments {
    const struct at_emu_warp *warp;
    int lane;
    uint64_t address, offset;
    int count;
};

static uint64_t next_argument(struct arguments *arguments, uint32_t bytes)
{
    const char *from;
    uint64_t value = 0;

    arguments->offset = (arguments->offset + bytes - 1) / bytes * bytes;
    from = at_emu_access_generic(arguments->warp, arguments->lane,
                                 arguments->address + arguments->offset, bytes);
    if (from)
        memcpy(&value, from, bytes);
    arguments->offset += bytes;
    arguments->count++;
    return value;
}

/* The value of an integer conversion with these length letters. */
static long long integer_of(struct arguments *arguments, const char *length, bool is_signed)
{
    bool wide =
        strchr(length, 'l') || strchr(length, 'z') || strchr(length, 'j') || strchr(length, 't');
    uint64_t value = next_argument(arguments, wide ? 8 : 4);

    if (strcmp(length, "hh") == 0)
        return is_signed ? (s8)value : (u8)value;
    if (strcmp(length, "h") == 0)
        return is_signed ? (s16)value : (u16)value;
    return wide ? (long long)value : is_signed ? (s32)value : (long long)(u32)value;
}

/* Formats are the kernel's, taken apart and put together again for one argument each. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* Print one conversion; `text` begins after the percent sign. Returns what follows it. */
static const char *convert(struct at_emu_block *block, struct arguments *arguments,
                           const char *text)
{
    static const char flags[] = "-+ #0";
    char format[64] = "%", length[4] = "", out[TEXT_MAX] = "", string[STRING_MAX];
    size_t used = 1, letters = 0;

    for (; *text && (strchr(flags, *text) || strchr("0123456789.*", *text)); text++)
        if (*text == '*')
            used += (size_t)snprintf(format + used, 12, "%d", (s32)next_argument(arguments, 4));
        else if (used < 24)
            format[used++] = *text;
    for (; *text && strchr("hlLzjtq", *text); text++)
        if (letters < 2)
            length[letters++] = *text;
    snprintf(format + used, 8, "%s%c", strchr("diouxX", *text) && *text ? "ll" : "", *text);
    if (*text == 'd' || *text == 'i') {
        snprintf(out, sizeof out, format, integer_of(arguments, length, true));
    } else if (*text && strchr("ouxX", *text)) {
        snprintf(out, sizeof out, format, integer_of(arguments, length, false));
    } else if (*text && strchr("fFeEgGaA", *text)) {
        snprintf(out, sizeof out, format, at_f64_of(next_argument(arguments, 8)));
    } else if (*text == 'c') {
        snprintf(out, sizeof out, format, (int)next_argument(arguments, 4));
    } else if (*text == 'p') {
        snprintf(out, sizeof out, "%#llx", (unsigned long long)next_argument(arguments, 8));
    } else if (*text == 's') {
        read_string(arguments->warp, arguments->lane, next_argument(arguments, 8), string);
        snprintf(out, sizeof out, format, string);
    } else if (*text == '%') {
        snprintf(out, sizeof out, "%%");
    }
    append(block, out);
    return *text ? text + 1 : text;
}

static void print(struct at_emu_warp *warp, int lane, const char *format, uint64_t address,
                  int *count)
{
    struct arguments arguments = {.warp = warp, .lane = lane, .address = address};

    while (*format) {
        size_t plain = strcspn(format, "%");
        char piece[STRING_MAX];

        memcpy(piece, format, plain);
        piece[plain] = '\0';
        append(warp->block, piece);
        format += plain;
        if (*format)
            format = convert(warp->block, &arguments, format + 1);
    }
    *count = arguments.count;
}

/* The lanes print one after the other. immediate and source_offset are the places of the format's
 * and the buffer's addresses in the frame, target that of the result. */
void at_emu_run_printf(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    const struct at_emu_block *block = warp->block;
    char format[STRING_MAX];

    AT_EACH_OF (i, lanes) {
        size_t thread = warp->first_thread + (uint32_t)i;
        int count = 0;

        read_string(warp, i, argument(warp, i, op->immediate, 8), format);
        if (block->launch->printer)
            print(warp, i, format, argument(warp, i, op->source_offset, 8), &count);
        memcpy(block->frames + thread * block->kernel->frame_bytes + op->target, &count,
               sizeof count);
    }
}

/* immediate, source_offset, to_offset: the places of the condition's text, the file's name and the
 * line. */
void at_emu_run_assert(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    char condition[STRING_MAX], file[STRING_MAX];
    int lane = __builtin_ctz(lanes);

    read_string(warp, lane, argument(warp, lane, op->immediate, 8), condition);
    read_string(warp, lane, argument(warp, lane, op->source_offset, 8), file);
    at_emu_raise(warp, op, AT_EMU_ASSERTION, lane, 0, "%.*s (%.*s:%d)", AT_QUOTED(condition, 96),
                 AT_QUOTED(file, 96), (int)argument(warp, lane, op->to_offset, 4));
}

static int by_turn(const void *left, const void *right)
{
    const struct at_emu_printed *a = left, *b = right;

    return (a->turn > b->turn) - (a->turn < b->turn);
}

void at_emu_print_all(const struct at_emu_printer *printer, struct at_emu_printed *texts,
                      size_t count)
{
    char *all = NULL, more[64];
    size_t used = 0, capacity = 0, lines = 0, left_out = 0;

    if (count == 0)
        return;
    qsort(texts, count, sizeof *texts, by_turn);
    for (size_t k = 0; k < count; k++) {
        for (const char *c = texts[k].text; *c; c++) {
            if (lines < AT_EMU_PRINTED_LINES)
                AT_PUSH(all, used, capacity, *c);
            else
                left_out += *c == '\n';
            lines += *c == '\n';
        }
        free(texts[k].text);
    }
    snprintf(more, sizeof more, "... and %zu more lines\n", left_out);
    for (const char *c = left_out ? more : ""; *c; c++)
        AT_PUSH(all, used, capacity, *c);
    AT_PUSH(all, used, capacity, '\0');
    printer->print(printer->context, all);
    free(all);
}
