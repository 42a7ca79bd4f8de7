#include "tests/viewer/synthetic_commgram.h"

#include "viewer/views/commgram/columns.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void into(void *user, const struct wire_message *message, int snapshot)
{
    (void)snapshot;
    assert_int_equal(commgram_apply_picture(user, &message->commgram), 0);
}

static void picture_of(struct commgram *g, uint32_t ranks, uint64_t phases, uint64_t communities)
{
    const struct synthetic_commgram gram = {
        .ranks = ranks, .every = 3, .begin_ns = 1000000000, .phase_ns = 1000000000};
    const struct commgram_request q = {.from_ns = 1000000000,
                                       .to_ns = (phases + 1) * 1000000000,
                                       .phases = phases,
                                       .communities = communities};
    commgram_init(g);
    commgram_asked(g, &q);
    synthetic_picture(&gram, &q, into, g);
    assert_int_equal(g->now.column_count, phases);
}

static void bars_stand_apart_in_equal_steps(void **state)
{
    static const struct {
        double w, h, pixel;
        uint64_t communities;
    } cases[] = {{1000, 400, 1, 18}, {700, 200, 0.5, 61}, {1000, 400, 1, 150}, {300, 120, 1, 60}};
    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct commgram g;
        struct columns c = {0};
        picture_of(&g, 512, 6, cases[n].communities);
        assert_int_equal(columns_build(&c, &g.now, cases[n].w, cases[n].h, cases[n].pixel), 0);
        for (uint32_t i = 0; i < g.now.bar_count; i++) {
            assert_true(c.tops[i] >= -0.01f && (double)c.bottoms[i] <= cases[n].h + 0.01);
            assert_true(c.bottoms[i] > c.tops[i]);
            if (i && g.now.bars[i].column == g.now.bars[i - 1].column)
                assert_true((double)(c.tops[i] - c.bottoms[i - 1]) >= cases[n].pixel - 0.01);
        }
        assert_true(fabs(columns_x(&c, 6) + c.bar_w - cases[n].w) < 0.01);
        assert_int_equal(c.thin_bars, 0);
        columns_finish(&c);
        commgram_clear(&g);
    }
}

static void bars_without_a_pixel_between_them_are_counted(void **state)
{
    struct commgram g;
    struct columns c = {0};
    (void)state;
    picture_of(&g, 512, 1, 512);
    assert_int_equal(columns_build(&c, &g.now, 1000, 300, 1), 0);
    assert_int_equal(c.thin_bars, 1024);
    assert_true((double)c.bottoms[511] <= 300.01);
    columns_finish(&c);
    commgram_clear(&g);
}

static void widths_are_as_the_bytes(void **state)
{
    struct commgram g;
    struct columns c = {0};
    (void)state;
    picture_of(&g, 512, 6, 18);
    assert_int_equal(columns_build(&c, &g.now, 1000, 400, 1), 0);
    uint32_t thin = 0;
    for (uint32_t i = 0; i < g.now.ribbon_count; i++) {
        double width = (double)g.now.ribbons[i].bytes * c.per_byte;
        assert_true(fabs((double)c.ribbons[i].width - width) <= width * 1e-5);
        thin += c.ribbons[i].width < 1;
    }
    assert_int_equal(c.thin_ribbons, thin);
    assert_true(thin > 0 && c.thin_width > 0 && c.thin_width < 1);
    columns_finish(&c);
    commgram_clear(&g);
}

/* A picture of some ranks: bars without a ribbon are small and together, whatever their number. */
static void requested_ranks_get_the_capacity(void **state)
{
    struct commgram g;
    struct columns c = {0};
    (void)state;
    picture_of(&g, 512, 1, 512);
    snprintf(g.now.asked.ranks, sizeof g.now.asked.ranks, "0-3");
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g.now.ribbon_count; i++) {
        if (g.now.ribbons[i].from < 4 && g.now.ribbons[i].to < 512 + 4)
            g.now.ribbons[kept++] = g.now.ribbons[i];
    }
    assert_true(kept > 0);
    g.now.ribbon_count = kept;
    assert_int_equal(columns_build(&c, &g.now, 1000, 300, 1), 0);
    double shown = 0, others = 0;
    for (uint32_t i = 0; i < 512; i++)
        *(i < 4 ? &shown : &others) += (double)(c.bottoms[i] - c.tops[i]);
    assert_true(shown > 150 && others > 20 && others < 60);
    assert_true((double)c.bottoms[511] <= 300.01);
    for (uint32_t i = 1; i < 512; i++)
        assert_true(c.tops[i] >= c.bottoms[i - 1] - 0.01f);
    columns_finish(&c);
    commgram_clear(&g);
}

/* Side by side where there is room, within the bar in any case. */
static void ends_lie_at_their_bars(void **state)
{
    struct commgram g;
    struct columns c = {0};
    (void)state;
    picture_of(&g, 512, 6, 18);
    const struct commgram_picture *p = &g.now;
    assert_int_equal(columns_build(&c, p, 1000, 400, 1), 0);
    for (uint32_t bar = 0; bar < p->bar_count; bar++) {
        double all = 0, top = INFINITY, foot = -INFINITY;
        for (uint32_t i = 0; i < p->ribbon_count; i++) {
            if (p->ribbons[i].from != bar)
                continue;
            double half = (double)c.ribbons[i].width / 2;
            all += 2 * half;
            top = fmin(top, (double)c.ribbons[i].y0 - half);
            foot = fmax(foot, (double)c.ribbons[i].y0 + half);
        }
        if (all <= 0)
            continue;
        double h = (double)(c.bottoms[bar] - c.tops[bar]);
        assert_true(all <= h * 1.5 + 0.01);
        if (all <= h) /* nothing lies upon anything */
            assert_true(fabs(foot - top - all) < 0.01);
        assert_true(top >= (double)c.tops[bar] - 0.01 && foot <= (double)c.bottoms[bar] + 0.01);
    }
    columns_finish(&c);
    commgram_clear(&g);
}

static void what_lies_under_a_point_is_found(void **state)
{
    struct commgram g;
    struct columns c = {0};
    uint32_t others;
    (void)state;
    picture_of(&g, 512, 6, 18);
    const struct commgram_picture *p = &g.now;
    assert_int_equal(columns_build(&c, p, 1000, 400, 1), 0);
    for (uint32_t i = 0; i < p->bar_count; i++) {
        double x = columns_x(&c, (uint32_t)p->bars[i].column) + c.bar_w / 2,
               y = ((double)c.tops[i] + (double)c.bottoms[i]) / 2;
        assert_int_equal(columns_bar_at(&c, p, x, y), i);
        assert_int_equal(columns_bar_at(&c, p, x + c.step / 2, y), COMMGRAM_NONE);
    }
    for (uint32_t i = 0; i < p->ribbon_count; i++) {
        double x = columns_x(&c, (uint32_t)p->ribbons[i].column) + c.bar_w + 1;
        uint32_t found = columns_ribbon_at(&c, p, x, (double)c.ribbons[i].y0, 0, 64, &others);
        assert_true(found != COMMGRAM_NONE);
        assert_int_equal(p->ribbons[found].from, p->ribbons[i].from);
    }
    assert_int_equal(columns_ribbon_at(&c, p, 50, 200, 63, 64, &others), COMMGRAM_NONE);
    columns_finish(&c);
    commgram_clear(&g);
}

static void messages_of_nothing_are_no_trouble(void **state)
{
    struct commgram g;
    struct columns c = {0};
    struct commgram_request q = {.phases = 1, .communities = 1};
    struct wire_column_row column = {.begin_ns = 1, .end_ns = 1};
    struct wire_bar_row bars[] = {{.column = 0}, {.column = 1, .ranks = UINT64_MAX}};
    struct wire_ribbon_row ribbons[] = {{.messages = 3},
                                        {.messages = UINT64_MAX, .bytes = UINT64_MAX}};
    struct wire_commgram m = {.job = "j",
                              .columns = &column,
                              .columns_count = 1,
                              .bars = bars,
                              .bars_count = 2,
                              .ribbons = ribbons,
                              .ribbons_count = 1};
    (void)state;
    commgram_init(&g);
    for (int round = 0; round < 2; round++) {
        m.ribbons_count = (uint64_t)round + 1;
        commgram_asked(&g, &q);
        assert_int_equal(commgram_apply_picture(&g, &m), 0);
        assert_int_equal(columns_build(&c, &g.now, 500, 100, 1), 0);
        assert_true(isfinite(c.ribbons[0].width) && isfinite(c.ribbons[0].y0));
        assert_true(c.size_most > c.size_least);
    }
    columns_finish(&c);
    commgram_clear(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_stand_apart_in_equal_steps),
        cmocka_unit_test(bars_without_a_pixel_between_them_are_counted),
        cmocka_unit_test(requested_ranks_get_the_capacity),
        cmocka_unit_test(widths_are_as_the_bytes),
        cmocka_unit_test(ends_lie_at_their_bars),
        cmocka_unit_test(what_lies_under_a_point_is_found),
        cmocka_unit_test(messages_of_nothing_are_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
