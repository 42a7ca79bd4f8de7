/* The causes that are found in synthetic jobs with a known cause. */
#include "daemon/analysis/attribution/attribution_state.h"

#include "tests/daemon/analysis/attribution/summed.h"
#include "tests/daemon/analysis/attribution/synthetic_job.h"
#include "tests/memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 16u
#define NODES 4u
#define MS UINT64_C(1000000)

/* Windows of a ring of 16 ranks on four nodes, as written down by hand: in each of 100 iterations a
 * window has, every rank computes and then exchanges a message with both neighbours. */
struct hand {
    struct wire_rank_row ranks[RANKS];
    struct wire_pair_row pairs[2 * RANKS];
    struct transfer transfers[2 * RANKS];
    struct latency_scale *scale;
    uint64_t number;
};

static void calm_window(struct hand *h, uint64_t iterations)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        h->ranks[r] = (struct wire_rank_row){.rank = r,
                                             .calls = 5 * iterations,
                                             .sent = 2 * iterations,
                                             .received = 2 * iterations,
                                             .wait_ns = 200 * MS};
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t to = (r + (side ? 1 : RANKS - 1)) % RANKS;
            uint64_t each = r / 4 == to / 4 ? MS / 100 : MS / 10;
            h->pairs[2 * r + side] = (struct wire_pair_row){.source = r,
                                                            .destination = (int32_t)to,
                                                            .messages = iterations,
                                                            .bytes = 1024 * iterations};
            h->transfers[2 * r + side] = (struct transfer){.source = r,
                                                           .destination = to,
                                                           .size_class = size_class_of(1024),
                                                           .locality = r / 4 != to / 4,
                                                           .messages = iterations,
                                                           .transfer_ns = each * iterations,
                                                           .network_ns = each * iterations};
        }
    }
}

static void take(struct attribution *a, struct hand *h)
{
    struct transfers transfers = {0};
    for (size_t i = 0; i < 2 * RANKS; i++)
        assert_int_equal(transfers_add(&transfers, &h->transfers[i]), 0);
    struct attribution_window window = {.number = ++h->number,
                                        .length_ns = 1000 * MS,
                                        .ranks = h->ranks,
                                        .rank_count = RANKS,
                                        .pairs = h->pairs,
                                        .pair_count = 2 * RANKS,
                                        .transfers = &transfers,
                                        .scale = h->scale};
    assert_int_equal(take_summed(a, &window), 0);
    transfers_finish(&transfers);
}

static struct hand *calm_job(struct attribution **a, int windows)
{
    struct hand *h = calloc(1, sizeof(*h));
    assert_non_null(h);
    h->scale = calloc(1, sizeof(*h->scale));
    assert_non_null(h->scale);
    for (uint32_t c = 0; c < SIZE_CLASSES; c++) {
        h->scale->reference[LOCALITY_INTRA][c] = MS / 100;
        h->scale->reference[LOCALITY_INTER][c] = MS / 10;
    }
    assert_int_equal(attribution_create(a), 0);
    for (uint32_t r = 0; r < RANKS; r++) {
        char name[16];
        snprintf(name, sizeof(name), "node%u", r / 4);
        assert_int_equal(attribution_place(*a, r, r / 4, name), 0);
    }
    for (int i = 0; i < windows; i++) {
        calm_window(h, 100);
        take(*a, h);
    }
    return h;
}

static void finish(struct attribution *a, struct hand *h)
{
    attribution_destroy(a);
    free(h->scale);
    free(h);
}

static struct attribution_result result_since(struct attribution *a, uint64_t onset)
{
    struct attribution_result out;
    assert_int_equal(attribution_result(a, onset, &out), 0);
    return out;
}

/* Ranks 5 and 6 do not wait any more: windows 21 to 26. */
static void the_onset_of_a_late_rank_is_where_its_own_time_changes(void **state)
{
    (void)state;
    struct attribution *a;
    struct hand *h = calm_job(&a, 20);
    for (int i = 0; i < 6; i++) {
        calm_window(h, 100);
        h->ranks[5].wait_ns = h->ranks[6].wait_ns = 0;
        take(a, h);
    }
    const struct attribution_cause late = {
        .kind = CAUSE_LATE_SENDER, .ranks = {6}, .rank_count = 1};
    const struct attribution_cause node = {.kind = CAUSE_SLOW_NODE, .nodes = {1}, .node_count = 1};
    const struct attribution_cause other = {
        .kind = CAUSE_LATE_SENDER, .ranks = {7}, .rank_count = 1};
    const struct attribution_cause link = {.kind = CAUSE_NETWORK, .nodes = {1}, .node_count = 1};
    assert_int_equal(attribution_began(a, &late, 24), 21);
    assert_int_equal(attribution_began(a, &late, 21), 21);
    assert_int_equal(attribution_began(a, &late, 22), 22); /* one window may be noise */
    assert_int_equal(attribution_began(a, &node, 24), 21);
    assert_int_equal(attribution_began(a, &other, 24), 24);
    assert_int_equal(attribution_began(a, &link, 24), 24);
    finish(a, h);
}

/* Of eight windows that are kept three are of the first time, one is calm, four are of the second.
 */
static void the_onset_of_a_fault_that_came_back_is_when_it_came_back(void **state)
{
    (void)state;
    struct attribution *a;
    struct hand *h = calm_job(&a, 20);
    const struct attribution_cause late = {
        .kind = CAUSE_LATE_SENDER, .ranks = {5}, .rank_count = 1};
    for (int i = 0; i < 8; i++) {
        if (i == 3) {
            attribution_disturbed(a, 21);
            attribution_calm(a);
        }
        calm_window(h, 100);
        h->ranks[5].wait_ns = i == 3 ? 200 * MS : 0;
        take(a, h);
    }
    assert_int_equal(attribution_began(a, &late, 27), 25);
    finish(a, h);
}

static void without_a_baseline_the_onset_stays(void **state)
{
    (void)state;
    struct attribution *a;
    struct hand *h = calm_job(&a, 4);
    const struct attribution_cause late = {
        .kind = CAUSE_LATE_SENDER, .ranks = {6}, .rank_count = 1};
    assert_int_equal(attribution_began(a, &late, 3), 3);
    finish(a, h);
}

static void as_many_windows_are_looked_at_as_are_kept(void **state)
{
    (void)state;
    struct attribution *a;
    struct hand *h = calm_job(&a, 20);
    memory_fail(1);
    assert_int_equal(attribution_keep(a, 16), -ENOMEM);
    memory_fail(0);
    assert_int_equal(attribution_keep(a, 16), 0);
    assert_int_equal(attribution_keep(a, 8), 0); /* as many as before */
    for (int i = 0; i < 20; i++) {
        assert_int_equal(result_since(a, 1).windows, i < 8 ? 8 + i : 16);
        calm_window(h, 100);
        take(a, h);
    }
    finish(a, h);
}

/* Messages to and from node 2 take 5 ms longer, which everybody waits for: half the iterations. */
static void a_slow_link_is_named_although_all_wait(void **state)
{
    struct attribution *a;
    struct hand *h = calm_job(&a, 20);
    (void)state;
    for (int i = 0; i < 4; i++) {
        calm_window(h, 50);
        for (uint32_t k = 0; k < 2 * RANKS; k++) {
            struct transfer *t = &h->transfers[k];
            if (t->locality && (t->source / 4 == 2 || t->destination / 4 == 2)) {
                t->network_ns += 5 * MS * t->messages;
                t->transfer_ns += 5 * MS * t->messages;
            } else if (t->source / 4 != 2) {
                t->late_sender_ns += 5 * MS * t->messages;
            }
        }
        for (uint32_t r = 0; r < RANKS; r++)
            h->ranks[r].wait_ns = 600 * MS;
        take(a, h);
    }
    struct attribution_result r = result_since(a, 21);
    assert_true(r.cause_count >= 1);
    assert_int_equal(r.causes[0].kind, CAUSE_NETWORK);
    assert_true(r.causes[0].share > 0.9);
    assert_int_equal(r.causes[0].node_count, 1);
    assert_int_equal(r.causes[0].nodes[0], 2);
    assert_int_equal(r.windows, 4);
    assert_int_equal(r.baseline, 20);
    assert_string_equal(r.causes[0].text,
                        "link of node2: messages to and from it take 51 times as long on the "
                        "network as before (5 ms more), those between other nodes 1 times");
    assert_string_equal(r.causes[0].advice,
                        "Move the job off node2 or have its link checked; if it is "
                        "traffic of others, wait until it ends.");
    finish(a, h);
}

/* Rank 5 computes three times as long: all others wait, but only it is outside of MPI. */
static void compute_longer(struct attribution *a, struct hand *h)
{
    for (int i = 0; i < 4; i++) {
        calm_window(h, 40);
        for (uint32_t r = 0; r < RANKS; r++)
            h->ranks[r].wait_ns = r == 5 ? 40 * MS : 680 * MS;
        for (uint32_t k = 0; k < 2 * RANKS; k++)
            if (h->transfers[k].destination != 5)
                h->transfers[k].late_sender_ns += 16 * MS * h->transfers[k].messages;
        take(a, h);
    }
}

static void a_rank_that_computes_longer_is_named(void **state)
{
    struct attribution *a;
    struct hand *h = calm_job(&a, 20);
    (void)state;
    compute_longer(a, h);
    struct attribution_result r = result_since(a, 21);
    assert_true(r.cause_count >= 1);
    assert_int_equal(r.causes[0].kind, CAUSE_LATE_SENDER);
    assert_int_equal(r.causes[0].rank_count, 1);
    assert_int_equal(r.causes[0].ranks[0], 5);
    assert_string_equal(r.causes[0].text,
                        "rank 5 is late to send: outside of MPI for 96 % of the time, others for "
                        "32 %, 3 times as long for the same work as before");
    finish(a, h);
}

/* A window of a job without messages, whose ranks but for rank 5 wait in calls of one class. */
static void add_window_of_waits(struct attribution *a, struct hand *h, size_t class_, uint64_t ns)
{
    static const struct transfers none;
    calm_window(h, ns > 500 * MS ? 40 : 100);
    for (uint32_t r = 0; r < RANKS; r++) {
        h->ranks[r].sent = h->ranks[r].received = h->ranks[r].wait_ns = 0;
        *(uint64_t *)(void *)((char *)&h->ranks[r] + class_) = r == 5 ? 40 * MS : ns;
    }
    const struct attribution_window window = {.number = ++h->number,
                                              .length_ns = 1000 * MS,
                                              .ranks = h->ranks,
                                              .rank_count = RANKS,
                                              .transfers = &none,
                                              .scale = h->scale};
    assert_int_equal(attribution_window(a, &window), 0);
}

/* In collectives, immediate ones or windows of RMA, or where they use files together. */
static void a_rank_that_computes_longer_is_named_however_others_wait_for_it(void **state)
{
    static const size_t classes[] = {
        offsetof(struct wire_rank_row, collective_ns), offsetof(struct wire_rank_row, one_sided_ns),
        offsetof(struct wire_rank_row, wait_ns), offsetof(struct wire_rank_row, poll_ns),
        offsetof(struct wire_rank_row, io_ns)};
    (void)state;
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        struct attribution *a;
        struct hand *h = calm_job(&a, 0);
        for (int w = 0; w < 24; w++)
            add_window_of_waits(a, h, classes[i], w < 20 ? 200 * MS : 680 * MS);
        const struct attribution_result r = result_since(a, 21);
        assert_true(r.cause_count >= 1);
        assert_int_equal(r.causes[0].kind, CAUSE_COLLECTIVE);
        assert_int_equal(r.causes[0].rank_count, 1);
        assert_int_equal(r.causes[0].ranks[0], 5);
        finish(a, h);
    }
}

static void time_before_mpi_is_initialised_is_not_outside_of_it(void **state)
{
    struct attribution *a;
    struct hand *h = calm_job(&a, 0);
    (void)state;
    calm_window(h, 10);
    for (uint32_t r = 0; r < RANKS; r++) {
        h->ranks[r].wait_ns = 20 * MS;
        h->ranks[r].absent_ns = 900 * MS;
    }
    take(a, h);
    for (int i = 0; i < 3; i++) {
        calm_window(h, 100);
        take(a, h);
    }
    compute_longer(a, h);
    struct attribution_result r = result_since(a, 5);
    assert_true(r.cause_count >= 1);
    assert_non_null(strstr(r.causes[0].text, "3 times as long for the same work as before"));
    finish(a, h);
}

/* As of a fault that comes and goes. */
static void windows_of_an_earlier_disturbance_are_not_compared_with(void **state)
{
    struct attribution *a;
    struct hand *h = calm_job(&a, 20);
    (void)state;
    for (uint64_t since = 21; since <= 27; since += 6) {
        compute_longer(a, h);
        attribution_disturbed(a, since);
        struct attribution_result r = result_since(a, since);
        assert_true(r.cause_count >= 1);
        assert_non_null(strstr(r.causes[0].text, "3 times as long for the same work as before"));
        attribution_calm(a);
        for (int i = 0; i < 2; i++) {
            calm_window(h, 100);
            take(a, h);
        }
    }
    finish(a, h);
}

static void shares_add_up_to_one(void **state)
{
    struct attribution *a;
    struct hand *h = calm_job(&a, 20);
    double sum = 0;
    (void)state;
    calm_window(h, 40);
    for (uint32_t r = 0; r < RANKS; r++)
        h->ranks[r].wait_ns = r == 5 ? 300 * MS : 680 * MS;
    for (uint32_t k = 0; k < 2 * RANKS; k++) {
        h->transfers[k].late_sender_ns += 16 * MS * h->transfers[k].messages;
        if (h->transfers[k].locality)
            h->transfers[k].network_ns += 5 * MS * h->transfers[k].messages;
    }
    take(a, h);
    struct attribution_result r = result_since(a, 21);
    assert_true(r.cause_count >= 2);
    for (uint32_t i = 0; i < r.cause_count; i++) {
        sum += r.causes[i].share;
        assert_true(i == 0 || r.causes[i].share <= r.causes[i - 1].share);
    }
    assert_true(sum > 0.999999 && sum < 1.000001);
    finish(a, h);
}

static void a_text_says_that_there_are_more_nodes_than_it_names(void **state)
{
    struct attribution *a;
    char text[257], host[16];
    struct attribution_finding f = {
        .kind = CAUSE_SLOW_NODE, .rank_count = 3, .nodes = {0, 1, 2, 3, 4}, .node_count = 3};
    (void)state;
    assert_int_equal(attribution_create(&a), 0);
    for (uint32_t r = 0; r < 5; r++) {
        snprintf(host, sizeof(host), "n%u", r);
        assert_int_equal(attribution_place(a, r, r, host), 0);
    }
    attribution_describe(a, &f, text, sizeof(text));
    assert_non_null(strstr(text, "all ranks of n0, n1, n2 are late"));
    f.node_count = 5;
    attribution_describe(a, &f, text, sizeof(text));
    assert_non_null(strstr(text, "all ranks of n0, n1, n2 and others are late"));
    attribution_advise(a, &f, text, sizeof(text));
    assert_non_null(strstr(text, "Look at n0 and n1 and n2 and others (frequency"));
    attribution_destroy(a);
}

/* As hosts of clouds are called. */
static void long_names_of_nodes_are_not_cut(void **state)
{
    struct attribution *a;
    char text[257], host[80];
    struct attribution_finding f = {.kind = CAUSE_NETWORK,
                                    .by_network = 1,
                                    .all = 1,
                                    .rank_count = 1,
                                    .nodes = {0, 1, 2, 3},
                                    .node_count = 2,
                                    .ratio = 12,
                                    .first = 3.1e6,
                                    .others = 1.2,
                                    .baseline = 1};
    (void)state;
    assert_int_equal(attribution_create(&a), 0);
    for (uint32_t r = 0; r < 4; r++) {
        snprintf(host, sizeof(host), "ip-172-31-15-10%u.ap-southeast-2.compute.internal", r);
        assert_int_equal(attribution_place(a, r, r, host), 0);
    }
    attribution_describe(a, &f, text, sizeof(text));
    assert_string_equal(text, "links of ip-172-31-15-100.ap-southeast-2.compute.internal and "
                              "ip-172-31-15-101.ap-southeast-2.compute.internal: messages to and "
                              "from them take 12 times as long on the network as before (3.1 ms "
                              "more), those between other nodes 1.2 times");
    f.kind = CAUSE_SLOW_NODE;
    f.by_network = 0;
    f.node_count = 4;
    attribution_describe(a, &f, text, sizeof(text));
    assert_non_null(strstr(text, "all ranks of ip-172-31-15-100.ap-southeast-2.compute.internal, "
                                 "ip-172-31-15-101.ap-southeast-2.compute.internal, "
                                 "ip-172-31-15-102.ap-southeast-2.compute.internal and others are "
                                 "late: outside of MPI"));
    attribution_destroy(a);
}

static void a_calm_job_has_no_cause(void **state)
{
    struct attribution *a;
    struct hand *h = calm_job(&a, 30);
    (void)state;
    assert_int_equal(result_since(a, 25).cause_count, 0);
    finish(a, h);
}

static void windows_come_in_order(void **state)
{
    struct attribution *a;
    struct hand *h = calm_job(&a, 3);
    struct attribution_window window = {.number = 3, .length_ns = 1};
    (void)state;
    assert_int_equal(take_summed(a, &window), -ERANGE);
    finish(a, h);
}

/* ---- synthetic jobs -------------------------------------------------------- */

/* Jobs of each reason, and how many of a hundred are to be right: of fewer jobs the share that are
 * right spreads wider. With an argument, in suite 'long', 100 jobs and 95. */
static uint64_t jobs = 20, right_of_hundred = 90;

/* Feed a job and ask about it. reverse: rows in the opposite order. */
static struct attribution_result judge_rows(const struct synthetic_params *p, int reverse)
{
    struct synthetic_job *job = synthetic_create(p);
    struct attribution *a;
    assert_non_null(job);
    assert_int_equal(attribution_create(&a), 0);
    for (uint32_t r = 0; r < synthetic_ranks(p); r++) {
        char name[16];
        snprintf(name, sizeof(name), "node%u", synthetic_node(job, r));
        assert_int_equal(attribution_place(a, r, synthetic_node(job, r), name), 0);
    }
    for (uint32_t w = 0; w < p->windows; w++) {
        struct attribution_window window;
        synthetic_window(job, w, &window);
        const size_t row_count = window.transfers->count;
        struct transfers rows = {0};
        for (size_t i = 0; i < row_count; i++) {
            struct transfer row = window.transfers->rows[reverse ? row_count - 1 - i : i];
            assert_int_equal(transfers_add(&rows, &row), 0);
        }
        window.transfers = &rows;
        assert_int_equal(take_summed(a, &window), 0);
        transfers_finish(&rows);
        if (p->onset > 0 && w >= p->onset + 1)
            attribution_disturbed(a, p->onset + 1);
    }
    struct attribution_result out;
    assert_int_equal(attribution_result(a, p->onset > 0 ? p->onset + 1 : 0, &out), 0);
    attribution_destroy(a);
    synthetic_destroy(job);
    return out;
}

static struct attribution_result judge(const struct synthetic_params *p)
{
    return judge_rows(p, 0);
}

static int is_late(enum attribution_cause_kind kind)
{
    return kind == CAUSE_LATE_SENDER || kind == CAUSE_LATE_RECEIVER || kind == CAUSE_COLLECTIVE;
}

/* Is the reason ranked first, and the right rank or node named first? */
static int is_right(const struct synthetic_params *p, const struct attribution_result *r)
{
    const struct attribution_cause *c = &r->causes[0];
    if (r->cause_count == 0)
        return p->reason == SYNTHETIC_CALM;
    switch (p->reason) {
    case SYNTHETIC_LINK:
        return c->kind == CAUSE_NETWORK && c->node_count == 1 && c->nodes[0] == p->node;
    case SYNTHETIC_BACKGROUND:
        return c->kind == CAUSE_BACKGROUND;
    case SYNTHETIC_RANK:
        return is_late(c->kind) && c->rank_count == 1 && c->ranks[0] == p->rank;
    case SYNTHETIC_NODE:
        return c->kind == CAUSE_SLOW_NODE && c->node_count == 1 && c->nodes[0] == p->node;
    case SYNTHETIC_MESSAGES:
        return c->kind == CAUSE_PATTERN && c->rank_count == 1 && c->ranks[0] == p->rank;
    case SYNTHETIC_MAPPING:
        return c->kind == CAUSE_MAPPING;
    default:
        return 0;
    }
}

static void check_reason(enum synthetic_reason reason)
{
    uint32_t right = 0;
    for (uint64_t seed = 1; seed <= jobs; seed++) {
        struct synthetic_params p = synthetic_draw(seed, reason);
        struct attribution_result r = judge(&p);
        int good = is_right(&p, &r);
        right += (uint32_t)good;
        if (!good)
            print_message("seed %llu: %u nodes x %u, pattern %d, style %d, collective %u, sampling "
                          "%.1f, strength %.2f, rank %u, node %u: %u causes, %s %.2f: %s\n",
                          (unsigned long long)seed, p.nodes, p.ranks_per_node, p.pattern, p.style,
                          p.collective_every, p.sampling, p.strength, p.rank, p.node, r.cause_count,
                          attribution_cause_name(r.causes[0].kind), r.causes[0].share,
                          r.causes[0].text);
    }
    print_message("reason %d: %u of %llu right\n", reason, right, (unsigned long long)jobs);
    assert_true(right >= jobs * right_of_hundred / 100);
}

static void a_slow_link_is_ranked_first(void **state)
{
    (void)state;
    check_reason(SYNTHETIC_LINK);
}

static void traffic_of_others_is_ranked_first(void **state)
{
    (void)state;
    check_reason(SYNTHETIC_BACKGROUND);
}

/* Both links are to be looked at, not one of them. */
static void slow_links_of_two_nodes_are_described_as_both(void **state)
{
    (void)state;
    struct synthetic_params p = synthetic_draw(430088, SYNTHETIC_LINK);
    p.onset = 30;
    p.windows = 50;
    p.second = SYNTHETIC_LINK;
    p.second_place = 2;
    const struct attribution_result r = judge(&p);
    assert_int_equal(r.causes[0].kind, CAUSE_NETWORK);
    assert_true(r.causes[0].all_nodes);
    assert_non_null(strstr(r.causes[0].text, "links of node"));
    assert_non_null(strstr(r.causes[0].text, ": messages to and from them take "));
    assert_non_null(strstr(r.causes[0].advice, " and node"));
    assert_non_null(strstr(r.causes[0].advice, " or have their links checked"));
}

static void several_ranks_with_more_messages_are_described_in_the_plural(void **state)
{
    (void)state;
    struct attribution *a;
    struct hand *h = calm_job(&a, 4);
    struct attribution_finding f = {.kind = CAUSE_PATTERN,
                                    .ranks = {4, 5},
                                    .rank_count = 2,
                                    .nodes = {1},
                                    .node_count = 1,
                                    .first = 3,
                                    .second = 2};
    char text[256];
    attribution_describe(a, &f, text, sizeof(text));
    assert_string_equal(text, "ranks 4-5 send and receive 3 times as many messages as the mean "
                              "rank (load balance 2), and hold up their partners");
    attribution_advise(a, &f, text, sizeof(text));
    assert_string_equal(text, "Change the communication pattern: combine the messages of ranks "
                              "4-5, or spread their part over more ranks.");
    f.rank_count = 1;
    attribution_describe(a, &f, text, sizeof(text));
    assert_string_equal(text, "rank 4 sends and receives 3 times as many messages as the mean "
                              "rank (load balance 2), and holds up its partners");
    finish(a, h);
}

/* Ranks without partners on other nodes do not wait: that shows no slow link of one of the three.
 */
static void traffic_of_others_between_three_nodes_is_no_slow_link(void **state)
{
    (void)state;
    uint32_t right = 0;
    const uint32_t count = 60;
    for (uint64_t seed = 1; seed <= count; seed++) {
        struct synthetic_params p = synthetic_draw(seed, SYNTHETIC_BACKGROUND);
        p.nodes = 3;
        const struct attribution_result r = judge(&p);
        right += (uint32_t)is_right(&p, &r);
    }
    print_message("%u of %u right\n", right, count);
    assert_true(right >= 50); /* 45 by the waits of ranks alone */
}

static void a_slow_rank_is_ranked_first(void **state)
{
    (void)state;
    check_reason(SYNTHETIC_RANK);
}

static void a_slow_node_is_ranked_first(void **state)
{
    (void)state;
    check_reason(SYNTHETIC_NODE);
}

static void an_overloaded_rank_is_ranked_first(void **state)
{
    (void)state;
    check_reason(SYNTHETIC_MESSAGES);
}

static void a_bad_mapping_is_ranked_first(void **state)
{
    (void)state;
    check_reason(SYNTHETIC_MAPPING);
}

/* A link that is slow in one direction: where two nodes have the same contacts both are named. */
static void a_link_slow_in_one_direction_is_among_those_named(void **state)
{
    uint32_t right = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= jobs; seed++) {
        struct synthetic_params p = synthetic_draw(seed, SYNTHETIC_LINK);
        p.one_way = 1;
        struct attribution_result r = judge(&p);
        int named = 0;
        for (uint32_t i = 0; i < r.causes[0].node_count; i++)
            named |= r.causes[0].nodes[i] == p.node;
        right += r.cause_count > 0 && r.causes[0].kind == CAUSE_NETWORK && named;
    }
    print_message("one direction: %u of %llu right\n", right, (unsigned long long)jobs);
    assert_true(right >= jobs * 80 / 100);
}

static void the_order_of_rows_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct synthetic_params p = synthetic_draw(seed, SYNTHETIC_LINK);
        struct attribution_result a = judge_rows(&p, 0), b = judge_rows(&p, 1);
        assert_int_equal(a.cause_count, b.cause_count);
        for (uint32_t i = 0; i < a.cause_count; i++) {
            assert_true(a.causes[i].share == b.causes[i].share);
            assert_string_equal(a.causes[i].text, b.causes[i].text);
        }
    }
}

/* 2,500 nodes with 8 ranks each, every rank with messages to four other nodes. */
static void memory_is_linear_in_ranks_and_pairs_of_nodes(void **state)
{
    enum { MANY = 20000, WINDOWS = 12 };
    struct wire_rank_row *ranks = calloc(MANY, sizeof(*ranks));
    struct transfers transfers = {0};
    struct latency_scale *scale = calloc(1, sizeof(*scale));
    struct attribution *a;
    (void)state;
    assert_true(ranks != NULL && scale != NULL);
    assert_int_equal(attribution_create(&a), 0);
    for (uint32_t c = 0; c < SIZE_CLASSES; c++)
        scale->reference[LOCALITY_INTER][c] = 1000;
    for (uint32_t r = 0; r < MANY; r++) {
        static const uint32_t steps[4] = {8, 80, 800, 4000};
        assert_int_equal(attribution_place(a, r, r / 8, "node"), 0);
        ranks[r] = (struct wire_rank_row){.rank = r, .calls = 100, .sent = 100, .received = 100};
        for (uint32_t k = 0; k < 4; k++) {
            struct transfer row = {.source = r,
                                   .destination = (r + steps[k]) % MANY,
                                   .size_class = 64,
                                   .locality = LOCALITY_INTER,
                                   .messages = 10,
                                   .network_ns = 10000};
            assert_int_equal(transfers_add(&transfers, &row), 0);
        }
    }
    for (uint64_t w = 1; w <= WINDOWS; w++) {
        struct attribution_window window = {.number = w,
                                            .length_ns = 1000 * MS,
                                            .ranks = ranks,
                                            .rank_count = MANY,
                                            .transfers = &transfers,
                                            .scale = scale};
        assert_int_equal(take_summed(a, &window), 0);
    }
    assert_int_equal(result_since(a, 10).cause_count, 0);
    size_t bytes = memory_used();
    attribution_destroy(a);
    bytes -= memory_used();
    print_message("20,000 ranks on 2,500 nodes: %zu MB\n", bytes >> 20);
    assert_true(bytes < (size_t)MANY * 5376);
    free(ranks);
    transfers_finish(&transfers);
    free(scale);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        jobs = 100;
        right_of_hundred = 95;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_link_is_named_although_all_wait),
        cmocka_unit_test(a_rank_that_computes_longer_is_named),
        cmocka_unit_test(a_rank_that_computes_longer_is_named_however_others_wait_for_it),
        cmocka_unit_test(time_before_mpi_is_initialised_is_not_outside_of_it),
        cmocka_unit_test(windows_of_an_earlier_disturbance_are_not_compared_with),
        cmocka_unit_test(shares_add_up_to_one),
        cmocka_unit_test(a_text_says_that_there_are_more_nodes_than_it_names),
        cmocka_unit_test(long_names_of_nodes_are_not_cut),
        cmocka_unit_test(a_calm_job_has_no_cause),
        cmocka_unit_test(windows_come_in_order),
        cmocka_unit_test(a_slow_link_is_ranked_first),
        cmocka_unit_test(traffic_of_others_is_ranked_first),
        cmocka_unit_test(traffic_of_others_between_three_nodes_is_no_slow_link),
        cmocka_unit_test(slow_links_of_two_nodes_are_described_as_both),
        cmocka_unit_test(several_ranks_with_more_messages_are_described_in_the_plural),
        cmocka_unit_test(a_slow_rank_is_ranked_first),
        cmocka_unit_test(a_slow_node_is_ranked_first),
        cmocka_unit_test(the_onset_of_a_late_rank_is_where_its_own_time_changes),
        cmocka_unit_test(the_onset_of_a_fault_that_came_back_is_when_it_came_back),
        cmocka_unit_test(without_a_baseline_the_onset_stays),
        cmocka_unit_test(as_many_windows_are_looked_at_as_are_kept),
        cmocka_unit_test(an_overloaded_rank_is_ranked_first),
        cmocka_unit_test(a_bad_mapping_is_ranked_first),
        cmocka_unit_test(a_link_slow_in_one_direction_is_among_those_named),
        cmocka_unit_test(the_order_of_rows_changes_nothing),
        cmocka_unit_test(memory_is_linear_in_ranks_and_pairs_of_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
