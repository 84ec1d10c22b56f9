/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled kernels: a folder of images, each named by its hash; and index.json and index.h, which
 * give the image, the kernel and the launch of each problem. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "export/export.h"
#include "kernel/builder.h"
#include "kernel/render.h"
#include "profile/entry.h"
#include "schema/table.h"
#include "system/output.h"

#include <stdlib.h>

struct kernel_record {
    char *arch, *image, *kernel, *problem, *words;
    struct at_list block, grid, scale_bytes, word_counts; /* of int64_t */
    struct at_list align, past; /* of addresses of source and destination */
    int64_t carveout_percent, elem_size, groups, launches, registers, result_size, scratch_bytes,
        shared_bytes, takes_numbers, tier;
    bool guess;
};

struct index {
    char *device, *nvrtc;
    struct at_list kernels; /* of struct kernel_record */
    int64_t schema;
};

static const struct at_field kernel_fields[] = {
    AT_WRITTEN(kernel_record, align, AT_FIELD_INTS),
    AT_WRITTEN(kernel_record, arch, AT_FIELD_TEXT),
    AT_WRITTEN(kernel_record, block, AT_FIELD_INTS),
    AT_WRITTEN(kernel_record, carveout_percent, AT_FIELD_INT),
    AT_WRITTEN(kernel_record, elem_size, AT_FIELD_INT),
    AT_WRITTEN(kernel_record, grid, AT_FIELD_INTS),
    AT_WRITTEN(kernel_record, groups, AT_FIELD_INT),
    AT_WRITTEN(kernel_record, guess, AT_FIELD_FLAG),
    AT_WRITTEN(kernel_record, image, AT_FIELD_TEXT),
    AT_WRITTEN(kernel_record, kernel, AT_FIELD_TEXT),
    AT_WRITTEN(kernel_record, launches, AT_FIELD_INT),
    AT_WRITTEN(kernel_record, past, AT_FIELD_INTS),
    AT_WRITTEN(kernel_record, problem, AT_FIELD_TEXT),
    AT_WRITTEN(kernel_record, registers, AT_FIELD_INT),
    AT_WRITTEN(kernel_record, result_size, AT_FIELD_INT),
    AT_WRITTEN(kernel_record, scale_bytes, AT_FIELD_INTS),
    AT_WRITTEN(kernel_record, scratch_bytes, AT_FIELD_INT),
    AT_WRITTEN(kernel_record, shared_bytes, AT_FIELD_INT),
    AT_WRITTEN(kernel_record, takes_numbers, AT_FIELD_INT),
    AT_WRITTEN(kernel_record, tier, AT_FIELD_INT),
    AT_WRITTEN(kernel_record, word_counts, AT_FIELD_INTS),
    AT_WRITTEN(kernel_record, words, AT_FIELD_TEXT),
};
static const struct at_schema kernel_schema = AT_SCHEMA("a kernel", kernel_record, kernel_fields);
static const struct at_field index_fields[] = {
    AT_WRITTEN(index, device, AT_FIELD_TEXT),
    AT_WRITTEN(index, kernels, AT_FIELD_OBJECTS, .object = &kernel_schema),
    AT_WRITTEN(index, nvrtc, AT_FIELD_TEXT),
    AT_WRITTEN(index, schema, AT_FIELD_INT),
};
static const struct at_schema index_schema = AT_SCHEMA("an index", index, index_fields);

static enum at_status write_image(const char *folder, const char *name,
                                  const struct at_program *program, struct at_error *err)
{
    char *path = at_format("%s/%s", folder, name);
    enum at_status status = at_output_replace(path, program->image, program->size, err);

    free(path);
    return status;
}

static struct at_list sides_list(const int64_t of[AT_SIDES])
{
    return (struct at_list){at_memdup(of, AT_SIDES * sizeof *of), AT_SIDES};
}

static struct kernel_record record_of(const struct at_export_item *item, const char *image,
                                      const struct at_built *built)
{
    const int64_t *launch = item->answer.launch.field;
    const struct at_export_arguments arguments = at_export_arguments(item);

    char *guess = at_export_guess(item);
    const bool is_guess = guess != NULL;

    free(guess);
    return (struct kernel_record){
        .align = sides_list(item->align),
        .arch = at_format("sm_%d", (int)item->target->device.compute_capability),
        .image = at_strdup(image),
        .kernel = at_strdup(built->entry),
        .problem = at_strdup(item->spec),
        .block = at_extents_list(&launch[AT_BLOCK_X]),
        .grid = at_extents_list(&launch[AT_GRID_X]),
        .carveout_percent = launch[AT_CARVEOUT_PERCENT],
        .elem_size = item->problem.elem_size,
        .groups = at_export_groups(item),
        .guess = is_guess,
        .launches = launch[AT_LAUNCHES],
        .past = sides_list(item->offset),
        .registers = built->resources.registers,
        .result_size = at_problem_elem_size(&item->problem, AT_DESTINATION),
        .scale_bytes = at_export_scale_bytes(item),
        .scratch_bytes = at_export_scratch_bytes(item),
        .shared_bytes = launch[AT_SHARED_BYTES],
        .takes_numbers = at_export_takes_numbers(item),
        .tier = (int64_t)item->answer.tier + 1,
        .word_counts = at_export_word_counts(&arguments),
        .words = at_export_words(&arguments, " "),
    };
}

/* What is being written. */
struct folder {
    const struct at_export *export;
    const char *path, *header; /* the header that templates share */
    struct kernel_record *records;
    char *nvrtc; /* its version */
};

/* Do two items have one kernel for one target? */
static bool share_image(const struct at_export_item *a, const struct at_export_item *b)
{
    return a->kernel == b->kernel && a->target == b->target;
}

/* Wait for the next kernel, write its image, and fill the records of the items that use it. */
static enum at_status take_one(struct folder *folder, struct at_builder *builder,
                               struct at_error *err)
{
    const struct at_export *export = folder->export;
    struct at_built built;
    const struct at_export_item *first;
    char *image;
    enum at_status status = at_builder_wait(builder, &built, err);

    if (status != AT_OK)
        return status;
    first = built.owner;
    if (built.outcome != AT_CORRECT)
        return at_fail(err, AT_FAILED, "%s does not compile: %s", first->key, built.message);
    image = at_format("%s.%s", built.program->hash,
                      at_builder_compiler(builder)->ptx ? "ptx" : "cubin");
    status = write_image(folder->path, image, built.program, err);
    for (size_t i = 0; i < export->count && status == AT_OK; i++)
        if (share_image(&export->items[i], first))
            folder->records[i] = record_of(&export->items[i], image, &built);
    free(image);
    at_program_release(built.program);
    return status;
}

/* Write a file that the records describe. */
static enum at_status write_file(const struct folder *folder, const char *name,
                                 enum at_status (*write)(const struct folder *, FILE *,
                                                         struct at_error *),
                                 struct at_error *err)
{
    struct at_text_stream stream;
    char *path = at_format("%s/%s", folder->path, name);
    enum at_status written = write(folder, at_text_open(&stream), err);
    enum at_status status = at_output_replace_text(path, &stream, written, err);

    free(path);
    return status;
}

static enum at_status write_index(const struct folder *folder, FILE *out, struct at_error *err)
{
    struct index index = {.schema = 1};
    struct at_text_stream devices;
    enum at_status status;

    at_export_write_devices(folder->export, at_text_open(&devices));
    index.device = at_text_close(&devices, NULL);
    index.nvrtc = at_strdup(folder->nvrtc);
    index.kernels = (struct at_list){folder->records, folder->export->count};
    status = at_schema_write_json(&index_schema, &index, out, err);
    free(index.device);
    free(index.nvrtc);
    return status;
}

/* The table of the format header, with the image and kernel of each entry. */
static enum at_status write_table(const struct folder *folder, FILE *out, struct at_error *err)
{
    static const struct at_export_lines none[] = {{0}};

    (void)err;
    at_export_write_table(folder->export, out);
    at_export_write_text(folder->export,
                         "#ifndef @P_TUNED_IMAGES\n#define @P_TUNED_IMAGES\n"
                         "/* The file with the kernel of each entry, and the kernel's name. */\n"
                         "struct @p_tuned_image {\n    const char *file, *kernel;\n};\n\n"
                         "static const struct @p_tuned_image @p_tuned_images[@P_TUNED_COUNT] = {\n",
                         none, out);
    for (size_t i = 0; i < folder->export->count; i++)
        fprintf(out, "    {\"%s\", \"%s\"},\n", folder->records[i].image,
                folder->records[i].kernel);
    fputs("};\n#endif\n", out);
    return AT_OK;
}

/* Add each kernel of a target once. */
static void add_kernels(const struct at_export *export, const struct at_target *target,
                        struct at_builder *builder)
{
    for (size_t i = 0; i < export->count; i++) {
        struct at_export_item *item = &export->items[i];
        size_t first = item->kernel;

        while (!share_image(&export->items[first], item))
            first++;
        if (first == i && item->target == target)
            at_builder_add(builder, &item->answer.config, at_problem_kind(&item->problem), item);
    }
}

/* One worker and no cache, so that the same export always puts the same kernels into an image. */
static enum at_status write_target(struct folder *folder, const struct at_target *target,
                                   struct at_error *err)
{
    const struct at_builder_options options = {.compute_capability =
                                                   target->device.compute_capability,
                                               .image = AT_IMAGE_CUBIN,
                                               .workers = 1,
                                               .header = folder->header};
    struct at_progress *progress = folder->export->progress;
    struct at_builder *builder;
    size_t total;
    enum at_status status = at_builder_open(&builder, &options, NULL, 0, err);

    if (status != AT_OK)
        return status;
    add_kernels(folder->export, target, builder);
    total = at_builder_pending(builder);
    for (size_t done = 0; done < total && status == AT_OK; done++) {
        at_progress_step(progress, "kernels", done, total);
        status = take_one(folder, builder, err);
    }
    at_progress_clear(progress);
    if (!folder->nvrtc)
        folder->nvrtc = at_strdup(at_builder_compiler(builder)->version);
    at_builder_close(builder);
    return status;
}

static enum at_status write_folder(const struct at_export *export, const char *path,
                                   struct at_error *err)
{
    struct folder folder = {.export = export, .path = path};
    char *header;
    enum at_status status = at_template_header_read(&header, err);

    if (status != AT_OK)
        return status;
    folder.header = header;
    folder.records = at_alloc_array(export->count, sizeof *folder.records);
    for (size_t i = 0; i < export->target_count && status == AT_OK; i++)
        status = write_target(&folder, &export->targets[i], err);
    if (status == AT_OK)
        status = write_file(&folder, "index.json", write_index, err);
    if (status == AT_OK)
        status = write_file(&folder, "index.h", write_table, err);
    at_schema_clear_records(&kernel_schema, folder.records, export->count);
    free(folder.nvrtc);
    free(header);
    return status;
}

const struct at_export_format at_export_cubin = {
    .name = "cubin",
    .summary =
        "a folder of compiled kernels with an index.json. For each problem the index names the "
        "image, the kernel in it, its launch, and its arguments. index.h has the same as a table "
        "of C, "
        "which extends that of header. Needs NVRTC.",
    .has_names = true,
    .write_folder = write_folder,
};
