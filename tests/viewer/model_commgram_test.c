#include "tests/viewer/synthetic_commgram.h"

#include "viewer/model/model.h"

#include "holter/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct synthetic_commgram gram = {.ranks = 64,
                                               .every = 4,
                                               .begin_ns = SYNTHETIC_FIRST * SYNTHETIC_SECOND,
                                               .phase_ns = SYNTHETIC_SECOND * 3,
                                               .modelled = 1};

static void into(void *user, const struct wire_message *message, int snapshot)
{
    struct commgram *g = user;
    if (message->type == WIRE_TYPE_PHASES)
        assert_int_equal(commgram_apply_phases(g, &message->phases, snapshot), 0);
    else if (message->type == WIRE_TYPE_CURVE)
        assert_int_equal(commgram_apply_curve(g, &message->curve, snapshot), 0);
    else if (message->type == WIRE_TYPE_COMMGRAM)
        assert_int_equal(commgram_apply_picture(g, &message->commgram), 0);
}

static void tell_phase(struct commgram *g, uint64_t id, uint64_t open, uint64_t messages,
                       int snapshot)
{
    struct wire_phase_row row = {.id = id,
                                 .open = open,
                                 .begin_ns = id * 100,
                                 .end_ns = id * 100 + 50,
                                 .messages = messages};
    const struct wire_phases m = {.job = "j", .phases = &row, .phases_count = id ? 1 : 0};
    assert_int_equal(commgram_apply_phases(g, &m, snapshot), 0);
}

static struct commgram_request question(uint64_t phases, uint64_t communities)
{
    return (struct commgram_request){.from_ns = gram.begin_ns,
                                     .to_ns = gram.begin_ns + gram.phase_ns * phases,
                                     .phases = phases,
                                     .communities = communities,
                                     .modelled = 1};
}

static void rows_replace_those_of_their_number(void **state)
{
    struct commgram g;
    (void)state;
    commgram_init(&g);
    tell_phase(&g, 1, 0, 10, 0);
    tell_phase(&g, 2, 0, 20, 0);
    tell_phase(&g, 1, 0, 11, 0);
    assert_int_equal(g.phases.count, 2);
    assert_int_equal(commgram_phase_find(&g, 1)->messages, 11);
    assert_int_equal(commgram_phase_find(&g, 2)->messages, 20);
    assert_null(commgram_phase_find(&g, 3));
    commgram_clear(&g);
}

static void an_open_phase_that_is_not_reported_again_is_gone(void **state)
{
    struct commgram g;
    (void)state;
    commgram_init(&g);
    tell_phase(&g, 1, 0, 1, 0);
    tell_phase(&g, 2, 1, 5, 0);
    assert_int_equal(g.phases.count, 2);
    tell_phase(&g, 2, 1, 9, 0);
    assert_int_equal(g.phases.count, 2);
    assert_int_equal(commgram_phase(&g, 1)->messages, 9);
    tell_phase(&g, 0, 0, 0, 0);
    assert_int_equal(g.phases.count, 1);
    tell_phase(&g, 2, 1, 7, 0);
    tell_phase(&g, 2, 0, 8, 0); /* closed by now: it stays */
    tell_phase(&g, 3, 1, 1, 0);
    tell_phase(&g, 0, 0, 0, 0);
    assert_int_equal(g.phases.count, 2);
    commgram_clear(&g);
}

static void a_snapshot_replaces_everything(void **state)
{
    struct commgram g;
    (void)state;
    commgram_init(&g);
    for (uint64_t id = 1; id < 10; id++)
        tell_phase(&g, id, 0, id, 0);
    tell_phase(&g, 20, 0, 1, 1);
    assert_int_equal(g.phases.count, 1);
    assert_int_equal(commgram_phase(&g, 0)->id, 20);
    commgram_clear(&g);
}

static void phases_are_bounded_and_the_oldest_go_first(void **state)
{
    struct commgram g;
    (void)state;
    commgram_init(&g);
    for (uint64_t id = 1; id <= COMMGRAM_PHASES + 10; id++)
        tell_phase(&g, id, 0, id, 0);
    assert_true(g.phases.count <= COMMGRAM_PHASES);
    assert_int_equal(g.phases.count + g.phases.dropped, COMMGRAM_PHASES + 10);
    assert_non_null(commgram_phase_find(&g, COMMGRAM_PHASES + 10));
    tell_phase(&g, 1, 0, 1, 0); /* older than what is kept: passed over */
    assert_null(commgram_phase_find(&g, 1));
    commgram_clear(&g);
}

static void points_are_found_by_time(void **state)
{
    struct commgram g;
    (void)state;
    commgram_init(&g);
    synthetic_phases(&gram, 1, 20, into, &g);
    assert_int_equal(g.points.count, 21);
    assert_true(commgram_point(&g, 20)->provisional);
    assert_int_equal(commgram_point_at(&g, 0), 0);
    for (uint32_t i = 0; i < 21; i++) {
        assert_int_equal(commgram_point_at(&g, commgram_point(&g, i)->begin_ns), i);
        assert_int_equal(commgram_point_at(&g, commgram_point(&g, i)->end_ns + 1), i + 1);
    }
    commgram_clear(&g);
}

static void numbers_that_are_none_become_harmless(void **state)
{
    struct commgram g;
    struct wire_curve_point_row rows[] = {
        {.phase = 1, .begin_ns = 5, .end_ns = 9, .height = NAN, .difference = INFINITY},
        {.phase = 2, .begin_ns = 9, .end_ns = 5, .height = 1},          /* runs backwards */
        {.phase = 3, .begin_ns = 9, .end_ns = UINT64_MAX, .height = 1}, /* beyond all time */
        {.phase = 4, .begin_ns = 9, .end_ns = 12, .height = 1e300}};
    const struct wire_curve m = {.job = "j", .points = rows, .points_count = 4};
    (void)state;
    commgram_init(&g);
    assert_int_equal(commgram_apply_curve(&g, &m, 0), 0);
    assert_int_equal(g.points.count, 2);
    assert_true(commgram_point(&g, 0)->height == 0 && commgram_point(&g, 0)->difference == 0);
    assert_true(isfinite(commgram_point(&g, 1)->height));
    commgram_clear(&g);
}

static void the_question_is_written_as_the_wire_wants_it(void **state)
{
    char text[400];
    struct commgram_request q = {.from_ns = 5, .to_ns = 9, .phases = 27, .communities = 18};
    (void)state;
    q.modelled = 1;
    assert_string_equal(commgram_argument(&q, text, sizeof text),
                        "from=5 to=9 phases=27 communities=18");
    q.modelled = 0;
    strcpy(q.ranks, "3,8-11");
    assert_string_equal(commgram_argument(&q, text, sizeof text),
                        "from=5 to=9 phases=27 communities=18 ranks=3,8-11 modelled=0");
}

static void parts_are_put_together(void **state)
{
    struct commgram whole, parts;
    struct synthetic_commgram small = gram;
    struct commgram_request q = question(6, 8);
    (void)state;
    small.part_rows = 7;
    commgram_init(&whole);
    commgram_init(&parts);
    commgram_asked(&whole, &q);
    commgram_asked(&parts, &q);
    synthetic_picture(&gram, &q, into, &whole);
    synthetic_picture(&small, &q, into, &parts);
    const struct commgram_picture *a = &whole.now, *b = &parts.now;
    assert_int_equal(a->column_count, 6);
    assert_int_equal(a->bar_count, 7 * 8);
    assert_int_equal(b->bar_count, a->bar_count);
    assert_true(a->ribbon_count > 100);
    assert_int_equal(b->ribbon_count, a->ribbon_count);
    assert_memory_equal(b->ribbons, a->ribbons, a->ribbon_count * sizeof *a->ribbons);
    assert_int_equal(a->ignored + b->ignored, 0);
    commgram_replied(&parts, 0, NULL);
    assert_int_equal(parts.error, 0);
    commgram_clear(&whole);
    commgram_clear(&parts);
}

static void the_last_picture_stays_until_the_next_is_complete(void **state)
{
    struct commgram g;
    struct commgram_request first = question(6, 8), second = question(3, 4);
    const struct wire_commgram part = {.job = "j", .more = 1};
    (void)state;
    commgram_init(&g);
    commgram_asked(&g, &first);
    synthetic_picture(&gram, &first, into, &g);
    commgram_replied(&g, 0, NULL);
    uint64_t version = g.now.version;
    assert_int_equal(commgram_apply_picture(&g, &part), 0); /* nobody asked */
    commgram_asked(&g, &second);
    assert_int_equal(commgram_apply_picture(&g, &part), 0);
    assert_int_equal(g.now.version, version);
    assert_true(commgram_same(&g.now.asked, &first));
    commgram_replied(&g, -HOLTER_EUNREACHABLE, NULL);
    assert_int_equal(g.error, -HOLTER_EUNREACHABLE);
    assert_true(g.error_text[0] != 0);
    assert_int_equal(g.now.version, version);
    commgram_asked(&g, &second);
    synthetic_picture(&gram, &second, into, &g);
    assert_true(g.now.version > version);
    assert_int_equal(g.now.column_count, 3);
    assert_int_equal(g.error, 0);
    commgram_replied(&g, 0, NULL);
    commgram_asked(&g, &first);
    commgram_replied(&g, 0, NULL); /* a reply without a picture */
    assert_true(g.error < 0);
    commgram_clear(&g);
}

static void ranks_of_a_bar_are_named(void **state)
{
    struct commgram g;
    struct commgram_request q = question(2, 2);
    struct wire_column_row column = {.begin_ns = 1, .end_ns = 2};
    struct wire_bar_row bars[] = {{.column = 0, .bar = 0, .ranks = 5}, {.column = 1, .bar = 0}};
    struct wire_bar_ranks_row members[] = {{0, 0, 8, 4}, {0, 0, 3, 1}};
    const struct wire_commgram m = {.job = "j",
                                    .columns = &column,
                                    .columns_count = 1,
                                    .bars = bars,
                                    .bars_count = 2,
                                    .members = members,
                                    .members_count = 2};
    char text[64];
    (void)state;
    commgram_init(&g);
    commgram_asked(&g, &q);
    assert_int_equal(commgram_apply_picture(&g, &m), 0);
    assert_int_equal(commgram_bar_ranks(&g.now, 0, 1, 20, text, sizeof text), 0);
    assert_string_equal(text, "3,8-11");
    assert_int_equal(commgram_bar_ranks(&g.now, 0, 1, 20, text, 6), 1);
    assert_true(strlen(text) < 6);
    for (uint64_t rank = 0; rank < 20; rank++)
        assert_int_equal(commgram_bar_has(&g.now, 0, rank), rank == 3 || (rank >= 8 && rank < 12));
    assert_false(commgram_bar_has(&g.now, 1, 3));
    assert_false(commgram_bar_has(&g.now, 99, 3));
    commgram_clear(&g);
}

/* Rows that name bars and columns that are not there are counted, whatever they say. */
static void hostile_pictures_do_no_harm(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int round = 0; round < 400; round++) {
        struct commgram g;
        struct commgram_request q = question(4, 4);
        struct wire_column_row columns[4];
        struct wire_bar_row bars[24];
        struct wire_bar_ranks_row members[24];
        struct wire_ribbon_row ribbons[40];
        uint64_t *words[] = {(uint64_t *)bars, (uint64_t *)members, (uint64_t *)ribbons};
        const size_t counts[] = {sizeof bars / 8, sizeof members / 8, sizeof ribbons / 8};
        memset(columns, 0, sizeof columns);
        for (size_t k = 0; k < 3; k++)
            for (size_t i = 0; i < counts[k]; i++) {
                seed = seed * 6364136223846793005ull + 1442695040888963407ull;
                words[k][i] = seed >> 60 > 13 ? seed : seed >> 61;
            }
        const struct wire_commgram m = {.job = "j",
                                        .columns = columns,
                                        .columns_count = (uint64_t)round % 5,
                                        .bars = bars,
                                        .bars_count = 24,
                                        .members = members,
                                        .members_count = 24,
                                        .ribbons = ribbons,
                                        .ribbons_count = 40};
        commgram_init(&g);
        commgram_asked(&g, &q);
        assert_int_equal(commgram_apply_picture(&g, &m), 0);
        const struct commgram_picture *p = &g.now;
        assert_int_equal(p->first_bar[p->column_count + 1], p->bar_count);
        for (uint32_t i = 0; i < p->ribbon_count; i++) {
            assert_true(p->ribbons[i].from < p->bar_count && p->ribbons[i].to < p->bar_count);
            assert_int_equal(p->bars[p->ribbons[i].from].column, p->ribbons[i].column);
            assert_int_equal(p->bars[p->ribbons[i].to].column, p->ribbons[i].column + 1);
        }
        for (uint32_t i = 0; i < p->bar_count; i++) {
            char text[40];
            commgram_bar_ranks(p, i, 1, 20, text, sizeof text);
            commgram_bar_has(p, i, seed);
        }
        commgram_clear(&g);
    }
}

static void a_late_answer_of_another_job_is_passed_over(void **state)
{
    struct model *m;
    struct wire_message message = {.type = WIRE_TYPE_JOB};
    struct commgram_request q = question(2, 2);
    (void)state;
    assert_int_equal(model_create(&m, 1 << 20), 0);
    message.job = (struct wire_job){.job = "new", .state = "running"};
    assert_int_equal(model_apply(m, &message, 1), 0);
    commgram_asked(&m->commgram, &q);
    message = (struct wire_message){.type = WIRE_TYPE_COMMGRAM};
    message.commgram = (struct wire_commgram){.job = "old"};
    assert_int_equal(model_apply(m, &message, 0), 0);
    assert_string_equal(m->job, "new");
    assert_int_equal(m->commgram.now.version, 0);
    message.commgram.job = "new";
    assert_int_equal(model_apply(m, &message, 0), 0);
    assert_int_equal(m->commgram.now.version, 1);
    model_forget_job(m);
    assert_int_equal(m->commgram.now.version, 0);
    model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_replace_those_of_their_number),
        cmocka_unit_test(an_open_phase_that_is_not_reported_again_is_gone),
        cmocka_unit_test(a_snapshot_replaces_everything),
        cmocka_unit_test(phases_are_bounded_and_the_oldest_go_first),
        cmocka_unit_test(points_are_found_by_time),
        cmocka_unit_test(numbers_that_are_none_become_harmless),
        cmocka_unit_test(the_question_is_written_as_the_wire_wants_it),
        cmocka_unit_test(parts_are_put_together),
        cmocka_unit_test(the_last_picture_stays_until_the_next_is_complete),
        cmocka_unit_test(ranks_of_a_bar_are_named),
        cmocka_unit_test(hostile_pictures_do_no_harm),
        cmocka_unit_test(a_late_answer_of_another_job_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
