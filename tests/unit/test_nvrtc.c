/* SPDX-License-Identifier: Apache-2.0 */
/* src/kernel/nvrtc.c: threads make a program's kernels sooner, and the same to the last bit. */
#include "base/memory.h"
#include "kernel/nvrtc.h"
#include "kernel/render.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "needs_nvrtc.h"
#include "shipped_families.h"

/* Of families that are legal for nearly all problems, in one program. */
static const char *const names[] = {"micro", "odd", "tile"};

static char *render_defaults(void)
{
    struct at_config configs[AT_COUNT(names)];
    struct at_rendering renderings[AT_COUNT(names)];

    for (size_t i = 0; i < AT_COUNT(names); i++) {
        size_t family = 0;

        while (strcmp(families[family]->name, names[i]) != 0)
            family++;
        configs[i] = at_family_default(families[family]);
        renderings[i] = (struct at_rendering){.config = &configs[i], .elem_size = 4};
        snprintf(renderings[i].entry, sizeof renderings[i].entry, "k_%s", names[i]);
    }
    return at_render_program(renderings, AT_COUNT(names));
}

/* The contents of a kernel's section in a cubin, which is an ELF file. */
static const char *section(const char *image, const char *kind, const char *name, size_t *size)
{
    const Elf64_Ehdr *file = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + file->e_shoff);
    const char *section_names = image + sections[file->e_shstrndx].sh_offset;
    char *wanted = at_format("%s.k_%s", kind, name);
    const char *found = NULL;

    for (size_t i = 0; i < file->e_shnum; i++) {
        if (strcmp(section_names + sections[i].sh_name, wanted) != 0)
            continue;
        found = image + sections[i].sh_offset;
        *size = sections[i].sh_size;
    }
    free(wanted);
    assert_non_null(found);
    return found;
}

static char *compile(struct at_nvrtc *nvrtc, const char *source, int threads)
{
    char *header = text_of("templates/" AT_TEMPLATE_HEADER), *log;
    void *image;
    size_t size;
    struct at_error err = {AT_OK, ""};

    if (at_nvrtc_compile(nvrtc, source, header, true, threads, &image, &size, &log, &err) != AT_OK)
        fail_msg("%s", err.message);
    if (!image)
        fail_msg("%s", log);
    free(log);
    free(header);
    return image;
}

static void test_threads_leave_the_code_the_same(void **state)
{
    static const char *const kinds[] = {".text", ".nv.constant0", ".nv.info"};
    char *source = render_defaults(), *alone, *shared;
    struct at_nvrtc *nvrtc;
    struct at_error err = {AT_OK, ""};

    (void)state;
    if (at_nvrtc_open(&nvrtc, 90, AT_IMAGE_CUBIN, &err) != AT_OK)
        fail_msg("%s", err.message);
    alone = compile(nvrtc, source, 1);
    shared = compile(nvrtc, source, 3);
    for (size_t i = 0; i < AT_COUNT(names); i++)
        for (size_t j = 0; j < AT_COUNT(kinds); j++) {
            size_t size_alone, size_shared;
            const char *bytes_alone = section(alone, kinds[j], names[i], &size_alone);
            const char *bytes_shared = section(shared, kinds[j], names[i], &size_shared);

            assert_int_equal(size_alone, size_shared);
            assert_memory_equal(bytes_alone, bytes_shared, size_alone);
        }
    at_nvrtc_close(nvrtc);
    free(shared);
    free(alone);
    free(source);
}

static int read_families(void **state)
{
    (void)state;
    read_shipped_families();
    return 0;
}

static int free_families(void **state)
{
    (void)state;
    free_shipped_families();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_leave_the_code_the_same),
    };

    if (lacks_nvrtc())
        return SKIPPED;
    return cmocka_run_group_tests(tests, read_families, free_families);
}
