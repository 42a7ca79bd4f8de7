/* Hangs: gives each closed window to the analysis, and reports the hang that most ranks are in as
 * an episode of the hang rule. */
#include "daemon/job/hang/job_hang.h"

#include "daemon/analysis/hang/hang.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job_hang {
    struct job_hang_options options;
    const struct rule *rule; /* borrowed */
    struct hang_watch *hangs;
    /* The episode; ALERT_RESOLVED: there is none. */
    enum alert_state state;
    uint64_t since_ns, hang_id;
    int64_t rank;     /* the first that is named; -1: none */
    char late[257];   /* ranks that are late in it */
    uint64_t waiting; /* ranks that wait; in other hangs, too */
    int lost;         /* of the ranks that waited nothing is known any more */
    char title[129], text[1025];
    struct alert_evidence evidence;
};

/* ---- life ---------------------------------------------------------------- */

static struct hang_params job_hang_params(const struct rule *rule)
{
    return (struct hang_params){.for_ns = rule->for_ns,
                                .stopped_ns = rule->stopped_for_ns,
                                .times_longest = rule->times_longest,
                                .zone = "UTC"};
}

int job_hang_create(struct job_hang **out, const struct job_hang_options *options)
{
    const struct rule *rule = rules_next(options->rules, RULE_HANG, NULL);
    if (rule == NULL) {
        *out = NULL;
        return 0;
    }
    struct job_hang *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return -ENOMEM;
    w->options = *options;
    w->rule = rule;
    w->state = ALERT_RESOLVED;
    const struct hang_params params = job_hang_params(rule);
    int code = hang_create(&w->hangs, &params);
    if (code != 0) {
        free(w);
        return code;
    }
    *out = w;
    return 0;
}

void job_hang_destroy(struct job_hang *w)
{
    if (w == NULL)
        return;
    hang_destroy(w->hangs);
    free(w);
}

/* ---- episodes ------------------------------------------------------------ */

static void job_hang_report(const struct job_hang *w, int64_t rank, uint64_t now_ns)
{
    w->options.on_report(w->options.user, &(struct alert_report){.kind = "hang",
                                                                 .rank = rank,
                                                                 .state = w->state,
                                                                 .since_ns = w->since_ns,
                                                                 .now_ns = now_ns,
                                                                 .title = w->title,
                                                                 .text = w->text,
                                                                 .evidence = &w->evidence});
}

/* The text of an episode that has ended, or is no longer seen, still describes it. */
static void job_hang_prefix(struct job_hang *w, const char *what)
{
    char before[sizeof(w->text)];
    memcpy(before, w->text, sizeof(before));
    snprintf(w->text, sizeof(w->text), "%s; %.*s", what, (int)(sizeof(w->text) - 132), before);
}

static void job_hang_resolve(struct job_hang *w, const char *how, uint64_t now_ns)
{
    char over[128];
    if (w->state != ALERT_FIRING)
        return;
    w->state = ALERT_RESOLVED;
    snprintf(over, sizeof(over), "over: %s", how);
    job_hang_prefix(w, over);
    job_hang_report(w, w->rank, now_ns);
}

/* Nothing is known of the ranks that waited any more: their agent is gone. The episode stays open,
 * with one note. */
static void job_hang_lose(struct job_hang *w, uint64_t now_ns)
{
    if (w->state != ALERT_FIRING || w->lost)
        return;
    w->lost = 1;
    job_hang_prefix(w, "no reports of the ranks that waited arrive any more");
    job_hang_report(w, w->rank, now_ns);
}

/* No rank is in a hang any more. Did the wait end, or did those who waited? */
static void job_hang_settle(struct job_hang *w, uint64_t now_ns)
{
    char how[96];
    const struct hang_fate fate = hang_fate(w->hangs);
    if (fate.moved > 0 && fate.died > 0)
        snprintf(how, sizeof(how), "%" PRIu32 " of %" PRIu32 " ranks move again, %" PRIu32 " died",
                 fate.moved, fate.ranks, fate.died);
    else if (fate.moved > 0)
        snprintf(how, sizeof(how), "ranks move again");
    else if (fate.died == 1 && fate.ranks == 1)
        snprintf(how, sizeof(how), "the rank that waited has died");
    else if (fate.died > 0)
        snprintf(how, sizeof(how), "%" PRIu32 " of %" PRIu32 " ranks that waited have died",
                 fate.died, fate.ranks);
    else if (fate.silent == 0)
        snprintf(how, sizeof(how), "what ranks wait for goes on");
    else {
        job_hang_lose(w, now_ns);
        return;
    }
    job_hang_resolve(w, how, now_ns);
}

static void job_hang_fill_evidence(const struct job_hang *w, const struct hang *hang,
                                   struct alert_evidence *v)
{
    memset(v, 0, sizeof(*v));
    snprintf(v->rule, sizeof(v->rule), "%s", w->rule->name);
    snprintf(v->severity, sizeof(v->severity), "%s", severity_name(w->rule->severity));
    snprintf(v->ranks, sizeof(v->ranks), "%s", hang->few_wait ? hang->waiters : hang->ranks);
    snprintf(v->advice, sizeof(v->advice), "%s", hang->advice);
    v->ratio = v->slope = v->ratio_worst = v->progress = NAN;
    v->onset_ns = hang->since_ns;
    v->comm = hang->comm;
}

/* The episode is about the first hang: of the others only the ranks are counted. */
static void job_hang_write_text(struct job_hang *w, const struct hang_list *hangs, uint64_t waiting)
{
    char others[96] = "";
    const uint64_t more = waiting - hangs->list[0].waiting;
    if (more > 0 && hangs->count == 2)
        snprintf(others, sizeof(others), "; %" PRIu64 " more rank%s in another hang", more,
                 more == 1 ? " waits" : "s wait");
    else if (more > 0)
        snprintf(others, sizeof(others), "; %" PRIu64 " more ranks wait in %zu other hangs", more,
                 hangs->count - 1);
    snprintf(w->text, sizeof(w->text), "%.*s%s", (int)(sizeof(w->text) - sizeof(others)),
             hangs->list[0].text, others);
}

static void job_hang_fire(struct job_hang *w, const struct hang_list *hangs, uint64_t now_ns)
{
    const struct hang *hang = &hangs->list[0];
    uint64_t waiting = 0;
    for (size_t i = 0; i < hangs->count; i++)
        waiting += hangs->list[i].waiting;
    if (w->state == ALERT_RESOLVED) {
        w->state = ALERT_FIRING;
        w->since_ns = now_ns;
    } else if (w->hang_id == hang->id && !w->lost && w->waiting == waiting &&
               strcmp(w->late, hang->ranks) == 0) {
        return;
    }
    w->hang_id = hang->id;
    w->lost = 0;
    w->rank = hang->few_wait           ? (int64_t)hang->waiter
              : hang->behind_count > 0 ? (int64_t)hang->behind[0].rank
                                       : -1;
    w->waiting = waiting;
    snprintf(w->late, sizeof(w->late), "%s", hang->ranks);
    snprintf(w->title, sizeof(w->title), "%s", hang->title);
    job_hang_write_text(w, hangs, waiting);
    job_hang_fill_evidence(w, hang, &w->evidence);
    job_hang_report(w, w->rank, now_ns);
}

/* ---- windows ------------------------------------------------------------- */

/* Of a window that was closed before only the calls are news. */
static int job_hang_analyse(struct job_hang *w, const struct closed_window *window)
{
    const struct hang_window hangs = {
        .number = window->number,
        .end_ns = (window->number + 1) * window->length_ns,
        .length_ns = window->length_ns,
        .world = window->world,
        .group = window->group,
        .ranks = window->ranks,
        .rank_count = window->rank_count,
        .calls = window->calls,
        .call_count = window->call_count,
        .comms = window->comms,
        .comm_count = window->comm_count,
        .pending = window->pending,
        .pending_count = window->pending_count,
        .dead = window->dead_ranks,
        .dead_count = window->dead_count,
    };
    return window->late ? hang_add_late(w->hangs, &hangs) : hang_window(w->hangs, &hangs);
}

int job_hang_update(struct job_hang *w, const struct closed_window *window)
{
    if (w == NULL)
        return 0;
    int code = job_hang_analyse(w, window);
    if (code != 0 || window->late)
        return code;
    uint64_t now_ns = (window->number + 1) * w->options.window_ns;
    struct hang_list hangs = hang_result(w->hangs);
    if (hangs.count == 0)
        job_hang_settle(w, now_ns);
    else
        job_hang_fire(w, &hangs, now_ns);
    return 0;
}

void job_hang_end(struct job_hang *w, uint64_t now_ns)
{
    if (w != NULL)
        job_hang_resolve(w, "the job has ended", now_ns);
}

const struct hang_watch *job_hang_watch(const struct job_hang *w)
{
    return w == NULL ? NULL : w->hangs;
}

int job_hang_raises(const struct job_hang *w, const struct alert *alert)
{
    return w != NULL && w->state != ALERT_RESOLVED &&
           strcmp(w->rule->name, alert->evidence->rule) == 0;
}

/* The daemon that wrote the state may have had other rules: without a rule there is no watch, and
 * with one there is, which goes by the durations of that rule. */
static int job_hang_follow_rules(struct job_hang **out, const struct job_hang_options *options)
{
    struct job_hang *w = *out;
    if (w == NULL)
        return job_hang_create(out, options);
    if (w->rule != NULL && w->hangs != NULL) {
        const struct hang_params params = job_hang_params(w->rule);
        hang_set_params(w->hangs, &params);
        if (strcmp(w->evidence.rule, w->rule->name) != 0) /* a hang is an episode of its rule */
            w->state = ALERT_RESOLVED;
        return 0;
    }
    job_hang_destroy(w);
    *out = NULL;
    return 0;
}

void job_hang_copy_state(struct state_bytes *b, struct job_hang **out,
                         const struct job_hang_options *options)
{
    if (STATE_OBJECT(b, *out)) {
        (*out)->options = *options;
        (*out)->rule = rules_next(options->rules, RULE_HANG, NULL);
        hang_copy_state(b, &(*out)->hangs);
    }
    if (b->reads && b->code == 0)
        b->code = job_hang_follow_rules(out, options);
}
