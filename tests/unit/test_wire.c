/* SPDX-License-Identifier: Apache-2.0 */
/* src/worker: messages with wrong lengths, and frames that arrive in pieces or not at all. */
#include "base/clock.h"
#include "base/memory.h"
#include "worker/worker.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- wire ---- */

struct plain {
    int32_t number;
    char text[12];
};

static const struct plain record = {-7, "plain"};

/* A message with a value of every kind. */
static void put_all(struct at_wire *wire)
{
    at_wire_put_int(wire, INT64_MIN);
    at_wire_put_int(wire, INT64_MAX);
    at_wire_put_real(wire, -0.0);
    at_wire_put_real(wire, INFINITY);
    at_wire_put_bytes(wire, "a\0b", 3);
    at_wire_put_bytes(wire, NULL, 0);
    at_wire_put_text(wire, "text");
    at_wire_put_bytes(wire, &record, sizeof record);
    at_wire_put_int(wire, 2);
    at_wire_put_int(wire, 10);
    at_wire_put_int(wire, 20);
}

static void test_wire_round_trip(void **state)
{
    struct at_wire wire = {0};
    struct plain got;
    char text[8];
    const void *bytes;
    size_t size;
    double zero;

    (void)state;
    put_all(&wire);
    assert_true(at_wire_get_int(&wire) == INT64_MIN);
    assert_true(at_wire_get_int(&wire) == INT64_MAX);
    zero = at_wire_get_real(&wire);
    assert_true(zero == 0 && signbit(zero));
    assert_true(at_wire_get_real(&wire) == INFINITY);
    bytes = at_wire_get_bytes(&wire, &size);
    assert_int_equal(size, 3);
    assert_memory_equal(bytes, "a\0b", 3);
    at_wire_get_bytes(&wire, &size);
    assert_int_equal(size, 0);
    at_wire_get_text(&wire, text, sizeof text);
    assert_string_equal(text, "text");
    at_wire_get_struct(&wire, &got, sizeof got);
    assert_memory_equal(&got, &record, sizeof got);
    assert_int_equal(at_wire_get_count(&wire, sizeof(int64_t)), 2);
    assert_int_equal(at_wire_get_int(&wire), 10);
    assert_false(at_wire_done(&wire)); /* one value is left */
    assert_int_equal(at_wire_get_int(&wire), 20);
    assert_true(at_wire_done(&wire));
    at_wire_clear(&wire);
    assert_null(wire.bytes);
    assert_int_equal(wire.size, 0);
}

/* A message of exactly these bytes, so that a sanitizer sees a read past its end. */
static struct at_wire wire_of(const void *bytes, size_t size)
{
    return (struct at_wire){.bytes = at_memdup(bytes, size), .size = size, .capacity = size};
}

static void test_wire_truncated(void **state)
{
    struct at_wire whole = {0};

    (void)state;
    put_all(&whole);
    for (size_t cut = 0; cut < whole.size; cut++) {
        struct at_wire wire = wire_of(whole.bytes, cut);
        struct plain got;
        char text[8];
        size_t size;

        for (int i = 0; i < 2; i++)
            at_wire_get_int(&wire);
        for (int i = 0; i < 2; i++)
            at_wire_get_real(&wire);
        for (int i = 0; i < 2; i++)
            at_wire_get_bytes(&wire, &size);
        at_wire_get_text(&wire, text, sizeof text);
        at_wire_get_struct(&wire, &got, sizeof got);
        at_wire_get_count(&wire, sizeof(int64_t));
        for (int i = 0; i < 2; i++)
            at_wire_get_int(&wire);
        assert_true(wire.bad);
        assert_false(at_wire_done(&wire));
        at_wire_clear(&wire);
    }
    at_wire_clear(&whole);
}

/* A number that lacks at least one byte. */
static void test_wire_part_of_a_number(void **state)
{
    (void)state;
    for (size_t size = 0; size < sizeof(int64_t); size++) {
        struct at_wire ints = wire_of("\xff\xff\xff\xff\xff\xff\xff", size);
        struct at_wire reals = wire_of("\xff\xff\xff\xff\xff\xff\xff", size);

        assert_int_equal(at_wire_get_int(&ints), 0);
        assert_true(ints.bad);
        assert_true(at_wire_get_real(&reals) == 0);
        assert_true(reals.bad);
        at_wire_clear(&ints);
        at_wire_clear(&reals);
    }
}

/* A length that exceeds the seven bytes that are left. */
static void test_wire_lengths(void **state)
{
    static const int64_t lengths[] = {-1, INT64_MIN, INT64_MAX, 8, INT64_C(1) << 32};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(lengths); i++)
        for (int kind = 0; kind < 3; kind++) {
            unsigned char message[sizeof(int64_t) + 7] = {0};
            struct plain got = record, zero = {0};
            char text[16] = "before";
            struct at_wire wire;
            size_t size = 99;

            memcpy(message, &lengths[i], sizeof lengths[i]);
            wire = wire_of(message, sizeof message);
            if (kind == 0) {
                assert_null(at_wire_get_bytes(&wire, &size));
                assert_int_equal(size, 0);
            } else if (kind == 1) {
                at_wire_get_text(&wire, text, sizeof text);
                assert_string_equal(text, "");
            } else {
                at_wire_get_struct(&wire, &got, sizeof got);
                assert_memory_equal(&got, &zero, sizeof got);
            }
            assert_true(wire.bad);
            at_wire_clear(&wire);
        }
}

static void test_wire_counts(void **state)
{
    static const struct {
        int64_t count;
        size_t item_size, expected;
        bool bad;
    } cases[] = {
        {0, 8, 0, false},         {2, 8, 2, false},  {3, 8, 0, true},
        {16, 1, 16, false},       {17, 1, 0, true},  {1, 17, 0, true},
        {-1, 8, 0, true},         {-1, 1, 0, true},  {INT64_MIN, 8, 0, true},
        {INT64_MAX, 8, 0, true},  {0, 17, 0, false}, {INT64_C(1) << 61, 8, 0, true},
        {INT64_MAX, 16, 0, true},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_wire wire = {0};

        at_wire_put_int(&wire, cases[i].count);
        at_wire_put_int(&wire, 0);
        at_wire_put_int(&wire, 0);
        assert_int_equal(at_wire_get_count(&wire, cases[i].item_size), cases[i].expected);
        assert_int_equal(wire.bad, cases[i].bad);
        at_wire_clear(&wire);
    }
}

static void test_wire_struct_size(void **state)
{
    struct plain zero = {0};

    (void)state;
    for (size_t size = 0; size <= sizeof zero + 1; size++) {
        char bytes[sizeof zero + 1];
        struct plain got = record;
        struct at_wire wire = {0};

        memset(bytes, 'x', sizeof bytes);
        at_wire_put_bytes(&wire, bytes, size);
        at_wire_get_struct(&wire, &got, sizeof got);
        assert_int_equal(wire.bad, size != sizeof got);
        if (wire.bad)
            assert_memory_equal(&got, &zero, sizeof got);
        at_wire_clear(&wire);
    }
}

static void test_wire_text_is_cut(void **state)
{
    struct at_wire wire = {0};
    char text[4], one[1] = {'x'};

    (void)state;
    at_wire_put_text(&wire, "12345");
    at_wire_put_text(&wire, "123");
    at_wire_put_text(&wire, "1");
    at_wire_get_text(&wire, text, sizeof text);
    assert_string_equal(text, "123");
    at_wire_get_text(&wire, text, sizeof text);
    assert_string_equal(text, "123");
    at_wire_get_text(&wire, one, sizeof one);
    assert_int_equal(one[0], '\0');
    assert_true(at_wire_done(&wire));
    at_wire_clear(&wire);
}

/* After a bad read all further reads are bad. */
static void test_wire_stays_bad(void **state)
{
    struct at_wire wire = {0};
    size_t size;

    (void)state;
    at_wire_put_int(&wire, -1);
    at_wire_put_int(&wire, 42);
    at_wire_get_bytes(&wire, &size);
    assert_true(wire.bad);
    assert_int_equal(at_wire_get_int(&wire), 0);
    assert_true(at_wire_get_real(&wire) == 0);
    assert_int_equal(at_wire_get_count(&wire, 1), 0);
    assert_false(at_wire_done(&wire));
    at_wire_clear(&wire);
}

/* ---- frames ---- */

struct ends {
    int near, far;
};

static struct ends connect_pair(void)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    return (struct ends){ends[0], ends[1]};
}

static void close_pair(struct ends ends)
{
    close(ends.near);
    if (ends.far >= 0)
        close(ends.far);
}

static const char body[] = "the body of a frame";
enum { TYPE = 77, FRAME_MAX = 256 };

/* Fill in the bytes of a frame with this body, as they are sent. Returns their count. */
static size_t encode(char bytes[FRAME_MAX])
{
    struct ends ends = connect_pair();
    struct at_wire message = wire_of(body, sizeof body);
    ssize_t size;

    assert_int_equal(at_frame_send(ends.near, TYPE, &message), AT_FRAME_OK);
    size = recv(ends.far, bytes, FRAME_MAX, 0);
    assert_true(size > (ssize_t)sizeof body && size < FRAME_MAX);
    at_wire_clear(&message);
    close_pair(ends);
    return (size_t)size;
}

/* Receive the bytes sent so far. If they are no whole frame, nothing may have been set. */
static enum at_frame_result receive(int fd, int64_t deadline_ns)
{
    struct at_wire message = {0};
    int32_t type = -1;
    enum at_frame_result result = at_frame_receive(fd, &type, &message, deadline_ns);

    if (result == AT_FRAME_OK) {
        assert_int_equal(type, TYPE);
        assert_int_equal(message.size, sizeof body);
        assert_memory_equal(message.bytes, body, sizeof body);
    } else {
        assert_int_equal(type, -1);
        assert_null(message.bytes);
        assert_int_equal(message.size, 0);
    }
    at_wire_clear(&message);
    return result;
}

static const int64_t soon_ns = 10000000;
static const int64_t long_ns = INT64_C(60000000000); /* reached only if a test fails */

static void test_frame_cut(void **state)
{
    char bytes[FRAME_MAX];
    size_t size = encode(bytes);

    (void)state;
    for (size_t sent = 0; sent <= size; sent++) {
        struct ends ends = connect_pair();

        if (sent > 0)
            assert_int_equal(send(ends.far, bytes, sent, 0), sent);
        close(ends.far);
        ends.far = -1;
        assert_int_equal(receive(ends.near, at_now_ns() + long_ns),
                         sent == size ? AT_FRAME_OK : AT_FRAME_CLOSED);
        close_pair(ends);
    }
}

static void test_frame_deadline(void **state)
{
    char bytes[FRAME_MAX];
    size_t size = encode(bytes);
    const size_t sent[] = {0, 1, size - sizeof body, size - 1, size};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(sent); i++) {
        struct ends ends = connect_pair();

        if (sent[i] > 0)
            assert_int_equal(send(ends.far, bytes, sent[i], 0), sent[i]);
        assert_int_equal(receive(ends.near, at_now_ns() + soon_ns),
                         sent[i] == size ? AT_FRAME_OK : AT_FRAME_TIMEOUT);
        close_pair(ends);
    }
}

/* Run work(argument) in another process, which exits with its return value. */
static pid_t start_process(int (*work)(void *), void *argument)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(work(argument));
    return pid;
}

static void assert_process_ended_well(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

struct drip {
    int fd;
    const char *bytes;
    size_t size;
};

static int send_byte_by_byte(void *argument)
{
    struct drip *drip = argument;

    for (size_t i = 0; i < drip->size; i++)
        if (send(drip->fd, drip->bytes + i, 1, MSG_NOSIGNAL) != 1)
            return 1;
    return 0;
}

static void test_frame_in_pieces(void **state)
{
    char bytes[FRAME_MAX];
    struct ends ends = connect_pair();
    struct drip drip = {ends.far, bytes, encode(bytes)};
    pid_t pid = start_process(send_byte_by_byte, &drip);

    (void)state;
    assert_int_equal(receive(ends.near, at_now_ns() + long_ns), AT_FRAME_OK);
    assert_process_ended_well(pid);
    close_pair(ends);
}

enum { LARGE = 3 << 20 }; /* more than a socket's buffer holds */

static int send_large(void *argument)
{
    struct at_wire message = {.bytes = at_alloc(LARGE), .size = LARGE, .capacity = LARGE};

    for (size_t i = 0; i < LARGE; i++)
        message.bytes[i] = (unsigned char)(i % 251);
    return at_frame_send(*(int *)argument, TYPE, &message) != AT_FRAME_OK;
}

static void test_frame_large(void **state)
{
    struct ends ends = connect_pair();
    struct at_wire message = {0};
    pid_t pid = start_process(send_large, &ends.far);
    int32_t type;

    (void)state;
    assert_int_equal(at_frame_receive(ends.near, &type, &message, at_now_ns() + long_ns),
                     AT_FRAME_OK);
    assert_int_equal(message.size, LARGE);
    for (size_t i = 0; i < LARGE; i++)
        if (message.bytes[i] != i % 251)
            fail_msg("byte %zu is %d", i, message.bytes[i]);
    at_wire_clear(&message);
    assert_process_ended_well(pid);
    close_pair(ends);
}

static void test_frame_without_body(void **state)
{
    struct ends ends = connect_pair();
    struct at_wire none = {0}, message = {0};
    int32_t type = 0;

    (void)state;
    assert_int_equal(at_frame_send(ends.far, -5, &none), AT_FRAME_OK);
    assert_int_equal(at_frame_receive(ends.near, &type, &message, 0), AT_FRAME_OK);
    assert_int_equal(type, -5);
    assert_int_equal(message.size, 0);
    assert_true(at_wire_done(&message));
    at_wire_clear(&message);
    close_pair(ends);
}

/* A header with a wrong magic number, or with a body larger than any frame. */
static void test_frame_bad(void **state)
{
    static const struct {
        size_t offset; /* of eight bytes to be set to value, or of four to be inverted */
        uint64_t size;
    } cases[] = {
        {0, 0},
        {8, AT_FRAME_BYTES_MAX + UINT64_C(1)},
        {8, UINT64_C(1) << 40},
        {8, UINT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct ends ends = connect_pair();
        char bytes[FRAME_MAX];
        size_t size = encode(bytes);

        if (cases[i].offset == 0)
            for (int j = 0; j < 4; j++)
                bytes[j] = (char)~bytes[j];
        else
            memcpy(bytes + cases[i].offset, &cases[i].size, sizeof cases[i].size);
        assert_int_equal(send(ends.far, bytes, size, 0), size);
        assert_int_equal(receive(ends.near, at_now_ns() + long_ns), AT_FRAME_BAD);
        close_pair(ends);
    }
}

/* There must be no SIGPIPE: it would end this program. */
static void test_frame_without_reader(void **state)
{
    struct ends ends = connect_pair();
    struct at_wire message = wire_of(body, sizeof body);

    (void)state;
    close(ends.far);
    ends.far = -1;
    assert_int_equal(at_frame_send(ends.near, TYPE, &message), AT_FRAME_CLOSED);
    at_wire_clear(&message);
    close_pair(ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wire_round_trip),
        cmocka_unit_test(test_wire_truncated),
        cmocka_unit_test(test_wire_part_of_a_number),
        cmocka_unit_test(test_wire_lengths),
        cmocka_unit_test(test_wire_counts),
        cmocka_unit_test(test_wire_struct_size),
        cmocka_unit_test(test_wire_text_is_cut),
        cmocka_unit_test(test_wire_stays_bad),
        cmocka_unit_test(test_frame_cut),
        cmocka_unit_test(test_frame_deadline),
        cmocka_unit_test(test_frame_in_pieces),
        cmocka_unit_test(test_frame_large),
        cmocka_unit_test(test_frame_without_body),
        cmocka_unit_test(test_frame_bad),
        cmocka_unit_test(test_frame_without_reader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
