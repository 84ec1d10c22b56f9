/* SPDX-License-Identifier: Apache-2.0 */
/* What lookup's networks are told of the configs of a table of times, for train-slowdown.
 *
 *     slowdown-inputs TUNING TEMPLATES DEVICE <PAIRS >INPUTS
 *
 * A line of PAIRS is a problem, a tab and a config; INPUTS has AT_IN_OWN floats for each, NAN if
 * the config is not legal. The device is a name in tuning/devices. */
#include "emulated/time/description.h"
#include "lookup/predict.h"
#include "space/named.h"
#include "space/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_CHARS = 8192, OPERANDS = 3 };

struct reading {
    struct at_family **families;
    size_t family_count;
    struct at_slowdown *slowdown;
    struct at_device_info device;
};

static enum at_status fill(const struct reading *reading, const char *problem_text,
                           const char *config_text, float inputs[AT_IN_OWN], struct at_error *err)
{
    struct at_problem problem;
    struct at_config config;
    struct at_launch launch;
    enum at_status status = at_problem_parse(&problem, problem_text, err);

    if (status == AT_OK)
        status =
            at_config_parse(&config, reading->families, reading->family_count, config_text, err);
    if (status == AT_OK)
        status = at_config_require(&config, &problem, &reading->device, NULL, err);
    if (status == AT_OK)
        status = at_config_launch(&config, &problem, &reading->device, &launch, err);
    if (status == AT_OK) {
        struct at_slowdown_asked asked =
            at_slowdown_ask(reading->slowdown, &problem, &reading->device);

        at_slowdown_own_inputs(&asked, &config, &launch, inputs);
    }
    return status;
}

static enum at_status read_all(struct reading *reading, char **arguments, struct at_error *err)
{
    enum at_status status = at_families_read(&reading->families, &reading->family_count,
                                             arguments[0], arguments[1], err);

    if (status == AT_OK)
        status = at_description_read(&reading->device, NULL, arguments[2], err);
    return status == AT_OK
               ? at_slowdown_open(&reading->slowdown, reading->families, reading->family_count, err)
               : status;
}

static void write_inputs(const struct reading *reading, char *line)
{
    float inputs[AT_IN_OWN];
    char *tab = strchr(line, '\t');
    struct at_error err;

    line[strcspn(line, "\n")] = '\0';
    if (tab)
        *tab = '\0';
    if (!tab || fill(reading, line, tab + 1, inputs, &err) != AT_OK)
        for (int i = 0; i < AT_IN_OWN; i++)
            inputs[i] = NAN;
    fwrite(inputs, sizeof *inputs, AT_IN_OWN, stdout);
}

int main(int argc, char **argv)
{
    static char line[LINE_MAX_CHARS];
    struct reading reading = {0};
    struct at_error err = {AT_OK, "give TUNING, TEMPLATES and DEVICE"};

    if (argc != 1 + OPERANDS || read_all(&reading, argv + 1, &err) != AT_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    while (fgets(line, sizeof line, stdin))
        write_inputs(&reading, line);
    at_slowdown_close(reading.slowdown);
    for (size_t i = 0; i < reading.family_count; i++)
        at_family_free(reading.families[i]);
    free(reading.families);
    return 0;
}
