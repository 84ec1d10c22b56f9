/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how long a tensor takes to become a problem: its canonical form and the check that no
 * elements overlap; and how long the arguments of a packed kernel take.
 *
 *     tensor-times [SPEC]...
 *
 * Prints the mean time of each for ranks up to 24. */
#include "base/clock.h"
#include "base/memory.h"
#include "problem/arguments.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 1000 };

static void measure(const char *spec)
{
    struct at_launch packed = {
        .field = {[AT_BLOCK_X] = 256, [AT_SIDE_SRC] = 64, [AT_SIDE_DST] = 64}};
    uint64_t word[AT_CALL_WORDS];
    uint8_t words[AT_CALL_ARGS];
    struct at_problem problem;
    struct at_error err;
    int64_t started_ns = at_now_ns(), parsed_ns;
    enum at_status status = AT_OK;

    for (int i = 0; i < ROUNDS; i++)
        status = at_problem_parse(&problem, spec, &err);
    parsed_ns = at_now_ns();
    if (status == AT_OK) {
        packed.field[AT_WORD_BYTES] = problem.elem_size;
        for (int i = 0; i < ROUNDS; i++)
            at_problem_args(&problem, &packed, 0, 0, NULL, word, words);
    }
    printf("%-10.1f %-10.1f %s%s%s\n", (double)(parsed_ns - started_ns) / 1e3 / ROUNDS,
           (double)(at_now_ns() - parsed_ns) / 1e3 / ROUNDS, spec, status == AT_OK ? "" : ": ",
           status == AT_OK ? "" : err.message);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {
        "8192x8192:f32",
        "8x32x2048x128:f16,perm=0213",
        "15x32x15x15x15x32:f64,perm=543210",
        ("2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x64:f64,"
         "perm=23.22.21.20.19.18.17.16.15.14.13.12.11.10.9.8.7.6.5.4.3.2.1.0"),
        /* strides that do not nest */
        "2x2x2x2x2x2x2x2:f64,perm=76543210,strides_src=1009x1007x1003x997x991x983x977x971",
    };

    printf("form us    packed us  tensor\n");
    for (int i = 1; i < argc; i++)
        measure(argv[i]);
    for (size_t i = 0; argc == 1 && i < AT_COUNT(specs); i++)
        measure(specs[i]);
    return 0;
}
