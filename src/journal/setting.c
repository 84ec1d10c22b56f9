/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/setting.h"

#include "base/memory.h"
#include "base/text_stream.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const part_names[AT_SETTING_PARTS] = {
    [AT_SETTING_PROGRAM] = "program", [AT_SETTING_DEVICE] = "device",
    [AT_SETTING_DRIVER] = "driver",   [AT_SETTING_COMPILER] = "compiler",
    [AT_SETTING_OPTIONS] = "options", [AT_SETTING_POLICY] = "policy",
};

static const char separator[] = "; ";

char *at_setting_format(const char *const parts[AT_SETTING_PARTS])
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    for (int i = 0; i < AT_SETTING_PARTS; i++)
        fprintf(out, "%s%s %s", i ? separator : "", part_names[i], parts[i]);
    return at_text_close(&stream, NULL);
}

/* A part within the text; empty if the text has too few parts. */
struct span {
    const char *start;
    size_t length;
};

static struct span find_part(const char *setting, int part)
{
    const char *end;

    for (int i = 0; i < part; i++) {
        end = strstr(setting, separator);
        setting = end ? end + strlen(separator) : setting + strlen(setting);
    }
    end = strstr(setting, separator);
    return (struct span){setting, end ? (size_t)(end - setting) : strlen(setting)};
}

char *at_setting_part(const char *setting, enum at_setting_part part)
{
    struct span found = find_part(setting, (int)part);
    size_t name = strlen(part_names[part]) + 1;

    return found.length > name ? at_strndup(found.start + name, found.length - name)
                               : at_strdup("");
}

static bool is_same(struct span a, struct span b)
{
    return a.length == b.length && memcmp(a.start, b.start, a.length) == 0;
}

bool at_setting_same_device(const char *a, const char *b)
{
    return is_same(find_part(a, AT_SETTING_DEVICE), find_part(b, AT_SETTING_DEVICE));
}

char *at_setting_difference(const char *then, const char *now)
{
    struct span was = {"", 0}, is = {"", 0};

    for (int i = 0; i < AT_SETTING_PARTS && is_same(was, is); i++) {
        was = find_part(then, i);
        is = find_part(now, i);
    }
    return at_format("%.*s, now %.*s", (int)was.length, was.start, (int)is.length, is.start);
}
