/* SPDX-License-Identifier: Apache-2.0 */
/* src/kernel/nvrtc.c and known_nvrtc.c: threads make a program's kernels sooner, and the same to
 * the last bit; and what is known of NVRTC without loading it is what it would say. */
#include "base/memory.h"
#include "kernel/known_nvrtc.h"
#include "kernel/render.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

static struct at_nvrtc *open_nvrtc(int64_t compute_capability)
{
    struct at_nvrtc *nvrtc;
    struct at_error err = {AT_OK, ""};

    if (at_nvrtc_open(&nvrtc, compute_capability, AT_IMAGE_CUBIN, &err) != AT_OK)
        fail_msg("%s", err.message);
    return nvrtc;
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
    struct at_nvrtc *nvrtc = open_nvrtc(90);

    (void)state;
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

/* In a process of its own, since a loader reads LD_LIBRARY_PATH once: keeps what it finds. */
static int put_known(const char *folder)
{
    struct at_cubin_cache *cache;
    struct at_nvrtc *nvrtc;

    if (at_cubin_cache_open(&cache, folder, NULL) != AT_OK ||
        at_nvrtc_open(&nvrtc, 90, AT_IMAGE_CUBIN, NULL) != AT_OK)
        return 1;
    at_known_nvrtc_put(cache, 90, nvrtc);
    at_nvrtc_close(nvrtc);
    at_cubin_cache_close(cache);
    return 0;
}

static void start_put_known(const char *folder)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        execl("/proc/self/exe", "test_nvrtc", folder, (char *)NULL);
        _exit(2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static bool is_known(struct at_cubin_cache *cache, int64_t compute_capability)
{
    struct at_compiler known;
    struct at_nvrtc *nvrtc;

    if (!at_known_nvrtc_find(cache, compute_capability, &known))
        return false;
    nvrtc = open_nvrtc(compute_capability);
    assert_memory_equal(&known, at_nvrtc_compiler(nvrtc), sizeof known);
    at_nvrtc_close(nvrtc);
    return true;
}

/* Through a link in a folder of our own, which can be turned to another file. */
static void test_what_is_known_is_of_the_same_file(void **state)
{
    char folder[] = "/tmp/autotune-test-nvrtc-XXXXXX";
    struct at_nvrtc *nvrtc = open_nvrtc(90);
    const char *path = at_nvrtc_path(), *folders = getenv("LD_LIBRARY_PATH");
    char *usual = at_strdup(folders ? folders : ""), *link_path, *command;
    struct at_cubin_cache *cache;

    (void)state;
    assert_true(at_nvrtc_is_loaded());
    assert_non_null(mkdtemp(folder));
    link_path = at_format("%s%s", folder, strrchr(path, '/'));
    assert_int_equal(symlink(path, link_path), 0);
    assert_int_equal(at_cubin_cache_open(&cache, folder, NULL), AT_OK);
    setenv("LD_LIBRARY_PATH", folder, 1);
    assert_false(is_known(cache, 90));
    start_put_known(folder);
    assert_true(is_known(cache, 90));
    assert_false(is_known(cache, 80));
    setenv("LD_LIBRARY_PATH", "/elsewhere", 1);
    assert_false(is_known(cache, 90));
    setenv("LD_LIBRARY_PATH", folder, 1);
    assert_int_equal(unlink(link_path), 0);
    assert_false(is_known(cache, 90));
    assert_int_equal(symlink("/proc/self/exe", link_path), 0);
    assert_false(is_known(cache, 90));
    assert_false(is_known(NULL, 90));

    setenv("LD_LIBRARY_PATH", usual, 1);
    at_cubin_cache_close(cache);
    command = at_format("rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
    free(command);
    free(link_path);
    free(usual);
    at_nvrtc_close(nvrtc);
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_leave_the_code_the_same),
        cmocka_unit_test(test_what_is_known_is_of_the_same_file),
    };

    if (argc == 2)
        return put_known(argv[1]);
    if (lacks_nvrtc())
        return SKIPPED;
    return cmocka_run_group_tests(tests, read_families, free_families);
}
