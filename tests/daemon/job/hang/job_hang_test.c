/* The episode of the hang rule: its begin, its text, and its end. */
#include "daemon/job/hang/job_hang.h"

#include "holter/call.h"
#include "holter/event.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define RANKS 8u

/* A job of 8 ranks, and the last report of the watch. */
struct bed {
    struct rules rules;
    struct job_hang *watch;
    uint64_t window;
    struct wire_rank_row ranks[RANKS];
    uint8_t silent[RANKS]; /* no report of it arrives */
    uint32_t dead[RANKS];
    size_t dead_count;
    int reports;
    enum alert_state state;
    int64_t rank;
    char title[129], text[1025];
    struct alert_evidence evidence;
};

static void note_report(void *user, const struct alert_report *report)
{
    struct bed *b = user;
    b->reports++;
    b->state = report->state;
    b->rank = report->rank;
    strcpy(b->title, report->title);
    strcpy(b->text, report->text);
    b->evidence = *report->evidence;
}

static int bed_start(void **state)
{
    struct bed *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    assert_int_equal(rules_default(&b->rules), 0);
    const struct job_hang_options options = {
        .rules = &b->rules, .window_ns = SECOND, .user = b, .on_report = note_report};
    assert_int_equal(job_hang_create(&b->watch, &options), 0);
    b->window = 1000;
    for (uint32_t r = 0; r < RANKS; r++)
        b->ranks[r] = (struct wire_rank_row){.rank = r, .in_call_peer = PEER_NONE, .calls = 10};
    *state = b;
    return 0;
}

static int bed_end(void **state)
{
    struct bed *b = *state;
    job_hang_destroy(b->watch);
    rules_finish(&b->rules);
    free(b);
    return 0;
}

static void enter(struct bed *b, uint32_t rank, uint32_t call)
{
    b->ranks[rank] = (struct wire_rank_row){.rank = rank,
                                            .in_call = call,
                                            .in_call_comm = call == 0 ? 0 : HANG_WORLD,
                                            .in_call_peer = PEER_NONE};
}

static void go_on(struct bed *b, uint32_t rank)
{
    enter(b, rank, 0);
    b->ranks[rank].calls = 10;
}

static void die(struct bed *b, uint32_t rank)
{
    b->silent[rank] = 1;
    b->dead[b->dead_count++] = rank;
}

static void windows(struct bed *b, int count)
{
    const struct wire_comm_row world = {.id = HANG_WORLD, .size = RANKS, .name = "MPI_COMM_WORLD"};
    for (; count > 0; count--) {
        struct wire_rank_row rows[RANKS];
        size_t reported = 0;
        for (uint32_t r = 0; r < RANKS; r++) {
            b->ranks[r].in_call_ns += b->ranks[r].in_call != 0 ? SECOND : 0;
            if (!b->silent[r])
                rows[reported++] = b->ranks[r];
        }
        const struct closed_window window = {.number = b->window++,
                                             .length_ns = SECOND,
                                             .world = RANKS,
                                             .ranks = rows,
                                             .rank_count = reported,
                                             .comms = &world,
                                             .comm_count = 1,
                                             .dead_ranks = b->dead,
                                             .dead_count = b->dead_count};
        assert_int_equal(job_hang_update(b->watch, &window), 0);
    }
}

/* All ranks but the last wait in a barrier. */
static void wait_for_one(struct bed *b)
{
    windows(b, 5);
    for (uint32_t r = 0; r + 1 < RANKS; r++)
        enter(b, r, CALL_Barrier);
    enter(b, RANKS - 1, 0);
    windows(b, 12);
}

/* They do until the alert fires. */
static void hang(struct bed *b)
{
    wait_for_one(b);
    assert_int_equal(b->reports, 1);
    assert_int_equal(b->state, ALERT_FIRING);
}

static void the_alert_names_the_late_rank_and_says_where_to_look(void **state)
{
    struct bed *b = *state;
    hang(b);
    assert_string_equal(b->title, "rank 7 has not arrived in MPI_Barrier on MPI_COMM_WORLD");
    assert_int_equal(b->rank, 7);
    assert_string_equal(b->evidence.ranks, "7");
    assert_string_equal(b->evidence.advice,
                        "Rank 7 has not called MPI_Barrier on MPI_COMM_WORLD, which 7 others are "
                        "in: look at where it is, for example with gdb -p.");
}

static void a_hang_has_no_progress_and_no_ratio(void **state)
{
    struct bed *b = *state;
    hang(b);
    assert_true(isnan(b->evidence.ratio) && isnan(b->evidence.ratio_worst));
    assert_true(isnan(b->evidence.slope) && isnan(b->evidence.progress));
}

static void where_few_ranks_wait_they_are_the_ranks_of_the_alert(void **state)
{
    struct bed *b = *state;
    windows(b, 5);
    for (uint32_t r = 0; r < RANKS; r++)
        enter(b, r, 0);
    enter(b, 4, CALL_Barrier);
    enter(b, 5, CALL_Barrier);
    windows(b, 12);
    assert_string_equal(b->title,
                        "only ranks 4-5 are in MPI_Barrier on MPI_COMM_WORLD, 6 others are not");
    assert_int_equal(b->rank, 4);
    assert_string_equal(b->evidence.ranks, "4-5");
}

static void ranks_that_come_to_wait_later_are_counted(void **state)
{
    struct bed *b = *state;
    windows(b, 5);
    for (uint32_t r = 0; r < RANKS; r++)
        go_on(b, r);
    enter(b, RANKS - 1, 0);
    enter(b, 0, CALL_Recv);
    b->ranks[0].in_call_peer = RANKS - 1;
    windows(b, 12);
    assert_int_equal(b->reports, 1);
    assert_non_null(strstr(b->text, ": 1 of 8 ranks waits since"));
    for (uint32_t r = 1; r + 1 < RANKS; r++) {
        enter(b, r, CALL_Recv);
        b->ranks[r].in_call_peer = r - 1;
    }
    windows(b, 12);
    assert_int_equal(b->reports, 2);
    assert_int_equal(b->state, ALERT_FIRING);
    assert_non_null(strstr(b->text, ": 7 of 8 ranks wait since"));
}

/* As where each rank receives from its neighbour before it sends. */
static void the_text_counts_the_ranks_of_other_hangs(void **state)
{
    struct bed *b = *state;
    windows(b, 5);
    for (uint32_t r = 0; r < 4; r++) {
        enter(b, r, CALL_Recv);
        b->ranks[r].in_call_peer = r ^ 1;
    }
    windows(b, 12);
    assert_int_equal(b->reports, 1);
    assert_string_equal(b->title, "deadlock: ranks 0-1 wait for each other");
    assert_non_null(strstr(b->text, "; 2 more ranks wait in another hang"));
    for (uint32_t r = 4; r < RANKS; r++) {
        enter(b, r, CALL_Recv);
        b->ranks[r].in_call_peer = r ^ 1;
    }
    windows(b, 12);
    assert_int_equal(b->reports, 2);
    assert_non_null(strstr(b->text, "; 6 more ranks wait in 3 other hangs"));
    for (uint32_t r = 2; r < RANKS; r++)
        go_on(b, r);
    windows(b, 1);
    assert_int_equal(b->reports, 3);
    assert_int_equal(b->state, ALERT_FIRING);
    assert_null(strstr(b->text, "more"));
}

/* A window in which four ranks have completed five barriers. The others report in time, or not. */
static void barriers(struct bed *b, uint32_t first, int late)
{
    struct hang_calls calls[RANKS / 2];
    for (uint32_t i = 0; i < RANKS / 2; i++)
        calls[i] = (struct hang_calls){
            .rank = first + i, .call = CALL_Barrier, .comm = HANG_WORLD, .calls = 5};
    const struct closed_window window = {.number = late ? b->window - 1 : b->window++,
                                         .late = late,
                                         .length_ns = SECOND,
                                         .world = RANKS,
                                         .ranks = b->ranks + first,
                                         .rank_count = RANKS / 2,
                                         .calls = calls,
                                         .call_count = RANKS / 2};
    assert_int_equal(job_hang_update(b->watch, &window), 0);
}

static void collectives_that_are_reported_late_count(void **state)
{
    struct bed *b = *state;
    windows(b, 2);
    barriers(b, 0, 0);
    barriers(b, RANKS / 2, 1);
    enter(b, 0, 0);
    for (uint32_t r = 1; r < RANKS; r++)
        enter(b, r, CALL_Barrier);
    windows(b, 12);
    assert_int_equal(b->state, ALERT_FIRING);
    assert_string_equal(b->title, "rank 0 has not arrived in MPI_Barrier on MPI_COMM_WORLD");
    assert_non_null(strstr(b->text, ": 7 of 8 ranks wait since"));
    assert_non_null(strstr(b->text, "(collective call 6 there)"));
}

static void ranks_move_again_when_their_wait_has_ended(void **state)
{
    struct bed *b = *state;
    hang(b);
    for (uint32_t r = 0; r < RANKS; r++)
        go_on(b, r);
    windows(b, 1);
    assert_int_equal(b->state, ALERT_RESOLVED);
    assert_non_null(strstr(b->text, "over: ranks move again; rank 7 has not arrived"));
    assert_int_equal(b->rank, 7); /* the alert is about it as before */
}

static void a_job_that_dies_in_its_hang_does_not_move_again(void **state)
{
    struct bed *b = *state;
    hang(b);
    for (uint32_t r = 0; r < RANKS; r++)
        die(b, r);
    windows(b, 1);
    assert_int_equal(b->state, ALERT_RESOLVED);
    assert_non_null(strstr(b->text, "over: 7 of 7 ranks that waited have died; rank 7 has not"));
}

static void those_that_go_on_and_those_that_died_are_counted(void **state)
{
    struct bed *b = *state;
    hang(b);
    for (uint32_t r = 0; r < 3; r++)
        die(b, r);
    for (uint32_t r = 3; r < RANKS; r++)
        go_on(b, r);
    windows(b, 1);
    assert_int_equal(b->state, ALERT_RESOLVED);
    assert_non_null(strstr(b->text, "over: 4 of 7 ranks move again, 3 died; "));
}

static void a_hang_whose_agents_vanish_stays_open_and_says_so(void **state)
{
    struct bed *b = *state;
    hang(b);
    memset(b->silent, 1, sizeof(b->silent));
    windows(b, 8);
    assert_int_equal(b->reports, 2);
    assert_int_equal(b->state, ALERT_FIRING);
    assert_int_equal(b->rank, 7);
    assert_non_null(strstr(b->text, "no reports of the ranks that waited arrive any more; rank 7"));
    /* The agents are back, and the ranks wait as before. */
    memset(b->silent, 0, sizeof(b->silent));
    windows(b, 2);
    assert_int_equal(b->reports, 3);
    assert_int_equal(b->state, ALERT_FIRING);
    assert_null(strstr(b->text, "no reports"));
    for (uint32_t r = 0; r < RANKS; r++)
        go_on(b, r);
    windows(b, 1);
    assert_non_null(strstr(b->text, "over: ranks move again; "));
}

static void a_job_that_ends_with_its_agents_gone_does_not_move_again(void **state)
{
    struct bed *b = *state;
    hang(b);
    memset(b->silent, 1, sizeof(b->silent));
    windows(b, 8);
    job_hang_end(b->watch, b->window * SECOND);
    assert_int_equal(b->state, ALERT_RESOLVED);
    assert_non_null(strstr(b->text, "over: the job has ended; no reports of the ranks"));
    assert_null(strstr(b->text, "move again"));
}

static void a_process_that_is_continued_while_others_still_wait_is_said_to_go_on(void **state)
{
    struct bed *b = *state;
    windows(b, 5);
    for (uint32_t r = 0; r + 1 < RANKS; r++)
        enter(b, r, CALL_Barrier);
    enter(b, RANKS - 1, 0);
    b->ranks[RANKS - 1].process_state = 'T';
    windows(b, 5);
    assert_int_equal(b->state, ALERT_FIRING);
    assert_non_null(strstr(b->evidence.advice, "continue it (kill -CONT)"));
    b->ranks[RANKS - 1].process_state = 'R';
    windows(b, 1);
    assert_int_equal(b->state, ALERT_RESOLVED);
    assert_non_null(strstr(b->text, "over: what ranks wait for goes on; "));
}

static void without_a_hang_rule_nothing_is_watched(void **state)
{
    const struct rules none = {0};
    const struct job_hang_options options = {.rules = &none, .window_ns = SECOND};
    struct job_hang *watch;
    (void)state;
    assert_int_equal(job_hang_create(&watch, &options), 0);
    assert_null(watch);
    assert_int_equal(job_hang_update(watch, &(struct closed_window){.number = 1}), 0);
    job_hang_end(watch, SECOND);
}

/* A daemon with these rules takes over the job. */
static void take_over(struct bed *b, const struct rules *rules)
{
    struct job_hang *watch = NULL;
    struct state_bytes out = {.reads = 0};
    const struct job_hang_options options = {
        .rules = rules, .window_ns = SECOND, .user = b, .on_report = note_report};
    job_hang_copy_state(&out, &b->watch, &options);
    assert_int_equal(out.code, 0);
    struct state_bytes in = {.reads = 1, .bytes = out.bytes, .length = out.length};
    job_hang_copy_state(&in, &watch, &options);
    assert_int_equal(in.code, 0);
    free(out.bytes);
    job_hang_destroy(b->watch);
    b->watch = watch;
}

static void a_daemon_without_the_hang_rule_watches_nothing_of_a_job_that_it_takes_over(void **state)
{
    const struct rules none = {0};
    struct bed *b = *state;
    take_over(b, &none);
    wait_for_one(b);
    assert_int_equal(b->reports, 0);
    assert_null(b->watch);
}

static void a_daemon_that_alone_has_the_hang_rule_watches_a_job_that_it_takes_over(void **state)
{
    struct bed *b = *state;
    job_hang_destroy(b->watch);
    b->watch = NULL;
    take_over(b, &b->rules);
    hang(b);
}

static void a_daemon_that_takes_over_a_job_goes_by_the_durations_of_its_own_hang_rule(void **state)
{
    static const char patient[] = "rules:\n- kind: hang\n  for: 60s\n";
    struct rules rules;
    struct bed *b = *state;
    assert_int_equal(rules_parse(&rules, "rules", patient, sizeof(patient) - 1, NULL, NULL), 0);
    take_over(b, &rules);
    wait_for_one(b);
    assert_int_equal(b->reports, 0);
    windows(b, 60);
    assert_int_equal(b->reports, 1);
    rules_finish(&rules);
}

static void
a_daemon_whose_hang_rule_has_another_name_reports_a_hang_that_it_takes_over(void **state)
{
    static const char renamed[] = "rules:\n- kind: hang\n  name: stuck\n";
    struct rules rules;
    struct bed *b = *state;
    assert_int_equal(rules_parse(&rules, "rules", renamed, sizeof(renamed) - 1, NULL, NULL), 0);
    hang(b);
    take_over(b, &rules);
    windows(b, 1);
    assert_int_equal(b->reports, 2);
    assert_int_equal(b->state, ALERT_FIRING);
    assert_string_equal(b->evidence.rule, "stuck");
    rules_finish(&rules);
}

int main(void)
{
#define BED(test) cmocka_unit_test_setup_teardown(test, bed_start, bed_end)
    const struct CMUnitTest tests[] = {
        BED(the_alert_names_the_late_rank_and_says_where_to_look),
        BED(a_hang_has_no_progress_and_no_ratio),
        BED(where_few_ranks_wait_they_are_the_ranks_of_the_alert),
        BED(ranks_that_come_to_wait_later_are_counted),
        BED(the_text_counts_the_ranks_of_other_hangs),
        BED(collectives_that_are_reported_late_count),
        BED(ranks_move_again_when_their_wait_has_ended),
        BED(a_job_that_dies_in_its_hang_does_not_move_again),
        BED(those_that_go_on_and_those_that_died_are_counted),
        BED(a_hang_whose_agents_vanish_stays_open_and_says_so),
        BED(a_job_that_ends_with_its_agents_gone_does_not_move_again),
        BED(a_process_that_is_continued_while_others_still_wait_is_said_to_go_on),
        BED(a_daemon_without_the_hang_rule_watches_nothing_of_a_job_that_it_takes_over),
        BED(a_daemon_that_alone_has_the_hang_rule_watches_a_job_that_it_takes_over),
        BED(a_daemon_that_takes_over_a_job_goes_by_the_durations_of_its_own_hang_rule),
        BED(a_daemon_whose_hang_rule_has_another_name_reports_a_hang_that_it_takes_over),
        cmocka_unit_test(without_a_hang_rule_nothing_is_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
