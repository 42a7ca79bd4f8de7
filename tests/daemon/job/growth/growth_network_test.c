/* Which of two findings follows from the other, by what the attribution says of synthetic jobs with
 * a known reason of delay; and what the title of an alert says. */
#include "daemon/job/growth/growth_state.h"
#include "tests/daemon/analysis/attribution/summed.h"
#include "tests/daemon/analysis/attribution/synthetic_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define SEED 3u
#define TRANSFERS 1u /* numbers of the findings */
#define LATENESS 2u

/* A job that was disturbed for some windows, and two findings at a node: messages that take longer,
 * as a symptom of ranks that are late. */
static struct job_growth watch_job(const struct synthetic_params *p, uint32_t node)
{
    struct job_growth g = {.finding_count = 2};
    struct synthetic_job *job = synthetic_create(p);
    assert_non_null(job);
    assert_int_equal(attribution_create(&g.attribution, NULL), 0);
    for (uint32_t r = 0; r < synthetic_ranks(p); r++)
        assert_int_equal(attribution_place(g.attribution, r, synthetic_node(job, r), "node"), 0);
    for (uint32_t w = 0; w < p->windows; w++) {
        struct attribution_window window;
        synthetic_window(job, w, &window);
        assert_int_equal(take_summed(g.attribution, &window), 0);
    }
    synthetic_destroy(job);
    const struct scope scope = {SCOPE_NODE, SCOPE_BOTH, node, 0};
    g.findings[0] = g.findings[1] =
        (struct scope_finding){.members = {scope}, .member_count = 1, .onset = p->onset + 1};
    g.findings[0].id = TRANSFERS;
    g.findings[0].part = SCOPE_TRANSFER;
    g.findings[0].symptom_of = LATENESS;
    g.findings[1].id = LATENESS;
    g.findings[1].part = SCOPE_LATENESS;
    growth_judge_symptoms(&g);
    attribution_destroy(g.attribution);
    return g;
}

static struct synthetic_params job_of(enum synthetic_reason reason)
{
    struct synthetic_params p = synthetic_draw(SEED, reason);
    p.strength = 4;
    p.sampling = 1;
    return p;
}

static void ranks_that_a_slow_link_holds_up_follow_from_it(void **state)
{
    const struct synthetic_params p = job_of(SYNTHETIC_LINK);
    const struct job_growth g = watch_job(&p, p.node);
    (void)state;
    assert_int_equal(g.findings[0].symptom_of, 0);
    assert_int_equal(g.findings[1].symptom_of, TRANSFERS);
}

static void messages_of_another_node_stay_a_symptom(void **state)
{
    const struct synthetic_params p = job_of(SYNTHETIC_LINK);
    const struct job_growth g = watch_job(&p, (p.node + 1) % p.nodes);
    (void)state;
    assert_int_equal(g.findings[0].symptom_of, LATENESS);
    assert_int_equal(g.findings[1].symptom_of, 0);
}

static void messages_that_a_late_rank_holds_up_stay_a_symptom(void **state)
{
    const struct synthetic_params p = job_of(SYNTHETIC_RANK);
    const struct job_growth g = watch_job(&p, p.rank / p.ranks_per_node);
    (void)state;
    assert_int_equal(g.findings[0].symptom_of, LATENESS);
    assert_int_equal(g.findings[1].symptom_of, 0);
}

/* An alert about rank 3, whose messages once took 25 times as long. */
static const char *title_at(double ratio)
{
    static struct growth_episode e;
    static const struct rule rule = {.clear = 1.2};
    const struct job_growth g = {0};
    e = (struct growth_episode){
        .rule = &rule,
        .finding = {.members = {{.kind = SCOPE_RANK, .a = 3}},
                    .member_count = 1,
                    .part = SCOPE_TRANSFER},
        .evidence = {
            .ratio = ratio, .ratio_worst = 25, .progress = 1, .onset_ns = UINT64_C(3600000000000)}};
    growth_write_title(&g, &e);
    return e.title;
}

static void a_title_does_not_call_messages_slow_that_are_fast_again(void **state)
{
    (void)state;
    assert_string_equal(title_at(12), "rank 3: messages take 12x as long since 01:00:00");
    assert_string_equal(title_at(0.9),
                        "rank 3: messages took up to 25x as long since 01:00:00, not now");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_a_slow_link_holds_up_follow_from_it),
        cmocka_unit_test(messages_of_another_node_stay_a_symptom),
        cmocka_unit_test(messages_that_a_late_rank_holds_up_stay_a_symptom),
        cmocka_unit_test(a_title_does_not_call_messages_slow_that_are_fast_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
