/* What a job is watched for when a window closes: latency that grows, and hangs. Findings of the
 * analyses become episodes of the alert rules. */
#include "daemon/job/job_watch.h"

#include "daemon/analysis/tables/rank_list.h"
#include "daemon/job/hang/job_hang.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UPDATE_CHANGE 0.15 /* of the ratio: worth an update */
#define UPDATE_WINDOWS 5u  /* at most one update in so many windows */
#define SIZE_SHARE 0.1     /* of the excess: a size class that carries so much of it is named */

/* An episode of a latency rule. */
struct episode {
    enum alert_state state;           /* ALERT_RESOLVED: there is none */
    uint64_t since_ns, good_since_ns; /* good_since_ns 0: it is not good now */
    uint64_t onset;                   /* number of the window in which it set in */
    uint64_t updated;                 /* number of the window in which it was reported last */
    double reported_ratio, worst_ratio;
    char title[129], text[1025];
    struct alert_evidence evidence;
};

struct job_watch {
    struct job_watch_options options;
    struct attribution *attribution;
    struct job_hang *hang; /* owned; NULL: there is no hang rule */
    struct episode episodes[RULES_MAXIMUM];
    char **hosts; /* owned, by node */
    size_t host_capacity;
    struct attribution_result result;
    uint32_t *members; /* of the region that an alert is about */
    size_t member_capacity;
};

/* ---- life ---------------------------------------------------------------- */

int job_watch_create(struct job_watch **out, const struct job_watch_options *options)
{
    struct job_watch *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return -ENOMEM;
    w->options = *options;
    for (size_t i = 0; i < RULES_MAXIMUM; i++)
        w->episodes[i].state = ALERT_RESOLVED;
    const struct job_hang_options hang = {.rules = options->rules,
                                          .window_ns = options->window_ns,
                                          .user = options->user,
                                          .on_report = options->on_report};
    int code = attribution_create(&w->attribution, NULL);
    if (code == 0)
        code = job_hang_create(&w->hang, &hang);
    if (code != 0) {
        job_watch_destroy(w);
        return code;
    }
    *out = w;
    return 0;
}

void job_watch_destroy(struct job_watch *w)
{
    if (w == NULL)
        return;
    attribution_destroy(w->attribution);
    job_hang_destroy(w->hang);
    for (size_t i = 0; i < w->host_capacity; i++)
        free(w->hosts[i]);
    free(w->hosts);
    free(w->members);
    free(w);
}

static int watch_set_host(struct job_watch *w, uint32_t node, const char *host)
{
    if (node >= w->host_capacity) {
        size_t capacity = 2 * (size_t)node + 8;
        char **hosts = realloc(w->hosts, capacity * sizeof(*hosts));
        if (hosts == NULL)
            return -ENOMEM;
        memset(hosts + w->host_capacity, 0, (capacity - w->host_capacity) * sizeof(*hosts));
        w->hosts = hosts;
        w->host_capacity = capacity;
    }
    if (w->hosts[node] == NULL)
        w->hosts[node] = strdup(host);
    return w->hosts[node] == NULL ? -ENOMEM : 0;
}

int job_watch_place(struct job_watch *w, uint32_t rank, uint32_t node, const char *host)
{
    int code = watch_set_host(w, node, host);
    return code != 0 ? code : attribution_place(w->attribution, rank, node, host);
}

/* ---- the text of a latency alert ----------------------------------------- */

/* Which scopes of a rule are above its bound in this window. */
struct finding {
    const struct latency_series *worst;  /* NULL: nothing */
    const struct latency_series *region; /* the worst one; NULL: none has grown so far */
    int good;                            /* everything is back */
    int intra, inter;                    /* which localities are affected */
    size_t regions;                      /* how many regions are */
    uint64_t onset;
};

static double watch_ratio(const struct latency_series *s)
{
    return isnan(s->trend.ratio) ? 1 : s->trend.ratio;
}

static int watch_is_raised(const struct rule *rule, const struct latency_series *s)
{
    if (s->trend.state == TREND_STATE_CALM || s->sum.judged < rule->least_messages)
        return 0;
    return watch_ratio(s) >= rule->above ||
           (s->trend.state == TREND_STATE_GROWTH && s->trend.slope >= rule->growth);
}

static int watch_is_calm(const struct rule *rule, const struct latency_series *s)
{
    return s->trend.state == TREND_STATE_CALM || watch_ratio(s) < rule->clear;
}

/* A region is more specific than a locality, and that than the job; of two regions the worse wins.
 */
static int watch_is_more_specific(const struct latency_series *a, const struct latency_series *b)
{
    int region_a = a->scope == SERIES_REGION, region_b = b->scope == SERIES_REGION;
    return region_a != region_b ? region_a : watch_ratio(a) > watch_ratio(b);
}

/* The region that has grown most. Its own trend may still be calm: the messages between its nodes
 * may have grown while those within nodes, which it has as well, have not. @return NULL: none so
 * far */
static const struct latency_series *
watch_find_grown_region(const struct rule *rule, const struct latency_series *series, size_t count)
{
    const struct latency_series *maximum = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct latency_series *s = &series[i];
        if (s->scope == SERIES_REGION && s->sum.judged >= rule->least_messages &&
            watch_ratio(s) >= rule->above &&
            (maximum == NULL || watch_ratio(s) > watch_ratio(maximum)))
            maximum = s;
    }
    return maximum;
}

static struct finding watch_find_scopes(const struct rule *rule,
                                        const struct latency_series *series, size_t count)
{
    struct finding found = {.good = 1, .onset = UINT64_MAX};
    for (size_t i = 0; i < count; i++) {
        const struct latency_series *s = &series[i];
        int bad = watch_is_raised(rule, s);
        found.intra |= s->scope == SERIES_INTRA && bad;
        found.inter |= s->scope == SERIES_INTER && bad;
        if ((rule->scopes >> s->scope & 1) == 0)
            continue;
        found.good &= watch_is_calm(rule, s);
        if (!bad)
            continue;
        found.regions += s->scope == SERIES_REGION;
        found.onset = s->trend.onset < found.onset ? s->trend.onset : found.onset;
        if (found.worst == NULL || watch_is_more_specific(s, found.worst))
            found.worst = s;
    }
    if (found.worst != NULL)
        found.region = found.worst->scope == SERIES_REGION
                           ? found.worst
                           : watch_find_grown_region(rule, series, count);
    return found;
}

static void watch_list_hosts(const struct job_watch *w, const struct attribution_cause *cause,
                             char *out, size_t capacity)
{
    size_t length = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < cause->node_count && length < capacity; i++) {
        uint32_t node = cause->nodes[i];
        if (node >= w->host_capacity || w->hosts[node] == NULL)
            continue;
        int n = snprintf(out + length, capacity - length, "%s%s", length == 0 ? "" : ",",
                         w->hosts[node]);
        length += n > 0 ? (size_t)n : 0;
    }
}

static void watch_fill_causes(const struct job_watch *w, struct alert_evidence *e)
{
    e->cause_count = w->result.cause_count < ALERT_CAUSES ? w->result.cause_count : ALERT_CAUSES;
    for (size_t i = 0; i < e->cause_count; i++) {
        const struct attribution_cause *cause = &w->result.causes[i];
        snprintf(e->causes[i].name, sizeof(e->causes[i].name), "%s",
                 attribution_cause_name(cause->kind));
        snprintf(e->causes[i].text, sizeof(e->causes[i].text), "%s", cause->text);
        e->causes[i].share = cause->share;
    }
    snprintf(e->advice, sizeof(e->advice), "%s", w->result.advice);
}

/* Size classes that carry the excess over the reference. */
static void watch_list_sizes(const struct closed_window *window, char *out, size_t capacity)
{
    double excess[SIZE_CLASSES] = {0}, total = 0;
    for (size_t i = 0; i < window->latency->transfers.count; i++) {
        const struct transfer t = window->latency->transfers.rows[i];
        double normal = window->scale->reference[t.locality][t.size_class];
        double more = (double)t.transfer_ns - normal * (double)t.messages;
        if (more > 0)
            excess[t.size_class] += more;
    }
    for (unsigned c = 0; c < SIZE_CLASSES; c++)
        total += excess[c];
    unsigned first = SIZE_CLASSES, last = 0;
    for (unsigned c = 0; c < SIZE_CLASSES; c++) {
        if (excess[c] <= SIZE_SHARE * total)
            continue;
        first = first == SIZE_CLASSES ? c : first;
        last = c;
    }
    out[0] = '\0';
    if (first == SIZE_CLASSES)
        return;
    uint64_t minimum = size_class_floor((uint16_t)first);
    uint64_t maximum = size_class_floor((uint16_t)(last + 1)) - 1;
    if (minimum == maximum)
        snprintf(out, capacity, "%" PRIu64 " bytes", minimum);
    else
        snprintf(out, capacity, "%" PRIu64 " to %" PRIu64 " bytes", minimum, maximum);
}

static size_t watch_list_members(struct job_watch *w, uint32_t id)
{
    size_t count = job_latency_members(w->options.latency, id, NULL, 0);
    if (count > w->member_capacity) {
        uint32_t *members = realloc(w->members, count * sizeof(*members));
        if (members == NULL)
            return 0;
        w->members = members;
        w->member_capacity = count;
    }
    return job_latency_members(w->options.latency, id, w->members, w->member_capacity);
}

/* Causes are searched in the whole job: a delay in a region may begin outside of it, and a link
 * stands out only in comparison with the others. */
static void watch_find_causes(struct job_watch *w, uint64_t onset)
{
    const struct attribution_scope all = {.onset = onset};
    if (attribution_result(w->attribution, &all, &w->result) != 0)
        w->result.cause_count = 0;
}

/* Text that is cut where it no longer fits. */
struct watch_text {
    char *out;
    size_t capacity, length;
};

static void watch_text_append(struct watch_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void watch_text_append(struct watch_text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text->out + text->length, text->capacity - text->length, format, list);
    va_end(list);
    text->length += n > 0 ? (size_t)n : 0;
    if (text->length >= text->capacity)
        text->length = text->capacity - 1;
}

static void watch_write_title(const struct job_watch *w, struct episode *e,
                              const struct latency_series *s, const char *region_ranks)
{
    struct watch_text title = {e->title, sizeof(e->title), 0};
    if (s->scope == SERIES_REGION)
        watch_text_append(&title, "latency of region %" PRIu32 " (ranks %.40s)", s->id,
                          region_ranks);
    else
        watch_text_append(&title, "latency of %s",
                          s->scope == SERIES_INTRA   ? "messages within nodes"
                          : s->scope == SERIES_INTER ? "messages between nodes"
                                                     : "all messages");
    if (watch_ratio(s) >= 1.05 || s->trend.state != TREND_STATE_GROWTH)
        watch_text_append(&title, " is %.1fx what it was", watch_ratio(s));
    if (s->trend.state == TREND_STATE_GROWTH)
        watch_text_append(&title, ", growing");
    if (w->result.cause_count == 0)
        return;
    const struct attribution_cause *first = &w->result.causes[0];
    int of_ranks = first->kind == CAUSE_LATE_SENDER || first->kind == CAUSE_LATE_RECEIVER ||
                   first->kind == CAUSE_COLLECTIVE;
    watch_text_append(&title, ": %s", attribution_cause_name(first->kind));
    if (e->evidence.nodes[0] != '\0' && !(of_ranks && first->rank_count > 0))
        watch_text_append(&title, " of %s", e->evidence.nodes);
    else if (e->evidence.ranks[0] != '\0')
        watch_text_append(&title, " of rank%s %s", first->rank_count == 1 ? "" : "s",
                          e->evidence.ranks);
}

static void watch_write_text(const struct job_watch *w, struct episode *e,
                             const struct finding *found)
{
    const struct latency_series *s = found->worst;
    struct watch_text text = {e->text, sizeof(e->text), 0};
    time_t onset = (time_t)(e->evidence.onset_ns / 1000000000u);
    struct tm day;
    gmtime_r(&onset, &day);
    watch_text_append(
        &text,
        "since %02d:%02d:%02d UTC: %.2fx the reference now, at worst %.2fx what it was before",
        day.tm_hour, day.tm_min, day.tm_sec, s->trend.level, e->worst_ratio);
    watch_text_append(&text, "; %s messages",
                      e->evidence.locality[0] == 'b' ? "intra- and inter-node"
                                                     : e->evidence.locality);
    if (e->evidence.sizes[0] != '\0')
        watch_text_append(&text, " of %s", e->evidence.sizes);
    if (found->regions > 1)
        watch_text_append(&text, "; %zu regions", found->regions);
    if (e->evidence.links[0] != '\0')
        watch_text_append(&text, "; hot: %s", e->evidence.links);
    for (uint32_t i = 0; i < w->result.cause_count; i++)
        watch_text_append(&text, "; %s %.0f %%: %s",
                          attribution_cause_name(w->result.causes[i].kind),
                          100 * w->result.causes[i].share, w->result.causes[i].text);
}

static void watch_fill_evidence(struct job_watch *w, struct episode *e, const struct rule *rule,
                                const struct finding *found, const struct closed_window *window)
{
    const struct latency_series *s = found->worst;
    struct alert_evidence *v = &e->evidence;
    char region_ranks[257] = "";
    size_t members = found->region != NULL ? watch_list_members(w, found->region->id) : 0;
    watch_find_causes(w, e->onset);
    memset(v, 0, sizeof(*v));
    snprintf(v->rule, sizeof(v->rule), "%s", rule->name);
    snprintf(v->severity, sizeof(v->severity), "%s", severity_name(rule->severity));
    v->region = found->region != NULL ? found->region->id : 0;
    v->ratio = watch_ratio(s);
    v->slope = s->trend.slope;
    v->onset_ns = e->onset * w->options.window_ns;
    v->error_ns = found->inter ? job_latency_error(w->options.latency) : 0;
    snprintf(v->locality, sizeof(v->locality), "%s",
             found->intra && !found->inter   ? "intra-node"
             : found->inter && !found->intra ? "inter-node"
                                             : "both");
    rank_list(w->members, members, region_ranks, sizeof(region_ranks));
    const struct attribution_cause *first = w->result.cause_count > 0 ? &w->result.causes[0] : NULL;
    if (first != NULL && first->rank_count > 0)
        rank_list(first->ranks, first->rank_count, v->ranks, sizeof(v->ranks));
    else
        snprintf(v->ranks, sizeof(v->ranks), "%s", region_ranks);
    if (first != NULL)
        watch_list_hosts(w, first, v->nodes, sizeof(v->nodes));
    if (w->options.network != NULL && first != NULL && first->rank_count > 0)
        job_network_describe_hot(w->options.network, first->ranks, first->rank_count, v->links,
                                 sizeof(v->links));
    else if (w->options.network != NULL)
        job_network_describe_hot(w->options.network, w->members, members, v->links,
                                 sizeof(v->links));
    watch_list_sizes(window, v->sizes, sizeof(v->sizes));
    watch_fill_causes(w, v);
    watch_write_title(w, e, s, region_ranks);
    watch_write_text(w, e, found);
}

/* ---- episodes ------------------------------------------------------------ */

static void watch_report(const struct job_watch *w, const struct episode *e, uint64_t now_ns)
{
    w->options.on_report(w->options.user, &(struct alert_report){.kind = "latency",
                                                                 .rank = -1,
                                                                 .state = e->state,
                                                                 .since_ns = e->since_ns,
                                                                 .now_ns = now_ns,
                                                                 .title = e->title,
                                                                 .text = e->text,
                                                                 .evidence = &e->evidence});
}

static void watch_update_attribution(struct job_watch *w)
{
    int open = 0;
    for (size_t i = 0; i < RULES_MAXIMUM; i++)
        open |= w->episodes[i].state != ALERT_RESOLVED;
    if (!open)
        attribution_calm(w->attribution);
}

/* The text of an episode that has ended still describes it. */
static void episode_note_end(struct episode *e, const char *how)
{
    char before[sizeof(e->text)];
    memcpy(before, e->text, sizeof(before));
    struct watch_text text = {e->text, sizeof(e->text), 0};
    watch_text_append(&text, "over: %s; %s", how, before);
}

static void episode_resolve(struct job_watch *w, struct episode *e, const char *how,
                            uint64_t now_ns)
{
    int fired = e->state == ALERT_FIRING;
    e->state = ALERT_RESOLVED;
    if (fired)
        episode_note_end(e, how);
    watch_report(w, e, now_ns);
    watch_update_attribution(w);
}

/* Is an update worth reporting? The ratio has changed, or the region is another one. */
static int episode_has_changed(const struct episode *e, const struct finding *found,
                               uint64_t window)
{
    double ratio = watch_ratio(found->worst);
    uint64_t region = found->region != NULL ? found->region->id : 0;
    return window - e->updated >= UPDATE_WINDOWS &&
           (fabs(ratio / e->reported_ratio - 1) >= UPDATE_CHANGE || region != e->evidence.region);
}

static void episode_continue(struct job_watch *w, struct episode *e, const struct rule *rule,
                             const struct finding *found, const struct closed_window *window,
                             uint64_t now_ns)
{
    double ratio = watch_ratio(found->worst);
    int begins = e->state == ALERT_RESOLVED;
    if (begins) {
        *e = (struct episode){.state = ALERT_PENDING, .since_ns = now_ns, .onset = found->onset};
    }
    e->onset = found->onset < e->onset ? found->onset : e->onset;
    e->worst_ratio = ratio > e->worst_ratio ? ratio : e->worst_ratio;
    e->good_since_ns = 0;
    attribution_disturbed(w->attribution, e->onset);
    int fires = e->state == ALERT_PENDING && now_ns - e->since_ns >= rule->for_ns;
    if (!begins && !fires &&
        (e->state == ALERT_PENDING || !episode_has_changed(e, found, window->number)))
        return;
    e->state = fires ? ALERT_FIRING : e->state;
    e->updated = window->number;
    e->reported_ratio = ratio;
    watch_fill_evidence(w, e, rule, found, window);
    watch_report(w, e, now_ns);
}

static void watch_latency(struct job_watch *w, const struct closed_window *window)
{
    size_t count, i = 0;
    const struct latency_series *series = job_latency_series(w->options.latency, &count);
    uint64_t now_ns = (window->number + 1) * w->options.window_ns;
    for (const struct rule *rule = NULL;
         (rule = rules_next(w->options.rules, RULE_LATENCY, rule)) != NULL; i++) {
        struct episode *e = &w->episodes[i];
        struct finding found = watch_find_scopes(rule, series, count);
        if (found.worst != NULL) {
            episode_continue(w, e, rule, &found, window, now_ns);
        } else if (e->state == ALERT_PENDING) {
            episode_resolve(w, e, "latency is back", now_ns);
        } else if (e->state == ALERT_FIRING) {
            if (!found.good)
                e->good_since_ns = 0;
            else if (e->good_since_ns == 0)
                e->good_since_ns = now_ns;
            if (found.good && now_ns - e->good_since_ns >= rule->clear_for_ns)
                episode_resolve(w, e, "latency is back", now_ns);
        }
    }
}

/* ---- windows ------------------------------------------------------------- */

static int watch_attribute(struct job_watch *w, const struct closed_window *window)
{
    const struct attribution_window figures = {
        .number = window->number,
        .length_ns = window->length_ns,
        .ranks = window->ranks,
        .rank_count = window->rank_count,
        .pairs = window->pairs,
        .pair_count = window->pair_count,
        .transfers = &window->latency->transfers,
        .messages = window->rank_messages,
        .scale = window->scale,
    };
    return attribution_window(w->attribution, &figures);
}

int job_watch_update(struct job_watch *w, const struct closed_window *window)
{
    int code = watch_attribute(w, window);
    watch_latency(w, window);
    int hang_code = job_hang_update(w->hang, window);
    return code != 0 ? code : hang_code;
}

void job_watch_end(struct job_watch *w, uint64_t now_ns)
{
    for (size_t i = 0; i < RULES_MAXIMUM; i++) {
        if (w->episodes[i].state != ALERT_RESOLVED)
            episode_resolve(w, &w->episodes[i], "the job has ended", now_ns);
    }
    job_hang_end(w->hang, now_ns);
}
