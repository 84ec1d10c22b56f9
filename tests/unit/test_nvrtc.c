/* SPDX-License-Identifier: Apache-2.0 */
/* src/kernel/nvrtc.c and cuda_headers.c: a kernel is compiled to
 * the same bits whatever shares its program; what the cache knows of NVRTC is what NVRTC says; and
 * headers are those of the NVRTC that was loaded. */
#include "base/memory.h"
#include "kernel/builder.h"
#include "kernel/cache.h"
#include "kernel/cuda_headers.h"
#include "system/cpus.h"

#include <elf.h>
#include <sched.h>
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

#include "folder.h"
#include "shipped_families.h"
#include "skipped.h"
#include "template_header.h"

/* Configs of families that are legal for nearly all problems: those to compare, and others to share
 * their programs. */
static const char *const names[] = {"odd", "tile", "micro"};
enum { COMPARED = 2 };

static struct at_config configs[AT_COUNT(names)];
static struct at_rendering renderings[AT_COUNT(names)];

static void render_defaults(void)
{
    for (size_t i = 0; i < AT_COUNT(names); i++) {
        size_t family = 0;

        while (strcmp(families[family]->name, names[i]) != 0)
            family++;
        configs[i] = at_family_default(families[family]);
        renderings[i] = (struct at_rendering){.config = &configs[i],
                                              .kind = {.elem_size = 4, .axes = 1, .rows = 1}};
        snprintf(renderings[i].entry, sizeof renderings[i].entry, "k_%s", names[i]);
    }
}

/* Return the content of a kernel's section in a cubin, which is an ELF file. */
static const char *section(const char *image, const char *kind, const char *entry, size_t *size)
{
    const Elf64_Ehdr *file = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + file->e_shoff);
    const char *section_names = image + sections[file->e_shstrndx].sh_offset;
    char *wanted = at_format("%s.%s", kind, entry);
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

/* All in one program, as the tool compiles them. */
static char *compile_together(struct at_nvrtc *nvrtc, const char *header)
{
    char *source = at_render_program(renderings, AT_COUNT(names));
    struct at_compilation compiled = {0};
    struct at_error err = {AT_OK, ""};

    if (at_nvrtc_compile(&compiled, nvrtc, source, header, true, &err) != AT_OK)
        fail_msg("%s", err.message);
    if (!compiled.image)
        fail_msg("%s", compiled.log);
    free(compiled.log);
    free(source);
    return compiled.image;
}

static enum at_status open_for_builder(struct at_nvrtc **nvrtc, int64_t compute_capability,
                                       struct at_error *err)
{
    return at_nvrtc_open(nvrtc, compute_capability, AT_IMAGE_CUBIN, err);
}

/* As a plan compiles its kernels: at once, or in one program on one CPU. */
static struct at_builder *open_builder(const char *header)
{
    const struct at_builder_options options = {
        .compute_capability = 90,
        .workers = at_usable_cpus() > 1 ? COMPARED : 1,
        .header = header,
        .open_nvrtc = open_for_builder,
    };
    struct at_builder *builder;
    struct at_error err;

    if (at_builder_open(&builder, &options, NULL, 0, &err) != AT_OK)
        fail_msg("%s", err.message);
    return builder;
}

static struct at_built wait_for(struct at_builder *builder, const struct at_config *config)
{
    struct at_built built;

    assert_int_equal(at_builder_wait(builder, &built, NULL), AT_OK);
    assert_ptr_equal(built.owner, config);
    return built;
}

static void compare_plans(const char *header, const char *together)
{
    static const char *const kinds[] = {".text", ".nv.constant0"};
    struct at_builder *builder = open_builder(header);

    for (size_t i = 0; i < COMPARED; i++)
        at_builder_add(builder, &configs[i], renderings[i].kind, &configs[i]);
    for (size_t i = 0; i < COMPARED; i++) {
        struct at_built built = wait_for(builder, &configs[i]);

        assert_int_equal(built.outcome, AT_CORRECT);
        assert_true(built.resources.registers > 0);
        for (size_t j = 0; j < AT_COUNT(kinds); j++) {
            size_t size, expected_size;
            const char *bytes = section(built.program->image, kinds[j], built.entry, &size);
            const char *expected = section(together, kinds[j], renderings[i].entry, &expected_size);

            assert_int_equal(size, expected_size);
            assert_memory_equal(bytes, expected, size);
        }
        at_program_release(built.program);
    }
    at_builder_close(builder);
}

/* Of two, one is refused, whether they share a program or not. */
static void refuse_one(const char *header)
{
    struct at_family bad = {.name = (char[]){"bad"},
                            .template_path = (char[]){"bad.cu"},
                            .source = (char[]){"#error \"thirteen\"\n"}};
    const struct at_config config = {.family = &bad};
    struct at_builder *builder = open_builder(header);

    at_builder_add(builder, &config, renderings[0].kind, NULL);
    at_builder_add(builder, &configs[0], renderings[0].kind, &configs[0]);
    for (size_t i = 0; i < 2; i++) {
        struct at_built built;

        assert_int_equal(at_builder_wait(builder, &built, NULL), AT_OK);
        assert_int_equal(built.outcome, built.owner ? AT_CORRECT : AT_COMPILE);
        if (!built.owner)
            assert_non_null(strstr(built.message, "thirteen"));
        at_program_release(built.program);
    }
    at_builder_close(builder);
}

/* What is given and not taken is forgotten with its thread. */
static void forget(const char *header)
{
    struct at_builder *builder = open_builder(header);

    for (size_t i = 0; i < COMPARED; i++)
        at_builder_add(builder, &configs[i], renderings[i].kind, &configs[i]);
    assert_int_equal(at_builder_step(builder, NULL), AT_OK);
    at_builder_close(builder);
}

static void test_code_is_the_same_in_any_program(void **state)
{
    char *header = template_header(), *together;
    struct at_nvrtc *nvrtc = open_nvrtc(90);
    cpu_set_t usual, one;

    (void)state;
    together = compile_together(nvrtc, header);
    compare_plans(header, together);
    refuse_one(header);
    forget(header);
    assert_int_equal(sched_getaffinity(0, sizeof usual, &usual), 0);
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &usual))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    compare_plans(header, together);
    refuse_one(header);
    forget(header);
    assert_int_equal(sched_setaffinity(0, sizeof usual, &usual), 0);
    at_nvrtc_close(nvrtc);
    free(together);
    free(header);
}

/* Keep what NVRTC says. In a process of its own, because a loader reads LD_LIBRARY_PATH once. */
static int put_known(const char *folder)
{
    struct at_cubin_cache *cache;
    struct at_nvrtc *nvrtc;

    if (at_cubin_cache_open(&cache, folder, NULL) != AT_OK ||
        at_nvrtc_open(&nvrtc, 90, AT_IMAGE_CUBIN, NULL) != AT_OK)
        return 1;
    at_nvrtc_remember(nvrtc, 90, cache);
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

    if (!at_nvrtc_recall(&known, compute_capability, cache))
        return false;
    nvrtc = open_nvrtc(compute_capability);
    assert_memory_equal(&known, at_nvrtc_compiler(nvrtc), sizeof known);
    at_nvrtc_close(nvrtc);
    return true;
}

/* Make the loader look in a folder first. The rest of the path may have libraries of this
 * program. */
static void look_in(const char *folder, const char *usual)
{
    char *folders = at_format("%s:%s", folder, usual);

    setenv("LD_LIBRARY_PATH", folders, 1);
    free(folders);
}

/* Load it through a link in our own folder, which can be changed to another file. */
static void test_known_facts_belong_to_one_file(void **state)
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
    look_in(folder, usual);
    assert_false(is_known(cache, 90));
    start_put_known(folder);
    assert_true(is_known(cache, 90));
    assert_false(is_known(cache, 80));
    look_in("/elsewhere", usual);
    assert_false(is_known(cache, 90));
    look_in(folder, usual);
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
    read_shipped_families(state);
    render_defaults();
    return 0;
}

static void set_folder(const char *variable, const char *base, const char *name)
{
    char *folder = at_format("%s/%s", base, name);

    setenv(variable, folder, 1);
    at_free(folder);
}

/* No installation has the version that is wanted here, 99.1. */
static void test_headers_are_those_of_the_nvrtc(void **state)
{
    static const struct {
        struct {
            const char *folder;
            int version;
        } there[3];
        const char *library, *found, *libcuxx;
    } cases[] = {
        /* beside the library, in each layout, before CUDA_HOME */
        {{{"kit/include", 99010}, {"home/include", 99010}},
         "kit/lib64",
         "kit/lib64/../include",
         NULL},
        {{{"kit/targets/sbsa-linux/include", 99010}, {"home/include", 99010}},
         "kit/lib64",
         "kit/lib64/../targets/sbsa-linux/include",
         NULL},
        {{{"nvidia/cu99/include", 99010}, {"nvidia/cu99/include/cccl/cuda", 0}},
         "nvidia/cu99/lib",
         "nvidia/cu99/lib/../include",
         "nvidia/cu99/lib/../include/cccl"},
        {{{"nvidia/cuda_runtime/include", 99010}, {"nvidia/cuda_cccl/include/cuda", 0}},
         "nvidia/cuda_nvrtc/lib",
         "nvidia/cuda_nvrtc/lib/../../cuda_runtime/include",
         "nvidia/cuda_nvrtc/lib/../../cuda_runtime/include/../../cuda_cccl/include"},
        /* the variables, in their order */
        {{{"path/include", 99010}, {"home/include", 99010}}, "bare/lib", "home/include", NULL},
        {{{"path/targets/x86_64-linux/include", 99010}},
         "bare/lib",
         "path/targets/x86_64-linux/include",
         NULL},
        {{{"home/cuda_runtime/include", 99010}}, "bare/lib", "home/cuda_runtime/include", NULL},
        /* of another version, only if there are no right ones */
        {{{"kit/include", 98000}, {"home/include", 98000}, {"path/include", 99010}},
         "kit/lib",
         "path/include",
         NULL},
        {{{"kit/include", 98000}, {"home/include", 97000}}, "kit/lib", "kit/lib/../include", NULL},
    };
    const char *top = *state;

    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        char *base = at_format("%s/%zu", top, i), *nvrtc, *found, *libcuxx;

        for (size_t j = 0; j < AT_COUNT(cases[i].there) && cases[i].there[j].folder; j++) {
            char *folder = at_format("%s/%s", base, cases[i].there[j].folder);
            char *command = at_format("mkdir -p %s %s/%s && touch %s/cuda_fp16.h", folder, base,
                                      cases[i].library, folder);
            char *file = at_format("%s/cuda.h", folder);
            char *text = at_format("#define CUDA_VERSION %d\n", cases[i].there[j].version);

            assert_int_equal(system(command), 0);
            write_text(file, text);
            at_free(text);
            at_free(file);
            at_free(command);
            at_free(folder);
        }
        set_folder("CUDA_HOME", base, "home");
        set_folder("CUDA_PATH", base, "path");
        nvrtc = at_format("%s/%s/libnvrtc.so.99", base, cases[i].library);
        found = at_cuda_headers_find(nvrtc, 9901);
        libcuxx = at_cuda_headers_libcuxx(found);
        assert_string_equal(found + strlen(base) + 1, cases[i].found);
        if (cases[i].libcuxx)
            assert_string_equal(libcuxx + strlen(base) + 1, cases[i].libcuxx);
        else
            assert_null(libcuxx);
        at_free(libcuxx);
        at_free(found);
        at_free(nvrtc);
        at_free(base);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_is_the_same_in_any_program),
        cmocka_unit_test(test_known_facts_belong_to_one_file),
        cmocka_unit_test_setup_teardown(test_headers_are_those_of_the_nvrtc, make_folder,
                                        remove_folder),
    };

    if (argc == 2)
        return put_known(argv[1]);
    if (lacks_nvrtc())
        return SKIPPED;
    return cmocka_run_group_tests(tests, read_families, free_shipped_families);
}
