/* SPDX-License-Identifier: Apache-2.0 */
/* Launches each problem of two exports. The runtime must see the right kernel, with the launch and
 * the arguments that the tables have. */
#include "one_launchers.h"
#include "one_tuned.h"
#include "runtime.h"
#include "two_launchers.h"
#include "two_tuned.h"

#include <stdio.h>
#include <string.h>

enum { ELEMENTS = 4 };
static _Alignas(16) int dst[ELEMENTS], src[ELEMENTS];
static int launched, failed;

static void fail(const char *launcher, const char *what)
{
    printf("%s: wrong %s\n", launcher, what);
    failed = 1;
}

static int is_wrong(struct dim3 extent, const unsigned wanted[3])
{
    return extent.x != wanted[0] || extent.y != wanted[1] || extent.z != wanted[2];
}

static int words_are_wrong(const unsigned long long *words, int count,
                           const unsigned char *word_counts)
{
    for (int i = 0; i < count; words += word_counts[i++])
        if (memcmp(last_launch.arguments[2 + i], words, 8 * word_counts[i]) != 0)
            return 1;
    return 0;
}

/* Check the last launch against an entry; both exports' entries have the same members. */
#define CHECK(prefix, problem, entry, status, from)                                                \
    do {                                                                                           \
        const char *name = #prefix "_transpose_" #problem;                                         \
                                                                                                   \
        if ((status) != cudaSuccess)                                                               \
            fail(name, "status");                                                                  \
        if (!strstr(last_launch.kernel, #prefix "_kernels"))                                       \
            fail(name, last_launch.kernel);                                                        \
        if (strcmp(name, (entry)->launcher) != 0)                                                  \
            fail(name, "entry");                                                                   \
        if (is_wrong(last_launch.grid, (entry)->grid) ||                                           \
            is_wrong(last_launch.block, (entry)->block) ||                                         \
            last_launch.shared_bytes != (entry)->shared_bytes)                                     \
            fail(name, "launch");                                                                  \
        if (last_launch.dst != dst || last_launch.src != (from) ||                                 \
            words_are_wrong((entry)->words, (entry)->argument_count, (entry)->word_counts))        \
            fail(name, "arguments");                                                               \
        launched++;                                                                                \
    } while (0)

/* A kernel whose step takes a number gets the caller's; without a number there is no launch. */
static void check_numbers(void)
{
    static const struct one_numbers one = {.number = {0, {1, 0}}},
                                    half = {.number = {0, {0.5, 0}}, .second = dst},
                                    past = {.number = {0, {0.5, 0}}, .second = (char *)dst + 8};
    const struct one_tuned *step = &one_tuned_entries[ONE_R512_C512_B2_BF16_E4M3_SCALE_INDEX];

    CHECK(one, R512_C512_B2_BF16_E4M3_SCALE, step,
          one_transpose_R512_C512_B2_BF16_E4M3_SCALE(dst, src, &one, 0), src);
    one_transpose_R512_C512_B2_BF16_E4M3_SCALE(dst, src, &half, 0);
    if (last_launch.arguments[1 + step->argument_count] != &half || !step->takes_numbers ||
        step->word_counts[step->argument_count - 1] * 8 >
            sizeof half) /* it may end before the last members */
        fail(step->launcher, "number");
    if (one_transpose_R512_C512_B2_BF16_E4M3_SCALE(dst, src, &past, 0) !=
        cudaErrorMisalignedAddress)
        fail(step->launcher, "answer to a second source past a boundary");
    if (one_transpose_R512_C512_B2_BF16_E4M3_SCALE(dst, src, 0, 0) != cudaErrorInvalidValue)
        fail(step->launcher, "answer without a number");
    if (step->elem_size != 2 || step->result_size != 1 ||
        !strstr(step->defines, "-DRESULT_SIZE=1 "))
        fail(step->launcher, "sizes");
}

/* An entry's variants are for two devices, and so is the launcher. Those of another device are not
 * told apart from the nearest below. */
static void check_devices(void)
{
    static const struct {
        int device, chosen;
    } cases[] = {{75, 80}, {80, 80}, {86, 80}, {90, 90}, {100, 90}};
    const struct two_tuned *first = &two_tuned_entries[TWO_R512_C512_B4_INDEX];

    if (first->variants != 2 || first[1].variants != 1)
        fail(first->launcher, "number of variants");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct two_tuned *chosen = two_tuned_choose(
            first, cases[i].device, (unsigned long long)dst, (unsigned long long)src);

        if (!chosen || chosen->compute_capability != cases[i].chosen)
            fail(first->launcher, "variant");
        device_capability = cases[i].device;
        CHECK(two, R512_C512_B4, chosen, two_transpose_R512_C512_B4(dst, src, 0), src);
        CHECK(two, R512_C512_B4, chosen, two_transpose(4, 512, 512, 512, 512, 1, 0, 0, dst, src, 0),
              src);
    }
    if (TWO_R512_C512_B4_SM80_LAUNCH_GRID_X != first->grid[0] ||
        TWO_R512_C512_B4_SM90_LAUNCH_GRID_X != first[1].grid[0])
        fail(first->launcher, "macros");
    device_capability = 90;
}

/* Of a problem at an offset: one element behind a multiple of 16, or anywhere. */
static void check_addresses(void)
{
    const struct two_tuned *entry = &two_tuned_entries[TWO_R512_C512_B4_OS1_INDEX] + 1;

    CHECK(two, R512_C512_B4_OS1, entry, two_transpose_R512_C512_B4_OS1(dst, src + 1, 0), src + 1);
    if (entry->rows ||
        two_transpose_R512_C512_B4_OS1(dst, (char *)src + 1, 0) != cudaErrorMisalignedAddress)
        fail(entry->launcher, "answer to addresses");
}

/* Several launches in a row share scratch memory, and know which one they are. */
static void check_launches_in_a_row(void)
{
    const struct two_tuned *entry = &two_tuned_entries[TWO_R1000_C1500_B4_IP_INDEX] + 1;
    static _Alignas(16) char scratch[16];
    const int before = last_launch.count;

    if (entry->launches < 2 || entry->scratch_bytes <= 0 || entry->argument_count != 8 ||
        entry->word_counts[7] != 2)
        fail(entry->launcher, "entry");
    if (two_transpose_R1000_C1500_B4_IP(dst, dst, scratch, 0) != cudaSuccess ||
        last_launch.count - before != entry->launches || last_launch.time.scratch != scratch ||
        last_launch.time.number != entry->launches - 1)
        fail(entry->launcher, "launches");
    if (two_transpose_R1000_C1500_B4_IP(dst, dst, 0, 0) != cudaErrorInvalidValue ||
        two_transpose_R1000_C1500_B4_IP(dst, dst, scratch + 4, 0) != cudaErrorMisalignedAddress ||
        two_transpose(4, 1000, 1500, 1500, 1000, 1, 0, 0, dst, dst, 0) != cudaErrorNotSupported)
        fail(entry->launcher, "refusal");
    launched++;
}

/* Attributes are set at the first launch, and again after one that failed. */
static void check_attributes(void)
{
    const struct two_tuned *entry = &two_tuned_entries[TWO_R100_C150_B4_N256_IP_INDEX] + 1;
    const int before = last_launch.attributes;

    for (int i = 0; i < 3; i++)
        CHECK(two, R100_C150_B4_N256_IP, entry, two_transpose_R100_C150_B4_N256_IP(dst, dst, 0),
              dst);
    if (entry->shared_bytes <= 48 * 1024 || last_launch.attributes != before + 1)
        fail(entry->launcher, "number of times that its attribute was set");
    fail_next_launch = 1;
    if (two_transpose_R100_C150_B4_N256_IP(dst, dst, 0) == cudaSuccess ||
        two_transpose_R100_C150_B4_N256_IP(dst, dst, 0) != cudaSuccess ||
        last_launch.attributes != before + 2)
        fail(entry->launcher, "attributes after a failure");
}

/* Kernels for many matrices get the caller's list or rows. */
static void check_groups(void)
{
    static const struct one_numbers numbers = {.number = {0, {1, 0}}};
    static const long long offsets[5];
    const struct one_list list = {.count = 3}, none = {.count = 0};
    const struct one_tuned *of_list = &one_tuned_entries[ONE_G9_R0_64_C64_B2_BF16_E4M3_SCALE_INDEX],
                           *of_rows = &one_tuned_entries[ONE_G4_T96_C64_P16_B4_INDEX];
    struct one_rows rows, other;

    if (of_list->groups != 1 || of_rows->groups != 2 || one_tuned_entries->groups != 0 ||
        of_list->word_counts[0] * 8 != sizeof list || of_rows->word_counts[0] * 8 != sizeof rows)
        fail("one_G9", "groups");
    if (one_transpose_G9_R0_64_C64_B2_BF16_E4M3_SCALE(&list, &numbers, 0) != cudaSuccess ||
        last_launch.arguments[2] != &list || last_launch.arguments[3] != &numbers ||
        last_launch.dst || last_launch.src || is_wrong(last_launch.grid, of_list->grid))
        fail(of_list->launcher, "launch");
    last_launch.kernel = NULL;
    if (one_transpose_G9_R0_64_C64_B2_BF16_E4M3_SCALE(&none, &numbers, 0) != cudaSuccess ||
        last_launch.kernel)
        fail(of_list->launcher, "launch of no matrix");
    memcpy(&rows, of_rows->words, sizeof rows);
    rows.offsets = offsets;
    if (rows.count != 4 || rows.cols != 64 || rows.padding != 16 ||
        one_transpose_G4_T96_C64_P16_B4(dst, src, &rows, 0) != cudaSuccess ||
        last_launch.arguments[2] != &rows || last_launch.dst != dst || last_launch.src != src ||
        is_wrong(last_launch.grid, of_rows->grid))
        fail(of_rows->launcher, "launch");
    other = rows;
    other.cols = 65;
    if (one_transpose_G4_T96_C64_P16_B4(dst, src, &other, 0) != cudaErrorInvalidValue ||
        one_transpose_G4_T96_C64_P16_B4(dst, src, 0, 0) != cudaErrorInvalidValue)
        fail(of_rows->launcher, "answer to other sizes");
    other = rows;
    other.offsets = (const char *)offsets + 4;
    if (one_transpose_G4_T96_C64_P16_B4(dst, src, &other, 0) != cudaErrorMisalignedAddress)
        fail(of_rows->launcher, "answer to offsets past a boundary");
    launched += 2;
}

int main(void)
{
    const struct one_tuned *one = one_tuned_entries;
    const struct two_tuned *two = two_tuned_entries;

    CHECK(one, R512_C512_B4, &one[ONE_R512_C512_B4_INDEX], one_transpose_R512_C512_B4(dst, src, 0),
          src);
    CHECK(one, R512_C512_B4, one_tuned_find(4, 512, 512, 512, 512, 1, 0, 0, 0),
          one_transpose(4, 512, 512, 512, 512, 1, 0, 0, dst, src, 0), src);
    CHECK(two, R512_C512_B4, &two[TWO_R512_C512_B4_INDEX] + 1,
          two_transpose_R512_C512_B4(dst, src, 0), src);
    CHECK(two, R512_C512_B4_IP, two_tuned_find(4, 512, 512, 512, 512, 1, 0, 0, 1) + 1,
          two_transpose(4, 512, 512, 512, 512, 1, 0, 0, dst, dst, 0), dst);
    CHECK(one, T6_5_8_32_B2_P0213, &one[ONE_T6_5_8_32_B2_P0213_INDEX],
          one_transpose_T6_5_8_32_B2_P0213(dst, src, 0), src);
    if (!strstr(one[ONE_T6_5_8_32_B2_P0213_INDEX].defines, "-DAXES=3 "))
        fail("one", "axes");
    check_numbers();
    check_groups();
    check_devices();
    check_addresses();
    check_launches_in_a_row();
    check_attributes();
    CHECK(one, R512_C512_B8_C64_C64_CONJ, &one[ONE_R512_C512_B8_C64_C64_CONJ_INDEX],
          one_transpose_R512_C512_B8_C64_C64_CONJ(dst, src, 0), src);
    CHECK(two, T3_3_3_3_3_3_B8_P543210, &two[TWO_T3_3_3_3_3_3_B8_P543210_INDEX] + 1,
          two_transpose_T3_3_3_3_3_3_B8_P543210(dst, src, 0), src);
    /* A tensor is neither one of its matrices nor the one whose sizes are all 0. A step is not the
     * move of its sizes, and 256x256 was not exported. */
    if (one_tuned_find(2, 0, 0, 0, 0, 0, 0, 0, 0) ||
        one_tuned_find(2, 1, 32, 32, 1, 5, 256, 32, 0) ||
        one_transpose(2, 1, 32, 32, 1, 5, 256, 32, dst, src, 0) != cudaErrorNotSupported ||
        one_transpose(2, 0, 0, 0, 0, 0, 0, 0, dst, src, 0) != cudaErrorNotSupported ||
        one_tuned_find(2, 512, 512, 512, 512, 1, 0, 0, 0) ||
        one_transpose(4, 256, 256, 256, 256, 1, 0, 0, dst, src, 0) != cudaErrorNotSupported)
        fail("one_transpose", "answer for what was not exported");
    if (one_transpose_R512_C512_B4(dst, src + 1, 0) != cudaErrorMisalignedAddress ||
        one_transpose_R512_C512_B4(dst, dst, 0) != cudaErrorInvalidValue)
        fail("one_transpose", "refusal");
    printf("%d launches of two exports\n", launched);
    return failed;
}
