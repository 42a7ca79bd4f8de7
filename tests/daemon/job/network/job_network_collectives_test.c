/* What collectives put on links, beside the messages of ranks. */
#include "daemon/analysis/phases/collective_edges.h"
#include "daemon/job/network/job_network.h"
#include "holter/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOSTS 12u
#define WINDOW_NS UINT64_C(1000000000)
#define PAIRS (HOSTS * COLLECTIVE_MAXIMUM_EDGES)

/* One rank on each host of the tree that agents see. */
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

/* Messages that all ranks send in calls of one collective, by its algorithm. @return how many pairs
 */
static size_t expand(uint16_t call, uint64_t bytes, struct burst_pair *out)
{
    size_t count = 0;
    for (uint32_t rank = 0; rank < HOSTS; rank++) {
        struct collective_edges edges;
        const struct collective_call one = {call, HOSTS, rank, 0, 3, bytes};
        assert_int_equal(collective_edges(&one, &edges), 0);
        for (uint32_t i = 0; i < edges.count; i++)
            out[count++] = (struct burst_pair){.source = rank,
                                               .destination = edges.edges[i].destination,
                                               .modelled = 1,
                                               .messages = edges.edges[i].messages,
                                               .bytes = edges.edges[i].bytes};
    }
    return count;
}

static void close_window(struct job_network *n, uint64_t number, const struct wire_pair_row *pairs,
                         size_t pair_count, struct burst_rows *bursts)
{
    const struct closed_window window = {
        .number = number, .pairs = pairs, .pair_count = pair_count, .bursts = bursts};
    assert_int_equal(job_network_update(n, &window), 0);
}

/* Every pair crosses the links of its route; summed over pairs one by one. */
static void check_against_routes(struct job_network *n, const struct burst_pair *pairs,
                                 size_t count)
{
    const struct topology *t = job_network_topology(n);
    const uint32_t links = topology_links(t);
    uint64_t *bytes = calloc(links, sizeof(*bytes)), *messages = calloc(links, sizeof(*messages));
    uint64_t sum = 0;
    struct wire_links m;
    assert_true(bytes != NULL && messages != NULL);
    for (size_t i = 0; i < count; i++) {
        uint32_t route[64];
        const uint32_t length =
            topology_route(t, job_network_vertex(n, pairs[i].source),
                           job_network_vertex(n, pairs[i].destination), route, 64);
        for (uint32_t k = 0; k < length; k++) {
            bytes[route[k]] += pairs[i].bytes;
            messages[route[k]] += pairs[i].messages;
        }
        sum += pairs[i].bytes;
    }
    assert_true(job_network_links(n, &m));
    assert_int_equal(m.collective_bytes, sum);
    for (uint64_t i = 0; i < m.links_count; i++) {
        const uint64_t link = m.links[i].link;
        assert_int_equal(m.links[i].collective_bytes, bytes[link]);
        assert_int_equal(m.links[i].collective_messages, messages[link]);
        messages[link] = 0;
    }
    for (uint32_t link = 0; link < links; link++)
        assert_int_equal(messages[link], 0); /* all have a row */
    free(bytes);
    free(messages);
}

static void algorithms_load_the_links_of_their_routes(void **state)
{
    static const struct {
        uint16_t call;
        uint64_t bytes;
    } calls[] = {{CALL_Bcast, 300},         {CALL_Bcast, 300000},    {CALL_Reduce, 300},
                 {CALL_Reduce, 300000},     {CALL_Allreduce, 300},   {CALL_Allreduce, 300000},
                 {CALL_Allgather, 300},     {CALL_Allgather, 90000}, {CALL_Alltoall, 300},
                 {CALL_Alltoall, 30000000}, {CALL_Barrier, 0}};
    struct burst_pair *pairs = calloc(PAIRS, sizeof(*pairs));
    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        struct job_network *n = make();
        const size_t count = expand(calls[i].call, calls[i].bytes, pairs);
        struct burst_rows bursts = {.modelled = pairs, .modelled_count = count};
        assert_true(count > 0);
        close_window(n, 1, NULL, 0, &bursts);
        check_against_routes(n, pairs, count); /* also of barriers, which have no bytes */
        job_network_destroy(n);
    }
    free(pairs);
}

static void messages_of_ranks_stay_exact_beside_them(void **state)
{
    struct burst_pair *pairs = calloc(PAIRS, sizeof(*pairs));
    const struct wire_pair_row sent = {.source = 0, .destination = 1, .messages = 2, .bytes = 77};
    struct job_network *n = make(), *alone = make();
    const size_t count = expand(CALL_Allreduce, 5000, pairs);
    struct burst_rows bursts = {.modelled = pairs, .modelled_count = count};
    struct wire_links m, without;
    (void)state;
    close_window(n, 1, &sent, 1, &bursts);
    close_window(alone, 1, &sent, 1, NULL);
    check_against_routes(n, pairs, count);
    assert_true(job_network_links(n, &m) && job_network_links(alone, &without));
    assert_int_equal(without.collective_bytes, 0);
    assert_int_equal(m.bytes, 77);
    assert_true(m.hop_bytes == without.hop_bytes);
    assert_int_equal(m.busy, without.busy);
    for (uint64_t i = 0; i < without.links_count; i++) {
        assert_int_equal(m.links[i].link, without.links[i].link);
        assert_int_equal(m.links[i].bytes, without.links[i].bytes);
        assert_int_equal(m.links[i].state, without.links[i].state);
    }
    for (uint64_t i = without.links_count; i < m.links_count; i++)
        assert_int_equal(m.links[i].bytes, 0);
    close_window(n, 2, &sent, 1, NULL); /* no collectives any more */
    assert_true(job_network_links(n, &m));
    assert_int_equal(m.collective_bytes, 0);
    job_network_destroy(n);
    job_network_destroy(alone);
    free(pairs);
}

/* Links that ranks have loaded before, and only a collective now. */
static void what_was_sent_before_stays_known_where_only_collectives_load_a_link(void **state)
{
    struct burst_pair pairs[] = {{.source = 0, .destination = 1, .messages = 1, .bytes = 5}};
    const struct wire_pair_row sent = {.source = 0, .destination = 1, .messages = 2, .bytes = 77};
    struct burst_rows bursts = {.modelled = pairs, .modelled_count = 1};
    struct job_network *n = make();
    struct wire_links m;
    (void)state;
    close_window(n, 1, &sent, 1, NULL);
    close_window(n, 2, NULL, 0, &bursts);
    assert_true(job_network_links(n, &m));
    assert_in_range(m.links_count, 1, 8);
    for (uint64_t i = 0; i < m.links_count; i++) {
        assert_int_equal(m.links[i].collective_bytes, 5);
        assert_int_equal(m.links[i].bytes, 0);
        assert_int_equal(m.links[i].peak, 77);
        assert_true(m.links[i].average > 1 && m.links[i].average < 77);
        assert_int_equal(m.links[i].since, 2); /* idle */
    }
    job_network_destroy(n);
}

static void what_has_no_known_place_is_counted(void **state)
{
    struct burst_pair pairs[] = {
        {.source = 0, .destination = 999, .messages = 1, .bytes = 5},
        {.source = 3, .destination = 3, .messages = 1, .bytes = 6},
        {.source = 1, .destination = 2, .messages = 1, .bytes = UINT64_MAX}};
    struct burst_rows bursts = {.modelled = pairs, .modelled_count = 2, .modelled_others = 10};
    struct job_network *n = make();
    struct wire_links m;
    (void)state;
    close_window(n, 1, NULL, 0, &bursts);
    assert_true(job_network_links(n, &m));
    assert_int_equal(m.collective_bytes, 0); /* one host: crosses nothing */
    assert_int_equal(m.collective_unplaced, 15);
    bursts.modelled_count = 3;
    close_window(n, 2, NULL, 0, &bursts);
    assert_true(job_network_links(n, &m));
    assert_true(m.collective_unplaced == UINT64_MAX); /* saturated */
    job_network_destroy(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(algorithms_load_the_links_of_their_routes),
        cmocka_unit_test(messages_of_ranks_stay_exact_beside_them),
        cmocka_unit_test(what_was_sent_before_stays_known_where_only_collectives_load_a_link),
        cmocka_unit_test(what_has_no_known_place_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
