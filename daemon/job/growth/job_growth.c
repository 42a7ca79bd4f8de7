/* What a job is watched for when a window closes: latency that grows. Findings of the analysis of
 * scopes become episodes of the latency rules. */
#include "daemon/job/growth/job_growth.h"

#include "daemon/job/growth/growth_state.h"
#include "holter/waiting.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UPDATE_CHANGE 0.15 /* of the ratio: worth an update */
#define UPDATE_WINDOWS 5u  /* at most one update in so many windows */
#define BLOCKED 0.5        /* of the window: a rank waits for most of it ... */
#define AS_LONG 0.9        /* ... and about as long as others do */
/* Windows for which a job may be slow until that is its level. Without it faults that come and go
 * are learned as its noise: of those of ranks 95 of 100 are found, with it 98. */
#define SLOW_LEARNED 10u

/* ---- life ---------------------------------------------------------------- */

int job_growth_create(struct job_growth **out, const struct job_growth_options *options)
{
    struct job_growth *g = calloc(1, sizeof(*g));
    if (g == NULL)
        return -ENOMEM;
    g->options = *options;
    int code = attribution_create(&g->attribution);
    code = code != 0 ? code : scopes_create(&g->scopes);
    if (code != 0) {
        job_growth_destroy(g);
        return code;
    }
    *out = g;
    return 0;
}

void job_growth_destroy(struct job_growth *g)
{
    if (g == NULL)
        return;
    scopes_destroy(g->scopes);
    attribution_destroy(g->attribution);
    growth_join_finish(&g->join);
    free(g);
}

int job_growth_place(struct job_growth *g, uint32_t rank, uint32_t node, const char *host)
{
    const uint32_t number = growth_by_node(g) ? node : rank;
    int code = scopes_place(g->scopes, number, node);
    code = code != 0 ? code : attribution_place(g->attribution, number, node, host);
    if (code == 0 && number >= g->numbers)
        g->numbers = number + 1;
    if (code == 0 && rank >= g->ranks)
        g->ranks = rank + 1;
    if (code == 0 && node >= g->nodes)
        g->nodes = node + 1;
    return code;
}

int growth_scope_has_rank(const struct job_growth *g, const struct scope *scope, uint32_t rank)
{
    const uint32_t node = attribution_rank_node(g->attribution, rank);
    switch (scope->kind) {
    case SCOPE_RANK:
        return rank == scope->a;
    case SCOPE_NODE:
        return node == scope->a;
    case SCOPE_NODE_PAIR:
        return node == scope->a || node == scope->b;
    default:
        return 0;
    }
}

int growth_fires(const struct job_growth *g, uint64_t finding)
{
    int fires = 0;
    for (size_t i = 0; i < GROWTH_EPISODES; i++)
        fires |= g->episodes[i].rule != NULL && g->episodes[i].finding.id == finding &&
                 g->episodes[i].state == ALERT_FIRING;
    return fires;
}

/* ---- episodes ------------------------------------------------------------ */

static void growth_report(const struct job_growth *g, const struct growth_episode *e,
                          uint64_t now_ns)
{
    const struct scope *first = &e->finding.members[0];
    const int is_rank = first->kind == SCOPE_RANK && e->finding.member_count == 1;
    g->options.on_report(g->options.user,
                         &(struct alert_report){.kind = "latency",
                                                .rank = is_rank ? (int64_t)first->a : -1,
                                                .state = e->state,
                                                .since_ns = e->since_ns,
                                                .now_ns = now_ns,
                                                .title = e->title,
                                                .text = e->text,
                                                .evidence = &e->evidence});
}

/* The text of an episode that has ended still describes it. */
static void episode_note_end(struct growth_episode *e, const char *how)
{
    char before[sizeof(e->text)];
    memcpy(before, e->text, sizeof(before));
    struct growth_text text = {e->text, sizeof(e->text), 0};
    growth_append(&text, "over: %s; %s", how, before);
}

static void episode_resolve(struct job_growth *g, struct growth_episode *e, const char *how,
                            uint64_t now_ns)
{
    const int fired = e->state == ALERT_FIRING;
    e->state = ALERT_RESOLVED;
    e->evidence.lost_ns = (uint64_t)fmax(e->lost_ns, 0);
    if (fired) {
        growth_write_end(g, e, now_ns);
        episode_note_end(e, how);
    }
    growth_report(g, e, now_ns);
    e->rule = NULL;
}

/* Growth a minute, as a share of the level before. */
static double episode_slope(const struct growth_episode *e, const struct closed_window *window)
{
    const double minutes =
        (double)(window->number - e->finding.onset + 1) * (double)window->length_ns / 60e9;
    return (e->finding.ratio - 1) / minutes;
}

/* The episode is described as it is now, and reported. */
static void episode_report(struct job_growth *g, struct growth_episode *e,
                           const struct closed_window *window)
{
    e->updated = window->number;
    e->reported_ratio = e->finding.ratio;
    e->reported_members = e->finding.member_count;
    e->reported_first = e->finding.members[0];
    growth_describe(g, e, window);
    growth_report(g, e, (window->number + 1) * growth_window_ns(g));
}

/* Is an update worth reporting? The ratio has changed, or the scopes have. */
static int episode_has_changed(const struct growth_episode *e, uint64_t window)
{
    const struct scope *now = &e->finding.members[0], *before = &e->reported_first;
    if (e->finding.member_count != e->reported_members || now->kind != before->kind ||
        now->a != before->a || now->b != before->b)
        return 1;
    return window - e->updated >= UPDATE_WINDOWS &&
           fabs(e->finding.ratio / e->reported_ratio - 1) >= UPDATE_CHANGE;
}

/* Messages of a finding in the window: all, also those whose times are not known. */
static uint64_t growth_count_messages(const struct job_growth *g, const struct scope_finding *f,
                                      const struct closed_window *window)
{
    uint64_t messages = 0;
    if (growth_by_node(g)) /* pairs are of groups: those that were matched */
        return f->messages;
    for (size_t i = 0; i < window->pair_count; i++) {
        const struct wire_pair_row *p = &window->pairs[i];
        int covered = 0;
        for (uint32_t m = 0; !covered && p->destination >= 0 && m < f->member_count; m++)
            covered = scopes_covers(g->scopes, &f->members[m], (uint32_t)p->source,
                                    (uint32_t)p->destination);
        messages += covered ? p->messages : 0;
    }
    return messages;
}

/* Do the ranks of a finding only seem late, since they wait themselves, as long as others do, for
 * messages that have not come yet? */
static int growth_waits_itself(const struct job_growth *g, const struct scope_finding *finding,
                               const struct closed_window *window)
{
    double own = 0, owns = 0, other = 0, others = 0;
    const int by_node = growth_by_node(g);
    const size_t count = by_node ? window->node_row_count : window->rank_count;
    for (size_t i = 0; finding->part == SCOPE_LATENESS && i < count; i++) {
        const struct wire_rank_row *r = by_node ? &window->node_rows[i].sum : &window->ranks[i];
        const double ranks = by_node ? (double)r->ranks : 1;
        int member = 0;
        for (uint32_t m = 0; m < finding->member_count; m++)
            member |= r->rank < g->numbers &&
                      growth_scope_has_rank(g, &finding->members[m], (uint32_t)r->rank);
        own += member ? (double)WAITING_NS(r) : 0;
        owns += member ? ranks : 0;
        other += member ? 0 : (double)WAITING_NS(r);
        others += member ? 0 : ranks;
    }
    return owns > 0 && others > 0 && own / owns > BLOCKED * (double)window->length_ns &&
           own / owns > AS_LONG * other / others;
}

/* Are there enough messages to judge by? Work that takes longer is not judged by messages. */
static int episode_is_known(const struct job_growth *g, const struct growth_episode *e,
                            const struct closed_window *window)
{
    return e->finding.part == SCOPE_WORK || e->finding.messages >= e->rule->least_messages ||
           (e->finding.messages > 0 &&
            growth_count_messages(g, &e->finding, window) >= e->rule->least_messages);
}

static int episode_is_raised(const struct job_growth *g, const struct growth_episode *e,
                             const struct closed_window *window)
{
    return episode_is_known(g, e, window) &&
           (e->finding.ratio >= e->rule->above ||
            (e->finding.ratio >= e->rule->clear && episode_slope(e, window) >= e->rule->growth));
}

static void episode_begin(struct job_growth *g, const struct rule *rule,
                          const struct scope_finding *finding, const struct closed_window *window)
{
    const uint64_t now_ns = (window->number + 1) * growth_window_ns(g);
    for (size_t i = 0; i < GROWTH_EPISODES; i++) {
        struct growth_episode *e = &g->episodes[i];
        if (e->rule != NULL)
            continue;
        memset(e, 0, sizeof(*e));
        e->rule = rule;
        e->finding = *finding;
        e->state = ALERT_PENDING;
        e->since_ns = now_ns;
        e->lost_ns =
            progress_lost_ns(&g->progress, window->number - finding->onset + 1, window->length_ns);
        growth_name_ranks(g, e);
        if (!episode_is_raised(g, e, window) || growth_waits_itself(g, &e->finding, window)) {
            e->rule = NULL;
            return;
        }
        episode_report(g, e, window);
        return;
    }
}

/* @return whether the episode has ended */
static int episode_check_end(struct job_growth *g, struct growth_episode *e, uint64_t now_ns)
{
    if (e->finding.messages > 0 && e->finding.ratio >= e->rule->clear)
        e->good_since_ns = 0;
    else if (e->finding.messages > 0 && e->good_since_ns == 0)
        e->good_since_ns = now_ns;
    if (!e->finding.over &&
        (e->good_since_ns == 0 || now_ns - e->good_since_ns < e->rule->clear_for_ns))
        return 0;
    episode_resolve(g, e, "latency is back", now_ns);
    return 1;
}

static void episode_continue(struct job_growth *g, struct growth_episode *e,
                             const struct closed_window *window)
{
    const uint64_t now_ns = (window->number + 1) * growth_window_ns(g);
    e->lost_ns += progress_lost_ns(&g->progress, 1, window->length_ns);
    if (e->finding.id != g->gradual.finding.id) /* sudden growth is seen as without it */
        attribution_disturbed(g->attribution, e->finding.onset);
    if (e->finding.symptom_of != 0 &&
        (e->state == ALERT_PENDING || growth_fires(g, e->finding.symptom_of))) {
        episode_resolve(g, e, "it follows from another", now_ns);
        return;
    }
    if (episode_check_end(g, e, now_ns))
        return;
    const int fires = e->state == ALERT_PENDING && episode_is_raised(g, e, window) &&
                      now_ns - e->since_ns >= e->rule->for_ns;
    if (!fires && (e->state == ALERT_PENDING || !episode_has_changed(e, window->number)))
        return;
    e->state = fires ? ALERT_FIRING : e->state;
    episode_report(g, e, window);
}

/* ---- windows ------------------------------------------------------------- */

/* Messages between nodes, with numbers of nodes. @return NULL without memory */
static struct wire_pair_row *growth_number_pairs(const struct job_growth *g,
                                                 const struct closed_window *window)
{
    struct wire_pair_row *pairs = malloc((window->node_pair_count + 1) * sizeof(*pairs));
    for (size_t i = 0; pairs != NULL && i < window->node_pair_count; i++) {
        const struct wire_pair_row *row = &window->node_pairs[i];
        pairs[i] = *row;
        pairs[i].source = job_latency_number_of(g->options.latency, (uint32_t)row->source);
        if (row->destination >= 0)
            pairs[i].destination =
                job_latency_number_of(g->options.latency, (uint32_t)row->destination);
    }
    return pairs;
}

static int growth_attribute(struct job_growth *g, const struct closed_window *window)
{
    struct attribution_window figures = {
        .number = window->number,
        .length_ns = window->length_ns,
        .ranks = window->ranks,
        .rank_count = window->rank_count,
        .pairs = window->pairs,
        .pair_count = window->pair_count,
        .transfers = &window->latency->transfers,
        .messages = window->rank_messages,
        .processes = window->processes,
        .process_count = window->process_count,
        .scale = window->scale,
    };
    if (!growth_by_node(g))
        return attribution_window(g->attribution, &figures);
    struct wire_pair_row *pairs = growth_number_pairs(g, window);
    figures.nodes = window->node_rows;
    figures.node_count = window->node_row_count;
    figures.pairs = pairs;
    figures.pair_count = window->node_pair_count;
    const int code = pairs == NULL ? -ENOMEM : attribution_window(g->attribution, &figures);
    free(pairs);
    return code;
}

static size_t growth_route(const void *user, uint32_t from, uint32_t to, uint32_t *out,
                           size_t capacity)
{
    return job_network_route(user, from, to, out, capacity);
}

static void growth_follow_routes(struct job_growth *g)
{
    const uint64_t made = g->options.network == NULL ? 0 : job_network_made(g->options.network);
    if (made == g->routes)
        return;
    g->routes = made;
    scopes_set_routes(g->scopes, growth_route, g->options.network);
}

/* Where iterations are longer than a window, what is lost is judged by more windows than usual. Of
 * 100 faults each of jobs with an iteration in 2.5 windows 71, 88 and 83 are named (a link, a rank,
 * a node), with 8 windows 51, 82 and 68. */
static int growth_keep_windows(struct job_growth *g)
{
    return progress_span(&g->progress) > 1 ? attribution_keep(g->attribution, PROGRESS_WINDOWS) : 0;
}

static void growth_follow_progress(struct job_growth *g, const struct closed_window *window)
{
    const struct sum_totals *t = window->totals;
    size_t open;
    (void)scopes_findings(g->scopes, &open);
    open += g->losses.finding.id != 0 || (g->losses.slow > 1 && g->losses.slow < SLOW_LEARNED);
    const uint64_t work = t->calls - (t->polls < t->calls ? t->polls : t->calls) + t->sent;
    progress_update(&g->progress, work, window->length_ns, open > 0);
}

static struct growth_episode *growth_find_episode(struct job_growth *g, const struct rule *rule,
                                                  uint64_t finding)
{
    for (size_t i = 0; i < GROWTH_EPISODES; i++) {
        if (g->episodes[i].rule == rule && g->episodes[i].finding.id == finding)
            return &g->episodes[i];
    }
    return NULL;
}

/* Episodes take over the findings of the window; what has no messages in it keeps its figures. */
static void growth_watch_rule(struct job_growth *g, const struct rule *rule,
                              const struct closed_window *window)
{
    const struct scope_finding *findings = g->findings;
    for (size_t i = 0; i < g->finding_count; i++) {
        struct growth_episode *e = growth_find_episode(g, rule, findings[i].id);
        if (e != NULL) {
            e->finding = findings[i];
            growth_name_ranks(g, e);
            episode_continue(g, e, window);
        } else if ((rule->scopes >> findings[i].members[0].kind & 1) != 0 && !findings[i].over &&
                   findings[i].symptom_of == 0 && !growth_join_is_uncertain(&g->join)) {
            episode_begin(g, rule, &findings[i], window);
        }
    }
}

/* Episodes whose finding is gone have ended. */
static void growth_end_gone(struct job_growth *g, uint64_t now_ns)
{
    int open = 0;
    for (size_t i = 0; i < GROWTH_EPISODES; i++) {
        int found = 0;
        for (size_t f = 0; f < g->finding_count; f++)
            found |= g->findings[f].id == g->episodes[i].finding.id && !g->findings[f].over;
        if (g->episodes[i].rule != NULL && !found)
            episode_resolve(g, &g->episodes[i], "latency is back", now_ns);
        open |= g->episodes[i].rule != NULL && g->episodes[i].finding.id != g->gradual.finding.id;
    }
    if (!open)
        attribution_calm(g->attribution);
}

/* A copy: the culprit of losses joins them, and changes what follows from what. Where
 * the numbers of nodes stand for ranks, what is found of a rank is found of its node. */
static void growth_list_findings(struct job_growth *g)
{
    const struct scope_finding *findings = scopes_findings(g->scopes, &g->finding_count);
    memcpy(g->findings, findings, g->finding_count * sizeof(*findings));
    for (size_t i = 0; growth_by_node(g) && i < g->finding_count; i++) {
        struct scope_finding *f = &g->findings[i];
        const uint32_t alternatives = f->alternative_count;
        f->alternative_count = 0;
        for (uint32_t k = 0; k < alternatives; k++)
            if (f->alternatives[k].kind != SCOPE_RANK)
                f->alternatives[f->alternative_count++] = f->alternatives[k];
        for (uint32_t m = 0; m < f->member_count; m++)
            if (f->members[m].kind == SCOPE_RANK)
                f->members[m] = growth_scope_of_rank(g, f->members[m].a);
    }
}

/* @param window  as it is judged */
static int growth_judge(struct job_growth *g, const struct closed_window *window)
{
    const int keep_code = growth_keep_windows(g);
    const int code = growth_attribute(g, window);
    growth_follow_routes(g);
    const int scopes_code =
        scopes_window(g->scopes, window->number, window->length_ns, &window->latency->transfers);
    growth_follow_progress(g, window);
    growth_list_findings(g);
    growth_find_losses(g, window);
    for (const struct rule *rule = NULL;
         (rule = rules_next(g->options.rules, RULE_LATENCY, rule)) != NULL;)
        growth_watch_rule(g, rule, window);
    growth_end_gone(g, (window->number + 1) * growth_window_ns(g));
    return code != 0 ? code : scopes_code != 0 ? scopes_code : keep_code;
}

/* Figures of other windows are of no use. What had an alert has none until it is found again. */
static int growth_restart(struct job_growth *g, uint32_t span, uint64_t now_ns)
{
    int code = scopes_restart(&g->scopes);
    code = code != 0 ? code : attribution_restart(&g->attribution);
    if (code != 0)
        return code;
    for (size_t i = 0; i < GROWTH_EPISODES; i++) {
        if (g->episodes[i].rule != NULL)
            episode_resolve(g, &g->episodes[i], "iterations are of another length", now_ns);
    }
    growth_join_set_span(&g->join, span);
    g->progress = (struct progress){.before = 0};
    g->losses = (struct growth_losses){.count = g->losses.count};
    g->second = g->gradual = (struct growth_culprit){.onset = 0};
    g->routes = 0;
    return 0;
}

/* A job that was never judged by joined windows, or has no alert, may be judged by others. Its
 * iterations may be longer because of what there is an alert about. */
static int growth_follow_iterations(struct job_growth *g, const struct closed_window *window)
{
    const int was_known = g->join.is_known;
    const uint32_t span = growth_join_follow(&g->join, window);
    int fires = 0;
    for (size_t i = 0; i < GROWTH_EPISODES; i++)
        fires |= g->episodes[i].rule != NULL && g->episodes[i].state == ALERT_FIRING;
    return span == growth_join_span(&g->join) || (fires && was_known)
               ? 0
               : growth_restart(g, span, window->number * g->options.window_ns);
}

static int growth_judge_joined(struct job_growth *g, const struct closed_window *newest)
{
    struct closed_window joined;
    return growth_join_take(&g->join, newest, &joined) ? growth_judge(g, &joined) : 0;
}

int job_growth_update(struct job_growth *g, const struct closed_window *window)
{
    int code = growth_follow_iterations(g, window);
    if (g->join.span <= 1)
        return growth_judge(g, window);
    if (growth_join_begins(&g->join, window))
        code = growth_judge_joined(g, window);
    if (growth_join_add(&g->join, window) != 0) {
        growth_join_give_up(&g->join);
        return growth_restart(g, 1, window->number * g->options.window_ns);
    }
    return growth_join_ends(&g->join, window) ? growth_judge_joined(g, window) : code;
}

uint64_t job_growth_span(const struct job_growth *g)
{
    return progress_steady_span(&g->progress) * growth_join_span(&g->join);
}

void job_growth_end(struct job_growth *g, uint64_t now_ns)
{
    for (size_t i = 0; i < GROWTH_EPISODES; i++) {
        if (g->episodes[i].rule != NULL)
            episode_resolve(g, &g->episodes[i], "the job has ended", now_ns);
    }
}

int job_growth_raises(const struct job_growth *g, const struct alert *alert)
{
    int raises = 0;
    for (size_t i = 0; i < GROWTH_EPISODES; i++) {
        const struct growth_episode *e = &g->episodes[i];
        raises |= e->rule != NULL && e->evidence.episode == alert->evidence->episode &&
                  e->since_ns == alert->since_ns &&
                  strcmp(e->rule->name, alert->evidence->rule) == 0;
    }
    return raises;
}

/* ---- state --------------------------------------------------------------- */

/* Episodes of rules that this daemon does not have are dropped. */
static void growth_find_rules(struct job_growth *g)
{
    for (size_t i = 0; i < GROWTH_EPISODES; i++) {
        struct growth_episode *e = &g->episodes[i];
        const struct rule *rule = NULL;
        while (e->rule != NULL && (rule = rules_next(g->options.rules, RULE_LATENCY, rule)) != NULL)
            if (strcmp(rule->name, e->evidence.rule) == 0)
                break;
        e->rule = rule;
    }
}

void job_growth_copy_state(struct state_bytes *b, struct job_growth **out,
                           const struct job_growth_options *options)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct job_growth *g = *out;
    g->options = *options;
    scopes_copy_state(b, &g->scopes, growth_route, options->network);
    attribution_copy_state(b, &g->attribution);
    growth_join_copy_state(b, &g->join);
    if (b->reads)
        growth_find_rules(g);
}
