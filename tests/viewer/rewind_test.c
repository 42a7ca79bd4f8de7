/* Details through the seeks of a replay: what was taken in stays, and is taken in once. */
#include "tests/viewer/synthetic.h"

#include "viewer/model/model.h"
#include "viewer/model/range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WINDOWS = 120, RANKS = 16, LATE = 3, LATE_EVERY = 9 };

struct bed {
    struct synthetic job;
    struct model *model;
    int known[WINDOWS];  /* stretches whose details are to be there */
    int before[WINDOWS]; /* and those of the runs before */
    int state, at;       /* window that the run's state ends with, and the newest; -1: none */
    uint64_t run;
    uint64_t group; /* consecutive ranks that are one row; 0: the job is not kept by groups */
};

/* What of a window is taken. */
struct filter {
    struct model *model;
    int snapshot, totals, details;
};

/* What of it is passed on, and how. */
struct passing {
    struct filter filter;
    uint64_t group; /* as in the bed */
};

static void pass(void *user, const struct wire_message *m, int snapshot)
{
    const struct passing *p = user;
    const struct filter *f = &p->filter;
    struct wire_message copy = *m;
    (void)snapshot;
    int details = m->type == WIRE_TYPE_RANK_WINDOW || m->type == WIRE_TYPE_PAIR_WINDOW ||
                  m->type == WIRE_TYPE_CALL_WINDOW || m->type == WIRE_TYPE_CALLER_WINDOW;
    if (m->type == WIRE_TYPE_JOB)
        copy.job.group = p->group;
    if (m->type == WIRE_TYPE_PAIR_WINDOW && p->group) { /* as if each rank were on its own node */
        copy.pair_window.node_pairs = copy.pair_window.pairs;
        copy.pair_window.node_pairs_count = copy.pair_window.pairs_count;
    }
    if (details ? f->details : f->totals)
        model_apply(f->model, &copy, f->snapshot);
}

static void window(struct bed *b, struct filter f, int w)
{
    b->job.window = SYNTHETIC_FIRST + (uint64_t)w;
    synthetic_window(&b->job, pass, &(struct passing){f, b->group});
}

static int has_late(int stretch)
{
    return stretch >= LATE && stretch % LATE_EVERY == 0;
}

/* All that comes at a stretch: its window, and sometimes what is late of one before. */
static void stretch(struct bed *b, struct model *m, int w, int totals)
{
    window(b, (struct filter){m, 0, totals, 1}, w);
    if (has_late(w))
        window(b, (struct filter){m, 0, 0, 1}, w - LATE);
}

static void state(struct bed *b, int at)
{
    struct passing f = {{b->model, 1, 1, 1}, b->group};
    const struct synthetic_replay replay = {
        .state = "playing", .speed = 1, .run = ++b->run, .change = 1};
    synthetic_begin(&b->job, pass, &f);
    for (int w = 0; w <= at; w++)
        window(b, (struct filter){b->model, 1, 1, w == at}, w);
    synthetic_replay(&replay, 1, pass, &f);
    b->state = b->at = at;
}

static void play(struct bed *b, int until)
{
    for (int w = b->at + 1; w <= until; w++) {
        stretch(b, b->model, w, 1);
        b->known[w] = 1;
    }
    b->at = until;
}

static void seek(struct bed *b, int to, int missed)
{
    int lost = missed;
    if (b->at > b->state && !b->before[b->at]) {
        b->known[b->at] = 0;
        lost |= has_late(b->at);
    }
    if (lost)
        memset(b->known, 0, sizeof b->known);
    memcpy(b->before, b->known, sizeof b->before);
    model_rewind(b->model, missed);
    state(b, to);
    if (has_late(to)) /* the rest of the stretch that the state ends in */
        window(b, (struct filter){b->model, 0, 0, 1}, to - LATE);
}

/* The same stretches, each taken in once and in order. */
static void check(struct bed *b)
{
    struct model *plain;
    struct history_span a, c;
    assert_int_equal(model_create(&plain, 64 << 20), 0);
    for (int w = 0; w < WINDOWS; w++)
        if (b->known[w])
            stretch(b, plain, w, 0);
    const struct history *of[] = {&b->model->rank_history, &b->model->pairs.history,
                                  &b->model->node_pairs.history},
                         *should[] = {&plain->rank_history, &plain->pairs.history,
                                      &plain->node_pairs.history};
    const unsigned columns[] = {RANK_COLUMNS, PAIR_COLUMNS, PAIR_COLUMNS};
    for (int k = 0; k < 3; k++) {
        uint32_t items = k ? b->model->pairs.keys.count : RANKS;
        for (int w = 0; w < WINDOWS; w++) {
            uint64_t at = SYNTHETIC_FIRST + (uint64_t)w, sums[2][RANK_COLUMNS] = {{0}};
            uint64_t *one = calloc((size_t)items * columns[k] + 1, sizeof *one);
            uint64_t *two = calloc((size_t)items * columns[k] + 1, sizeof *two);
            a = history_sum(of[k], at, at, one, items);
            c = history_sum(should[k], at, at, two, items);
            assert_int_equal(a.found, c.found);
            for (size_t i = 0; i < (size_t)items * columns[k]; i++) {
                sums[0][i % columns[k]] += one[i];
                sums[1][i % columns[k]] += two[i];
            }
            assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
            free(one);
            free(two);
        }
    }
    model_destroy(plain);
}

static int make_bed(void **state_of_test)
{
    struct bed *b = calloc(1, sizeof *b);
    assert_int_equal(model_create(&b->model, 64 << 20), 0);
    synthetic_init(&b->job, RANKS, 4, 6, 1);
    state(b, 10);
    *state_of_test = b;
    return 0;
}

static int drop_bed(void **state_of_test)
{
    struct bed *b = *state_of_test;
    synthetic_finish(&b->job);
    model_destroy(b->model);
    free(b);
    return 0;
}

static void what_was_played_stays_known_behind_a_seek(void **s)
{
    struct bed *b = *s;
    play(b, 50);
    seek(b, 30, 0);
    check(b);
    assert_int_equal(b->model->rank_history.slots[0].first, SYNTHETIC_FIRST + 11);
    assert_int_equal(b->model->series.first + b->model->series.count - 1, SYNTHETIC_FIRST + 30);
}

static void it_is_not_added_again(void **s)
{
    struct bed *b = *s;
    play(b, 50);
    seek(b, 20, 0);
    play(b, 70);
    check(b);
    seek(b, 5, 0);
    play(b, 90);
    check(b);
}

static void it_stays_known_of_a_job_that_is_kept_by_groups(void **s)
{
    struct bed *b = *s;
    b->group = 4;
    state(b, 10); /* from here on by groups */
    play(b, 50);
    seek(b, 20, 0);
    check(b);
    assert_int_equal(b->model->rank_history.slots[0].first, SYNTHETIC_FIRST + 11);
    assert_int_equal(b->model->node_pairs.history.slots[0].first, SYNTHETIC_FIRST + 11);
    play(b, 70);
    check(b);
}

/* As after the connection was lost for a moment. */
static void another_state_of_the_same_run_leads_to_no_repeats(void **s)
{
    struct bed *b = *s;
    play(b, 50);
    state(b, 55);
    assert_int_equal(b->model->rank_history.count, 40); /* what was known stays until a seek */
    play(b, 70);
    model_rewind(b->model, 0);
    memset(b->known, 0, sizeof b->known);
    memset(b->before, 0, sizeof b->before);
    state(b, 10);
    play(b, 80);
    check(b);
}

static void without_all_messages_nothing_is_kept(void **s)
{
    struct bed *b = *s;
    play(b, 50);
    seek(b, 20, 1);
    check(b);
    assert_int_equal(b->model->rank_history.count, 0);
    play(b, 60);
    check(b);
}

static void what_came_late_at_the_end_of_a_run_is_not_doubled(void **s)
{
    struct bed *b = *s;
    play(b, 5 * LATE_EVERY);
    assert_true(has_late(b->at));
    seek(b, 20, 0);
    check(b);
    play(b, 80);
    check(b);
}

static void sums_since_the_start_are_those_of_the_state(void **s)
{
    struct bed *b = *s;
    struct range r = {0};
    play(b, 50);
    seek(b, 20, 0);
    range_update(&r, b->model, RANGE_START, 0, 0);
    struct model *fresh;
    struct range should = {0};
    struct bed other = {.job = b->job};
    assert_int_equal(model_create(&fresh, 1 << 20), 0);
    other.model = fresh;
    state(&other, 20);
    range_update(&should, fresh, RANGE_START, 0, 0);
    assert_int_equal(r.total[PAIR_BYTES], should.total[PAIR_BYTES]);
    assert_int_equal(r.total[PAIR_MESSAGES], should.total[PAIR_MESSAGES]);
    assert_int_equal(r.pairs_used, should.pairs_used);
    assert_int_equal(b->model->host_count, fresh->host_count);
    assert_int_equal(b->model->ranks[3].node, fresh->ranks[3].node);
    range_finish(&r);
    range_finish(&should);
    b->job = other.job;
    model_destroy(fresh);
}

/* Rows of ranks, added up over windows. */
struct stretch_sum {
    struct wire_rank_row rows[RANKS];
};

static void add_ranks(void *user, const struct wire_message *m, int snapshot)
{
    struct stretch_sum *sum = user;
    (void)snapshot;
    if (m->type != WIRE_TYPE_RANK_WINDOW)
        return;
    for (uint64_t i = 0; i < m->rank_window.ranks_count; i++) {
        const struct wire_rank_row *from = &m->rank_window.ranks[i];
        struct wire_rank_row *to = &sum->rows[from->rank];
        to->rank = from->rank;
        to->sent += from->sent;
        to->sent_bytes += from->sent_bytes;
        to->received += from->received;
        to->received_bytes += from->received_bytes;
        to->calls += from->calls;
        to->lost += from->lost;
        to->send_ns += from->send_ns;
        to->recv_ns += from->recv_ns;
        to->wait_ns += from->wait_ns;
        to->poll_ns += from->poll_ns;
        to->collective_ns += from->collective_ns;
        to->one_sided_ns += from->one_sided_ns;
        to->io_ns += from->io_ns;
        to->other_ns += from->other_ns;
        to->crossing += from->crossing;
        to->crossing_bytes += from->crossing_bytes;
    }
}

/* What a state tells of ranks before: windows first to last in one. */
static void tell_history(struct bed *b, int first, int last)
{
    struct stretch_sum sum = {0};
    for (int w = first; w <= last; w++) {
        b->job.window = SYNTHETIC_FIRST + (uint64_t)w;
        synthetic_window(&b->job, add_ranks, &sum);
    }
    struct wire_message m = {.type = WIRE_TYPE_HISTORY};
    m.history = (struct wire_history){.job = b->model->job,
                                      .first = SYNTHETIC_FIRST + (uint64_t)first,
                                      .last = SYNTHETIC_FIRST + (uint64_t)last,
                                      .length_ns = SYNTHETIC_SECOND,
                                      .ranks = sum.rows,
                                      .ranks_count = RANKS};
    assert_int_equal(model_apply(b->model, &m, 1), 0);
}

/* Figures of ranks over all windows up to one are those of a viewer that saw each of them. */
static void check_ranks(struct bed *b, int last)
{
    struct model *plain;
    uint64_t is[RANKS * RANK_COLUMNS] = {0}, should[RANKS * RANK_COLUMNS] = {0};
    assert_int_equal(model_create(&plain, 64 << 20), 0);
    for (int w = 0; w <= last; w++)
        window(b, (struct filter){plain, 0, 0, 1}, w);
    history_sum(&b->model->rank_history, 0, UINT64_MAX, is, RANKS);
    history_sum(&plain->rank_history, 0, UINT64_MAX, should, RANKS);
    assert_memory_equal(is, should, sizeof is);
    model_destroy(plain);
}

static void earlier_figures_of_ranks_in_a_state_are_added_once(void **s)
{
    struct bed *b = *s;
    state(b, 40);
    tell_history(b, 0, 19);
    tell_history(b, 20, 40);
    check_ranks(b, 40);
    model_rewind(b->model, 0);
    state(b, 7);
    tell_history(b, 0, 7); /* known, in another cut */
    check_ranks(b, 40);
    for (int w = 8; w <= 60; w++)
        window(b, (struct filter){b->model, 0, 1, 1}, w);
    check_ranks(b, 60);
    model_rewind(b->model, 0);
    state(b, 50);
    tell_history(b, 0, 50);
    check_ranks(b, 59); /* the last window of a run may not have come whole */
}

static void a_live_job_goes_on_from_the_ranks_figures_in_its_state(void **s)
{
    struct bed *b = *s;
    playback_clear(&b->model->playback);
    tell_history(b, 0, 10);
    tell_history(b, 5, 12); /* overlaps */
    for (int w = 11; w <= 30; w++)
        window(b, (struct filter){b->model, 0, 1, 1}, w);
    check_ranks(b, 30);
}

static void a_live_job_is_as_ever(void **s)
{
    struct bed *b = *s;
    playback_clear(&b->model->playback);
    play(b, 40);
    model_rewind(b->model, 0);
    assert_int_equal(b->model->rank_history.count, 0);
    assert_string_equal(b->model->job, "");
}

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static void any_way_through_a_recording_gives_the_same(void **s)
{
    struct bed *b = *s;
    uint64_t seed = 11;
    for (int i = 0; i < 40; i++) {
        int until = b->at + (int)(draw(&seed) % 30);
        play(b, until < WINDOWS ? until : WINDOWS - 1);
        check(b);
        seek(b, (int)(draw(&seed) % WINDOWS), draw(&seed) % 12 == 0);
        check(b);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_bed, drop_bed)
    const struct CMUnitTest tests[] = {
        T(what_was_played_stays_known_behind_a_seek),
        T(it_is_not_added_again),
        T(it_stays_known_of_a_job_that_is_kept_by_groups),
        T(another_state_of_the_same_run_leads_to_no_repeats),
        T(without_all_messages_nothing_is_kept),
        T(what_came_late_at_the_end_of_a_run_is_not_doubled),
        T(sums_since_the_start_are_those_of_the_state),
        T(earlier_figures_of_ranks_in_a_state_are_added_once),
        T(a_live_job_goes_on_from_the_ranks_figures_in_its_state),
        T(a_live_job_is_as_ever),
        T(any_way_through_a_recording_gives_the_same),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}
