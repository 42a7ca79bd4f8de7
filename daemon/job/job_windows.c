/* The open windows of a job: who has reported, when they are published. */
#include "daemon/job/job_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void open_window_finish(struct open_window *window)
{
    window_sum_destroy(window->sum);
    latency_rows_finish(&window->latency);
    burst_rows_finish(&window->bursts);
    counter_rows_finish(&window->counters);
    free(window->calls);
    free(window->pending);
    free(window->reported.bits);
}

void job_windows_finish(struct job *job)
{
    for (uint32_t i = 0; i < job->open_count; i++)
        open_window_finish(&job->open[i]);
    job->open_count = 0;
    latency_rows_finish(&job->idle_latency);
    free(job->idle_calls);
    job->idle_calls = NULL;
    job->idle_call_room = 0;
    for (uint32_t i = 0; i < JOB_RECENT; i++)
        free(job->recent_nodes[i].bits);
}

static int fit_nodes(struct node_set *set, uint32_t words)
{
    if (words <= set->words)
        return 0;
    uint64_t *bits = realloc(set->bits, words * sizeof(*bits));
    if (bits == NULL)
        return -ENOMEM;
    memset(bits + set->words, 0, (words - set->words) * sizeof(*bits));
    set->bits = bits;
    set->words = words;
    return 0;
}

/* Put the nodes of another set into one. Without memory they are not. @return how many were not in
 * it */
static uint64_t join_nodes(struct node_set *set, const struct node_set *more)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < more->words; i++) {
        uint64_t there = i < set->words ? set->bits[i] : 0;
        count += (uint64_t)__builtin_popcountll(more->bits[i] & ~there);
    }
    if (fit_nodes(set, more->words) == 0) {
        for (uint32_t i = 0; i < more->words; i++)
            set->bits[i] |= more->bits[i];
    }
    return count;
}

static int has_reported(const struct open_window *window, uint32_t node)
{
    const struct node_set *set = &window->reported;
    return node / 64 < set->words && (set->bits[node / 64] >> (node % 64) & 1) != 0;
}

int open_window_report(struct open_window *window, uint32_t node)
{
    if (node / 64 >= window->reported.words &&
        fit_nodes(&window->reported, 2 * (node / 64) + 8) != 0)
        return -ENOMEM;
    window->nodes += !has_reported(window, node);
    window->reported.bits[node / 64] |= UINT64_C(1) << (node % 64);
    return 0;
}

/* ---- who is waited for --------------------------------------------------- */

/* Nodes that were to report a window and have not. */
static uint64_t count_missing(const struct job *job, const struct open_window *window)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < job->node_count; i++) {
        const struct job_node *n = job->nodes[i];
        int over = n->final && n->last_window < window->number;
        missing += n->first_window <= window->number && !over && !has_reported(window, i);
    }
    return missing;
}

static int is_complete(const struct job *job, const struct open_window *window)
{
    /* As long as ranks are unknown, so are the nodes that may report. */
    if (job->world == 0 || job->place_keys.count < job->world || window->nodes < job->active)
        return 0;
    for (uint32_t i = 0; i < job->node_count; i++) {
        const struct job_node *n = job->nodes[i];
        int over = n->final && n->last_window < window->number;
        int not_yet = n->first_window != UINT64_MAX && n->first_window > window->number;
        if (!n->lost_contact && !over && !not_yet && !has_reported(window, i))
            return 0;
    }
    return 1;
}

/* ---- publishing ---------------------------------------------------------- */

/* Nodes of which nothing was published of this window before. @param known  something was, of
 * others or of these */
static uint64_t count_new(struct job *job, const struct open_window *window, int known)
{
    struct node_set *told = &job->recent_nodes[window->number % JOB_RECENT];
    if (!known && told->words > 0)
        memset(told->bits, 0, told->words * sizeof(*told->bits));
    return join_nodes(told, &window->reported);
}

/* Totals of a window, added to those that were published of it before. @return 0 when those are not
 * kept any more, so that the figures to replace are not known */
static int fill_totals(struct job *job, const struct open_window *window, uint64_t now_ns,
                       struct wire_totals *out)
{
    struct wire_totals *kept = &job->recent[window->number % JOB_RECENT];
    int known = kept->length_ns != 0 && kept->window == window->number;
    if (window->late && !known && window->number + JOB_RECENT <= job->next_window)
        return 0;
    *out = known ? *kept : (struct wire_totals){.window = window->number};
    struct sum_totals sums;
    window_sum_totals(window->sum, &sums);
#define X(name) out->name += sums.name;
    RANK_TOTALS(X)
#undef X
    out->ranks += sums.ranks;
    uint64_t nodes = count_new(job, window, known);
    out->agents += nodes;
    if (!known)
        out->agents_missing = count_missing(job, window);
    else
        out->agents_missing -= out->agents_missing < nodes ? out->agents_missing : nodes;
    out->start_ns = window->number * job->options.window_ns;
    out->length_ns = job->options.window_ns;
    out->published_ns = now_ns;
    out->flags |= window->flags;
    out->late = (uint64_t)window->late;
    *kept = *out;
    return 1;
}

static void publish_sum(struct job *job, const struct open_window *window, enum wire_type type,
                        enum sum_part part)
{
    if (job_wanted(job, type) &&
        window_sum_result(window->sum, part, job->options.most_pairs, &job->result) == 0)
        job_publish_sum(job, &job->output, part, window->number, 1);
}

static void publish_window(struct job *job, const struct open_window *window, uint64_t now_ns)
{
    struct wire_totals totals;
    if (fill_totals(job, window, now_ns, &totals) && job_wanted(job, WIRE_TYPE_TOTALS)) {
        totals.job = job->id;
        job->output.publish(job->output.user, job->id, WIRE_TYPE_TOTALS, &totals);
    }
    publish_sum(job, window, WIRE_TYPE_RANK_WINDOW, SUM_RANKS);
    publish_sum(job, window, WIRE_TYPE_PAIR_WINDOW, SUM_PAIRS);
    publish_sum(job, window, WIRE_TYPE_CALL_WINDOW, SUM_CALLS);
    if (!window->late && job_wanted(job, WIRE_TYPE_NODES))
        job_publish_nodes(job, &job->output, window->number);
}

/* What calls took is for the next window that opens. */
static void keep_room(struct job *job, struct open_window *window)
{
    free(job->idle_calls);
    job->idle_calls = window->calls;
    job->idle_call_room = window->call_room;
    window->calls = NULL;
}

static void close_window(struct job *job, uint32_t at, uint64_t now_ns)
{
    struct open_window window = job->open[at];
    memmove(&job->open[at], &job->open[at + 1], (job->open_count - at - 1) * sizeof(job->open[0]));
    job->open_count--;
    job->closings++;
    publish_window(job, &window, now_ns);
    job_list_pairs(job, &window);
    /* While its figures are in the cache. Without memory they are missing from the sums since the
     * start, and only there. */
    if (run_sum_update(job->run, window.sum, window.number) == 0)
        job->windows_summed += !window.late;
    window_sum_clear_pairs(window.sum);
    job_judge(job, &window);
    if (!window.late) {
        job->next_window = window.number + 1;
        job->quiet_since_loss++;
        job_tell_captures(job, window.number);
    }
    keep_room(job, &window);
    open_window_finish(&window);
}

/* ---- opening ------------------------------------------------------------- */

struct open_window *job_window_for(struct job *job, uint64_t number, uint64_t now_ns)
{
    uint64_t length = job->options.window_ns, end = (number + 1) * length;
    /* What lies far ahead comes from a node whose clock is wrong: it must not make the others'
     * windows late. */
    int ahead = number * length > now_ns + 2 * length;
    int late = number < job->next_window || ahead;
    uint32_t at = 0;
    while (at < job->open_count && job->open[at].number < number)
        at++;
    for (uint32_t i = at; i < job->open_count && job->open[i].number == number; i++) {
        /* A window that was opened before its time is taken as it was opened. */
        if (job->open[i].late == late || ahead || number >= job->next_window)
            return &job->open[i];
    }
    if (job->open_count == JOB_OPEN_WINDOWS) {
        close_window(job, 0, now_ns);
        return job_window_for(job, number, now_ns);
    }
    struct open_window window = {.number = number, .late = late};
    if (window_sum_create(&window.sum, job->run) != 0)
        return NULL;
    window.latency = job->idle_latency;
    job->idle_latency = (struct latency_rows){0};
    window.calls = job->idle_calls;
    window.call_room = job->idle_call_room;
    job->idle_calls = NULL;
    job->idle_call_room = 0;
    /* Corrections are gathered for a window's length: many nodes that are late are one correction.
     */
    uint64_t from = late                    ? now_ns + length
                    : end < now_ns          ? now_ns
                    : end < now_ns + length ? end
                                            : now_ns + length;
    window.due_ns = from + job->options.grace_ns;
    memmove(&job->open[at + 1], &job->open[at], (job->open_count - at) * sizeof(job->open[0]));
    job->open[at] = window;
    job->open_count++;
    return &job->open[at];
}

void job_windows_advance(struct job *job, uint64_t heard_ns, uint64_t now_ns)
{
    int waiting = 0; /* for a window before: they are published in order */
    for (uint32_t at = 0; at < job->open_count;) {
        const struct open_window *w = &job->open[at];
        int due = heard_ns >= w->due_ns || (!w->late && !waiting && is_complete(job, w));
        due |= w->late && job->active == 0; /* nobody is left who could add to it */
        int untold = job->replaying && !w->late && w->number > job->told_window;
        if (due && !untold && (w->late || !waiting)) {
            close_window(job, at, now_ns);
            continue;
        }
        waiting |= !w->late;
        at++;
    }
}

void job_windows_flush(struct job *job, uint64_t now_ns)
{
    while (job->open_count > 0)
        close_window(job, 0, now_ns);
}
