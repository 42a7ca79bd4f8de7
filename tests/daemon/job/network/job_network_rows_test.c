/* What is published of the links of a network that has more of them than are published. */
#include "daemon/job/network/job_network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOSTS 9000u
#define LINKS (2 * HOSTS) /* ranks sit on hosts: they are too many for places of their own */
#define SLOW 5u           /* the host whose interface carries 5 bytes a second */
#define WINDOWS 30u
#define WINDOW_NS UINT64_C(1000000000)

/* Each host has one rank, and sends to the next. */
static struct job_network *make(void)
{
    const struct job_network_options options = {"test", NULL, WINDOW_NS};
    struct job_network *n;
    assert_int_equal(job_network_create(&n, &options), 0);
    for (uint32_t rank = 0; rank < HOSTS; rank++) {
        char host[16];
        snprintf(host, sizeof(host), "n%u", rank);
        assert_int_equal(job_network_place(n, rank, rank, host, 0, 0), 0);
    }
    return n;
}

static void close_window(struct job_network *n, uint64_t number)
{
    struct wire_pair_row *pairs = calloc(HOSTS, sizeof(*pairs));
    struct counter_rows counters = {calloc(1, sizeof(struct counter)), 1, 1};
    assert_non_null(pairs);
    assert_non_null(counters.list);
    counters.list[0] = (struct counter){.node = SLOW,
                                        .name = "eth0",
                                        .sent = 10,
                                        .received = 10,
                                        .speed = 5,
                                        .length_ns = WINDOW_NS};
    for (uint32_t rank = 0; rank < HOSTS; rank++)
        pairs[rank] = (struct wire_pair_row){.source = rank,
                                             .destination = (int32_t)((rank + 1) % HOSTS),
                                             .messages = 1,
                                             .bytes = rank == SLOW ? 10 : 1000 + rank};
    const struct closed_window window = {
        .number = number, .pairs = pairs, .pair_count = HOSTS, .counters = &counters};
    assert_int_equal(job_network_update(n, &window), 0);
    assert_null(counters.list);
    free(pairs);
}

static int tells(const struct wire_links *m, uint64_t from)
{
    int found = 0;
    for (uint64_t i = 0; i < m->links_count; i++)
        found |= m->links[i].from == from;
    return found;
}

static void hot_links_are_reported_before_those_with_more_bytes(void **state)
{
    (void)state;
    struct job_network *n = make();
    for (uint64_t w = 0; w < WINDOWS; w++)
        close_window(n, w);
    struct wire_links m;
    assert_true(job_network_links(n, &m));
    assert_true(m.hot >= 1);
    assert_int_equal(m.busy + m.hot + m.congested, LINKS);
    assert_int_equal(m.links_count, JOB_NETWORK_LINKS);
    assert_int_equal(m.left_out, LINKS - JOB_NETWORK_LINKS);
    for (uint64_t i = 1; i < m.links_count; i++)
        assert_true(m.links[i - 1].bytes >= m.links[i].bytes);
    assert_true(tells(&m, SLOW)); /* it carries fewest */
    assert_false(tells(&m, SLOW - 1) || tells(&m, SLOW + 1));
    job_network_destroy(n);
}

static void measured_links_are_all_had_by_number(void **state)
{
    (void)state;
    struct job_network *n = make();
    struct wire_links all, measured, again;
    close_window(n, 0);
    assert_true(job_network_links(n, &all));
    struct wire_link_row first = all.links[0];
    assert_true(job_network_measured(n, &measured));
    assert_int_equal(measured.links_count, 2);
    assert_true(measured.links[0].link < measured.links[1].link);
    assert_int_equal(measured.links[0].measured, 10);
    /* The rest is published as before. */
    assert_true(job_network_links(n, &again));
    assert_int_equal(again.links_count, JOB_NETWORK_LINKS);
    assert_int_equal(again.links[0].link, first.link);
    assert_int_equal(again.links[0].bytes, first.bytes);
    assert_int_equal(again.interfaces_count, 1);
    job_network_destroy(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hot_links_are_reported_before_those_with_more_bytes),
        cmocka_unit_test(measured_links_are_all_had_by_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
