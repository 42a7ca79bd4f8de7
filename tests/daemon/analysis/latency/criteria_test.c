/* Latency criteria: recent and reference levels, few messages, late classes, and bounds. */
#include "daemon/analysis/latency/criteria.h"

#include "holter/error.h"
#include "holter/order.h"
#include "holter/size_class.h"
#include "holter/time_class.h"
#include "tests/daemon/analysis/noise.h"
#include "tests/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A transfer as a recording has it. */
struct transfer {
    uint32_t window, locality, size_class;
    uint64_t ns;
};

static const char *recorded; /* file of recorded transfers */

static struct criteria *create(uint32_t horizon, double half_life, uint32_t least)
{
    struct criteria *criteria = NULL;
    struct criteria_params params = CRITERIA_DEFAULTS;
    params.horizon = horizon;
    params.half_life = half_life;
    params.minimum_messages = least;
    assert_int_equal(criteria_create(&criteria, &params), 0);
    return criteria;
}

static void add(struct criteria *criteria, unsigned locality, uint64_t bytes, uint64_t ns,
                uint64_t messages)
{
    assert_int_equal(
        criteria_add(criteria, locality, size_class_of(bytes), time_class_of(ns), messages), 0);
}

static void assert_near(double got, double expected, double share)
{
    if (!(fabs(got - expected) <= share * expected))
        fail_msg("%g is not within %g %% of %g", got, 100 * share, expected);
}

static double exact_median(double *times, size_t count)
{
    qsort(times, count, sizeof(*times), order_doubles);
    return count == 0 ? NAN : (times[(count - 1) / 2] + times[count / 2]) / 2;
}

/* Transfers as of a halo exchange and small messages besides, on one node and between nodes: a
 * latency and a bandwidth, lognormal noise, one in twenty held up ten times and more. */
static void make_transfers(struct transfer *out, size_t count, uint32_t windows, uint64_t seed)
{
    static const uint64_t sizes[] = {0, 8, 48, 120, 1024, 4000, 12288, 13000, 65536, 1 << 20};
    struct noise noise = {.state = seed};
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes = sizes[noise_uint(&noise) % 10];
        uint32_t locality = noise_uint(&noise) % 3 == 0;
        double ns = (locality ? 15000 : 700) + (double)bytes * (locality ? 0.8 : 0.12);
        ns *= exp(0.35 * noise_gauss(&noise));
        if (noise_uint(&noise) % 20 == 0)
            ns *= 10 * exp(noise_gauss(&noise));
        out[i] = (struct transfer){.window = (uint32_t)(i * windows / count),
                                   .locality = locality,
                                   .size_class = size_class_of(bytes),
                                   .ns = (uint64_t)ns};
    }
}

static double *times_of(const struct transfer *transfers, size_t count, uint64_t locality,
                        uint64_t size_class, size_t *found)
{
    double *times = malloc((count + 1) * sizeof(*times));
    *found = 0;
    for (size_t i = 0; i < count; i++)
        if (transfers[i].locality == locality && transfers[i].size_class == size_class)
            times[(*found)++] = (double)transfers[i].ns;
    return times;
}

static void medians_of_a_million_transfers_are_within_a_percent(void **state)
{
    (void)state;
    enum { COUNT = 1000000, WINDOWS = 150, HORIZON = 60 };
    struct transfer *transfers = malloc(COUNT * sizeof(*transfers));
    make_transfers(transfers, COUNT, WINDOWS, 1);
    struct criteria *criteria = create(HORIZON, 1000, 16);
    size_t from = 0, to = 0;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        for (; to < COUNT && transfers[to].window == w; to++)
            assert_int_equal(criteria_add(criteria, transfers[to].locality,
                                          transfers[to].size_class, time_class_of(transfers[to].ns),
                                          1),
                             0);
        assert_int_equal(criteria_close(criteria, w), 0);
        if (w != 40 && w != 59 && w != 60 && w != WINDOWS - 1)
            continue;
        while (transfers[from].window + HORIZON <= w)
            from++;
        struct wire_criterion_row rows[64];
        size_t count = criteria_list(criteria, rows, 64);
        assert_int_equal(count, 20);
        for (size_t r = 0; r < count; r++) {
            size_t found;
            double *times =
                times_of(transfers + from, to - from, rows[r].locality, rows[r].size_class, &found);
            assert_int_equal(rows[r].messages, found);
            assert_near((double)rows[r].recent_ns, exact_median(times, found), 0.01);
            free(times);
        }
    }
    criteria_destroy(criteria);
    free(transfers);
}

/* Transfers of a real job: see the head of the file. */
static size_t read_transfers(struct transfer *out, size_t capacity)
{
    FILE *file = fopen(recorded, "r");
    assert_non_null(file);
    char line[256];
    size_t count = 0;
    while (fgets(line, sizeof(line), file) != NULL && count < capacity) {
        unsigned long window, bytes, ns;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%lu %lu %lu", &window, &bytes, &ns), 3);
        out[count++] = (struct transfer){
            .window = (uint32_t)window, .size_class = size_class_of(bytes), .ns = ns};
    }
    fclose(file);
    return count;
}

static void medians_of_recorded_transfers_are_within_a_percent(void **state)
{
    (void)state;
    static struct transfer transfers[20000];
    size_t count = read_transfers(transfers, 20000), at = 0;
    assert_int_equal(count, 12000);
    struct criteria *criteria = create(60, 14400, 16);
    for (uint32_t w = 0; w <= transfers[count - 1].window; w++) {
        for (; at < count && transfers[at].window == w; at++)
            assert_int_equal(criteria_add(criteria, 0, transfers[at].size_class,
                                          time_class_of(transfers[at].ns), 1),
                             0);
        assert_int_equal(criteria_close(criteria, w), 0);
    }
    struct wire_criterion_row rows[8];
    assert_int_equal(criteria_list(criteria, rows, 8), 6);
    for (size_t r = 0; r < 6; r++) {
        size_t found;
        double *times = times_of(transfers, count, 0, rows[r].size_class, &found);
        assert_int_equal(found, 2000);
        assert_near((double)rows[r].recent_ns, exact_median(times, found), 0.01);
        assert_true(rows[r].reference_ns <= rows[r].recent_ns);
        free(times);
    }
    criteria_destroy(criteria);
}

static void quantiles_of_the_horizon_and_the_median_of_the_newest_window_are_listed(void **state)
{
    (void)state;
    struct criteria *criteria = create(60, 14400, 16);
    struct wire_criterion_row row;
    for (uint64_t w = 0; w < 2; w++) {
        for (uint64_t i = 0; i <= 100; i++)
            add(criteria, 1, 4096, (w + 1) * (1000 + 10 * i), 1);
        assert_int_equal(criteria_close(criteria, w), 0);
        assert_int_equal(criteria_list(criteria, &row, 1), 1);
        assert_int_equal(row.window_messages, 101);
        assert_near((double)row.window_ns, (double)(w + 1) * 1500, 0.01);
    }
    assert_near((double)row.low_ns, 1200, 0.01); /* a tenth of both windows: a fifth of the first */
    assert_near((double)row.high_ns, 3600, 0.01);
    assert_int_equal(criteria_close(criteria, 2), 0); /* without messages */
    assert_int_equal(criteria_list(criteria, &row, 1), 1);
    assert_int_equal(row.window_messages, 0);
    assert_int_equal(row.window_ns, 0);
    assert_near((double)row.low_ns, 1200, 0.01);
    criteria_destroy(criteria);
}

/* The reference by definition: exact medians of runs of windows that have enough messages, each
 * weighing 2^(window / half-life) for each of its windows; the quantile by weight. */
struct weighted {
    double value, weight;
};

static int by_value(const void *a, const void *b)
{
    return order_doubles(&((const struct weighted *)a)->value,
                         &((const struct weighted *)b)->value);
}

static double batch_reference(const struct transfer *transfers, size_t count, uint32_t windows,
                              uint64_t locality, uint64_t size_class,
                              const struct criteria_params *params)
{
    struct weighted *medians = malloc(windows * sizeof(*medians));
    double *pool = malloc(count * sizeof(*pool)), total = 0, below = 0;
    size_t pooled = 0, found = 0, at = 0, runs = 0;
    for (uint32_t w = 0; w < windows; w++) {
        size_t before = pooled;
        for (; at < count && transfers[at].window == w; at++)
            if (transfers[at].locality == locality && transfers[at].size_class == size_class)
                pool[pooled++] = (double)transfers[at].ns;
        runs += pooled > before;
        if (pooled < params->minimum_messages)
            continue;
        double weight = (double)runs * exp2(w / params->half_life);
        medians[found++] = (struct weighted){exact_median(pool, pooled), weight};
        total += weight;
        pooled = runs = 0;
    }
    qsort(medians, found, sizeof(*medians), by_value);
    size_t k = 0;
    for (; k + 1 < found && below + medians[k].weight <= params->reference_quantile * total; k++)
        below += medians[k].weight;
    double result = found == 0 ? NAN : medians[k].value;
    free(medians);
    free(pool);
    return result;
}

static void streaming_and_batch_reference_agree(void **state)
{
    (void)state;
    enum { COUNT = 300000, WINDOWS = 2000 };
    struct transfer *transfers = malloc(COUNT * sizeof(*transfers));
    /* half-lives so short that the origin of the weights moves, and one that is long */
    static const double half_lives[] = {30, 300, 100000};
    make_transfers(transfers, COUNT, WINDOWS, 2);
    for (size_t i = 0; i < COUNT; i++) /* slower in the middle, and getting better */
        transfers[i].ns =
            (uint64_t)((double)transfers[i].ns * (1.5 + sin(transfers[i].window * 0.003)));
    for (size_t h = 0; h < 3; h++) {
        struct criteria_params params = CRITERIA_DEFAULTS;
        params.half_life = half_lives[h];
        params.minimum_messages = 20;
        struct criteria *criteria = create(60, params.half_life, params.minimum_messages);
        size_t at = 0;
        for (uint32_t w = 0; w < WINDOWS; w++) {
            for (; at < COUNT && transfers[at].window == w; at++)
                add(criteria, transfers[at].locality,
                    size_class_floor((uint16_t)transfers[at].size_class), transfers[at].ns, 1);
            assert_int_equal(criteria_close(criteria, w), 0);
        }
        struct wire_criterion_row rows[64];
        size_t count = criteria_list(criteria, rows, 64);
        assert_int_equal(count, 20);
        for (size_t r = 0; r < count; r++) {
            double batch = batch_reference(transfers, COUNT, WINDOWS, rows[r].locality,
                                           rows[r].size_class, &params);
            assert_near((double)rows[r].reference_ns, batch, 0.015);
        }
        criteria_destroy(criteria);
    }
    free(transfers);
}

static void the_order_within_a_window_does_not_show(void **state)
{
    (void)state;
    enum { COUNT = 20000, WINDOWS = 40 };
    struct transfer *transfers = malloc(COUNT * sizeof(*transfers));
    make_transfers(transfers, COUNT, WINDOWS, 3);
    struct criteria *forth = create(10, 50, 16), *back = create(10, 50, 16);
    for (size_t w = 0, per = COUNT / WINDOWS; w < WINDOWS; w++) {
        for (size_t i = 0; i < per; i++) {
            const struct transfer *a = &transfers[w * per + i],
                                  *b = &transfers[w * per + per - 1 - i];
            assert_int_equal(
                criteria_add(forth, a->locality, a->size_class, time_class_of(a->ns), 1), 0);
            assert_int_equal(
                criteria_add(back, b->locality, b->size_class, time_class_of(b->ns), 1), 0);
        }
        assert_int_equal(criteria_close(forth, w), 0);
        assert_int_equal(criteria_close(back, w), 0);
        struct wire_criterion_row one[64] = {0}, other[64] = {0};
        assert_int_equal(criteria_list(forth, one, 64), criteria_list(back, other, 64));
        assert_memory_equal(one, other, sizeof(one));
    }
    criteria_destroy(forth);
    criteria_destroy(back);
    free(transfers);
}

static void recent_follows_and_reference_holds_when_a_job_becomes_twice_as_slow(void **state)
{
    (void)state;
    struct criteria *criteria = create(60, 14400, 16);
    for (uint64_t w = 0; w < 300; w++) {
        add(criteria, 0, 1024, 1000, 50);
        assert_int_equal(criteria_close(criteria, w), 0);
    }
    for (uint64_t w = 300; w < 900; w++) {
        add(criteria, 0, 1024, 2000, 50);
        assert_int_equal(criteria_close(criteria, w), 0);
        if (w >= 360)
            assert_near(criteria_recent(criteria, 0, size_class_of(1024)), 2000, 0.01);
        assert_near(criteria_reference(criteria, 0, size_class_of(1024)), 1000, 0.01);
    }
    criteria_destroy(criteria);
}

/* All classes of a locality, to be compared with those of the window before. */
static void list_all(const struct criteria *criteria, double *out)
{
    for (unsigned s = 0; s < SIZE_CLASSES; s++) {
        out[2 * s] = criteria_recent(criteria, 0, s);
        out[2 * s + 1] = criteria_reference(criteria, 0, s);
    }
}

/* Of a steady job nothing changes; messages of another size, or fewer than it takes, do change
 * something, and so does a job that becomes slower. */
static void a_change_of_criteria_is_reported(void **state)
{
    (void)state;
    static double before[2 * SIZE_CLASSES], after[2 * SIZE_CLASSES];
    struct criteria *criteria = create(60, 14400, 16);
    unsigned changes = 0;
    for (uint64_t w = 0; w < 900; w++) {
        add(criteria, 0, 1024, w < 300 ? 1000 : 2000, 50);
        if (w >= 600)
            add(criteria, 0, 8192, 5000, w == 600 ? 3 : 50);
        assert_int_equal(criteria_close(criteria, w), 0);
        list_all(criteria, after);
        const int changed = criteria_changed(criteria, 0);
        if (w > 0)
            assert_true(changed || memcmp(before, after, sizeof(after)) == 0);
        assert_int_equal(criteria_changed(criteria, 1), w == 0);
        memcpy(before, after, sizeof(after));
        changes += (unsigned)changed;
    }
    assert_false(criteria_changed(criteria, 2));
    assert_in_range(changes, 4, 20);
    assert_near(criteria_recent(criteria, 0, size_class_of(1024)), 2000, 0.01);
    assert_near(criteria_recent(criteria, 0, size_class_of(8192)), 5000, 0.01);
    criteria_destroy(criteria);
}

static void slow_growth_is_not_absorbed(void **state)
{
    (void)state;
    struct criteria *criteria = create(60, 14400, 16);
    for (uint64_t w = 0; w < 4200; w++) { /* one per cent a minute for an hour, after ten minutes */
        double factor = w < 600 ? 1 : exp((double)(w - 600) / 60 * log(1.01));
        add(criteria, 1, 64, (uint64_t)(20000 * factor), 50);
        assert_int_equal(criteria_close(criteria, w), 0);
    }
    double recent = criteria_recent(criteria, 1, size_class_of(64));
    double reference = criteria_reference(criteria, 1, size_class_of(64));
    assert_near(recent, 20000 * exp(59.5 * log(1.01)), 0.01);
    assert_near(reference, 20000, 0.03);
    criteria_destroy(criteria);
}

static void a_job_that_changed_for_good_gets_a_new_reference_after_hours(void **state)
{
    (void)state;
    struct criteria *criteria = create(60, 3600, 16);
    uint64_t w = 0, changed = 36000, absorbed = 0;
    for (; w < changed + 5 * 3600 && absorbed == 0; w++) {
        add(criteria, 0, 1024, w < changed ? 1000 : 2000, 50);
        assert_int_equal(criteria_close(criteria, w), 0);
        if (criteria_reference(criteria, 0, size_class_of(1024)) > 1900)
            absorbed = w - changed;
    }
    /* the weight of what was halves every hour: a tenth is left after log2(10) hours */
    assert_in_range(absorbed, 11900, 12000);
    criteria_destroy(criteria);
}

static void a_start_that_is_too_fast_or_too_slow_does_not_stay(void **state)
{
    (void)state;
    static const uint64_t starts[] = {100, 50000};
    for (int i = 0; i < 2; i++) {
        struct criteria *criteria = create(60, 14400, 16);
        for (uint64_t w = 0; w < 60; w++) {
            add(criteria, 0, 1024, w < 5 ? starts[i] : 1000, 50);
            assert_int_equal(criteria_close(criteria, w), 0);
        }
        assert_near(criteria_reference(criteria, 0, size_class_of(1024)), 1000, 0.01);
        assert_near(criteria_recent(criteria, 0, size_class_of(1024)), 1000, 0.01);
        criteria_destroy(criteria);
    }
}

static void empty_classes_lie_on_the_line_between_their_neighbours(void **state)
{
    (void)state;
    struct criteria *criteria = create(60, 14400, 1);
    for (uint64_t w = 0; w < 3; w++) {
        /* 1 us and a quarter of a nanosecond a byte; sizes in the middle of their classes */
        add(criteria, 0, 1055, 1264, 100);
        add(criteria, 0, 67583, 17896, 100);
        assert_int_equal(criteria_close(criteria, w), 0);
    }
    for (unsigned s = size_class_of(1055); s <= size_class_of(67583); s++) {
        double low = (double)size_class_floor((uint16_t)s);
        double middle = (low + (double)size_class_floor((uint16_t)(s + 1)) - 1) / 2;
        assert_near(criteria_recent(criteria, 0, s), 1000 + middle / 4, 0.01);
        assert_near(criteria_reference(criteria, 0, s), 1000 + middle / 4, 0.01);
    }
    struct wire_criterion_row rows[4];
    assert_int_equal(criteria_count(criteria), 2);
    assert_int_equal(criteria_list(criteria, rows, 4), 2);
    assert_int_equal(rows[0].size_class, size_class_of(1055));
    assert_int_equal(rows[0].messages, 300);
    criteria_destroy(criteria);
}

static void beyond_the_known_sizes_criteria_are_sane(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes, ns, more_bytes, more_ns;
    } cases[] = {{8, 1000, 0, 0},           /* one class */
                 {1 << 20, 90000, 0, 0},    /* one large class */
                 {0, 0, 0, 0},              /* nothing takes no time */
                 {8, 5000, 4096, 1000},     /* falling */
                 {1024, 1000, 2048, 90000}, /* steeper than proportional */
                 {8, 1000, 65536, 10000}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct criteria *criteria = create(60, 14400, 1);
        add(criteria, 1, cases[i].bytes, cases[i].ns, 9);
        if (cases[i].more_bytes > 0)
            add(criteria, 1, cases[i].more_bytes, cases[i].more_ns, 9);
        assert_int_equal(criteria_close(criteria, 5), 0);
        uint64_t largest = cases[i].more_bytes > 0 ? cases[i].more_bytes : cases[i].bytes;
        double before = 0;
        for (unsigned s = 0; s < SIZE_CLASSES; s++) {
            double t = criteria_recent(criteria, 1, s);
            assert_true(isfinite(t) && t >= 1);
            assert_true(criteria_reference(criteria, 1, s) == t);
            if (s > size_class_of(largest) || s < size_class_of(cases[i].bytes))
                assert_true(t >= before);
            before = t;
            assert_true(isnan(criteria_recent(criteria, 0, s)));
        }
        criteria_destroy(criteria);
    }
}

static void few_messages_are_drawn_to_what_neighbours_let_expect(void **state)
{
    (void)state;
    struct criteria *criteria = create(60, 14400, 16);
    unsigned rare = size_class_of(1024);
    for (uint64_t w = 0; w < 20; w++) {
        add(criteria, 0, 512, 1000, 50);
        add(criteria, 0, 2048, 1000, 50);
        if (w == 0)
            add(criteria, 0, 1024, 16000, 1); /* one message that was held up */
        assert_int_equal(criteria_close(criteria, w), 0);
    }
    assert_near(criteria_recent(criteria, 0, rare), 1000 * pow(16, 1.0 / 16), 0.01);
    assert_near(criteria_reference(criteria, 0, rare), 1000 * pow(16, 1.0 / 16), 0.01);
    criteria_destroy(criteria);
}

static void rare_messages_make_a_reference_together(void **state)
{
    (void)state;
    struct criteria *criteria = create(60, 14400, 16);
    for (uint64_t w = 0; w < 3000; w++) {
        if (w % 30 == 0)
            add(criteria, 0, 1024, w < 1500 ? 1000 : 3000, 1);
        assert_int_equal(criteria_close(criteria, w), 0);
    }
    assert_near(criteria_recent(criteria, 0, size_class_of(1024)), 3000, 0.01);
    assert_near(criteria_reference(criteria, 0, size_class_of(1024)), 1000, 0.01);
    criteria_destroy(criteria);
}

static void a_class_first_seen_in_bad_times_inherits_its_neighbours_past(void **state)
{
    (void)state;
    struct criteria *criteria = create(60, 14400, 16);
    for (uint64_t w = 0; w < 1200; w++) {
        uint64_t factor = w < 600 ? 1 : 3;
        add(criteria, 0, 1024, 1000 * factor, 50);
        if (w >= 800)
            add(criteria, 0, 4096, 1500 * factor, 50);
        assert_int_equal(criteria_close(criteria, w), 0);
        if (w < 800)
            continue;
        assert_near(criteria_reference(criteria, 0, size_class_of(4096)), 1500, 0.02);
        if (w > 860)
            assert_near(criteria_recent(criteria, 0, size_class_of(4096)), 4500, 0.01);
    }
    criteria_destroy(criteria);
}

static void a_class_with_few_messages_in_bad_times_shares_its_neighbours_ratio(void **state)
{
    (void)state;
    struct criteria *criteria = create(60, 14400, 16);
    for (uint64_t w = 0; w < 700; w++) {
        uint64_t factor = w < 600 ? 1 : 3;
        add(criteria, 0, 1024, 1000 * factor, 50);
        if (w == 690)
            add(criteria, 0, 4096, 1500 * factor, 15);
        assert_int_equal(criteria_close(criteria, w), 0);
    }
    unsigned late = size_class_of(4096);
    assert_near(criteria_recent(criteria, 0, late) / criteria_reference(criteria, 0, late), 3,
                0.02);
    criteria_destroy(criteria);
}

static void windows_left_out_count_as_empty(void **state)
{
    (void)state;
    struct criteria *skipping = create(60, 14400, 16), *closing = create(60, 14400, 16);
    for (uint64_t w = 0; w < 400; w++) {
        if (w % 50 < 3) {
            add(skipping, 0, 100, 1000 + w, 40);
            add(closing, 0, 100, 1000 + w, 40);
            assert_int_equal(criteria_close(skipping, w), 0);
        }
        assert_int_equal(criteria_close(closing, w), 0);
        if (w % 50 >= 3)
            continue;
        struct wire_criterion_row one[2] = {0}, other[2] = {0};
        assert_int_equal(criteria_list(skipping, one, 2), 1);
        assert_int_equal(criteria_list(closing, other, 2), 1);
        assert_memory_equal(one, other, sizeof(one));
    }
    criteria_destroy(skipping);
    criteria_destroy(closing);
}

static void after_a_quiet_horizon_recent_is_the_reference(void **state)
{
    (void)state;
    struct criteria *criteria = create(10, 14400, 16);
    unsigned s = size_class_of(100);
    for (uint64_t w = 0; w < 50; w++) {
        add(criteria, 0, 100, w < 30 ? 1000 : 5000, 40);
        assert_int_equal(criteria_close(criteria, w), 0);
    }
    size_t bytes = memory_used();
    assert_int_equal(criteria_close(criteria, UINT64_MAX - 1), 0);
    struct wire_criterion_row row;
    assert_int_equal(criteria_list(criteria, &row, 1), 1);
    assert_int_equal(row.messages, 0);
    assert_true(memory_used() < bytes); /* the ring is empty */
    assert_near(criteria_recent(criteria, 0, s), criteria_reference(criteria, 0, s), 0);
    criteria_destroy(criteria);
}

static void what_comes_late_belongs_to_the_newest_window(void **state)
{
    (void)state;
    struct criteria *criteria = create(4, 14400, 1);
    add(criteria, 0, 100, 1000, 1);
    assert_int_equal(criteria_close(criteria, 10), 0);
    assert_int_equal(criteria_close(criteria, 10), -HOLTER_ERANGE);
    assert_int_equal(criteria_close(criteria, 9), -HOLTER_ERANGE);
    assert_int_equal(criteria_close(criteria, UINT64_MAX), -HOLTER_ERANGE);
    add(criteria, 0, 100, 9000, 7);
    assert_int_equal(criteria_close(criteria, 11), 0);
    assert_near(criteria_recent(criteria, 0, size_class_of(100)), 9000, 0.01);
    struct wire_criterion_row row;
    assert_int_equal(criteria_close(criteria, 14), 0); /* only the seven are left */
    assert_int_equal(criteria_list(criteria, &row, 1), 1);
    assert_int_equal(row.messages, 7);
    criteria_destroy(criteria);
}

static void what_is_out_of_range_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    struct criteria *criteria = create(60, 14400, 1);
    assert_int_equal(criteria_add(criteria, 2, 0, 0, 1), -HOLTER_ERANGE);
    assert_int_equal(criteria_add(criteria, 0, SIZE_CLASSES, 0, 1), -HOLTER_ERANGE);
    assert_int_equal(criteria_add(criteria, 0, 0, TIME_CLASSES, 1), -HOLTER_ERANGE);
    assert_int_equal(criteria_add(criteria, 0, 0, UINT32_MAX, 1), -HOLTER_ERANGE);
    assert_int_equal(criteria_add(criteria, 0, 0, 0, 0), 0);
    assert_int_equal(criteria_close(criteria, 0), 0);
    assert_int_equal(criteria_count(criteria), 0);
    assert_true(isnan(criteria_recent(criteria, 0, 0)));
    assert_true(isnan(criteria_recent(criteria, 2, 0)));
    assert_true(isnan(criteria_reference(criteria, 0, SIZE_CLASSES)));
    criteria_destroy(criteria);
    criteria_destroy(NULL);

    struct criteria_params wrong[6];
    for (int i = 0; i < 6; i++)
        wrong[i] = CRITERIA_DEFAULTS;
    wrong[0].horizon = 0;
    wrong[1].horizon = 65537;
    wrong[2].reference_quantile = 0;
    wrong[3].reference_quantile = NAN;
    wrong[4].half_life = 0.5;
    wrong[5].minimum_messages = 0;
    for (int i = 0; i < 6; i++)
        assert_int_equal(criteria_create(&criteria, &wrong[i]), -HOLTER_ERANGE);
}

static void the_largest_counts_do_not_overflow(void **state)
{
    (void)state;
    struct criteria *criteria = create(60, 1, 1);
    uint64_t most = (UINT64_C(1) << 41) - 1;
    for (uint64_t w = 0; w < 200; w++) {
        add(criteria, 1, UINT64_MAX, UINT64_MAX, most);
        assert_int_equal(criteria_add(criteria, 1, SIZE_CLASSES - 1, 9, 1), -HOLTER_ERANGE);
        assert_int_equal(criteria_close(criteria, w), 0);
    }
    struct wire_criterion_row row;
    assert_int_equal(criteria_list(criteria, &row, 1), 1);
    assert_int_equal(row.messages, 60 * most);
    assert_near(criteria_recent(criteria, 1, (unsigned)row.size_class), 0x1p64, 0.01);
    criteria_destroy(criteria);
}

static void memory_does_not_grow_with_messages_and_is_bounded(void **state)
{
    (void)state;
    struct criteria *criteria = create(60, 100, 16);
    size_t once = 0;
    for (uint64_t w = 0; w < 400; w++) {
        for (uint64_t ns = 500; ns < 50000; ns += 7)
            add(criteria, 0, 1024, ns, w < 200 ? 1 : 1000000);
        assert_int_equal(criteria_close(criteria, w), 0);
        if (w == 199)
            once = memory_used();
    }
    assert_int_equal(memory_used(), once);
    criteria_destroy(criteria);

    /* more classes of times than a window keeps: they are kept more coarsely, in any order */
    size_t before = memory_used();
    criteria = create(4, 100, 1);
    for (uint64_t w = 0; w < 8; w++) {
        for (unsigned s = 0; s < SIZE_CLASSES; s += 2)
            for (uint32_t c = 640; c < 1600; c++)
                assert_int_equal(criteria_add(criteria, 0, s, c, 3), 0);
        assert_int_equal(criteria_close(criteria, w), 0);
    }
    assert_true(memory_used() - before < 4 * 8 * CRITERIA_ENTRIES + 30e6);
    assert_near(criteria_recent(criteria, 0, 2), time_class_middle(1120), 0.05);
    struct wire_criterion_row row;
    criteria_list(criteria, &row, 1);
    assert_int_equal(row.messages, 4 * 3 * 960);
    criteria_destroy(criteria);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    recorded = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_of_a_million_transfers_are_within_a_percent),
        cmocka_unit_test(medians_of_recorded_transfers_are_within_a_percent),
        cmocka_unit_test(quantiles_of_the_horizon_and_the_median_of_the_newest_window_are_listed),
        cmocka_unit_test(streaming_and_batch_reference_agree),
        cmocka_unit_test(the_order_within_a_window_does_not_show),
        cmocka_unit_test(recent_follows_and_reference_holds_when_a_job_becomes_twice_as_slow),
        cmocka_unit_test(a_change_of_criteria_is_reported),
        cmocka_unit_test(slow_growth_is_not_absorbed),
        cmocka_unit_test(a_job_that_changed_for_good_gets_a_new_reference_after_hours),
        cmocka_unit_test(a_start_that_is_too_fast_or_too_slow_does_not_stay),
        cmocka_unit_test(empty_classes_lie_on_the_line_between_their_neighbours),
        cmocka_unit_test(beyond_the_known_sizes_criteria_are_sane),
        cmocka_unit_test(few_messages_are_drawn_to_what_neighbours_let_expect),
        cmocka_unit_test(rare_messages_make_a_reference_together),
        cmocka_unit_test(a_class_first_seen_in_bad_times_inherits_its_neighbours_past),
        cmocka_unit_test(a_class_with_few_messages_in_bad_times_shares_its_neighbours_ratio),
        cmocka_unit_test(windows_left_out_count_as_empty),
        cmocka_unit_test(after_a_quiet_horizon_recent_is_the_reference),
        cmocka_unit_test(what_comes_late_belongs_to_the_newest_window),
        cmocka_unit_test(what_is_out_of_range_is_refused_and_changes_nothing),
        cmocka_unit_test(the_largest_counts_do_not_overflow),
        cmocka_unit_test(memory_does_not_grow_with_messages_and_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
