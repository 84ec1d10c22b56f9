/* SPDX-License-Identifier: Apache-2.0 */
#include "system/library.h"

#include "base/memory.h"
#include "base/text_stream.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Join names (NULL-ended) to "a, b or c"; the caller frees it. */
static char *list_names(const char *const *names)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    for (size_t i = 0; names[i]; i++)
        fprintf(out, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : " or ", names[i]);
    return at_text_close(&stream, NULL);
}

/* Every message of the loader begins with "FILE: ", unless it had no memory to build it. */
static bool is_out_of_memory(const char *reason)
{
    return !strstr(reason, ": ") || strstr(reason, strerror(ENOMEM)) ||
           strstr(reason, "cannot allocate");
}

/* Open a library. *reason keeps the first message about a library that exists but does not load. */
static void *try_to_open(const char *name, char **reason)
{
    void *opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *message = opened ? NULL : dlerror();

    if (message && is_out_of_memory(message))
        at_out_of_memory();
    if (message && !strstr(message, "No such file") && !*reason)
        *reason = at_format("%s%s", message,
                            strstr(message, "failed to map segment") /* glibc does not say why */
                                ? ": too little memory (ulimit -v), or a folder mounted noexec"
                                : "");
    return opened;
}

enum at_status at_library_open(void **library, const char *const *names, const char *folder,
                               const char *lacking, const char *remedy, struct at_error *err)
{
    void *found = NULL;
    char *reason = NULL;

    for (size_t i = 0; names[i] && !found; i++) {
        found = try_to_open(names[i], &reason);
        if (!found && folder) {
            char *path = at_format("%s/%s", folder, names[i]);

            found = try_to_open(path, &reason);
            at_free(path);
        }
    }
    if (found) {
        *library = found;
    } else if (reason) {
        at_fail(err, AT_DEVICE, "cannot load %s; %s", reason, remedy);
    } else {
        char *list = list_names(names);

        at_fail(err, AT_DEVICE, "%s: cannot open %s (looked in the loader's path%s%s); %s", lacking,
                list, folder ? " and in " : "", folder ? folder : "", remedy);
        at_free(list);
    }
    at_free(reason);
    return found ? AT_OK : AT_DEVICE;
}

static int take_count(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    *(unsigned long long *)count = info->dlpi_adds;
    return 1; /* every library has the same */
}

unsigned long long at_libraries_ever(void)
{
    unsigned long long count = 0;

    dl_iterate_phdr(take_count, &count);
    return count;
}

bool at_library_is_loaded(const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        void *found = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

        if (found) {
            dlclose(found);
            return true;
        }
    }
    return false;
}

const char *at_library_path(const void *address)
{
    struct link_map *map;
    Dl_info info;

    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map->l_name : "";
}

enum at_status at_library_symbols(void *library, const struct at_symbol *symbols, size_t count,
                                  struct at_error *err)
{
    for (size_t i = 0; i < count; i++) {
        *symbols[i].address = dlsym(library, symbols[i].name);
        if (!*symbols[i].address && !symbols[i].optional)
            return at_fail(err, AT_DEVICE, "the library has no %s: it is too old", symbols[i].name);
    }
    return AT_OK;
}

struct build_id_search {
    uintptr_t address;
    char *hex;
    size_t capacity;
};

static void read_notes(const char *notes, size_t size, struct build_id_search *search)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)notes;
        size_t name_bytes = (note->n_namesz + 3u) & ~3u, id_bytes = (note->n_descsz + 3u) & ~3u;
        const char *name = notes + sizeof *note;
        const unsigned char *id = (const unsigned char *)name + name_bytes;

        if (size - sizeof *note < name_bytes + id_bytes)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && strcmp(name, "GNU") == 0)
            for (size_t i = 0; i < note->n_descsz && 2 * i + 3 <= search->capacity; i++)
                snprintf(search->hex + 2 * i, 3, "%02x", id[i]);
        notes += sizeof *note + name_bytes + id_bytes;
        size -= sizeof *note + name_bytes + id_bytes;
    }
}

static int visit_library(struct dl_phdr_info *info, size_t size, void *data)
{
    struct build_id_search *search = data;
    int here = 0;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;

        here |= segment->p_type == PT_LOAD && search->address - start < segment->p_memsz;
    }
    for (int i = 0; here && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_NOTE)
            read_notes((const char *)(info->dlpi_addr + segment->p_vaddr), segment->p_memsz,
                       search);
    }
    return here;
}

void at_library_build_id(const void *address, char *hex, size_t capacity)
{
    struct build_id_search search = {(uintptr_t)address, hex, capacity};

    hex[0] = '\0';
    dl_iterate_phdr(visit_library, &search);
}
