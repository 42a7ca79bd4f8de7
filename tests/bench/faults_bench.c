/* Does the analysis of scopes find faults, name where they are, and keep silent otherwise?
 *
 *   faults_bench [--seeds N] [--first SEED] [--large] [--verbose] [--case NAME]
 *   faults_bench --calm HOURS
 *   faults_bench --programs [--nodes N] [--seeds N] [--first SEED] [--verbose]
 *   faults_bench --situations [--case NAME] [--seeds N] [--first SEED] [--verbose]
 *                [--onset WINDOW] [--times FACTOR]
 *
 * Each case is a kind of fault in a job of 512 ranks on 64 nodes (4,096 on 512 with --large), drawn
 * by its seed: see fault_job.h. Printed are how many were found within five windows (drift:
 * 20), how many were named exactly, with the 95 % interval (Wilson) of that, windows to detection,
 * the error of the onset, and what a window cost. With --calm the job has no fault, and findings
 * are counted. With --programs the jobs are small programs that are simulated call by call, where
 * those who wait for slow messages hold up others (synthetic_job.h); judged is what an operator
 * reads: the alerts that fire after eight windows, in jobs of N nodes or of 4 to 10. With
 * --situations the faults of these programs come together, come and go, grow slowly and so on;
 * judged are all alerts that have fired until the end of each. With --onset faults begin in that
 * window, and with --times they make times so many times as long. */
#include "tests/daemon/analysis/scopes/fault_job.h"
#include "tests/daemon/job/growth/program_alerts.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fault_case {
    const char *name;
    struct fault_params params;
    uint32_t within; /* windows in which it should be found */
    bool silent;     /* nothing should be found */
};

#define ONSET 30u

static uint32_t bench_onset = ONSET; /* of faults that have none of their own */
static double bench_times;           /* by which times of programs grow; 0: drawn */

static const struct fault_case cases[] = {
    {"calm", {.kind = FAULT_CALM}, 0, true},
    {"calm, heavy tails", {.kind = FAULT_CALM, .tail = 0.02, .noise = 0.6}, 0, true},
    {"calm, common noise", {.kind = FAULT_CALM, .shared = 0.15}, 0, true},
    {"calm, irregular", {.kind = FAULT_CALM, .pattern = PATTERN_IRREGULAR}, 0, true},
    {"calm, plane, common noise",
     {.kind = FAULT_CALM, .pattern = PATTERN_PLANE, .shared = 0.15},
     0,
     true},
    {"calm, irregular, heavy tails",
     {.kind = FAULT_CALM, .pattern = PATTERN_IRREGULAR, .tail = 0.02, .noise = 0.3},
     0,
     true},
    {"calm, exchanges of all", {.kind = FAULT_CALM, .exchange_every = 15}, 0, true},
    {"calm, partners change",
     {.kind = FAULT_CALM, .pattern = PATTERN_IRREGULAR, .partners_every = 20},
     0,
     true},
    {"calm, a new phase", {.kind = FAULT_CALM, .new_phase = ONSET}, 0, true},
    {"node 5x", {.kind = FAULT_NODE, .factor = 5}, 5, false},
    {"node 2x", {.kind = FAULT_NODE, .factor = 2}, 5, false},
    {"node 1.3x", {.kind = FAULT_NODE, .factor = 1.3}, 5, false},
    {"node 2x, sending", {.kind = FAULT_NODE_OUT, .factor = 2}, 5, false},
    {"node 2x, irregular",
     {.kind = FAULT_NODE, .factor = 2, .pattern = PATTERN_IRREGULAR},
     5,
     false},
    {"node 2x, plane, common noise",
     {.kind = FAULT_NODE, .factor = 2, .pattern = PATTERN_PLANE, .shared = 0.15},
     5,
     false},
    {"node 2x, each third window", {.kind = FAULT_NODE, .factor = 2, .active_every = 3}, 6, false},
    {"node 3x, heavy tails",
     {.kind = FAULT_NODE, .factor = 3, .tail = 0.02, .noise = 0.6},
     5,
     false},
    {"node 3x, irregular, tails",
     {.kind = FAULT_NODE, .factor = 3, .pattern = PATTERN_IRREGULAR, .tail = 0.02, .noise = 0.3},
     5,
     false},
    {"node 3x, partners change",
     {.kind = FAULT_NODE, .factor = 3, .pattern = PATTERN_IRREGULAR, .partners_every = 20},
     5,
     false},
    {"node 3x, with a new phase", {.kind = FAULT_NODE, .factor = 3, .new_phase = ONSET}, 5, false},
    {"node 3x for 4 windows", {.kind = FAULT_NODE, .factor = 3, .length = 4}, 5, false},
    {"node 3x, half a message", {.kind = FAULT_NODE, .factor = 3, .messages = 0.5}, 5, false},
    {"within a node 3x", {.kind = FAULT_WITHIN, .factor = 3}, 5, false},
    {"four nodes 4x", {.kind = FAULT_NODES, .factor = 4}, 5, false},
    {"four nodes 2x", {.kind = FAULT_NODES, .factor = 2}, 5, false},
    {"pair 10x", {.kind = FAULT_PAIR, .factor = 10}, 5, false},
    {"pair 2x", {.kind = FAULT_PAIR, .factor = 2}, 5, false},
    {"pair 3x, plane, common noise",
     {.kind = FAULT_PAIR, .factor = 3, .pattern = PATTERN_PLANE, .shared = 0.15},
     5,
     false},
    {"pair 3x, heavy tails",
     {.kind = FAULT_PAIR, .factor = 3, .tail = 0.02, .noise = 0.6},
     5,
     false},
    {"link 4x", {.kind = FAULT_LINK, .factor = 4}, 5, false},
    {"link 2x", {.kind = FAULT_LINK, .factor = 2}, 5, false},
    {"late rank", {.kind = FAULT_LATE_RANK, .factor = 5}, 5, false},
    {"late rank, heavy tails",
     {.kind = FAULT_LATE_RANK, .factor = 5, .tail = 0.02, .noise = 0.6},
     5,
     false},
    {"node 2x, common noise", {.kind = FAULT_NODE, .factor = 2, .shared = 0.15}, 5, false},
    {"step 2x, common noise", {.kind = FAULT_STEP, .factor = 2, .shared = 0.15}, 5, false},
    {"step 1.3x", {.kind = FAULT_STEP, .factor = 1.3}, 5, false},
    {"step 1.6x", {.kind = FAULT_STEP, .factor = 1.6}, 5, false},
    {"step 1.3x of all", {.kind = FAULT_STEP_OF_ALL, .factor = 1.3}, 5, false},
    {"step 2x of all", {.kind = FAULT_STEP_OF_ALL, .factor = 2}, 5, false},
    {"step 2x, each third window", {.kind = FAULT_STEP, .factor = 2, .active_every = 3}, 6, false},
    {"step 1.5x, exchanges", {.kind = FAULT_STEP, .factor = 1.5, .exchange_every = 15}, 5, false},
    {"all 30 us longer, sizes differ",
     {.kind = FAULT_STEP, .factor = 2, .delay_ns = 3e4, .spread = 1.5},
     5,
     false},
    {"link 30 us longer, sizes differ",
     {.kind = FAULT_LINK, .factor = 2, .delay_ns = 3e4, .spread = 1.5},
     5,
     false},
    {"node 30 us longer, sizes differ",
     {.kind = FAULT_NODE, .factor = 2, .delay_ns = 3e4, .spread = 1.5},
     5,
     false},
    {"drift 5 % a window", {.kind = FAULT_DRIFT, .factor = 1.05}, 20, false},
    {"drift 1 % a window", {.kind = FAULT_DRIFT, .factor = 1.01}, 60, false},
    {"one of 4 nodes loses 5 %",
     {.kind = FAULT_LOSS, .factor = 0.05, .nodes = 4, .ranks_per_node = 2, .messages = 20},
     5,
     false},
    {"node 3x and pair 3x", {.kind = FAULT_NODE_AND_PAIR, .factor = 3}, 5, false},
};

/* What a case leaves open. */
static struct fault_params bench_complete(struct fault_params params, uint64_t seed, uint32_t nodes)
{
    params.seed = seed;
    params.nodes = params.nodes > 0 ? params.nodes : nodes;
    params.ranks_per_node = params.ranks_per_node > 0 ? params.ranks_per_node : 8;
    params.onset = bench_onset;
    params.new_phase = params.new_phase > 0 ? bench_onset : 0;
    params.messages = params.messages > 0 ? params.messages : 2;
    params.noise = params.noise > 0 ? params.noise : 0.4;
    params.shared = params.shared > 0 ? params.shared : 0.05;
    return params;
}

struct result {
    uint32_t runs, found, named, cause, silent, false_alarms;
    double delay, onset_error, ns, windows;
};

static bool verbose;

static double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void bench_print_finding(const struct scope_finding *f, uint32_t window)
{
    static const char *const kinds[] = {"job", "intra", "inter", "node", "pair", "link", "rank"};
    printf("    window %u: %s", window, f->part == SCOPE_LATENESS ? "late" : "slow");
    for (uint32_t m = 0; m < f->member_count; m++)
        printf(" %s %u/%u dir %d (%.2fx)", kinds[f->members[m].kind], f->members[m].a,
               f->members[m].b, (int)f->members[m].direction, f->effects[m]);
    printf(" onset %llu, alternatives %u\n", (unsigned long long)f->onset, f->alternative_count);
}

/* One job. Named counts when the findings at the end of the time allowed are those of the fault. */
static void bench_run(const struct fault_case *c, const struct fault_params *params,
                      struct result *result)
{
    struct fault_job *job = fault_job_create(params);
    struct scopes *scopes;
    uint32_t found = 0;
    bool named = false, alarm = false, seen = false;
    if (scopes_create(&scopes) != 0)
        exit(EXIT_FAILURE);
    fault_job_prepare(job, scopes);
    const uint32_t end = c->silent ? 2 * ONSET : bench_onset + c->within;
    for (uint32_t w = 0; w < end; w++) {
        const struct transfers *rows = fault_job_window(job, w);
        const double begin = bench_now();
        if (scopes_window(scopes, w, UINT64_C(500000000), rows) != 0)
            exit(EXIT_FAILURE);
        result->ns += bench_now() - begin;
        result->windows += 1;
        size_t count;
        const struct scope_finding *f = scopes_findings(scopes, &count);
        alarm |= count > 0 && (w < bench_onset || c->silent);
        if (verbose && count > 0 && !seen) {
            printf("  seed %llu\n", (unsigned long long)params->seed);
            for (size_t i = 0; i < count; i++)
                bench_print_finding(&f[i], w);
            seen = c->silent || w < bench_onset;
        }
        if (count > 0 && found == 0 && w >= bench_onset) {
            found = w - bench_onset + 1;
            const double off = (double)f[0].onset - bench_onset;
            result->onset_error += off < 0 ? -off : off;
        }
        /* A fault that is over by then counts as it was named while it lasted. */
        if (w >= bench_onset && (params->length == 0 ? w + 1 == end : !named))
            named = fault_job_is_explained(job, f, count);
    }
    result->runs++;
    result->found += found > 0 && !c->silent;
    result->named += named && !alarm && !c->silent;
    result->silent += !alarm;
    result->delay += found;
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

static void bench_print(const struct fault_case *c, const struct result *r)
{
    const double n = r->runs, good = c->silent ? r->silent : r->named, p = good / n, z = 1.96;
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    printf("%-31s %4u  ", c->name, r->runs);
    if (c->silent)
        printf("silent %5.1f %%                               ", 100 * p);
    else
        printf("found %5.1f %%, named %5.1f %%, after %4.1f, onset %3.1f ", 100.0 * r->found / n,
               100 * p, r->delay / (r->found > 0 ? r->found : 1),
               r->onset_error / (r->found > 0 ? r->found : 1));
    printf("(%.1f to %.1f)  %5.2f ms\n", 100 * (middle - half), 100 * (middle + half),
           r->ns / r->windows / 1e6);
    fflush(stdout);
}

/* Hours of windows without a fault. */
static void bench_calm(double hours, uint64_t seed, uint32_t nodes)
{
    const struct fault_params params = bench_complete(
        (struct fault_params){.kind = FAULT_CALM, .exchange_every = 600}, seed, nodes);
    struct fault_job *job = fault_job_create(&params);
    struct scopes *scopes;
    uint64_t last = 0;
    if (scopes_create(&scopes) != 0)
        exit(EXIT_FAILURE);
    fault_job_prepare(job, scopes);
    for (uint32_t w = 0; w < hours * 3600; w++) {
        size_t count;
        scopes_window(scopes, w, UINT64_C(1000000000), fault_job_window(job, w));
        const struct scope_finding *f = scopes_findings(scopes, &count);
        for (size_t i = 0; i < count; i++) {
            if (f[i].id > last)
                bench_print_finding(&f[i], w);
            last = f[i].id > last ? f[i].id : last;
        }
    }
    printf("%g hours, %u nodes: %llu findings\n", hours, nodes, (unsigned long long)last);
    scopes_destroy(scopes);
    fault_job_destroy(job);
}

static void bench_print_alert(const struct program_alert *a)
{
    printf("    %s%s (%s %s, %s) onset %d\n", a->fires ? "" : "ended: ", a->title, a->culprit,
           a->culprits, a->cause, (int)a->onset);
}

/* The alerts that are firing after eight windows are judged. */
static void bench_program(enum synthetic_reason reason, uint32_t nodes, uint64_t seed,
                          struct result *result)
{
    struct synthetic_params p = synthetic_draw(seed, reason);
    struct program_alerts alerts;
    p.onset = 30;
    p.windows = p.onset + 8;
    if (nodes > 0) {
        p.nodes = nodes;
        p.node %= nodes;
        p.rank %= synthetic_ranks(&p);
    }
    program_watch(&p, &alerts);
    uint32_t right = 0, cause = 0;
    for (size_t i = 0; i < PROGRAM_ALERTS; i++) {
        right += alerts.list[i].fires && program_names_culprit(&p, &alerts.list[i]);
        cause += alerts.list[i].fires && program_names_cause(&p, &alerts.list[i]);
    }
    result->runs++;
    result->silent += reason == SYNTHETIC_CALM ? alerts.fired == 0 : alerts.early == 0;
    result->found += alerts.firing > 0;
    result->named += alerts.firing == 1 && right == 1;
    result->cause += alerts.firing == 1 && cause == 1;
    if (!verbose || (reason == SYNTHETIC_CALM ? alerts.fired == 0
                                              : alerts.firing == 1 && cause == 1 && !alerts.early))
        return;
    printf("  seed %llu: %u nodes of %u, node %u, rank %u, pattern %d, style %d; %u alerts early\n",
           (unsigned long long)seed, p.nodes, p.ranks_per_node, p.node, p.rank, (int)p.pattern,
           (int)p.style, alerts.early);
    for (size_t i = 0; i < PROGRAM_ALERTS; i++) {
        const struct program_alert *a = &alerts.list[i];
        if (a->fires)
            bench_print_alert(a);
    }
}

/* @param nodes  0: drawn by the seed */
static void bench_programs(uint64_t first, uint64_t seeds, uint32_t nodes)
{
    static const struct {
        const char *name;
        enum synthetic_reason reason;
    } reasons[] = {{"calm", SYNTHETIC_CALM},
                   {"link of a node", SYNTHETIC_LINK},
                   {"traffic of others", SYNTHETIC_BACKGROUND},
                   {"rank computes longer", SYNTHETIC_RANK},
                   {"node computes longer", SYNTHETIC_NODE}};
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        struct result r = {0};
        for (uint64_t seed = first; seed < first + seeds; seed++)
            bench_program(reasons[i].reason, nodes, seed, &r);
        printf("%-28s %4u  silent before %5.1f %%, alert %5.1f %%, culprit alone %5.1f %%, and its "
               "cause %5.1f %%\n",
               reasons[i].name, r.runs, 100.0 * r.silent / r.runs, 100.0 * r.found / r.runs,
               100.0 * r.named / r.runs, 100.0 * r.cause / r.runs);
    }
}

/* ---- situations ---------------------------------------------------------- */

struct situation {
    const char *name;
    uint32_t windows;       /* from the onset to the end */
    uint32_t onset;         /* 0: bench_onset */
    uint32_t nodes, ranks;  /* ranks: of a node; 0: drawn */
    bool from_start, small; /* nothing has to be said */
    bool master;
    bool calm;         /* only jobs without a fault */
    uint32_t slack;    /* windows, beyond the one always allowed, by which an onset may be late */
    double iterations; /* in a window; 0: drawn */
    struct synthetic_params params;
};

static const struct situation situations[] = {
    {.name = "plain", .windows = 20},
    {.name = "two at once", .windows = 20, .params.second = SYNTHETIC_NODE},
    {.name = "two ranks at once", .windows = 20, .params.second = SYNTHETIC_RANK},
    {.name = "two links at once", .windows = 20, .params.second = SYNTHETIC_LINK},
    {.name = "comes and goes, 3 windows", .windows = 24, .params.pulse = 3},
    {.name = "grows by 1 % a window", .windows = 60, .params = {.share = 0.01, .ramp = 1}},
    {.name = "grows by 5 % a window", .windows = 60, .params = {.share = 0.05, .ramp = 1}},
    {.name = "from the first window", .windows = 40, .from_start = true, .small = true},
    {.name = "two ranks on two nodes", .windows = 20, .nodes = 2, .ranks = 1},
    {.name = "three ranks on three nodes", .windows = 20, .nodes = 3, .ranks = 1},
    {.name = "master and workers", .windows = 20, .nodes = 5, .ranks = 2, .master = true},
    {.name = "an iteration in 2.5 windows", .windows = 20, .iterations = 0.4},
    {.name = "2.5 windows, for 60", .windows = 60, .iterations = 0.4},
    {.name = "0.8 windows, later", .windows = 100, .onset = 200, .iterations = 1.25, .slack = 8},
    {.name = "1.1 windows, later", .windows = 100, .onset = 200, .iterations = 0.9, .slack = 8},
    {.name = "1.6 windows, later", .windows = 100, .onset = 200, .iterations = 0.6, .slack = 8},
    {.name = "2.5 windows, later", .windows = 100, .onset = 200, .iterations = 0.4, .slack = 8},
    {.name = "an iteration in 3.3 windows", .windows = 100, .onset = 200, .iterations = 0.3},
    {.name = "an iteration in 5 windows", .windows = 150, .onset = 300, .iterations = 0.2},
    {.name = "an iteration in 10 windows", .windows = 300, .onset = 600, .iterations = 0.1},
    {.name = "three iterations a window", .windows = 20, .iterations = 3},
    {.name = "an iteration a window", .windows = 20, .iterations = 0.9},
    {.name = "10 % for 60 windows", .windows = 60, .small = true, .params.share = 0.1},
    {.name = "with a new phase", .windows = 20, .params.new_phase = ONSET},
    {.name = "after 400 windows", .windows = 20, .onset = 400},
    {.name = "a link later",
     .windows = 60,
     .params = {.second = SYNTHETIC_LINK, .second_onset = 60}},
    {.name = "a node later",
     .windows = 60,
     .params = {.second = SYNTHETIC_NODE, .second_onset = 60}},
    {.name = "a rank later",
     .windows = 60,
     .params = {.second = SYNTHETIC_RANK, .second_onset = 60}},
    {.name = "900 windows", .windows = 900, .calm = true},
    {.name = "900, three iterations each", .windows = 900, .calm = true, .iterations = 3},
};

/* @return 1: the alert names the first reason, 2: the second, 3: both */
static uint32_t situation_names(const struct synthetic_params *p, const struct program_alert *a)
{
    struct synthetic_params second = *p;
    char both[2][32];
    const uint32_t place = p->reason == SYNTHETIC_RANK ? p->rank : p->node;
    const char *kind = p->reason == SYNTHETIC_RANK ? "" : "n";
    second.reason = p->second;
    second.rank = second.node = p->second_place;
    snprintf(both[0], sizeof(both[0]), "%s%u and %s%u", kind, place, kind, p->second_place);
    snprintf(both[1], sizeof(both[1]), "%s%u and %s%u", kind, p->second_place, kind, place);
    if (p->second == p->reason &&
        (strcmp(a->culprits, both[0]) == 0 || strcmp(a->culprits, both[1]) == 0))
        return 3;
    /* The rank and the node are one; or only the master of its node is waited for. */
    if (p->reason == SYNTHETIC_NODE && (p->ranks_per_node == 1 || p->style == STYLE_MASTER)) {
        second = *p;
        second.reason = SYNTHETIC_RANK;
        second.rank = p->node; /* the master is rank 0 of node 0 */
        return program_names_cause(&second, a);
    }
    if (program_names_cause(p, a))
        return 1;
    return p->second != SYNTHETIC_CALM && program_names_cause(&second, a) ? 2 : 0;
}

struct situation_result {
    uint32_t runs, found, once, onset, wrong, clean;
    uint32_t hidden, hidden_found, hidden_wrong; /* see situation_hides_links() */
};

/* Does nothing tell that the links of other nodes than these two are not slow: no message between
 * others, or, where one call completes all messages of a rank, no rank without any of these? */
static bool situation_hides_links(const struct synthetic_params *p)
{
    struct synthetic_params one = *p;
    struct attribution_window window;
    one.windows = 1;
    struct synthetic_job *job = synthetic_create(&one);
    const uint32_t ranks = synthetic_ranks(p);
    bool *far = calloc(ranks, sizeof(*far)), *touches = calloc(ranks, sizeof(*touches));
    bool hides = true;
    if (job == NULL || far == NULL || touches == NULL)
        exit(EXIT_FAILURE);
    synthetic_window(job, 0, &window);
    for (size_t i = 0; i < window.pair_count; i++) {
        const uint32_t to = (uint32_t)window.pairs[i].destination;
        const uint32_t a = synthetic_node(job, (uint32_t)window.pairs[i].source);
        const uint32_t b = synthetic_node(job, to);
        const bool slow =
            a == p->node || b == p->node || a == p->second_place || b == p->second_place;
        far[to] |= a != b;
        touches[to] |= a != b && slow;
        hides = hides && (a == b || slow || p->style == STYLE_WAITALL);
    }
    for (uint32_t r = 0; r < ranks; r++)
        hides = hides && (!far[r] || touches[r] || p->style != STYLE_WAITALL);
    free(far);
    free(touches);
    synthetic_destroy(job);
    return hides;
}

static void bench_situation(const struct situation *c, enum synthetic_reason reason, uint64_t seed,
                            struct situation_result *r)
{
    struct synthetic_params p = synthetic_draw(seed, reason);
    struct program_alerts alerts;
    p.share = bench_times > 0 ? bench_times - 1 : c->params.share;
    p.ramp = c->params.ramp;
    p.pulse = c->params.pulse;
    p.new_phase = c->params.new_phase > 0 ? bench_onset : 0;
    p.nodes = c->nodes > 0 ? c->nodes : p.nodes;
    p.ranks_per_node = c->ranks > 0 ? c->ranks : p.ranks_per_node;
    p.iterations = c->iterations > 0 ? c->iterations : p.iterations;
    p.preemption = c->iterations > 0 ? 0 : p.preemption; /* not for seconds, by its length */
    p.node = c->master ? 0 : p.node % p.nodes;
    p.rank = c->master ? 0 : p.rank % synthetic_ranks(&p);
    p.style = c->master ? STYLE_MASTER : p.style;
    p.onset = c->from_start ? 0 : c->onset > 0 ? c->onset : bench_onset;
    p.windows = p.onset + c->windows;
    if (c->params.second != SYNTHETIC_CALM && reason != SYNTHETIC_CALM) {
        const uint32_t node = reason == SYNTHETIC_RANK ? p.rank / p.ranks_per_node : p.node;
        p.second = c->params.second;
        p.second_onset =
            c->params.second_onset > 0 ? c->params.second_onset - ONSET + bench_onset : 0;
        p.second_place = (node + p.nodes / 2) % p.nodes;
        p.second_place *= p.second == SYNTHETIC_RANK ? p.ranks_per_node : 1;
    }
    program_watch(&p, &alerts);
    const uint32_t reasons = reason == SYNTHETIC_CALM ? 0 : p.second == SYNTHETIC_CALM ? 1 : 3;
    uint32_t named = 0, right = 0, wrong = 0, early = 0;
    for (size_t i = 0; i < PROGRAM_ALERTS && alerts.list[i].episode != 0; i++) {
        const uint32_t names = situation_names(&p, &alerts.list[i]) & reasons;
        const uint32_t onset = alerts.list[i].onset;
        const uint32_t from = names == 2 && p.second_onset > 0 ? p.second_onset : p.onset;
        named |= names;
        right += names != 0;
        wrong += names == 0;
        early += names != 0 && (onset + 1 < from || (!p.ramp && onset > from + 1 + c->slack));
    }
    const bool once = named == reasons && right == (reasons == 3 ? right : reasons);
    const bool good = c->small ? wrong == 0 && alerts.early == 0
                               : once && wrong == 0 && early == 0 && alerts.early == 0;
    r->runs++;
    r->found += named == reasons;
    r->once += once && right <= 2;
    r->onset += early == 0;
    r->wrong += wrong > 0 || alerts.early > 0;
    const bool hides =
        reasons == 3 && reason == SYNTHETIC_LINK && p.second == reason && situation_hides_links(&p);
    r->hidden += hides;
    r->hidden_found += hides && named == reasons;
    r->hidden_wrong += hides && (wrong > 0 || alerts.early > 0);
    r->clean += good;
    if (!verbose || good)
        return;
    printf("  seed %llu: %u nodes of %u, node %u, rank %u, pattern %d, style %d, sampling %g, "
           "collective %u, strength %.1f; second %u%s\n",
           (unsigned long long)seed, p.nodes, p.ranks_per_node, p.node, p.rank, (int)p.pattern,
           (int)p.style, p.sampling, p.collective_every, p.strength, p.second_place,
           hides ? ", told from others by no message" : "");
    for (size_t i = 0; i < PROGRAM_ALERTS && alerts.list[i].episode != 0; i++)
        bench_print_alert(&alerts.list[i]);
}

static void bench_situations(const char *only, uint64_t first, uint64_t seeds)
{
    static const char *const names[] = {[SYNTHETIC_CALM] = "calm",
                                        [SYNTHETIC_LINK] = "link",
                                        [SYNTHETIC_RANK] = "rank",
                                        [SYNTHETIC_NODE] = "node"};
    for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++) {
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            struct situation_result r = {0};
            if (names[k] == NULL || (only != NULL && strcmp(only, situations[i].name) != 0) ||
                (situations[i].calm && k != SYNTHETIC_CALM))
                continue;
            for (uint64_t seed = first; seed < first + seeds; seed++)
                bench_situation(&situations[i], (enum synthetic_reason)k, seed, &r);
            printf("%-28s %-5s %4u  named %5.1f %%, once %5.1f %%, onset %5.1f %%, a wrong alert "
                   "%5.1f %%, right %5.1f %%\n",
                   situations[i].name, names[k], r.runs, 100.0 * r.found / r.runs,
                   100.0 * r.once / r.runs, 100.0 * r.onset / r.runs, 100.0 * r.wrong / r.runs,
                   100.0 * r.clean / r.runs);
            if (r.hidden > 0)
                printf(
                    "%-34s %4u  by no message told from others, named %.1f %%, a wrong alert %.1f "
                    "%%\n",
                    "", r.hidden, 100.0 * r.hidden_found / r.hidden,
                    100.0 * r.hidden_wrong / r.hidden);
            fflush(stdout);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 's'}, {"first", required_argument, NULL, 'f'},
        {"large", no_argument, NULL, 'l'},       {"verbose", no_argument, NULL, 'v'},
        {"case", required_argument, NULL, 'c'},  {"calm", required_argument, NULL, 'h'},
        {"programs", no_argument, NULL, 'p'},    {"nodes", required_argument, NULL, 'n'},
        {"situations", no_argument, NULL, 'o'},  {"onset", required_argument, NULL, 'b'},
        {"times", required_argument, NULL, 't'}, {NULL, 0, NULL, 0}};
    uint64_t seeds = 20, first = 1;
    uint32_t nodes = 64, program_nodes = 0;
    const char *only = NULL;
    double hours = 0;
    bool programs = false, other = false;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        seeds = o == 's' ? strtoull(optarg, NULL, 10) : seeds;
        first = o == 'f' ? strtoull(optarg, NULL, 10) : first;
        nodes = o == 'l' ? 512 : nodes;
        verbose |= o == 'v';
        only = o == 'c' ? optarg : only;
        hours = o == 'h' ? atof(optarg) : hours;
        programs |= o == 'p';
        other |= o == 'o';
        bench_onset = o == 'b' ? (uint32_t)strtoul(optarg, NULL, 10) : bench_onset;
        bench_times = o == 't' ? atof(optarg) : bench_times;
        program_nodes = o == 'n' ? (uint32_t)strtoul(optarg, NULL, 10) : program_nodes;
        if (o == '?')
            return 2;
    }
    if (hours > 0) {
        bench_calm(hours, first, nodes);
        return 0;
    }
    if (other) {
        bench_situations(only, first, seeds);
        return 0;
    }
    if (programs) {
        bench_programs(first, seeds, program_nodes);
        return 0;
    }
    printf("%u ranks on %u nodes, windows of 500 ms\n", nodes * 8, nodes);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result result = {0};
        if (only != NULL && strcmp(only, cases[i].name) != 0)
            continue;
        for (uint64_t seed = first; seed < first + seeds; seed++) {
            const struct fault_params params = bench_complete(cases[i].params, seed, nodes);
            bench_run(&cases[i], &params, &result);
        }
        bench_print(&cases[i], &result);
    }
    return 0;
}
