/* The sums of attribution against plain ones: jobs whose windows are like those before, and jobs
 * whose windows are not. */
#include "daemon/analysis/attribution/attribution_state.h"

#include "holter/time_class.h"
#include "tests/daemon/analysis/attribution/summed.h"
#include "tests/daemon/analysis/noise.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 24u
#define MAXIMUM_PAIRS 600u
#define WINDOWS 120u
#define RING ATTRIBUTION_WINDOWS

struct list {
    struct wire_pair_row rows[MAXIMUM_PAIRS];
    size_t count;
    bool drawn; /* its rows have figures */
};

/* ---- partners ---------------------------------------------------------------- */

/* Figures of all that a window's pairs add to. */
static void assert_traffic(const struct attribution *a, const struct list *list, uint32_t ranks)
{
    uint64_t expected[RANKS][RANK_FIGURES] = {0};
    const struct attribution_slice *slice = attribution_slice_at(a, a->slice_count - 1);
    for (size_t i = 0; i < list->count; i++) {
        const struct wire_pair_row *row = &list->rows[i];
        uint32_t from = (uint32_t)row->source, to = (uint32_t)row->destination;
        if (from >= ranks || to >= ranks || from == to)
            continue;
        uint32_t node = attribution_node_of(a, from);
        int near = node != ATTRIBUTION_NO_NODE && node == attribution_node_of(a, to);
        expected[from][near ? RANK_INTRA_OUT : RANK_INTER_OUT] += row->messages;
        expected[from][near ? RANK_INTRA_BYTES : RANK_INTER_BYTES] += row->bytes;
        expected[to][RANK_INTER_IN] += near ? 0 : row->messages;
    }
    static const enum rank_figure figures[] = {RANK_INTRA_OUT, RANK_INTER_OUT, RANK_INTRA_BYTES,
                                               RANK_INTER_BYTES, RANK_INTER_IN};
    for (uint32_t r = 0; r < ranks; r++)
        for (size_t f = 0; f < sizeof(figures) / sizeof(*figures); f++)
            assert_int_equal(slice->ranks[r][figures[f]], expected[r][figures[f]]);
}

/* Each rank has so many partners; now and then others are among them, and rows that do not count.
 */
static void draw_list(struct list *list, uint32_t partners, struct noise *noise)
{
    list->count = 0;
    for (uint32_t from = 0; from < RANKS; from++) {
        for (uint32_t k = 1; k <= partners; k++) {
            int64_t to = noise_uint(noise) % 20 == 0
                             ? (int64_t)(noise_uint(noise) % (RANKS + 4)) - 2
                             : (int64_t)((from + k) % RANKS);
            list->rows[list->count++] =
                (struct wire_pair_row){.source = from, .destination = (int32_t)(to < 0 ? -1 : to)};
        }
    }
}

/* Half of the windows have the rows of the window before. */
static void change_list(struct list *list, uint32_t partners, struct noise *noise)
{
    if (list->drawn && noise_uint(noise) % 2 == 0)
        return;
    list->drawn = true;
    switch (noise_uint(noise) % 8) {
    case 0:
        draw_list(list, partners, noise);
        break;
    case 1: /* the last are missing, or there again */
        list->count = list->count / 2 + noise_uint(noise) % (list->count / 2 + 1);
        break;
    case 2: /* one is another one */
        list->rows[noise_uint(noise) % list->count].destination =
            (int32_t)(noise_uint(noise) % RANKS);
        break;
    default:
        break;
    }
    for (size_t i = 0; i < list->count; i++) {
        list->rows[i].messages = noise_uint(noise) % 50 == 0 ? 0 : 1 + noise_uint(noise) % 9;
        list->rows[i].bytes = 100 * list->rows[i].messages;
    }
}

static void add_plainly(struct attribution_partner *partners, uint32_t rank, uint64_t messages)
{
    uint32_t lightest = 0, at = ATTRIBUTION_PARTNERS;
    for (uint32_t i = 0; i < ATTRIBUTION_PARTNERS && at == ATTRIBUTION_PARTNERS; i++) {
        if (partners[i].messages > 0 && partners[i].rank == rank)
            at = i;
        else if (partners[i].messages < partners[lightest].messages)
            lightest = i;
    }
    at = at == ATTRIBUTION_PARTNERS ? lightest : at;
    partners[at].rank = rank;
    partners[at].messages += messages;
}

static void add_list_plainly(struct attribution_partner (*partners)[ATTRIBUTION_PARTNERS],
                             const struct list *list, uint32_t ranks)
{
    for (size_t i = 0; i < list->count; i++) {
        uint32_t from = (uint32_t)list->rows[i].source, to = (uint32_t)list->rows[i].destination;
        if (from >= ranks || to >= ranks || from == to)
            continue;
        add_plainly(partners[from], to, list->rows[i].messages);
        add_plainly(partners[to], from, list->rows[i].messages);
    }
}

static void assert_partners(const struct attribution *a,
                            struct attribution_partner (*expected)[ATTRIBUTION_PARTNERS])
{
    for (uint32_t r = 0; r < a->rank_count; r++) {
        for (uint32_t i = 0; i < ATTRIBUTION_PARTNERS; i++) {
            const struct attribution_partner partner = a->partners[r][i];
            assert_int_equal(partner.messages, expected[r][i].messages);
            assert_int_equal(partner.rank, expected[r][i].rank);
        }
    }
}

static void follow(uint32_t partners, uint64_t seed)
{
    struct attribution_partner expected[RANKS][ATTRIBUTION_PARTNERS] = {0};
    struct noise noise = {seed};
    struct wire_rank_row ranks[RANKS];
    struct list *list = calloc(1, sizeof(*list));
    struct attribution *a;
    assert_non_null(list);
    assert_int_equal(attribution_create(&a), 0);
    draw_list(list, partners, &noise);
    for (uint32_t r = 0; r < RANKS; r++)
        ranks[r] = (struct wire_rank_row){.rank = r};
    for (uint64_t w = 1; w <= WINDOWS; w++) {
        uint32_t count = w % 40 < 3 ? RANKS - 3 : RANKS; /* some have not reported */
        change_list(list, partners, &noise);
        if (noise_uint(&noise) % 10 == 0)
            assert_int_equal(attribution_place(a, (uint32_t)(noise_uint(&noise) % RANKS),
                                               (uint32_t)(noise_uint(&noise) % 4), "n"),
                             0);
        struct attribution_window window = {.number = w,
                                            .length_ns = 1000,
                                            .ranks = ranks,
                                            .rank_count = count,
                                            .pairs = list->rows,
                                            .pair_count = list->count};
        assert_int_equal(take_summed(a, &window), 0);
        assert_traffic(a, list, count);
        add_list_plainly(expected, list, count);
        assert_partners(a, expected);
    }
    attribution_destroy(a);
    free(list);
}

static void partners_equal_plain_sums(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        follow(3, seed);  /* all of them have room */
        follow(12, seed); /* most have not */
    }
}

/* ---- the baseline -------------------------------------------------------------- */

struct plain {
    uint64_t calls[WINDOWS][RANKS];
    double base[RANKS];
};

static void draw_calls(uint64_t *calls, struct wire_rank_row *rows, uint32_t count,
                       struct noise *noise)
{
    for (uint32_t r = 0; r < count; r++) {
        /* Beyond 2^52 now and then, where doubles no longer are whole numbers of all sizes. */
        calls[r] = noise_uint(noise) % 30 == 0 ? noise_uint(noise) << 8 : noise_uint(noise) >> 30;
        rows[r] = (struct wire_rank_row){.rank = r, .calls = calls[r]};
    }
    for (uint32_t i = count; i > 1; i--) { /* in any order */
        uint32_t other = (uint32_t)(noise_uint(noise) % i);
        struct wire_rank_row swap = rows[i - 1];
        rows[i - 1] = rows[other];
        rows[other] = swap;
    }
}

static void the_baseline_equals_a_plain_one(void **state)
{
    struct plain *plain = calloc(1, sizeof(*plain));
    const double keep = exp(-1.0 / 20);
    struct noise noise = {5};
    struct attribution *a;
    (void)state;
    assert_non_null(plain);
    assert_int_equal(attribution_create(&a), 0);
    a->keep = keep;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        struct wire_rank_row rows[RANKS];
        uint32_t count = 1 + (uint32_t)(noise_uint(&noise) % RANKS);
        draw_calls(plain->calls[w], rows, count, &noise);
        if (w == 50)
            attribution_disturbed(a, 45);
        if (w == 70)
            attribution_calm(a);
        struct attribution_window window = {
            .number = w + 1, .length_ns = 1000, .ranks = rows, .rank_count = count};
        if (w % 9 == 8) { /* a window that is refused leaves nothing of its ranks */
            struct attribution_window old = window;
            old.number = w;
            assert_int_equal(attribution_window(a, &old), -ERANGE);
        }
        assert_int_equal(take_summed(a, &window), 0);
        int disturbed = w >= RING && w - RING + 1 >= 45 && w - RING + 1 <= 70;
        for (uint32_t r = 0; r < RANKS && w >= RING && !disturbed; r++)
            plain->base[r] = plain->base[r] * keep + (double)plain->calls[w - RING][r];
        for (uint32_t r = 0; r < RANKS; r++) {
            double base = r < a->base.rank_capacity ? a->base.ranks[r][RANK_CALLS] : 0;
            assert_true(base == plain->base[r]);
            const struct attribution_slice *last = attribution_slice_at(a, a->slice_count - 1);
            assert_int_equal(last->rank_count > r ? last->ranks[r][RANK_CALLS] : 0,
                             r < count ? plain->calls[w][r] : 0);
        }
    }
    attribution_destroy(a);
    free(plain);
}

/* ---- messages that were matched ------------------------------------------------ */

/* Small ones, such that few are more than 31 bits together, and such of up to 64 bits. */
static uint64_t draw_time(struct noise *noise)
{
    uint64_t time = noise_uint(noise);
    if (noise_uint(noise) % 40 == 0)
        return time << 11 >> noise_uint(noise) % 60;
    return time >> (23 + time % 28);
}

static struct transfer draw_transfer(struct noise *noise, uint32_t ranks)
{
    uint64_t messages = noise_uint(noise) % 3 == 0 ? 1 : 1 + noise_uint(noise) % 9;
    return (struct transfer){.source = (uint32_t)(noise_uint(noise) % ranks),
                             .destination = (uint32_t)(noise_uint(noise) % ranks),
                             .locality = (uint8_t)(noise_uint(noise) % LOCALITIES),
                             .size_class = (uint16_t)(3 + noise_uint(noise) % 2),
                             .messages = messages,
                             .transfer_ns = 1000 * messages,
                             .log2_sum = messages * time_log2(1000),
                             .late_sender_ns = draw_time(noise),
                             .late_receiver_ns = draw_time(noise),
                             .network_ns = draw_time(noise),
                             .joint_ns = draw_time(noise)};
}

/* By locality and size class; 0: there is none. The largest are those of rows that are not wide,
 * though what is expected of them is. */
static const uint32_t criteria[LOCALITIES][5] = {{0, 0, 0, 700, 0}, {0, 0, 0, 1000, 1000000000}};

static void add_transfer_plainly(uint64_t (*ranks)[RANK_FIGURES], const struct transfer *t)
{
    uint64_t *from = ranks[t->source], *to = ranks[t->destination];
    int near = t->locality == LOCALITY_INTRA;
    uint64_t expected = criteria[t->locality][t->size_class] * t->messages;
    from[RANK_AWAITED] += t->late_sender_ns;
    to[RANK_WAITED] += t->late_sender_ns;
    to[RANK_CAME_LATE] += t->late_receiver_ns;
    if (expected == 0)
        return;
    from[RANK_NETWORK_OUT] += near ? 0 : t->network_ns;
    from[RANK_EXPECTED_OUT] += near ? 0 : expected;
    to += near ? RANK_NEAR_MATCHED : RANK_MATCHED;
    to[PAIR_MATCHED] += t->messages;
    to[PAIR_NETWORK] += t->network_ns;
    to[PAIR_EXPECTED] += expected;
    to[PAIR_JOINT] += t->joint_ns;
}

static void sums_of_figures_of_all_sizes_equal_plain_ones(void **state)
{
    enum { TRANSFERS = 200 };
    static uint64_t plain[WINDOWS][RANKS][RANK_FIGURES];
    static double base[RANKS][RANK_FIGURES];
    const double keep = exp(-1.0 / 20);
    struct latency_scale *scale = calloc(1, sizeof(*scale));
    struct transfers rows = {0};
    struct message_ranks messages = {.count = 0};
    struct noise noise = {11};
    struct attribution *a;
    (void)state;
    for (uint32_t l = 0; l < LOCALITIES; l++)
        for (uint32_t c = 0; c < 5; c++)
            scale->reference[l][c] = scale->recent[l][c] = criteria[l][c];
    assert_int_equal(attribution_create(&a), 0);
    a->keep = keep;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        struct wire_rank_row ranks[RANKS] = {{.rank = 0}};
        for (uint32_t r = 0; r < RANKS; r++) {
            ranks[r].rank = r;
            plain[w][r][RANK_LENGTH] = 1000;
        }
        transfers_clear(&rows);
        for (uint32_t i = 0; i < TRANSFERS; i++) {
            struct transfer row = draw_transfer(&noise, RANKS);
            if (w % 20 < 10) /* in some windows all is small */
                row.late_sender_ns = row.late_receiver_ns = row.network_ns = row.joint_ns = i;
            add_transfer_plainly(plain[w], &row);
            assert_int_equal(transfers_add(&rows, &row), 0);
        }
        struct attribution_window window = {.number = w + 1,
                                            .length_ns = 1000,
                                            .ranks = ranks,
                                            .rank_count = RANKS,
                                            .transfers = &rows,
                                            .scale = scale,
                                            .messages = &messages};
        sum_messages(&messages, &window);
        assert_int_equal(attribution_window(a, &window), 0);
        for (uint32_t r = 0; r < RANKS; r++)
            for (uint32_t f = 0; f < RANK_FIGURES; f++) {
                const struct attribution_slice *last = attribution_slice_at(a, a->slice_count - 1);
                assert_int_equal(last->ranks[r][f], plain[w][r][f]);
                if (w >= RING)
                    base[r][f] = base[r][f] * keep + (double)plain[w - RING][r][f];
            }
    }
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t f = 0; f < RANK_FIGURES; f++)
            assert_true(a->base.ranks[r][f] == base[r][f]);
    attribution_destroy(a);
    free(scale);
    transfers_finish(&rows);
    message_ranks_finish(&messages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partners_equal_plain_sums),
        cmocka_unit_test(the_baseline_equals_a_plain_one),
        cmocka_unit_test(sums_of_figures_of_all_sizes_equal_plain_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
