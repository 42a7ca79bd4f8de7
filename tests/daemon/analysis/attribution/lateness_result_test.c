/* Why a rank is late, from windows with figures of processes. */
#include "daemon/analysis/attribution/attribution.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define RANKS 4u
#define LATE 1u
#define CALM 20u /* windows */

struct bed {
    struct attribution *attribution;
    struct wire_rank_row ranks[RANKS];
    struct wire_process_row processes[RANKS];
    size_t process_count;
    uint64_t number;
};

/* Ranks compute for 500 ms of a second, and wait in MPI. */
static void make_window(struct bed *bed)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        bed->ranks[r] = (struct wire_rank_row){
            .rank = r, .calls = 100, .sent = 50, .received = 50, .recv_ns = 500 * MS};
        bed->processes[r] = (struct wire_process_row){.rank = r,
                                                      .length_ns = 1000 * MS,
                                                      .user_ns = 500 * MS,
                                                      .queued_ns = 10 * MS,
                                                      .samples = 10,
                                                      .runnable = 5};
    }
}

static void add_window(struct bed *bed)
{
    static const struct transfers none;
    const struct attribution_window window = {.number = ++bed->number,
                                              .length_ns = 1000 * MS,
                                              .ranks = bed->ranks,
                                              .rank_count = RANKS,
                                              .transfers = &none,
                                              .processes = bed->processes,
                                              .process_count = bed->process_count};
    assert_int_equal(attribution_window(bed->attribution, &window), 0);
}

static void begin(struct bed *bed, size_t process_count)
{
    *bed = (struct bed){.process_count = process_count};
    assert_int_equal(attribution_create(&bed->attribution), 0);
    make_window(bed);
    for (unsigned w = 0; w < CALM; w++)
        add_window(bed);
    for (uint32_t r = 0; r < RANKS; r++) { /* half as many steps in a second */
        bed->ranks[r].calls = 50;
        bed->ranks[r].sent = bed->ranks[r].received = 25;
    }
    bed->ranks[LATE].recv_ns = 0;
}

static struct attribution_result explain_ranks(struct bed *bed, size_t count)
{
    static const uint32_t late[] = {LATE, LATE + 1};
    struct attribution_result out;
    for (int w = 0; w < 3; w++)
        add_window(bed);
    assert_int_equal(attribution_explain(bed->attribution, CALM + 1, late, count, &out), 0);
    attribution_destroy(bed->attribution);
    return out;
}

static struct attribution_result explain(struct bed *bed)
{
    return explain_ranks(bed, 1);
}

static void what_disturbs_the_process_is_the_cause(void **state)
{
    (void)state;
    struct bed bed;
    begin(&bed, RANKS);
    bed.processes[LATE].stopped = 5;
    bed.processes[LATE].user_ns = 250 * MS;
    bed.processes[LATE].runnable = 2;
    const struct attribution_result out = explain(&bed);
    assert_true(out.cause_count > 0);
    assert_int_equal(out.causes[0].kind, CAUSE_STOPPED);
    assert_string_equal(out.causes[0].text,
                        "stopped by a signal for 50 % of the time, before for 0 %");
    assert_string_equal(out.causes[0].advice,
                        "Look for a debugger, a checkpoint or a batch system that stops "
                        "this process (SIGSTOP).");
}

static void time_without_a_core_is_no_more_than_samples_show(void **state)
{
    (void)state;
    struct bed bed;
    begin(&bed, RANKS);
    bed.processes[LATE].queued_ns = 600 * MS;
    bed.processes[LATE].user_ns = 250 * MS;
    bed.processes[LATE].runnable = 9;
    assert_int_equal(explain(&bed).causes[0].kind, CAUSE_INTERRUPTED);
    begin(&bed, RANKS);
    bed.processes[LATE].queued_ns = 600 * MS; /* most of it while it was blocked */
    bed.processes[LATE].user_ns = 250 * MS;
    bed.processes[LATE].runnable = 4;
    bed.processes[LATE].blocked = 6;
    assert_int_equal(explain(&bed).causes[0].kind, CAUSE_IO);
}

static void thousands_of_page_faults_are_written_in_digits(void **state)
{
    (void)state;
    struct bed bed;
    begin(&bed, RANKS);
    bed.processes[LATE].major_faults = 4567;
    bed.processes[LATE].user_ns = 200 * MS;
    bed.processes[LATE].runnable = 2;
    bed.processes[LATE].blocked = 8;
    const struct attribution_result out = explain(&bed);
    assert_true(out.cause_count > 0);
    assert_int_equal(out.causes[0].kind, CAUSE_PAGING);
    assert_string_equal(out.causes[0].text, "4567 major page faults a second, before 0");
}

static void time_blocked_in_mpi_io_counts_once(void **state)
{
    (void)state;
    struct bed bed;
    begin(&bed, RANKS);
    bed.ranks[LATE].io_ns = 800 * MS;
    bed.processes[LATE].user_ns = 200 * MS;
    bed.processes[LATE].runnable = 2;
    bed.processes[LATE].blocked = 8;
    const struct attribution_result out = explain(&bed);
    assert_true(out.cause_count > 0);
    assert_int_equal(out.causes[0].kind, CAUSE_IO);
    assert_string_equal(out.causes[0].text, "blocked in I/O for 80 % of the time, before for 0 %");
}

/* As where the file system is on another machine, and the process sleeps as in other calls. */
static void time_in_mpi_io_counts_though_the_process_is_not_blocked(void **state)
{
    (void)state;
    struct bed bed;
    begin(&bed, RANKS);
    bed.ranks[LATE].io_ns = 800 * MS;
    bed.processes[LATE].user_ns = 200 * MS;
    bed.processes[LATE].runnable = 2;
    assert_string_equal(explain(&bed).causes[0].text,
                        "blocked in I/O for 80 % of the time, before for 0 %");
}

static void longer_work_shows_no_other_sign(void **state)
{
    (void)state;
    struct bed bed;
    begin(&bed, RANKS);
    bed.processes[LATE].user_ns = 1000 * MS;
    bed.processes[LATE].runnable = 10;
    const struct attribution_result out = explain(&bed);
    assert_int_equal(out.cause_count, 1);
    assert_int_equal(out.causes[0].kind, CAUSE_COMPUTES);
    assert_string_equal(out.causes[0].advice,
                        "Balance the work: this rank has more of it than before.");
    begin(&bed, RANKS);
    bed.processes[LATE].user_ns = 1000 * MS;
    bed.processes[LATE].runnable = 10;
    bed.ranks[LATE].sent = 100;
    assert_int_equal(explain(&bed).causes[0].kind, CAUSE_PATTERN);
}

/* As where it waits for an accelerator, or for other threads. */
static void a_rank_that_sleeps_outside_of_mpi_is_not_called_busy(void **state)
{
    (void)state;
    struct bed bed;
    begin(&bed, RANKS);
    bed.processes[LATE].user_ns = 50 * MS;
    bed.processes[LATE].runnable = 1;
    const struct attribution_result out = explain(&bed);
    assert_int_equal(out.causes[0].kind, CAUSE_COMPUTES);
    assert_string_equal(out.causes[0].text, "outside of MPI for 100 % of the time, before for "
                                            "50 %, and asleep for most of it");
}

/* Others waited for it before, too: its share of time outside of MPI cannot grow. */
static void a_rank_that_was_never_in_mpi_for_long_is_said_to_do_less_work(void **state)
{
    (void)state;
    struct bed bed = {.process_count = RANKS};
    assert_int_equal(attribution_create(&bed.attribution), 0);
    make_window(&bed);
    bed.ranks[LATE].recv_ns = 40 * MS;
    bed.processes[LATE].user_ns = 960 * MS;
    for (unsigned w = 0; w < CALM; w++)
        add_window(&bed);
    for (uint32_t r = 0; r < RANKS; r++) { /* half as many steps in a second */
        bed.ranks[r].calls = 50;
        bed.ranks[r].sent = bed.ranks[r].received = 25;
    }
    bed.ranks[LATE].recv_ns = 80 * MS;
    bed.processes[LATE].user_ns = 920 * MS;
    const struct attribution_result out = explain(&bed);
    assert_int_equal(out.causes[0].kind, CAUSE_COMPUTES);
    assert_string_equal(out.causes[0].text, "busy outside of MPI for 92 % of the time, before for "
                                            "96 %; in the same time it does 50 % of the work");
}

/* An agent knows the clock of a core when it has seen the rank run: after its first windows. */
static void windows_in_which_the_clock_is_not_known_do_not_count_as_slow(void **state)
{
    (void)state;
    struct bed bed = {.process_count = RANKS};
    assert_int_equal(attribution_create(&bed.attribution), 0);
    make_window(&bed);
    for (unsigned w = 0; w < CALM; w++) {
        bed.processes[LATE].clock_khz = w < CALM / 2 ? 0 : 3000000;
        add_window(&bed);
    }
    bed.ranks[LATE].recv_ns = 0;
    bed.processes[LATE].user_ns = 1000 * MS;
    bed.processes[LATE].runnable = 10;
    bed.processes[LATE].clock_khz = 1000000;
    for (uint32_t r = 0; r < RANKS; r++) { /* half as many steps in a second */
        bed.ranks[r].calls = 50;
        bed.ranks[r].sent = bed.ranks[r].received = 25;
    }
    const struct attribution_result out = explain(&bed);
    assert_true(out.cause_count > 0);
    assert_int_equal(out.causes[0].kind, CAUSE_CLOCK);
    assert_string_equal(out.causes[0].text, "cores run at 1.00 GHz, before at 3.00 GHz");
}

static void advice_for_several_ranks_is_in_the_plural(void **state)
{
    (void)state;
    struct bed bed;
    begin(&bed, RANKS);
    for (uint32_t r = LATE; r <= LATE + 1; r++) {
        bed.processes[r].user_ns = 1000 * MS;
        bed.processes[r].runnable = 10;
        bed.ranks[r].recv_ns = 0;
    }
    assert_string_equal(explain_ranks(&bed, 2).causes[0].advice,
                        "Balance the work: these ranks have more of it than before.");
}

static void without_figures_of_processes_nothing_is_known(void **state)
{
    (void)state;
    struct bed bed;
    begin(&bed, 0);
    assert_int_equal(explain(&bed).cause_count, 0);
}

static void causes_have_phrases_for_one_rank_and_for_several(void **state)
{
    (void)state;
    assert_string_equal(attribution_cause_phrase("computes-longer", 0), "computes longer");
    assert_string_equal(attribution_cause_phrase("computes-longer", 1), "compute longer");
    assert_string_equal(attribution_cause_phrase("interrupted", 0), "is kept off its core");
    assert_null(attribution_cause_phrase("late-sender", 0));
    assert_null(attribution_cause_phrase("", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_disturbs_the_process_is_the_cause),
        cmocka_unit_test(time_without_a_core_is_no_more_than_samples_show),
        cmocka_unit_test(a_rank_that_was_never_in_mpi_for_long_is_said_to_do_less_work),
        cmocka_unit_test(windows_in_which_the_clock_is_not_known_do_not_count_as_slow),
        cmocka_unit_test(thousands_of_page_faults_are_written_in_digits),
        cmocka_unit_test(time_blocked_in_mpi_io_counts_once),
        cmocka_unit_test(time_in_mpi_io_counts_though_the_process_is_not_blocked),
        cmocka_unit_test(longer_work_shows_no_other_sign),
        cmocka_unit_test(a_rank_that_sleeps_outside_of_mpi_is_not_called_busy),
        cmocka_unit_test(advice_for_several_ranks_is_in_the_plural),
        cmocka_unit_test(without_figures_of_processes_nothing_is_known),
        cmocka_unit_test(causes_have_phrases_for_one_rank_and_for_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
