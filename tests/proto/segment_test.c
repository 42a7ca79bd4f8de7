#include "holter/segment.h"

#include "holter/error.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct segment_shape default_shape = {
    .rings = SEGMENT_RINGS,
    .comms = SEGMENT_COMMS,
    .regions = SEGMENT_REGIONS,
    .carts = SEGMENT_CARTS,
    .first_capacity = SEGMENT_FIRST_CAPACITY,
    .early_capacity = SEGMENT_EARLY_CAPACITY,
    .late_capacity = SEGMENT_LATE_CAPACITY,
};
static const struct segment_shape small_shape = {.rings = 2,
                                                 .comms = 4,
                                                 .regions = 4,
                                                 .carts = 4,
                                                 .first_capacity = 16,
                                                 .early_capacity = 8,
                                                 .late_capacity = 4};

static void own_name(char name[128])
{
    assert_int_equal(segment_name(name, 128, (uint32_t)getuid(), "5e97e57", (int32_t)getpid()), 0);
}

static struct segment *make(const struct segment_shape *shape)
{
    char name[128];
    own_name(name);
    struct segment *segment = NULL;
    assert_int_equal(segment_create(&segment, name, shape), 0);
    segment->pid = (int32_t)getpid();
    segment->pid_start = process_start_time((int32_t)getpid());
    return segment;
}

static void discard(struct segment *segment)
{
    char name[128];
    own_name(name);
    segment_unmap(segment, (size_t)segment->bytes);
    assert_int_equal(shm_unlink(name), 0);
}

static int reopen(struct segment **out, size_t *bytes)
{
    char name[128];
    own_name(name);
    return segment_open(out, bytes, name, 0);
}

static uint64_t reserved_bytes(void)
{
    char name[128], path[160];
    struct stat st;
    own_name(name);
    snprintf(path, sizeof(path), "/dev/shm%s", name);
    assert_int_equal(stat(path, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

/* What a thread needs is reserved when it claims its ring, so that no later store can fault. */
static void memory_of_a_rank_grows_with_its_threads(void **state)
{
    (void)state;
    char name[128];
    own_name(name);
    struct segment *segment = make(&default_shape);
    assert_in_range(reserved_bytes(), 5u << 18, 5u << 19); /* 2.5 MiB */
    assert_int_equal(segment_reserve_ring(segment, name, 1), 0);
    assert_in_range(reserved_bytes(), (5u << 19) + (1u << 17), (5u << 19) + 325 * 1024);
    const struct event *first =
        (const void *)((const char *)segment + segment_ring(segment, 1)->offset);
    assert_true(first->seq == UINT64_MAX);
    uint64_t before = reserved_bytes();
    assert_int_equal(segment_reserve_ring(segment, name, default_shape.rings - 1), 0);
    assert_in_range(reserved_bytes(), before + 96 * 1024, before + 104 * 1024);
    discard(segment);
}

static void a_reader_waits_for_the_header_and_then_sees_the_tables(void **state)
{
    (void)state;
    struct segment *segment = make(&small_shape), *seen = NULL;
    size_t bytes = 0;
    assert_int_equal(reopen(&seen, &bytes), -HOLTER_EEMPTY);
    assert_null(seen);
    atomic_store(&segment->state, SEGMENT_RUNNING);
    assert_int_equal(reopen(&seen, &bytes), 0);
    assert_int_equal(bytes, segment_bytes(&small_shape));
    assert_int_equal(atomic_load(&seen->rank), -1);
    assert_int_equal(segment_ring(seen, 0)->capacity, 16);
    assert_int_equal(segment_ring(seen, 1)->capacity, 8);
    segment_region(segment, 3)->name[0] = 'x';
    assert_int_equal(segment_region(seen, 3)->name[0], 'x');
    segment_comm(segment, 3)->id = 99;
    assert_int_equal(segment_comm(seen, 3)->id, 99);
    segment_cart(segment, 3)->sizes[7] = 98;
    assert_int_equal(segment_cart(seen, 3)->sizes[7], 98);
    /* The last row of the last tally is the end of the mapping. */
    const struct ring_control *last = segment_ring(seen, 1);
    assert_int_equal(last->tally_offset, last->offset + 8 * sizeof(struct event));
    assert_int_equal(last->tally_offset + last->tally_capacity * sizeof(struct tally_row), bytes);
    segment_unmap(seen, bytes);
    discard(segment);
}

static void it_is_for_its_user_alone_and_not_made_twice(void **state)
{
    (void)state;
    struct segment *segment = make(&small_shape), *second = NULL;
    char name[128], path[160];
    own_name(name);
    snprintf(path, sizeof(path), "/dev/shm%s", name);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(segment_create(&second, name, &small_shape), -EEXIST);
    assert_null(second);
    discard(segment);
    size_t bytes;
    assert_int_equal(segment_open(&second, &bytes, name, 0), -ENOENT);
}

static void lack_of_space_leaves_nothing_behind(void **state)
{
    (void)state;
    struct segment_shape huge = small_shape;
    huge.rings = 4096;
    huge.late_capacity = 1u << 31; /* half a petabyte */
    char name[128];
    own_name(name);
    struct segment *segment = NULL;
    int error = segment_create(&segment, name, &huge);
    assert_true(error == -ENOSPC || error == -EFBIG || error == -ENOMEM);
    assert_int_equal(shm_unlink(name), -1);
    assert_int_equal(errno, ENOENT);
}

/* Beyond its limit the signal would end the application. */
static void a_file_size_limit_ends_nobody(void **state)
{
    struct rlimit before, limit;
    struct segment *segment = NULL;
    char name[128];
    (void)state;
    own_name(name);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = segment_bytes(&small_shape) - 1;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(segment_create(&segment, name, &small_shape), -EFBIG);
    limit.rlim_cur++;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    segment = make(&small_shape);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    discard(segment);
}

static void impossible_shapes_are_refused(void **state)
{
    (void)state;
    char name[128];
    own_name(name);
    struct segment *segment = NULL;
    struct segment_shape shape = small_shape;
    shape.first_capacity = 15;
    assert_int_equal(segment_create(&segment, name, &shape), -EINVAL);
    shape = small_shape;
    shape.rings = 0;
    assert_int_equal(segment_create(&segment, name, &shape), -EINVAL);
    shape = small_shape;
    shape.comms = 65535; /* would collide with COMM_SLOT_* */
    assert_int_equal(segment_create(&segment, name, &shape), -EINVAL);
}

/* Each 8-byte word of header and ring table is set to values that would lead astray. Whatever the
 * result, nothing outside the mapping may be touched (run under AddressSanitizer), and what is
 * accepted must fit. */
static void a_damaged_header_never_leads_outside(void **state)
{
    (void)state;
    struct segment *segment = make(&small_shape);
    atomic_store(&segment->state, SEGMENT_RUNNING);
    static const uint64_t bad[] = {
        0, 1, 63, 4095, 65535, UINT32_MAX, UINT64_C(1) << 40, UINT64_MAX, UINT64_MAX - 63};
    uint64_t *words = (uint64_t *)(void *)segment;
    size_t count = (SEGMENT_HEADER_BYTES + 2 * sizeof(struct ring_control)) / sizeof(uint64_t);
    unsigned refused = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t good = words[i];
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
            words[i] = bad[k];
            struct segment *seen;
            size_t bytes;
            if (reopen(&seen, &bytes) != 0) {
                refused++;
                continue;
            }
            struct ring_reader reader;
            struct event out[16];
            for (uint32_t r = 0; r < seen->rings; r++) {
                if (ring_reader_init(&reader, seen, bytes, r) == 0)
                    ring_read(&reader, out, 16);
            }
            segment_unmap(seen, bytes);
        }
        words[i] = good;
    }
    assert_true(refused > 50);
    discard(segment);
}

static void names_are_read_as_they_are_written(void **state)
{
    (void)state;
    char name[128], session[32];
    uint32_t uid;
    int32_t pid;
    assert_int_equal(segment_name(name, sizeof(name), 4294967295u, "0123456789abcdef", 2147483647),
                     0);
    assert_string_equal(name, "/holter.4294967295.0123456789abcdef.2147483647");
    assert_int_equal(segment_name_parse(name + 1, &uid, session, &pid), 0);
    assert_int_equal(uid, 4294967295u);
    assert_string_equal(session, "0123456789abcdef");
    assert_int_equal(pid, 2147483647);
    assert_int_equal(segment_name_extend(name, sizeof(name), 0xfeedu), 0);
    assert_string_equal(name, "/holter.4294967295.0123456789abcdef.2147483647.000000000000feed");
    assert_int_equal(segment_name_parse(name + 1, &uid, session, &pid), 0);
    assert_int_equal(pid, 2147483647);
    assert_int_equal(segment_name_extend(name, sizeof(name) / 2, 1), -HOLTER_ERANGE);
    assert_int_equal(segment_name(name, sizeof(name), 0, "", 1), -HOLTER_ERANGE);
    assert_int_equal(segment_name(name, sizeof(name), 0, "../x", 1), -HOLTER_ERANGE);
    assert_int_equal(segment_name(name, sizeof(name), 0, "01234567890123456789012345678901", 1),
                     -HOLTER_ERANGE);
    assert_int_equal(segment_name(name, 12, 0, "abc", 1), -HOLTER_ERANGE);
    static const char *const bad[] = {"",
                                      "holter",
                                      "holter.",
                                      "holter.1",
                                      "holter.1.",
                                      "holter.1.a",
                                      "holter.1.a.",
                                      "holter.1.a.0",
                                      "holter.01.a.3",
                                      "holter.1.a.3x",
                                      "holter.1.a.3.",
                                      "holter.1.a.3.g",
                                      "holter.1.a.3.00000000000000000",
                                      "holter.1.a.3.0.0",
                                      "holter.1.a.-3",
                                      "holter.1..3",
                                      "holter.1.g.3",
                                      "holter.4294967296.a.3",
                                      "holter.1.a.2147483648",
                                      "xholter.1.a.3",
                                      "holter.1.01234567890123456789012345678901.3"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(segment_name_parse(bad[i], &uid, session, &pid), -HOLTER_EMALFORMED);
}

static void a_dead_owner_is_noticed_even_before_it_is_reaped(void **state)
{
    (void)state;
    struct segment *segment = make(&small_shape);
    assert_true(segment_owner_alive(segment));
    segment->pid_start++; /* same pid, another process */
    assert_false(segment_owner_alive(segment));
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(process_start_time((int32_t)child), 0); /* a zombie */
    waitpid(child, NULL, 0);
    assert_int_equal(process_start_time((int32_t)child), 0);
    discard(segment);
}

/* Waits until the first thread of its process has ended, and tells the parent. */
static void *outlive_first_thread(void *user)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
    while (!strstr(text, ") Z ")) {
        int fd = open(path, O_RDONLY);
        ssize_t length = read(fd, text, sizeof(text) - 1);
        text[length > 0 ? length : 0] = '\0';
        close(fd);
    }
    if (write(*(const int *)user, "", 1) == 1)
        pause();
    return NULL;
}

static void a_process_whose_first_thread_has_ended_is_alive(void **state)
{
    (void)state;
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, outlive_first_thread, &ends[1]);
        pthread_exit(NULL);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    const uint64_t start = process_start_time((int32_t)child);
    kill(child, SIGKILL);
    assert_int_not_equal(start, 0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(process_start_time((int32_t)child), 0);
    waitpid(child, NULL, 0);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_a_rank_grows_with_its_threads),
        cmocka_unit_test(a_reader_waits_for_the_header_and_then_sees_the_tables),
        cmocka_unit_test(it_is_for_its_user_alone_and_not_made_twice),
        cmocka_unit_test(lack_of_space_leaves_nothing_behind),
        cmocka_unit_test(a_file_size_limit_ends_nobody),
        cmocka_unit_test(impossible_shapes_are_refused),
        cmocka_unit_test(a_damaged_header_never_leads_outside),
        cmocka_unit_test(names_are_read_as_they_are_written),
        cmocka_unit_test(a_process_whose_first_thread_has_ended_is_alive),
        cmocka_unit_test(a_dead_owner_is_noticed_even_before_it_is_reaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
