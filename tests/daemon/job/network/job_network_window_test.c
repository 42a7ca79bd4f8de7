/* What windows put on links where their pairs of ranks are those of the window before, and where
 * they are not. */
#include "daemon/job/network/job_network.h"
#include "tests/daemon/analysis/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOSTS 6u
#define ON_HOST 4u
#define RANKS (HOSTS * ON_HOST)
#define PARTNERS 5u
#define ROWS (RANKS * PARTNERS)
#define WINDOW_NS UINT64_C(1000000000)

/* The last host's ranks have no place. @param each  ranks on a core */
static struct job_network *make(uint32_t each)
{
    const struct job_network_options options = {"test", NULL, WINDOW_NS};
    struct job_network *n;
    assert_int_equal(job_network_create(&n, &options), 0);
    for (uint32_t rank = 0; rank < RANKS - ON_HOST; rank++) {
        char host[16];
        snprintf(host, sizeof(host), "n%u", rank / ON_HOST);
        assert_int_equal(
            job_network_place(n, rank, rank / ON_HOST, host, 1 + rank % ON_HOST / each, 0), 0);
    }
    return n;
}

struct window {
    struct wire_pair_row pairs[ROWS];
    struct latency_rows latency;
    struct latency_scale scale;
    size_t begin; /* row whose latencies come first */
};

/* Each rank sends to the same ones, one of which in two sizes, and sometimes to another one; what
 * it sends them is another thing in two windows of three. */
static void draw_pairs(struct window *w, uint64_t number, struct noise *noise)
{
    int changed = number == 0 || number % 12 == 11;
    for (uint32_t i = 0; i < ROWS; i++) {
        struct wire_pair_row *p = &w->pairs[i];
        uint32_t source = i / PARTNERS, place = i % PARTNERS;
        if (number == 0 || (changed && noise_uint(noise) % 10 == 0))
            p->destination =
                (int32_t)((source + 1 + 5 * (place / 2) + noise_uint(noise) % 5) % RANKS);
        if (place == 0)
            p->destination = -1;
        p->source = source;
        p->size_class = (uint16_t)place;
        if (!changed && number % 3 == 0)
            continue;
        p->messages = 1 + noise_uint(noise) % 9;
        p->bytes = noise_uint(noise) % 100000;
    }
}

/* Latencies come in the order of rows, from another one on now and then; some are missing, and
 * sometimes many. */
static void draw_transfers(struct window *w, uint64_t number, struct noise *noise)
{
    uint64_t missing = number % 10 == 9 ? 3 : 20;
    if (noise_uint(noise) % 4 == 0)
        w->begin = (size_t)(noise_uint(noise) % ROWS);
    transfers_clear(&w->latency.transfers);
    for (size_t i = 0; i < ROWS; i++) {
        const struct wire_pair_row *p = &w->pairs[(i + w->begin) % ROWS];
        if (noise_uint(noise) % missing == 0)
            continue;
        struct transfer row = {.source = (uint32_t)p->source,
                               .destination = (uint32_t)p->destination,
                               .size_class = (uint16_t)p->size_class,
                               .locality = (uint8_t)(i % LOCALITIES),
                               .messages = noise_uint(noise) % 4 * (i % 16 == 0 ? 1000 : 1),
                               .log2_sum = noise_uint(noise) % 100000};
        assert_int_equal(transfers_add(&w->latency.transfers, &row), 0);
    }
    if (number % 2 == 0) /* of a pair that may send nothing */
        w->latency.transfers.rows[7].source = (uint32_t)(noise_uint(noise) % RANKS);
    for (unsigned l = 0; l < LOCALITIES; l++)
        for (unsigned c = 0; c < SIZE_CLASSES; c++)
            w->scale.reference[l][c] = c == 3 ? NAN : 1000.0 + 100 * c + l;
}

static void close_window(struct job_network *n, struct window *w, uint64_t number)
{
    const struct closed_window window = {.number = number,
                                         .pairs = w->pairs,
                                         .pair_count = ROWS,
                                         .latency = &w->latency,
                                         .scale = &w->scale};
    assert_int_equal(job_network_update(n, &window), 0);
}

static void assert_same(struct job_network *one, struct job_network *other)
{
    struct wire_links a, b;
    assert_true(job_network_links(one, &a));
    assert_true(job_network_links(other, &b));
    assert_int_equal(a.links_count, b.links_count);
    for (uint64_t i = 0; i < a.links_count; i++)
        assert_memory_equal(&a.links[i], &b.links[i], sizeof(a.links[i]));
    assert_int_equal(a.routes_count, b.routes_count);
    if (a.routes_count > 0)
        assert_memory_equal(a.routes, b.routes, a.routes_count * sizeof(*a.routes));
    assert_true(a.busy == b.busy && a.hot == b.hot && a.congested == b.congested &&
                a.bytes == b.bytes && a.unplaced == b.unplaced);
    assert_memory_equal(&a.hop_bytes, &b.hop_bytes, sizeof(a.hop_bytes));
}

static int compare_destinations(const void *a, const void *b)
{
    const struct wire_pair_row *x = a, *y = b;
    return (x->destination > y->destination) - (x->destination < y->destination);
}

/* Ranks with a core of their own: the rows of each in order for the one, turned for the other. */
static void order_of_a_rank_s_rows_does_not_matter(void **state)
{
    (void)state;
    struct noise noise = {.state = 32};
    struct window *w = calloc(1, sizeof(*w)), *turned = calloc(1, sizeof(*turned));
    struct job_network *one = make(1), *other = make(1);
    assert_true(w != NULL && turned != NULL);
    for (uint64_t number = 0; number < 60; number++) {
        draw_pairs(w, number, &noise);
        draw_transfers(w, number, &noise);
        *turned = *w;
        for (uint32_t from = 0; from < ROWS; from += PARTNERS) {
            qsort(w->pairs + from, PARTNERS, sizeof(*w->pairs), compare_destinations);
            for (uint32_t i = 0; i < PARTNERS; i++)
                turned->pairs[from + i] = w->pairs[from + PARTNERS - 1 - i];
        }
        close_window(one, w, number);
        close_window(other, turned, number);
        assert_same(one, other);
    }
    job_network_destroy(one);
    job_network_destroy(other);
    transfers_finish(&w->latency.transfers);
    free(w);
    free(turned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_a_rank_s_rows_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
