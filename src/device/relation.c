/* SPDX-License-Identifier: Apache-2.0 */
#include "device/relation.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool at_memory_matches(int64_t a_bytes, int64_t b_bytes)
{
    return llabs(a_bytes - b_bytes) <= (a_bytes > b_bytes ? a_bytes : b_bytes) / 8;
}

/* 1: the same; 0: different; -1: unknown for one of them. */
static int same_pci_id(const struct at_device_info *a, const struct at_device_info *b)
{
    if (a->pci_device_id == 0 || b->pci_device_id == 0)
        return -1;
    return a->pci_device_id == b->pci_device_id;
}

enum at_relation at_device_relation(const struct at_device_info *a, const struct at_device_info *b)
{
    int pci = same_pci_id(a, b);

    if (a->compute_capability != b->compute_capability)
        return AT_OTHER_ARCHITECTURE;
    if (a->multiprocessors == b->multiprocessors)
        return pci != 0 && at_memory_matches(a->memory_bytes, b->memory_bytes) ? AT_SAME_DEVICE
                                                                               : AT_SAME_CHIP;
    return pci == 1 ? AT_SAME_CHIP : AT_SAME_ARCHITECTURE;
}

int64_t at_architecture_gap(const struct at_device_info *a, const struct at_device_info *b)
{
    return 10 * llabs(a->compute_capability / 10 - b->compute_capability / 10) +
           llabs(a->compute_capability % 10 - b->compute_capability % 10);
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* Does the name begin with the word, up to the end of one of its own words? */
static bool begins_with(const char *name, const char *word, size_t length)
{
    for (const char *end = word + length; word < end; word++) {
        if (*word == '-' || *word == '_') /* as in rtx-4090 */
            continue;
        while (*name && !is_letter(*name))
            name++;
        if (tolower((unsigned char)*name) != tolower((unsigned char)*word))
            return false;
        name++;
    }
    return !is_letter(*name);
}

static bool has_word(const char *name, const char *word, size_t length)
{
    for (const char *start = name; *start; start++)
        if (is_letter(*start) && (start == name || !is_letter(start[-1])) &&
            begins_with(start, word, length))
            return true;
    return false;
}

bool at_device_is_called(const struct at_device_info *info, const char *words)
{
    bool called = false;

    for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
        size_t length = strcspn(words, " ");

        called = has_word(info->name, words, length);
        if (!called)
            break;
        words += length;
    }
    return called;
}
