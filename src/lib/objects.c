/* SPDX-License-Identifier: Apache-2.0 */
/* The device that a caller names or describes by numbers. */
#include "lib/objects.h"

#include "base/memory.h"
#include "device/schema.h"
#include "emulated/time/description.h"
#include "lib/context.h"

#include <string.h>

/* ---- numbers ---- */

/* The first number is the size of the first version. It never changes. */
static const struct autotune_layout layout = {"autotune_device_numbers",
                                              offsetof(autotune_device_numbers, struct_size), 104,
                                              sizeof(autotune_device_numbers), true};

/* Members, which at_device_schema has too, with bounds. */
#define NUMBER(member, has_default)                                                                \
    {                                                                                              \
#member, offsetof(autotune_device_numbers, member), has_default                            \
    }
static const struct number {
    const char *name;
    size_t offset;    /* in autotune_device_numbers */
    bool has_default; /* the compute capability's */
} members[] = {
    NUMBER(compute_capability, false),
    NUMBER(multiprocessors, false),
    NUMBER(memory_bytes, false),
    NUMBER(l2_bytes, false),
    NUMBER(warp_size, true),
    NUMBER(max_threads_per_block, true),
    NUMBER(max_threads_per_multiprocessor, true),
    NUMBER(registers_per_multiprocessor, true),
    NUMBER(shared_bytes_per_block, true),
    NUMBER(shared_bytes_per_block_optin, true),
    NUMBER(shared_bytes_per_multiprocessor, true),
};

static const struct at_field *field_of(const struct number *member)
{
    const struct at_field *field = at_device_schema.fields;

    while (strcmp(field->key, member->name) != 0)
        field++;
    return field;
}

/* `usual` has the defaults; NULL: none are known. */
static enum at_status take_number(struct at_device_info *info, const struct number *member,
                                  const autotune_device_numbers *given,
                                  const struct at_device_info *usual, struct at_error *err)
{
    const struct at_field *field = field_of(member);
    int64_t value = *(const int64_t *)((const char *)given + member->offset);
    int64_t least = field->min > 1 ? field->min : 1; /* files may leave some numbers out */
    bool wants_default = value == 0 && member->has_default;

    if (wants_default && usual)
        value = *(const int64_t *)((const char *)usual + field->offset);
    if (value < least || value > field->max)
        return at_fail(err, AT_USAGE, "%s is %lld, and has to be %lld to %lld%s", member->name,
                       (long long)value, (long long)least, (long long)field->max,
                       wants_default ? ": no described device has this compute capability" : "");
    *(int64_t *)((char *)info + field->offset) = value;
    return AT_OK;
}

static enum at_status take_name(struct at_device_info *info, const char *name, struct at_error *err)
{
    size_t length = name ? strnlen(name, sizeof info->name) : 0;

    if (length == 0 || length == sizeof info->name || !at_text_is_printable(name, length))
        return at_fail(err, AT_USAGE, "name has to be printable, in 1 to %zu bytes",
                       sizeof info->name - 1);
    memcpy(info->name, name, length);
    return AT_OK;
}

static enum at_status take_numbers(struct at_device_info *info,
                                   const autotune_device_numbers *numbers, struct at_error *err)
{
    autotune_device_numbers given;
    struct at_device_info usual, taken = {.kind = "cuda"};
    bool found = false;
    enum at_status status = autotune_take_struct(&layout, &given, numbers, err);

    if (status == AT_OK)
        status = take_name(&taken, given.name, err);
    if (status == AT_OK)
        status = at_description_of_architecture(&usual, &found, given.compute_capability, err);
    for (size_t i = 0; i < AT_COUNT(members) && status == AT_OK; i++)
        status = take_number(&taken, &members[i], &given, found ? &usual : NULL, err);
    if (status == AT_OK)
        *info = taken;
    return status;
}

/* ---- devices ---- */

/* Without name and numbers, the current device. */
struct asking {
    const char *name; /* of a description */
    const autotune_device_numbers *numbers;
    autotune_device *found;
};

static enum at_status find_device(void *data, struct at_error *err)
{
    struct asking *asking = data;
    struct at_device_info info;
    enum at_status status = asking->numbers ? take_numbers(&info, asking->numbers, err)
                            : asking->name  ? at_description_by_any_name(&info, asking->name, err)
                                            : autotune_find_current(&info, NULL, err);

    if (status == AT_OK)
        asking->found = at_memdup(&info, sizeof info);
    return status;
}

static autotune_status ask(autotune_device **device, struct asking asking, autotune_error **error)
{
    autotune_status status = autotune_call(find_device, &asking, error);

    if (status == AUTOTUNE_OK)
        *device = asking.found;
    return status;
}

autotune_status autotune_device_current(autotune_device **device, autotune_error **error)
{
    return device ? ask(device, (struct asking){0}, error) : autotune_fail_null(error, "device");
}

autotune_status autotune_device_described(autotune_device **device, const char *name,
                                          autotune_error **error)
{
    if (!device || !name)
        return autotune_fail_null(error, device ? "name" : "device");
    return ask(device, (struct asking){.name = name}, error);
}

autotune_status autotune_device_make(autotune_device **device,
                                     const autotune_device_numbers *numbers, autotune_error **error)
{
    if (!device || !numbers)
        return autotune_fail_null(error, device ? "numbers" : "device");
    return ask(device, (struct asking){.numbers = numbers}, error);
}

const char *autotune_device_name(const autotune_device *device)
{
    return device ? device->info.name : NULL;
}

void autotune_device_free(autotune_device *device)
{
    at_free(device);
}
