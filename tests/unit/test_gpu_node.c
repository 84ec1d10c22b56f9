/* SPDX-License-Identifier: Apache-2.0 */
/* src/device/gpu_node: the special file of a GPU on machines of several kinds. Plain files stand in
 * for special ones. */
#include "base/memory.h"
#include "device/gpu_node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Shell commands make the machine, in its root folder. NULL: the file cannot be found. */
static const struct {
    const char *commands, *node;
} machines[] = {
    {"mkdir -p dev proc/driver/nvidia/gpus/0000:0f:00.0;"
     "touch dev/nvidia0 dev/nvidia1 dev/nvidiactl;"
     "printf 'Model: X\\nDevice Minor: \\t 1\\n' >proc/driver/nvidia/gpus/0000:0f:00.0/information",
     "/dev/nvidia1"},
    {"mkdir dev; touch dev/nvidia3 dev/nvidiactl dev/nvidia-uvm", "/dev/nvidia3"},
    {"mkdir dev; touch dev/dxg", "/dev/dxg"},
    {"mkdir dev; touch dev/nvidia0 dev/nvidia1", NULL},
    {"mkdir -p dev proc/driver/nvidia/gpus/0000:0f:00.0; touch dev/nvidia2;"
     "echo 'Device Minor: none' >proc/driver/nvidia/gpus/0000:0f:00.0/information",
     "/dev/nvidia2"},
    {"true", NULL},
};

static void test_machines(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(machines); i++) {
        char root[] = "/tmp/autotune-test-node-XXXXXX";
        char *make, *remove, *expected, *path = NULL;
        struct at_error err;
        enum at_status status;

        assert_non_null(mkdtemp(root));
        make = at_format("cd %s && { %s; }", root, machines[i].commands);
        remove = at_format("rm -r %s", root);
        expected = at_format("%s%s", root, machines[i].node ? machines[i].node : "");
        assert_int_equal(system(make), 0);
        status = at_gpu_node(&path, root, "0000:0f:00.0", &err);
        assert_int_equal(system(remove), 0);
        assert_int_equal(status, machines[i].node ? AT_OK : AT_DEVICE);
        if (machines[i].node)
            assert_string_equal(path, expected);
        else
            assert_null(path);
        free(path);
        free(make);
        free(remove);
        free(expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_machines)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
