/* Captures as text: what a person reads. */
#include "agent/cli/text/text.h"

#include "holter/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct out {
    FILE *file;
    char *text;
    size_t length;
};

static struct wire_capture_thread_row threads[] = {
    {.rank = 1, .records = 9}, {.rank = 1, .thread = 2, .tid = 77, .lapped = 3}};
static struct wire_comm_row comms[] = {{.name = ""}, {.id = 1, .name = "MPI_COMM_WORLD"}};
static struct wire_region_row regions[] = {{""}, {"solve"}};
static struct wire_capture_event_row events[] = {
    {.number = 5,
     .kind = EVENT_CALL,
     .call = 5, /* MPI_Isend */
     .begin_ns = -3000000,
     .length_ns = 2500,
     .peer = 3,
     .tag = 7,
     .comm = 1,
     .region = 1,
     .bytes = 2048,
     .request = 12,
     .flags = EVENT_SEND | EVENT_POST,
     .source = PEER_NONE},
    {.number = 6,
     .kind = EVENT_CALL,
     .call = 40,
     .begin_ns = -2000000,
     .length_ns = 1000,
     .peer = PEER_ANY,
     .tag = TAG_ANY,
     .flags = EVENT_RECV | EVENT_DONE,
     .request = 13,
     .posted_ns = -2500000,
     .comm = 1,
     .comm_rank = 1,
     .started = 132, /* MPI_Iallreduce */
     .source = PEER_NONE},
    {.number = 7,
     .kind = EVENT_PART,
     .call = 40,
     .begin_ns = -2000000,
     .length_ns = 1000,
     .peer = 0,
     .tag = 1,
     .bytes = 64,
     .flags = EVENT_RECV | EVENT_DONE,
     .source = PEER_NONE},
    {.thread = 1,
     .number = 1,
     .kind = EVENT_CALL,
     .call = 100, /* MPI_Barrier */
     .begin_ns = -1000000000,
     .length_ns = 1000000000,
     .running = 1,
     .peer = PEER_NONE,
     .tag = TAG_NONE,
     .comm = 1,
     .source = PEER_NONE},
};

static struct wire_capture capture(void)
{
    return (struct wire_capture){.job = "melt",
                                 .id = 3,
                                 .at_ns = 1,
                                 .reason = "asked\nfor",
                                 .host = "n\x1b[0m1",
                                 .threads = threads,
                                 .threads_count = 2,
                                 .events = events,
                                 .events_count = 4,
                                 .comms = comms,
                                 .comms_count = 2,
                                 .regions = regions,
                                 .regions_count = 2,
                                 .fault = ""};
}

static char *printed(const struct capture_view *view)
{
    struct out out;
    out.file = open_memstream(&out.text, &out.length);
    capture_print(out.file, view);
    fclose(out.file);
    for (const char *c = out.text; *c != '\0'; c++)
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
    return out.text;
}

static void each_thread_has_its_calls_the_newest_last(void **state)
{
    struct capture_view view = {0};
    struct wire_capture m = capture();
    (void)state;
    assert_int_equal(capture_view_add(&view, &m), 0);
    char *text = printed(&view);
    assert_non_null(strstr(text, "capture 3 of melt, "));
    assert_non_null(strstr(text, ": asked?for\nrank 1 on n?[0m1\n"));
    assert_non_null(strstr(text, "    -3.00 ms     2.50 µs  MPI_Isend                    3     7 "
                                 "    2.00 KiB  MPI_COMM_WORLD    #12 send posted in solve\n"));
    assert_non_null(strstr(text, "    any   any "));
    assert_non_null(strstr(text, "#13 receive done, of MPI_Iallreduce, posted 500 µs before, "
                                 "rank 0 of the communicator\n"));
    assert_non_null(strstr(text, "  and                        0     1         64 B"));
    assert_non_null(strstr(text,
                           "rank 1, thread 2 (77) on n?[0m1, 3 records were overwritten while "
                           "they were read\n"));
    assert_non_null(strstr(text, "-1.00 s       in it  MPI_Barrier  "));
    assert_non_null(strstr(text, "4 records of 2 threads\n"));
    free(text);
    capture_view_finish(&view);
}

static void nodes_come_in_any_order_and_ranks_in_theirs(void **state)
{
    struct capture_view view = {0};
    struct wire_capture m = capture();
    (void)state;
    threads[0].rank = 8, m.threads_count = 1, m.events_count = 1, m.host = "b";
    assert_int_equal(capture_view_add(&view, &m), 0);
    threads[0].rank = 2, m.host = "a", m.more = 1;
    assert_int_equal(capture_view_add(&view, &m), 0);
    m.events = events + 1, m.events_count = 2, m.more = 0, m.fault = "not all";
    assert_int_equal(capture_view_add(&view, &m), 0);
    threads[0].rank = 1;
    char *text = printed(&view);
    const char *second = strstr(text, "rank 2 on a\n"), *third = strstr(text, "rank 8 on b\n");
    assert_non_null(second);
    assert_true(third > second);
    assert_null(strstr(second + 1, "rank 2 on a\n")); /* its parts are adjacent */
    assert_true(strstr(second, "#13 receive done") < third);
    assert_non_null(strstr(text, "\na: not all\n4 records of 2 threads\n"));
    free(text);
    capture_view_finish(&view);
}

static void positions_beyond_the_names_are_none(void **state)
{
    struct capture_view view = {0};
    struct wire_capture m = capture();
    (void)state;
    m.comms_count = m.regions_count = 0;
    m.threads_count = 1; /* the last event is of no thread */
    assert_int_equal(capture_view_add(&view, &m), 0);
    char *text = printed(&view);
    assert_null(strstr(text, "MPI_COMM_WORLD"));
    assert_non_null(strstr(text, "3 records of 1 thread\n"));
    free(text);
    capture_view_finish(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_has_its_calls_the_newest_last),
        cmocka_unit_test(nodes_come_in_any_order_and_ranks_in_theirs),
        cmocka_unit_test(positions_beyond_the_names_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
