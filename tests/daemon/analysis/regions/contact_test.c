/* Which pairs are in contact, against plain sums of their messages. */
#include "daemon/analysis/regions/contact.h"

#include "holter/error.h"
#include "tests/daemon/analysis/regions/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MOST 64u

static struct contact *create(struct contact_params params)
{
    struct contact *contact;
    assert_int_equal(contact_create(&contact, &params), 0);
    return contact;
}

static void add(struct contact *contact, uint32_t source, uint32_t destination, uint64_t messages)
{
    assert_int_equal(contact_add(contact, source, destination, messages), 0);
}

/* Close the window; keep the edges in a matrix. @return how many changed */
static size_t close_window(struct contact *contact, struct matrix *m)
{
    const struct contact_edge *edges;
    size_t count;
    assert_int_equal(contact_close(contact, &edges, &count), 0);
    for (size_t i = 0; i < count; i++) {
        assert_true(edges[i].a < edges[i].b);
        assert_true(i == 0 || edges[i].a > edges[i - 1].a ||
                    (edges[i].a == edges[i - 1].a && edges[i].b > edges[i - 1].b));
        if (m == NULL)
            continue;
        assert_int_equal(matrix_get(m, edges[i].a, edges[i].b), !edges[i].present);
        matrix_set(m, edges[i].a, edges[i].b, edges[i].present);
    }
    return count;
}

static void a_pair_is_an_edge_after_messages_in_enough_windows(void **state)
{
    struct contact_params params = CONTACT_DEFAULTS;
    struct matrix m = matrix_create(MOST);
    (void)state;
    params.steady = 3;
    struct contact *contact = create(params);
    for (uint32_t window = 0; window < 3; window++) {
        add(contact, 5, 2, 4);
        add(contact, 2, 5, 4);
        assert_int_equal(close_window(contact, &m), window == 2);
    }
    assert_true(matrix_get(&m, 2, 5));
    contact_destroy(contact);
    free(m.edge);
}

/* All greet all in the first two windows, then everybody talks to two neighbours. */
static void greetings_at_the_start_go_when_the_work_begins(void **state)
{
    struct contact *contact = create(CONTACT_DEFAULTS);
    struct matrix m = matrix_create(16);
    (void)state;
    for (uint32_t window = 0; window < 40; window++) {
        for (uint32_t a = 0; a < 16; a++)
            for (uint32_t b = 0; b < a && window < 2; b++)
                add(contact, a, b, 1);
        for (uint32_t a = 0; a < 16 && window >= 2; a++)
            add(contact, a, (a + 1) % 16, 50);
        close_window(contact, &m);
    }
    for (uint32_t a = 0; a < 16; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_int_equal(matrix_get(&m, a, b), a - b == 1 || a - b == 15);
    contact_destroy(contact);
    free(m.edge);
}

/* Rank 1 receives from rank 0 only, which has much larger partners. */
static void a_small_partner_counts_when_it_is_the_other_s_largest(void **state)
{
    struct contact *contact = create(CONTACT_DEFAULTS);
    struct matrix m = matrix_create(8);
    (void)state;
    for (uint32_t window = 0; window < 5; window++) {
        add(contact, 0, 1, 1);
        add(contact, 0, 2, 1000);
        add(contact, 0, 3, 1000);
        add(contact, 2, 3, 20); /* small for both */
        close_window(contact, &m);
    }
    assert_true(matrix_get(&m, 0, 1));
    assert_true(matrix_get(&m, 0, 2));
    assert_false(matrix_get(&m, 2, 3));
    contact_destroy(contact);
    free(m.edge);
}

/* Among ranks that have exchanged much for long, one appears that exchanges little. */
static void a_small_partner_counts_when_it_comes_late(void **state)
{
    struct contact *contact = create(CONTACT_DEFAULTS);
    struct matrix m = matrix_create(MOST);
    (void)state;
    for (uint32_t window = 0; window < 105; window++) {
        for (uint32_t a = 0; a + 1 < MOST; a++)
            add(contact, a, (a + 1) % (MOST - 1), 1000);
        if (window >= 100)
            add(contact, MOST - 1, 0, 1);
        close_window(contact, &m);
        assert_int_equal(matrix_get(&m, 0, MOST - 1), window >= 101);
    }
    contact_destroy(contact);
    free(m.edge);
}

/* A share that sways between leave and enter changes nothing, whatever it was. */
static void an_edge_does_not_flap(void **state)
{
    struct contact *contact = create(CONTACT_DEFAULTS);
    struct matrix m = matrix_create(8);
    size_t changes = 0;
    (void)state;
    for (uint32_t window = 0; window < 300; window++) {
        for (uint32_t partner = 1; partner < 3; partner++)
            add(contact, 0, partner, 1000);
        add(contact, 1, 2, 1000);
        add(contact, 0, 3, 1000);
        add(contact, 1, 3, window < 20 ? 200 : window % 2 == 0 ? 60 : 95);
        add(contact, 2, 3, window % 2 == 0 ? 60 : 95);
        changes += close_window(contact, &m);
    }
    assert_int_equal(changes, 5);
    assert_true(matrix_get(&m, 1, 3));
    assert_false(matrix_get(&m, 2, 3));
    contact_destroy(contact);
    free(m.edge);
}

static void a_silent_job_keeps_its_edges(void **state)
{
    struct contact *contact = create(CONTACT_DEFAULTS);
    struct matrix m = matrix_create(8);
    (void)state;
    for (uint32_t window = 0; window < 1000; window++) {
        if (window < 3)
            add(contact, 1, 2, 1);
        if (window < 3 || window > 500)
            add(contact, 3, 4, 1);
        close_window(contact, &m);
    }
    assert_true(matrix_get(&m, 1, 2)); /* neither 1 nor 2 spoke to anybody else since */
    assert_true(matrix_get(&m, 3, 4));
    contact_destroy(contact);
    free(m.edge);
}

static void a_pair_is_forgotten_when_its_ends_turn_to_others(void **state)
{
    struct contact_params params = CONTACT_DEFAULTS;
    params.max_pairs = 2;
    struct contact *contact = create(params);
    struct matrix m = matrix_create(8);
    (void)state;
    for (uint32_t window = 0; window < 500; window++) {
        if (window < 3)
            add(contact, 1, 2, 100);
        else
            add(contact, 3, 1, 1);
        close_window(contact, &m);
    }
    assert_false(matrix_get(&m, 1, 2));
    assert_true(matrix_get(&m, 1, 3));
    assert_int_equal(contact_add(contact, 5, 6, 1), 0); /* in place of the forgotten one */
    assert_int_equal(contact_add(contact, 5, 7, 1), -HOLTER_ELIMIT);
    contact_destroy(contact);
    free(m.edge);
}

static void assert_same_changes(struct contact *one, struct contact *other, size_t *changes)
{
    const struct contact_edge *edges, *others;
    size_t count, other_count;
    assert_int_equal(contact_close(one, &edges, &count), 0);
    assert_int_equal(contact_close(other, &others, &other_count), 0);
    assert_int_equal(count, other_count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(edges[i].a, others[i].a);
        assert_int_equal(edges[i].b, others[i].b);
        assert_int_equal(edges[i].present, others[i].present);
    }
    *changes += count;
}

static void the_order_within_a_window_does_not_matter(void **state)
{
    struct contact *one = create(CONTACT_DEFAULTS), *other = create(CONTACT_DEFAULTS);
    uint64_t random = 3;
    size_t changes = 0;
    (void)state;
    for (uint32_t window = 0; window < 50; window++) {
        uint32_t rows[300][3];
        for (uint32_t i = 0; i < 300; i++) {
            rows[i][0] = random_next(&random) % MOST;
            rows[i][1] = random_next(&random) % MOST;
            rows[i][2] = random_next(&random) % 30;
        }
        for (uint32_t i = 0; i < 300; i++) {
            add(one, rows[i][0], rows[i][1], rows[i][2]);
            add(other, rows[299 - i][1], rows[299 - i][0], rows[299 - i][2]);
        }
        assert_same_changes(one, other, &changes);
    }
    contact_destroy(one);
    contact_destroy(other);
}

static void bounds_are_kept(void **state)
{
    struct contact_params params = CONTACT_DEFAULTS;
    struct contact *contact;
    (void)state;
    params.enter = 0;
    assert_int_equal(contact_create(&contact, &params), -HOLTER_ERANGE);
    params = CONTACT_DEFAULTS;
    params.leave = 0.2;
    assert_int_equal(contact_create(&contact, &params), -HOLTER_ERANGE);
    params = CONTACT_DEFAULTS;
    params.horizon = 0;
    assert_int_equal(contact_create(&contact, &params), -HOLTER_ERANGE);
    params = CONTACT_DEFAULTS;
    params.max_pairs = 100;
    params.max_vertices = 1000;
    contact = create(params);
    assert_int_equal(contact_add(contact, 0, 1000, 1), -HOLTER_ERANGE);
    assert_int_equal(contact_add(contact, UINT32_MAX, 0, 1), -HOLTER_ERANGE);
    for (uint32_t i = 1; i < 1000; i++)
        assert_int_equal(contact_add(contact, 0, i, UINT64_MAX), i <= 100 ? 0 : -HOLTER_ELIMIT);
    add(contact, 1, 0, UINT64_MAX); /* a known one; its sum stays at the end of the scale */
    add(contact, 7, 7, 1);
    assert_int_equal(close_window(contact, NULL), 0);
    add(contact, 0, 1, UINT64_MAX);
    assert_int_equal(close_window(contact, NULL), 1);
    contact_destroy(contact);
    contact_destroy(NULL);
}

/* A pair as contact.h defines it. */
struct plain {
    double weight;
    uint32_t windows, messages;
    bool known, edge;
};

#define FEW 40u

/* @return how many edges changed */
static size_t close_plainly(struct plain pairs[FEW][FEW], const struct contact_params *params)
{
    bool active[FEW] = {false};
    double heaviest[FEW] = {0};
    size_t changes = 0;
    for (uint32_t i = 0; i < FEW * FEW; i++)
        if (pairs[i / FEW][i % FEW].messages > 0)
            active[i / FEW] = active[i % FEW] = true;
    for (uint32_t i = 0; i < FEW * FEW; i++) {
        uint32_t a = i / FEW, b = i % FEW;
        struct plain *pair = &pairs[a][b];
        if (pair->known && (active[a] || active[b])) {
            pair->weight += (pair->messages - pair->weight) / params->horizon;
            pair->windows += pair->messages > 0;
        }
        heaviest[a] = pair->weight > heaviest[a] ? pair->weight : heaviest[a];
        heaviest[b] = pair->weight > heaviest[b] ? pair->weight : heaviest[b];
    }
    for (uint32_t i = 0; i < FEW * FEW; i++) {
        struct plain *pair = &pairs[i / FEW][i % FEW];
        bool forgotten = pair->weight * params->horizon < 0.05;
        double share = pair->edge ? params->leave : params->enter;
        double least =
            heaviest[i / FEW] < heaviest[i % FEW] ? heaviest[i / FEW] : heaviest[i % FEW];
        bool edge = pair->windows >= params->steady && !forgotten && pair->weight >= share * least;
        changes += edge != pair->edge;
        pair->edge = edge;
        pair->messages = 0;
        if (forgotten)
            *pair = (struct plain){0};
    }
    return changes;
}

static void add_to_both(struct contact *contact, struct plain pairs[FEW][FEW], uint32_t a,
                        uint32_t b, uint32_t messages)
{
    add(contact, a, b, messages);
    if (a == b)
        return;
    struct plain *pair = a < b ? &pairs[a][b] : &pairs[b][a];
    pair->messages += messages;
    pair->known = true;
}

/* @return how many edges changed */
static size_t close_both(struct contact *contact, struct plain pairs[FEW][FEW],
                         const struct contact_params *params, struct matrix *m)
{
    size_t changes = close_plainly(pairs, params);
    assert_int_equal(close_window(contact, m), changes);
    for (uint32_t i = 0; i < FEW * FEW; i++) {
        if (i / FEW < i % FEW)
            assert_int_equal(matrix_get(m, i / FEW, i % FEW), pairs[i / FEW][i % FEW].edge);
    }
    return changes;
}

/* All vertices communicate in some windows, few of them in others, and none now and then. */
static void edges_are_those_of_plain_sums(void **state)
{
    struct contact_params params = CONTACT_DEFAULTS;
    struct plain pairs[FEW][FEW] = {{{0}}};
    struct matrix m = matrix_create(FEW);
    uint64_t random = 11;
    size_t changes = 0;
    (void)state;
    params.horizon = 5;
    struct contact *contact = create(params);
    for (uint32_t window = 0; window < 3000; window++) {
        const uint32_t most[] = {40, 40, 3, 3, 1, 0}, count = most[window / 7 % 6];
        for (uint32_t i = 0; i < count; i++) {
            uint32_t a = random_next(&random) % 12, b = random_next(&random) % 12;
            add_to_both(contact, pairs, a, b, 1 + random_next(&random) % (a == 0 ? 90 : 9));
        }
        changes += close_both(contact, pairs, &params, &m);
    }
    assert_true(changes > 1000);
    contact_destroy(contact);
    free(m.edge);
}

/* Neighbours exchange much in each window, at times less, all others something now and then: these
 * pairs are silent in between, some of them edges, and fade until they are forgotten. */
static void silent_pairs_fade_like_others(void **state)
{
    struct contact_params params = CONTACT_DEFAULTS;
    struct plain pairs[FEW][FEW] = {{{0}}};
    struct matrix m = matrix_create(FEW);
    uint64_t random = 5;
    size_t changes = 0;
    (void)state;
    params.horizon = 20;
    struct contact *contact = create(params);
    for (uint32_t window = 0; window < 600; window++) {
        const uint32_t much = window % 200 < 150 ? 60 : 1 + random_next(&random) % 2;
        for (uint32_t a = 0; a < FEW; a++)
            add_to_both(contact, pairs, a, (a + 1) % FEW, much);
        for (uint32_t i = 0; window % 90 < 2 && i < FEW * FEW; i++)
            if (i / FEW < i % FEW && (window > 2 || random_next(&random) % 2 == 0))
                add_to_both(contact, pairs, i / FEW, i % FEW, i < 8 * FEW ? 40 : 1);
        changes += close_both(contact, pairs, &params, &m);
    }
    assert_true(changes > 100);
    contact_destroy(contact);
    free(m.edge);
}

/* Of ranks that exchange much with their neighbours some others hear no more: these edges go, the
 * weaker first, while nothing changes among the others. */
static void edges_that_fall_silent_go_by_themselves(void **state)
{
    struct contact_params params = CONTACT_DEFAULTS;
    struct plain pairs[FEW][FEW] = {{{0}}};
    struct matrix m = matrix_create(FEW);
    const uint32_t messages[] = {60, 30, 45, 30, 20};
    size_t windows_of_changes = 0;
    (void)state;
    params.horizon = 20;
    struct contact *contact = create(params);
    for (uint32_t window = 0; window < 200; window++) {
        for (uint32_t step = 0; step < (window < 100 ? 5 : 2); step++)
            for (uint32_t a = 0; a < FEW; a++)
                add_to_both(contact, pairs, a, (a + 1 + step) % FEW, messages[step]);
        windows_of_changes += close_both(contact, pairs, &params, &m) > 0;
    }
    assert_int_equal(windows_of_changes, 4);
    contact_destroy(contact);
    free(m.edge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_is_an_edge_after_messages_in_enough_windows),
        cmocka_unit_test(greetings_at_the_start_go_when_the_work_begins),
        cmocka_unit_test(a_small_partner_counts_when_it_is_the_other_s_largest),
        cmocka_unit_test(a_small_partner_counts_when_it_comes_late),
        cmocka_unit_test(an_edge_does_not_flap),
        cmocka_unit_test(a_silent_job_keeps_its_edges),
        cmocka_unit_test(a_pair_is_forgotten_when_its_ends_turn_to_others),
        cmocka_unit_test(the_order_within_a_window_does_not_matter),
        cmocka_unit_test(edges_are_those_of_plain_sums),
        cmocka_unit_test(silent_pairs_fade_like_others),
        cmocka_unit_test(edges_that_fall_silent_go_by_themselves),
        cmocka_unit_test(bounds_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
