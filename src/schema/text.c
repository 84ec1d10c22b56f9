/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/text.h"

#include <string.h>

bool at_text_is_word(const char *text, size_t size)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_-.+";

    return size >= 1 && size <= 63 && strspn(text, allowed) == size;
}
